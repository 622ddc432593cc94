"""Anonymised cases: nobody is recognised, and the contracts are still the same."""

from datetime import date

import pytest

from kontor.analysis.anonymising import anonymise, load_vocabulary
from kontor.analysis.contracts import find_contracts
from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.analysis.tagging.folding import fold
from kontor.cli.cases import make_case
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN
from kontor.services.analyses.analyses import Facts

TODAY = date(2026, 11, 15)


@pytest.fixture(scope="module")
def familie():
    """A person's bookings as the analyses see them, tags from the truth."""
    person = person_for("familie", TODAY)
    assert person is not None
    records = [
        Record(
            id=f"{account.key}-{number}",
            account=account.key,
            day=entry.transaction.booked_at.astimezone(BERLIN).date(),
            amount=entry.transaction.amount,
            category=entry.truth.category,
            insurance_type=entry.truth.insurance_type,
            partner=NO_PARTNER,
            purpose=entry.transaction.purpose or "",
            counterparty_name=entry.transaction.counterparty_name or "",
            counterparty_iban=entry.transaction.counterparty_iban or "",
            currency=entry.transaction.currency,
        )
        for account in person.accounts
        for number, entry in enumerate(account.entries)
        if not entry.transaction.is_pending
    ]
    accounts = [
        Account(id=account.key, holder=account.product.holder, iban=account.product.iban or "", data_until=TODAY)
        for account in person.accounts
    ]
    return records, accounts


def test_no_name_iban_or_long_number_survives(familie):
    records, accounts = familie
    hidden, hidden_accounts = anonymise(records, accounts)
    text = "\n".join(
        f"{record.counterparty_name} {record.counterparty_iban} {record.purpose}" for record in hidden
    ).lower()
    text += "\n".join(f"{account.holder} {account.iban} {account.name}" for account in hidden_accounts).lower()
    words = set(fold(text).split())
    names = {
        part
        for record in records
        for part in fold(record.counterparty_name).split()
        if len(part) > 3 and part.isalpha()
    }
    names |= {part for account in accounts for part in fold(account.holder).split()}
    assert names & words <= load_vocabulary() | {"firma", "person", "inhaber", "gmbh"}
    assert not {record.counterparty_iban.lower() for record in records if record.counterparty_iban} & set(text.split())
    assert not {account.iban.lower() for account in accounts if account.iban} & set(text.split())


def test_the_same_counterparty_stays_the_same_and_ibans_stay_valid(familie):
    records, accounts = familie
    hidden, _ = anonymise(records, accounts)
    ordered = sorted(records, key=lambda record: (record.day, record.id))
    pairs = {(old.counterparty_iban, new.counterparty_iban) for old, new in zip(ordered, hidden, strict=True)}
    assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
    for _, iban in pairs:
        if iban:
            moved = iban[4:] + "1314" + iban[2:4]
            assert int(moved) % 97 == 1


def test_the_contracts_are_found_as_before(familie):
    records, accounts = familie
    before = find_contracts(records, accounts, TODAY)
    hidden, hidden_accounts = anonymise(records, accounts)
    after = find_contracts(hidden, hidden_accounts, TODAY)
    assert abs(len(before) - len(after)) <= len(before) // 10
    assert sorted(contract.period for contract in before if contract.is_income) == sorted(
        contract.period for contract in after if contract.is_income
    )


def test_an_exported_case_reads_as_the_case_files_do(familie):
    records, accounts = familie
    case = make_case(Facts("user", records, accounts, TODAY))
    assert set(case) == {"why", "today", "accounts", "transactions", "expected"}
    assert {"id", "account", "day", "amount", "category"} <= set(case["transactions"][0])
    known = {transaction["id"] for transaction in case["transactions"]}
    assert all(set(contract["regular"]) <= known for contract in case["expected"])
