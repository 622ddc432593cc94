"""What a direct debit must look like before a bank sees it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from kontor.domain.errors import KontorError
from kontor.domain.mandates import DebitInstruction, DebitScheme, Mandate, SequenceType
from kontor.domain.order_checks import OrderError, OrderFields, OrderProblem, check_orders, check_reference
from kontor.domain.payments import Order
from kontor.domain.products import Product

CURRENCY = "EUR"
_COUNTRIES = (
    "AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS "
    "SE SI SK SM VA"
)
SEPA_COUNTRIES = frozenset(_COUNTRIES.split())
# Country, check digits, the creditor's own business code, the number that the country gives.
_CREDITOR_ID = re.compile(r"([A-Z]{2})([0-9]{2})([A-Z0-9]{3})([A-Z0-9]{1,28})")
_GERMAN_NUMBER = re.compile(r"[0-9]{11}")


class DebitsNotAllowedError(KontorError):
    """This client, or this creditor identifier, may not collect direct debits."""


@dataclass(frozen=True, slots=True)
class DebitFields:
    """What the caller calls the fields of a direct debit, besides those of `orders`."""

    orders: OrderFields
    creditor_id: str
    mandate_id: str
    mandate_date: str
    sequence: str


ENGLISH_DEBIT_FIELDS = DebitFields(
    OrderFields(recipient="debtor", execution_date="requestedCollectionDate", place="debits"),
    creditor_id="creditorId",
    mandate_id="mandateId",
    mandate_date="mandateDate",
    sequence="sequenceType",
)


def make_instruction(
    scheme: DebitScheme,
    creditor_id: str,
    mandates: Sequence[tuple[Mandate, SequenceType]],
    fields: DebitFields = ENGLISH_DEBIT_FIELDS,
) -> DebitInstruction:
    """Raises OrderError where sequence types differ: to a bank these would be several orders."""
    sequence = mandates[0][1]
    for number, (_, other) in enumerate(mandates):
        if other is not sequence:
            message = "is another one than that of the first; order debits of another sequence type separately"
            raise OrderError(OrderProblem.DATA, message, fields.orders.name(fields.sequence, number))
    return DebitInstruction(scheme, creditor_id, sequence, tuple(mandate for mandate, _ in mandates))


def check_debits(
    given: Sequence[Order],
    debit: DebitInstruction,
    day: date | None,
    today: date,
    fields: DebitFields = ENGLISH_DEBIT_FIELDS,
) -> tuple[tuple[Order, ...], DebitInstruction]:
    """Orders and instruction as the bank gets them.

    Raises OrderError naming the wrong field, DebitsNotAllowedError for a creditor identifier that is none.
    """
    creditor_id = read_creditor_id(debit.creditor_id)
    if creditor_id is None:
        raise DebitsNotAllowedError(f"{fields.creditor_id}: is not a valid creditor identifier")
    orders = check_orders(given, is_bulk=True, fields=fields.orders)
    check_collection_date(day, today, fields)
    mandates = []
    for number, (order, mandate) in enumerate(zip(orders, debit.mandates, strict=True)):
        _check_area(order, fields.orders, number)
        mandates.append(_check_mandate(mandate, today, fields, number))
    return orders, replace(debit, creditor_id=creditor_id, mandates=tuple(mandates))


def read_creditor_id(text: str) -> str | None:
    """Without blanks and in capitals; None where form or check digits are wrong.

    The check digits are those of ISO 7064 (MOD 97-10) over the national number, the country and "00". The business code
    is the creditor's own choice and not part of it.
    """
    compact = "".join(text.split()).upper()
    found = _CREDITOR_ID.fullmatch(compact) if compact.isascii() else None
    if found is None:
        return None
    country, digits, _, number = found.groups()
    if country not in SEPA_COUNTRIES or (country == "DE" and not _GERMAN_NUMBER.fullmatch(number)):
        return None
    checked = "".join(str(int(character, 36)) for character in f"{number}{country}00")
    return compact if 98 - int(checked) % 97 == int(digits) else None


def check_collection_date(day: date | None, today: date, fields: DebitFields = ENGLISH_DEBIT_FIELDS) -> None:
    """A debtor's bank has a day at least; how many days it wants, the bank tells."""
    if day is None:
        raise OrderError(OrderProblem.DATA, "is required", fields.orders.execution_date)
    if day <= today:
        raise OrderError(OrderProblem.DATA, "must lie in the future", fields.orders.execution_date)


def check_debit_support(product: Product, debit: DebitInstruction) -> None:
    if debit.form not in product.debit_forms:
        number = "several direct debits" if len(debit.mandates) > 1 else "single direct debits"
        message = f"the bank does not collect {number} of the scheme {debit.scheme} for this product"
        raise OrderError(OrderProblem.NOT_POSSIBLE, message)


def _check_area(order: Order, fields: OrderFields, number: int) -> None:
    if order.currency != CURRENCY:
        message = "direct debits are collected in EUR only"
        raise OrderError(OrderProblem.DATA, message, fields.name(fields.currency, number))
    if order.iban[:2] not in SEPA_COUNTRIES:
        message = "is not an account in the SEPA area"
        raise OrderError(OrderProblem.DATA, message, fields.name(fields.iban, number))


def _check_mandate(mandate: Mandate, today: date, fields: DebitFields, number: int) -> Mandate:
    mandate_id = check_reference(mandate.id, fields.orders.name(fields.mandate_id, number))
    assert mandate_id is not None
    if mandate.signed_on > today:
        raise OrderError(OrderProblem.DATA, "lies in the future", fields.orders.name(fields.mandate_date, number))
    return mandate
