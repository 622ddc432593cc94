"""What a customer confirms: the words and codes that tie a TAN to its order."""

from dataclasses import dataclass
from decimal import Decimal

from kontor.connectors.base import Fetch, Pay
from kontor.domain.payments import Order
from kontor.domain.schedules import StandingAction

CHIP_START_CODE = "88134473"
STANDING_ACTIONS = {
    StandingAction.CREATE: "Einrichtung",
    StandingAction.CHANGE: "Änderung",
    StandingAction.DELETE: "Löschung",
}
ACCESS_CHIP_CODE = "2908881344731012345678900515,00"


@dataclass(frozen=True, slots=True)
class SigningSubject:
    """`summary` comes before the instructions; `chip_code` is what a TAN generator reads from the flicker graphic."""

    summary: str | None
    chip_code: str
    orders: tuple[Order, ...] = ()

    def introduce(self, instructions: str) -> str:
        return instructions if self.summary is None else f"{self.summary} {instructions}"


def describe_subject(job: Fetch | Pay) -> SigningSubject:
    if isinstance(job, Fetch):
        return SigningSubject(None, ACCESS_CHIP_CODE)
    total = sum_orders(job.orders)
    first = job.orders[0]
    if job.standing is not None:
        what = f"{STANDING_ACTIONS[job.standing.action]} des Dauerauftrags über {write_amount(total)} EUR"
        summary = f"{what} an {first.recipient}, IBAN {first.iban}."
        return SigningSubject(summary, _make_chip_code(first.iban, total), job.orders)
    if job.debit is not None:
        subject = first.iban if len(job.orders) == 1 else str(len(job.orders))
        return SigningSubject(_describe_debits(job), _make_chip_code(subject, total), job.orders)
    if len(job.orders) == 1:
        summary = f"Überweisung von {write_amount(total)} EUR an {first.recipient}, IBAN {first.iban}."
        return SigningSubject(summary, _make_chip_code(first.iban, total), job.orders)
    summary = f"Sammelüberweisung von {len(job.orders)} Aufträgen über zusammen {write_amount(total)} EUR."
    return SigningSubject(summary, _make_chip_code(str(len(job.orders)), total), job.orders)


def _describe_debits(job: Pay) -> str:
    total = f"{write_amount(sum_orders(job.orders))} EUR"
    due = "" if job.execution_date is None else f", fällig am {job.execution_date:%d.%m.%Y}"
    if len(job.orders) == 1:
        return f"Lastschrift über {total} von {job.orders[0].recipient}, IBAN {job.orders[0].iban}{due}."
    return f"Sammellastschrift mit {len(job.orders)} Aufträgen über zusammen {total}{due}."


def sum_orders(orders: tuple[Order, ...]) -> Decimal:
    return sum((order.amount for order in orders), Decimal(0))


def write_amount(amount: Decimal) -> str:
    """As Germans write it: 1.234,50."""
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


def _make_chip_code(text: str, amount: Decimal) -> str:
    """Start code and two data elements, each with its length; ahead of them the length of it all."""
    digits = "".join(char for char in text if char.isdigit())[-10:].zfill(10)
    money = f"{amount:.2f}".replace(".", ",")
    code = f"{len(CHIP_START_CODE):02d}{CHIP_START_CODE}{len(digits):02d}{digits}{len(money):02d}{money}"
    return f"{len(code):02d}{code}"
