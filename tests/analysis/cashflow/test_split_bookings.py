"""Bookings that the user has split: categories count the parts, contracts the booking."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from test_cashflow_properties import TODAY, categories, find, options_of_any_kind, recent

from kontor.analysis.budgets import make_budget
from kontor.analysis.cashflow import Focus, Options
from kontor.analysis.contracts import find_contracts
from kontor.analysis.duplicates import SharedAccount, join_accounts
from kontor.analysis.parts import split_records
from kontor.analysis.records import Account, Record
from many_examples import many_examples


@st.composite
def split_bookings(draw):
    """A booking with two to five parts of its sign, which add up to it."""
    sign = draw(st.sampled_from([1, -1]))
    cents = draw(st.lists(st.integers(1, 100_000), min_size=2, max_size=5))
    parts = tuple(Decimal(sign * amount).scaleb(-2) for amount in cents)
    return Record(
        id=str(draw(st.uuids())),
        account="giro",
        day=draw(recent),
        amount=sum(parts, Decimal(0)),
        category=draw(categories),
        currency=draw(st.sampled_from(["EUR", "EUR", "CHF"])),
        part_amounts=parts,
        part_categories=tuple(draw(st.lists(categories, min_size=len(parts), max_size=len(parts)))),
    )


def as_bookings(record):
    """Each part as a booking of its own."""
    return [structs.replace(part, id=f"{record.id}-{part.part}", part=0) for part in split_records([record])]


@many_examples(80)
@given(st.lists(split_bookings(), max_size=20), options_of_any_kind)
def test_sums_are_those_of_bookings_made_of_the_parts(records, options):
    options = replace(options, explain=False)
    parts = [part for record in records for part in as_bookings(record)]
    shown, expected = (
        [(flow.item, flow.statistics) for flow in find(bookings, options) if flow.statistics]
        for bookings in (records, parts)
    )
    assert shown == expected


@many_examples(80)
@given(st.lists(split_bookings(), max_size=20))
def test_contracts_do_not_see_the_parts(records):
    whole = [structs.replace(record, part_amounts=(), part_categories=()) for record in records]
    assert find_contracts(records, [], TODAY) == find_contracts(whole, [], TODAY)


@many_examples(80)
@given(st.lists(split_bookings(), max_size=20), options_of_any_kind)
def test_reasons_name_each_booking_once(records, options):
    for flow in find(records, replace(options, explain=True)):
        for reason in flow.reasons:
            assert max(Counter(reason.transaction_ids).values(), default=1) == 1


def make_months(**facts):
    return [
        Record(f"r{number}", "giro", TODAY.replace(day=2) - timedelta(days=30 * number), Decimal(-100), **facts)
        for number in range(1, 8)
    ]


def test_a_contract_whose_payments_are_split_is_not_expected_twice():
    facts = {"category": "BILLS_TELECOMMUNICATION", "counterparty_name": "Telekom", "purpose": "Festnetz Vertrag 123"}
    whole = make_months(**facts)
    halves = {"part_amounts": (Decimal(-60), Decimal(-40)), "part_categories": (facts["category"],) * 2}
    split = [structs.replace(record, **halves) for record in whole]
    assert find_contracts(whole, [], TODAY), "there is a contract"
    assert find(split) == find(whole)


def test_only_the_saved_part_of_a_booking_is_no_expense():
    record = Record("r", "giro", date(2026, 5, 4), Decimal(-100), "LIVING_GROCERIES",
                    part_amounts=(Decimal(-70), Decimal(-30)),
                    part_categories=("LIVING_GROCERIES", "SAVINGS_ACCOUNT"))  # fmt: skip
    totals = {flow.item: flow.statistics[0].amount for flow in find([record], Options(focus=Focus.TIME))}
    assert totals["LIVING_GROCERIES"] == -70
    assert totals["SAVINGS_ACCOUNT"] == -30
    assert totals["EXPENSES"] == -70


def test_a_budget_counts_the_parts():
    records = [
        structs.replace(
            record,
            part_amounts=(Decimal(-75), Decimal(-25)),
            part_categories=("LIVING_GROCERIES", "RECREATION_OTHER"),
        )
        for record in make_months(category="LIVING_GROCERIES")
    ]
    budget = make_budget(records, [], [], TODAY)
    assert budget is not None
    assert (budget.necessities.amount, budget.luxuries.amount) == (75, 25)


def test_parts_of_a_repeated_booking_hold_for_the_booking_that_is_kept():
    kept = Record("kept", "new", date(2026, 5, 4), Decimal(-100), "LIVING_GROCERIES")
    other = structs.replace(kept, id="other", account="old", part_amounts=(Decimal(-70), Decimal(-30)),
                    part_categories=("LIVING_GROCERIES", "HOUSING_OTHER"))  # fmt: skip
    shared = SharedAccount(("new", "old"), "new", {"other": "kept"})
    [record], _ = join_accounts([kept, other], [Account("new"), Account("old")], [shared])
    assert (record.id, record.part_amounts) == ("kept", (Decimal(-70), Decimal(-30)))
