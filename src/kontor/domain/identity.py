"""The rule of identity: may two reported bookings be one and the same?

Facts come first. A counterparty's IBAN, an end-to-end reference, a mandate, and the bank's own reference between booked
rows of one channel keep two bookings apart when they differ, and a shared reference is enough to make them one. Only
where no reference is shared do the texts decide. Amount, currency and day are for the caller to compare.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from kontor.domain.clocks import find_banking_day
from kontor.domain.references import is_same_reference, read_references
from kontor.domain.transactions import Transaction

# Shares of the shorter text that must be found in the longer one; chosen with `./dev bench --merging`.
SAME_CHANNEL_TEXT = 0.7
OTHER_CHANNEL_TEXT = 0.6
SIMILAR_NAME = 0.5
SHORT_NUMBER = 2
LONG_NUMBER = 10  # of an order or an invoice, and longer than a day or a time of day
_GRAM = 3
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_MASK = "XXX"
# German umlauts arrive as one letter, as two, as a question mark or not at all.
_UMLAUT = re.compile(r"ä|ae|ö|oe|ü|ue|ß|ss|à|á|â|è|é|ê")
_NOT_COMPARED = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"[0-9]+")
# Words by which banks mark a pending booking in its text; the final one does not have them.
_PENDING_WORDS = re.compile(r"\bvorgemerkte[rs]?(?: (?:umsatz|lastschrift|buchung|kartenzahlung))?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is compared of a booking, in comparable form."""

    transaction: Transaction
    days: frozenset[date]
    iban: str | None
    end_to_end: str | None
    mandate: str | None
    name: frozenset[str]
    text: frozenset[str]
    numbers: tuple[str, ...]
    last_number: str


def read_facts(transaction: Transaction) -> Facts:
    references = read_references(transaction.purpose)
    words = _PENDING_WORDS.sub("", references.text) if transaction.is_pending else references.text
    name, text = _compact(transaction.counterparty_name), _compact(words)
    numbers = tuple(_DIGITS.findall(text))
    return Facts(
        transaction,
        list_days(transaction),
        _read_iban(transaction.counterparty_iban),
        references.end_to_end,
        references.mandate,
        _cut_grams(_DIGITS.sub("", name)),
        _cut_grams(_DIGITS.sub("", text)),
        numbers,
        numbers[-1] if numbers and text.endswith(numbers[-1]) else "",
    )


def list_days(transaction: Transaction) -> frozenset[date]:
    """The days under which a channel may show a booking: that of booking and that of value."""
    return frozenset(find_banking_day(at) for at in (transaction.booked_at, transaction.value_at) if at is not None)


def is_one_channel(left: Transaction, right: Transaction) -> bool:
    """Rows stored before channels were written down are of an unknown one: neither of the same nor of another."""
    return left.channel is not None and left.channel == right.channel


def is_other_channel(left: Transaction, right: Transaction) -> bool:
    return left.channel is not None and right.channel is not None and left.channel != right.channel


def is_contradicted(left: Facts, right: Facts) -> bool:
    """Two bookings, however alike their texts are. What is absent contradicts nothing."""
    if left.iban is not None and right.iban is not None and left.iban != right.iban:
        return True
    if _differ(left.end_to_end, right.end_to_end) or _differ(left.mandate, right.mandate):
        return True
    first, second = left.transaction, right.transaction
    if first.is_pending or second.is_pending or first.bank_id is None or second.bank_id is None:
        return False
    return first.bank_id != second.bank_id and is_one_channel(first, second)


def _differ(left: str | None, right: str | None) -> bool:
    return left is not None and right is not None and not is_same_reference(left, right)


def measure_likeness(left: Facts, right: Facts) -> float | None:
    """How much speaks for one booking; None where it is two. Both must be of one amount and of fitting days."""
    if is_contradicted(left, right):
        return None
    name, text = _measure_name(left, right), _contain(left.text, right.text)
    shared = _count_shared(left, right)
    if not shared and not _is_alike(left, right, name, text):
        return None
    is_same_iban = left.iban is not None and left.iban == right.iban
    words = (SIMILAR_NAME if name is None else name) + (OTHER_CHANNEL_TEXT if text is None else text)
    return 4 * shared + is_same_iban + 2 * words + _share_numbers(left, right)


def _count_shared(left: Facts, right: Facts) -> int:
    """References that both name. They are not contradicted, so that naming is enough."""
    bank_ids = (left.transaction.bank_id, right.transaction.bank_id)
    return (
        (left.end_to_end is not None and right.end_to_end is not None)
        + (left.mandate is not None and right.mandate is not None)
        + (bank_ids[0] is not None and bank_ids[0] == bank_ids[1])
    )


