"""`/mcp`: the tools over streamable HTTP, for whoever has one of our tokens.

No process remembers anything between two requests, so any of several can answer each. The library that speaks MCP is
loaded with the first request.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import httpx
import msgspec
import structlog
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp

from kontor.assistants.api import Api
from kontor.config import Settings
from kontor.domain.languages import REVIEWED_LANGUAGES
from kontor.domain.scopes import CUSTOMER_READ
from kontor.domain.secrets import Secret
from kontor.pages.browser import AnyRequest, BadRequestError, TooLargeFormError, origin_of, read_form_body
from kontor.pages.texts import choose_texts
from kontor.services.runtime import Clock
from kontor_client import ApiError, AsyncKontor, KontorClientError

log = structlog.get_logger(__name__)

PACKAGE = "kontor.assistants"
PATH = "/mcp"
METADATA = "/.well-known/oauth-protected-resource"
MAX_BODY_BYTES = 64 * 1024
MAX_CALLS_IN_PROGRESS = 4  # of one token in one process; the API counts what is heavy by user and client, too
CALL_SECONDS = 60
JSON_RPC_INVALID_REQUEST = -32600
NO_STORE = {"Cache-Control": "no-store"}
Scope: TypeAlias = dict[str, Any]


class RefusedError(Exception):
    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


def make_routes(settings: Settings, get_api: Callable[[], ASGIApp]) -> list[HTTPRouteHandler]:
    endpoint = Endpoint(settings, get_api)
    return [
        HTTPRouteHandler(PATH, http_method="POST", name="mcp POST", status_code=200)(endpoint.answer),
        # No stream that we would open, and no session that could be ended.
        HTTPRouteHandler(PATH, http_method=["GET", "DELETE"], name="mcp other", status_code=200)(
            endpoint.refuse_method
        ),
    ]


class Endpoint:
    def __init__(self, settings: Settings, get_api: Callable[[], ASGIApp]) -> None:
        self._settings = settings
        self._get_api = get_api
        self._clock = Clock(settings.today, settings.clock)
        self._in_progress: Counter[bytes] = Counter()

    async def refuse_method(self, request: AnyRequest) -> ASGIResponse:
        _name_operation(request)
        return _refuse(RefusedError(405, "Send POST.", {"Allow": "POST"}))

    async def answer(self, request: AnyRequest) -> ASGIResponse:
        _name_operation(request)
        try:
            self._refuse_foreign_origin(request)
            token = self._read_token(request)
            with self._admit(token):
                body = await self._read_body(request)
                async with asyncio.timeout(CALL_SECONDS):
                    return await self._exchange(request, token, body)
        except RefusedError as error:
            return _refuse(error)
        except TimeoutError:
            return _refuse(RefusedError(504, "The call took too long; ask for less."))

    async def _exchange(self, request: AnyRequest, token: Secret, body: bytes) -> ASGIResponse:
        texts = choose_texts(request, PACKAGE)
        async with self._connect(request, token) as client:
            scopes = await self._read_scopes(client)
            speak = _load_speaker()
            if speak is None:
                raise RefusedError(501, "The extra `mcp` is not installed: pip install 'kontor[mcp]'.")
            api = Api(client, texts.language if texts.language in REVIEWED_LANGUAGES else REVIEWED_LANGUAGES[0])
            return await speak(_copy_scope(request), body, api, texts, self._clock.today(), token, scopes)

    # Who asks

    def _refuse_foreign_origin(self, request: AnyRequest) -> None:
        """A page of another site in a browser, perhaps by a name that it has pointed to this machine."""
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() != origin_of(self._settings.base_url):
            raise RefusedError(403, "Requests from other origins are not served.")

    def _read_token(self, request: AnyRequest) -> Secret:
        found = [value for key, value in request.scope["headers"] if key == b"authorization"]
        scheme, _, token = (found[0] if len(found) == 1 else b"").decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not token.strip() or not token.isascii():
            raise RefusedError(401, "Send the header Authorization: Bearer <token>.", self._challenge())
        return Secret(token.strip())

    async def _read_scopes(self, client: AsyncKontor) -> frozenset[str]:
        """What the API says about the token. MCP wants 401 for one that has ended, where the API says 403."""
        try:
            answer = await client.request("GET", "/customer/v2/tokens")
        except ApiError as error:
            if error.status == 401 or error.is_token_invalid:
                challenge = self._challenge("invalid_token")
                raise RefusedError(401, "The token is invalid, expired or revoked.", challenge) from None
            if error.status == 403:
                challenge = self._challenge("insufficient_scope")
                raise RefusedError(403, f"The token lacks the scope {CUSTOMER_READ}.", challenge) from None
            raise RefusedError(error.status, error.text) from None
        except KontorClientError:
            raise RefusedError(503, "The API cannot be reached.") from None
        tokens = msgspec.json.decode(answer.content)
        return frozenset(next((token["scope"] for token in tokens if token["current"]), "").split())

    def _challenge(self, error: str | None = None) -> dict[str, str]:
        parts = [f'resource_metadata="{self._settings.base_url}{METADATA}{PATH}"', f'scope="{CUSTOMER_READ}"']
        if error is not None:
            parts.insert(0, f'error="{error}"')
        return {"WWW-Authenticate": "Bearer " + ", ".join(['realm="kontor"', *parts])}

    # Limits

    @contextmanager
    def _admit(self, token: Secret) -> Iterator[None]:
        key = hashlib.sha256(token.reveal().encode()).digest()
        if self._in_progress[key] >= MAX_CALLS_IN_PROGRESS:
            raise RefusedError(429, "Too many calls are in progress.", {"Retry-After": "1"})
        self._in_progress[key] += 1
        try:
            yield
        finally:
            self._in_progress[key] -= 1
            if not self._in_progress[key]:
                del self._in_progress[key]

    async def _read_body(self, request: AnyRequest) -> bytes:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "Send Content-Type: application/json.")
        try:
            return await read_form_body(request, MAX_BODY_BYTES)
        except TooLargeFormError:
            raise RefusedError(413, f"At most {MAX_BODY_BYTES} bytes are allowed.") from None
        except BadRequestError:
            raise RefusedError(400, "The body did not arrive.") from None

    def _connect(self, request: AnyRequest, token: Secret) -> AsyncKontor:
        """A client of the API in this process. It is a whole request, with every check."""
        address = request.client
        transport = httpx.ASGITransport(
            app=self._get_api(),  # type: ignore[arg-type]
            raise_app_exceptions=False,
            client=("127.0.0.1", 0) if address is None else (address.host, address.port),
        )
        return AsyncKontor(self._settings.base_url, token.reveal(), transport=transport, retries=0)


def _load_speaker() -> Callable[..., Awaitable[ASGIResponse]] | None:
    """None where the extra is not installed."""
    try:
        from kontor.assistants.exchanges import exchange
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        return None
    return exchange


def _copy_scope(request: AnyRequest) -> Scope:
    """What the library may see of the request: no token, and no header that it would judge anew."""
    wanted = (b"accept", b"content-type", b"mcp-protocol-version", b"mcp-method", b"mcp-name")
    headers = [(key, value) for key, value in request.scope["headers"] if key in wanted or key.startswith(b"mcp-param")]
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": PATH, "raw_path": PATH.encode(), "query_string": b"", "root_path": "", "headers": headers,
        "client": None, "server": None,
    }  # fmt: skip


def _name_operation(request: AnyRequest) -> None:
    scope: dict[str, Any] = request.scope  # type: ignore[assignment]
    scope["kontor.operation"] = "mcp"


def _refuse(error: RefusedError) -> ASGIResponse:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": JSON_RPC_INVALID_REQUEST, "message": error.message}}
    return ASGIResponse(
        body=msgspec.json.encode(body), status_code=error.status, media_type="application/json",
        headers=NO_STORE | error.headers,
    )  # fmt: skip
