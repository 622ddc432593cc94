"""The checks of the simulation find what they are there to find."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from simulation.checks import (
    Call,
    Slot,
    check_budget,
    check_overlaps,
    check_serials,
    check_slots,
    check_transactions,
    find_stored_call,
    read_calls,
)
from simulation.running import Plan, UnfitPlanError

START = datetime(2026, 10, 24, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_slot_without_outcome_with_two_or_an_open_one_is_found():
    slots = [Slot(START, "DONE"), Slot(START + 6 * HOUR, "FAILED"), Slot(START + 12 * HOUR, "SKIPPED")]
    end = START + 18 * HOUR
    assert check_slots("a", slots, START, end) == []
    assert len(check_slots("a", slots[:2], START, end)) == 1
    assert len(check_slots("a", [*slots, slots[0]], START, end)) == 1
    assert len(check_slots("a", [*slots[:2], Slot(START + 12 * HOUR, "RUNNING")], START, end)) == 1
    assert len(check_slots("a", [*slots, Slot(START + HOUR, "DONE")], START, end)) == 1


def test_a_slot_whose_window_has_not_passed_may_be_open():
    assert check_slots("a", [Slot(START, "DONE"), Slot(START + 6 * HOUR, "QUEUED")], START, START + 7 * HOUR) == []


def test_two_calls_at_a_time_with_the_same_login_are_found():
    first = Call("a", START, START + HOUR, True)
    assert check_overlaps([first, Call("b", START, None, False), Call("a", START + HOUR, None, False)]) == []
    assert len(check_overlaps([first, Call("a", START + HOUR / 2, None, False)])) == 1
    assert len(check_overlaps([Call("a", START, None, False), Call("a", START + HOUR, None, False)])) == 1


def test_a_fifth_call_within_a_day_is_found():
    moments = [START + 6 * HOUR * number for number in range(9)]
    assert check_budget("a", moments) == []
    assert len(check_budget("a", [*moments, START + 25 * HOUR])) > 0
    assert check_budget("a", [*moments[:4], moments[4] - timedelta(seconds=2)], timedelta(seconds=3)) == []


def test_missing_and_doubled_bookings_are_found():
    assert check_transactions("a", Counter({"1": 1, "2": 1}), ["1", "2"]) == []
    assert len(check_transactions("a", Counter({"1": 2}), ["1", "2"])) == 2


def test_gaps_lost_and_undecided_serials_are_found():
    deliveries = {1: "DELIVERED", 2: "DISCARDED"}
    assert check_serials(2, deliveries, [1], 0) == []
    assert len(check_serials(3, deliveries, [1], 0)) == 1
    assert len(check_serials(2, deliveries, [], 0)) == 1
    assert len(check_serials(2, {1: "DELIVERED", 2: "WAITING"}, [1], 0)) == 1
    assert len(check_serials(2, deliveries, [1, 7], 0)) == 1
    assert len(check_serials(2, deliveries, [1], 3)) == 1


def test_the_banks_book_is_read_as_calls():
    at = START.isoformat()
    entries = [
        {"what": "begin", "call": "1", "login": "a", "at": at},
        {"what": "begin", "call": "2", "login": "b", "at": at},
        {"what": "answered", "call": "1", "login": "a", "at": at},
    ]
    assert read_calls(entries) == [Call("a", START, START, True), Call("b", START, None, False)]


def test_the_call_of_a_fetch_is_the_answered_one_within_its_time():
    before, lost = Call("a", START, START + HOUR, True), Call("a", START + 2 * HOUR, START + 3 * HOUR, False)
    own, after = (Call("a", START + n * HOUR, START + (n + 1) * HOUR, True) for n in (4, 8))
    calls = [before, lost, own, after]
    assert find_stored_call(calls, START + 2 * HOUR, START + 6 * HOUR) == own
    assert find_stored_call(calls, START + 2 * HOUR, START + 3 * HOUR) is None


@pytest.mark.parametrize(
    ("factor", "minutes", "words"),
    [(5000, (20, 60), "six hours is 4.3 real seconds"), (1000, (2, 8), "would live 0.9")],
)
def test_a_plan_whose_result_would_say_nothing_is_refused_and_says_why(factor, minutes, words):
    with pytest.raises(UnfitPlanError, match=words):
        Plan(START, 1, 30, factor, kill_minutes=minutes)
