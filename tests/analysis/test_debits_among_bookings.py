"""Which bookings are direct debits, of which scheme, and which were given back."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from msgspec import structs

from kontor.analysis.debit_returns import find_scheme, list_debits
from kontor.analysis.records import Record
from kontor.domain.debit_returns import BookedScheme, ReturnGround

TODAY = date(2026, 11, 15)
MANDATE = "EREF+1 MREF+M-4711 CRED+DE98ZZZ09999999999 SVWZ+Beitrag"


def record(**facts):
    given = {"booking_text": "FOLGELASTSCHRIFT", "gv_code": "105", "purpose": MANDATE, "counterparty_name": "Verein"}
    iban = {"counterparty_iban": "DE02120300000000202051"}
    return Record("r", "giro", date(2026, 11, 2), Decimal("-45.00"), "BILLS_OTHER", **(given | iban | facts))


@pytest.mark.parametrize(
    ("facts", "scheme"),
    [
        ({}, BookedScheme.CORE),
        ({"gv_code": "104"}, BookedScheme.B2B),
        ({"gv_code": "107", "booking_text": "SEPA-ELV-LASTSCHRIFT", "purpose": ""}, BookedScheme.CORE),
        ({"gv_code": "106", "booking_text": "Lastschrift Karte"}, None),
        ({"gv_code": "116", "booking_text": "Überweisung"}, None),
        ({"gv_code": "109", "booking_text": "RUECKLASTSCHRIFT"}, None),
        ({"gv_code": "", "booking_text": "Basislastschrift"}, BookedScheme.CORE),
        ({"gv_code": "", "booking_text": "SEPA-Firmenlastschrift"}, BookedScheme.B2B),
        ({"gv_code": "", "booking_text": "Lastschrift", "purpose": ""}, BookedScheme.UNKNOWN),
        ({"gv_code": "", "booking_text": ""}, BookedScheme.UNKNOWN),
        ({"gv_code": "", "booking_text": "", "purpose": "Miete"}, None),
        ({"gv_code": "", "booking_text": "VISA Debitkartenumsatz"}, None),
        ({"gv_code": "NTRF+105"}, BookedScheme.CORE),
        ({"gv_code": "000"}, BookedScheme.CORE),
        ({"is_pending": True}, None),
    ],
)
def test_the_code_of_the_bank_decides_and_without_one_its_text(facts, scheme):
    assert find_scheme(record(**facts)) is scheme


@pytest.mark.parametrize(("code", "scheme"), [("105", BookedScheme.CORE), ("104", BookedScheme.B2B), ("", None)])
def test_a_debit_by_its_code_stays_one_where_its_text_names_the_fee_of_a_returned_debit(code, scheme):
    purpose = f"Beitrag 10/26 zzgl. Ruecklastschriftgebuehr {MANDATE}"
    assert find_scheme(record(gv_code=code, booking_text="", purpose=purpose)) is scheme


def test_money_that_comes_in_is_no_debit():
    assert find_scheme(structs.replace(record(), amount=Decimal("45.00"))) is None


def test_a_debit_has_its_mandate_and_both_rights():
    [debit] = list_debits([record()], TODAY)
    assert (debit.amount, debit.mandate, debit.creditor_id) == (Decimal("45.00"), "M-4711", "DE98ZZZ09999999999")
    assert [right.ground for right in debit.rights] == [ReturnGround.WITHOUT_REASON, ReturnGround.UNAUTHORISED]


def test_what_cannot_be_returned_any_more_is_left_out_and_the_latest_is_first():
    days = (1, 57, 395, 500)
    records = [structs.replace(record(), id=f"r{age}", day=TODAY - timedelta(days=age)) for age in days]
    assert [(debit.id, len(debit.rights)) for debit in list_debits(records, TODAY)] == [
        ("r1", 2),
        ("r57", 1),
        ("r395", 1),
    ]


def give_back(**facts):
    text = {"gv_code": "", "booking_text": "RUECKLASTSCHRIFT"}
    return structs.replace(record(**text), id="back", amount=Decimal("45.00"), day=date(2026, 11, 9), **facts)


def test_a_debit_that_was_given_back_says_when_and_cannot_be_returned_again():
    older = structs.replace(record(), id="older", day=date(2026, 10, 2))
    latest, before = list_debits([older, record(), give_back()], TODAY)
    assert (latest.id, latest.returned_on, latest.rights) == ("r", date(2026, 11, 9), ())
    assert (before.id, before.returned_on, len(before.rights)) == ("older", None, 2)


@pytest.mark.parametrize(
    "facts", [{"amount": Decimal("44.00")}, {"account": "other"}, {"purpose": "MREF+M-1 x"}, {"day": date(2026, 11, 1)}]
)
def test_money_that_does_not_fit_gives_nothing_back(facts):
    [debit] = list_debits([record(), structs.replace(give_back(), **facts)], TODAY)
    assert debit.returned_on is None


def give_back_bare(**facts):
    """A return without mandate and IBAN, by default without a name."""
    bare = {"gv_code": "159", "purpose": "", "counterparty_iban": "", "counterparty_name": ""}
    return structs.replace(give_back(), **(bare | facts))


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"counterparty_name": "VEREIN"},
        {"counterparty_name": "Hausbank"},
        {"gv_code": "181", "booking_text": ""},
        {"gv_code": ""},
    ],
)
def test_a_return_without_mandate_and_iban_belongs_to_the_only_debit_of_its_amount(facts):
    [debit] = list_debits([record(), give_back_bare(**facts)], TODAY)
    assert (debit.returned_on, debit.rights) == (date(2026, 11, 9), ())


def list_returned(*records):
    return [debit.id for debit in list_debits(records, TODAY) if debit.returned_on]


OLDER = structs.replace(record(), id="older", day=date(2026, 10, 2))
OTHER = structs.replace(record(counterparty_name="Strom", purpose="MREF+M-2"), id="other", day=date(2026, 11, 3))


def test_of_several_debits_of_the_amount_the_name_of_the_creditor_decides_and_without_it_none_is_returned():
    assert list_returned(OLDER, record(), OTHER, give_back_bare(counterparty_name="Verein")) == ["r"]
    assert list_returned(OLDER, record(), OTHER, give_back_bare()) == []


def test_a_debit_that_is_named_by_its_mandate_is_taken_before_one_is_found_by_amount():
    bare = structs.replace(give_back_bare(), id="bare", day=date(2026, 11, 8))
    assert sorted(list_returned(record(), OTHER, bare, give_back())) == ["other", "r"]


@pytest.mark.parametrize(
    "facts",
    [
        {"booking_text": "RUECKUEBERWEISUNG"},
        {"gv_code": "166", "purpose": "Erstattung Ruecklastschriftgebuehr"},
        {"counterparty_iban": "DE89370400440532013000"},
        {"purpose": "MREF+M-1 x"},
        {"amount": Decimal("44.00")},
        {"account": "other"},
        {"currency": "CHF"},
        {"day": date(2026, 11, 1)},
        {"is_pending": True},
    ],
)
def test_money_that_is_no_return_or_names_another_debit_is_not_matched_by_amount(facts):
    [debit] = list_debits([record(), give_back_bare(**facts)], TODAY)
    assert debit.returned_on is None
