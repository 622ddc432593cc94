"""What a statement proves about a payment whose answer was lost."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from fints_payer import TODAY, Payer, order, tan, to

from kontor.connectors.base import Pay
from kontor.connectors.demo.payees import PayeeScenario
from kontor.connectors.fints.paying import find_outcome
from kontor.domain.payments import PaymentOutcome
from kontor.domain.transactions import Transaction

NOON = datetime(2026, 11, 12, 11, tzinfo=UTC)
ID = UUID("7d0f9f0c-5b1e-4f6f-9c55-2f3b9a6d1e01")


def pay(*orders, **facts):
    return Pay(ID, "1", orders or (order("12.34"),), **facts)


def row(amount, purpose, **facts):
    return Transaction(Decimal(amount), "EUR", NOON, purpose=purpose, **facts)


def name(number):
    return f"{ID.hex[:29]}-{number}"


THREE = (order("1.00"), order("2.00"), order("1.00"))
BOOKED = tuple(row(f"-{part.amount}", f"EREF+{name(place)} SVWZ+Rechnung") for place, part in enumerate(THREE, 1))


@pytest.mark.parametrize(
    "purpose",
    [f"EREF+{ID.hex} SVWZ+Rechnung", f"EREF+{ID.hex[:20]} {ID.hex[20:]}SVWZ+Rechnung", f"KREF+{ID.hex} SVWZ+Rechnung"],
)
def test_an_order_that_stands_there_under_our_reference_is_executed(purpose):
    assert find_outcome([row("-12.34", purpose)], pay(), TODAY) is PaymentOutcome.EXECUTED
    assert find_outcome([row("-12.34", purpose, is_pending=True)], pay(), TODAY) is PaymentOutcome.ACCEPTED
    assert find_outcome([row("12.34", purpose), row("-12.35", purpose)], pay(), TODAY) is PaymentOutcome.UNKNOWN


def test_an_id_that_the_caller_has_used_before_proves_nothing():
    again = pay(order("12.34", end_to_end_id="RE-4711"))
    earlier = row("-12.34", "EREF+RE-4711 SVWZ+Rechnung 4711")
    assert find_outcome([earlier], again, TODAY) is PaymentOutcome.UNKNOWN
    ours = row("-12.34", f"EREF+RE-4711 KREF+{ID.hex} SVWZ+Rechnung 4711")
    assert find_outcome([earlier, ours], again, TODAY) is PaymentOutcome.EXECUTED


def test_a_part_of_a_bulk_proves_nothing_about_the_rest():
    bulk = pay(*THREE, is_bulk=True)
    assert find_outcome(BOOKED, bulk, TODAY) is PaymentOutcome.EXECUTED
    for missing in range(3):
        some = [booking for place, booking in enumerate(BOOKED) if place != missing]
        assert find_outcome(some, bulk, TODAY) is PaymentOutcome.UNKNOWN
    waiting = (*BOOKED[:2], replace(BOOKED[2], is_pending=True))
    assert find_outcome(waiting, bulk, TODAY) is PaymentOutcome.ACCEPTED
    assert find_outcome([row("-4.00", f"EREF+{ID.hex} SVWZ+Sammler")], bulk, TODAY) is PaymentOutcome.EXECUTED


def test_equal_orders_of_a_bulk_need_a_row_each():
    twice = pay(*(order("5.00", end_to_end_id="MIETE"),) * 2, is_bulk=True)
    booking = row("-5.00", f"EREF+MIETE KREF+{ID.hex} SVWZ+Miete")
    assert find_outcome([booking], twice, TODAY) is PaymentOutcome.UNKNOWN
    assert find_outcome([booking, replace(booking, bank_id="2")], twice, TODAY) is PaymentOutcome.EXECUTED


def test_the_tenth_order_of_a_bulk_is_not_the_first():
    bulk = pay(*(order("1.00") for _ in range(10)), is_bulk=True)
    rows = [row("-1.00", f"EREF+{name(10)} SVWZ+x", bank_id=str(place)) for place in range(10)]
    assert find_outcome(rows, bulk, TODAY) is PaymentOutcome.UNKNOWN


def test_a_bank_that_has_booked_the_same_id_before_does_not_make_a_lost_order_executed(bank):
    payer = Payer(bank, f"test_bank_message+{uuid4().hex[:8]}")
    first = payer.make(order("12.34", end_to_end_id="RE-4711"))
    payer.drive(first, (tan("24"),))
    lost = payer.make(to(PayeeScenario.DIES_BEFORE_BOOKING, end_to_end_id="RE-4711"))
    assert payer.drive(lost, (tan("24"),))[-1].is_outcome_unknown
    assert payer.look_up(lost) is PaymentOutcome.UNKNOWN
