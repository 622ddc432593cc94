"""When accesses are refreshed: four slots a day each, a budget of unattended calls, and timeouts with providers.

Everything here follows on paper from ids and instants. Times are UTC, so that no change to or from summer time moves a
slot.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

SLOT_SPACING = timedelta(hours=6)
BUDGET_CALLS = 4
# 24 hours, and a little more: a call reaches the bank some moments after it was written down.
BUDGET_PERIOD = timedelta(hours=24, seconds=30)
# Calls noted a little in the future count too: the clocks of two machines never agree to the millisecond.
CLOCK_SKEW = timedelta(hours=1)
# A late call delays the one a day later, since both must not fall into the same 24 hours. Beyond this delay that one is
# left out, so that the slot after it is on time again.
BUDGET_PATIENCE = timedelta(hours=2)
BUSY_PAUSE = timedelta(minutes=1)
# Of slots that nobody looked at, older ones are not written down any more: history is not kept longer either.
MISSED_PERIOD = timedelta(days=30)
FAILURES_UNTIL_DOWN = 3
FIRST_PAUSE, MAX_PAUSE = timedelta(minutes=1), timedelta(minutes=60)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class RefreshPause(StrEnum):
    """Why an access is not refreshed in the background until its user does something."""

    SCA = "SCA"
    CREDENTIALS = "CREDENTIALS"


class SkipReason(StrEnum):
    """Why a slot passed without a call of the bank."""

    MISSED = "missed"
    BUSY = "busy"
    BUDGET = "budget"
    PROVIDER = "provider"
    STOPPED = "stopped"


# Slots


def find_phase(user_id: UUID, access_id: str) -> timedelta:
    """Where the slots of an access lie within six hours: always the same, and evenly spread over all accesses."""
    return _spread(f"{user_id} {access_id}", SLOT_SPACING)


def find_slot(user_id: UUID, access_id: str, at: datetime) -> datetime:
    """The beginning of the window that `at` lies in. A window ends where the next one begins."""
    in_utc = at.astimezone(UTC)  # hours on the wall are not always hours apart
    since_first = in_utc - _EPOCH - find_phase(user_id, access_id)
    return in_utc - since_first % SLOT_SPACING


def find_next_slot(user_id: UUID, access_id: str, at: datetime) -> datetime:
    return find_slot(user_id, access_id, at) + SLOT_SPACING


def list_missed(current: datetime, since: datetime) -> list[datetime]:
    """Slots after `since` and before the current one, oldest first."""
    oldest = max(since, current - MISSED_PERIOD)
    count = max(0, -((oldest - current) // SLOT_SPACING) - 1)
    return [current - SLOT_SPACING * number for number in range(count, 0, -1)]


def _spread(text: str, period: timedelta) -> timedelta:
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return period // _MICROSECOND * int.from_bytes(digest) // 2**64 * _MICROSECOND


# Budget


def find_free_at(calls: Sequence[datetime], now: datetime) -> datetime | None:
    """When the next unattended call may be made; None when it may be now."""
    counted = sorted(call for call in calls if now - BUDGET_PERIOD < call <= now + CLOCK_SKEW)
    return None if len(counted) < BUDGET_CALLS else counted[-BUDGET_CALLS] + BUDGET_PERIOD


def plan_next(slot: "Slot", calls: Sequence[datetime], now: datetime) -> datetime:
    """When to look again after the slot's call, which is about to be made: at the next slot, or when it may be."""
    free_at = find_free_at([*calls, now], now)
    if free_at is None or not slot.end < free_at <= slot.end + BUDGET_PATIENCE:
        return slot.end
    return free_at


# Providers that are down


@dataclass(frozen=True, slots=True)
class Outage:
    """Failures in a row. The provider counts as down since `down_since`; one call at `next_try_at` finds out."""

    provider_id: UUID
    failures: int
    down_since: datetime | None
    next_try_at: datetime

    def is_waited_for(self, now: datetime) -> bool:
        return self.down_since is not None and now < self.next_try_at


def note_failure(outage: Outage, now: datetime) -> Outage:
    """A call failed. While a provider is down its pauses grow with each try, not with whatever else fails."""
    if outage.down_since is not None:
        return outage
    failures = outage.failures + 1
    if failures < FAILURES_UNTIL_DOWN:
        return Outage(outage.provider_id, failures, None, now)
    return Outage(outage.provider_id, failures, now, now + find_pause(outage.provider_id, failures))


def note_try(outage: Outage, now: datetime) -> Outage:
    """Somebody finds out now; until the answer is known it counts as one more failure."""
    failures = outage.failures + 1
    return Outage(outage.provider_id, failures, outage.down_since, now + find_pause(outage.provider_id, failures))


def find_pause(provider_id: UUID, failures: int) -> timedelta:
    """1, 2, 4 … 60 minutes, and up to a tenth more so that several providers are not tried at the same moment."""
    doublings = min(10, max(0, failures - FAILURES_UNTIL_DOWN))
    pause = min(MAX_PAUSE, FIRST_PAUSE * (1 << doublings))
    return pause + _spread(f"{provider_id} {failures}", pause / 10)


# Deciding


@dataclass(frozen=True, slots=True)
class Slot:
    """The window of an access in which something may happen now."""

    user_id: UUID
    access_id: str
    at: datetime

    @property
    def end(self) -> datetime:
        return self.at + SLOT_SPACING


@dataclass(frozen=True, slots=True)
class Verdict:
    """Refresh now (neither is set), look again at `retry_at`, or leave the slot out."""

    retry_at: datetime | None = None
    skip: SkipReason | None = None

    @property
    def is_go(self) -> bool:
        return self.retry_at is None and self.skip is None


GO = Verdict()


def check_busy(slot: Slot, now: datetime) -> Verdict:
    """Somebody else is at the bank for this access."""
    return _wait(slot, now + BUSY_PAUSE, SkipReason.BUSY)


def check_budget(slot: Slot, calls: Sequence[datetime], now: datetime) -> Verdict:
    free_at = find_free_at(calls, now)
    if free_at is None:
        return GO
    if free_at - slot.at > BUDGET_PATIENCE:
        return Verdict(skip=SkipReason.BUDGET)
    return _wait(slot, free_at, SkipReason.BUDGET)


def check_provider(slot: Slot, outage: Outage | None, now: datetime, *, is_tried: bool) -> Verdict:
    """`is_tried`: another access finds out at this very moment. Those that wait come back one after the other."""
    if outage is None or outage.down_since is None or not (is_tried or outage.is_waited_for(now)):
        return GO
    pause = find_pause(outage.provider_id, outage.failures)
    next_try_at = outage.next_try_at if outage.is_waited_for(now) else now + pause
    spread = _spread(f"{slot.user_id} {slot.access_id} {slot.at.isoformat()}", pause / 2)
    return _wait(slot, next_try_at + spread, SkipReason.PROVIDER)


def _wait(slot: Slot, until: datetime, reason: SkipReason) -> Verdict:
    return Verdict(retry_at=until) if until < slot.end else Verdict(skip=reason)
