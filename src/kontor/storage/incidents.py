"""Incidents as operators record them, and what the installation has recorded of the same time: counts alone."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from kontor.domain.errors import NotFoundError
from kontor.domain.incident_figures import AuditCount, FailureCount, HostFailures, ProviderFailures, Span
from kontor.domain.incidents import Criterion, Incident, Report
from kontor.storage.database import Connection

SELECT = """
    select i.number, i.title, i.aware_at, i.occurred_at, i.classified_at, i.is_major, i.was_major, i.criteria,
        i.recovered_at, i.closed_at, r.initial_at, r.intermediate_at, r.final_at, i.major_again_at
    from incidents i
    cross join lateral (select min(submitted_at) filter (where report = 'initial') as initial_at,
            max(submitted_at) filter (where report = 'intermediate') as intermediate_at,
            max(submitted_at) filter (where report = 'final') as final_at
        from incident_reports
        where incident = i.number and submitted_at >= coalesce(i.major_again_at, '-infinity')) r
"""


def _incident(row: Sequence[Any]) -> Incident:
    facts = [*row]
    facts[7] = tuple(map(Criterion, row[7]))
    return Incident(*facts)


async def insert_incident(connection: Connection, title: str, aware_at: datetime, occurred_at: datetime | None) -> int:
    cursor = await connection.execute(
        "insert into incidents (title, aware_at, occurred_at) values (%s, %s, %s) returning number",
        [title, aware_at, occurred_at],
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def find_incident(connection: Connection, number: int) -> Incident:
    cursor = await connection.execute(f"{SELECT} where i.number = %s", [number])
    row = await cursor.fetchone()
    if row is None:
        raise NotFoundError(f"There is no incident INC-{number}.")
    return _incident(row)


async def lock_incident(connection: Connection, number: int) -> Incident:
    """Nobody else changes it until the end of the transaction."""
    await connection.execute("select 1 from incidents where number = %s for update", [number])
    return await find_incident(connection, number)


async def list_incidents(connection: Connection, *, are_closed_too: bool) -> list[Incident]:
    """Newest first."""
    cursor = await connection.execute(
        f"{SELECT} where %s or i.closed_at is null order by i.number desc", [are_closed_too]
    )
    return [_incident(row) for row in await cursor.fetchall()]


async def list_earlier(connection: Connection, before: Incident, since: datetime) -> list[str]:
    """References of incidents that became known within this time before another one, newest first."""
    cursor = await connection.execute(
        "select number from incidents where aware_at >= %s and aware_at <= %s and number <> %s order by number desc",
        [since, before.aware_at, before.number],
    )
    return [f"INC-{row[0]}" for row in await cursor.fetchall()]


async def store_classification(
    connection: Connection, number: int, at: datetime, is_major: bool, criteria: Sequence[Criterion]
) -> None:
    await connection.execute(
        "update incidents set classified_at = %s, is_major = %s, was_major = was_major or %s, criteria = %s"
        " where number = %s",
        [at, is_major, is_major, list(criteria), number],
    )


async def store_major_again(connection: Connection, number: int, at: datetime) -> None:
    """Reports that were submitted before this do not count any more."""
    await connection.execute("update incidents set major_again_at = %s where number = %s", [at, number])


async def store_recovery(connection: Connection, number: int, at: datetime) -> None:
    await connection.execute("update incidents set recovered_at = %s where number = %s", [at, number])


async def store_end(connection: Connection, number: int, at: datetime) -> None:
    await connection.execute("update incidents set closed_at = %s where number = %s", [at, number])


async def insert_report(connection: Connection, number: int, report: Report, at: datetime) -> None:
    await connection.execute(
        "insert into incident_reports (incident, report, submitted_at) values (%s, %s, %s) on conflict do nothing",
        [number, report, at],
    )


# What the installation has recorded. Counts of hours, hosts, providers and actions: no row names a user.

HOUR = timedelta(hours=1)
FETCHES = """
    select count(*), count(*) filter (where state = 'DONE'), count(*) filter (where state in ('FAILED', 'INTERRUPTED')),
        count(distinct user_id) filter (where state in ('FAILED', 'INTERRUPTED')), count(distinct user_id)
    from all_fetches where finished_at between %s and %s and state <> 'SKIPPED'
