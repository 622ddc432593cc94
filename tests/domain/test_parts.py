"""Parts of a transaction: accepted exactly when they have its sign and add up to it."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.errors import InvalidError
from kontor.domain.parts import MAX_PARTS, Part, check_parts
from many_examples import many_examples

cents = st.integers(-300, 300)


def make_parts(amounts):
    return [Part(Decimal(amount).scaleb(-2), "LIVING_OTHER", {}) for amount in amounts]


@many_examples(400)
@given(st.lists(cents, max_size=MAX_PARTS + 2), cents)
def test_parts_fit_exactly_when_they_have_the_sign_and_add_up(amounts, total):
    is_split = 2 <= len(amounts) <= MAX_PARTS and sum(amounts) == total
    fits = not amounts or (is_split and all(amount * total > 0 for amount in amounts))
    try:
        check_parts(make_parts(amounts), Decimal(total).scaleb(-2), "teile")
    except InvalidError:
        assert not fits
    else:
        assert fits


@many_examples(200)
@given(st.lists(st.integers(1, 10**20), min_size=2, max_size=MAX_PARTS), st.sampled_from([1, -1]))
def test_parts_that_add_up_fit_and_a_cent_more_or_less_does_not(amounts, sign):
    parts = make_parts([sign * amount for amount in amounts])
    total = sum((part.amount for part in parts), Decimal(0))
    check_parts(parts, total, "teile")
    for wrong in (total + Decimal("0.01"), total - Decimal("0.01"), -total):
        with pytest.raises(InvalidError, match="teile"):
            check_parts(parts, wrong, "teile")


def test_every_part_of_the_other_sign_is_named():
    with pytest.raises(InvalidError, match=r"teile\[0\].*; teile\[2\]"):
        check_parts(make_parts([1, -5, 0]), Decimal("-0.04"), "teile")
