"""What must be true after a simulation, judged by the books of the bank and of the receiver and by the stored rows.

Pure functions over what was recorded: each returns the violations it found, in words.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

SLOT = timedelta(hours=6)
DAY = timedelta(hours=24)
MAX_CALLS = 4


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the bank, by the bank's own book. `end` is None while it is not over."""

    login: str
    begin: datetime
    end: datetime | None
    is_answered: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """What Kontor recorded for a slot of an access."""

    at: datetime
    state: str


ENDED = frozenset({"DONE", "FAILED", "INTERRUPTED", "SKIPPED", "WAITING"})


def read_calls(entries: Iterable[Mapping[str, str]]) -> list[Call]:
    """Entries of the bank's book, in their order."""
    open_calls: dict[str, tuple[str, datetime]] = {}
    calls = []
    for entry in entries:
        at = datetime.fromisoformat(entry["at"])
        if entry["what"] == "begin":
            open_calls[entry["call"]] = (entry["login"], at)
        else:
            login, begin = open_calls.pop(entry["call"])
            calls.append(Call(login, begin, at, entry["what"] == "answered"))
    calls += [Call(login, begin, None, False) for login, begin in open_calls.values()]
    return sorted(calls, key=lambda call: call.begin)


def find_stored_call(calls: Sequence[Call], started: datetime, finished: datetime) -> Call | None:
    """The answered call of a fetch that was carried out between these moments."""
    stored_calls = [
        call
        for call in calls
        if call.is_answered and call.end is not None and started <= call.begin and call.end <= finished
    ]
    return stored_calls[-1] if stored_calls else None


def check_slots(login: str, slots: Sequence[Slot], first: datetime, end: datetime) -> list[str]:
    """Every slot from `first` on whose window has passed at `end` has one row, and that row has come to an end."""
    violations = []
    states = defaultdict(list)
    for slot in slots:
        states[slot.at].append(slot.state)
    at = first
    while at + SLOT <= end:
        rows = states.pop(at, [])
        if len(rows) != 1:
            violations.append(f"{login}: slot {at:%d. %H:%M:%S} has {len(rows)} outcomes")
        elif rows[0] not in ENDED:
            violations.append(f"{login}: slot {at:%d. %H:%M:%S} is still {rows[0]}")
        at += SLOT
    violations += [f"{login}: a row for {odd}, which is no slot" for odd in states if odd < at]
    return violations


def check_overlaps(calls: Sequence[Call]) -> list[str]:
    """No two calls with the same credentials at a time."""
    violations = []
    last: dict[str, Call] = {}
    for call in calls:
        before = last.get(call.login)
        if before is not None and (before.end is None or before.end > call.begin):
            violations.append(f"{call.login}: a call at {call.begin} began before the one of {before.begin} was over")
        last[call.login] = call
    return violations


def check_budget(login: str, moments: Sequence[datetime], tolerance: timedelta = timedelta(0)) -> list[str]:
    """Never a fifth call within 24 hours. `tolerance`: how long a call may be on its way to who counts here."""
    ordered = sorted(moments)
    return [
        f"{login}: five calls between {first} and {fifth}"
        for first, fifth in zip(ordered, ordered[MAX_CALLS:], strict=False)
        if fifth - first < DAY - tolerance
    ]


def check_transactions(login: str, stored: Counter[str], expected: Iterable[str]) -> list[str]:
    """What is stored is what the bank has: nothing lost, nothing twice."""
    wanted = Counter(expected)
    violations = []
    if missing := wanted - stored:
        violations.append(f"{login}: {missing.total()} bookings are missing, such as {next(iter(missing))}")
    if extra := stored - wanted:
        violations.append(f"{login}: {extra.total()} bookings too many, such as {next(iter(extra))}")
    return violations


def check_serials(last_serial: int, deliveries: Mapping[int, str], accepted: Sequence[int], forged: int) -> list[str]:
    """Every serial was generated once, and is delivered (the receiver knows it) or visibly discarded."""
    violations = [] if not forged else [f"{forged} calls had a wrong signature"]
    wanted = set(range(1, last_serial + 1))
    if wanted != set(deliveries):
        odd = sorted(wanted ^ set(deliveries))
        violations.append(f"serials with a gap or beyond the last: {odd[:5]}")
    known = set(accepted)
    for serial, state in deliveries.items():
        if state == "DELIVERED" and serial not in known:
            violations.append(f"serial {serial} is said to be delivered; the receiver does not know it")
        elif state not in ("DELIVERED", "DISCARDED"):
            violations.append(f"serial {serial} is still {state}")
    if strange := known - wanted:
        violations.append(f"the receiver knows serials that nobody generated: {sorted(strange)[:5]}")
    return violations
