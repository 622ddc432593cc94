"""Health and metrics, for machines that watch."""

import hmac
from typing import Any

import msgspec

from kontor import __version__
from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.metrics import render_metrics
from kontor.api.operations import Call, Security, Success, operation

METRICS_TYPE = "text/plain; version=0.0.4"


class Health(msgspec.Struct):
    status: str
    version: str
    checks: dict[str, bool] | msgspec.UnsetType = msgspec.UNSET


COMMON: dict[str, Any] = {"tag": "Health", "security": Security.NONE, "takes_any_query": True}


@operation("GET", "/health/live", success=Success(shape=Health), **COMMON)
async def live(call: Call) -> Answer:
    """The process runs.

    It asks nothing else, so that a slow database does not make an orchestrator end the process.
    """
    return json_answer(Health("live", __version__))


@operation("GET", "/health/ready", success=Success(shape=Health), errors=(503,), **COMMON)
async def ready(call: Call) -> Answer:
    """Requests can be served: the database answers, and compute processes can be started.

    503 while the database cannot be reached, or no compute process can be started. For load balancers. `disk` is false
    for a minute after the database has said that its disk is full: reads still work then.
    """
    if not await call.services.database.is_ready():
        raise HttpError(503, "The database does not answer.", {"Retry-After": "5"})
    if not call.services.compute.is_ready():
        raise HttpError(503, "No compute process can be started.", {"Retry-After": "5"})
    checks = {"database": True, "compute": True, "disk": not call.services.database.is_disk_full()}
    return json_answer(Health("ready", __version__, checks))


@operation("GET", "/metrics", success=Success(shape=str, media_type="text/plain"), errors=(401,), **COMMON)
async def metrics(call: Call) -> Answer:
    """Prometheus metrics; where KONTOR_METRICS_TOKEN is set, only with that bearer token.

    The counters and gauges are listed in docs/operating/observing.md.
    """
    token = call.settings.metrics_token
    if token is not None:
        sent = (call.header("authorization") or "").removeprefix("Bearer ")
        if not hmac.compare_digest(sent.encode(), token.reveal().encode()):
            raise HttpError(401, "Send the metrics token.", {"WWW-Authenticate": "Bearer"})
    return Answer(200, await render_metrics(call.services.ops.figures), METRICS_TYPE)
