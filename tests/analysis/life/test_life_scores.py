"""How well lives are understood, measured on the demo bank's people, whose lives are known."""

from collections import Counter
from datetime import date

import pytest
from life_people import read_life

from kontor.analysis.life_events import LifeEvent, find_life_events
from kontor.analysis.life_stages import find_life_stages
from kontor.analysis.scoring.event_scores import EventScores, KnownEvent, match_events, score_events
from kontor.connectors.demo.people.person import PERSONAS
from many_examples import some_of

DAYS = (date(2026, 11, 15), date(2026, 3, 10), date(2025, 6, 20), date(2027, 5, 5))
# Suffixes shift a life course, so that other events fall into the window.
SUFFIXES = ("", "+x")


PEOPLE = [(persona + SUFFIXES[place % 2], today) for persona in PERSONAS for place, today in enumerate(DAYS)]


@pytest.mark.examples
def test_life_events_are_found_with_nineteen_twentieths_precision_and_recall():
    total, wrong = EventScores(), Counter()
    people = some_of(PEOPLE)
    for login, today in people:
        life = read_life(login, today)
        found = find_life_events(life.records, life.contracts, life.accounts, today)
        total += score_events(found, life.events)
        _, extra, missed = match_events(found, life.events)
        wrong.update((login, event.name) for event in [*extra, *missed])
    assert total.visible > 100 * len(people) / len(PEOPLE)
    assert total.precision >= 0.95, wrong
    assert total.recall >= 0.95, wrong


STAGES = {
    "student": ("STUDENT", "NOCHILDREN", "TENANT", "REGULAR"),
    "familie": ("EMPLOYED", "CHILDREN", "TENANT", "REGULAR"),
    "freiberuf": ("SELFEMPLOYED", "NOCHILDREN", "TENANT", "REGULAR"),
    "rente": ("RETIRED", "NOCHILDREN", "UNKNOWN", "REGULAR"),
    "schulden": ("EMPLOYED", "CHILDREN", "TENANT", "NONE"),
    "hauskauf": ("EMPLOYED", "NOCHILDREN", "OWNERMORTGAGE", "REGULAR"),
    "trennung": ("EMPLOYED", "CHILDREN", "TENANT", "REGULAR"),
    "azubi": ("EMPLOYED", "NOCHILDREN", "UNKNOWN", "REGULAR"),
    "demo1": ("EMPLOYED", "NOCHILDREN", "OWNERMORTGAGE", "REGULAR"),
}


@pytest.mark.parametrize("login", STAGES)
def test_life_stages_are_those_of_the_persona(login: str):
    life = read_life(login, DAYS[0])
    stages = find_life_stages(life.records, life.contracts, life.accounts, DAYS[0])
    assert [stage.name for stage in stages] == [
        f"{group}_{name}"
        for group, name in zip(("LABOURMARKET", "PARENTHOOD", "HOUSING", "SAVINGS"), STAGES[login], strict=True)
    ]


@pytest.mark.parametrize(
    ("today", "stage"),
    [
        (date(2025, 3, 10), "LABOURMARKET_EMPLOYED"),
        (date(2025, 10, 10), "LABOURMARKET_UNEMPLOYED"),
        (date(2026, 8, 10), "LABOURMARKET_EMPLOYED"),
    ],
)
def test_the_stage_of_work_follows_the_life_course(today: date, stage: str):
    life = read_life("arbeitslos", today)
    assert find_life_stages(life.records, life.contracts, life.accounts, today)[0].name == stage


def tell(name: str, day: str) -> LifeEvent:
    return LifeEvent(name, date.fromisoformat(day), 0.9, ("a",), ())


def test_scores_count_an_event_once_and_only_within_35_days():
    known = [KnownEvent("LOAN_START", date(2026, 3, 1)), KnownEvent("LOAN_END", date(2026, 3, 1), is_visible=False)]
    near, far = tell("LOAN_START", "2026-04-05"), tell("LOAN_START", "2026-04-06")
    assert score_events([near], known) == EventScores(visible=1, found=1, hits=1, missed=0)
    assert score_events([far], known) == EventScores(visible=1, found=1, hits=0, missed=1)
    assert score_events([near, near], known).precision == 0.5
    assert score_events([], known).recall == 0
    assert score_events([], []).f1 == 1
