"""For operators: one access and one job, why it is in its state, and what can be done. No bank data."""

from kontor.console.gateway import segment
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

ACTIONS = ("retry", "pause", "resume")


async def show_access(visit: Visit) -> Facts:
    """`do` in the query asks for confirmation before anything is done."""
    asked = visit.choose("do", ("", *ACTIONS))
    access = await visit.api.get(_path_of(visit))
    offered = {relation["rel"] for relation in access["relations"]}
    return {
        "access": access,
        "asked": asked if asked in offered else "",
        "offered": [action for action in ACTIONS if action in offered],
        "username": await find_username(visit, access["tenant"], access["userReference"]),
        "page": _page_of(visit),
        "refused": None,
    }


async def act_on_access(visit: Visit, form: Form) -> Facts:
    action = field_of(form, "do")
    if action not in ACTIONS:
        raise BadRequestError
    try:
        await visit.api.send("POST", f"{_path_of(visit)}/{action}")
    except ApiError as error:
        if error.status not in (409, 429):
            raise
        refused = {"reason": "budget" if error.status == 429 else "user", "wait": error.retry_after_seconds}
        return await show_access(visit) | {"refused": refused, "asked": "", "status": error.status}
    raise RedirectTo(_page_of(visit), notice=f"access_{action}")


async def find_username(visit: Visit, tenant: str, reference: str) -> str | None:
    users = await visit.api.get("/ops/v1/users", tenant=tenant, reference=reference)
    return next((user["username"] for user in users), None)


def _path_of(visit: Visit) -> str:
    return f"/ops/v1/accesses/{segment(visit.path('user'))}/{segment(visit.path('access'))}"


def _page_of(visit: Visit) -> str:
    return f"{BASE}/ops/accesses/{segment(visit.path('user'))}/{segment(visit.path('access'))}"


async def show_job(visit: Visit) -> Facts:
    asked = visit.choose("do", ("", "retry"))
    job = await visit.api.get(f"/ops/v1/jobs/{segment(visit.path('job'))}")
    can_retry = any(relation["rel"] == "retry" for relation in job["relations"])
    return {"job": job, "can_retry": can_retry, "asked": asked if can_retry else "", "is_refused": False}


async def retry_job(visit: Visit, form: Form) -> Facts:
    number = segment(visit.path("job"))
    try:
        await visit.api.send("POST", f"/ops/v1/jobs/{number}/retry")
    except ApiError as error:
        if error.status != 409:
            raise
        return await show_job(visit) | {"is_refused": True, "asked": "", "status": 409}
    raise RedirectTo(f"{BASE}/ops/jobs/{number}", notice="job_retry")


VIEWS = [
    View(
        "ops_access",
        "/ops/accesses/{user:str}/{access:str}",
        show_access,
        parent="ops_accesses",
        actions={"act": act_on_access},
        is_operator=True,
    ),
    View(
        "ops_job",
        "/ops/jobs/{job:str}",
        show_job,
        parent="ops_jobs",
        actions={"retry": retry_job},
        is_operator=True,
    ),
]
