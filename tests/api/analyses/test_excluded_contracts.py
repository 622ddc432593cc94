"""A contract that the customer has excluded is unknown to every analysis."""

from dataclasses import replace
from datetime import date
from functools import cache

import pytest

from kontor.cli.demo_truths import Tags, read_demo_person
from kontor.domain.contracts import ContractSettings, KnownContract
from kontor.services.analyses import Facts
from kontor.wire.analyses import ANALYSES
from kontor.wire.encoding import encode_json
from kontor.wire.urls import Urls
from many_examples import few_cases

TODAY = date(2026, 3, 11)
URLS = Urls("http://localhost", frozenset())
EXCLUDED = ContractSettings(is_contract=False)


class WithoutContracts(Facts):
    contracts = ()


@cache
def read_facts(login):
    person = read_demo_person(login, TODAY, Tags.TAGGER)
    return Facts("user", person.records, person.accounts, TODAY)


def read_people():
    """Two people: no analysis leaves the contracts of both unread."""
    return [read_facts(login) for login in ("familie+excluded", "schulden+excluded")]


def exclude(facts, contracts):
    known = [
        KnownContract(contract.id, tuple((row,) for row in contract.transaction_ids), settings=EXCLUDED)
        for contract in contracts
    ]
    return replace(facts, known=known)


def show(name, facts):
    return encode_json(ANALYSES[name](facts, URLS, True))


@pytest.mark.parametrize("name", few_cases(ANALYSES, 4))
def test_an_analysis_with_all_contracts_excluded_is_that_of_somebody_without_contracts(name):
    does_matter = False
    for facts in read_people():
        nobody = WithoutContracts(facts.user, facts.records, facts.accounts, facts.today)
        assert show(name, exclude(facts, facts.contracts)) == show(name, nobody)
        does_matter |= show(name, facts) != show(name, nobody)
    assert does_matter, "otherwise nothing was proved"


def test_one_excluded_contract_is_listed_apart_and_the_others_stay():
    facts = read_people()[0]
    salary = next(contract for contract in facts.contracts if contract.category.startswith("INCOME_SALARY"))
    without = exclude(facts, [salary])
    assert [contract.id for contract in without.excluded_contracts] == [salary.id]
    assert without.contracts == [contract for contract in facts.contracts if contract.id != salary.id]
