"""What a browser sends, and what it is told to keep: cookies, forms, tokens against forgery."""

import hashlib
import hmac
import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from litestar import Request

from kontor.domain.secrets import Secret

MAX_FORM_BYTES = 64 * 1024
MAX_FIELDS = 1000
LANGUAGE_COOKIE = "kontor-language"

AnyRequest = Request[Any, Any, Any]


class CsrfError(Exception):
    """The request was not made by one of our own pages."""


class BadRequestError(Exception):
    """A request that no page of ours makes."""


class TooLargeFormError(BadRequestError):
    """More than a form may have."""


@dataclass(frozen=True, slots=True)
class Cookies:
    """A session's cookie. On https its name binds it to this host, and it never travels in the clear."""

    plain_name: str
    is_https: bool

    @property
    def name(self) -> str:
        return f"__Host-{self.plain_name}" if self.is_https else self.plain_name

    def read(self, request: AnyRequest) -> Secret | None:
        value = request.cookies.get(self.name)
        return Secret(value) if value else None

    def write(self, cookie: Secret, *, is_framed: bool = False) -> str:
        """In a frame a browser sends only cookies that say so, and keeps them apart for each embedding site."""
        base = f"{self.name}={cookie.reveal()}; Path=/; HttpOnly"
        if not self.is_https:
            return f"{base}; SameSite=Lax"
        return f"{base}; Secure; SameSite=None; Partitioned" if is_framed else f"{base}; Secure; SameSite=Lax"

    def forget(self) -> str:
        return f"{self.name}=; Path=/; HttpOnly; Max-Age=0; SameSite=Lax" + ("; Secure" if self.is_https else "")


def write_language(language: str, *, is_https: bool) -> str:
    base = f"{LANGUAGE_COOKIE}={language}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
    return f"__Host-{base}; Secure" if is_https else base


def read_language(request: AnyRequest) -> str | None:
    return request.cookies.get(f"__Host-{LANGUAGE_COOKIE}") or request.cookies.get(LANGUAGE_COOKIE)


def read_query(request: AnyRequest) -> dict[str, str]:
    return _without_repeats(request.scope["query_string"].decode("latin-1"))


async def read_form(request: AnyRequest, repeatable: Collection[str] = ()) -> dict[str, list[str]]:
    """The fields of a form; only those that are meant to may come more than once."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise BadRequestError
    try:
        body = await read_form_body(request, MAX_FORM_BYTES)
    except TooLargeFormError:
        raise BadRequestError from None  # nobody fills in that much
    fields: dict[str, list[str]] = {}
    for name, value in _split(body.decode("latin-1")):
        if name in fields and name not in repeatable:
            raise BadRequestError
        fields.setdefault(name, []).append(value)
    return fields


async def read_form_body(request: AnyRequest, limit: int) -> bytes:
    """TooLargeFormError beyond the limit; the rest is not read."""
    chunks, size = [], 0
    while True:
        try:
            event: Any = await request.receive()
        except TimeoutError:
            raise BadRequestError from None
        if event["type"] != "http.request":
            raise BadRequestError
        chunk = event.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise TooLargeFormError
        chunks.append(chunk)
        if not event.get("more_body", False):
            return b"".join(chunks)


def _without_repeats(query: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in _split(query):
        if name in values:
            raise BadRequestError
        values[name] = value
    return values


def _split(encoded: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(encoded, keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise BadRequestError from None


def find_address(request: AnyRequest, trusted_proxies: tuple[str, ...]) -> str:
    """The caller's address: the last hop that is not one of our own proxies."""
    client = request.scope.get("client")
    address = client[0] if client else "unknown"
    if address not in trusted_proxies:
        return address
    for hop in reversed(request.headers.get("x-forwarded-for", "").split(",")):
        hop = hop.strip()
        try:
            ipaddress.ip_address(hop)
        except ValueError:
            break
        address = hop
        if hop not in trusted_proxies:
            break
    return address


# Forgery


def make_token(cookie: Secret, step: str) -> str:
    """Bound to the browser by its cookie, and to the step for which the page was made."""
    return hmac.new(cookie.reveal().encode(), f"kontor form {step}".encode(), hashlib.sha256).hexdigest()


def check_csrf(request: AnyRequest, cookie: Secret, token: str, step: str, base_url: str) -> None:
    """Three walls: where the browser says the request comes from, its origin, and a token only our page can know."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        raise CsrfError
    origin = request.headers.get("origin")
    # Pages that send no referrer send "null" here, too: it says nothing, and the other two walls stand.
    if origin not in (None, "null", origin_of(base_url)):
        raise CsrfError
    if not hmac.compare_digest(token.encode(), make_token(cookie, step).encode()):
        raise CsrfError


def origin_of(url: str) -> str:
    split = urlsplit(url)
    return f"{split.scheme}://{split.netloc}".lower()
