"""Direct debits before a bank sees them: creditor identifiers, days, mandates."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.direct_debits import (
    SEPA_COUNTRIES,
    DebitsNotAllowedError,
    check_debit_support,
    check_debits,
    make_instruction,
    read_creditor_id,
)
from kontor.domain.mandates import DebitForm, DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.order_checks import OrderError, OrderProblem
from kontor.domain.payments import Order
from kontor.domain.products import Product, ProductCategory

TODAY = date(2026, 11, 17)
DUE = date(2026, 11, 20)
CREDITOR = "DE98ZZZ09999999999"  # the Bundesbank's own example
ORDER = Order("Erika Mustermann", "DE89370400440532013000", Decimal("12.30"), purpose="Beitrag")
MANDATE = Mandate("M-1", date(2026, 1, 31))
DEBIT = DebitInstruction(DebitScheme.CORE, CREDITOR, SequenceType.RCUR, (MANDATE,))


def make_creditor_id(country: str, business: str, number: str) -> str:
    """As the European Payments Council describes it, by plain arithmetic on letters as two digits."""
    digits = "".join(str(ord(sign) - 55) if sign.isalpha() else sign for sign in f"{number}{country}00")
    remainder = 0
    for digit in digits:
        remainder = (remainder * 10 + int(digit)) % 97
    return f"{country}{98 - remainder:02d}{business}{number}"


@pytest.mark.parametrize("text", [CREDITOR, "de98 zzz0 9999 9999 99", "DE98ABC09999999999", "AT61ZZZ01234567890"])
def test_valid_creditor_identifiers_are_read_without_blanks_and_in_capitals(text):
    assert read_creditor_id(text) == "".join(text.split()).upper()


@given(
    st.sampled_from(sorted(SEPA_COUNTRIES - {"DE"})),
    st.text("ABCXYZ0189", min_size=3, max_size=3),
    st.text("ABCXYZ0123456789", min_size=1, max_size=28),
    st.integers(0, 98),
)
def test_the_check_digits_are_those_of_mod_97_and_leave_out_the_business_code(country, business, number, other):
    valid = make_creditor_id(country, business, number)
    assert read_creditor_id(valid) == valid
    wrong = f"{country}{other:02d}{business}{number}"
    assert read_creditor_id(wrong) == (wrong if wrong == valid else None)


@pytest.mark.parametrize(
    "text",
    [
        "", "DE", "DE98ZZZ", "DE99ZZZ09999999999", "DE98ZZZ0999999999", "DE98ZZZ099999999990", "DE98ZZZ0999999999A",
        "98DEZZZ09999999999", make_creditor_id("US", "ZZZ", "12345"), make_creditor_id("FR", "ZZZ", "1" * 29),
        "DE98-ZZZ-09999999999", "ＤＥ98ZZZ09999999999",
    ],
)  # fmt: skip
def test_what_is_no_creditor_identifier_is_none(text):
    assert read_creditor_id(text) is None


def test_a_direct_debit_is_normalised_as_the_bank_gets_it():
    given = replace(ORDER, recipient="Erika Müller", iban="de89 3704 0044 0532 0130 00")
    orders, debit = check_debits((given,), replace(DEBIT, creditor_id="de98zzz09999999999"), DUE, TODAY)
    assert (orders[0].recipient, orders[0].iban, debit) == ("Erika Mueller", ORDER.iban, DEBIT)


def test_a_wrong_creditor_identifier_is_not_allowed():
    with pytest.raises(DebitsNotAllowedError, match=r"^creditorId: "):
        check_debits((ORDER,), replace(DEBIT, creditor_id="DE99ZZZ09999999999"), DUE, TODAY)


@pytest.mark.parametrize(
    ("order", "mandate", "day", "field"),
    [
        ({"recipient": " "}, {}, DUE, "debits[0].debtor"),
        ({"iban": "DE00"}, {}, DUE, "debits[0].iban"),
        ({"iban": "BR1800360305000010009795493C1"}, {}, DUE, "debits[0].iban"),
        ({"bic": "X"}, {}, DUE, "debits[0].bic"),
        ({"amount": Decimal(0)}, {}, DUE, "debits[0].amount"),
        ({"currency": "USD"}, {}, DUE, "debits[0].currency"),
        ({"currency": "Euro"}, {}, DUE, "debits[0].currency"),
        ({"purpose": "x" * 141}, {}, DUE, "debits[0].purpose"),
        ({"end_to_end_id": "ä"}, {}, DUE, "debits[0].endToEndId"),
        ({}, {"id": ""}, DUE, "debits[0].mandateId"),
        ({}, {"id": "M" * 36}, DUE, "debits[0].mandateId"),
        ({}, {"id": "Mandat_1"}, DUE, "debits[0].mandateId"),
        ({}, {"signed_on": TODAY + timedelta(days=1)}, DUE, "debits[0].mandateDate"),
        ({}, {}, TODAY, "requestedCollectionDate"),
        ({}, {}, TODAY - timedelta(days=1), "requestedCollectionDate"),
        ({}, {}, None, "requestedCollectionDate"),
    ],
)
def test_every_wrong_field_is_named(order, mandate, day, field):
    wrong = replace(DEBIT, mandates=(replace(MANDATE, **mandate),))
    with pytest.raises(OrderError) as caught:
        check_debits((replace(ORDER, **order),), wrong, day, TODAY)
    assert (caught.value.problem, caught.value.field) == (OrderProblem.DATA, field)


def test_several_sequence_types_are_refused_because_a_bank_takes_one_per_order():
    mandates = [(MANDATE, SequenceType.FRST), (MANDATE, SequenceType.FRST), (MANDATE, SequenceType.RCUR)]
    assert make_instruction(DebitScheme.B2B, CREDITOR, mandates[:2]).form is DebitForm.B2B_BULK
    with pytest.raises(OrderError) as caught:
        make_instruction(DebitScheme.B2B, CREDITOR, mandates)
    assert caught.value.field == "debits[2].sequenceType"


def test_a_product_takes_the_forms_that_its_bank_offers_and_no_others():
    product = Product("1", ProductCategory.CHECKING, "Giro", "Anna", debit_forms=(DebitForm.CORE_SINGLE,))
    check_debit_support(product, DEBIT)
    for other in (replace(DEBIT, scheme=DebitScheme.B2B), replace(DEBIT, mandates=(MANDATE, MANDATE))):
        with pytest.raises(OrderError) as caught:
            check_debit_support(product, other)
        assert caught.value.problem is OrderProblem.NOT_POSSIBLE
