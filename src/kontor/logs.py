"""Structured logs. What may be secret never gets into them: values of type Secret, and fields that sound like one."""

import io
import logging
import re
import sys
from collections.abc import MutableMapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import msgspec
import structlog
from msgspec import UNSET

from kontor.domain.secrets import Secret
from kontor.services.runtime import correlation_id

MASK = "***"
UNSUSPICIOUS = ("exception", "exc_info", "stack_info")
MAX_DEPTH = 6

# "pin" and "tan" count only as a whole part of a name: bank_pin and userPin, but not shipping or instant.
_SECRET_NAME = re.compile(
    r"pass(word|phrase|wd)?|secret|token|authori[sz]ation|api_?-?key|credential|cookie|database_?url|master_?key"
    r"|(^|[_.-])(pin|tan)($|[_.-])|(?-i:[a-z](?:Pin|Tan)(?![a-z]))",
    re.IGNORECASE,
)
# What is recognised as a secret wherever it stands, in texts and tracebacks too.
_SECRET_TEXTS = (
    (re.compile(r"(kontor_(?:at|key|op)_)[\w-]+"), r"\1" + MASK),
    (re.compile(r"(whsec_)[\w+/=-]+"), r"\1" + MASK),
    (re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE), r"\1 " + MASK),
    (re.compile(r"(://[^:/@\s]+:)[^@/\s]+@"), r"\1" + MASK + "@"),
    (re.compile(r"\b(password|client_secret|access_token)=(?:'[^']*'|[^\s&'\"]+)", re.IGNORECASE), r"\1=" + MASK),
)

# None of the patterns above matches a text without one of these, and most texts have none.
_SUSPICIOUS_TEXT = re.compile(r"kontor_|whsec_|bearer|basic|://|=", re.IGNORECASE)


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool:
    return name not in UNSUSPICIOUS and _SECRET_NAME.search(name) is not None


def mask_secrets(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        event[name] = mask_text(value) if name == "event" and isinstance(value, str) else _mask(name, value, MAX_DEPTH)
    return event


def mask_text(text: str) -> str:
    if _SUSPICIOUS_TEXT.search(text) is None:
        return text
    for pattern, replacement in _SECRET_TEXTS:
        text = pattern.sub(replacement, text)
    return text


def _mask(name: str, value: Any, depth: int) -> Any:
    """A value of type Secret, one whose name sounds like a secret, and secrets inside texts, at any depth."""
    if isinstance(value, Secret) or _is_secret_name(name):
        return MASK
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return {str(key): _mask(str(key), item, depth - 1) for key, item in value.items()} if depth else MASK
    if isinstance(value, list | tuple | set | frozenset):
        return [_mask("", item, depth - 1) for item in value] if depth else MASK
    return value


def mask_exception(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if "exception" in event:
        event["exception"] = mask_text(event["exception"])
    return event


def _write_masked_traceback(target: TextIO, exc_info: Any) -> None:
    text = io.StringIO()
    structlog.dev.plain_traceback(text, exc_info)
    target.write(mask_text(text.getvalue()))


def add_correlation_id(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event["correlation_id"] = correlation_id.get()
    return event


def drop_empty(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {name: value for name, value in event.items() if value is not None}


def _encode_line(event: Any, **_: Any) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()


class RequestLine(msgspec.Struct):
    """The line of a request. Its fields are few and known, so it needs none of the steps of other lines.

    Only the correlation id comes from the caller, and passes the same mask as any text.
    """

    method: str
    operation: str
    status: int
    seconds: float
    correlation_id: str
    timestamp: datetime
    tenant: str | msgspec.UnsetType
    client: str | msgspec.UnsetType
    event: str = "request"
    level: str = "info"

    def __post_init__(self) -> None:
        self.correlation_id = mask_text(self.correlation_id)


_request_encoder = msgspec.json.Encoder()
_request_log = logging.getLogger("kontor.request")
_is_json = False


def log_request(
    method: str, operation: str, status: int, seconds: float, tenant: str | None, client: str | None
) -> None:
    """One line for every request, written without detours: no other line is written as often."""
    if not _is_json:
        structlog.get_logger("kontor.request").info(
            "request", method=method, operation=operation, status=status, seconds=seconds, tenant=tenant, client=client
        )
    elif _request_log.isEnabledFor(logging.INFO):
        line = RequestLine(
            method,
            operation,
            status,
            seconds,
            correlation_id.get(),
            datetime.now(UTC),
            tenant or UNSET,
            client or UNSET,
        )
        sys.stderr.write(_request_encoder.encode(line).decode() + "\n")
        sys.stderr.flush()


def configure_logs(level: str, log_format: str) -> None:
    """To standard error: JSON for machines, coloured text for people. Tracebacks without the values of variables."""
    global _is_json
    _is_json = log_format == "json"
    numeric = logging.getLevelNamesMapping()[level.upper()]
    _request_log.setLevel(numeric)
    if log_format == "json":
        tail: list[Any] = [
            structlog.processors.format_exc_info,
            mask_exception,
            structlog.processors.JSONRenderer(_encode_line),
        ]
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=_write_masked_traceback
        )
        tail = [renderer]
    shared: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_correlation_id,
        mask_secrets,
        drop_empty,
    ]
    structlog.configure(
        processors=[*shared, *tail],
        wrapper_class=structlog.make_filtering_bound_logger(numeric),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *tail]
        )
    )
    # Libraries log their own way; only their warnings are of interest, and they pass through the same masks.
    logging.basicConfig(handlers=[handler], level=max(numeric, logging.WARNING), force=True)