def _is_alike(left: Facts, right: Facts, name: float | None, text: float | None) -> bool:
    """Do texts speak for one booking? `None` is a text that one of them lacks, which speaks against nothing."""
    if name is not None and name < SIMILAR_NAME:
        return False
    first, second = left.transaction, right.transaction
    if first.is_pending != second.is_pending:
        # A reservation by card tells the shop alone; a transfer has its purpose from the beginning.
        is_card = left.iban is None and right.iban is None
        is_named = name is not None and (is_card or _share_long_number(left, right))
        return text is None or text >= OTHER_CHANNEL_TEXT or is_named
    if first.channel != second.channel:
        # Another channel words the purpose as it likes: a fitting name is enough.
        return text is None or text >= OTHER_CHANNEL_TEXT or name is not None
    # A channel repeats its own words: they are cut, wrapped and encoded anew, but numbers stay.
    return (text is None or text >= SAME_CHANNEL_TEXT) and _has_all_numbers(left, right)


def _measure_name(left: Facts, right: Facts) -> float | None:
    """How well the names fit. Some channels write the name into the purpose."""
    if left.name and right.name:
        return _contain(left.name, right.name)
    if left.name and right.text:
        return _find_in(left.name, right.text)
    return _find_in(right.name, left.text) if right.name and left.text else None


def _find_in(name: frozenset[str], text: frozenset[str]) -> float | None:
    """A name that is not in the text may be missing there, which is no contradiction."""
    share = len(name & text) / len(name)
    return share if share >= SIMILAR_NAME else None


def _contain(left: frozenset[str], right: frozenset[str]) -> float | None:
    if not left or not right:
        return None
    return len(left & right) / min(len(left), len(right))


def _has_all_numbers(left: Facts, right: Facts) -> bool:
    """Are all numbers of the text with fewer digits in the other? A blank or a line's end may split or join some."""
    counts = (sum(map(len, left.numbers)), sum(map(len, right.numbers)))
    return (counts[0] <= counts[1] and _covers(right, left)) or (counts[1] <= counts[0] and _covers(left, right))


def _covers(facts: Facts, others: Facts) -> bool:
    return all(_has_number(facts.numbers, number, others.last_number) for number in others.numbers)


def _has_number(numbers: tuple[str, ...], number: str, cut: str) -> bool:
    if number in numbers:
        return True
    if len(number) <= SHORT_NUMBER:  # found anywhere by chance, so that it counts only where the text was cut
        return number == cut and any(candidate.startswith(number) for candidate in numbers)
    if any(number in candidate or (len(candidate) > SHORT_NUMBER and candidate in number) for candidate in numbers):
        return True
    return _is_joined(number, numbers)


def _is_joined(number: str, parts: Iterable[str]) -> bool:
    """Is the number made of parts, each taken as often as needed? Each position is tried once for each length."""
    known = frozenset(parts)
    lengths = sorted({len(part) for part in known})
    is_reached = [True] + [False] * len(number)
    for start in range(len(number)):
        if is_reached[start]:
            for length in lengths:
                piece = number[start : start + length]
                if piece in known:
                    is_reached[start + len(piece)] = True
    return is_reached[-1]


def _share_long_number(left: Facts, right: Facts) -> bool:
    return any(len(number) >= LONG_NUMBER for number in set(left.numbers) & set(right.numbers))


def _share_numbers(left: Facts, right: Facts) -> float:
    if not left.numbers or not right.numbers:
        return 0.5
    return len(set(left.numbers) & set(right.numbers)) / min(len(set(left.numbers)), len(set(right.numbers)))


def _read_iban(text: str | None) -> str | None:
    """None for old account numbers and for IBANs of which a channel shows only a part."""
    compact = "".join((text or "").split()).upper()
    return compact if _IBAN.fullmatch(compact) and _MASK not in compact else None


def _compact(text: str | None) -> str:
    """Letters and digits alone, without what encodings make of umlauts, so that blanks and line ends do not matter."""
    return _UMLAUT.sub("", _NOT_COMPARED.sub("", text.casefold())) if text else ""


def _cut_grams(compact: str) -> frozenset[str]:
    if len(compact) <= _GRAM:
        return frozenset((compact,)) if compact else frozenset()
    return frozenset(compact[start : start + _GRAM] for start in range(len(compact) - _GRAM + 1))
