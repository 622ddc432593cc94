"""When accesses are refreshed: slots, the budget of unattended calls, and timeouts with providers that are down."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kontor.domain.refreshes import (
    BUDGET_CALLS,
    BUDGET_PATIENCE,
    BUDGET_PERIOD,
    MAX_PAUSE,
    MISSED_PERIOD,
    SLOT_SPACING,
    Outage,
    SkipReason,
    Slot,
    check_budget,
    check_busy,
    check_provider,
    find_free_at,
    find_next_slot,
    find_pause,
    find_phase,
    find_slot,
    list_missed,
    note_failure,
    note_try,
    plan_next,
)

BERLIN = ZoneInfo("Europe/Berlin")
USER, BANK = UUID(int=1), UUID(int=7)
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

users = st.uuids()
access_ids = st.from_regex(r"[A-Za-z0-9._~-]{1,64}", fullmatch=True)
instants = st.integers(1_577_836_800_000_000, 2_208_988_800_000_000).map(
    lambda microseconds: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
)
SPRING = datetime(2027, 3, 28, 1, tzinfo=UTC)  # clocks go from 2 to 3
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)  # clocks go from 3 to 2


# Slots


@given(users, access_ids, instants)
@example(USER, "a", SPRING)
@example(USER, "a", AUTUMN)
def test_every_moment_lies_in_exactly_one_window(user_id, access_id, at):
    slot = find_slot(user_id, access_id, at)
    assert slot <= at < slot + SLOT_SPACING
    assert find_slot(user_id, access_id, slot) == slot
    assert find_next_slot(user_id, access_id, at) == slot + SLOT_SPACING
    assert find_slot(user_id, access_id, slot - timedelta(microseconds=1)) == slot - SLOT_SPACING


@given(users, access_ids, st.sampled_from([SPRING, AUTUMN]))
def test_slots_are_six_hours_apart_when_the_clocks_change_too(user_id, access_id, change):
    """Whether the caller thinks in UTC or in Berlin's time: four a day, and never two closer together."""
    slots = [find_slot(user_id, access_id, (change - 3 * DAY).astimezone(BERLIN))]
    while slots[-1] < change + 3 * DAY:
        slots.append(find_next_slot(user_id, access_id, slots[-1].astimezone(BERLIN)))
    in_utc = [slot.astimezone(UTC) for slot in slots]
    assert {later - earlier for earlier, later in pairwise(in_utc)} == {SLOT_SPACING}
    assert in_utc == [find_slot(user_id, access_id, slot) for slot in in_utc]


@given(users, access_ids)
def test_slots_are_the_same_wherever_and_whenever_they_are_computed(user_id, access_id):
    assert timedelta(0) <= find_phase(user_id, access_id) < SLOT_SPACING
    assert find_phase(user_id, access_id) == find_phase(UUID(str(user_id)), str(access_id))


def test_slots_stay_where_they_are_with_the_next_version():
    """Values that must never change: otherwise every access would be refreshed at another time after an upgrade."""
    found = [str(find_phase(UUID(int=number), "giro")) for number in (1, 2, 3)]
    assert found == ["4:43:29.052129", "4:08:14.456304", "4:09:29.842730"]


