"""Masking requests and answers of XS2A and Enable Banking: JSON by its keys, addresses by the words of their paths."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from kontor.connectors.base import Exchange
from kontor.connectors.traces.masking import BIC, HIDDEN, Mask, load_kept
from kontor.connectors.traces.payloads import mask_payload

HOST = "https://bank.example"
FORM = "application/x-www-form-urlencoded"
PROOF_KEY = "code"  # of an error in capital letters; else it proves that a customer has logged in
KEPT_HEADERS = frozenset(
    ("content-type", "accept", "aspsp-sca-approach", "tpp-redirect-preferred", "tpp-decoupled-preferred", "psu-id-type")
)
_KEPT_KEYS = load_kept("json_keys")
_HIDDEN_KEYS = load_kept("hidden_json_keys")
_AMOUNT_KEYS = frozenset(("amount", "creditLimit", "content"))
_WORD_KEYS = frozenset(("name", "displayName", "product", "additionalInformation", "text", "psuMessage", "details"))
_KEY = re.compile(r"[A-Za-z_-]{1,60}[0-9]?")
_CODE, _UPPER_CODE = re.compile(r"[\w:.+-]{0,40}", re.ASCII), re.compile(r"[A-Z_]{1,40}")
_BANK_KEYS, _BANK = frozenset(("bic", "agent", "creditorAgent", "debtorAgent")), BIC
_TYPES = re.compile(r"https?://[\w./-]+|[A-Za-z_]{1,40}")
_PATH_WORDS = load_kept("path_words")
_KEPT_PARAMETERS = frozenset(
    (
        "bookingStatus",
        "dateFrom",
        "dateTo",
        "date_from",
        "strategy",
        "withBalance",
        "deltaList",
        "page",
        "size",
        "limit",
        "offset",
        "pageIndex",
    )
)
_SIMPLE_VALUE = re.compile(r"[0-9]{1,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[A-Za-z]{1,12}")


def mask_exchange(mask: Mask, exchange: Exchange) -> dict[str, Any]:
    shown: dict[str, Any] = {"method": exchange.method, "path": mask_address(mask, exchange.url).removeprefix(HOST)}
    if headers := _mask_headers(exchange.headers):
        shown["headers"] = headers
    if exchange.content:
        is_form = exchange.headers.get("content-type", "").startswith(FORM)
        body = exchange.content
        shown["body"] = _mask_query(mask, body.decode("latin-1")) if is_form else mask_body(mask, body)
    if exchange.problem is not None:
        return shown | {"problem": exchange.problem}
    answer: dict[str, Any] = {"status": exchange.status, "headers": _mask_headers(exchange.answer_headers)}
    if exchange.answer:
        answer["body"] = mask_body(mask, exchange.answer)
    return shown | {"answer": answer}


def mask_body(mask: Mask, data: bytes) -> Any:
    """JSON as such; everything else as a text."""
    try:
        return _mask_json(mask, "", msgspec.json.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return mask_payload(mask, data).decode("utf-8", "replace")


def mask_address(mask: Mask, url: str) -> str:
    """The host is left out. Of a path the words of the standard stay, of a query those of a closed list."""
    parts = urlsplit(url)
    path = "/".join(part if part in _PATH_WORDS else _mask_id(mask, part) for part in parts.path.split("/"))
    query = _mask_query(mask, parts.query)
    origin = HOST if parts.netloc else ""
    return f"{origin}{path}{'?' + query if query else ''}"


def _mask_query(mask: Mask, query: str) -> str:
    return "&".join(
        f"{name if name.isidentifier() else 'x'}={_mask_parameter(mask, name, value)}"
        for name, value in parse_qsl(query, keep_blank_values=True)
    )


def _mask_id(mask: Mask, part: str) -> str:
    return quote(mask.mask_text(unquote(part)))


def _mask_parameter(mask: Mask, name: str, value: str) -> str:
    if name in _HIDDEN_KEYS or name == PROOF_KEY:
        return HIDDEN
    is_kept = name in _KEPT_PARAMETERS and _SIMPLE_VALUE.fullmatch(value)
    return quote(value if is_kept else mask.mask_text(value))


def _mask_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() in KEPT_HEADERS}


def _mask_json(mask: Mask, key: str, value: Any) -> Any:
    if isinstance(value, dict):
        if key == "_links":
            return {_mask_key(mask, name): _mask_link(mask, link) for name, link in value.items()}
        return {_mask_key(mask, name): _mask_json(mask, name, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_mask_json(mask, key, item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if key in _HIDDEN_KEYS:
        return HIDDEN
    if key in _KEPT_KEYS and _is_code(key, value):
        return value
    if key == PROOF_KEY:
        return HIDDEN
    if isinstance(value, int | float):
        return _scale_number(mask, value)
    if key in _AMOUNT_KEYS:
        return mask.scale(value)
    if key == "type" and _TYPES.fullmatch(value):
        return value
    if key == "image":
        return ""
    return mask.mask_text(value, keeps_words=key in _WORD_KEYS)


def _mask_key(mask: Mask, key: str) -> str:
    return key if _KEY.fullmatch(key) else mask.mask_text(key)


def _is_code(key: str, value: Any) -> bool:
    pattern = _UPPER_CODE if key == PROOF_KEY else _BANK if key in _BANK_KEYS else _CODE
    return not isinstance(value, str) or pattern.fullmatch(value) is not None


def _scale_number(mask: Mask, value: float) -> Any:
    try:
        return msgspec.json.decode(mask.scale(str(value)))
    except msgspec.DecodeError:  # an exponent
        return 0


def _mask_link(mask: Mask, link: Any) -> Any:
    if isinstance(link, str):
        return mask_address(mask, link)
    href = link.get("href") if isinstance(link, dict) else None
    return {"href": mask_address(mask, href)} if isinstance(href, str) else _mask_json(mask, "", link)
