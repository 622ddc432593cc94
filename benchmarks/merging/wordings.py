"""How a channel words a booking: encodings, line widths, tags, and what is cut off."""

from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from random import Random

from benchmarks.merging.truths import Booking
from kontor.connectors.statements.values import find_midnight
from kontor.domain.transactions import Transaction

UMLAUTS = {
    "kept": {},
    "two letters": {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"},
    "question marks": dict.fromkeys("äöüßÄÖÜ", "?"),
    "left out": dict.fromkeys("äöüßÄÖÜ", ""),
    "one letter": dict(zip("äöüßÄÖÜ", "aousAOU", strict=True)),
}
NOT_PROVIDED = ("NOTPROVIDED", "", "NONREF")


@dataclass(frozen=True, slots=True)
class Wording:
    """One way of writing. `tags`: how references are written into the purpose; `day`: which days are shown;
    `has_card_names`: the shop is the other side's name, else it stands in the purpose.
    """

    umlauts: str = "kept"
    is_upper: bool = False
    width: int = 0
    has_lost_blanks: bool = False
    name_width: int = 70
    text_width: int = 140
    tags: str = "tags"
    has_iban: bool = True
    has_bank_id: bool = False
    day: str = "both"
    placeholder: str = "NOTPROVIDED"
    has_card_names: bool = True
    card_text: str = ""


def draw_wording(random: Random, channel: str) -> Wording:
    """As such a channel usually writes."""
    common = {"umlauts": random.choice(tuple(UMLAUTS)), "is_upper": random.random() < 0.4}
    placeholder = random.choice(NOT_PROVIDED)
    match channel:
        case "MT940":
            tags = random.choice(("tags", "tags", "tight", "labels"))
            width = random.choice((27, 54))
            return Wording(**common, width=27, name_width=width, placeholder=placeholder, tags=tags)
        case "camt.052" | "camt.053":
            return Wording(has_bank_id=True, placeholder=placeholder)
        case "XS2A":
            return Wording(has_bank_id=random.random() < 0.6, placeholder=placeholder)
        case _:
            return Wording(
                **common,
                name_width=random.choice((27, 35, 70)),
                text_width=random.choice((54, 140)),
                tags=random.choice(("none", "none", "tags", "labels", "colons")),
                has_card_names=random.random() < 0.7,
                card_text=random.choice(("", "VISA Debitkartenumsatz", "Kartenzahlung")),
                has_iban=random.random() < 0.7,
                day=random.choice(("both", "booked", "value")),
            )


def change_wording(random: Random, wording: Wording) -> Wording:
    """The same channel after a change of the bank's software: only how letters and lines are written."""
    return replace(
        wording,
        umlauts=random.choice(tuple(UMLAUTS)),
        is_upper=random.random() < 0.5,
        width=random.choice((0, 27, 35)),
        has_lost_blanks=random.random() < 0.3,
        name_width=random.choice((27, 35, 70)),
        text_width=random.choice((35, 54, 140)),
    )


@lru_cache(maxsize=4000)
def encode(text: str, umlauts: str, is_upper: bool) -> str:
    text = text.translate(str.maketrans(UMLAUTS[umlauts]))
    return text.upper() if is_upper else text


def word(
    booking: Booking, wording: Wording, channel: str, *, pending_on: date | None = None, random: Random | None = None
) -> Transaction:
    """The booking as it arrives, on the day on which it is pending or else as booked.

    With `random` the lines of the purpose come in another order.
    """
    is_pending = pending_on is not None
    name = None if booking.name is None else encode(booking.name, wording.umlauts, wording.is_upper)
    text = encode(_choose_text(booking, wording, is_pending)[: wording.text_width], wording.umlauts, wording.is_upper)
    if name is not None and booking.iban is None and not wording.has_card_names:
        name, text = None, f"{name} {text}"
    width = wording.width or len(text) or 1
    lines = [text[start : start + width] for start in range(0, len(text), width)]
    if random is not None:
        random.shuffle(lines)
    text = " ".join(lines)
    if wording.has_lost_blanks:
        text = text.replace(" ", "")
    booked, value = find_midnight(pending_on or booking.booked), find_midnight(pending_on or booking.value)
    return Transaction(
        booking.amount,
        "EUR",
        value if wording.day == "value" else booked,
        None if wording.day == "booked" else value,
        purpose=_add_references(text, booking, wording),
        counterparty_name=None if name is None else name[: wording.name_width].strip(),
        counterparty_iban=booking.iban if wording.has_iban else None,
        bank_id=f"{channel}-{booking.number}" if wording.has_bank_id and not is_pending else None,
        is_pending=is_pending,
        channel=channel,
    )


def _choose_text(booking: Booking, wording: Wording, is_pending: bool) -> str:
    if not booking.time:
        return booking.text
    if is_pending:
        return "Vormerkung"
    return wording.card_text or f"{booking.text} {booking.booked.isoformat()}T{booking.time}"


def _add_references(text: str, booking: Booking, wording: Wording) -> str:
    reference = booking.end_to_end or wording.placeholder
    if booking.iban is None or wording.tags == "none":
        return text
    if wording.tags in ("labels", "colons"):
        names = ("EREF:", "MREF:") if wording.tags == "colons" else ("End-to-End-Ref.:", "CORE / Mandatsref.:")
        values = zip(names, (reference, booking.mandate), strict=True)
        return " ".join([text, *(f"{name} {value}" for name, value in values if value)])
    parts = [*([f"EREF+{reference}"] if reference else []), *([f"MREF+{booking.mandate}"] if booking.mandate else [])]
    return ("" if wording.tags == "tight" else " ").join([*parts, f"SVWZ+{text}"]) if parts else text
