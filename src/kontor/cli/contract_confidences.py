"""Contracts of the demo bank's people, judged by the truth: what their confidence is fitted on and tested with."""

from datetime import date

from kontor.analysis.contracts import find_contracts
from kontor.analysis.contracts.confidences import describe_certainty
from kontor.analysis.scoring.contract_scores import match_contracts
from kontor.analysis.tagging.calibrating import Cell
from kontor.cli.demo_truths import Tags, read_demo_person


def judge_contracts(login: str, today: date, tags: Tags) -> list[tuple[Cell, bool]]:
    """The description of each contract that is found, and whether it exists with that period and status."""
    person = read_demo_person(login, today, tags)
    found = find_contracts(person.records, person.accounts, today)
    pairs, _, _ = match_contracts(found, person.contracts)
    right = {
        contract.id for contract, truth in pairs if (contract.period, contract.status) == (truth.period, truth.status)
    }
    return [(describe_certainty(contract), contract.id in right) for contract in found]
