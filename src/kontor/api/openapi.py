"""The OpenAPI 3.1 document, made from the declared operations and the wire shapes: nothing is written twice."""

from collections import Counter
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any, get_args, get_origin

import msgspec

from kontor import __version__
from kontor.api.answers import JSON, PROBLEM_JSON
from kontor.api.bodies import list_query_names
from kontor.api.operations import Operation, Security
from kontor.api.schemas import Schemas
from kontor.domain import scopes
from kontor.wire.encoding import encode_json
from kontor.wire.errors import ErrorBody, OAuthErrorBody, ProblemBody

# In the order in which a newcomer meets them. Generators name modules after them.
TAGS = {
    "Tokens": "Tokens for clients and users; encrypting credentials.",
    "Management": "A tenant's clients, roles and users.",
    "Keys": "The tenant's public certificate.",
    "Providers": "Banks, and what they ask their users for.",
    "Customer": "Accesses, products, transactions, positions and consents of the token's user.",
    "Advisers": "Analyses of customers who allow it, for advisers of their tenant.",
    "Payments": "Transfers from the accounts of the token's user, their authentication and their outcome.",
    "Tags": "The trees of categories, insurance types, business partners and others.",
    "Platform": "Tags and analyses of transactions that come with the call. Nothing is stored.",
    "Webhooks": "A tenant's webhooks: what they were told, and telling it again.",
    "Operating": "What an operator sees: of all tenants with an operator's token, of its own with a client's.",
    "Health": "For machines that watch.",
}

DESCRIPTION = (
    "Connects bank accounts, pays, and understands what transactions mean.\n\nEvery operation takes the header"
    " `X-Correlation-ID`, any printable text up to 128 characters, and returns it; if it is absent, one is generated."
    " Names and descriptions of tags and messages for end customers are German; with `Accept-Language: en` they are"
    " English. System names, codes and the message of an error are the same in every language."
)
# What an operation can answer is decided by what it declares, so the statuses are not listed by hand.
HEAVY_ERRORS = (429,)
OAUTH_STATUSES = (400, 401, 408, 413, 429)
OAUTH_BODY_ERRORS = (408, 413)
ERRORS = {
    400: ("BadRequest", "The request cannot be understood, or a value is not allowed; the message says which."),
    401: ("Unauthorized", "The login is missing or wrong."),
    404: ("NotFound", "There is no such object, or it is somebody else's."),
    405: ("NotAllowedNow", "The object's state does not allow this now."),
    408: ("SentTooSlowly", "The body did not arrive in time."),
    409: ("Conflict", "The object is in another state, or somebody else is changing it."),
    410: ("Gone", "The operation was retired."),
    413: ("TooLarge", "The body is too large, or has too many entries."),
    429: ("TooManyRequests", "Too many calls are in progress, or too many logins have failed."),
    503: ("Unavailable", "The database or the bank cannot be reached at the moment."),
    451: ("Redirect", "The user goes on at Location, since the tenant may not handle credentials."),
}
# Statuses that most operations can answer, that mean the same everywhere, and that have the same body.
DEFAULT = (
    "Any other failure: 401, token missing, wrong or expired; 403, not for this token; 406, no accepted media type;"
    " 408, body not in time; 413, body too large; 415, media type of the body; 500, a defect; 503, database or bank out"
    " of reach, or the service too busy; 504, the answer took too long, and it may have been done nevertheless."
)
ERROR_HEADERS = {
    401: {"WWW-Authenticate": "how to prove oneself"},
    405: {"Allow": "the methods that are possible now"},
}
OTHER_HEADERS = {
    304: {"ETag": "of the former answer"},
    451: {"Location": "where the user goes on: the web form", "Cache-Control": "no-store"},
}
# Where it is known how long it takes.
RETRIED_STATUSES = (409, 429, 503)
RETRY_AFTER = {"Retry-After": "seconds to wait"}
DEFAULT_HEADERS = RETRY_AFTER | {
    "WWW-Authenticate": "on 401 and 403: what is wrong with the token, and the scope that is needed"
}
LINK = {"Link": 'the next page, as `<address>; rel="next"`; absent on the last one'}


