"""What an order must look like before a bank sees it. Whatever does not is refused, with the name of the field."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from schwifty import IBAN
from schwifty.exceptions import SchwiftyException

from kontor.domain.errors import ConflictError, InvalidError
from kontor.domain.payments import Order

MAX_AMOUNT = Decimal("999999999.99")  # of a SEPA credit transfer
MAX_NAME, MAX_PURPOSE, MAX_REFERENCE = 70, 140, 35
MAX_ORDERS = 1000

_SEPA = re.compile(r"[A-Za-z0-9/?:().,'+ -]*")
_BIC = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")
_PURPOSE_CODE = re.compile(r"[A-Z]{4}")
# As the European Payments Council advises, and for German letters as everybody writes them.
_TRANSLITERATED = str.maketrans(
    {
        "ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "ẞ": "SS",
        "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ł": "l", "Ł": "L",
        "&": "+", "_": "-", "–": "-", "—": "-", "’": "'", "‘": "'", "`": "'", "´": "'", "„": "'", "“": "'", "”": "'",
        "\u00a0": " ",
    }
)  # fmt: skip

# ISO 4217, without codes for metals, tests and no currency at all.
_CODES = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE "
    "CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF "
    "GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR "
    "LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN "
    "PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS "
    "TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR "
    "ZMW ZWG "
)
CURRENCIES = frozenset(_CODES.split())


class OrderProblem(StrEnum):
    """What kind of refusal it is; each has a message code of its own."""

    DATA = "DATA"
    METHOD = "METHOD"
    NOT_POSSIBLE = "NOT_POSSIBLE"
    CREDENTIALS = "CREDENTIALS"
    PAYEE_LIMIT = "PAYEE_LIMIT"
    PAYEE_HOLD = "PAYEE_HOLD"


class OrderError(InvalidError):
    """An order that is refused before any bank has seen it."""

    def __init__(self, problem: OrderProblem, message: str, field: str | None = None) -> None:
        super().__init__(message, field)
        self.problem = problem


class DuplicateOrderError(ConflictError):
    """The same order was given a moment ago."""


@dataclass(frozen=True, slots=True)
class OrderFields:
    """What the caller calls the fields of an order."""

    recipient: str = "recipient"
    iban: str = "iban"
    bic: str = "bic"
    amount: str = "amount"
    currency: str = "currency"
    purpose: str = "purpose"
    end_to_end_id: str = "endToEndId"
    purpose_code: str = "purposeCode"
    ultimate_debtor: str = "ultimateDebtor"
    ultimate_creditor: str = "ultimateCreditor"
    execution_date: str = "requestedExecutionDate"
    place: str = "transferDetails"

    def name(self, field: str, number: int | None) -> str:
        place = self.place if number is None else f"{self.place}[{number}]"
        return f"{place}.{field}" if self.place else field


ENGLISH_FIELDS = OrderFields()


def check_orders(given: Sequence[Order], *, is_bulk: bool, fields: OrderFields = ENGLISH_FIELDS) -> tuple[Order, ...]:
    """The orders as the bank gets them."""
    if not given:
        raise OrderError(OrderProblem.DATA, "at least one transfer is required", fields.place)
    if len(given) > MAX_ORDERS:
        raise OrderError(OrderProblem.DATA, f"at most {MAX_ORDERS} transfers can be ordered at once", fields.place)
    return tuple(_check_order(order, fields, number if is_bulk else None) for number, order in enumerate(given))


def check_execution_date(
    day: date | None, today: date, fields: OrderFields = ENGLISH_FIELDS, *, is_instant: bool = False
) -> None:
    if day is not None and day < today:
        raise OrderError(OrderProblem.DATA, "lies in the past", fields.execution_date)
    if is_instant and day is not None and day > today:
        raise OrderError(OrderProblem.DATA, "an instant transfer has no later day", fields.execution_date)


def _check_order(order: Order, fields: OrderFields, number: int | None) -> Order:
    def text(value: str | None, field: str, limit: int) -> str | None:
        return None if value is None else transliterate(value, fields.name(field, number), limit)

    recipient = text(order.recipient, fields.recipient, MAX_NAME)
    if not recipient:
        raise OrderError(OrderProblem.DATA, "is empty", fields.name(fields.recipient, number))
    return Order(
        recipient=recipient,
        iban=check_iban(order.iban, fields.name(fields.iban, number)),
        amount=check_amount(order.amount, fields.name(fields.amount, number)),
        currency=_check_currency(order.currency, fields.name(fields.currency, number)),
        purpose=text(order.purpose, fields.purpose, MAX_PURPOSE) or "",
        bic=None if order.bic is None else _check_bic(order.bic, fields.name(fields.bic, number)),
        end_to_end_id=check_reference(order.end_to_end_id, fields.name(fields.end_to_end_id, number)),
        purpose_code=_check_purpose_code(order.purpose_code, fields.name(fields.purpose_code, number)),
        ultimate_debtor=text(order.ultimate_debtor, fields.ultimate_debtor, MAX_NAME) or None,
        ultimate_creditor=text(order.ultimate_creditor, fields.ultimate_creditor, MAX_NAME) or None,
    )


def transliterate(value: str, field: str, limit: int) -> str:
    """In the SEPA character set. What has no counterpart there is refused, not left out."""
    replaced = unicodedata.normalize("NFC", value).translate(_TRANSLITERATED)
    decomposed = unicodedata.normalize("NFD", replaced)
    plain = "".join(character for character in decomposed if not unicodedata.combining(character)).strip()
    if not _SEPA.fullmatch(plain):
        wrong = next(character for character in plain if not _SEPA.fullmatch(character))
        shown = wrong if wrong.isprintable() else f"U+{ord(wrong):04X}"
        raise OrderError(OrderProblem.DATA, f"the character {shown} is not allowed", field)
    if len(plain) > limit:
        raise OrderError(OrderProblem.DATA, f"has more than {limit} characters", field)
    return plain


def check_iban(value: str, field: str) -> str:
    """Checksum, and length and structure of its country."""
    compact = re.sub(r"[ \u00a0]", "", value).upper()
    try:
        if not compact.isascii() or not compact.isalnum():
            raise ValueError
        return str(IBAN(compact).compact)
    except (SchwiftyException, ValueError):
        raise OrderError(OrderProblem.DATA, "is not a valid IBAN", field) from None


def check_amount(value: Decimal, field: str) -> Decimal:
    if not value.is_finite() or value <= 0:
        raise OrderError(OrderProblem.DATA, "must be more than zero", field)
    if value > MAX_AMOUNT:
        raise OrderError(OrderProblem.DATA, f"must be at most {MAX_AMOUNT}", field)
    rounded = value.quantize(Decimal("0.01"))
    if rounded != value:
        raise OrderError(OrderProblem.DATA, "at most two decimals are allowed", field)
    return rounded


def _check_bic(value: str, field: str) -> str:
    compact = value.replace(" ", "").upper()
    if not _BIC.fullmatch(compact):
        raise OrderError(OrderProblem.DATA, "is not a BIC", field)
    return compact


def _check_currency(value: str, field: str) -> str:
    if value not in CURRENCIES:
        raise OrderError(OrderProblem.DATA, "is not a currency of ISO 4217", field)
    return value


def check_reference(value: str | None, field: str) -> str | None:
    """An end-to-end id comes back as it was sent, so nothing in it is replaced."""
    if value is None:
        return None
    if not _SEPA.fullmatch(value) or value != value.strip():
        raise OrderError(OrderProblem.DATA, "has characters that are not allowed", field)
    if not 1 <= len(value) <= MAX_REFERENCE:
        raise OrderError(OrderProblem.DATA, f"must have 1 to {MAX_REFERENCE} characters", field)
    if value.startswith("/") or value.endswith("/") or "//" in value:
        raise OrderError(OrderProblem.DATA, "must neither begin nor end with a slash, nor have two in a row", field)
    return value


def _check_purpose_code(value: str | None, field: str) -> str | None:
    if value is None:
        return None
    code = value.upper()
    if not _PURPOSE_CODE.fullmatch(code):
        raise OrderError(OrderProblem.DATA, "must have four letters", field)
    return code


def list_payees(orders: Sequence[Order]) -> tuple[tuple[str, str], ...]:
    """What a verification of payees is about."""
    return tuple((order.recipient, order.iban) for order in orders)
