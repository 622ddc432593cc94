"""A contract keeps its id while at least half of its bookings stay, whatever else happens to it."""

import random
from datetime import date
from decimal import Decimal
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from kontor.analysis.contracts import Contract, Status, group_rows, list_bookings, list_known, name_contracts
from kontor.analysis.contracts.descriptions import make_id
from kontor.domain.contracts import KnownContract
from many_examples import many_examples

DAY = date(2026, 11, 2)
AMOUNTS = dict.fromkeys(
    ("amount_first", "amount_latest", "amount_maximum", "amount_mean", "amount_median", "amount_minimum",
     "amount_total", "amount_total_regular", "amount_total_non_regular", "standard_deviation", "growth_rate"),
    Decimal(1),
)  # fmt: skip


def make_contract(*rows):
    return Contract(
        id=make_id(rows[0]), category="HOUSING_RENT", period="MONTH_ONE", status=Status.ACTIVE, is_income=False,
        currency="EUR", accounts=("giro",), transaction_ids=rows, transaction_ids_regular=rows,
        transaction_ids_non_regular=(), date_first=DAY, date_latest=DAY, date_start=DAY, days_age=0, **AMOUNTS,
    )  # fmt: skip


class History:
    """Bookings of a user, the contracts that they are taken for, and what was kept of them."""

    def __init__(self):
        self.known = []
        self.repeated = {}
        self.existing = set()

    def find(self, *groups, repeated=None, others=()):
        """The ids of contracts with these rows. `others` are rows that belong to none."""
        self.repeated = repeated or {}
        self.existing = {row for group in groups for row in group} | set(self.repeated) | set(others)
        found = name_contracts([make_contract(*group) for group in groups], self.known, self.repeated)
        before, self.known = self.known, list_known(found, self.known, self.repeated, self.existing)
        again = name_contracts([make_contract(*group) for group in groups], self.known, self.repeated)
        assert [contract.id for contract in again] == [contract.id for contract in found], "not the same for the same"
        self.check(before, found)
        return [contract.id for contract in found]

    def check(self, before, found):
        """The rule, word by word."""
        ids = [contract.id for contract in found]
        assert len(set(ids)) == len(ids), "two contracts have one id"
        rows = group_rows(self.repeated)
        members = [{row for booking in list_bookings(contract, rows) for row in booking} for contract in found]
        claims = {
            (earlier.id, number)
            for earlier in before
            for number, own in enumerate(members)
            if 2 * sum(not own.isdisjoint(booking) for booking in earlier.bookings) >= len(earlier.bookings)
        }
        known = {earlier.id for earlier in before}
        for number, contract_id in enumerate(ids):
            assert contract_id not in known or (contract_id, number) in claims, "less than half has stayed"
        for earlier_id, number in claims:
            rivals = {other for other, claimed in claims if claimed == number}
            assert earlier_id in ids or len(rivals) > 1, "at least half has stayed, and nobody else claims it"


def test_the_id_of_a_new_contract_follows_from_its_first_regular_payment():
    assert History().find(["a", "b"]) == [make_id("a")]


def test_a_contract_keeps_its_id_when_its_first_half_goes_and_loses_it_when_more_goes():
    history = History()
    [first] = history.find(list("abcd"))
    assert history.find(list("cd")) == [first]
    assert history.find(list("defg")) == [first]
    assert history.find(list("ghij"), others="f") != [first]


def test_a_contract_that_grows_keeps_its_id():
    history = History()
    [first] = history.find(["m"])
    assert history.find(list("abcdefghijklm")) == [first]


def test_rows_of_another_access_that_repeat_the_bookings_keep_the_id_also_when_they_alone_are_left():
    history = History()
    [first] = history.find(["a1", "b1", "c1"])
    assert history.find(["a2", "b2", "c2"], repeated={"a1": "a2", "b1": "b2", "c1": "c2"}) == [first]
    assert history.find(["a3", "b3", "c3"], repeated={"a1": "a3", "a2": "a3", "b1": "b3", "c2": "c3"}) == [first]
    assert history.find(["a3", "b3", "c3"]) == [first]


def test_of_two_contracts_that_become_one_the_larger_keeps_its_id_and_both_have_theirs_when_they_part():
    history = History()
    small, large = history.find(list("ab"), list("cdefg"))
    assert history.find(list("abcdefg")) == [large]
    assert history.find(list("ab"), list("cdefg")) == [small, large]


def test_of_two_halves_of_a_contract_one_keeps_its_id_and_the_other_gets_a_new_one():
    history = History()
    [first] = history.find(list("abcdef"))
    halves = history.find(list("abc"), list("def"))
    assert first in halves
    assert len(set(halves)) == 2


def test_a_contract_that_is_not_found_for_a_while_has_its_id_again():
    history = History()
    [first] = history.find(list("abc"))
    assert history.find(others="abc") == []
    assert history.known == [KnownContract(first, (("a",), ("b",), ("c",)), is_found=False)]
    assert history.find(list("abcd")) == [first]


def test_a_contract_is_forgotten_with_its_last_row():
    history = History()
    history.find(list("abc"))
    history.find(others="x")
    assert history.known == []


def test_an_id_is_not_given_to_another_contract_while_its_own_is_known():
    history = History()
    [first] = history.find(list("abcd"))
    assert history.find(list("bcd"), list("axyz")) == [first, make_id("a", 1)]


@many_examples(300)
@given(st.randoms(use_true_random=False))
def test_the_rule_holds_over_random_histories(chance: random.Random):
    """Bookings come and go, contracts part and join, further accesses report the same bookings."""
    history, numbers = History(), count()
    groups: list[list[list[str]]] = []  # contracts, their bookings, the rows of each
    for _ in range(12):
        for group in groups:
            group[:] = [booking for booking in group if chance.random() > 0.25]
            group += [[f"r{next(numbers)}"] for _ in range(chance.randrange(3))]
            for booking in group:
                if chance.random() < 0.2:
                    booking.insert(0, f"r{next(numbers)}")
                if len(booking) > 1 and chance.random() < 0.2:
                    booking.pop(chance.randrange(len(booking)))
        if chance.random() < 0.4:
            groups.append([[f"r{next(numbers)}"] for _ in range(chance.randint(1, 6))])
        if len(groups) > 1 and chance.random() < 0.3:
            groups.append(groups.pop(chance.randrange(len(groups))) + groups.pop(0))
        if groups and chance.random() < 0.3:
            group = groups.pop(chance.randrange(len(groups)))
            cut = chance.randint(0, len(group))
            groups += [group[:cut], group[cut:]]
        groups = [group for group in groups if group]
        hidden = [group for group in groups if chance.random() < 0.1]
        shown = [group for group in groups if group not in hidden]
        repeated = {row: booking[0] for group in groups for booking in group for row in booking[1:]}
        history.find(
            *([booking[0] for booking in group] for group in shown),
            repeated=repeated,
            others=[booking[0] for group in hidden for booking in group],
        )
