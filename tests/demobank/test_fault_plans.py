"""Fault plans: everything follows from the seed and the number of the request."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from fints_banks import TODAY
from kontor.connectors.demo.people import person_for
from kontor.demobank.faults import Fault, FaultInjector, FaultPlan, RequestKind, Visit, draw_plan, read_faults
from kontor.demobank.faults.rows import distort_rows, disturb_list, find_first_day

KINDS = list(RequestKind)


def draw(plan, numbers, protocol="fints"):
    return {number: plan.draw(number, KINDS[number % len(KINDS)], protocol) for number in numbers}


def test_the_same_seed_draws_the_same_faults_in_any_order():
    first = draw(draw_plan(17), range(200))
    assert draw(draw_plan(17), reversed(range(200))) == first
    assert draw(draw_plan(18), range(200)) != first


def test_all_faults_are_drawn_by_some_seed_and_no_plan_has_too_many():
    plans = [draw_plan(seed) for seed in range(200)]
    assert {fault for plan in plans for fault in plan.faults} == set(Fault)
    assert {len(plan.faults) for plan in plans} == {1, 2, 3, 4}


def test_a_seed_draws_only_among_the_faults_that_are_named():
    named = read_faults("lost-answer, empty-page")
    assert named == (Fault.LOST_ANSWER, Fault.EMPTY_PAGE)
    assert all(set(draw_plan(seed, named).faults) <= set(named) for seed in range(50))


@pytest.mark.parametrize("text", ["", " , ", "lost-answer,lost-anwser"])
def test_unknown_names_are_refused_with_those_that_there_are(text):
    with pytest.raises(ValueError, match="pays-twice"):
        read_faults(text)


def test_a_fault_occurs_only_at_requests_that_it_fits():
    for protocol in ("fints", "xs2a"):
        for fault in Fault:
            plan = FaultPlan(1, (fault,), rate=1)
            kinds = {kind for kind in RequestKind if plan.draw(3, kind, protocol) is fault}
            assert bool(kinds) is not fault.is_permanent, (fault, protocol)
    assert FaultPlan(1, (Fault.REFUSED_PIN,), rate=1).draw(3, RequestKind.STATEMENT, "fints") is None


def test_each_customer_is_counted_alone_whatever_the_threads_do():
    injector = FaultInjector(draw_plan(5))
    logins = [f"customer{number}" for number in range(8)]

    def visit_all(login):
        for number in range(100):
            injector.visit(login, KINDS[number % len(KINDS)], "xs2a")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(visit_all, logins))
    expected = list(draw(draw_plan(5), range(100), "xs2a").values())
    for login in logins:
        assert [visit.fault for visit in injector.visits[login]] == expected


def test_a_customer_without_a_plan_has_no_faults():
    injector = FaultInjector(FaultPlan(1, (Fault.LOST_ANSWER,), rate=1))
    injector.assign("calm", None)
    assert injector.visit("calm", RequestKind.OTHER, "xs2a").fault is None
    assert injector.visit("other", RequestKind.OTHER, "xs2a").fault is Fault.LOST_ANSWER


# Rows


@pytest.fixture(scope="module")
def rows():
    return [entry.transaction for entry in person_for("test_student", TODAY).accounts[0].entries][-120:]


def test_permanent_faults_concern_the_same_rows_each_time(rows):
    plan = FaultPlan(3, (Fault.WRONG_SIGN, Fault.LONG_DECIMALS))
    distorted = distort_rows(rows, plan)
    assert distort_rows(rows[40:], plan) == distorted[40:]
    pairs = list(zip(rows, distorted, strict=True))
    turned = [row for row, shown in pairs if row.amount < 0 < shown.amount]
    long = [shown for _, shown in pairs if -shown.amount.as_tuple().exponent == 12]
    assert 0 < len(turned) < len(rows) / 2
    assert 0 < len(long) < len(rows) / 2
    assert distort_rows(rows, None) == rows


def test_lists_are_shuffled_or_have_rows_twice(rows):
    shuffled = disturb_list(rows, make_visit(Fault.SHUFFLED_ROWS))
    assert shuffled != rows
    assert len(shuffled) == len(rows)
    assert all(row in shuffled for row in rows)
    doubled = disturb_list(rows, make_visit(Fault.DUPLICATE_ROWS))
    assert len(doubled) == len(rows) + 3
    assert all(row in rows for row in doubled)
    assert disturb_list(rows, make_visit(Fault.DUPLICATE_ROWS)) == doubled


def test_a_list_begins_before_the_day_asked_for():
    assert find_first_day(TODAY, make_visit(Fault.VALUE_DATE_FILTER)) < TODAY - timedelta(days=5)
    assert find_first_day(TODAY, make_visit(Fault.SHUFFLED_ROWS)) == TODAY


def make_visit(fault):
    return Visit(7, RequestKind.STATEMENT, FaultPlan(3, (fault,)), fault)
