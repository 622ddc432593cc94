"""For operators: an operator's token sees every tenant, a tenant's client its own. English, and ours.

A client needs the scope that opens the same things elsewhere: reading clients or users here takes what it takes there.
"""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, HttpError, json_answer
from kontor.api.operations import NO_SUCH_OBJECT, Call, Security, Success, operation
from kontor.api.paging import DEFAULT_PAGE, CursorText, Limit, page_answer, read_cursor
from kontor.domain import scopes
from kontor.domain.errors import InvalidError
from kontor.domain.operator_views import NIL, AccessFilter, Place, Source, UserFilter
from kontor.domain.operators import AccessRefresh, RefreshState, Viewer
from kontor.domain.webhooks import DeliveryState
from kontor.services.operations import MAX_SERIAL, view_as_client, view_as_operator
from kontor.wire import ops as wire
from kontor.wire.ops_details import OpsHeldJob, show_held_job
from kontor.wire.webhooks import WebhookDelivery, show_delivery

OPS = "/ops/v1"
MAX_PSEUDONYMS = 100
DELIVERIES = OPS + "/webhooks/{webhook-id}/deliveries"
COMMON: dict[str, Any] = {"tag": "Operating", "security": Security.OPERATOR_OR_CLIENT_TOKEN}
READ: dict[str, Any] = COMMON | {"scope": scopes.TENANTS_READ}
WEBHOOKS: dict[str, Any] = COMMON | {"scope": scopes.WEBHOOKS_MANAGE}
ALONE: dict[str, Any] = {"tag": "Operating", "security": Security.OPERATOR_TOKEN}
Tenant = Annotated[str, Meta(max_length=64, description="name of the tenant; without it, all that may be seen")]
Serial = Annotated[int, Meta(ge=0, lt=MAX_SERIAL)]
RefreshChoice = Annotated[
    Literal["running", "paused", "late", "due", "failing", "scheduled", "off"], Meta(title="OpsRefreshChoice")
]


class PageQuery(msgspec.Struct):
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


class TenantQuery(msgspec.Struct):
    tenant: Tenant | None = None


class TenantPageQuery(msgspec.Struct):
    tenant: Tenant | None = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


class UsersQuery(msgspec.Struct):
    tenant: Tenant | None = None
    reference: Annotated[UUID, Meta(description="only this user")] | None = None
    pseudonym: (
        Annotated[
            str,
            Meta(
                max_length=37 * MAX_PSEUDONYMS,
                description=f"only these, as the audit trail names them; at most {MAX_PSEUDONYMS}, comma-separated",
            ),
        ]
        | None
    ) = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


class AccessesQuery(msgspec.Struct):
    tenant: Tenant | None = None
    status: wire.AccessStatus | None = None
    provider: Annotated[UUID, Meta(description="id of the provider")] | None = None
    pause: wire.Pause | None = None
    refresh: Annotated[RefreshChoice, Meta(description="where it stands; late ones are due too")] | None = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


class RefreshesQuery(msgspec.Struct):
    state: Annotated[Literal["due", "late", "running", "failing", "paused"], Meta(title="OpsRefreshSelection")]
    tenant: Tenant | None = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


class OpsDeliveriesQuery(msgspec.Struct):
    state: Annotated[DeliveryState, Meta(description="only those in this state")] | None = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


def view(call: Call) -> Viewer:
    operator = call.operator
    return view_as_client(call.principal) if operator is None else view_as_operator(operator)


def page(shape: Any) -> Success:
    return Success(shape=list[shape])


# Tenants, clients, users


@operation("GET", OPS + "/tenants", query=PageQuery, success=page(wire.OpsTenant), **READ)
async def list_operated_tenants(call: Call) -> Answer:
    """List tenants, with how many clients and users each has.

    A client's token sees its own tenant only.
    """
    query = call.query(PageQuery)
    rows = await call.services.ops.list_tenants(view(call), read_cursor(query.cursor, str) or "", query.limit)
    following = rows[-1].name if len(rows) == query.limit else None
    return page_answer(call, [wire.show_tenant(row) for row in rows], following)


