"""One simulation from beginning to end, and what it found."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from kontor.config import export_settings
from kontor.domain.refreshes import find_next_slot
from simulation import checks
from simulation.bookings import list_bookings
from simulation.clocks import SimulatedClock
from simulation.environment import SimulationEnvironment, find_login
from simulation.faults import Killer, restart_at
from simulation.ledgers import read_ledger
from simulation.progress import Progress
from simulation.workers import WorkerForkServer

CALM = timedelta(hours=13)  # at the end, without faults: time for two slots, so that everything is fetched once more
PAUSE_SECONDS = 1.0
# Real seconds that count as simulated minutes, and are nobody's fault: a call may be so long on its way to the bank,
# and after the end of a slot's window so much time may pass until a worker looks and writes down that it was missed.
TRANSIT_SECONDS = 3.0
POLL_SECONDS = 5.0
# Leases, looks and restarts of workers take real seconds at any speed of the clock. A slot's window of six hours must
# be long enough for them, or all that is seen is slots that nobody could serve.
MAX_FACTOR = 1500.0
# So long a worker must live on average, in real time, to have started and done something before it is killed.
MIN_LIFE_SECONDS = 2.0


class UnfitPlanError(ValueError):
    """A plan whose result would say nothing about Kontor."""


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
    has_jumps: bool = False
    outage_hours: float = 0

    def __post_init__(self) -> None:
        if self.factor > MAX_FACTOR:
            raise UnfitPlanError(
                f"At {self.factor:g} times real time a slot's window of six hours is {21600 / self.factor:.1f} real"
                f" seconds. Looks, leases and starting workers take real seconds at any speed: slots would be missed"
                f" through no fault of Kontor. At most {MAX_FACTOR:g} is allowed."
            )
        life = sum(self.kill_minutes) / 2 * 60 / self.factor * self.workers
        if life < MIN_LIFE_SECONDS:
            raise UnfitPlanError(
                f"With {self.workers} workers killed in turn a worker would live {life:.1f} real seconds, hardly longer"
                f" than it takes to start; at least {MIN_LIFE_SECONDS:g} are needed. Run the clock slower, or kill"
                " less often."
            )

    @property
    def real_seconds(self) -> float:
        return (timedelta(days=self.days) + CALM).total_seconds() / self.factor


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


def simulate(plan: Plan, folder: Path, say: Callable[[str], None] = lambda _: None) -> Outcome:
    started = time.monotonic()
    with SimulationEnvironment(folder) as environment:
        receiver_port = environment.start_receiver(plan.receiver_failure_rate)
        clock = SimulatedClock.start_now(plan.start, 0.001)  # stands still, more or less, until everybody is there
        asyncio.run(environment.populate(clock, plan.accesses, receiver_port))
        say(f"{plan.accesses:,} accesses are there after {time.monotonic() - started:.0f} s")
        clock = SimulatedClock.start_now(plan.start, plan.factor)
        bank_port = environment.start_bank(clock, plan.bank_failure_rate, plan.outage_hours)
        settings = replace(environment.settings, clock=clock.setting)
        workers = WorkerForkServer(folder, export_settings(settings), bank_port, plan.factor if plan.has_jumps else 0)
        try:
            killed = _let_days_pass(plan, clock, environment, workers, say)
            end = clock.now()
            say("the days are over; waiting for what is under way")
            _settle(plan, environment)
        finally:
            workers.stop()
        return _judge(plan, clock, environment, end, killed, time.monotonic() - started)


def _let_days_pass(
    plan: Plan,
    clock: SimulatedClock,
    environment: SimulationEnvironment,
    workers: WorkerForkServer,
    say: Callable[[str], None],
) -> int:
    for _ in range(plan.workers):
        workers.start_worker()
    killer = Killer(workers, clock, plan.kill_minutes)
    end = plan.start + timedelta(days=plan.days)
    seconds = clock.seconds_until(end)
    moments = [time.monotonic() + seconds * (number + 1) / (plan.restarts + 1) for number in range(plan.restarts)]
    crashes = iter([number % 2 == 1 for number in range(plan.restarts)])
    restarting = restart_at(moments, lambda: environment.restart(is_crash=next(crashes)))
    killer.start()
    progress = Progress(clock, environment, killer, say)
    progress.wait_until(end)
    killer.stop()
    restarting.join()
    environment.stop_failures()
    progress.wait_until(end + CALM)
    return killer.killed


def _settle(plan: Plan, environment: SimulationEnvironment) -> None:
    """Wait until nothing is under way any more. Nobody looks for new slots: the clock would not stop for us."""
    environment.execute("update accesses set next_refresh_at = null")
    end = time.monotonic() + plan.settle_seconds
    while time.monotonic() < end:
        open_deliveries = environment.query("select count(*) from webhook_deliveries where state = 'PENDING'")[0][0]
        open_fetches = environment.query("select count(*) from fetches where state in ('QUEUED', 'RUNNING')")[0][0]
        if not open_deliveries and not open_fetches:
            return
        time.sleep(PAUSE_SECONDS)


def _judge(
    plan: Plan, clock: SimulatedClock, environment: SimulationEnvironment, end: datetime, killed: int, seconds: float
) -> Outcome:
    entries = read_ledger(environment.folder / "bank.jsonl")
    calls = checks.read_calls(entries)
    violations = checks.check_overlaps(calls)
    violations += _judge_accesses(plan, clock, environment, calls, end)
    received = read_ledger(environment.folder / "receiver.jsonl")
    accepted = [entry["serial"] for entry in received if "serial" in entry]
    deliveries = dict(environment.query("select serial, state from webhook_deliveries"))
    serials = environment.query("select last_serial from webhooks")[0][0]
    violations += checks.check_serials(serials, deliveries, accepted, sum("forged" in entry for entry in received))
    violations += _judge_counts(clock, environment)
    slots = environment.query("select state, failure, count(*) from fetches where slot_at is not null group by 1, 2")
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
        sum(not call.is_answered for call in calls),
        killed,
        environment.query("select count(*) from transactions")[0][0],
        serials,
        Counter(deliveries.values()),
        len(accepted) - len(set(accepted)),
        violations,
    )


def _judge_accesses(
    plan: Plan, clock: SimulatedClock, environment: SimulationEnvironment, calls: list[checks.Call], end: datetime
) -> list[str]:
    """Slots, budget and stored bookings of every access."""
    by_login: dict[str, list[checks.Call]] = {}
    for call in calls:
        by_login.setdefault(call.login, []).append(call)
    slots: dict[str, list[checks.Slot]] = {}
    for access_id, at, state in environment.query(
        "select access_id, slot_at, state from fetches where slot_at is not null"
    ):
        slots.setdefault(access_id, []).append(checks.Slot(at, state))
    recorded: dict[str, list[datetime]] = {}
    for access_id, at in environment.query("select access_id, called_at from unattended_calls"):
        recorded.setdefault(access_id, []).append(at)
    stored: dict[str, Counter[str]] = {}
    for access_id, purpose in environment.query(
        "select p.access_id, t.purpose from transactions t"
        " join products p on p.user_id = t.user_id and p.id = t.product_id"
    ):
        stored.setdefault(access_id, Counter())[purpose] += 1
    last_done = {
        access_id: (clock.at(started), clock.at(finished))
        for access_id, started, finished in environment.query(
            "select distinct on (access_id) access_id, started_at, finished_at from fetches where state = 'DONE'"
            " order by access_id, finished_at desc"
        )
    }
    transit = timedelta(seconds=TRANSIT_SECONDS * clock.factor)
    looked = end - timedelta(seconds=POLL_SECONDS * clock.factor)
    violations = []
    for user_id, access_id in environment.query("select user_id, id from accesses"):
        login = find_login(access_id)
        own = by_login.get(login, [])
        first = find_next_slot(user_id, access_id, plan.start + timedelta(seconds=1))
        violations += checks.check_slots(login, slots.get(access_id, []), first, looked)
        violations += checks.check_budget(login, recorded.get(access_id, []))
        violations += checks.check_budget(f"{login} (by the bank)", [call.begin for call in own], transit)
        # Of the last fetch that was done: one after it may have been interrupted, and then says so.
        call = checks.find_stored_call(own, *last_done[access_id]) if access_id in last_done else None
        if call is None or call.end is None:
            violations.append(
                f"{login}: nothing was ever fetched" if access_id not in last_done else f"{login}: no call"
            )
            continue
        expected = [booking.purpose for booking in list_bookings(login, clock.start, call.end)]
        violations += checks.check_transactions(login, stored.get(access_id, Counter()), expected)
    return violations


def _judge_counts(clock: SimulatedClock, environment: SimulationEnvironment) -> list[str]:
    """What the webhooks told of an access is what it got after its first fetch."""
    told = dict(
        environment.query(
            "select access_id, sum((one->>'count')::int) from webhook_deliveries, jsonb_array_elements(products) one"
            " group by 1"
        )
    )
    violations = []
    for access_id, started, finished, last in environment.query(
        "select access_id, min(started_at), min(finished_at), max(finished_at) from fetches where state = 'DONE'"
        " group by 1"
    ):
        login = find_login(access_id)
        moments = [booking.at for booking in list_bookings(login, clock.start, clock.at(last))]
        fewest, most = (sum(booked_at > clock.at(moment) for booked_at in moments) for moment in (finished, started))
        # Bookings of the last moments may have come too late for the last fetch.
        late = sum(moment > clock.at(last) - checks.SLOT for moment in moments)
        if not fewest - late <= told.get(access_id, 0) <= most:
            violations.append(f"{login}: {told.get(access_id, 0)} new bookings were told, not {fewest} to {most}")
    return violations
