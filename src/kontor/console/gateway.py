"""The console's only way to data: Kontor's own documented API, with the token of whoever is signed in.

The API runs in the same process, so a call takes no way over the network; it is a whole request nevertheless, with
every check. Each call is remembered, for the page shows what it was made of.
"""

import asyncio
import shlex
import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import httpx
import msgspec

from kontor.console.api_texts import load_api_texts
from kontor.domain.languages import DEFAULT_LANGUAGE, FALLBACK_LANGUAGE, REVIEWED_LANGUAGES
from kontor.pages.browser import AnyRequest
from kontor_client import Answer, AsyncKontor

T = TypeVar("T")
SHOWN_CHARACTERS = 6_000
MAX_FORMATTED = 1024 * 1024
_decoder = msgspec.json.Decoder(float_hook=Decimal)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call behind a page."""

    method: str
    path: str
    status: int
    milliseconds: float
    size_bytes: int
    excerpt: str
    is_whole: bool
    body: str | None = None
    has_file: bool = False
    language: str = DEFAULT_LANGUAGE

    @property
    def can_be_opened(self) -> bool:
        return self.method == "GET" and self.status == 200

    @property
    def opened_at(self) -> str:
        return f"/console/json?path={quote(self.path, safe='')}"

    def write_curl(self, base_url: str) -> str:
        lines = [f"curl -s '{base_url}{self.path}'", '-H "Authorization: Bearer $token"']
        if self.language != DEFAULT_LANGUAGE:
            lines.append(f"-H 'Accept-Language: {self.language}'")
        if self.method != "GET":
            lines[0] = f"curl -s -X {self.method} '{base_url}{self.path}'"
        if self.body is not None:
            lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(self.body)}"]
        if self.has_file:
            lines += ["-H 'Content-Type: application/octet-stream'", '--data-binary "@$file"']
        return " \\\n  ".join(lines)


class ForwardingTransport(httpx.AsyncBaseTransport):
    """Passes on what a proxy in front of us said about the browser, which the API judges for itself."""

    def __init__(self, inner: httpx.AsyncBaseTransport, request: AnyRequest) -> None:
        self._inner = inner
        self._forwarded = request.headers.get("x-forwarded-for")

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._forwarded is not None:
            request.headers["X-Forwarded-For"] = self._forwarded
        return await self._inner.handle_async_request(request)


class Gateway:
    def __init__(self, client: AsyncKontor, language: str) -> None:
        self.client = client
        self.language = language
        self.calls: list[RecordedCall] = []

    @property
    def accepted(self) -> str:
        """What the API has no words for in the language of the page, it tells in English, and we translate it."""
        return self.language if self.language in REVIEWED_LANGUAGES else FALLBACK_LANGUAGE

    async def get(self, path: str, **params: Any) -> Any:
        """The answer's JSON, with Decimal for numbers. Parameters that are None are left out."""
        return self._read(await self.send("GET", path, params=params))

    async def get_page(self, path: str, **params: Any) -> tuple[Any, str | None]:
        """A page of a list, and the cursor of the next one."""
        answer = await self.send("GET", path, params=params)
        following = dict(parse_qsl(urlsplit(answer.next_url).query)).get("cursor") if answer.next_url else None
        return self._read(answer), following

    async def post(self, path: str, body: Any, **params: Any) -> Any:
        """The answer's JSON to a body, as in `get`."""
        return self._read(await self.send("POST", path, params=params, json=body))

    async def post_file(self, path: str, file: bytes, **params: Any) -> Any:
        """The answer's JSON to a file, as in `get`."""
        return self._read(await self.send("POST", path, params=params, file=file))

    def _read(self, answer: Answer) -> Any:
        texts, decoded = load_api_texts(self.language), _decode(answer)
        return decoded if texts is None else texts.translate(decoded)

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        file: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """A call that is shown on the page. Refusals are raised as ApiError."""
        given = {name: _write(value) for name, value in (params or {}).items() if value is not None}
        started = time.perf_counter()
        headers = {"Accept-Language": self.accepted} | dict(headers or {})
        if file is not None:
            headers = {"Content-Type": "application/octet-stream"} | headers
        answer = await self.client.request(method, path, params=given, json=json, content=file, headers=headers)
        spent = (time.perf_counter() - started) * 1000
        shown = path + (f"?{urlencode(given)}" if given else "")
        call = _record(method, shown, answer, spent, json, has_file=file is not None)
        self.calls.append(replace(call, language=self.accepted))
        return answer


async def together(*calls: Awaitable[Any]) -> list[Any]:
    """Several calls at once, their answers in order."""
    return list(await asyncio.gather(*calls))


def segment(text: str) -> str:
    """An id, as a part of a path."""
    return quote(text, safe="")


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _decode(answer: Answer) -> Any:
    return _decoder.decode(answer.content) if answer.content else None


def _record(
    method: str, path: str, answer: Answer, milliseconds: float, body: Any, *, has_file: bool = False
) -> RecordedCall:
    content = answer.content
    if len(content) <= MAX_FORMATTED:
        with suppress(msgspec.MsgspecError):  # what is not JSON is shown as it is
            content = msgspec.json.format(content, indent=2)
    text = content[: 4 * SHOWN_CHARACTERS].decode(errors="replace")[:SHOWN_CHARACTERS]
    is_whole = len(content) < SHOWN_CHARACTERS
    sent = None if body is None else msgspec.json.encode(body).decode()
    return RecordedCall(method, path, answer.status, milliseconds, len(answer.content), text, is_whole, sent, has_file)