@operation(
    "GET", OPS + "/clients", query=TenantPageQuery, success=page(wire.OpsClient), errors=(404,),
    scope=scopes.CLIENTS_READ, **COMMON,
)  # fmt: skip
async def list_operated_clients(call: Call) -> Answer:
    """List clients.

    Of all tenants, or of one. Secrets are not shown.
    """
    query = call.query(TenantPageQuery)
    tenant_id = await call.services.ops.choose_tenant(view(call), query.tenant)
    after = read_cursor(query.cursor, tuple[str, str]) or ("", "")
    rows = await call.services.ops.list_clients(tenant_id, after, query.limit)
    following = (rows[-1].tenant_name, rows[-1].name) if len(rows) == query.limit else None
    return page_answer(call, [wire.show_client(row) for row in rows], following)


@operation(
    "GET", OPS + "/users", query=UsersQuery, success=page(wire.OpsUser), errors=(404,),
    scope=scopes.USERS_READ, **COMMON,
)  # fmt: skip
async def list_operated_users(call: Call) -> Answer:
    """List users, deactivated ones too, by reference.

    Each with the number of accesses, and the pseudonym under which the audit trail knows the user. A client's token
    sees its own tenant only.
    """
    query = call.query(UsersQuery)
    pseudonyms = _read_pseudonyms(query.pseudonym)
    tenant_id = await call.services.ops.choose_tenant(view(call), query.tenant)
    after = read_cursor(query.cursor, UUID) or NIL
    wanted = UserFilter(tenant_id, query.reference, pseudonyms)
    rows = await call.services.ops.list_users(wanted, after, query.limit)
    following = rows[-1].id if len(rows) == query.limit else None
    return page_answer(call, [wire.show_user(row) for row in rows], following)


def _read_pseudonyms(text: str | None) -> list[UUID] | None:
    try:
        found = None if text is None else [UUID(part) for part in text.split(",")]
    except ValueError:
        raise InvalidError("expected ids, comma-separated", "pseudonym") from None
    if found is not None and len(found) > MAX_PSEUDONYMS:
        raise InvalidError(f"at most {MAX_PSEUDONYMS}", "pseudonym")
    return found


# Accesses


@operation("GET", OPS + "/accesses", query=AccessesQuery, success=page(wire.OpsAccess), errors=(404,), **READ)
async def list_operated_accesses(call: Call) -> Answer:
    """List accesses to banks.

    With a filter a page may be short, or empty, although others follow: the header Link tells.
    """
    query = call.query(AccessesQuery)
    services = call.services
    wanted = AccessFilter(
        tenant_id=await services.ops.choose_tenant(view(call), query.tenant),
        status=query.status,
        provider_id=query.provider,
        pause=query.pause,
        states=_choose_states(query.refresh),
        is_failing=True if query.refresh == "failing" else None,
    )
    after = read_cursor(query.cursor, tuple[UUID, str]) or (NIL, "")
    rows, following = await services.ops.list_accesses(wanted, after, query.limit)
    return page_answer(call, [wire.show_access(row, _name(call, row.provider_id)) for row in rows], following)


def _choose_states(choice: RefreshChoice | None) -> tuple[AccessRefresh, ...] | None:
    if choice is None or choice == "failing":
        return None
    if choice == "due":
        return (AccessRefresh.DUE, AccessRefresh.LATE)
    return (AccessRefresh(choice),)


def _name(call: Call, provider_id: UUID) -> str | None:
    provider = call.services.providers.find(provider_id)
    return None if provider is None else provider.name


