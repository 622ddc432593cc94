"""Standing orders: how a bank's list is matched with what is stored, and what is refused."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.cleaning import clean_standing_order
from kontor.domain.order_checks import OrderError
from kontor.domain.payments import Order
from kontor.domain.schedules import Period, Schedule, StandingAction
from kontor.domain.standing_orders import (
    StandingOrder,
    StandingState,
    StoredStandingOrder,
    check_schedule,
    is_new_payee,
    match_orders,
)

TODAY = date(2026, 11, 17)
RENT = Order("Vermieter", "DE89370400440532013000", Decimal("800.00"), purpose="Miete")
MONTHLY = Schedule(Period.MONTH_ONE, date(2026, 12, 1))
PRODUCT = UUID(int=1)
LISTED = st.lists(
    st.builds(
        StandingOrder,
        st.builds(replace, st.just(RENT), amount=st.sampled_from((Decimal("1.00"), Decimal("2.00")))),
        st.just(MONTHLY),
        st.one_of(st.none(), st.sampled_from(("A", "B", "C", "D"))),
    ),
    max_size=6,
)


def store(*orders):
    return [StoredStandingOrder(uuid4(), PRODUCT, order) for order in orders]


def test_an_order_keeps_its_id_by_the_banks_name():
    (known,) = store(StandingOrder(RENT, MONTHLY, "DA1"))
    dearer = StandingOrder(replace(RENT, amount=Decimal("850.00")), MONTHLY, "DA1")
    assert match_orders([known], [dearer]) == ([replace(known, standing=dearer)], [])


def test_an_order_that_the_bank_has_renamed_keeps_its_id_by_its_content():
    (known,) = store(StandingOrder(RENT, MONTHLY, "DA1"))
    renamed = StandingOrder(RENT, MONTHLY, "DA2")
    assert match_orders([known], [renamed]) == ([replace(known, standing=renamed)], [])


def test_a_name_counts_more_than_equal_content():
    first, second = store(StandingOrder(RENT, MONTHLY, "DA1"), StandingOrder(RENT, MONTHLY, "DA2"))
    matched, new = match_orders([first, second], [StandingOrder(RENT, MONTHLY, "DA2")])
    assert ([order.is_listed for order in matched], new) == ([False, True], [])


def test_what_the_bank_no_longer_lists_has_ended_and_comes_back_when_listed_again():
    (known,) = store(StandingOrder(RENT, MONTHLY, "DA1"))
    (gone,), _ = match_orders([known], [])
    assert gone.find_state(TODAY) is StandingState.ENDED
    (back,), _ = match_orders([gone], [known.standing])
    assert back == known
    assert back.find_state(TODAY) is StandingState.ACTIVE


def test_an_order_ends_after_its_last_execution():
    (known,) = store(StandingOrder(RENT, replace(MONTHLY, last=date(2027, 1, 15))))
    assert known.find_state(date(2027, 1, 1)) is StandingState.ACTIVE
    assert known.find_state(date(2027, 1, 2)) is StandingState.ENDED


@given(LISTED, LISTED)
def test_every_listed_order_is_matched_once_or_new(before, after):
    stored = store(*before)
    matched, new = match_orders(stored, after)
    assert [order.id for order in matched] == [order.id for order in stored]
    found = [order.standing for order in matched if order.is_listed]
    assert sorted(map(repr, [*found, *new])) == sorted(map(repr, after))
    again, nothing = match_orders(matched, after)
    assert len(nothing) == len(new)
    assert [order.is_listed for order in again].count(True) == len(found)


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (replace(MONTHLY, first=TODAY - timedelta(days=1)), "firstExecutionDate"),
        (replace(MONTHLY, last=date(2026, 11, 30)), "lastExecutionDate"),
    ],
)
def test_days_that_make_no_sense_are_refused(schedule, field):
    with pytest.raises(OrderError) as raised:
        check_schedule(schedule, TODAY)
    assert raised.value.field == field


def test_an_order_that_is_changed_may_keep_its_first_day():
    old = replace(MONTHLY, first=date(2025, 1, 1))
    check_schedule(replace(old, last=date(2027, 1, 1)), TODAY, old)
    with pytest.raises(OrderError):
        check_schedule(replace(old, first=date(2025, 2, 1)), TODAY, old)
    with pytest.raises(OrderError):
        check_schedule(replace(old, last=date(2026, 11, 16)), TODAY, old)


def test_a_payee_is_new_with_another_iban_only():
    other = replace(RENT, iban="DE02120300000000202051")
    assert is_new_payee(StandingAction.CREATE, RENT, None)
    assert not is_new_payee(StandingAction.CHANGE, replace(RENT, recipient="Frau Vermieter"), RENT)
    assert is_new_payee(StandingAction.CHANGE, other, RENT)
    assert not is_new_payee(StandingAction.DELETE, other, RENT)


def test_texts_of_a_bank_can_be_stored():
    dirty = StandingOrder(replace(RENT, recipient="Ver\x00mieter", amount=Decimal("NaN")), MONTHLY, "D\x00A")
    clean = clean_standing_order(dirty)
    assert (clean.order.recipient, clean.order.amount, clean.key) == ("Vermieter", Decimal("0.00"), "DA")
