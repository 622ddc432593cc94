"""For operators: what runs, what failed, and what was told to whom."""

import re
from collections.abc import Mapping
from typing import Any

from kontor.console.gateway import segment, together
from kontor.console.sessions import Role
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

PAGE_ROWS = 50
MAX_ROWS = 500  # as many as the API gives in one page
REFRESH_STATES = ("late", "due", "running", "failing", "paused")
MAX_NAMES = 100  # as many as the API looks up at once
_PSEUDONYM = re.compile(r"\b(user|adviser) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
DELIVERY_STATES = ("", "PENDING", "DELIVERED", "DISCARDED")


async def show_refreshes(visit: Visit) -> Facts:
    state = visit.choose("state", REFRESH_STATES)
    summary, (refreshes, following) = await together(
        visit.api.get("/ops/v1/refreshes/summary"),
        visit.api.get_page("/ops/v1/refreshes", state=state, limit=PAGE_ROWS, cursor=visit.query.get("cursor")),
    )
    return {
        "summary": summary, "refreshes": refreshes, "cursor": following, "state": state, "states": REFRESH_STATES,
        "keep": {"state": state},
    }  # fmt: skip


async def show_providers(visit: Visit) -> Facts:
    return {"providers": await visit.api.get("/ops/v1/providers")}


async def show_webhooks(visit: Visit) -> Facts:
    webhooks, following = await visit.api.get_page(
        "/ops/v1/webhooks", limit=PAGE_ROWS, cursor=visit.query.get("cursor")
    )
    return {"webhooks": webhooks, "cursor": following}


async def show_webhook(visit: Visit) -> Facts:
    """A webhook's deliveries, the newest first."""
    webhook_id = visit.path("webhook")
    state = visit.choose("state", DELIVERY_STATES)
    deliveries, following = await visit.api.get_page(
        f"/ops/v1/webhooks/{segment(webhook_id)}/deliveries",
        state=state or None,
        limit=PAGE_ROWS,
        cursor=visit.query.get("cursor"),
    )
    return {
        "webhook_id": webhook_id, "deliveries": deliveries, "cursor": following, "state": state,
        "states": DELIVERY_STATES, "keep": {"state": state} if state else {},
    }  # fmt: skip


async def replay_delivery(visit: Visit, form: Form) -> None:
    webhook_id = visit.path("webhook")
    serial = segment(field_of(form, "serial"))
    await visit.api.send("POST", f"/ops/v1/webhooks/{segment(webhook_id)}/deliveries/{serial}/replay")
    raise RedirectTo(f"{BASE}/ops/webhooks/{segment(webhook_id)}", notice="replayed")


async def show_egress(visit: Visit) -> Facts:
    if visit.session.role is not Role.OPERATOR:  # hosts belong to no tenant
        return {"hosts": None, "cursor": None}
    hosts, following = await visit.api.get_page("/ops/v1/egress", limit=PAGE_ROWS, cursor=visit.query.get("cursor"))
    return {"hosts": hosts, "cursor": following}


async def show_jobs(visit: Visit) -> Facts:
    if visit.session.role is not Role.OPERATOR:  # jobs belong to no tenant
        return {"jobs": None, "held": [], "workers": []}
    jobs, held, workers = await together(
        visit.api.get("/ops/v1/jobs"),
        visit.api.get("/ops/v1/jobs/held", limit=PAGE_ROWS),
        visit.api.get("/ops/v1/workers"),
    )
    return {"jobs": jobs, "held": held, "workers": workers}


async def show_audit(visit: Visit) -> Facts:
    """The trail of a tenant, or of the service itself; the chain is verified when asked for."""
    tenant = visit.query.get("tenant") or None
    wants_proof = visit.query.get("verify") == "yes"
    tenants, (entries, following) = await together(
        visit.api.get("/ops/v1/tenants", limit=MAX_ROWS),
        visit.api.get_page("/ops/v1/audit", tenant=tenant, limit=PAGE_ROWS, cursor=visit.query.get("cursor")),
    )
    names = await find_names(visit, entries)
    proof = await visit.api.get("/ops/v1/audit/verification", tenant=tenant) if wants_proof else None
    return {
        "entries": [
            entry | {"who": name_users(entry["actor"], names), "about": name_users(entry["object"], names)}
            for entry in entries
        ],
        "cursor": following, "tenant": tenant, "proof": proof,
        "tenants": [listed_tenant["name"] for listed_tenant in tenants], "keep": {"tenant": tenant} if tenant else {},
        "is_operator": visit.session.role is Role.OPERATOR,
    }  # fmt: skip


async def find_names(visit: Visit, entries: list[Any]) -> dict[str, str]:
    """Names of the users whom entries know by their pseudonyms. Of erased users nobody knows them."""
    told = " ".join(f"{entry['actor']} {entry['object']}" for entry in entries)
    pseudonyms = sorted({pseudonym for _, pseudonym in _PSEUDONYM.findall(told)})[:MAX_NAMES]
    if not pseudonyms:
        return {}
    try:
        users = await visit.api.get("/ops/v1/users", pseudonym=",".join(pseudonyms), limit=MAX_NAMES)
    except ApiError as error:
        if error.status != 403:  # a client that may not read users
            raise
        return {}
    return {user["pseudonym"]: user["username"] for user in users}


def name_users(text: str, names: Mapping[str, str]) -> str:
    return _PSEUDONYM.sub(lambda match: f"{match[1]} {names.get(match[2], match[2])}", text)


VIEWS = [
    View("ops_refreshes", "/ops/refreshes", show_refreshes, group="work", is_operator=True),
    View("ops_providers", "/ops/providers", show_providers, group="work", is_operator=True),
    View("ops_webhooks", "/ops/webhooks", show_webhooks, group="work", is_operator=True),
    View(
        "ops_webhook",
        "/ops/webhooks/{webhook:str}",
        show_webhook,
        parent="ops_webhooks",
        actions={"replay": replay_delivery},
        is_operator=True,
    ),
    View("ops_jobs", "/ops/jobs", show_jobs, group="work", is_operator=True),
    View("ops_egress", "/ops/egress", show_egress, group="work", is_operator=True),
    View("ops_audit", "/ops/audit", show_audit, group="work", is_operator=True),
]