@operation(
    "GET", OPS + "/accesses/summary", query=TenantQuery, success=Success(shape=wire.OpsAccessSummary), errors=(404,),
    **READ,
)  # fmt: skip
async def summarise_accesses(call: Call) -> Answer:
    """Count accesses by state.

    Of all tenants, or of one. Paused ones are counted by reason too.
    """
    tenant_id = await call.services.ops.choose_tenant(view(call), call.query(TenantQuery).tenant)
    return json_answer(wire.show_access_summary(await call.services.ops.figures.count_accesses(tenant_id)))


# Refreshes, providers


@operation("GET", OPS + "/refreshes", query=RefreshesQuery, success=page(wire.OpsRefresh), errors=(404,), **READ)
async def list_refreshes(call: Call) -> Answer:
    """List what is due, late, running, failing or paused: the oldest first, failing ones the newest first.

    Accesses of all tenants, or of one.
    """
    query = call.query(RefreshesQuery)
    ops = call.services.ops
    tenant_id = await ops.choose_tenant(view(call), query.tenant)
    cursor = read_cursor(query.cursor, tuple[Source, datetime, UUID, str])
    after = None if cursor is None else Place(*cursor)
    rows, place = await ops.list_refreshes(RefreshState(query.state), tenant_id, after, query.limit)
    following = None if place is None else (place.source, place.at, place.user_id, place.access_id)
    return page_answer(call, [wire.show_refresh(row, _name(call, row.provider_id)) for row in rows], following)


@operation(
    "GET", OPS + "/refreshes/summary", query=TenantQuery, success=Success(shape=wire.OpsRefreshSummary), errors=(404,),
    **READ,
)  # fmt: skip
async def summarise_refreshes(call: Call) -> Answer:
    """Count what is due, late, running, failing and paused, and how the fetches of the last 24 hours ended.

    Of all tenants, or of one.
    """
    tenant_id = await call.services.ops.choose_tenant(view(call), call.query(TenantQuery).tenant)
    return json_answer(wire.show_refresh_summary(await call.services.ops.figures.count_refreshes(tenant_id)))


@operation("GET", OPS + "/providers", success=page(wire.OpsProvider), **READ)
async def list_operated_providers(call: Call) -> Answer:
    """List providers that were called in the last 24 hours or do not answer: the troubled first.

    With how its fetches ended, and with the outage where there is one.
    """
    rows = await call.services.ops.list_providers()
    return json_answer([wire.show_provider(row, _name(call, row.provider_id)) for row in rows])


# Webhooks


@operation(
    "GET", OPS + "/webhooks", query=TenantPageQuery, success=page(wire.OpsWebhook), errors=(404,), **WEBHOOKS
)  # fmt: skip
async def list_operated_webhooks(call: Call) -> Answer:
    """List webhooks.

    Of all tenants, or of one. Secrets are not shown.
    """
    query = call.query(TenantPageQuery)
    tenant_id = await call.services.ops.choose_tenant(view(call), query.tenant)
    after = read_cursor(query.cursor, tuple[str, UUID]) or ("", NIL)
    rows = await call.services.ops.list_webhooks(tenant_id, after, query.limit)
    following = (rows[-1][0], rows[-1][1].id) if len(rows) == query.limit else None
    return page_answer(call, [wire.show_webhook(*row) for row in rows], following)


@operation("GET", DELIVERIES, query=OpsDeliveriesQuery, success=page(WebhookDelivery), errors=(404,), **WEBHOOKS)
async def list_operated_deliveries(call: Call) -> Answer:
    """List a webhook's deliveries of the last 30 days, newest first.

    With the status that the receiver answered, and when the next attempt is due.
    """
    webhook = await call.services.ops.find_webhook(view(call), call.path_uuid("webhook-id"))
    query = call.query(OpsDeliveriesQuery)
    before = read_cursor(query.cursor, Serial)
    rows = await call.services.webhooks.list_deliveries(webhook, query.state, before, query.limit)
    following = rows[-1].serial if len(rows) == query.limit else None
    return page_answer(call, [show_delivery(delivery) for delivery in rows], following)


