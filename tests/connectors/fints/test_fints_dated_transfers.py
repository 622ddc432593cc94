"""Dated transfers over FinTS: ordered by HKCSE and HKCME, accepted and not executed, and found in the bank's list."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest
from fints_payer import FRIEND, TODAY, Payer, know_bank, order, overheard, tan, to

from kontor.connectors.base import AcceptPayees, Done, FailureKind, LookUp
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.fints.dated_transfers import has_dated
from kontor.connectors.fints.parameters import BankParameters
from kontor.connectors.pain001 import Batch, write_pain001
from kontor.connectors.pain001_reading import read_pain001
from kontor.connectors.pain_messages import Party
from kontor.domain.payments import PaymentOutcome

SMALL = "test_bank_message"
DAY = date(2026, 12, 1)
THREE = (order("1.00"), order("2.00"), order("0.01"))
ORDERS = frozenset(("HKCCS", "HKCCM", "HKIPZ", "HKIPM", "HKCSE", "HKCME"))
MOCK = (tan("24"),)
NOON = datetime(2026, 11, 13, 11, tzinfo=UTC)


@pytest.fixture
def pay_as(bank):
    return lambda login=SMALL, **facts: Payer(bank, f"{login}+{uuid4().hex[:8]}", **facts)


@pytest.mark.parametrize(
    ("login", "answers", "orders", "code"),
    [
        (SMALL, MOCK, (order(),), "HKCSE"),
        ("test_vop_nomatch", (AcceptPayees(), *MOCK), (order(),), "HKCSE"),
        (SMALL, MOCK, THREE, "HKCME"),
    ],
)
def test_a_later_day_makes_a_dated_order_that_is_accepted_and_not_executed(pay_as, login, answers, orders, code):
    payer = pay_as(login)
    before = payer.read_balance()
    with overheard() as sent:
        done = payer.drive(payer.make(*orders, is_bulk=len(orders) > 1, execution_date=DAY), answers)[-1]
    assert done == Done(replace(done.result, outcome=PaymentOutcome.ACCEPTED), done.connector_state)
    submissions = [message for message in sent if set(message.codes) & ORDERS]
    assert {next(iter(set(message.codes) & ORDERS)) for message in submissions} == {code}
    place = 5 if code == "HKCME" else 3
    (block,) = read_pain001(submissions[0].find(code).read_binary(place))
    assert (block.day, len(block.orders)) == (DAY, len(orders))
    assert payer.read_balance() == before


def test_a_transfer_for_today_is_no_dated_one(pay_as):
    payer = pay_as()
    with overheard() as sent:
        done = payer.drive(payer.make(execution_date=TODAY), MOCK)[-1]
    assert done.result.outcome is PaymentOutcome.EXECUTED
    assert any("HKCCS" in message.codes for message in sent)


@pytest.mark.parametrize("days", [366, 4000])
def test_a_day_beyond_the_limits_of_the_bank_is_refused_and_nothing_leaves(pay_as, days):
    payer = pay_as()
    with overheard() as sent:
        failed = payer.begin(payer.make(execution_date=TODAY + timedelta(days=days)))
    assert (failed.kind, failed.detail) == (
        FailureKind.REJECTED,
        "Die Bank nimmt Aufträge für höchstens 365 Tage im Voraus an.",
    )
    assert payer.asked == 0
    assert not [message for message in sent if set(message.codes) & ORDERS]


@pytest.mark.parametrize(("command", "is_bulk"), [("HICSES", False), ("HICMES", True)])
def test_a_bank_without_dated_transfers_is_sent_nothing(pay_as, monkeypatch, command, is_bulk):
    find_newest = BankParameters.find_newest

    def find_other(parameters, asked, versions):
        return None if command == f"HI{asked[2:]}S" else find_newest(parameters, asked, versions)

    monkeypatch.setattr(BankParameters, "find_newest", find_other)
    payer = pay_as()
    with overheard() as sent:
        failed = payer.begin(payer.make(*(THREE if is_bulk else ()), is_bulk=is_bulk, execution_date=DAY))
    assert failed.kind is FailureKind.NOT_SUPPORTED
    assert payer.asked == 0
    assert not [message for message in sent if set(message.codes) & ORDERS]


def test_a_lost_dated_order_that_the_bank_lists_is_accepted_and_never_sent_again(pay_as):
    payer = pay_as()
    lost = payer.make(to(PayeeScenario.DIES_AFTER_BOOKING), execution_date=DAY)
    assert payer.drive(lost, MOCK)[-1].is_outcome_unknown
    payer.asked = 0
    with overheard() as sent:
        assert payer.look_up(lost) is PaymentOutcome.ACCEPTED
    assert any("HKCSB" in message.codes for message in sent)
    assert not [message for message in sent if set(message.codes) & ORDERS]
    assert payer.asked == 0


def test_a_dated_order_that_the_bank_does_not_list_stays_unknown(pay_as):
    payer = pay_as()
    payer.drive(payer.make(to(PayeeScenario.DIES_AFTER_BOOKING), execution_date=DAY), MOCK)  # an equal one
    lost = payer.make(to(PayeeScenario.DIES_BEFORE_BOOKING), execution_date=DAY)
    assert payer.drive(lost, MOCK)[-1].is_outcome_unknown
    assert payer.look_up(lost) is PaymentOutcome.UNKNOWN


def test_the_list_is_not_asked_about_a_transfer_without_a_later_day(pay_as):
    payer = pay_as()
    with overheard() as sent:
        assert payer.look_up(payer.make()) is PaymentOutcome.UNKNOWN
    assert not any("HKCSB" in message.codes for message in sent)


def test_a_list_that_needs_a_tan_is_not_asked_for(pay_as, monkeypatch):
    needs_tan = BankParameters.needs_tan
    monkeypatch.setattr(
        BankParameters, "needs_tan", lambda known, command: command == "HKCSB" or needs_tan(known, command)
    )
    payer = pay_as()
    with overheard() as sent:
        assert payer.look_up(payer.make(execution_date=DAY)) is PaymentOutcome.UNKNOWN
    assert not any("HKCSB" in message.codes for message in sent)


def list_as_bank(job, *, block=None, reference=None, amount=None):
    """What a bank lists about a job, under its own names where it has such."""
    shown = replace(job.orders[0], end_to_end_id=reference, amount=amount or job.orders[0].amount)
    batch = Batch(block or "BANK", (shown,), job.execution_date)
    return read_pain001(write_pain001(Party("Erika", FRIEND), batch, NOON))


def test_only_a_reference_of_ours_proves_a_listed_order(pay_as):
    job = pay_as().make(execution_date=DAY)
    assert has_dated(list_as_bank(job, reference=job.payment_id.hex), job)
    assert has_dated(list_as_bank(job, block=job.payment_id.hex, reference="x"), job)
    assert not has_dated(list_as_bank(job, reference="NOTPROVIDED"), job)
    assert not has_dated(list_as_bank(job, reference=job.payment_id.hex, amount=job.orders[0].amount + 1), job)
    named = replace(job, orders=(replace(job.orders[0], end_to_end_id="RE-1"),))
    assert not has_dated(list_as_bank(named, reference="RE-1"), named)
    assert has_dated(list_as_bank(named, block=named.payment_id.hex, reference="RE-1"), named)


def test_the_parameters_of_dated_transfers_are_read(bank):
    known = BankParameters.deserialize(know_bank(bank))
    limits = known.find_parameter("HKCSE")
    assert (limits.min_days, limits.max_days) == (1, 365)
    assert known.find_parameter("HKCME").max_transfer_count == 1000
    assert known.find_newest("HKCSB", (1,)) == 1


def test_a_look_up_of_a_dated_order_asks_nobody_to_authenticate(pay_as):
    payer = pay_as(is_present=False)
    job = payer.make(execution_date=DAY)
    assert payer.begin(LookUp(job)).result.outcome is PaymentOutcome.UNKNOWN
