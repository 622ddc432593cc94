"""One simulation from beginning to end, and what it found."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from kontor.config import export_settings
from kontor.domain.refreshes import find_next_slot
from simulation import checks
from simulation.bookings import list_bookings
from simulation.clocks import SimulatedClock
from simulation.faults import Killer, restart_at
from simulation.ledgers import read_ledger
from simulation.stage import Stage, find_login
from simulation.workers import Nursery

CALM = timedelta(hours=13)  # at the end, without faults: time for two slots, so that everything is fetched once more
PAUSE_SECONDS = 1.0
TRANSIT_SECONDS = 3.0  # for which a call may be on its way to the bank, in real time


@dataclass(frozen=True, slots=True)
class Plan:
    """`factor` is how much faster than the real clock the simulated one runs."""

    start: datetime
    days: float
    accesses: int
    factor: float
    workers: int = 3
    kill_minutes: tuple[float, float] = (2, 8)
    restarts: int = 2
    bank_failure_rate: float = 0.05
    receiver_failure_rate: float = 0.2
    settle_seconds: float = 120


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened, in figures, and what was not as it must be."""

    plan: Plan
    seconds: float
    slots: Counter[str]
    skips: Counter[str]
    calls: int
    lost_calls: int
    killed: int
    transactions: int
    serials: int
    deliveries: Counter[str]
    repeated_deliveries: int
    violations: list[str]


def simulate(plan: Plan, folder: Path) -> Outcome:
    started = time.monotonic()
    with Stage(folder) as stage:
        receiver_port = stage.start_receiver(plan.receiver_failure_rate)
        clock = SimulatedClock.start_now(plan.start, 0.001)  # stands still, more or less, until everybody is there
        asyncio.run(stage.populate(clock, plan.accesses, receiver_port))
        clock = SimulatedClock.start_now(plan.start, plan.factor)
        bank_port = stage.start_bank(clock, plan.bank_failure_rate)
        settings = replace(stage.settings, clock=clock.setting)
        nursery = Nursery(folder, export_settings(settings), bank_port)
        try:
            killed = _let_days_pass(plan, clock, stage, nursery)
            end = clock.now()
            _settle(plan, stage)
        finally:
            nursery.stop()
        return _judge(plan, clock, stage, end, killed, time.monotonic() - started)


def _let_days_pass(plan: Plan, clock: SimulatedClock, stage: Stage, nursery: Nursery) -> int:
    for _ in range(plan.workers):
        nursery.bear()
    killer = Killer(nursery, clock, plan.kill_minutes)
    end = plan.start + timedelta(days=plan.days)
    seconds = clock.seconds_until(end)
    moments = [time.monotonic() + seconds * (number + 1) / (plan.restarts + 1) for number in range(plan.restarts)]
    crashes = iter([number % 2 == 1 for number in range(plan.restarts)])
    restarting = restart_at(moments, lambda: stage.restart(is_crash=next(crashes)))
    killer.start()
    time.sleep(clock.seconds_until(end))
    killer.stop()
    restarting.join()
    stage.calm_down()
    time.sleep(clock.seconds_until(end + CALM))
    return killer.killed


def _settle(plan: Plan, stage: Stage) -> None:
    """Wait until nothing is under way any more. Nobody looks for new slots: the clock would not stop for us."""
    stage.execute("update accesses set next_refresh_at = null")
    end = time.monotonic() + plan.settle_seconds
    while time.monotonic() < end:
        open_deliveries = stage.query("select count(*) from webhook_deliveries where state = 'PENDING'")[0][0]
        open_fetches = stage.query("select count(*) from fetches where state in ('QUEUED', 'RUNNING')")[0][0]
        if not open_deliveries and not open_fetches:
            return
        time.sleep(PAUSE_SECONDS)


