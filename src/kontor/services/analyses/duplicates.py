"""Accounts of a user that several accesses report: found by their products, and their bookings paired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from kontor.analysis.duplicates import SharedAccount
from kontor.connectors.files.accounts import derive_iban
from kontor.domain.duplicates import Source, find_repeated, group_sources, name_account, pick_balance
from kontor.domain.stored_products import StoredProduct
from kontor.domain.transactions import Transaction
from kontor.storage import accesses, tags, transactions
from kontor.storage.database import Connection


@dataclass(frozen=True, slots=True)
class SharedLedgers:
    """An account's products, the freshest first, and the bookings of each by id."""

    sources: tuple[Source, ...]
    ledgers: tuple[Mapping[str, Transaction], ...]
    corrected: frozenset[str]

    def pair(self) -> SharedAccount:
        """Takes a moment where there are many bookings."""
        return SharedAccount(
            tuple(source.id for source in self.sources),
            pick_balance(self.sources).id,
            find_repeated(self.ledgers),
            self.corrected,
        )


async def list_groups(
    connection: Connection, user_id: UUID, stored: Sequence[StoredProduct]
) -> list[tuple[Source, ...]]:
    """All accounts that are there more than once. Nothing is read where no two products have a number in common."""
    names = [name for product in stored if (name := name_account(_make_source(product))) is not None]
    if len(set(names)) == len(names):
        return []
    providers = {access.id: str(access.provider_id) for access in await accesses.list_accesses(connection, user_id)}
    # An access may have been deleted meanwhile.
    known = [product for product in stored if product.access_id in providers]
    return group_sources(_make_source(product, providers[product.access_id]) for product in known)


async def load_shared(connection: Connection, user_id: UUID, stored: Sequence[StoredProduct]) -> list[SharedLedgers]:
    """Those accounts with their bookings."""
    groups = await list_groups(connection, user_id, stored)
    if not groups:
        return []
    ids = [UUID(source.id) for group in groups for source in group]
    rows = await transactions.load_ledgers(connection, user_id, ids)
    corrected = frozenset(await tags.list_corrected(connection, user_id, ids))
    ledgers: dict[str, dict[str, Transaction]] = {str(product_id): {} for product_id in ids}
    for product_id, transaction_id, transaction in rows:
        ledgers[product_id][transaction_id] = transaction
    return [SharedLedgers(group, tuple(ledgers[source.id] for source in group), corrected) for group in groups]


def _make_source(stored: StoredProduct, provider_id: str = "") -> Source:
    """Files often name bank code and account number instead of the IBAN."""
    product = stored.product
    iban = product.iban or derive_iban(product.bank_code, product.account_number) or ""
    return Source(str(stored.id), stored.access_id, provider_id, stored.updated_at, product, iban)
