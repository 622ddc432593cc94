"""For operators: whether all is well, at a glance."""

from typing import Any

from kontor.console.gateway import together
from kontor.console.service_checks import read_checks
from kontor.console.sessions import Role
from kontor.console.visits import Facts, View, Visit


async def show(visit: Visit) -> Facts:
    api = visit.api
    is_operator = visit.session.role is Role.OPERATOR
    calls: list[Any] = [api.get("/ops/v1/accesses/summary"), api.get("/ops/v1/refreshes/summary")]
    if is_operator:  # what belongs to no tenant
        calls += [api.get("/ops/v1/health"), api.get("/ops/v1/workers"), api.get("/ops/v1/jobs")]
    accesses, refreshes, *others = await together(*calls)
    health, workers, jobs = others or (None, [], [])
    return {
        "accesses": accesses,
        "refreshes": refreshes,
        "health": health,
        "checks": [] if health is None else read_checks(health, visit.texts),
        "alive": sum(1 for worker in workers if worker["alive"]),
        "queued": sum(job["count"] for job in jobs if job["status"] == "queued"),
        "held": sum(job["count"] for job in jobs if job["status"] == "failed"),
        "is_operator": is_operator,
    }


VIEWS = [View("ops", "/ops", show, group="state", is_operator=True)]
