"""Reading Kontor: accounts, and the changes of transactions since the last run."""

from collections.abc import Iterable, Iterator
from datetime import date

from kontor.cli.syncs.entries import Account, LedgerError
from kontor.cli.syncs.mirror import Mirror, Row
from kontor_client import Access, ApiError, Kontor, Product, ProductCategory
from kontor_client.models.transactions import ChangedTransaction

# What a reading knows of a transaction, and the tag that tells it.
READINGS = {"category": "categories", "partner": "business-partners"}
UNKNOWN = "UNKNOWN"
PAGE_ROWS = 2000
MAX_ROUNDS = 20
SAVINGS = (ProductCategory.SAVINGS, ProductCategory.CALL_MONEY, ProductCategory.FIXED_TERM)
START_AGAIN = 409


def read_kontor(kontor: Kontor, mirror: Mirror) -> list[Account]:
    """Brings the mirror up to date. Returns the accounts, with balances of the same moment as the rows."""
    for _ in range(MAX_ROUNDS):
        before = [mirror.read_fact(f"cursor-{kind}") for kind in READINGS]
        accesses = kontor.list_accesses().values()
        for kind, tag in READINGS.items():
            _read_changes(kontor, mirror, kind, tag)
        cursors = [mirror.read_fact(f"cursor-{kind}") for kind in READINGS]
        # Accounts were read between two equal positions: their balances are of these rows.
        if cursors == before and len(set(cursors)) == 1:
            return list(join_products(accesses))
    raise LedgerError("Kontor's data changes all the time. Try again later.")


def _read_changes(kontor: Kontor, mirror: Mirror, kind: str, tag: str) -> None:
    has_more = True
    while has_more:
        since = mirror.read_fact(f"cursor-{kind}")
        try:
            changes = kontor.list_all_transaction_changes(since=since, limit=PAGE_ROWS, tag=tag)
        except ApiError as error:
            if error.status != START_AGAIN or since is None:
                raise
            mirror.forget_rows()
            continue
        rows = [make_row(changed) for changed in (*changes.new, *changes.changed)]
        mirror.apply(rows, [removed.id for removed in changes.removed], kind, changes.cursor)
        has_more = changes.has_more


def make_row(changed: ChangedTransaction) -> Row:
    tag = changed.tags[0].item if changed.tags else None
    is_known = tag is not None and tag.system_name != UNKNOWN
    day = changed.booked_at or changed.value_at
    return Row(
        changed.id,
        changed.product_id or "",
        (date.min if day is None else day.date()).isoformat(),
        str(changed.amount or 0),
        changed.currency or "EUR",
        changed.counterparty_name or changed.booking_text or "",
        changed.purpose or "",
        changed.note or "",
        tuple(changed.keywords),
        changed.is_pending,
        category=tag.system_name if tag is not None else "",
        partner=tag.display_name if tag is not None and is_known else "",
    )


def join_products(accesses: Iterable[Access]) -> Iterator[Account]:
    """One account for all products of the same account. Its balance is the freshest one. Depots have no bookings."""
    groups: dict[str, list[Product]] = {}
    for access in accesses:
        for product in access.products:
            if product.category != ProductCategory.DEPOT:
                key = f"{product.iban.replace(' ', '')} {product.currency or 'EUR'}" if product.iban else product.id
                groups.setdefault(key, []).append(product)
    for key, products in groups.items():
        freshest = max(products, key=lambda product: product.updated_at)
        yield Account(
            key,
            " ".join(part for part in (freshest.institution, freshest.name) if part),
            freshest.currency or "EUR",
            tuple(product.id for product in products),
            freshest.balance,
            freshest.iban,
            freshest.category in SAVINGS,
        )
