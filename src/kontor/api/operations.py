"""Operations: each endpoint is declared once, as data, and everything else follows from that declaration.

The declaration gives the route, the checks in their fixed order (token, scope, then the handler: object, then body),
the OpenAPI document, and the retirement to 410.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar
from uuid import UUID

import msgspec
from litestar import Request

from kontor.api.answers import JSON, Answer, HttpError
from kontor.api.bodies import check_query_names, convert_query, decode_json, decode_json_map, parse_pairs, read_body
from kontor.config import Settings
from kontor.domain.operators import Operator
from kontor.domain.principals import Principal
from kontor.services.bundle import Services
from kontor.wire.urls import Urls

NO_SUCH_OBJECT = "There is no such object."
T = TypeVar("T")
Q = TypeVar("Q", bound=msgspec.Struct)
HttpMethodName: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
Handler: TypeAlias = Callable[["Call"], Awaitable[Answer]]


class Security(Enum):
    """How a caller proves itself."""

    NONE = "none"
    BASIC = "basic"
    API_KEY = "apiKey"
    CLIENT_TOKEN = "client token"  # noqa: S105
    USER_TOKEN = "user token"  # noqa: S105
    ANY_TOKEN = "any token"  # noqa: S105
    OPERATOR_TOKEN = "operator token"  # noqa: S105
    OPERATOR_OR_CLIENT_TOKEN = "operator or client token"  # noqa: S105

    @property
    def is_bearer(self) -> bool:
        return self not in (Security.NONE, Security.BASIC, Security.API_KEY)

    @property
    def admits_operators(self) -> bool:
        return self in (Security.OPERATOR_TOKEN, Security.OPERATOR_OR_CLIENT_TOKEN)


@dataclass(frozen=True, slots=True)
class Success:
    """The answer when all goes well. `shape` is None for an answer without a body, a tuple for one of several."""

    status: int = 200
    shape: Any = None
    media_type: str = JSON
    other_media_types: tuple[str, ...] = ()  # of the forms that the caller can ask for instead
    description: str = "ok"
    headers: dict[str, str] = field(default_factory=dict)
    optional_headers: dict[str, str] = field(default_factory=dict)  # that not every such answer has
    # Of the body that only a file is answered with. OpenAPI has no optional bodies, so it is told as an extension.
    file_shape: Any = None


PLAIN_SUCCESS = Success()


@dataclass(frozen=True, slots=True)
class Operation:
    method: HttpMethodName
    path: str
    id: str
    summary: str
    tag: str
    security: Security
    success: Success
    handler: Handler
    scope: str | None = None
    query: type[msgspec.Struct] | None = None
    other_paths: tuple[str, ...] = ()  # addresses that are served too, and not documented; with the same names in them
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    body_media_type: str = JSON
    file_types: tuple[str, ...] = ()  # of files that are taken instead of the body
    takes_any_type: bool = False  # the body is a file, whatever its type is called; multipart is refused
    takes_any_query: bool = False  # names that it does not know are ignored, as probes need it
    is_bulk: bool = False
    is_heavy: bool = False  # takes processor time: calls in progress are bounded per user and client
    is_oauth: bool = False
    is_forgiving: bool = False  # answers success to whatever is sent
    errors: tuple[int, ...] = ()
    other_statuses: dict[int, str] = field(default_factory=dict)  # neither success nor error, such as 304
    other_shapes: dict[int, Any] = field(default_factory=dict)  # errors that carry a body of the operation's own
    description: str = ""
    retired_on: date | None = None

    @property
    def has_body(self) -> bool:
        return self.body is not None or bool(self.file_types)

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, *self.other_paths)

    @property
    def path_names(self) -> list[str]:
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


OPERATIONS: list[Operation] = []


def operation(
    method: HttpMethodName,
    path: str,
    *,
    registry: list[Operation] = OPERATIONS,
    success: Success = PLAIN_SUCCESS,
    **facts: Any,
) -> Callable[[Handler], Handler]:
    """Declare an endpoint. The handler's name is the operation's id, its docstring the summary."""

    def register(handler: Handler) -> Handler:
        summary, _, description = (handler.__doc__ or "").strip().partition("\n")
        registry.append(
            Operation(
                method=method,
                path=path,
                id=handler.__name__,
                summary=summary.rstrip("."),
                description=" ".join(description.split()),
                handler=handler,
                success=success,
                **facts,
            )
        )
        return handler

    return register


class Call:
    """One request to one operation, as its handler sees it."""

    __slots__ = (
        "_bearer",
        "_choose_urls",
        "_query",
        "_urls",
        "address",
        "operation",
        "request",
        "services",
        "settings",
    )

    def __init__(
        self,
        operation: Operation,
        request: Request[Any, Any, Any],
        services: Services,
        settings: Settings,
        choose_urls: Callable[[Principal | Operator | None], Urls],
        bearer: Principal | Operator | None,
        address: str,
    ) -> None:
        self.operation = operation
        self.request = request
        self.services = services
        self.settings = settings
        self.address = address
        self._bearer = bearer
        self._choose_urls = choose_urls
        self._urls: Urls | None = None
        self._query: dict[str, str] | None = None

    @property
    def urls(self) -> Urls:
        """Those that the caller's token can be used for."""
        if self._urls is None:
            self._urls = self._choose_urls(self._bearer)
        return self._urls

    @property
    def principal(self) -> Principal:
        assert isinstance(self._bearer, Principal), "the operation declares no token of a client or user"
        return self._bearer

    @property
    def operator(self) -> Operator | None:
        """None for others that the operation admits."""
        return self._bearer if isinstance(self._bearer, Operator) else None

    def path(self, name: str) -> str:
        """A name with a NUL names no object: the database could not even be asked for it."""
        value: str = self.request.path_params[name.replace("-", "_")]
        if "\x00" in value:
            raise HttpError(404, NO_SUCH_OBJECT)
        return value

    def path_uuid(self, name: str) -> UUID:
        """A malformed id names no object, as any other unknown one."""
        try:
            return UUID(self.path(name))
        except ValueError:
            raise HttpError(404, NO_SUCH_OBJECT) from None

    def header(self, name: str) -> str | None:
        return self.request.headers.get(name)

    def query_values(self) -> dict[str, str]:
        if self._query is None:
            text = self.request.scope["query_string"].decode("latin-1")
            self._query = parse_pairs(text, "query") if text else {}
            if not self.operation.takes_any_query:
                check_query_names(self._query, self.operation.query)
        return self._query

    def query(self, expected: type[Q]) -> Q:
        return convert_query(self.query_values(), expected)

    @property
    def content_type(self) -> str:
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    async def read_body(self) -> bytes:
        """The body, after its content type was checked."""
        self._check_content_type()
        limit = self.settings.max_bulk_body_bytes if self.operation.is_bulk else self.settings.max_body_bytes
        return await read_body(self.request.receive, self.header("content-length"), limit)

    def _check_content_type(self) -> None:
        operation = self.operation
        if operation.takes_any_type:
            if self.content_type.startswith("multipart/"):
                raise HttpError(415, "Send the file itself as the body, not as multipart.")
        elif self.content_type not in (operation.body_media_type, *operation.file_types):
            raise HttpError(415, f"Send Content-Type: {operation.body_media_type}.")

    @property
    def owner(self) -> UUID:
        """For whom work is done: the user, or the client where there is none."""
        return self.principal.user_id or self.principal.client_id

    def admit(self) -> AbstractContextManager[None]:
        """For the time of heavy work; TooManyCallsError beyond the limits."""
        return self.services.compute.admit(self.owner, self.principal.client_id)

    async def compute(self, function: Callable[..., T], *arguments: Any) -> T:
        """What a function of a module returns, in a compute process."""
        return await self.services.compute.run(function, *arguments, owner=self.owner)

    async def json(self, expected: type[T]) -> T:
        return decode_json(await self.read_body(), expected)

    async def json_map(self, expected: type[T]) -> dict[str, T]:
        return decode_json_map(await self.read_body(), expected)
