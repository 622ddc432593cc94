"""Which bookings are direct debits, of which scheme, and which were given back."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

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
    assert find_scheme(replace(record(), amount=Decimal("45.00"))) is None


def test_a_debit_has_its_mandate_and_both_rights():
    [debit] = list_debits([record()], TODAY)
    assert (debit.amount, debit.mandate, debit.creditor_id) == (Decimal("45.00"), "M-4711", "DE98ZZZ09999999999")
    assert [right.ground for right in debit.rights] == [ReturnGround.WITHOUT_REASON, ReturnGround.UNAUTHORISED]


def test_what_cannot_be_returned_any_more_is_left_out_and_the_latest_is_first():
    days = (1, 57, 395, 500)
    records = [replace(record(), id=f"r{age}", day=TODAY - timedelta(days=age)) for age in days]
    assert [(debit.id, len(debit.rights)) for debit in list_debits(records, TODAY)] == [
        ("r1", 2),
        ("r57", 1),
        ("r395", 1),
    ]


def give_back(**facts):
    text = {"gv_code": "", "booking_text": "RUECKLASTSCHRIFT"}
    return replace(record(**text), id="back", amount=Decimal("45.00"), day=date(2026, 11, 9), **facts)


def test_a_debit_that_was_given_back_says_when_and_cannot_be_returned_again():
    older = replace(record(), id="older", day=date(2026, 10, 2))
    latest, before = list_debits([older, record(), give_back()], TODAY)
    assert (latest.id, latest.returned_on, latest.rights) == ("r", date(2026, 11, 9), ())
    assert (before.id, before.returned_on, len(before.rights)) == ("older", None, 2)


@pytest.mark.parametrize(
    "facts", [{"amount": Decimal("44.00")}, {"account": "other"}, {"purpose": "MREF+M-1 x"}, {"day": date(2026, 11, 1)}]
)
def test_money_that_does_not_fit_gives_nothing_back(facts):
    [debit] = list_debits([record(), replace(give_back(), **facts)], TODAY)
    assert debit.returned_on is None
