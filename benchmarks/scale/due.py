"""Finding what is due, among a thousand accesses and among a million: the same query, the same number due.

Then with what refreshing leaves behind: every look moves `next_refresh_at`, and until a vacuum the old entry stays at
the very end of the index where the next look begins.
"""

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psycopg

from benchmarks.environment import DEMO_BANK, BenchmarkEnvironment, open_database
from benchmarks.scale.growth import LARGE, SIDES, SMALL, Timings
from benchmarks.scale.population import set_careless
from kontor.config import Settings
from kontor.services.accesses.refreshing import BATCH, MAX_QUEUED
from kontor.storage import refreshes
from kontor.storage.database import Database

FEW, MANY, QUICK_MANY = 1_000, 1_000_000, 50_000
DUE = 100
DEAD_PARTS = (0.2, 0.01)  # of the rows: where PostgreSQL vacuums by default, and where Kontor's settings let it
TARGET = 1.2


@dataclass
class DueResult:
    accesses: dict[str, int]
    timings: list[Timings]
    dead: dict[float, tuple[float, float]] = field(default_factory=dict)  # part of rows to seconds before, after vacuum


def measure_due(rounds: int, repeats: int, many: int, say: Callable[[str], None]) -> DueResult:
    with open_database() as small, open_database() as large:
        for settings, count in ((small, FEW), (large, many)):
            asyncio.run(fill(settings, count))
            say(f"{count:,} accesses stored")
        return asyncio.run(measure({SMALL: small, LARGE: large}, rounds, repeats, many, say))


async def fill(settings: Settings, count: int) -> None:
    """Every access belongs to a user of its own, was refreshed six hours before its next time, and is not due."""
    async with BenchmarkEnvironment(settings, tenant="bench-due") as environment:
        first = await environment.add_customer()
        with environment.owner() as owner:
            owner.execute("set session_replication_role = replica")
            set_careless(owner, is_careless=True)
            owner.execute(
                "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
                " select gen_random_uuid(), tenant_id, 'due-' || n, password_hash, gen_random_uuid(), data_key,"
                " wrapping_key_id from users cross join generate_series(1, %s) n where id = %s",
                [count, first.id],
            )
            owner.execute(
                "insert into accesses (user_id, id, provider_id, status, is_synced, credentials, credentials_digest,"
                " lease_key, next_refresh_at, scheduled_since) select id, 'bank', %s, 'COMPLETE', true, '\\x00',"
                " '\\x00', uuid_send(id), now() + interval '1 hour' + random() * interval '6 hours',"
                " now() - interval '1 day' from users where username like 'due-%%'",
                [DEMO_BANK],
            )
            owner.execute(
                "with done as (insert into fetches (id, user_id, access_id, slot_at, state, is_attended, all_history,"
                " finished_at, correlation_id) select gen_random_uuid(), user_id, id, next_refresh_at - interval"
                " '6 hours', 'DONE', false, false, now(), 'bench' from accesses"
                " returning user_id, access_id, slot_at, id)"
                " insert into unattended_calls (user_id, access_id, called_at, fetch_id) select * from done"
            )
            set_careless(owner, is_careless=False)


async def measure(
    sides: dict[str, Settings], rounds: int, repeats: int, many: int, say: Callable[[str], None]
) -> DueResult:
    databases = {name: make_pool(settings) for name, settings in sides.items()}
    owners = {name: connect_owner(settings) for name, settings in sides.items()}
    try:
        for database in databases.values():
            await database.open()
        timings = [await time_both(databases, "nothing due", 0, rounds, repeats)]
        for owner in owners.values():
            make_due(owner, DUE)
        timings.append(await time_both(databases, f"{DUE} due", DUE, rounds, repeats))
        result = DueResult({SMALL: FEW, LARGE: many}, timings)
        for part in DEAD_PARTS:
            result.dead[part] = await measure_dead(databases[LARGE], owners[LARGE], int(part * many), repeats)
            say(f"{part:.0%} dead entries: {result.dead[part][0] * 1000:.2f} ms")
        return result
    finally:
        for database in databases.values():
            await database.close()
        for owner in owners.values():
            owner.close()


