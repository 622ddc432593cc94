"""Standing orders at the demo bank: noted once, listed, changed, deleted, and executed on banking days."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import takewhile
from uuid import uuid4

import psycopg
import pytest
from demo_payer import TODAY, Payer, find_iban, make_order
from hypothesis import given
from hypothesis import strategies as st

from kontor.connectors.base import (
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    LookUp,
    NeedConfirmation,
    NeedPayeeDecision,
    NeedTan,
    Pay,
    Progress,
)
from kontor.connectors.demo.memory import find_owner
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.demo.people.banking_days import is_banking_day, move_to_banking_day
from kontor.connectors.demo.standing_orders import find_active, list_executions
from kontor.domain.demo_books import StandingOrderAction
from kontor.domain.payments import PaymentOutcome
from kontor.domain.schedules import Period, Schedule, StandingAction, StandingInstruction
from kontor.domain.transactions import find_day
from kontor.storage.demo_bank import DemoBankMemory

SATURDAY = date(2026, 11, 14)
MONTHLY = Schedule(Period.MONTH_ONE, date(2026, 11, 30))
RENT = make_order("100.00", purpose="Miete")


@pytest.fixture
def payer(settings):
    return Payer(settings.database_url)


def create(payer, order=RENT, schedule=MONTHLY, **facts):
    standing = StandingInstruction(StandingAction.CREATE, schedule)
    return payer.pay(order, standing=standing, **facts)


def instruct(payer, action, key, order=RENT, schedule=MONTHLY):
    return payer.pay(order, standing=StandingInstruction(action, schedule, key))


def list_orders(payer):
    progress = payer.begin(Fetch())
    assert isinstance(progress, Progress)
    done = payer.resume(progress.state, Continue())
    assert isinstance(done, Done)
    return done.result.standing_orders


def list_booked(payer):
    return [(find_day(row), row.amount, row.booking_text) for row in payer.list_new()]


def test_a_standing_order_is_listed_and_pays_nothing_yet(payer):
    done = create(payer)
    assert done.result.outcome is PaymentOutcome.EXECUTED
    (listed,) = list_orders(payer)[payer.main.key]
    assert (listed.order, listed.schedule, listed.key) == (RENT, MONTHLY, done.result.standing_key)
    assert payer.read_moved() == {}


def test_a_bank_that_pays_twice_makes_two_of_a_repeated_creation_and_repeats_a_change_on_the_same_order(settings):
    payer = Payer(settings.database_url)
    bank = DemoBankMemory(settings.database_url, "https://bank.example/confirm", pays_twice=True)
    owner = find_owner(payer.login, payer.context)
    action = StandingOrderAction(uuid4(), payer.main.key, "DA1", StandingAction.CREATE, RENT, MONTHLY, TODAY)
    payment_id, second = uuid4(), uuid4()
    changed = replace(action, payment_id=payment_id, kind=StandingAction.CHANGE, order=replace(RENT, amount=Decimal(7)))
    deleted = replace(action, payment_id=second, kind=StandingAction.DELETE)
    outcomes = [
        bank.record_standing_order_action(owner, ordered).outcome for ordered in (action, action, changed, changed)
    ]
    assert outcomes == [PaymentOutcome.EXECUTED] * 4
    active = find_active(bank.list_standing_order_actions(owner))
    assert sorted((found.name == "DA1", found.order.amount) for found in active) == [(False, 100), (True, 7)]
    outcomes = [bank.record_standing_order_action(owner, ordered).outcome for ordered in (deleted, deleted)]
    assert outcomes == [PaymentOutcome.EXECUTED, PaymentOutcome.REJECTED]
    assert [found.name == "DA1" for found in find_active(bank.list_standing_order_actions(owner))] == [False]


def test_it_is_executed_on_its_days_and_once_each(payer):
    create(payer)
    assert list_booked(payer.on(date(2026, 11, 29))) == []
    for _ in range(2):  # however often anybody looks
        later = payer.on(date(2027, 3, 1))
        assert list_booked(later) == [
            (date(2026, 11, 30), Decimal("-100.00"), "Dauerauftrag"),
            (date(2026, 12, 30), Decimal("-100.00"), "Dauerauftrag"),
            (date(2027, 2, 1), Decimal("-100.00"), "Dauerauftrag"),  # 30 January is a Saturday
            (date(2027, 3, 1), Decimal("-100.00"), "Dauerauftrag"),  # 28 February is a Sunday
        ]


def test_a_change_counts_from_its_day_on_and_a_deletion_ends_it(payer):
    key = create(payer, schedule=Schedule(Period.WEEK_ONE, TODAY)).result.standing_key
    later = payer.on(TODAY + timedelta(days=7))
    dearer = replace(RENT, amount=Decimal("120.00"))
    changed = instruct(later, StandingAction.CHANGE, key, dearer, Schedule(Period.WEEK_ONE, TODAY))
    assert (changed.result.outcome, changed.result.standing_key) == (PaymentOutcome.EXECUTED, key)
    (listed,) = list_orders(later)[payer.main.key]
    assert (listed.order.amount, listed.key) == (Decimal("120.00"), key)
    last = payer.on(TODAY + timedelta(days=20))
    assert instruct(last, StandingAction.DELETE, key).result.outcome is PaymentOutcome.EXECUTED
    assert list_orders(last)[payer.main.key] == ()
    amounts = [amount for _, amount, _ in list_booked(payer.on(TODAY + timedelta(days=90)))]
    assert amounts == [Decimal("-100.00"), Decimal("-120.00"), Decimal("-120.00")]


@pytest.mark.parametrize("action", [StandingAction.CHANGE, StandingAction.DELETE])
def test_what_is_not_there_is_neither_changed_nor_deleted(payer, action):
    key = create(payer).result.standing_key
    assert instruct(payer, action, "DA0").kind is FailureKind.REJECTED
    instruct(payer, StandingAction.DELETE, key)
    assert instruct(payer, action, key).kind is FailureKind.REJECTED
    assert instruct(replace(payer, customer="another"), action, key).kind is FailureKind.REJECTED


def test_the_same_order_twice_is_one_standing_order(payer):
    payment_id = uuid4()
    first, second = create(payer, payment_id=payment_id), create(payer, payment_id=payment_id)
    assert first == second
    assert len(list_orders(payer)[payer.main.key]) == 1


@pytest.mark.parametrize(
    ("scenario", "outcome", "count"),
    [
        (PayeeScenario.DIES_AFTER_BOOKING, PaymentOutcome.EXECUTED, 1),
        (PayeeScenario.DIES_BEFORE_BOOKING, PaymentOutcome.NEVER, 0),
    ],
)
def test_a_lost_answer_is_looked_up_and_nothing_is_ordered_again(payer, scenario, outcome, count):
    order = replace(RENT, iban=find_iban(scenario))
    job = Pay(uuid4(), payer.main.key, (order,), standing=StandingInstruction(StandingAction.CREATE, MONTHLY))
    lost = create(payer, order, payment_id=job.payment_id)
    assert lost.is_outcome_unknown
    looked_up = payer.begin(LookUp(job)).result
    assert looked_up.outcome is outcome
    listed = list_orders(payer)[payer.main.key]
    assert len(listed) == count
    assert not count or looked_up.standing_key == listed[0].key


def test_what_would_never_be_executed_is_refused(payer):
    for schedule in (
        replace(MONTHLY, first=TODAY - timedelta(days=1)),
        replace(MONTHLY, first=SATURDAY + timedelta(days=9), last=SATURDAY),
    ):
        failed = create(payer, schedule=schedule)
        assert isinstance(failed, Failed)
        assert failed.kind is FailureKind.REJECTED
    assert list_orders(payer)[payer.main.key] == ()


def test_the_payee_is_verified_and_the_challenge_names_the_standing_order(settings):
    payer = Payer(settings.database_url, login="test_vop_nomatch")
    job = Pay(uuid4(), payer.main.key, (RENT,), standing=StandingInstruction(StandingAction.CREATE, MONTHLY))
    assert isinstance(payer.begin(job), NeedPayeeDecision)
    asked = payer.ask_tan(RENT, standing=job.standing)
    assert isinstance(asked, NeedTan | NeedConfirmation)
    assert "Einrichtung des Dauerauftrags über 100,00 EUR an Erika Muster" in asked.challenge.instructions


def test_an_execution_without_funds_is_not_booked(payer):
    create(payer, replace(RENT, amount=Decimal("90000000.00")))
    assert list_booked(payer.on(date(2027, 1, 1))) == []


def test_the_books_of_standing_orders_are_append_only(payer, settings):
    create(payer)
    with psycopg.connect(settings.database_url.reveal()) as connection, pytest.raises(psycopg.Error):
        connection.execute("update demo_bank_standing_orders set name = 'x'")


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(("A", "B")),
        st.sampled_from(StandingAction),
        st.sampled_from(Period),
        st.dates(date(2026, 1, 1), date(2027, 6, 30)),
        st.integers(0, 60),
    ),
    max_size=6,
)


@given(ACTIONS, st.dates(date(2026, 1, 1), date(2028, 1, 1)))
def test_every_execution_is_booked_on_the_next_banking_day_and_none_comes_twice(drawn, today):
    start, actions = date(2026, 1, 1), []
    for name, kind, period, first, days in drawn:
        start += timedelta(days=days)
        actions.append(StandingOrderAction(uuid4(), "giro", name, kind, RENT, Schedule(period, first), start))
    due = list_executions(actions, today)
    assert len({(action.name, day) for action, day in due}) == len(due)
    for action, day in due:
        booked = move_to_banking_day(day, 1)
        assert is_banking_day(booked)
        assert day <= booked <= today
        assert day >= action.valid_from
        assert action.kind is not StandingAction.DELETE
        assert day in takewhile(lambda found: found <= day, action.schedule.list_days())  # noqa: B023
