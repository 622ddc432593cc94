"""Payments and standing orders of the API, read for the pages that show them, and written as people entered them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kontor.console.accesses import Product
from kontor.console.api_texts import tell
from kontor.console.banks import find_path, is_about_address
from kontor.console.gateway import Gateway, segment, together
from kontor.console.visits import Form, field_of
from kontor.domain.order_checks import OrderError, check_iban
from kontor.pages.browser import BadRequestError
from kontor.pages.formatting import conventions_of
from kontor_client import ApiError

PAGE = "/console/payments"
KINDS = ("single-transfer", "bulk-transfer", "standing-order", "direct-debit")
ORDERED_KINDS = ("single-transfer", "standing-order")  # on the console's pages
PERIODS = ("WEEK_ONE", "WEEK_TWO", "MONTH_ONE", "MONTH_TWO", "MONTH_THREE", "MONTH_SIX", "YEAR_ONE")
MONTHLY = "MONTH_ONE"
# What the last message of a payment means.
STATES_BY_CODE = {"BA1111": "executed", "BA1112": "accepted", "BA1113": "unknown"}
TONES = {"executed": "good", "accepted": "good", "unknown": "", "failed": "bad", "open": "plain"}
# Which step a relation stands for; the first that is offered counts.
STEPS = {
    "confirm_vop": "payee",
    "set_method": "method",
    "set_medium": "medium",
    "redirect_url": "redirect",
    "poll": "app",
    "authenticate": "tan",
}
MAX_AMOUNT_LENGTH = 20
WRONG_DATA = "BA1100"
_GERMAN_IBAN = re.compile(r"DE[0-9]{2}([0-9]{8})[0-9]{10}")
_AMOUNT = re.compile(r"([1-9][0-9]{0,2}([.,' ])[0-9]{3}(?:\2[0-9]{3})*|[0-9]+)(?:([.,])([0-9]{1,2}))?")
# What the API says of a field that it refused, and the name of the field on the page.
FIELDS = {
    "transferDetails.recipient": "recipient",
    "transferDetails.iban": "iban",
    "transferDetails.bic": "bic",
    "transferDetails.amount": "amount",
    "transferDetails.purpose": "purpose",
    "requestedExecutionDate": "day",
    "firstExecutionDate": "day",
    "lastExecutionDate": "last_on",
}


@dataclass(frozen=True, slots=True)
class StandingOrder:
    """`changed_at` and `deleted_at` are paths of the API, None where the bank offers it not."""

    id: str
    product: Product
    recipient: str
    iban: str
    purpose: str
    amount: Decimal
    currency: str
    period: str
    first_on: str
    next_on: str | None
    last_on: str | None
    is_active: bool
    bic: str | None
    changed_at: str | None
    deleted_at: str | None


@dataclass(frozen=True, slots=True)
class PaymentStatus:
    """`step` is what the user is asked for, as a word; None where nothing is asked."""

    id: str
    kind: str
    state: str
    step: str | None
    recipient: str | None
    amount: Decimal
    currency: str
    count: int
    day: str | None
    messages: Sequence[Mapping[str, Any]]
    facts: Mapping[str, Any]

    @property
    def tone(self) -> str:
        return TONES[self.state]

    @property
    def url(self) -> str:
        return f"{PAGE}/{self.kind}/{segment(self.id)}"

    @property
    def can_be_cancelled(self) -> bool:
        return find_path(self.facts, "cancel") is not None


@dataclass(frozen=True, slots=True)
class Entered:
    """A payment as it was entered."""

    account: str
    kind: str
    recipient: str = ""
    iban: str = ""
    bic: str = ""
    amount: str = ""
    purpose: str = ""
    day: str = ""
    period: str = MONTHLY
    last_on: str = ""
    instant: bool = False
    order: str = ""  # id of the standing order that is changed


# Reading


async def list_standing_orders(api: Gateway, products: Sequence[Product]) -> list[StandingOrder]:
    """Those of all accounts; active ones first."""
    paths = [(product, path) for product in products if (path := find_path(product.facts, "get_standing_orders"))]
    answers = await together(*(api.get(path) for _, path in paths))
    found = [
        _read_standing_order(order, product)
        for (product, _), orders in zip(paths, answers, strict=True)
        for order in orders
    ]
    return sorted(found, key=lambda order: (not order.is_active, order.recipient.casefold()))


def _read_standing_order(order: Mapping[str, Any], product: Product) -> StandingOrder:
    details = order["transferDetails"]
    return StandingOrder(
        order["id"],
        product,
        details["recipient"],
        details["iban"],
        details["purpose"],
        Decimal(details["amount"]),
        details["currency"],
        order["period"],
        order["firstExecutionDate"],
        order.get("nextExecutionDate"),
        order.get("lastExecutionDate"),
        order["state"] == "ACTIVE",
        details.get("bic"),
        find_path(order, "change_standing_order"),
        find_path(order, "delete_standing_order"),
    )


def read_payment(status: Mapping[str, Any]) -> PaymentStatus:
    transfer = status["transfer"]
    listed = transfer.get("transferDetails", transfer.get("debits", []))
    details = listed if isinstance(listed, list) else [listed]
    rels = [relation["rel"] for relation in status["relations"]]
    kind = (find_path(status, "self") or "").rpartition("/")[0].rpartition("/")[2]
    first = details[0] if len(details) == 1 else {}
    return PaymentStatus(
        transfer["paymentId"],
        kind if kind in KINDS else KINDS[0],
        name_state(status["messages"]),
        next((step for rel, step in STEPS.items() if rel in rels), None),
        first.get("recipient") or first.get("debtor"),
        sum((Decimal(order["amount"]) for order in details), Decimal(0)),
        next((order["currency"] for order in details), "EUR"),
        len(details),
        next((transfer[key] for key in _DAYS if key in transfer), None),
        status["messages"],
        status,
    )


_DAYS = ("requestedExecutionDate", "firstExecutionDate", "requestedCollectionDate")


def name_state(messages: Sequence[Mapping[str, Any]]) -> str:
    """One word for where a payment stands."""
    codes = [message["code"] for message in messages]
    found = next((STATES_BY_CODE[code] for code in codes if code in STATES_BY_CODE), None)
    if found is not None:
        return found
    is_failed = bool(messages) and messages[-1]["level"] == "ERROR"  # a wrong TAN is followed by what to do
    return "failed" if is_failed else "open"


# Writing


def read_entered(form: Form) -> Entered:
    kind, period = field_of(form, "kind", ORDERED_KINDS[0]), field_of(form, "period", MONTHLY)
    if kind not in ORDERED_KINDS or period not in PERIODS:
        raise BadRequestError
    return Entered(
        account=field_of(form, "account"),
        kind=kind,
        recipient=field_of(form, "recipient").strip(),
        iban="".join(field_of(form, "iban").split()).upper(),
        bic="".join(field_of(form, "bic").split()).upper(),
        amount=field_of(form, "amount").strip(),
        purpose=" ".join(field_of(form, "purpose").split()),
        day=field_of(form, "day").strip(),
        period=period,
        last_on=field_of(form, "last_on").strip(),
        instant=field_of(form, "instant") == "yes",
        order=field_of(form, "order"),
    )


def read_amount(text: str, language: str) -> Decimal | None:
    """`1.234,50`, `1234.5` or `12`; None for anything else.

    Three digits after one sign are thousands where the language writes them so: `12,345` is no amount in German.
    """
    plain = text.removesuffix("€").removesuffix("EUR").strip()
    found = _AMOUNT.fullmatch(plain) if len(plain) <= MAX_AMOUNT_LENGTH else None
    if found is None:
        return None
    whole, group_sign, decimal_sign, decimals = found.groups()
    is_ambiguous = decimal_sign is None and whole.count(conventions_of(language).decimal) == 1
    if is_ambiguous or (group_sign is not None and group_sign == decimal_sign):
        return None
    return Decimal(f"{re.sub('[^0-9]', '', whole)}.{decimals or '0'}")


def is_iban(text: str) -> bool:
    try:
        check_iban(text, "iban")
    except OrderError:
        return False
    return True


def name_refusal(error: ApiError) -> str:
    """What to tell about an order that the API refused, as the key of a text."""
    if error.status == 409:
        return "twice"
    if is_about_address(error):
        return "address"
    place = error.text.partition(":")[0]
    if place == "callbackUrl":
        return "callback"
    is_wrong = all(message.code == WRONG_DATA for message in error.messages)  # not a rule of the user's own
    return f"{FIELDS[place]}_wrong" if place in FIELDS and is_wrong else "refused"


def find_explanation(error: ApiError, language: str) -> str:
    """The API's text for customers, or where that says no more than that data is wrong, which data, in English."""
    said = next((message.message for message in error.messages if message.code != WRONG_DATA), error.text)
    return tell(said, language)


