"""For operators: tenants, clients, users, and the accesses of their users."""

from kontor.console.gateway import together
from kontor.console.sessions import Role
from kontor.console.visits import Facts, View, Visit
from kontor.pages.browser import BadRequestError

PAGE_ROWS = 50
MAX_ROWS = 500  # as many as the API gives in one page
STATES = ("", "running", "paused", "late", "due", "failing", "scheduled", "off")
STATUSES = ("", "STARTED", "HEADERS", "COMPLETE")


async def show_tenants(visit: Visit) -> Facts:
    (tenants, following), clients = await together(
        visit.api.get_page("/ops/v1/tenants", limit=PAGE_ROWS, cursor=visit.query.get("cursor")),
        visit.api.get("/ops/v1/clients", limit=MAX_ROWS),
    )
    by_tenant: dict[str, list[object]] = {}
    for client in clients:
        by_tenant.setdefault(client["tenant"], []).append(client)
    return {"tenants": tenants, "clients": by_tenant, "cursor": following}


async def show_users(visit: Visit) -> Facts:
    tenant = visit.query.get("tenant") or None
    users, following = await visit.api.get_page(
        "/ops/v1/users", tenant=tenant, limit=PAGE_ROWS, cursor=visit.query.get("cursor")
    )
    return {"users": users, "tenant": tenant, "cursor": following, "keep": _keep(visit, "tenant")}


async def show_accesses(visit: Visit) -> Facts:
    refresh, status = visit.query.get("refresh", ""), visit.query.get("status", "")
    if refresh not in STATES or status not in STATUSES:
        raise BadRequestError
    summary, (accesses, following) = await together(
        visit.api.get("/ops/v1/accesses/summary"),
        visit.api.get_page(
            "/ops/v1/accesses",
            tenant=visit.query.get("tenant") or None,
            refresh=refresh or None,
            status=status or None,
            limit=PAGE_ROWS,
            cursor=visit.query.get("cursor"),
        ),
    )
    return {
        "summary": summary, "accesses": accesses, "cursor": following, "states": STATES, "statuses": STATUSES,
        "refresh": refresh, "status": status, "keep": _keep(visit, "tenant", "refresh", "status"),
        "is_operator": visit.session.role is Role.OPERATOR,
    }  # fmt: skip


def _keep(visit: Visit, *names: str) -> dict[str, str]:
    """The filters, for the link to the next page."""
    return {name: visit.query[name] for name in names if visit.query.get(name)}


VIEWS = [
    View("ops_tenants", "/ops/tenants", show_tenants, group="who", is_operator=True),
    View("ops_users", "/ops/users", show_users, group="who", is_operator=True),
    View("ops_accesses", "/ops/accesses", show_accesses, group="who", is_operator=True),
]
