"""What makes contracts hard to see: changes midway, neighbours at one partner, slips, first debits."""

from collections import defaultdict
from datetime import timedelta
from itertools import pairwise

import pytest
from people_view import find_person, list_entries, list_finals, read_day

from kontor.connectors.demo.people import Entry, Person
from kontor.connectors.demo.people.descriptions import load_persona


def group_by_contract(person: Person) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = defaultdict(list)
    for account in person.accounts:
        for entry in list_finals(account):
            if entry.truth.contract is not None:
                groups[entry.truth.contract].append(entry)
    return groups


def is_renewed(person: Person, contract: str) -> bool:
    kind = person.login.partition("+")[0]
    plans = load_persona("test" if kind.startswith("test") else kind).agreements
    return any(plan.renewal is not None and contract.startswith(plan.key) for plan in plans)


def test_a_contract_has_one_iban_and_one_name_unless_the_partner_changes_them(person: Person) -> None:
    for contract, entries in group_by_contract(person).items():
        seen = {(entry.transaction.counterparty_iban, entry.transaction.counterparty_name) for entry in entries}
        assert len(seen) == 1 or is_renewed(person, contract), (contract, seen)


@pytest.mark.parametrize(
    ("login", "contract", "changed"),
    [
        ("familie", "dental", {"iban", "name"}),
        ("familie", "newspaper", {"mandate"}),
        ("hauskauf", "mobile", {"iban", "name", "mandate"}),
        ("rente", "hospital", {"iban"}),
        ("demo1", "electricity", {"iban", "name"}),
    ],
)
def test_a_contract_stays_the_same_when_the_partner_changes(login: str, contract: str, changed: set[str]) -> None:
    person = find_person(login)
    entries = [entry for entry in group_by_contract(person)[contract] if entry.truth.is_regular]
    assert sum(known.id == contract for known in person.contracts) == 1
    marks = {
        "iban": {entry.transaction.counterparty_iban for entry in entries},
        "name": {entry.transaction.counterparty_name for entry in entries},
        "mandate": {read_mandate(entry) for entry in entries} - {None},
    }
    assert {name for name, values in marks.items() if len(values) > 1} == changed
    assert all(len(values) <= 4 for values in marks.values())
    assert len({entry.truth for entry in entries}) == 1


def read_mandate(entry: Entry) -> str | None:
    """As far as this bank's style writes it whole."""
    purpose = entry.transaction.purpose or ""
    for mark in ("MREF+", "Mandatsref.: "):
        if mark in purpose:
            return purpose.partition(mark)[2].split()[0]
    return None


def test_two_contracts_at_one_partner_share_mandate_and_day_and_differ_in_number() -> None:
    for login, first, second in (
        ("familie", "private_liability", "home_contents"),
        ("hauskauf", "motor_full", "motor_liability"),
    ):
        person = find_person(login)
        contracts = {contract.id: contract for contract in person.contracts}
        assert contracts[first].partner == contracts[second].partner
        assert contracts[first].contract_numbers != contracts[second].contract_numbers
        assert contracts[first].contract_numbers
        groups = group_by_contract(person)
        assert {read_mandate(entry) for entry in groups[first]} == {read_mandate(entry) for entry in groups[second]}
        assert {read_day(entry) for entry in groups[first]} & {read_day(entry) for entry in groups[second]}


def test_contracts_and_single_purchases_happen_at_one_partner(everybody: list[Person]) -> None:
    found = set()
    for person in everybody:
        partners = {contract.partner for contract in person.contracts if contract.category != "TRANSFER_OWN"}
        found |= {
            (person.login, entry.truth.partner)
            for _, entry in list_entries(person)
            if entry.truth.contract is None and entry.truth.partner in partners and entry.transaction.amount < 0
        }
    assert {("familie", "Amazon"), ("demo1", "Amazon"), ("umzug", "Deutsche Bahn")} <= found


def test_doubled_payments_are_given_back(everybody: list[Person]) -> None:
    seen = 0
    for person in everybody:
        for entries in group_by_contract(person).values():
            for back in entries:
                if "DOPPELABBUCHUNG" not in (back.transaction.purpose or "").upper().replace(" ", ""):
                    continue
                seen += 1
                assert not back.truth.is_regular
                assert back.truth.category == "INCOME_OTHER"
                pair = [
                    entry
                    for entry in entries
                    if entry.transaction.amount == -back.transaction.amount
                    and timedelta(0) < read_day(back) - read_day(entry) < timedelta(days=14)
                ]
                assert len({read_day(entry) for entry in pair}) == 1
                assert sorted(entry.truth.is_regular for entry in pair) == [False, True]
    assert seen >= 2


def test_some_payments_are_missed() -> None:
    for login, contract in (("familie", "music_lessons"), ("demo1", "music_amazon")):
        days = [read_day(entry) for entry in group_by_contract(find_person(login))[contract]]
        assert len({(day.year, day.month) for day in days}) == len(days)
        gaps = [(next_day - day).days for day, next_day in pairwise(days)]
        assert sum(gap > 50 for gap in gaps) in (1, 2)


def test_the_first_debit_of_a_mandate_is_called_so(everybody: list[Person]) -> None:
    seen = 0
    for person in everybody:
        if load_style(person) != "tags":
            continue
        for entries in group_by_contract(person).values():
            mandates = set()
            for entry in entries:
                is_first = entry.transaction.booking_text == "ERSTLASTSCHRIFT"
                seen += is_first
                assert not is_first or read_mandate(entry) not in mandates
                mandates.add(read_mandate(entry))
            assert sum(entry.transaction.booking_text == "ERSTLASTSCHRIFT" for entry in entries) <= len(mandates)
    assert seen >= 10
    newspaper = group_by_contract(find_person("familie"))["newspaper"]
    firsts = [entry for entry in newspaper if entry.transaction.booking_text == "ERSTLASTSCHRIFT"]
    assert len({read_mandate(entry) for entry in newspaper}) - 1 == len(firsts)


def load_style(person: Person) -> str:
    kind = person.login.partition("+")[0]
    return load_persona("test" if kind.startswith("test") else kind).style
