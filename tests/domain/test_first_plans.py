"""The plan of a first delivery is made without comparing anything, and is the one that a comparison would make."""

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.merge_plans import plan_first, plan_merge
from kontor.domain.transactions import Transaction

DAYS = st.none() | st.sampled_from([datetime(2026, 11, day, 11, tzinfo=UTC) for day in (1, 2, 20)])
ROWS = st.builds(
    Transaction,
    amount=st.sampled_from([Decimal("1.00"), Decimal("-1.00"), Decimal("-20.50")]),
    currency=st.just("EUR"),
    booked_at=DAYS,
    value_at=DAYS,
    purpose=st.none() | st.sampled_from(["Miete", "EREF+4711 SVWZ+Miete"]),
    bank_id=st.none() | st.sampled_from(["a", "b"]),
    is_pending=st.booleans(),
    channel=st.sampled_from([None, "MT940", "XS2A"]),
)


@given(st.lists(ROWS, max_size=12), st.booleans())
def test_a_first_delivery_is_planned_as_a_merge_into_nothing(rows, keeps_pending):
    assert plan_first(rows) == plan_merge([], None, rows, (), keeps_pending=keeps_pending)
