"""Pairing two lists of bookings one to one, by the rule of identity.

Equal rows come first, then those with the bank's own id, then equal content, then the best of what may be one booking.
Two equal purchases on one day are two bookings: each is paired with one row at most.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import timedelta

from kontor.domain.identity import Facts, is_contradicted, is_other_channel, measure_likeness, read_facts
from kontor.domain.transactions import Transaction, find_day

MOVED_DAYS = 10  # a booking with the bank's own id may move by so many days
FINAL_DAYS = (-3, 10)  # from a pending booking to its final one
EARLY_DAYS = (-3, 3)  # one channel still calls pending what another has booked
# With how many bookings of its amount one is compared at most, and how many others are moved to find it a partner:
# so that the cost grows linearly.
NEIGHBOURS = 32
MAX_MOVES = 64


class Matching:
    """What is still open on both sides, and the pairs found so far (right index to left index)."""

    def __init__(self, left: Sequence[Transaction], right: Sequence[Transaction]) -> None:
        self._left = left
        self._right = right
        self._open_left = dict.fromkeys(range(len(left)))
        self._open_right = dict.fromkeys(range(len(right)))
        self._facts: tuple[dict[int, Facts], dict[int, Facts]] = ({}, {})
        self.pairs: dict[int, int] = {}

    def run(self) -> dict[int, int]:
        if not self._left or not self._right:  # a first fetch
            return self.pairs
        self._pair_by_key(lambda row: row)
        self._pair_by_key(_name_by_bank, self._is_one_with_id)
        self._pair_by_key(_name_content, self._is_possible)
        self._pair_by_likeness(_list_day_buckets, lambda row: row.is_pending, self._measure_same_state)
        self._pair_by_likeness(_list_amount_bucket, lambda row: not row.is_pending, self._measure_other_state)
        self._pair_by_likeness(_list_pending_bucket, lambda row: True, self._measure_moved)
        return self.pairs

    @property
    def open_left(self) -> list[int]:
        return list(self._open_left)

    @property
    def open_right(self) -> list[int]:
        return list(self._open_right)

    # Equal keys

    def _pair_by_key(
        self, key: Callable[[Transaction], Hashable | None], is_fitting: Callable[[int, int], bool] | None = None
    ) -> None:
        """Equal keys are one booking if nothing speaks against it; equal rows are paired in the bank's order."""
        waiting: dict[Hashable, dict[int, None]] = defaultdict(dict)
        for left in self._open_left:
            if (name := key(self._left[left])) is not None:
                waiting[name][left] = None
        for right in list(self._open_right):
            name = key(self._right[right])
            candidates = waiting.get(name) if name is not None else None
            if not candidates:
                continue
            for _, left in zip(range(NEIGHBOURS), candidates, strict=False):
                if is_fitting is None or is_fitting(left, right):
                    del candidates[left]
                    self._pair(left, right)
                    break

    def _is_possible(self, left: int, right: int) -> bool:
        return not is_contradicted(self._read(0, left), self._read(1, right))

    def _is_one_with_id(self, left: int, right: int) -> bool:
        before, after = find_day(self._left[left]), find_day(self._right[right])
        is_near = before is None or after is None or abs(after - before) <= timedelta(MOVED_DAYS)
        return is_near and self._is_possible(left, right)

    # Likeness

    def _pair_by_likeness(
        self,
        list_buckets: Callable[[Transaction, Facts], Iterator[Hashable]],
        find_state: Callable[[Transaction], bool],
        measure: Callable[[int, int], float | None],
    ) -> None:
        """The best pairs first; then others are moved where that finds a partner for one that has none yet."""
        wanted = {(row.amount, row.currency, find_state(row)) for row in map(self._right.__getitem__, self._open_right)}
        buckets: dict[Hashable, list[int]] = defaultdict(list)
        for left in self._open_left:
            row = self._left[left]
            if (row.amount, row.currency, row.is_pending) not in wanted:
                continue
            for bucket in list_buckets(row, self._read(0, left)):
                buckets[row.is_pending, bucket].append(left)
        places: Counter[Hashable] = Counter()
        scored: list[tuple[float, int, int, int]] = []
        for right in self._open_right if buckets else ():
            row = self._right[right]
            seen: set[int] = set()
            for bucket in list_buckets(row, self._read(1, right)):
                key = (find_state(row), bucket)
                seen.update(_take_neighbours(buckets.get(key, ()), places[key]))
                places[key] += 1
            for left in seen:
                score = measure(left, right)
                if score is not None:
                    scored.append((-score, abs(right - left), right, left))
        scored.sort()
        for right, left in _assign(scored).items():
            self._pair(left, right)

    def _measure_same_state(self, left: int, right: int) -> float | None:
        left_facts, right_facts = self._read(0, left), self._read(1, right)
        is_same_day = find_day(left_facts.transaction) == find_day(right_facts.transaction)
        if not is_same_day and not _is_day_open(left_facts, right_facts):
            return None
        score = measure_likeness(left_facts, right_facts)
        return None if score is None else score + is_same_day / 2 + (left_facts.days == right_facts.days) / 4

    def _measure_other_state(self, left: int, right: int) -> float | None:
        """A pending booking becomes final, or another channel still calls pending what is final."""
        left_facts, right_facts = self._read(0, left), self._read(1, right)
        if not left_facts.transaction.is_pending and not is_other_channel(
            left_facts.transaction, right_facts.transaction
        ):
            return None
        if not _is_between(left_facts, right_facts, FINAL_DAYS if left_facts.transaction.is_pending else EARLY_DAYS):
            return None
        score = measure_likeness(left_facts, right_facts)
        return None if score is None else score + 1 / (2 + _count_days(left_facts, right_facts))

    def _measure_moved(self, left: int, right: int) -> float | None:
        """A pending booking has no fixed day yet: some banks date it anew every day."""
        left_facts, right_facts = self._read(0, left), self._read(1, right)
        return measure_likeness(left_facts, right_facts) if _is_between(left_facts, right_facts, FINAL_DAYS) else None

    # Parts

    def _read(self, side: int, index: int) -> Facts:
        facts = self._facts[side].get(index)
        if facts is None:
            facts = self._facts[side][index] = read_facts((self._right if side else self._left)[index])
        return facts

    def _pair(self, left: int, right: int) -> None:
        self.pairs[right] = left
        del self._open_right[right], self._open_left[left]