def _judge(plan: Plan, clock: SimulatedClock, stage: Stage, end: datetime, killed: int, seconds: float) -> Outcome:
    entries = read_ledger(stage.folder / "bank.jsonl")
    calls = checks.read_calls(entries)
    violations = checks.check_overlaps(calls)
    violations += _judge_accesses(plan, clock, stage, calls, end)
    received = read_ledger(stage.folder / "receiver.jsonl")
    accepted = [one["serial"] for one in received if "serial" in one]
    deliveries = dict(stage.query("select serial, state from webhook_deliveries"))
    serials = stage.query("select last_serial from webhooks")[0][0]
    violations += checks.check_serials(serials, deliveries, accepted, sum("forged" in one for one in received))
    violations += _judge_counts(clock, stage)
    slots = stage.query("select state, failure, count(*) from fetches where slot_at is not null group by 1, 2")
    states, skips = Counter[str](), Counter[str]()
    for state, failure, count in slots:
        states[state] += count
        if state == "SKIPPED":
            skips[failure] += count
    return Outcome(
        plan,
        seconds,
        states,
        skips,
        len(calls),
        sum(not one.is_answered for one in calls),
        killed,
        stage.query("select count(*) from transactions")[0][0],
        serials,
        Counter(deliveries.values()),
        len(accepted) - len(set(accepted)),
        violations,
    )


def _judge_accesses(
    plan: Plan, clock: SimulatedClock, stage: Stage, calls: list[checks.Call], end: datetime
) -> list[str]:
    """Slots, budget and stored bookings of every access."""
    by_login: dict[str, list[checks.Call]] = {}
    for one in calls:
        by_login.setdefault(one.login, []).append(one)
    slots: dict[str, list[checks.Slot]] = {}
    for access_id, at, state in stage.query("select access_id, slot_at, state from fetches where slot_at is not null"):
        slots.setdefault(access_id, []).append(checks.Slot(at, state))
    recorded: dict[str, list[datetime]] = {}
    for access_id, at in stage.query("select access_id, called_at from unattended_calls"):
        recorded.setdefault(access_id, []).append(at)
    stored: dict[str, Counter[str]] = {}
    for access_id, purpose in stage.query(
        "select p.access_id, t.purpose from transactions t"
        " join products p on p.user_id = t.user_id and p.id = t.product_id"
    ):
        stored.setdefault(access_id, Counter())[purpose] += 1
    transit = timedelta(seconds=TRANSIT_SECONDS * clock.factor)
    found = []
    for user_id, access_id in stage.query("select user_id, id from accesses"):
        login = find_login(access_id)
        own = by_login.get(login, [])
        first = find_next_slot(user_id, access_id, plan.start + timedelta(seconds=1))
        found += checks.check_slots(login, slots.get(access_id, []), first, end)
        found += checks.check_budget(login, recorded.get(access_id, []))
        found += checks.check_budget(f"{login} (by the bank)", [one.begin for one in own], transit)
        answered = [one.end for one in own if one.is_answered and one.end is not None]
        if not answered:
            found.append(f"{login}: the bank was never reached")
            continue
        expected = [one.purpose for one in list_bookings(login, clock.start, max(answered))]
        found += checks.check_transactions(login, stored.get(access_id, Counter()), expected)
    return found


def _judge_counts(clock: SimulatedClock, stage: Stage) -> list[str]:
    """What the webhooks told of an access is what it got after its first fetch."""
    told = dict(
        stage.query(
            "select access_id, sum((one->>'count')::int) from webhook_deliveries, jsonb_array_elements(products) one"
            " group by 1"
        )
    )
    found = []
    for access_id, started, finished, last in stage.query(
        "select access_id, min(started_at), min(finished_at), max(finished_at) from fetches where state = 'DONE'"
        " group by 1"
    ):
        login = find_login(access_id)
        moments = [one.at for one in list_bookings(login, clock.start, clock.at(last))]
        fewest, most = (sum(one > clock.at(moment) for one in moments) for moment in (finished, started))
        # Bookings of the last moments may have come too late for the last fetch.
        late = sum(one > clock.at(last) - checks.SLOT for one in moments)
        if not fewest - late <= told.get(access_id, 0) <= most:
            found.append(f"{login}: {told.get(access_id, 0)} new bookings were told, not {fewest} to {most}")
    return found
