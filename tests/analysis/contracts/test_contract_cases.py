"""Every difficulty in finding contracts, as a case that a person can read."""

from decimal import Decimal
from typing import Any

import pytest
from contract_cases import list_cases, read_case

from kontor.analysis.contracts import Contract, find_contracts

LISTS = {
    "regular": "transaction_ids_regular",
    "non_regular": "transaction_ids_non_regular",
    "transaction_ids": "transaction_ids",
}


def show(contract: Contract, name: str) -> Any:
    """A contract's field as the case files write it."""
    if name in LISTS:
        return sorted(getattr(contract, LISTS[name]))
    if name == "is_period_uncertain":
        return contract.period_confidence is not None and contract.period_confidence < 1
    if name == "regular_count":
        return len(contract.transaction_ids_regular)
    if name == "non_regular_count":
        return len(contract.transaction_ids_non_regular)
    if name in ("loan_installment", "loan_principal"):
        assert contract.loan is not None
        return str(contract.loan.installment if name == "loan_installment" else contract.loan.principal_estimate)
    value = getattr(contract, name)
    if isinstance(value, tuple):
        return list(value)
    return (
        value
        if value is None or isinstance(value, bool)
        else f"{value:f}"
        if isinstance(value, Decimal)
        else str(value)
    )


@pytest.mark.parametrize("name", list_cases())
def test_golden_case_gives_exactly_the_expected_contracts(name: str):
    case = read_case(name)
    found = find_contracts(case.records, case.accounts, case.today)
    assert len(found) == len(case.expected), [(entry.period, entry.transaction_ids) for entry in found]
    by_first = {number: contract for contract in found for number in contract.transaction_ids}
    for place, wanted in enumerate(case.expected):
        known = wanted.get("regular") or wanted.get("transaction_ids")
        contract = by_first[known[0]] if known else found[place]
        for field, value in wanted.items():
            if field == "non_regular_include":
                assert set(value) <= set(contract.transaction_ids_non_regular)
                continue
            value = sorted(value) if field in LISTS else value
            assert show(contract, field) == value, f"{field}: {contract.reasons}"
