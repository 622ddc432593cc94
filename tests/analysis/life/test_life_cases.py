"""Every life event, stage and sales trigger, as a case that a person can read."""

import pytest
from life_cases import list_cases, read_case

from kontor.analysis.life_events import find_life_events
from kontor.analysis.life_stages import find_life_stages
from kontor.analysis.sales_triggers import find_sales_triggers
from kontor.analysis.trees import LIFE_EVENTS, LIFE_STAGES, SALES_TRIGGERS, TREES


@pytest.mark.parametrize("name", list_cases("events"))
def test_golden_case_gives_exactly_the_expected_events(name: str):
    case = read_case("events", name)
    found = find_life_events(*case.facts)
    assert sorted([event.name, str(event.day)] for event in found) == sorted(case.expected), case.why


@pytest.mark.parametrize("name", list_cases("stages"))
def test_golden_case_gives_exactly_the_expected_stages(name: str):
    case = read_case("stages", name)
    assert [stage.name for stage in find_life_stages(*case.facts)] == case.expected, case.why


@pytest.mark.parametrize("name", list_cases("triggers"))
def test_golden_case_gives_exactly_the_expected_triggers(name: str):
    case = read_case("triggers", name)
    found = [
        [trigger.name, str(trigger.day), None if trigger.amount is None else str(trigger.amount)]
        for trigger in find_sales_triggers(*case.facts)
    ]
    assert found == case.expected, case.why


def test_cases_show_every_event_of_the_tree():
    shown = {name for case in list_cases("events") for name, _ in read_case("events", case).expected}
    assert shown == set(TREES[LIFE_EVENTS].items)


def test_cases_show_every_trigger_and_nearly_every_stage_of_the_trees():
    triggers = {row[0] for case in list_cases("triggers") for row in read_case("triggers", case).expected}
    assert triggers == {item.system_name for item in TREES[SALES_TRIGGERS].items.values() if item.parent}
    stages = {name for case in list_cases("stages") for name in read_case("stages", case).expected}
    assert stages == {item.system_name for item in TREES[LIFE_STAGES].items.values() if item.parent}


@pytest.mark.parametrize("name", list_cases("events"))
def test_every_event_says_which_bookings_it_stands_on(name: str):
    case = read_case("events", name)
    known = {record.id for record in case.records}
    for event in find_life_events(*case.facts):
        assert event.transaction_ids
        assert known >= set(event.transaction_ids)
        assert event.reasons
        assert 0 < event.confidence < 1
