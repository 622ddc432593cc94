"""The rule of identity before references counted: for comparison only, to show that the model finds its faults.

Bookings are matched one to one within equal amounts: the bank's id, equal content, and then 30 % of equal words.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

from kontor.domain.merging import Merge, StoredTransaction
from kontor.domain.transactions import Transaction, find_day

SIMILAR_TEXT = 0.3
PENDING_DAYS = 10
NEIGHBOURS = 32  # with how many bookings of equal amount one is compared at most, so that the cost grows linearly
_WORD = re.compile(r"\w+")

Score: TypeAlias = Callable[[Transaction, Transaction], float | None]


def merge_by_words(stored: Sequence[StoredTransaction], fetched: Sequence[Transaction]) -> Merge:
    matching = _Matching(stored, fetched)
    matching.pair_by_key(lambda transaction: transaction)
    matching.pair_by_key(lambda transaction: transaction.bank_id)
    matching.pair_by_key(_content)
    similar = matching.pair_by_score
    similar(
        _score_similar_text,
        lambda transaction: (transaction.amount, transaction.currency, find_day(transaction), transaction.is_pending),
    )
    similar(
        _score_becoming_final,
        lambda transaction: (transaction.amount, transaction.currency, transaction.is_pending),
        _as_pending,
    )
    return matching.result()


class _Matching:
    """What is still open on both sides, and the pairs found so far (fetched index to stored index)."""

    def __init__(self, stored: Sequence[StoredTransaction], fetched: Sequence[Transaction]) -> None:
        self._stored = stored
        self._fetched = fetched
        self._open_stored = dict(enumerate(stored))
        self._open_fetched = dict(enumerate(fetched))
        self._pairs: dict[int, int] = {}

    def pair_by_key(self, key: Callable[[Transaction], Hashable | None]) -> None:
        """Equal keys are the same booking; several equal ones are paired in the order the bank sent them."""
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for index, stored in self._open_stored.items():
            waiting[key(stored.transaction)].append(index)
        for right, transaction in list(self._open_fetched.items()):
            wanted = key(transaction)
            if wanted is not None and waiting[wanted]:
                self._pair(right, waiting[wanted].popleft())

    def pair_by_score(
        self,
        score: Score,
        bucket: Callable[[Transaction], Hashable],
        look_for: Callable[[Transaction], Transaction | None] = lambda transaction: transaction,
    ) -> None:
        """Within a bucket the best pairs first; ties go to the nearest in the bank's order.

        `look_for` tells as what a fetched booking may have been stored. Where very many are equal, only those are
        compared that stand at about the same place.
        """
        candidates: dict[Hashable, list[int]] = defaultdict(list)
        for index, stored in self._open_stored.items():
            candidates[bucket(stored.transaction)].append(index)
        places: Counter[Hashable] = Counter()
        scored = []
        for right, transaction in self._open_fetched.items():
            former = look_for(transaction)
            lefts = () if former is None else candidates.get(bucket(former), ())
            if not lefts:
                continue
            place = places[bucket(transaction)]
            places[bucket(transaction)] += 1
            first = max(0, min(place - NEIGHBOURS // 2, len(lefts) - NEIGHBOURS))
            for left in lefts[first : first + NEIGHBOURS]:
                value = score(self._open_stored[left].transaction, transaction)
                if value is not None:
                    scored.append((-value, abs(right - left), right, left))
        for _, _, right, left in sorted(scored):
            if right in self._open_fetched and left in self._open_stored:
                self._pair(right, left)

    def _pair(self, right: int, left: int) -> None:
        self._pairs[right] = left
        del self._open_fetched[right], self._open_stored[left]

    def result(self) -> Merge:
        changed = tuple(
            StoredTransaction(self._stored[left].id, self._fetched[right])
            for right, left in sorted(self._pairs.items())
            if self._stored[left].transaction != self._fetched[right]
        )
        vanished = tuple(stored.id for stored in self._open_stored.values() if stored.transaction.is_pending)
        pairs = tuple((right, self._stored[left].id) for right, left in self._pairs.items())
        return Merge(tuple(self._open_fetched.values()), changed, vanished, pairs)


def _as_pending(transaction: Transaction) -> Transaction | None:
    return None if transaction.is_pending else replace(transaction, is_pending=True)


def _content(transaction: Transaction) -> Hashable | None:
    return (
        transaction.amount,
        transaction.currency,
        transaction.is_pending,
        find_day(transaction),
        transaction.value_at,
        transaction.counterparty_iban,
        _fold(transaction.counterparty_name),
        _fold(transaction.purpose),
        _fold(transaction.booking_text),
    )


def _score_similar_text(old: Transaction, fetched: Transaction) -> float | None:
    """Same day and amount, another wording. Two different ids of the bank are two bookings."""
    if _are_two_ids(old, fetched):
        return None
    score = measure_similarity(old, fetched)
    return score if score >= SIMILAR_TEXT else None


def _score_becoming_final(old: Transaction, fetched: Transaction) -> float | None:
    """A pending booking comes back as a final one, some days later and with another text."""
    before, after = find_day(old), find_day(fetched)
    if before is None or after is None or not timedelta(-3) <= after - before <= timedelta(PENDING_DAYS):
        return None
    score = measure_similarity(old, fetched)
    return score + 1 / (2 + abs((after - before).days)) if score >= SIMILAR_TEXT else None


def _are_two_ids(left: Transaction, right: Transaction) -> bool:
    return left.bank_id is not None and right.bank_id is not None and left.bank_id != right.bank_id


def measure_similarity(left: Transaction, right: Transaction) -> float:
    """How much of the shorter text is found in the longer one, 0 to 1. No text on one side speaks against nothing."""
    if left.counterparty_iban and left.counterparty_iban == right.counterparty_iban:
        return 1.0
    words_left, words_right = _words(left), _words(right)
    if not words_left or not words_right:
        return SIMILAR_TEXT
    shorter, longer = sorted((words_left, words_right), key=len)
    return len(shorter & longer) / len(shorter)


def _words(transaction: Transaction) -> set[str]:
    return set(_all_words((transaction.purpose, transaction.counterparty_name)))


def _all_words(texts: Iterable[str | None]) -> Iterable[str]:
    for text in texts:
        for word in _WORD.findall((text or "").casefold()):
            yield word[:8]  # banks cut words at the end of a line


def _fold(text: str | None) -> str:
    return "".join((text or "").split()).casefold()
