"""The correlation id of whatever runs now: a request, a job or a command."""

from contextvars import ContextVar

correlation_id: ContextVar[str] = ContextVar("correlation_id", default="-")
