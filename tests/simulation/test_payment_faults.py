"""Faults of payments: how they are drawn, judged and counted."""

from collections import Counter

import pytest
from payment_faults.plans import Connector, Entrance, Form, Sca, Victim, draw_fault, has_form
from payment_faults.report import write_page
from payment_faults.results import append_result, find_kind, make_result, read_results
from payment_faults.verdicts import Evidence, Verdict, judge

PAID_ONCE = Evidence(("OPEN", "EXECUTED"), "EXECUTED", has_lookup=False, debits=1, cents=100, ordered_cents=100)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.FINE),
        ({"debits": 2, "cents": 200}, Verdict.DOUBLE),
        ({"debits": 0, "cents": 0}, Verdict.LOST),
        ({"state": None, "told": ()}, Verdict.LOST),
        ({"told": ("ACCEPTED",), "state": "UNKNOWN", "has_lookup": True, "debits": 0, "cents": 0}, Verdict.LOST),
        ({"told": ("FAILED",)}, Verdict.CONTRADICTED),
        ({"told": (), "state": "FAILED"}, Verdict.CONTRADICTED),
        ({"cents": 99}, Verdict.CONTRADICTED),
        ({"is_list_right": False}, Verdict.CONTRADICTED),
        ({"told": ("OPEN",), "state": "SENDING"}, Verdict.STUCK),
        ({"told": ("UNKNOWN",), "state": "UNKNOWN"}, Verdict.STUCK),
        ({"told": ("UNKNOWN",), "state": "UNKNOWN", "has_lookup": True}, Verdict.FINE),
        ({"told": ("UNKNOWN",), "state": "UNKNOWN", "needs_customer": True}, Verdict.FINE),
        ({"told": ("FAILED",), "state": "FAILED", "debits": 0, "cents": 0}, Verdict.FINE),
    ],
)
def test_verdicts(changes, verdict):
    facts = {name: getattr(PAID_ONCE, name) for name in PAID_ONCE.__slots__}
    assert judge(Evidence(**facts | changes)) is verdict


def test_a_draw_depends_on_seed_and_number_alone_and_reaches_every_value():
    faults = [draw_fault(1, number) for number in range(2000)]
    assert faults == [draw_fault(1, number) for number in range(2000)]
    assert faults != [draw_fault(2, number) for number in range(2000)]
    for name, values in {
        "connector": Connector, "form": Form, "entrance": Entrance, "sca": Sca, "victim": Victim,
    }.items():  # fmt: skip
        assert Counter(getattr(fault.scenario, name) for fault in faults).keys() == set(values)
    assert not [fault for fault in faults if fault.scenario.sca is Sca.REDIRECT and fault.scenario.connector == "FinTS"]


def test_standing_orders_and_direct_debits_are_drawn_where_they_can_be_ordered():
    scenarios = [draw_fault(1, number).scenario for number in range(2000)]
    stored = [scenario for scenario in scenarios if scenario.form.is_standing or scenario.form.is_debit]
    assert {scenario.entrance for scenario in stored} == {Entrance.NEWER, Entrance.WEB_FORM}
    over_xs2a = {scenario.form for scenario in stored if scenario.connector is Connector.XS2A}
    assert over_xs2a == {Form.STANDING, Form.STANDING_DELETION}
    for connector in (Connector.DEMO, Connector.FINTS):
        forms = {scenario.form for scenario in scenarios if scenario.connector is connector}
        assert forms == set(Form)


def test_faults_can_be_limited_to_forms_by_name():
    faults = [draw_fault(1, number) for number in range(200)]
    found = {fault.scenario.form for fault in faults if has_form(fault, ["standing", "debit"])}
    assert found == {form for form in Form if form.is_standing or form.is_debit}
    assert all(has_form(fault, []) for fault in faults)


def test_results_survive_a_line_that_was_cut_off_and_count_a_fault_once(tmp_path):
    file = tmp_path / "results.jsonl"
    results = [
        make_result("simulated", draw_fault(1, number), "payment.send #1", PAID_ONCE, Verdict.FINE, 0.25)
        for number in (0, 1)
    ]
    for result in (*results, results[0]):
        append_result(file, result)
    with file.open("a") as cut:
        cut.write('{"mode":"simulated","seed":1,"num')
    assert read_results(file) == results


def test_the_page_counts_what_was_run(tmp_path):
    results = [
        make_result("simulated", draw_fault(1, number), "send POST /fints #1", PAID_ONCE, Verdict.FINE, 0.25)
        for number in range(3)
    ]
    page = tmp_path / "faults.md"
    write_page(results, page, "./dev faults --seed 1", {"simulated": 10, "killed": 5})
    text = page.read_text()
    assert "**3 faults: 0 double, 0 lost, 0 stuck, 0 contradicted, 0 error.**" in text
    assert "Run so far: 3 of 10." in text
    assert "| before send | 3 | 0 | 0 | 0 | 0 | 0 | 3 | 0 | 0 | 0 |" in text


def test_kinds_of_points():
    points = {
        "after commit of PaymentOrdering._begin #1": "after commit",
        "before write of take_lease #1": "before commit",
        "send POST /fints #2": "before send",
        "in flight POST /fints #2": "after send",
        "receive Tan #1": "after receive",
        "payment.send #1": "named point",
    }
    assert {point: find_kind(point) for point in points} == points
