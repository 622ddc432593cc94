"""For operators alone: one access and one job, with why it is in its state; retry, pause and resume. Audited."""

from typing import Any

from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.operations import NO_SUCH_OBJECT, Call, Security, Success, operation
from kontor.domain.operator_details import AccessDetail
from kontor.domain.operators import Viewer
from kontor.services.operations import view_as_operator
from kontor.wire.ops_details import OpsAccessDetail, OpsJob, show_access_detail, show_job

OPS = "/ops/v1"
ACCESS = OPS + "/accesses/{user-id}/{access-id}"
JOB = OPS + "/jobs/{job-id}"
COMMON: dict[str, Any] = {"tag": "Operating", "security": Security.OPERATOR_TOKEN}
OF_ACCESS: dict[str, Any] = COMMON | {"success": Success(shape=OpsAccessDetail)}
OF_JOB: dict[str, Any] = COMMON | {"success": Success(shape=OpsJob)}


@operation("GET", ACCESS, errors=(404,), **OF_ACCESS)
async def read_operated_access(call: Call) -> Answer:
    """Read an access, with why it is in its state and what was tried.

    `reason` says it in one word; `attempts` are the last fetches and skipped slots. No bank data.
    """
    return _answer(call, await call.services.ops.interventions.read_access(*_name(call)))


@operation("POST", ACCESS + "/retry", errors=(404, 409, 429), **OF_ACCESS)
async def retry_operated_access(call: Call) -> Answer:
    """Fetch an access as soon as a worker is free.

    A fetch that waits or runs is enough. 409 where the user must act first, 429 with `Retry-After` while the budget of
    calls without the customer is used up.
    """
    return _answer(call, await call.services.ops.interventions.retry_access(_view(call), *_name(call)))


@operation("POST", ACCESS + "/pause", errors=(404,), **OF_ACCESS)
async def pause_operated_access(call: Call) -> Answer:
    """Stop the background refresh of an access, until an operator resumes it.

    A fetch that is at the bank already ends. Fetches that the user asks for go on.
    """
    return _answer(call, await call.services.ops.interventions.pause_access(_view(call), *_name(call)))


@operation("POST", ACCESS + "/resume", errors=(404,), **OF_ACCESS)
async def resume_operated_access(call: Call) -> Answer:
    """End an operator's pause.

    Where the user must act first, the access stays paused for that reason.
    """
    return _answer(call, await call.services.ops.interventions.resume_access(_view(call), *_name(call)))


@operation("GET", JOB, errors=(404,), **OF_JOB)
async def read_job(call: Call) -> Answer:
    """Read a job that waits, is being run, or failed and is held.

    One that is done has left the queue.
    """
    return json_answer(show_job(await call.services.ops.interventions.read_job(_job_id(call)), call.urls))


@operation("POST", JOB + "/retry", errors=(404, 409), **OF_JOB)
async def retry_job(call: Call) -> Answer:
    """Queue a job again that failed and is held.

    409 where it is not held, or where a job for the same object waits or is being run.
    """
    return json_answer(show_job(await call.services.ops.interventions.retry_job(_view(call), _job_id(call)), call.urls))


def _view(call: Call) -> Viewer:
    assert call.operator is not None, "no other token is admitted"
    return view_as_operator(call.operator)


def _name(call: Call) -> tuple[Any, str]:
    return call.path_uuid("user-id"), call.path("access-id")


def _job_id(call: Call) -> int:
    text = call.path("job-id")
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise HttpError(404, NO_SUCH_OBJECT)
    return int(text)


def _answer(call: Call, detail: AccessDetail) -> Answer:
    provider = call.services.providers.find(detail.row.provider_id)
    return json_answer(show_access_detail(detail, None if provider is None else provider.name, call.urls))
