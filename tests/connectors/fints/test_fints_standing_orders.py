"""Standing orders over FinTS: HKCDE, HKCDN, HKCDL and HKCDB, as other clients write and read them."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from fints_payer import TODAY, Payer, know_bank, order, overheard, tan, to

from kontor.connectors.base import AcceptPayees, Continue, Done, FailureKind, Fetch, LookedUp, LookUp, Pay, Progress
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.fints.parameters import BankParameters
from kontor.connectors.fints.segments import StandingDetails1
from kontor.connectors.fints.sessions import RefusedError
from kontor.connectors.fints.standing_orders import StandingList, find_standing_outcome, read_list
from kontor.connectors.fints.transport import NoResponseError
from kontor.connectors.pain001 import Batch, write_pain001
from kontor.connectors.pain001_reading import PaymentBlock, read_pain001
from kontor.connectors.pain_messages import Party
from kontor.domain.payments import PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction
from kontor.domain.standing_orders import StandingOrder

SMALL = "test_bank_message"
FIRST = date(2026, 12, 31)
MONTHLY = Schedule(Period.MONTH_ONE, FIRST)
CODES = frozenset(("HKCDE", "HKCDN", "HKCDL"))
MOCK = (tan("24"),)
RENT = order("800.00")


@pytest.fixture
def pay_as(bank):
    return lambda login=SMALL, **facts: Payer(bank, f"{login}+{uuid4().hex[:8]}", **facts)


def make(payer, action=StandingAction.CREATE, key=None, schedule=MONTHLY, given=RENT, **facts):
    return payer.make(given, standing=StandingInstruction(action, schedule, key), **facts)


def list_orders(payer):
    steps = [payer.begin(Fetch())]
    assert isinstance(steps[0], Progress), steps
    done = payer.resume(steps[0], Continue())
    assert isinstance(done, Done)
    return done.result.standing_orders[payer.account], steps[0].partial.products[0]


@pytest.mark.parametrize("schedule", [
    MONTHLY,
    replace(MONTHLY, last=date(2027, 12, 31)),
    Schedule(Period.MONTH_TWO, FIRST),
    Schedule(Period.MONTH_THREE, FIRST),
    Schedule(Period.MONTH_SIX, FIRST),
    Schedule(Period.YEAR_ONE, FIRST),
    Schedule(Period.WEEK_ONE, FIRST),
    Schedule(Period.WEEK_TWO, FIRST),
])  # fmt: skip
def test_a_standing_order_is_created_and_listed_with_its_schedule(pay_as, schedule):
    payer = pay_as()
    before = payer.read_balance()
    done = payer.drive(make(payer, schedule=schedule), MOCK)[-1]
    assert done.result.outcome is PaymentOutcome.EXECUTED
    (listed,), product = list_orders(payer)
    assert (listed.schedule, listed.key) == (schedule, done.result.standing_key)
    assert (listed.order.iban, listed.order.amount, listed.order.purpose) == (RENT.iban, RENT.amount, RENT.purpose)
    assert product.standing_order_actions == tuple(StandingAction)
    assert payer.read_balance() == before


def test_the_segment_carries_account_document_and_details(pay_as):
    payer = pay_as()
    job = make(payer, schedule=replace(MONTHLY, last=date(2027, 12, 31)))
    with overheard() as sent:
        payer.drive(job, MOCK)
    segment = next(message for message in sent if "HKCDE" in message.codes).find("HKCDE")
    assert segment.read(1, 0) == payer.account
    assert segment.read_group(4) == ("20261231", "M", "1", "31", "20271231")
    (block,) = read_pain001(segment.read_binary(3))
    assert (block.id, block.day, len(block.orders)) == (job.payment_id.hex, date(1999, 1, 1), 1)


def test_a_change_keeps_the_name_and_a_deletion_ends_it(pay_as):
    payer = pay_as()
    key = payer.drive(make(payer), MOCK)[-1].result.standing_key
    dearer = replace(MONTHLY, period=Period.MONTH_THREE)
    change = make(payer, StandingAction.CHANGE, key, dearer, order("850.00"), is_payee_accepted=True)
    with overheard() as sent:
        changed = payer.drive(change, MOCK)[-1]
    assert next(message for message in sent if "HKCDN" in message.codes).find("HKCDN").read(5) == key
    assert (changed.result.outcome, changed.result.standing_key) == (PaymentOutcome.EXECUTED, key)
    (listed,), _ = list_orders(payer)
    assert (listed.order.amount, listed.schedule, listed.key) == (Decimal("850.00"), dearer, key)
    delete = make(payer, StandingAction.DELETE, key, dearer, order("850.00"), is_payee_accepted=True)
    with overheard() as sent:
        assert payer.drive(delete, MOCK)[-1].result.outcome is PaymentOutcome.EXECUTED
    submitted = next(message for message in sent if "HKCDL" in message.codes)
    assert submitted.find("HKCDL").read(5) == key
    assert "HKVPP" not in submitted.codes
    assert list_orders(payer)[0] == ()


def test_a_payee_who_does_not_match_is_asked_about(pay_as):
    payer = pay_as("test_vop_nomatch")
    assert payer.drive(make(payer), (AcceptPayees(), *MOCK))[-1].result.outcome is PaymentOutcome.EXECUTED


@pytest.mark.parametrize("action", [StandingAction.CHANGE, StandingAction.DELETE])
def test_an_order_that_the_bank_does_not_have_is_refused(pay_as, action):
    payer = pay_as()
    job = make(payer, action, "DA4711", is_payee_accepted=True)
    assert payer.drive(job, MOCK)[-1].kind is FailureKind.REJECTED


@pytest.mark.parametrize("first", [TODAY, TODAY + timedelta(days=366)])
def test_a_first_day_beyond_the_limits_of_the_bank_is_refused_and_nothing_leaves(pay_as, first):
    payer = pay_as()
    with overheard() as sent:
        assert payer.begin(make(payer, schedule=replace(MONTHLY, first=first))).kind is FailureKind.REJECTED
    assert payer.asked == 0
    assert not [message for message in sent if set(message.codes) & CODES]


@pytest.mark.parametrize(("action", "command"), list(zip(StandingAction, ("HKCDE", "HKCDN", "HKCDL"), strict=True)))
def test_a_bank_without_the_business_is_sent_nothing_and_the_product_says_so(pay_as, monkeypatch, action, command):
    find_newest = BankParameters.find_newest
    monkeypatch.setattr(
        BankParameters,
        "find_newest",
        lambda known, asked, versions: None if asked == command else find_newest(known, asked, versions),
    )
    payer = pay_as()
    with overheard() as sent:
        assert payer.begin(make(payer, action, "DA1")).kind is FailureKind.NOT_SUPPORTED
    assert payer.asked == 0
    assert not [message for message in sent if set(message.codes) & CODES]
    assert action not in list_orders(payer)[1].standing_order_actions


def test_a_bank_without_a_list_leaves_what_is_stored(pay_as, monkeypatch):
    needs_tan = BankParameters.needs_tan
    monkeypatch.setattr(
        BankParameters, "needs_tan", lambda known, command: command == "HKCDB" or needs_tan(known, command)
    )
    payer = pay_as()
    step = payer.begin(Fetch())
    assert payer.resume(step, Continue()).result.standing_orders == {}


@pytest.mark.parametrize("error", [NoResponseError("gone"), AttributeError("unreadable"), RefusedError("REJECTED")])
def test_a_bank_that_fails_at_the_list_has_told_everything_else(pay_as, monkeypatch, error):
    def fail(session, account, form):
        raise error

    monkeypatch.setattr("kontor.connectors.fints.standing_orders.list_segments", fail)
    payer = pay_as()
    done = payer.resume(payer.begin(Fetch()), Continue())
    assert payer.account in done.result.transactions
    assert done.result.standing_orders == {}


class Listed:
    """A HICDB segment."""

    def __init__(self, key, interval=1, document=None):
        batch = Batch("BANK", (RENT,), date(1999, 1, 1))
        written = write_pain001(Party("Anna", "DE89370400440532013000"), batch, datetime(2026, 11, 13, tzinfo=UTC))
        self.sepa_pain_message = written if document is None else document
        self.order_id = key
        self.details = StandingDetails1(FIRST, "M", interval, 31, None)


def test_an_order_that_cannot_be_read_makes_the_list_incomplete_and_one_in_another_interval_does_not():
    found = read_list([Listed("DA1"), Listed("DA2", interval=4)])
    assert ([order.key for order in found.orders], found.is_complete, found.other_keys) == (["DA1"], True, ("DA2",))
    assert not read_list([Listed("DA1"), Listed("DA2", document=b"<pain")]).is_complete


def test_many_standing_orders_are_read_page_by_page(pay_as):
    payer = pay_as()
    for _ in range(3):
        payer.drive(make(payer), MOCK)
    payer.bank.bank._options = replace(payer.bank.bank._options, page_rows=2)
    try:
        orders, _ = list_orders(payer)
    finally:
        payer.bank.bank._options = replace(payer.bank.bank._options, page_rows=500)
    assert len({listed.key for listed in orders}) == 3


# Look-ups


def test_a_lost_creation_that_the_bank_lists_is_executed_and_never_sent_again(pay_as):
    payer = pay_as()
    lost = make(payer, given=to(PayeeScenario.DIES_AFTER_BOOKING))
    assert payer.drive(lost, MOCK)[-1].is_outcome_unknown
    payer.asked = 0
    with overheard() as sent:
        done = payer.begin(LookUp(lost))
    (listed,), _ = list_orders(payer)
    assert done.result == LookedUp(PaymentOutcome.EXECUTED, standing_key=listed.key)
    assert not [message for message in sent if set(message.codes) & CODES]
    assert payer.asked == 0


def test_a_lost_creation_that_the_bank_does_not_list_stays_unknown(pay_as):
    payer = pay_as()
    payer.drive(make(payer, given=to(PayeeScenario.DIES_AFTER_BOOKING)), MOCK)  # an equal one
    lost = make(payer, given=to(PayeeScenario.DIES_BEFORE_BOOKING))
    assert payer.drive(lost, MOCK)[-1].is_outcome_unknown
    assert payer.look_up(lost) is PaymentOutcome.UNKNOWN


def show(job, key, schedule=MONTHLY, given=RENT, *, is_complete=True):
    block = PaymentBlock("BANK", "BANK", job.product_key, (given,))
    return StandingList(((StandingOrder(given, schedule, key), block),), is_complete)


@pytest.fixture
def job():
    return Pay(uuid4(), "DE1", (RENT,), standing=StandingInstruction(StandingAction.CREATE, MONTHLY))


def test_a_deletion_is_proven_by_a_complete_list_without_the_order(job):
    gone = replace(job, standing=StandingInstruction(StandingAction.DELETE, MONTHLY, "DA1"))
    assert find_standing_outcome(show(job, "DA2"), gone)[0] is PaymentOutcome.EXECUTED
    assert find_standing_outcome(show(job, "DA2", is_complete=False), gone)[0] is PaymentOutcome.UNKNOWN
    assert find_standing_outcome(show(job, "DA1"), gone)[0] is PaymentOutcome.UNKNOWN
    every_four_months = replace(show(job, "DA2"), other_keys=("DA1",))
    assert find_standing_outcome(every_four_months, gone)[0] is PaymentOutcome.UNKNOWN
    nameless = replace(job, standing=StandingInstruction(StandingAction.DELETE, MONTHLY))
    assert find_standing_outcome(show(job, "DA2"), nameless)[0] is PaymentOutcome.UNKNOWN


def test_a_change_is_proven_by_the_order_as_it_was_to_become(job):
    changed = replace(job, standing=StandingInstruction(StandingAction.CHANGE, MONTHLY, "DA1"))
    assert find_standing_outcome(show(job, "DA1"), changed) == (PaymentOutcome.EXECUTED, "DA1")
    old = replace(RENT, amount=Decimal("700.00"))
    assert find_standing_outcome(show(job, "DA1", given=old), changed)[0] is PaymentOutcome.UNKNOWN
    assert find_standing_outcome(show(job, "DA2"), changed)[0] is PaymentOutcome.UNKNOWN


def test_an_equal_order_without_our_reference_proves_no_creation(job):
    assert find_standing_outcome(show(job, "DA1"), job)[0] is PaymentOutcome.UNKNOWN
    ours = show(job, "DA1", given=replace(RENT, end_to_end_id=job.payment_id.hex))
    assert find_standing_outcome(ours, job) == (PaymentOutcome.EXECUTED, "DA1")


def test_the_parameters_of_standing_orders_are_read(bank):
    limits = BankParameters.deserialize(know_bank(bank)).find_parameter("HKCDE")
    assert (limits.min_days, limits.max_days, limits.month_intervals) == (1, 365, "0102030612")