@pytest.mark.parametrize("kind", ["many users", "one user"])
def test_accesses_are_spread_evenly_over_the_six_hours(kind):
    """Whoever they belong to. With 36,000 accesses each ten minutes expect 1,000; five deviations are allowed."""
    count = 36_000
    if kind == "many users":
        phases = [find_phase(UUID(int=number), "giro") for number in range(count)]
    else:
        phases = [find_phase(USER, f"access-{number}") for number in range(count)]
    per_part = Counter(phase // (10 * MINUTE) for phase in phases)
    assert len(per_part) == 36
    assert max(abs(part_count - 1000) for part_count in per_part.values()) < 160
    assert len(set(phases)) > count * 0.999, "not even seconds are shared"


@given(instants, st.integers(0, 400), st.integers(0, 5 * 3600))
def test_missed_slots_are_those_between_the_last_one_and_the_current_one(current, count, rest):
    since = current - SLOT_SPACING * count - timedelta(seconds=rest)
    missed = list_missed(current, since)
    assert missed == sorted(missed)
    assert all(since < slot < current and (current - slot) % SLOT_SPACING == timedelta(0) for slot in missed)
    expected = count - (1 if rest == 0 else 0)
    assert len(missed) == max(0, min(expected, MISSED_PERIOD // SLOT_SPACING - 1))


def test_no_slot_was_missed_when_the_last_one_is_the_one_before_or_lies_ahead():
    for since in (NOON - SLOT_SPACING, NOON, NOON + DAY):
        assert list_missed(NOON, since) == []


# Budget


@given(st.lists(st.integers(0, 4 * 86_400), max_size=60), st.integers(0, 4 * 86_400))
def test_calls_made_only_when_the_budget_allows_are_never_five_in_24_hours(seconds, last):
    made = []
    for offset in sorted([*seconds, last]):
        now = NOON + timedelta(seconds=offset)
        if find_free_at(made, now) is None:
            made.append(now)
    for first, fifth in zip(made, made[BUDGET_CALLS:], strict=False):
        assert fifth - first >= DAY


@given(st.lists(st.integers(0, 86_400), min_size=4, max_size=12))
def test_budget_says_when_the_next_call_may_be_made_and_then_it_may(ago):
    calls = [NOON - timedelta(seconds=seconds) for seconds in ago]
    free_at = find_free_at(calls, NOON)
    assert free_at is not None
    assert free_at > NOON
    assert find_free_at(calls, free_at) is None
    assert find_free_at(calls, free_at - timedelta(microseconds=1)) == free_at


def test_calls_of_a_machine_whose_clock_is_a_little_ahead_count():
    assert find_free_at([NOON + timedelta(seconds=seconds) for seconds in range(1, 5)], NOON) is not None
    assert find_free_at([NOON + 30 * DAY] * 4, NOON) is None, "the clock was set back long since"


@given(st.lists(st.integers(0, 90), min_size=40, max_size=40))
def test_refreshes_go_on_four_times_a_day_however_late_each_begins(delays):
    """Each call begins some minutes after it was due; nothing is left out, and nothing comes too early."""
    slot, calls, next_at = Slot(USER, "a", NOON), [], NOON
    for delay in delays:
        now = max(slot.at, next_at) + timedelta(seconds=delay)
        assert check_budget(slot, calls, now).is_go
        next_at = plan_next(slot, calls, now)
        calls.append(now)
        slot = Slot(USER, "a", slot.end)
    for first, fifth in zip(calls, calls[4:], strict=False):
        assert fifth - first >= BUDGET_PERIOD


def test_call_that_was_hours_late_costs_one_slot_and_not_punctuality_for_ever():
    late = NOON + 3 * HOUR
    calls = [late, NOON + 6 * HOUR, NOON + 12 * HOUR, NOON + 18 * HOUR]
    tomorrow = Slot(USER, "a", NOON + DAY)
    assert check_budget(tomorrow, calls, tomorrow.at).skip is SkipReason.BUDGET
    following = Slot(USER, "a", tomorrow.end)
    assert check_budget(following, calls, following.at + MINUTE).is_go


def test_call_that_was_a_little_late_is_waited_for():
    calls = [NOON + 5 * MINUTE, NOON + 6 * HOUR, NOON + 12 * HOUR, NOON + 18 * HOUR]
    verdict = check_budget(Slot(USER, "a", NOON + DAY), calls, NOON + DAY)
    assert verdict.skip is None
    assert verdict.retry_at == NOON + 5 * MINUTE + BUDGET_PERIOD
    assert timedelta(0) < BUDGET_PATIENCE < SLOT_SPACING


# Waiting


@given(st.integers(0, 6 * 3600 - 1))
def test_who_waits_comes_back_within_the_window_or_gives_the_slot_up(seconds):
    slot = Slot(USER, "a", NOON)
    now = NOON + timedelta(seconds=seconds)
    down = Outage(BANK, 5, NOON, NOON + HOUR * 5)
    for verdict, reason in (
        (check_busy(slot, now), SkipReason.BUSY),
        (check_provider(slot, down, now, is_tried=True), SkipReason.PROVIDER),
        (check_budget(slot, [now] * 4, now), SkipReason.BUDGET),
    ):
        assert not verdict.is_go
        if verdict.retry_at is None:
            assert verdict.skip is reason
        else:
            assert verdict.skip is None
            assert now < verdict.retry_at < slot.end


# Providers that are down


def test_three_failures_in_a_row_make_an_outage_and_pauses_grow_to_an_hour():
    outage = Outage(BANK, 0, None, NOON)
    for _ in range(2):
        outage = note_failure(outage, NOON)
        assert outage.down_since is None
    outage = note_failure(outage, NOON)
    assert outage.down_since == NOON
    pauses, now = [], NOON
    for _ in range(12):
        pauses.append(outage.next_try_at - now)
        now = outage.next_try_at
        assert not outage.is_waited_for(now)
        outage = note_try(outage, now)
        assert outage.is_waited_for(now)
        assert outage.down_since == NOON
    minutes = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]
    for pause, wanted in zip(pauses, minutes, strict=True):
        assert wanted * MINUTE <= pause < wanted * MINUTE * 1.1 + MINUTE
    assert len({pause for pause in pauses if pause >= MAX_PAUSE}) > 1, "not always the same moment of the hour"


def test_calls_that_were_under_way_when_a_provider_went_down_do_not_lengthen_its_pause():
    outage = Outage(BANK, 3, NOON, NOON + MINUTE)
    assert note_failure(outage, NOON + timedelta(seconds=5)) == outage


@given(st.integers(3, 1000))
def test_pause_is_bounded_and_always_the_same(failures):
    pause = find_pause(BANK, failures)
    assert MINUTE <= pause <= MAX_PAUSE * 1.1
    assert pause == find_pause(BANK, failures)


def test_those_who_wait_for_a_provider_come_back_one_after_the_other():
    down = Outage(BANK, 9, NOON, NOON + HOUR)
    slots = [Slot(UUID(int=number), "a", NOON) for number in range(200)]
    times = [check_provider(slot, down, NOON, is_tried=False).retry_at for slot in slots]
    assert min(times) >= down.next_try_at
    assert len(set(times)) == 200
    assert max(times) - min(times) > 20 * MINUTE


def test_provider_that_failed_less_than_three_times_holds_nobody_back():
    shaky = Outage(BANK, 2, None, NOON + HOUR)
    assert check_provider(Slot(USER, "a", NOON), shaky, NOON, is_tried=False).is_go
    assert check_provider(Slot(USER, "a", NOON), None, NOON, is_tried=False).is_go
