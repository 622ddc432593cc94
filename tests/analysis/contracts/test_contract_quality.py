"""Found contracts against the demo bank's truth: all personas, several days, with and without known partners."""

from datetime import date
from random import Random

import pytest
from demo_people import Demo, read_person
from msgspec import structs

from kontor.analysis.contracts import Contract, find_contracts
from kontor.analysis.records import NO_PARTNER, Record
from kontor.analysis.scoring.contract_scores import ContractScores, match_contracts, score_contracts
from kontor.connectors.demo.people.person import PERSONAS
from many_examples import some_of

WHEN = [("+b", date(2026, 11, 27)), ("", date(2025, 6, 3)), ("", date(2026, 3, 10))]
PEOPLE = [(f"{login}{suffix}", day) for suffix, day in some_of(WHEN) for login in PERSONAS]

pytestmark = pytest.mark.examples


@pytest.fixture(scope="module")
def people() -> list[tuple[Demo, list[Contract]]]:
    found = []
    for login, today in PEOPLE:
        demo = read_person(login, today)
        found.append((demo, find_contracts(demo.records, demo.accounts, today)))
    return found


@pytest.fixture(scope="module")
def scores(people: list[tuple[Demo, list[Contract]]]) -> ContractScores:
    total = ContractScores()
    for demo, contracts in people:
        total += score_contracts(contracts, demo.known, demo.purchases)
    return total


def test_nearly_all_contracts_are_found_and_hardly_any_too_much(scores: ContractScores):
    assert scores.known > 24 * len(PEOPLE)
    assert scores.f1 >= 0.97, scores


def test_periods_and_statuses_are_right(scores: ContractScores):
    assert scores.period_accuracy >= 0.98, scores
    assert scores.status_accuracy >= 0.98, scores


def test_next_payments_come_on_the_day_that_was_told(scores: ContractScores):
    assert scores.nexts > 22 * len(PEOPLE)
    assert scores.next_exact >= 0.90, scores
    assert scores.next_near >= 0.98, scores


def test_everyday_purchases_stay_out_of_contracts(scores: ContractScores):
    assert scores.purchases > 1200 * len(PEOPLE)
    assert scores.purchases_share <= 0.01, scores


def test_contracts_are_found_just_as_well_without_known_partners(people: list[tuple[Demo, list[Contract]]]):
    scores = ContractScores()
    for (demo, _), (_, today) in zip(people[: len(PERSONAS)], PEOPLE, strict=False):
        contracts = find_contracts(demo.without_partners(), demo.accounts, today)
        scores += score_contracts(contracts, demo.known, demo.purchases)
    assert scores.f1 >= 0.97, scores
    assert scores.period_accuracy >= 0.98, scores
    assert scores.next_near >= 0.98, scores
    assert scores.purchases_share <= 0.01, scores


def blur_tags(record: Record, chance: Random) -> Record:
    """As a tagger might: every second partner not recognised, every tenth category missed."""
    if chance.random() < 0.5:
        record = structs.replace(record, partner=NO_PARTNER)
    if chance.random() < 0.1:
        record = structs.replace(record, category="OTHER_INCOME" if record.amount > 0 else "OTHER_SPENDING")
    return record


def test_partners_and_categories_that_are_missing_here_and_there_do_little_harm(
    people: list[tuple[Demo, list[Contract]]],
):
    scores = ContractScores()
    chance = Random(7)
    for (demo, _), (_, today) in zip(people[: len(PERSONAS)], PEOPLE, strict=False):
        records = [blur_tags(record, chance) for record in demo.records]
        scores += score_contracts(find_contracts(records, demo.accounts, today), demo.known, demo.purchases)
    assert scores.f1 >= 0.97, scores
    assert scores.period_accuracy >= 0.98, scores
    assert scores.purchases_share <= 0.01, scores


def test_numbers_in_the_texts_are_read(people: list[tuple[Demo, list[Contract]]]):
    right = wrong = shown = 0
    for demo, contracts in people:
        pairs, _, _ = match_contracts(contracts, demo.known)
        for contract, known in pairs:
            truth = demo.truths[known.id]
            wanted = {number.replace(" ", "") for number in truth.contract_numbers + truth.customer_numbers}
            found = list_numbers(contract)
            shown += len(wanted)
            right += len(wanted & found)
            wrong += len(found - wanted)
    assert shown > 12 * len(PEOPLE)
    assert right / shown >= 0.97
    assert wrong / shown <= 0.03


def list_numbers(contract: Contract) -> set[str]:
    return set(contract.contract_numbers + contract.customer_numbers)
