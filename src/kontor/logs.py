"""Structured logs. What may be secret never gets into them: values of type Secret, and fields that sound like one."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from kontor.domain.secrets import Secret
from kontor.services.correlation import correlation_id

_SECRET_NAME = re.compile(
    r"pass|secret|token|authorization|api_?key|credential|\bpin\b|\btan\b|cookie|database_url", re.IGNORECASE
)


def mask_secrets(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        if isinstance(value, Secret) or (name not in ("event", "exception") and _SECRET_NAME.search(name)):
            event[name] = "***"
    return event


def add_correlation_id(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event["correlation_id"] = correlation_id.get()
    return event


def drop_empty(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {name: value for name, value in event.items() if value is not None}


def configure_logs(level: str, log_format: str) -> None:
    """To standard error: JSON for machines, coloured text for people. Tracebacks without the values of variables."""
    numeric = logging.getLevelNamesMapping()[level.upper()]
    if log_format == "json":
        tail: list[Any] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
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
