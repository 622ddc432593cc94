"""The OpenAPI 3.1 document, made from the declared operations and the wire shapes: nothing is written twice."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from kontor import __version__
from kontor.api.answers import JSON, PROBLEM_JSON
from kontor.api.bodies import list_query_names
from kontor.api.operations import Operation, Security
from kontor.api.schemas import Schemas
from kontor.domain import scopes
from kontor.wire.errors import ErrorBody, OAuthErrorBody, ProblemBody

# In the order in which a newcomer meets them.
TAGS = {
    "OAuth2 and keys": "Tokens for clients and users; encrypting credentials.",
    "Management": "A tenant's clients, roles and users.",
    "Keys": "The tenant's public certificate.",
    "Providers": "Banks, and what they ask their users for.",
    "Customer": "Accesses, products, transactions, positions and consents of the token's user.",
    "Payments": "Transfers from the accounts of the token's user, their authentication and their outcome.",
    "Operating": "What an operator sees: of all tenants with an operator's token, of its own with a client's.",
    "Health": "For machines that watch.",
}

# What an operation can answer is decided by what it declares, so the statuses are not listed by hand.
COMMON_ERRORS = (400, 406, 500, 503, 504)
BEARER_ERRORS = (401, 403)
BODY_ERRORS = (408, 413, 415)
HEAVY_ERRORS = (413, 429)
OAUTH_STATUSES = (400, 401, 408, 413, 429)
ERROR_HEADERS = {
    401: {"WWW-Authenticate": "how to prove oneself"},
    403: {"WWW-Authenticate": "what is wrong with the token, and the scope that is needed"},
    405: {"Allow": "the methods that are possible now"},
}
OTHER_HEADERS = {
    304: {"ETag": "of the former answer"},
    451: {"Location": "where the user goes on: the web form", "Cache-Control": "no-store"},
}
# Where it is known how long it takes.
RETRIED_STATUSES = (409, 429, 503)
RETRY_AFTER = {"Retry-After": "seconds to wait"}
LINK = {"Link": 'the next page, as `<address>; rel="next"`; absent on the last one'}


def make_document(operations: Sequence[Operation], base_url: str) -> dict[str, Any]:
    schemas = Schemas(_list_shapes(operations), [operation.query for operation in operations if operation.query])
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Kontor",
            "version": __version__,
            "description": "Connects bank accounts, pays, and understands what transactions mean.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {"schemas": schemas.components, "securitySchemes": _security_schemes()},
    }


def _list_shapes(operations: Sequence[Operation]) -> list[Any]:
    shapes: list[Any] = [ErrorBody, ProblemBody, OAuthErrorBody]
    for operation in operations:
        answered = [operation.success.shape, *operation.other_shapes.values()]
        alternatives = [shape for answer in answered for shape in (answer if isinstance(answer, tuple) else (answer,))]
        shapes += [
            shape for shape in (operation.body, operation.success.file_shape, *alternatives) if shape is not None
        ]
    return shapes


def _describe(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    described: dict[str, Any] = {"operationId": operation.id, "summary": operation.summary, "tags": [operation.tag]}
    if operation.description:
        described["description"] = operation.description
    if operation.retired_on is not None:
        described["deprecated"] = True
    described["security"] = _security(operation)
    asked = [] if operation.query is None else schemas.describe_query(operation.query)
    parameters = _path_parameters(operation) + asked + _header_parameters(operation)
    if parameters:
        described["parameters"] = parameters
    if operation.has_body:
        content: dict[str, Any] = {}
        if operation.body is not None:
            content[operation.body_media_type] = {"schema": schemas.describe(operation.body)}
        content |= {name: {"schema": {"type": "string", "format": "binary"}} for name in operation.file_types}
        described["requestBody"] = {"required": True, "content": content}
    described["responses"] = _responses(operation, schemas)
    return described


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    parameters = []
    for name in operation.path_names:
        schema: dict[str, Any] = {"type": "string", "minLength": 1}
        if name == "user-reference":
            schema["format"] = "uuid"
        parameters.append({"name": name, "in": "path", "required": True, "schema": schema})
    return parameters


def _header_parameters(operation: Operation) -> list[dict[str, Any]]:
    headers = {"X-Correlation-ID": "any printable text up to 128 characters; generated if absent, echoed in the answer"}
    headers |= operation.headers
    return [
        {"name": name, "in": "header", "required": False, "description": text, "schema": {"type": "string"}}
        for name, text in headers.items()
    ]


def _responses(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    success: dict[str, Any] = {"description": operation.success.description}
    success["headers"] = _describe_headers(operation.success.headers, _optional_headers(operation))
    if operation.success.shape is not None:
        success["content"] = {operation.success.media_type: {"schema": schemas.describe(operation.success.shape)}}
        success["content"] |= {name: {"schema": {"type": "string"}} for name in operation.success.other_media_types}
    if operation.success.file_shape is not None:
        success["x-content-for-files"] = {JSON: {"schema": schemas.describe(operation.success.file_shape)}}
    responses = {str(operation.success.status): success}
    for status, shape in operation.other_shapes.items():
        schema = schemas.describe(shape)
        if status >= 400:
            schema = {"anyOf": [schema, schemas.describe(ErrorBody)]}
        responses[str(status)] = {
            "description": operation.other_statuses.get(status, HTTPStatus(status).phrase),
            "headers": _describe_status_headers(status),
            "content": {JSON: {"schema": schema}},
        }
    for status, description in operation.other_statuses.items():
        if status not in operation.other_shapes:
            responses[str(status)] = {"description": description, "headers": _describe_status_headers(status)}
    for status in sorted(_error_statuses(operation)):
        responses[str(status)] = {
            "description": HTTPStatus(status).phrase,
            "headers": _describe_headers(_error_headers(operation, status), _retry_header(status)),
            "content": _error_content(operation, status, schemas),
        }
    return responses


def _optional_headers(operation: Operation) -> dict[str, str]:
    """Pages are asked for by a cursor, and each but the last has a link to the next."""
    names = list_query_names(operation.query)
    return operation.success.optional_headers | (LINK if "cursor" in names else {})


def _retry_header(status: int) -> dict[str, str]:
    return RETRY_AFTER if status in RETRIED_STATUSES else {}


def _describe_status_headers(status: int) -> dict[str, Any]:
    return _describe_headers(OTHER_HEADERS.get(status, {}), _retry_header(status))


def _describe_headers(headers: dict[str, str], optional: dict[str, str]) -> dict[str, Any]:
    always = {"X-Correlation-ID": "the request's correlation id", **headers}
    return {
        name: {"description": text, "required": name in always, "schema": {"type": "string"}}
        for name, text in (always | optional).items()
    }


def _error_headers(operation: Operation, status: int) -> dict[str, str]:
    headers = ERROR_HEADERS.get(status, {})
    return headers | ({"Cache-Control": "no-store"} if operation.is_oauth and status in OAUTH_STATUSES else {})


def _error_statuses(operation: Operation) -> set[int]:
    if operation.is_forgiving:
        return {500, 503, 504}
    statuses = set(operation.errors) | set(COMMON_ERRORS)
    if operation.security.is_bearer:
        statuses |= set(BEARER_ERRORS)
    if operation.has_body:
        statuses |= set(BODY_ERRORS)
    if operation.is_heavy:
        statuses |= set(HEAVY_ERRORS)
    if operation.is_oauth:
        statuses.discard(415)  # RFC 6749 calls a body that is no form an invalid request
    if operation.retired_on is not None:
        statuses.add(410)
    return statuses


def _error_content(operation: Operation, status: int, schemas: Schemas) -> dict[str, Any]:
    if operation.is_oauth and status in OAUTH_STATUSES:
        return {JSON: {"schema": schemas.describe(OAuthErrorBody)}}
    return {JSON: {"schema": schemas.describe(ErrorBody)}, PROBLEM_JSON: {"schema": schemas.describe(ProblemBody)}}


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
        "userToken": {"type": "oauth2", "flows": {"password": flow(scopes.USER_SCOPES)}},
    }