@operation(
    "POST", DELIVERIES + "/{serial}/replay", success=Success(shape=WebhookDelivery), errors=(404, 409), **WEBHOOKS
)
async def replay_operated_delivery(call: Call) -> Answer:
    """Deliver an event again, under its own serial and id.

    409 where the webhook is switched off, or where the user of the event was erased.
    """
    viewer = view(call)
    webhook = await call.services.ops.find_webhook(viewer, call.path_uuid("webhook-id"))
    text = call.path("serial")
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise HttpError(404, NO_SUCH_OBJECT)
    delivery = await call.services.webhooks.replay_for(viewer.actor, webhook.tenant_id, webhook.id, int(text))
    return json_answer(show_delivery(delivery))


# Machinery: it belongs to no tenant


@operation("GET", OPS + "/jobs", success=page(wire.OpsJobs), **ALONE)
async def list_jobs(call: Call) -> Answer:
    """Count the jobs in the queue, by kind and status.

    A failed job is held: nobody tries it again.
    """
    figures = await call.services.ops.figures.count_system()
    return json_answer([wire.show_jobs(job_count) for job_count in figures.jobs])


@operation("GET", OPS + "/jobs/held", query=PageQuery, success=page(OpsHeldJob), **ALONE)
async def list_held_jobs(call: Call) -> Answer:
    """List the jobs that failed, newest first.

    They are held for 30 days.
    """
    query = call.query(PageQuery)
    before = read_cursor(query.cursor, Serial)
    rows = await call.services.ops.list_held_jobs(MAX_SERIAL if before is None else before, query.limit)
    following = rows[-1].id if len(rows) == query.limit else None
    return page_answer(call, [show_held_job(job) for job in rows], following)


@operation("GET", OPS + "/workers", success=page(wire.OpsWorker), **ALONE)
async def list_workers(call: Call) -> Answer:
    """List the workers: those at work, and those that stopped responding within the last hour.

    Each with its host, its version and when it was last seen.
    """
    return json_answer([wire.show_worker(worker) for worker in await call.services.ops.list_workers(500)])


# Audit trail


@operation("GET", OPS + "/audit", query=TenantPageQuery, success=page(wire.OpsAuditEntry), errors=(404,), **READ)
async def list_audit_entries(call: Call) -> Answer:
    """List the audit trail of a tenant, newest first; for an operator who names none, that of the system itself.

    Entries name who did what to which object. Each has the hash of the one before.
    """
    query = call.query(TenantPageQuery)
    tenant_id = await call.services.ops.choose_tenant(view(call), query.tenant)
    before = read_cursor(query.cursor, Serial)
    entries = await call.services.ops.list_audit_entries(
        tenant_id, MAX_SERIAL if before is None else before, query.limit
    )
    following = entries[-1].serial if len(entries) == query.limit else None
    return page_answer(call, [wire.show_audit_entry(entry) for entry in entries], following)


@operation(
    "GET", OPS + "/audit/verification", query=TenantQuery, success=Success(shape=wire.OpsVerification), errors=(404,),
    **READ,
)  # fmt: skip
async def verify_audit_trail(call: Call) -> Answer:
    """Check that the audit trail is whole: that each entry follows from the ones before it, up to the last.

    There is a chain per tenant, and one of the system; each tells what is wrong with it.
    """
    tenant_id = await call.services.ops.choose_tenant(view(call), call.query(TenantQuery).tenant)
    return json_answer(wire.show_verification(await call.services.ops.verify_audit_trail(tenant_id)))


@operation("GET", OPS + "/health", success=Success(shape=wire.OpsHealth), **READ)
async def check_health(call: Call) -> Answer:
    """Tell whether all is well, and what is not.

    Each check tells whether it is well, and gives a detail.
    """
    return json_answer(wire.show_health(await call.services.ops.figures.check_health(view(call))))
