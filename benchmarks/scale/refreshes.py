"""Refreshes a second from end to end: due, scheduled, dispatched, the bank asked, compared with what is stored."""

import asyncio
import base64
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from benchmarks.environment import DEMO_BANK, BenchmarkEnvironment
from benchmarks.scale.refresh_bank import TRANSACTIONS, install, name_login
from kontor.config import Settings, export_settings
from kontor.domain.principals import Principal
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.bundle import Services

WAIT_TIMEOUT_SECONDS = 300
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class RefreshResult:
    """Refreshes a second of each round, by one worker."""

    accesses: int
    transactions: int
    rates: list[float]


def measure_refreshes(settings: Settings, accesses: int, rounds: int, say: Callable[[str], None]) -> RefreshResult:
    assert settings.migration_database_url is not None
    install()
    asyncio.run(add_accesses(settings, accesses))
    say(f"{accesses:,} accesses with {TRANSACTIONS} transactions each")
    rates = []
    with (
        psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as owner,
        start_worker(settings, accesses),
    ):
        for number in range(-1, rounds):
            rate = time_round(owner, accesses)
            if number >= 0:
                rates.append(rate)
                say(f"round {number + 1} of {rounds}: {rate:.1f} refreshes/s")
    return RefreshResult(accesses, TRANSACTIONS, rates)


async def add_accesses(settings: Settings, count: int) -> None:
    """Added as a caller adds them. This process is the worker of their first fetch."""
    async with BenchmarkEnvironment(settings, tenant="bench-refresh") as environment:
        services = environment.services
        customer = await environment.add_customer()
        principal = await services.tokens.authenticate(customer.token)
        assert principal is not None
        with environment.owner() as owner:
            for number in range(count):
                request = await make_request(services, principal, name_login(number))
                call = asyncio.create_task(
                    services.accesses.add_accesses(
                        principal, {f"bank-{number}": request}, refresh=False, is_attended=True
                    )
                )
                while not call.done():
                    for (fetch_id,) in owner.execute("select id from fetches where state = 'QUEUED'").fetchall():
                        await services.fetching.run(fetch_id)
                    await asyncio.sleep(0.005)
                await call


async def make_request(services: Services, principal: Principal, login: str) -> AccessRequest:
    sealed = {
        key: base64.b64encode(await services.encryption.encrypt(principal, text.encode())).decode()
        for key, text in (("userid", login), ("pin", "demo"))
    }
    return AccessRequest(DEMO_BANK, sealed)


@contextmanager
def start_worker(settings: Settings, logins: int):
    with (settings.data / "refresh-worker.log").open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scale.refresh_bank"],
            env=os.environ | export_settings(settings) | {"BENCH_LOGINS": str(logins)},
            stdout=file,
            stderr=file,
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def time_round(owner: psycopg.Connection[Any], accesses: int) -> float:
    """All are due at once, as if none had been refreshed yet; from the first one's scheduling to the last one's end."""
    with owner.transaction():
        owner.execute("delete from fetches")
        owner.execute("delete from unattended_calls")
        owner.execute("update accesses set next_refresh_at = now(), scheduled_since = now() - interval '1 minute'")
    end = time.monotonic() + WAIT_TIMEOUT_SECONDS
    while time.monotonic() < end:
        row = owner.execute(
            "select count(*), extract(epoch from max(finished_at) - min(requested_at))::float, count(*) filter"
            " (where state <> 'DONE') from fetches where finished_at is not null"
        ).fetchone()
        assert row is not None
        if row[0] == accesses:
            if row[2]:
                raise RuntimeError(f"{row[2]} refreshes failed")
            return accesses / row[1]
        time.sleep(POLL_SECONDS)
    raise RuntimeError("the refreshes did not end")


REFRESH_HEADINGS = ("", "refreshes/s", "spread")


def make_refresh_rows(result: RefreshResult) -> list[tuple[str, ...]]:
    rates = result.rates
    return [("one worker", f"{statistics.median(rates):.1f}", f"{min(rates):.1f} – {max(rates):.1f}")]


def describe_refreshes(result: RefreshResult) -> list[str]:
    a_day = statistics.median(result.rates) * 86_400 / 4
    return [
        f"{result.accesses} accesses with {result.transactions} stored transactions each, nothing new at the bank,"
        " which answers at once. Scheduling, lease, recorded call, comparison and outcome are part of it.",
        f"At this rate one worker keeps {a_day:,.0f} accesses fresh, four times a day each.",
    ]