def find_bank_code(iban: str) -> str | None:
    """Of a German account."""
    found = _GERMAN_IBAN.fullmatch(iban)
    return None if found is None else found[1]


def write_body(entered: Entered, amount: Decimal, bic: str) -> dict[str, Any]:
    """As the API takes it."""
    details = {
        "recipient": entered.recipient,
        "iban": entered.iban,
        "bic": bic,
        "purpose": entered.purpose,
        "currency": "EUR",
        "amount": float(amount),
    }
    if entered.kind == "single-transfer":
        body: dict[str, Any] = {"instant": entered.instant, "transferDetails": details}
        return body | ({"requestedExecutionDate": entered.day} if entered.day else {})
    body = {"transferDetails": details, "period": entered.period, "firstExecutionDate": entered.day}
    return body | ({"lastExecutionDate": entered.last_on} if entered.last_on else {})


def read_existing(order: StandingOrder) -> Entered:
    """A standing order, to be changed."""
    return Entered(
        account=f"{order.product.access_id}/{order.product.id}",
        kind="standing-order",
        recipient=order.recipient,
        iban=order.iban,
        bic=order.bic or "",
        amount=f"{order.amount:.2f}".replace(".", ","),
        purpose=order.purpose,
        day=order.next_on or order.first_on,
        period=order.period,
        last_on=order.last_on or "",
        order=order.id,
    )