def make_pool(settings: Settings) -> Database:
    assert settings.database_url is not None
    return Database(settings.database_url, 2, "kontor bench")


def connect_owner(settings: Settings) -> psycopg.Connection[Any]:
    assert settings.migration_database_url is not None
    return psycopg.connect(settings.migration_database_url.reveal(), autocommit=True)


def make_due(owner: psycopg.Connection[Any], count: int) -> None:
    owner.execute(
        "update accesses set next_refresh_at = now() - interval '1 minute' where user_id in"
        " (select user_id from accesses order by user_id limit %s)",
        [count],
    )
    owner.execute("vacuum analyze accesses")


async def time_both(databases: dict[str, Database], name: str, due: int, rounds: int, repeats: int) -> Timings:
    timings = Timings(f"{name}")
    for number in range(-1, rounds):
        times: dict[str, list[float]] = {side: [] for side in SIDES}
        for repeat in range(repeats):
            for side in SIDES if repeat % 2 else SIDES[::-1]:
                times[side].append(await time_poll(databases[side], due))
        for side in SIDES if number >= 0 else ():
            timings.rounds[side].append(statistics.median(times[side]))
    return timings


class UndoneError(Exception):
    """Ends a transaction that shall leave nothing behind."""


async def time_poll(database: Database, due: int) -> float:
    """Lock and read what is due, as a worker does, and let go of it."""
    seconds = 0.0
    try:
        async with database.transaction() as connection:
            started = time.perf_counter()
            due_accesses = await refreshes.list_due(connection, datetime.now(UTC), BATCH, MAX_QUEUED)
            seconds = time.perf_counter() - started
            assert len(due_accesses) == due, f"{len(due_accesses)} were due"
            raise UndoneError
    except UndoneError:
        return seconds


async def measure_dead(
    database: Database, owner: psycopg.Connection[Any], dead: int, repeats: int
) -> tuple[float, float]:
    """So many accesses were looked at since the last vacuum; the median look before and after the next one."""
    owner.execute("alter table accesses set (autovacuum_enabled = false)")
    users = [row[0] for row in owner.execute("select user_id from accesses order by user_id desc limit %s", [dead])]
    owner.execute("update accesses set next_refresh_at = now() - interval '2 minutes' where user_id = any(%s)", [users])
    owner.execute("update accesses set next_refresh_at = now() + interval '5 hours' where user_id = any(%s)", [users])
    before = [await time_poll(database, DUE) for _ in range(repeats)]
    owner.execute("vacuum accesses")
    after = [await time_poll(database, DUE) for _ in range(repeats)]
    owner.execute("alter table accesses reset (autovacuum_enabled)")
    return statistics.median(before), statistics.median(after)


# What is said about it

DUE_HEADINGS = ("", "few, ms", "many, ms", "many / few", "least – most")


def make_due_rows(result: DueResult) -> list[tuple[str, ...]]:
    return [
        (
            timings.name,
            *(f"{timings.median(side) * 1000:.2f}" for side in SIDES),
            f"{timings.ratio:.2f}",
            f"{min(timings.ratios):.2f} – {max(timings.ratios):.2f}",
        )
        for timings in result.timings
    ]


def describe_due(result: DueResult) -> list[str]:
    worst = max(timings.ratio for timings in result.timings)
    lines = [
        f"Few: {result.accesses[SMALL]:,} accesses. Many: {result.accesses[LARGE]:,}.",
        f"Target: the same, which is at most {TARGET:g} ×. Measured: {worst:.2f} ×,"
        f" {'reached' if worst <= TARGET else 'not reached'}.",
    ]
    lines += [
        f"When {part:.0%} of the many were looked at since the last vacuum, a look takes {before * 1000:.2f} ms, and"
        f" {after * 1000:.2f} ms after the next one."
        for part, (before, after) in result.dead.items()
    ]
    return lines