"""
FAILURES = """
    select coalesce(failure, state), count(*) from all_fetches
    where finished_at between %s and %s and state in ('FAILED', 'INTERRUPTED') group by 1 order by 2 desc, 1
"""
PROVIDERS = """
    select provider_id, count(*), count(*) filter (where not is_success), min(at) filter (where not is_success),
        max(at) filter (where not is_success)
    from provider_outcomes where at between %s and %s
    group by provider_id having bool_or(not is_success) order by 3 desc, provider_id
"""
HOURS = """
    select date_bin(%s, at, '2000-01-01 00:00:00+00'), count(*), count(*) filter (where not is_success)
    from provider_outcomes where at between %s and %s group by 1 having bool_or(not is_success) order by 1
"""
PAYMENTS = "select state, count(*) from all_payments where created_at between %s and %s group by state order by state"
DELIVERIES = "select count(*) from webhook_deliveries where state = 'DISCARDED' and finished_at between %s and %s"
AUDIT = """
    select action, result, count(*) from audit_entries where at between %s and %s
        and (result <> 'done' or actor like 'operator%%') and action not like 'incident.%%'
    group by action, result order by action, result
"""
HOSTS = """
    select host, purpose, sum(connections)::bigint, sum(failures)::bigint from egress_days
    where day between %s and %s and purpose not in ('webhook', 'other')
    group by host, purpose having sum(failures) > 0 order by 4 desc, host, purpose
"""
USERS = "select count(distinct user_id) from all_accesses where form_session_id is null"


async def count_fetches(connection: Connection, span: Span) -> tuple[int, int, int, int, int]:
    """(ended, done, failed, users with a failed one, users with any)"""
    row = await (await connection.execute(FETCHES, span)).fetchone()
    assert row is not None
    return row[0], row[1], row[2], row[3], row[4]


async def count_failures(connection: Connection, span: Span) -> list[FailureCount]:
    return [FailureCount(*row) for row in await (await connection.execute(FAILURES, span)).fetchall()]


async def list_failing_providers(connection: Connection, span: Span) -> list[ProviderFailures]:
    return [ProviderFailures(*row) for row in await (await connection.execute(PROVIDERS, span)).fetchall()]


async def list_failing_hours(connection: Connection, span: Span) -> list[tuple[datetime, int, int]]:
    """(beginning, calls, failures), without hours that had none."""
    cursor = await connection.execute(HOURS, [HOUR, *span])
    return [(row[0], row[1], row[2]) for row in await cursor.fetchall()]


async def count_payments(connection: Connection, span: Span) -> dict[str, int]:
    """Orders that were given in this time, by the state that they have now."""
    return {row[0]: row[1] for row in await (await connection.execute(PAYMENTS, span)).fetchall()}


async def count_discarded(connection: Connection, span: Span) -> int:
    row = await (await connection.execute(DELIVERIES, span)).fetchone()
    assert row is not None
    return int(row[0])


async def count_audit_entries(connection: Connection, span: Span) -> list[AuditCount]:
    """What failed or was refused, and what operators did: by action, without the objects, which may be of users."""
    return [AuditCount(*row) for row in await (await connection.execute(AUDIT, span)).fetchall()]


async def list_failing_hosts(connection: Connection, span: Span) -> list[HostFailures]:
    """Whole days of UTC. Hosts that tenants and strangers have named are left out."""
    days = [at.date() for at in span]
    return [HostFailures(*row) for row in await (await connection.execute(HOSTS, days)).fetchall()]


async def count_customers(connection: Connection) -> int:
    """Users with an access."""
    row = await (await connection.execute(USERS)).fetchone()
    assert row is not None
    return int(row[0])
