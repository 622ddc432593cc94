"""Programs that users let read their data (assistants): redirect addresses, code challenges, what can be granted."""

import base64
import hashlib
import hmac
import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from kontor.domain.errors import InvalidError
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS

GRANTABLE_SCOPES = (CUSTOMER_READ, CUSTOMER_TAGS)
MAX_ADDRESS_LENGTH = 2000
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")  # RFC 8252, 7.1: a reversed domain name
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def check_redirect_address(address: str) -> str:
    """https, http on loopback, or a scheme of the program's own."""
    field = "redirect address"
    if not _VISIBLE.fullmatch(address) or len(address) > MAX_ADDRESS_LENGTH or set('"<>\\^`{|}') & set(address):
        raise InvalidError("expected an address of printable characters", field)
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 (raises)
    except ValueError:
        raise InvalidError("expected an address", field) from None
    if "#" in address or "@" in parts.netloc:
        raise InvalidError("must have neither a fragment nor a login", field)
    if parts.scheme == "https" and parts.hostname:
        return address
    if parts.scheme == "http" and _is_loopback(parts):
        return address
    if _PRIVATE_SCHEME.fullmatch(parts.scheme):
        return address
    raise InvalidError("use https, http on a loopback address, or a scheme such as com.example.app", field)


def is_registered(address: str, registered: tuple[str, ...]) -> bool:
    """Exactly, but for the port of a loopback address (RFC 8252, 7.3)."""
    if address in registered:
        return True
    try:
        check_redirect_address(address)
    except InvalidError:
        return False
    parts = urlsplit(address)
    if parts.scheme != "http":
        return False
    return any(_without_port(parts) == _without_port(urlsplit(uri)) for uri in registered if uri.startswith("http:"))


def is_challenge(text: str) -> bool:
    return _CHALLENGE.fullmatch(text) is not None


def fits_challenge(verifier: str, challenge: str) -> bool:
    """RFC 7636 with S256."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode()).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), challenge)


def _is_loopback(parts: SplitResult) -> bool:
    if parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _without_port(parts: SplitResult) -> tuple[str, str | None, str, str]:
    return parts.scheme, parts.hostname, parts.path, parts.query