CORRELATION = "X-Correlation-ID"
# Every operation takes and echoes it: said once, and described as a header where it is needed, with failures.
ECHO = {CORRELATION: "the request's correlation id"}
CALLERS = {
    Security.NONE: "Needs no login",
    Security.BASIC: "Needs the client's login",
    Security.API_KEY: "Needs an API key",
    Security.CLIENT_TOKEN: "Needs a client's token",
    Security.USER_TOKEN: "Needs a user's token",
    Security.ANY_TOKEN: "Needs a client's or a user's token",
    Security.OPERATOR_TOKEN: "Needs an operator's token",
    Security.OPERATOR_OR_CLIENT_TOKEN: "Needs an operator's token, or a client's token",
}


class SharedParts:
    """What several operations have in common is described once, and referred to."""

    def __init__(self, asked: Iterable[dict[str, Any]], operations: Iterable[Operation]) -> None:
        self._asked = Counter(map(encode_json, asked))
        self._answered = Counter(map(_name_answer, operations))
        self.components: dict[str, dict[str, Any]] = {"parameters": {}, "headers": {}, "responses": {}}

    def refer(self, kind: str, name: str, part: dict[str, Any]) -> dict[str, Any]:
        """The part itself where the name is taken by another one."""
        known = self.components[kind].setdefault(name, part)
        return {"$ref": f"#/components/{kind}/{name}"} if known == part else part

    def refer_to_query(self, parameter: dict[str, Any]) -> dict[str, Any]:
        """The parameter itself where no other operation has it."""
        if self._asked[encode_json(parameter)] == 1:
            return parameter
        return self.refer("parameters", parameter["name"], parameter)

    def refer_to_header(self, name: str, header: dict[str, Any]) -> dict[str, Any]:
        """Addresses differ in what they lead to."""
        return header if name == "Location" else self.refer("headers", name, header)

    def refer_to_success(self, operation: Operation, response: dict[str, Any]) -> dict[str, Any]:
        """The response itself where no other operation has an answer of this name."""
        name = _name_answer(operation)
        return response if name is None or self._answered[name] == 1 else self.refer("responses", name, response)


def _name_answer(operation: Operation) -> str | None:
    """After its shape, or after what was done where there is no body."""
    shape = operation.success.shape
    if shape is None:
        return operation.success.description.title() if operation.success.description.isalpha() else None
    [item, suffix] = [get_args(shape)[0], "List"] if get_origin(shape) is list else [shape, ""]
    return item.__name__ + suffix if isinstance(item, type) and issubclass(item, msgspec.Struct) else None


def make_document(operations: Sequence[Operation], base_url: str) -> dict[str, Any]:
    queries = [operation.query for operation in operations if operation.query]
    # Linters do not look into extensions, and would take a component that is named only there for unused.
    files = [operation.success.file_shape for operation in operations if operation.success.file_shape]
    schemas = Schemas(_list_shapes(operations), [*queries, *files])
    asked = (parameter for query in queries for parameter in schemas.describe_query(query))
    shared = SharedParts(asked, operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        named = _describe_path(operation, shared)
        path = paths.setdefault(operation.path, {"parameters": named} if named else {})
        path[operation.method.lower()] = _describe(operation, schemas, shared)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Kontor API",  # generators name packages after it: `kontor_client` is our own
            "version": __version__,
            "description": DESCRIPTION,
            "contact": {"name": "The operator of this server"},
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {"schemas": schemas.components, **shared.components, "securitySchemes": _security_schemes()},
    }


def _list_shapes(operations: Sequence[Operation]) -> list[Any]:
    shapes: list[Any] = [ErrorBody, ProblemBody, OAuthErrorBody]
    for operation in operations:
        answered = [operation.success.shape, *operation.other_shapes.values()]
        alternatives = [shape for answer in answered for shape in (answer if isinstance(answer, tuple) else (answer,))]
        shapes += [shape for shape in (operation.body, *alternatives) if shape is not None]
    return shapes


def _describe_path(operation: Operation, shared: SharedParts) -> list[dict[str, Any]]:
    """The parameters that all operations of a path have."""
    return [shared.refer("parameters", name, _path_parameter(name)) for name in operation.path_names]


