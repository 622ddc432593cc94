"""Callback URLs: where a user may be sent back to. Compared part by part, never as strings."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_plus, urlencode, urlsplit, urlunsplit

import idna

from kontor.domain.errors import InvalidError

MAX_URL_LENGTH = 2000
DEFAULT_PORTS = {"https": 443, "http": 80}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\x9f\\\ud800-\udfff]")
# Encoded slashes, backslashes and dots make a path mean one thing here and another at the target.
_DISGUISED = re.compile(r"%(2f|5c|2e|00)", re.IGNORECASE)
_NETLOC = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@]+)(:[0-9]*)?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class CallbackRules:
    """What a tenant allows. `bases` are starts of URLs: same scheme, host and port, and a path below theirs."""

    bases: tuple[str, ...]
    is_any_allowed: bool
    is_loopback_allowed: bool


@dataclass(frozen=True, slots=True)
class _Parts:
    scheme: str
    host: str
    port: int | None
    path: tuple[str, ...]

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def check_callback(url: str, rules: CallbackRules, field: str = "callbackUrl") -> str:
    """The URL as given, when the tenant allows it."""
    parts = parse_callback(url, field)
    if parts.scheme == "http" and not (parts.is_loopback and rules.is_loopback_allowed):
        raise InvalidError("must be an https address", field)
    if rules.is_any_allowed:
        return url
    if not any(_is_below(parts, parse_callback(base, "callback base")) for base in rules.bases):
        raise InvalidError("is not among the addresses this tenant allows", field)
    return url


def parse_callback(url: str, field: str) -> _Parts:
    """Refuses whatever two parsers might read differently."""
    if not url or len(url) > MAX_URL_LENGTH or _FORBIDDEN.search(url):
        raise InvalidError("is not a usable address", field)
    try:
        split = urlsplit(url)
        port = split.port
    except ValueError:
        raise InvalidError("is not a usable address", field) from None
    if port == 0:
        raise InvalidError("is not a usable address", field)
    if split.scheme not in DEFAULT_PORTS or not split.hostname or not url.lower().startswith(f"{split.scheme}://"):
        raise InvalidError("must be an absolute https address", field)
    if "@" in split.netloc or "#" in url:
        raise InvalidError("must have neither user information nor a fragment", field)
    if not _NETLOC.fullmatch(split.netloc):
        raise InvalidError("has an unusable host", field)
    path = split.path
    dots = any(part.partition(";")[0] in (".", "..") for part in path.split("/"))
    if _DISGUISED.search(path) or "//" in path or dots:
        raise InvalidError("has a path that can be read in two ways", field)
    is_open_port = split.netloc.rpartition("]")[2].rpartition(":")[1] == ""
    wanted_port = None if is_open_port else port or DEFAULT_PORTS[split.scheme]
    segments = tuple(part for part in path.split("/") if part)
    return _Parts(split.scheme, _read_host(split.hostname, field), wanted_port, segments)


def _read_host(host: str, field: str) -> str:
    """Lower case, international names in their ASCII form, numeric addresses only in their usual notation."""
    try:
        if ":" in host:
            return str(ipaddress.IPv6Address(host))
        if not host.isascii():
            host = idna.encode(host, uts46=True).decode()
        if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
            return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise InvalidError("has an unusable host", field) from None
    if not re.fullmatch(r"[a-z0-9._-]+", host):
        raise InvalidError("has an unusable host", field)
    return host


def _is_below(parts: _Parts, base: _Parts) -> bool:
    if parts.scheme != base.scheme or parts.host != base.host:
        return False
    is_any_port = base.port is None and base.scheme == "http" and base.is_loopback
    if not is_any_port and _effective_port(parts) != _effective_port(base):
        return False
    return parts.path[: len(base.path)] == base.path


def _effective_port(parts: _Parts) -> int:
    return parts.port or DEFAULT_PORTS[parts.scheme]


def add_to_query(url: str, **values: str) -> str:
    """The URL with its own query kept letter by letter, and these values added (ours win over equal names).

    The result is ASCII, as a header must be.
    """
    split = urlsplit(url)
    own = split.query.split("&") if split.query else []
    kept = [part for part in own if unquote_plus(part.partition("=")[0]) not in values]
    netloc = split.netloc
    if not netloc.isascii():
        netloc = netloc.replace(split.netloc.partition(":")[0], _read_host(split.hostname or "", "callbackUrl"))
    query = "&".join([*kept, urlencode(values)])
    return urlunsplit((split.scheme, netloc, _to_ascii(split.path), _to_ascii(query), ""))


def _to_ascii(text: str) -> str:
    return re.sub(r"[^\x00-\x7f]+", lambda match: quote(match[0]), text)