def _name_by_bank(row: Transaction) -> Hashable | None:
    return None if row.bank_id is None else (row.bank_id, row.amount, row.currency, row.is_pending)


def _name_content(row: Transaction) -> Hashable:
    return (
        row.amount,
        row.currency,
        row.is_pending,
        find_day(row),
        row.value_at,
        row.counterparty_iban,
        _fold(row.counterparty_name),
        _fold(row.purpose),
        _fold(row.booking_text),
    )


def _fold(text: str | None) -> str:
    return "".join((text or "").split()).casefold()


def _list_day_buckets(row: Transaction, facts: Facts) -> Iterator[Hashable]:
    """Where rows of the same amount, and of a day or an end-to-end reference in common, are found."""
    for day in facts.days:
        yield row.amount, row.currency, day
        if facts.end_to_end is not None:
            yield row.amount, row.currency, day, facts.end_to_end


def _list_amount_bucket(row: Transaction, facts: Facts) -> Iterator[Hashable]:
    yield row.amount, row.currency


def _list_pending_bucket(row: Transaction, facts: Facts) -> Iterator[Hashable]:
    if row.is_pending:
        yield row.amount, row.currency


def _is_day_open(left: Facts, right: Facts) -> bool:
    """May two rows of different days, which have one of their days in common, be one booking?

    Another channel may show the day of value alone. Within a channel the day of booking does not change, but it may
    be missing at first.
    """
    if is_other_channel(left.transaction, right.transaction):
        return True
    return left.transaction.booked_at is None or right.transaction.booked_at is None


def _is_between(left: Facts, right: Facts, limits: tuple[int, int]) -> bool:
    before, after = find_day(left.transaction), find_day(right.transaction)
    if before is None or after is None:
        return False
    return timedelta(limits[0]) <= after - before <= timedelta(limits[1])


def _count_days(left: Facts, right: Facts) -> int:
    before, after = find_day(left.transaction), find_day(right.transaction)
    return 0 if before is None or after is None else abs((after - before).days)


def _take_neighbours(candidates: Sequence[int], place: int) -> Sequence[int]:
    """Where very many are equal, only those are compared that stand at about the same place."""
    first = max(0, min(place - NEIGHBOURS // 2, len(candidates) - NEIGHBOURS))
    return candidates[first : first + NEIGHBOURS]


def _assign(scored: Sequence[tuple[float, int, int, int]]) -> dict[int, int]:
    """Right to left, the best pairs first. Who has no partner then takes another's, if that one finds a new one."""
    choices: dict[int, list[int]] = defaultdict(list)
    partners: dict[int, int] = {}
    holders: dict[int, int] = {}
    for _, _, right, left in scored:
        choices[right].append(left)
        if right not in partners and left not in holders:
            partners[right], holders[left] = left, right
    for right in choices:
        if right not in partners:
            _find_partner(right, choices, partners, holders)
    return partners


def _find_partner(start: int, choices: dict[int, list[int]], partners: dict[int, int], holders: dict[int, int]) -> None:
    """Breadth first: each one takes the partner of the next, and the last one takes a row that is free."""
    wanted_by: dict[int, int] = {}
    queue = [start]
    for right in queue:
        for left in choices[right]:
            if left in wanted_by:
                continue
            wanted_by[left] = right
            if left in holders:
                queue.append(holders[left])
                continue
            while True:
                taker = wanted_by[left]
                former = partners.get(taker)
                partners[taker], holders[left] = left, taker
                if former is None:
                    return
                left = former
        if len(queue) > MAX_MOVES:
            return
