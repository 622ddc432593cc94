"""What operators see, with an operator's token or that of a client that may: no bank data. Lists are newest first.

`limit` and `cursor` page a list; the header Link names the next cursor, which `request` shows.
"""

from datetime import date
from typing import Any

from kontor_client.models import operators as models
from kontor_client.models.webhooks import Delivery
from kontor_client.plans import Plan, fetch, path_of

OPS = "/ops/v1"


def list_operated_tenants(*, limit: int | None = None, cursor: str | None = None) -> Plan[list[models.OperatedTenant]]:
    return fetch(list[models.OperatedTenant], f"{OPS}/tenants", params=_page(limit, cursor))


def list_operated_clients(
    *, tenant: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Plan[list[models.OperatedClient]]:
    return fetch(list[models.OperatedClient], f"{OPS}/clients", params=_page(limit, cursor, tenant=tenant))


def list_operated_users(
    *,
    tenant: str | None = None,
    reference: str | None = None,
    pseudonym: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Plan[list[models.OperatedUser]]:
    """`pseudonym` finds those whom the audit trail calls so; several are comma-separated."""
    params = _page(limit, cursor, tenant=tenant, reference=reference, pseudonym=pseudonym)
    return fetch(list[models.OperatedUser], f"{OPS}/users", params=params)


def list_operated_accesses(
    *,
    tenant: str | None = None,
    status: str | None = None,
    provider: str | None = None,
    pause: str | None = None,
    refresh: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Plan[list[models.OperatedAccess]]:
    params = _page(limit, cursor, tenant=tenant, status=status, provider=provider, pause=pause, refresh=refresh)
    return fetch(list[models.OperatedAccess], f"{OPS}/accesses", params=params)


def summarise_accesses(*, tenant: str | None = None) -> Plan[models.AccessSummary]:
    return fetch(models.AccessSummary, f"{OPS}/accesses/summary", params={"tenant": tenant})


def read_operated_access(user_id: str, access_id: str) -> Plan[models.OperatedAccessDetail]:
    """Why it is in its state, and what was tried."""
    return fetch(models.OperatedAccessDetail, f"{OPS}/accesses{path_of(user_id, access_id)}")


def retry_operated_access(user_id: str, access_id: str) -> Plan[models.OperatedAccessDetail]:
    """Fetch as soon as a worker is free, within the budget of calls."""
    return fetch(models.OperatedAccessDetail, f"{OPS}/accesses{path_of(user_id, access_id, 'retry')}", "POST")


def pause_operated_access(user_id: str, access_id: str) -> Plan[models.OperatedAccessDetail]:
    """Stop background refresh until it is resumed."""
    return fetch(models.OperatedAccessDetail, f"{OPS}/accesses{path_of(user_id, access_id, 'pause')}", "POST")


def resume_operated_access(user_id: str, access_id: str) -> Plan[models.OperatedAccessDetail]:
    return fetch(models.OperatedAccessDetail, f"{OPS}/accesses{path_of(user_id, access_id, 'resume')}", "POST")


def list_refreshes(
    state: str, *, tenant: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Plan[list[models.Refresh]]:
    """`state` is due, late, running, failing or paused."""
    return fetch(list[models.Refresh], f"{OPS}/refreshes", params=_page(limit, cursor, state=state, tenant=tenant))


def summarise_refreshes(*, tenant: str | None = None) -> Plan[models.RefreshSummary]:
    return fetch(models.RefreshSummary, f"{OPS}/refreshes/summary", params={"tenant": tenant})


def list_operated_providers() -> Plan[list[models.OperatedProvider]]:
    return fetch(list[models.OperatedProvider], f"{OPS}/providers")


def list_operated_webhooks(
    *, tenant: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Plan[list[models.OperatedWebhook]]:
    return fetch(list[models.OperatedWebhook], f"{OPS}/webhooks", params=_page(limit, cursor, tenant=tenant))


def list_operated_deliveries(
    webhook_id: str, *, state: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Plan[list[Delivery]]:
    path = f"{OPS}/webhooks{path_of(webhook_id, 'deliveries')}"
    return fetch(list[Delivery], path, params=_page(limit, cursor, state=state))


def replay_operated_delivery(webhook_id: str, serial: int) -> Plan[Delivery]:
    """Send an event again."""
    return fetch(Delivery, f"{OPS}/webhooks{path_of(webhook_id, 'deliveries', serial, 'replay')}", "POST")


def list_jobs() -> Plan[list[models.Jobs]]:
    """How many jobs wait, by kind and state."""
    return fetch(list[models.Jobs], f"{OPS}/jobs")


def list_held_jobs(*, limit: int | None = None, cursor: str | None = None) -> Plan[list[models.HeldJob]]:
    """Jobs that nobody tries again."""
    return fetch(list[models.HeldJob], f"{OPS}/jobs/held", params=_page(limit, cursor))


def read_job(job_id: int) -> Plan[models.Job]:
    """One that waits, is being run, or failed and is held."""
    return fetch(models.Job, f"{OPS}/jobs{path_of(job_id)}")


def retry_job(job_id: int) -> Plan[models.Job]:
    """Queue a job again that is held."""
    return fetch(models.Job, f"{OPS}/jobs{path_of(job_id, 'retry')}", "POST")


def list_workers() -> Plan[list[models.Worker]]:
    return fetch(list[models.Worker], f"{OPS}/workers")


def list_egress(
    *, since: date | None = None, until: date | None = None, limit: int | None = None, cursor: str | None = None
) -> Plan[list[models.OutboundHost]]:
    """Hosts that the installation has connected to; of the last 30 days unless days are given."""
    return fetch(list[models.OutboundHost], f"{OPS}/egress", params=_page(limit, cursor, since=since, until=until))


def list_audit_entries(
    *, tenant: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Plan[list[models.AuditEntry]]:
    return fetch(list[models.AuditEntry], f"{OPS}/audit", params=_page(limit, cursor, tenant=tenant))


def verify_audit_trail(*, tenant: str | None = None) -> Plan[models.AuditVerification]:
    """Whether each entry follows from the ones before it."""
    return fetch(models.AuditVerification, f"{OPS}/audit/verification", params={"tenant": tenant})


def check_health() -> Plan[models.OperatedHealth]:
    """Whether all is well, and what is not."""
    return fetch(models.OperatedHealth, f"{OPS}/health")


def _page(limit: int | None, cursor: str | None, **filters: Any) -> dict[str, Any]:
    return filters | {"limit": limit, "cursor": cursor}
