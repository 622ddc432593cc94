"""Details of a payment as they are typed, and what a payment's state is called: no guesses, no false failure."""

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import uuid4

import pytest

from form_client import DETAILS
from kontor.domain.payments import Order, PayeeMatch, Payment, PaymentFailure, PaymentKind, PaymentState
from kontor.domain.principals import Principal
from kontor.domain.redirects import Failure, FormSession, FormStep, RedirectOutcome, UseCase, find_payment_outcome
from kontor.services.redirects.payments import FAILURES
from kontor.webform.payment_forms import read_details
from kontor.webform.texts import load_texts

TEXTS = load_texts()
DE = TEXTS["de"]
ORDER = Order("Erika", DETAILS["iban"], Decimal("1.00"), bic="COBADEFFXXX")


@pytest.mark.parametrize(
    ("language", "text", "amount"),
    [
        ("de", "12", "12"),
        ("de", "12,5", "12.50"),
        ("de", "12.50", "12.50"),
        ("de", "1.234,56", "1234.56"),
        ("de", "1.234", "1234"),
        ("de", "1 234,56 €", "1234.56"),
        ("en", "1,234.56", "1234.56"),
        ("en", "1,234", "1234"),
        ("en", "12,50", "12.50"),
        ("de", "1,234", None),
        ("en", "1.234", None),
        ("de", "1.23.4", None),
        ("de", "-5", None),
        ("de", "0,00", None),
        ("de", "1e3", None),
        ("de", "9999999999", None),
        ("de", "", None),
        ("de", "٣", None),
    ],
)
def test_amounts_are_read_as_they_are_written_and_never_guessed(language, text, amount):
    values = {"recipient": "Erika", "iban": ORDER.iban, "amount": text}
    details, errors, _ = read_details(lambda name: values.get(name, ""), ORDER, TEXTS[language])
    if amount is None:
        assert (details, set(errors)) == (None, {"amount"})
    else:
        assert details is not None
        assert (details.order.amount, details.order.bic) == (Decimal(amount), "COBADEFFXXX")


@pytest.mark.parametrize(
    ("text", "day"), [("", None), ("2026-12-31", date(2026, 12, 31)), ("1.2.2027", date(2027, 2, 1))]
)
def test_dates_come_from_the_browser_or_are_typed(text, day):
    values = {"recipient": "Erika", "iban": ORDER.iban, "amount": "1", "date": text}
    details, _, _ = read_details(lambda name: values.get(name, ""), ORDER, DE)
    assert details is not None
    assert details.execution_date == day


# Words and outcomes


def make_case(state, step=FormStep.SCA, notice=None, fence=None):
    now = datetime.now(UTC)
    principal = Principal(uuid4(), "t", False, uuid4(), "app", frozenset(), uuid4(), uuid4())
    session = FormSession(uuid4(), principal, UseCase.INITIATE_PAYMENT, "", None, step, now, notice=notice)
    failure = PaymentFailure.REJECTED if state is PaymentState.FAILED else None
    payment = Payment(
        uuid4(), uuid4(), uuid4(), uuid4(), PaymentKind.SINGLE, state, (ORDER,), (ORDER,), False, b"", now, now,
        failure=failure, fence=fence,
    )  # fmt: skip
    return session, payment


def test_a_payment_is_called_failed_only_where_no_money_moved():
    for state in PaymentState:
        for step in FormStep:
            for notice in (None, *Failure):
                outcome = find_payment_outcome(*make_case(state, step, notice))
                if state.may_have_moved_money and state is not PaymentState.SENDING:
                    assert outcome in (RedirectOutcome.FINISHED, RedirectOutcome.BACKEND_ERROR)
                else:
                    assert outcome not in (RedirectOutcome.FINISHED, RedirectOutcome.BACKEND_ERROR)


@pytest.mark.parametrize("state", [PaymentState.OPEN, PaymentState.SENDING])
def test_nothing_is_said_while_the_bank_has_it(state):
    assert find_payment_outcome(*make_case(state, fence=7)) is None


def test_every_failure_outcome_and_match_has_its_words():
    assert set(FAILURES) == set(PaymentFailure)
    for texts in TEXTS.values():
        for outcome in RedirectOutcome:
            if outcome is not RedirectOutcome.ACCOUNT_CREATED:
                assert texts(f"payment_end.{outcome}")
                assert texts(f"payment_end.{outcome}_text")
        for match in PayeeMatch:
            if match is not PayeeMatch.MATCH:
                assert all(texts(f"payees.{match.lower()}.{part}") for part in ("title", "text", "advice", "short"))
