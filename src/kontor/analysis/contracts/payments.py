"""Bookings prepared for the search: days and cents as whole numbers, texts read once."""

from dataclasses import dataclass
from enum import Enum

from kontor.analysis.contracts.numbers import Numbers
from kontor.analysis.records import Record


class Method(Enum):
    """How money moved, as far as bank codes and words tell."""

    DEBIT = "direct debit"
    STANDING = "standing order"
    SALARY = "salary or public payment"
    TRANSFER = "single transfer"
    CARD = "card"
    WALLET = "payment service"
    BANK = "the bank's own booking"
    RETURNED = "returned debit"
    UNKNOWN = "unknown"

    @property
    def is_repeating(self) -> bool:
        """Whether this way of paying is made for what repeats."""
        return self in (Method.DEBIT, Method.STANDING, Method.SALARY, Method.BANK)


_BY_CODE = {
    Method.DEBIT: ("004", "005", "104", "105", "108", "109", "171", "174", "194", "195", "197"),
    Method.STANDING: ("008", "052", "117", "152", "155"),
    Method.SALARY: ("053", "153", "156", "056"),
    Method.TRANSFER: (
        "020", "051", "116", "118", "119", "166", "168", "169", "191", "201", "202", "206", "219", "301",
    ),
    Method.CARD: ("106", "107", "182", "190", "083", "082"),
    Method.BANK: ("303", "320", "802", "804", "805", "806", "807", "808", "809", "814", "818", "820", "899"),
    Method.RETURNED: ("059", "159", "181", "184"),
}  # fmt: skip
_CODES = {code: method for method, codes in _BY_CODE.items() for code in codes}
_BY_WORD = (
    ("RUECKLAST", Method.RETURNED),
    ("RÜCKLAST", Method.RETURNED),
    ("RETOURE", Method.RETURNED),
    ("LASTSCHRIFT", Method.DEBIT),
    ("DAUERAUFTRAG", Method.STANDING),
    ("GEHALT", Method.SALARY),
    ("LOHN", Method.SALARY),
    ("RENTE", Method.SALARY),
    ("KARTE", Method.CARD),
    ("ÜBERWEIS", Method.TRANSFER),
    ("UEBERWEIS", Method.TRANSFER),
    ("GUTSCHRIFT", Method.TRANSFER),
    ("ENTGELT", Method.BANK),
)


def find_method(record: Record) -> Method:
    known = _CODES.get(record.business_code)
    if known is not None:
        return known
    text = record.booking_text.upper()
    if text:
        for word, method in _BY_WORD:
            if word in text:
                return method
    return Method.DEBIT if "MREF" in record.purpose or "Mandat" in record.purpose else Method.UNKNOWN


@dataclass(slots=True, eq=False)
class Payment:
    """A booking under examination."""

    record: Record
    day: int
    month: float
    cents: int
    method: Method
    purpose: str
    signature: str
    squeezed: str
    numbers: Numbers

    @property
    def all_numbers(self) -> tuple[str, ...]:
        return self.numbers.contract + self.numbers.customer + self.numbers.unnamed


def sort_key(payment: Payment) -> tuple[int, int, str]:
    """Makes the result the same in whatever order the bookings came."""
    return payment.day, payment.cents, payment.record.id
