"""Direct debits at the demo bank: accepted once, credited on their day, and never taken from demo accounts."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from demo_payer import TODAY, Payer, find_iban, make_order

from kontor.connectors.base import Failed, FailureKind, NeedTan, Pay
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.job_state import deserialize_job, serialize_job
from kontor.domain.mandates import DebitForm, DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.payments import PaymentOutcome
from kontor.domain.transactions import find_day

SATURDAY, MONDAY = date(2026, 11, 21), date(2026, 11, 23)
CREDITOR = "DE98ZZZ09999999999"


@pytest.fixture
def payer(settings):
    return Payer(settings.database_url)


def instruct(count=1, scheme=DebitScheme.CORE):
    mandates = tuple(Mandate(f"M-{number}", date(2026, 1, 31)) for number in range(count))
    return DebitInstruction(scheme, CREDITOR, SequenceType.RCUR, mandates)


def collect(payer, *orders, day=SATURDAY, scheme=DebitScheme.CORE, **facts):
    orders = orders or (make_order("10.00"),)
    return payer.pay(*orders, execution_date=day, debit=instruct(len(orders), scheme), **facts)


def test_a_direct_debit_is_accepted_and_credited_on_the_next_banking_day(payer):
    payment_id = uuid4()
    done = collect(payer, payment_id=payment_id)
    assert done.result.outcome is PaymentOutcome.ACCEPTED
    assert payer.look_up(payment_id) == (PaymentOutcome.ACCEPTED, None)
    assert payer.list_new() == []
    later = payer.on(MONDAY)
    assert later.look_up(payment_id) == (PaymentOutcome.EXECUTED, None)
    (row,) = later.list_new()
    assert (find_day(row), row.amount, row.booking_text, row.gv_code) == (
        MONDAY,
        Decimal("10.00"),
        "Lastschrifteinzug",
        "171",
    )
    assert row.purpose == f"EREF+NOTPROVIDED KREF+{payment_id.hex} MREF+M-0 CRED+{CREDITOR} SVWZ+Rechnung 4711"
    assert later.read_moved() == {payer.main.key: Decimal("10.00")}


def test_several_direct_debits_are_one_credit(payer):
    payment_id = uuid4()
    orders = (make_order("1.00"), make_order("2.50"))
    collect(payer, *orders, scheme=DebitScheme.B2B, payment_id=payment_id)
    (row,) = payer.on(MONDAY).list_new()
    assert (row.amount, row.gv_code, row.counterparty_iban) == (Decimal("3.50"), "196", None)
    assert f"KREF+{payment_id.hex}" in row.purpose


def test_a_debtor_at_the_demo_bank_is_not_debited(payer):
    other = payer.as_login("familie")
    other.fetch()
    collect(payer, make_order("10.00", other.main.iban))
    assert other.on(MONDAY).read_moved() == {}


def test_the_same_order_again_is_collected_once(payer):
    payment_id = uuid4()
    first, again = (collect(payer, payment_id=payment_id) for _ in range(2))
    assert first == again
    assert payer.on(MONDAY).read_moved() == {payer.main.key: Decimal("10.00")}


def test_an_order_that_was_asked_about_before_it_came_is_refused(payer):
    payment_id = uuid4()
    assert payer.look_up(payment_id)[0] is PaymentOutcome.NEVER
    assert collect(payer, payment_id=payment_id).kind is FailureKind.REJECTED


@pytest.mark.parametrize("day", [None, TODAY, TODAY + timedelta(days=366)])
def test_a_day_beyond_the_limits_is_refused(payer, day):
    assert collect(payer, day=day).kind is FailureKind.REJECTED


def test_an_account_that_cannot_collect_is_refused(payer):
    savings = next(account.product for account in payer.as_login("demo1").accounts if not account.product.debit_forms)
    failed = collect(payer.as_login("demo1"), product_key=savings.key)
    assert failed.kind is FailureKind.NOT_SUPPORTED


@pytest.mark.parametrize("scenario", [PayeeScenario.REFUSES, PayeeScenario.IS_CLOSED])
def test_a_debtors_bank_that_refuses_is_spoken_of_as_such(payer, scenario):
    failed = collect(payer, make_order("10.00", find_iban(scenario)))
    assert isinstance(failed, Failed)
    assert "Zahlungspflichtigen" in (failed.detail or "")


def test_a_lost_answer_is_an_unknown_outcome_that_the_bank_knows(payer):
    payment_id = uuid4()
    failed = collect(payer, make_order("10.00", find_iban(PayeeScenario.DIES_AFTER_BOOKING)), payment_id=payment_id)
    assert failed.is_outcome_unknown
    assert payer.look_up(payment_id) == (PaymentOutcome.ACCEPTED, None)


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "Lastschrift über 10,00 EUR von Erika Muster, IBAN DE89370400440532013000, fällig am 21.11.2026."),
        (2, "Sammellastschrift mit 2 Aufträgen über zusammen 20,00 EUR, fällig am 21.11.2026."),
    ],
)
def test_the_customer_confirms_what_is_collected_from_whom_and_when(payer, count, words):
    step = payer.ask_tan(*[make_order("10.00")] * count, execution_date=SATURDAY, debit=instruct(count))
    assert isinstance(step, NeedTan)
    assert step.challenge.instructions.startswith(words)


def test_every_checking_account_takes_every_form(payer):
    assert payer.main.debit_forms == tuple(DebitForm)


def test_a_job_survives_in_the_state_and_a_transfer_is_written_as_before():
    job = Pay(uuid4(), "1", (make_order(),), execution_date=SATURDAY, debit=instruct())
    assert deserialize_job(serialize_job(job)) == job
    assert "debit" not in serialize_job(Pay(uuid4(), "1", (make_order(),)))
