"""Errors to answers: the one place that knows which status belongs to which error."""

import structlog
from litestar.exceptions import HTTPException
from psycopg import OperationalError
from psycopg.errors import DiskFull, IdleInTransactionSessionTimeout, InternalError
from psycopg_pool import PoolTimeout

from kontor.api.answers import JSON, NO_STORE, PROBLEM_JSON, Answer, HttpError, OAuthError
from kontor.api.slow_bodies import LAST_ANSWER, SlowBodyError
from kontor.domain.errors import (
    BusyError,
    ConflictError,
    DeadlineExceededError,
    InvalidError,
    KontorError,
    NotAllowedNowError,
    NotFoundError,
    TooLargeError,
    TooManyAttemptsError,
    TooManyCallsError,
    UnavailableError,
)
from kontor.services.runtime import correlation_id
from kontor.wire.encoding import encode_json
from kontor.wire.errors import OAuthErrorBody, WrongField, error_body, problem_body

log = structlog.get_logger(__name__)

_STATUSES: dict[type[KontorError], int] = {
    NotFoundError: 404,
    InvalidError: 400,
    BusyError: 409,
    ConflictError: 409,
    NotAllowedNowError: 405,
    TooManyAttemptsError: 429,
    TooManyCallsError: 429,
    TooLargeError: 413,
    UnavailableError: 503,
    DeadlineExceededError: 504,
}
_HEADERS = {BusyError: {"Retry-After": "5"}, NotAllowedNowError: {"Allow": "GET, PUT"}}
# Citus raises an internal error when it loses a worker within a transaction or a query, and an operational error
# where it cannot connect. The first text is its own, the others are libpq's.
LOST_WORKER = (
    "failure on connection marked as essential",
    "server closed the connection unexpectedly",
    "could not receive data from server",
    "could not send data to server",
)
_ROUTING = {404: "There is no such path.", 405: "This path does not know this method."}


def answer_error(error: Exception, accept: str) -> Answer:
    if isinstance(error, OAuthError):
        body = encode_json(OAuthErrorBody(error.error, error.description))
        return Answer(error.status, body, JSON, NO_STORE | error.headers)
    known = to_http_error(error)
    if known is None:
        log.error("defect", exc_info=error)
        known = HttpError(500, "An internal error occurred.")
    if PROBLEM_JSON in accept:
        errors = [WrongField(error.pointer, error.detail) for error in known.field_errors]
        problem = problem_body(known.status, known.message, correlation_id.get(), known.messages, errors)
        return Answer(known.status, encode_json(problem), PROBLEM_JSON, known.headers)
    shown = error_body(known.status, known.message, correlation_id.get(), known.messages)
    return Answer(known.status, encode_json(shown), JSON, known.headers)


def to_http_error(error: Exception) -> HttpError | None:
    """None for what nobody expected."""
    match error:
        case HttpError():
            return error
        case KontorError():
            return _answer_known(error)
        case SlowBodyError():
            return HttpError(408, "The body did not arrive in time.", dict(LAST_ANSWER))
        case HTTPException() if error.status_code in _ROUTING:
            return HttpError(error.status_code, _ROUTING[error.status_code], dict(error.headers or {}))
        case HTTPException() if error.status_code < 500:
            return HttpError(error.status_code, error.detail)
        case DiskFull():
            return HttpError(503, "The database's disk is full; nothing can be stored.", {"Retry-After": "60"})
        case PoolTimeout() | OperationalError() | IdleInTransactionSessionTimeout():
            return _answer_without_database(error)
        case InternalError() if any(text in str(error) for text in LOST_WORKER):
            return _answer_without_database(error)
    return None


def _answer_without_database(error: Exception) -> HttpError:
    log.warning("database.unavailable", reason=type(error).__name__)
    return HttpError(503, "The database is not reachable at the moment.", {"Retry-After": "5"})


def _answer_known(error: KontorError) -> HttpError | None:
    status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), None)
    if status is None:
        return None
    headers = dict(_HEADERS.get(type(error), {}))
    seconds = getattr(error, "retry_after_seconds", None)
    if seconds is not None:
        headers["Retry-After"] = str(seconds)
    return HttpError(status, error.message, headers)
