"""Why a user is to be told something: from accesses, products, and what analyses find."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from uuid import UUID

import msgspec

from kontor.analysis.alerts import find_causes
from kontor.domain.accesses import Access, NoticeKind
from kontor.domain.alerts import AlertFacts, AlertKind, AlertObject, Cause, ObjectKind
from kontor.domain.budgets import Budget
from kontor.domain.consents import RENEWAL_PERIOD
from kontor.domain.stored_products import StoredProduct
from kontor.services.analyses import Facts
from kontor.storage import alerts
from kontor.storage.database import Connection

NEEDS_USER = (
    NoticeKind.SCA_NEEDED,
    NoticeKind.WRONG_CREDENTIALS,
    NoticeKind.INCOMPLETE_CREDENTIALS,
    NoticeKind.LOCKED,
)
_causes = msgspec.msgpack.Decoder(list[Cause])


def name_question(budgets: Sequence[Budget]) -> str:
    """Budgets are no data of transactions: other ones make another question."""
    digest = hashlib.sha256(msgspec.msgpack.encode(budgets)).hexdigest()[:16]
    return f"alerts {digest}" if budgets else "alerts"


def find_analysed(budgets: Sequence[Budget], facts: Facts) -> bytes:
    """In a compute process."""
    found = find_causes(facts.records, facts.contracts, facts.accounts, facts.today, facts.find_settings, budgets)
    return msgspec.msgpack.encode(found)


async def read_analysed(
    connection: Connection, user_id: UUID, answer: bytes, stored: Sequence[StoredProduct]
) -> list[Cause]:
    """With accesses and products. Without those whose account is gone meanwhile."""
    causes = _causes.decode(answer)
    rows = [cause.object.id for cause in causes if cause.object.kind is ObjectKind.TRANSACTION]
    products = await alerts.find_products(connection, user_id, [product.id for product in stored], rows)
    accesses = {str(product.id): product.access_id for product in stored}
    return [placed for cause in causes if (placed := _place(cause, accesses, products))]


def _place(cause: Cause, accesses: dict[str, str], products: dict[str, UUID]) -> Cause | None:
    account, object_id = cause.object.access_id or "", cause.object.id
    if cause.object.kind is ObjectKind.TRANSACTION:
        account = str(products.get(object_id, ""))
        object_id = f"{account}/{object_id}"
    if cause.object.kind is ObjectKind.BUDGET:
        return cause
    if account not in accesses:
        return None
    return replace(cause, object=AlertObject(cause.object.kind, object_id, accesses[account]))


def find_access_causes(accesses: Iterable[Access], today: date, now: datetime) -> Iterator[Cause]:
    """Nothing of accesses that nobody but their form session may know."""
    for access in accesses:
        if not access.is_confirmed or access.is_over(now):
            continue
        place = AlertObject(ObjectKind.ACCESS, access.id, access.id)
        needed = next((message.kind for message in access.messages if message.kind in NEEDS_USER), None)
        if needed is not None:
            # A success moves `updated_at`: what comes after it is another cause.
            key = f"{needed} {access.updated_at.timestamp()}"
            yield Cause(AlertKind.BANK_NEEDS_USER, place, key, facts=AlertFacts(name=str(needed)))
        end = access.consent_until
        if needed is None and end is not None and today <= end <= today + RENEWAL_PERIOD:
            yield Cause(AlertKind.CONSENT_ENDS, place, str(end), facts=AlertFacts(day=end))


def find_product_causes(stored: Iterable[StoredProduct]) -> Iterator[Cause]:
    for product in stored:
        gap = product.gap
        if gap is not None:
            key = f"{gap.span.first.day} {gap.span.last.day} {gap.difference}"
            place = AlertObject(ObjectKind.PRODUCT, str(product.id), product.access_id)
            facts = AlertFacts(product.product.name or None, gap.span.last.day)
            yield Cause(AlertKind.BALANCE_MISMATCH, place, key, gap.difference, gap.span.currency, facts)