def _describe(operation: Operation, schemas: Schemas, shared: SharedParts) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "description": _describe_in_words(operation),
        "tags": [operation.tag],
    }
    if operation.retired_on is not None:
        described["deprecated"] = True
    described["security"] = _security(operation)
    asked = [] if operation.query is None else schemas.describe_query(operation.query)
    parameters = [
        *map(shared.refer_to_query, asked),
        *(_refer_to_header(name, text, shared) for name, text in operation.headers.items()),
    ]
    if parameters:
        described["parameters"] = parameters
    if operation.has_body:
        content: dict[str, Any] = {}
        if operation.body is not None:
            content[operation.body_media_type] = {"schema": schemas.describe(operation.body)}
        content |= {name: {"schema": {"type": "string", "format": "binary"}} for name in operation.file_types}
        described["requestBody"] = {"required": True, "content": content}
    described["responses"] = _responses(operation, schemas, shared)
    return described


def _describe_in_words(operation: Operation) -> str:
    """What the handler says; where it says nothing, whose token the call needs."""
    needed = CALLERS[operation.security] + (f" with the scope `{operation.scope}`" if operation.scope else "")
    return operation.description or f"{needed}."


def _path_parameter(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "minLength": 1}
    if name == "user-reference":
        schema["format"] = "uuid"
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _header_parameter(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "description": text, "schema": {"type": "string"}}


def _refer_to_header(name: str, text: str, shared: SharedParts) -> dict[str, Any]:
    component = f"Required-{name}" if text.endswith("(required)") else name
    return shared.refer("parameters", component, _header_parameter(name, text))


def _responses(operation: Operation, schemas: Schemas, shared: SharedParts) -> dict[str, Any]:
    success: dict[str, Any] = {"description": operation.success.description}
    success |= _describe_headers(operation.success.headers, _optional_headers(operation), shared)
    if operation.success.shape is not None:
        success["content"] = {operation.success.media_type: {"schema": schemas.describe(operation.success.shape)}}
        success["content"] |= {name: {"schema": {"type": "string"}} for name in operation.success.other_media_types}
    if operation.success.file_shape is not None:
        success["x-content-for-files"] = {JSON: {"schema": schemas.describe_inline(operation.success.file_shape)}}
    responses = {str(operation.success.status): shared.refer_to_success(operation, success)}
    for status, shape in operation.other_shapes.items():
        responses[str(status)] = _describe_other(operation, status, shape, schemas, shared)
    for status, description in operation.other_statuses.items():
        if status not in operation.other_shapes:
            responses[str(status)] = {"description": description, **_describe_status_headers(status, shared)}
    if operation.is_forgiving:
        responses["400"] = {"description": "What is no HTTP request at all; every other one is answered with success."}
    for status in sorted(_error_statuses(operation)):
        if status not in operation.other_shapes:
            responses[str(status)] = _refer_to_error(operation, status, schemas, shared)
    rest: dict[str, Any] = {"description": DEFAULT, **_describe_headers(ECHO, DEFAULT_HEADERS, shared)}
    rest["content"] = _errors(schemas)
    return responses | {"default": shared.refer("responses", "Failure", rest)}


def _name_status(status: int) -> tuple[str, str]:
    return ERRORS.get(status, (f"Status{status}", HTTPStatus(status).phrase))


def _describe_other(
    operation: Operation, status: int, shape: Any, schemas: Schemas, shared: SharedParts
) -> dict[str, Any]:
    name, description = _name_status(status)
    schema = schemas.describe(shape)
    response = {
        "description": operation.other_statuses.get(status, description),
        **_describe_status_headers(status, shared),
        "content": {JSON: {"schema": {"anyOf": [schema, schemas.describe(ErrorBody)]} if status >= 400 else schema}},
    }
    return shared.refer("responses", name + shape.__name__, response) if isinstance(shape, type) else response


def _refer_to_error(operation: Operation, status: int, schemas: Schemas, shared: SharedParts) -> dict[str, Any]:
    """Each error is described once; those of the token endpoints have a body of their own."""
    name, description = _name_status(status)
    is_oauth = operation.is_oauth and status in OAUTH_STATUSES
    if is_oauth:
        name = f"OAuth{name}"
    response = {
        "description": description,
        **_describe_headers(ECHO | _error_headers(operation, status), _retry_header(status), shared),
        "content": _oauth_errors(schemas) if is_oauth else _errors(schemas),
    }
    return shared.refer("responses", name, response)


def _optional_headers(operation: Operation) -> dict[str, str]:
    """Pages are asked for by a cursor, and each but the last has a link to the next."""
    names = list_query_names(operation.query)
    return operation.success.optional_headers | (LINK if "cursor" in names else {})


def _retry_header(status: int) -> dict[str, str]:
    return RETRY_AFTER if status in RETRIED_STATUSES else {}


def _describe_status_headers(status: int, shared: SharedParts) -> dict[str, Any]:
    echo = ECHO if status >= 400 else {}
    return _describe_headers(echo | OTHER_HEADERS.get(status, {}), _retry_header(status), shared)


def _describe_headers(always: dict[str, str], optional: dict[str, str], shared: SharedParts) -> dict[str, Any]:
    """The member `headers` of a response, where it has any."""
    described = {
        name: {"description": text, "required": name in always, "schema": {"type": "string"}}
        for name, text in (always | optional).items()
    }
    headers = {name: shared.refer_to_header(name, header) for name, header in described.items()}
    return {"headers": headers} if headers else {}


def _error_headers(operation: Operation, status: int) -> dict[str, str]:
    headers = ERROR_HEADERS.get(status, {})
    return headers | ({"Cache-Control": "no-store"} if operation.is_oauth and status in OAUTH_STATUSES else {})


def _error_statuses(operation: Operation) -> set[int]:
    """Those that are described each by itself."""
    if operation.is_forgiving:
        return set()
    statuses = {400, *operation.errors}
    if operation.is_heavy:
        statuses |= set(HEAVY_ERRORS)
    if operation.is_oauth and operation.has_body:
        statuses |= set(OAUTH_BODY_ERRORS)
    if operation.retired_on is not None:
        statuses.add(410)
    return statuses


def _errors(schemas: Schemas) -> dict[str, Any]:
    return {JSON: {"schema": schemas.describe(ErrorBody)}, PROBLEM_JSON: {"schema": schemas.describe(ProblemBody)}}


def _oauth_errors(schemas: Schemas) -> dict[str, Any]:
    return {JSON: {"schema": schemas.describe(OAuthErrorBody)}}


def _security(operation: Operation) -> list[dict[str, list[str]]]:
    match operation.security:
        case Security.NONE:
            return []
        case Security.BASIC:
            return [{"clientLogin": []}]
        case Security.API_KEY:
            return [{"apiKey": []}]
        case Security.CLIENT_TOKEN:
            return [{"clientToken": [operation.scope] if operation.scope else []}]
        case Security.USER_TOKEN:
            return [{"userToken": [operation.scope] if operation.scope else []}]
        case Security.ANY_TOKEN:
            scopes = [operation.scope] if operation.scope else []
            return [{"clientToken": scopes}, {"userToken": scopes}]
        case Security.OPERATOR_TOKEN:
            return [{"operatorToken": []}]
        case Security.OPERATOR_OR_CLIENT_TOKEN:
            return [{"operatorToken": []}, {"clientToken": [operation.scope] if operation.scope else []}]


def _security_schemes() -> dict[str, Any]:
    def flow(names: Sequence[str]) -> dict[str, Any]:
        return {"tokenUrl": "/auth/oauth2/token", "scopes": {name: scopes.MEANINGS[name] for name in names}}

    return {
        "clientLogin": {"type": "http", "scheme": "basic", "description": "client username (tenant/client) and secret"},
        "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-KEY"},
        "operatorToken": {"type": "http", "scheme": "bearer", "description": "from `kontor operator create`"},
        "clientToken": {"type": "oauth2", "flows": {"clientCredentials": flow(scopes.ALL_SCOPES)}},
        "userToken": {"type": "oauth2", "flows": {"password": flow(scopes.ALL_USER_SCOPES)}},
    }
