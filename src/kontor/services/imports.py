"""Statement files into accounts: looked at first, then stored. What is there already is not added twice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from kontor.connectors.catalogue.providers import FILES_PROVIDER
from kontor.connectors.files.accounts import FileAccount, derive_iban, join_statements
from kontor.connectors.statements import StatementError, read_statements
from kontor.domain.accesses import check_access_id, make_product_id
from kontor.domain.cleaning import clean_position, clean_product
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.merging import Merge, merge_transactions
from kontor.domain.principals import Principal
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, clean_transaction, find_day
from kontor.services import auditing
from kontor.services.accesses import user_of
from kontor.services.bookings import write_merge
from kontor.services.clock import Clock
from kontor.services.tagging import TransactionTagging
from kontor.storage import accesses, positions, products, transactions
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database
from kontor.storage.products import StoredProduct


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose data is imported, and who does it."""

    user_id: UUID
    pseudonym: UUID
    tenant_id: UUID
    actor: str


def name_owner(principal: Principal) -> Owner:
    assert principal.user_pseudonym is not None, "a user has one"
    return Owner(user_of(principal), principal.user_pseudonym, principal.tenant_id, auditing.name_actor(principal))


@dataclass(frozen=True, slots=True)
class ImportedAccount:
    """What a file brings to one account. `doubts` are contradictions in the file; `unreadable` rows are left out."""

    product: Product
    is_new: bool
    added: tuple[Transaction, ...]
    changed: int
    known: int
    unreadable: int
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Import:
    kind: str
    accounts: tuple[ImportedAccount, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    account: FileAccount
    product_id: UUID
    stored: StoredProduct | None
    merge: Merge
    known: int
    unreadable: int


class Imports:
    def __init__(self, database: Database, clock: Clock, tagging: TransactionTagging) -> None:
        self._database = database
        self._clock = clock
        self._tagging = tagging

    async def import_file(
        self, owner: Owner, access_id: str, data: bytes, *, product_id: UUID | None = None, is_preview: bool = False
    ) -> Import:
        """Store what a file has besides what is known, all or none; with `is_preview` only tell.

        With `product_id` the file must be of that product. Without, its accounts are found by their numbers; an access
        that does not exist, or holds files only, gets the accounts that it lacks.
        """
        check_access_id(access_id)
        try:
            found = read_statements(data)
        except StatementError as error:
            raise InvalidError(str(error), "body") from None
        accounts = join_statements(found.statements, found.holdings)
        async with self._database.transaction() as connection:
            await lock_data(connection, owner.user_id)
            access = await accesses.lock_access(connection, owner.user_id, access_id)
            if access is None and product_id is not None:
                raise NotFoundError
            stored = await products.list_products(connection, owner.user_id, access_id)
            if product_id is not None:
                stored = [one for one in stored if one.id == product_id]
                if not stored:
                    raise NotFoundError
            may_add = product_id is None and (access is None or access.provider_id == FILES_PROVIDER.id)
            plans = [await self._plan(connection, owner, access_id, one, stored, may_add=may_add) for one in accounts]
            if not is_preview:
                await self._store(connection, owner, access_id, plans, is_new=access is None)
        return Import(str(found.kind), tuple(_describe(one) for one in plans))

    async def _plan(
        self,
        connection: Connection,
        owner: Owner,
        access_id: str,
        account: FileAccount,
        stored: Sequence[StoredProduct],
        *,
        may_add: bool,
    ) -> _Plan:
        fitting = next((one for one in stored if _is_same(one.product, account.product)), None)
        if fitting is None and not may_add:
            raise InvalidError(f"the file is of another account: {account.product.key}", "body")
        product_id = make_product_id(owner.user_id, access_id, account.product.key) if fitting is None else fitting.id
        rows = [one for one in map(clean_transaction, account.transactions) if one is not None]
        today = self._clock.today()
        rows.sort(key=lambda one: find_day(one) or today)
        known = []
        if fitting is not None:
            first = min((day for day in map(find_day, rows) if day is not None), default=date.max)
            known = await transactions.load_transactions(connection, owner.user_id, product_id, first)
        merge = merge_transactions(known, rows)
        same = len(rows) - len(merge.new) - len(merge.changed)
        return _Plan(account, product_id, fitting, merge, same, len(account.transactions) - len(rows))

    async def _store(
        self, connection: Connection, owner: Owner, access_id: str, plans: Sequence[_Plan], *, is_new: bool
    ) -> None:
        user_id, today = owner.user_id, self._clock.today()
        if is_new:
            await accesses.insert_access(
                connection, user_id, access_id, FILES_PROVIDER.id, is_synced=True, selected_products=None
            )
            await accesses.store_success(
                connection, user_id, access_id, messages=[], issues=[], memory=None, consent_until=None, expires_at=None
            )
        for number, plan in enumerate(plans):
            if plan.stored is None:
                product = clean_product(plan.account.product)
                await products.upsert_product(connection, user_id, plan.product_id, access_id, number, product)
                await products.set_products_seen(connection, user_id, [plan.product_id], [])
            # Pending rows that a file does not repeat stay: only the bank itself knows what became of them.
            await write_merge(connection, user_id, plan.product_id, replace(plan.merge, vanished=()), today)
            if plan.account.positions is not None:
                held = [clean_position(one) for one in plan.account.positions]
                await positions.replace_positions(connection, user_id, plan.product_id, held)
        await self._tagging.follow(connection, user_id)
        subject = f"user {owner.pseudonym} access {access_id}"
        await auditing.record(connection, owner.tenant_id, owner.actor, "transactions.import", subject)


def _is_same(product: Product, other: Product) -> bool:
    """The same account: by IBAN where both have one, else by number and bank; a file without either is of any.

    Where one has an IBAN and the other a number, the general rule tells whether they are the same.
    """
    if product.iban and other.iban:
        return product.iban == other.iban
    if product.account_number and other.account_number:
        codes = {product.bank_code, other.bank_code} - {None, ""}
        return product.account_number.lstrip("0") == other.account_number.lstrip("0") and len(codes) <= 1
    if other.iban or other.account_number:
        wanted = _find_iban(other)
        return wanted is not None and _find_iban(product) == wanted
    return True


def _find_iban(product: Product) -> str | None:
    return product.iban or derive_iban(product.bank_code, product.account_number)


def _describe(plan: _Plan) -> ImportedAccount:
    product = plan.account.product if plan.stored is None else plan.stored.product
    return ImportedAccount(
        product,
        plan.stored is None,
        plan.merge.new,
        len(plan.merge.changed),
        plan.known,
        plan.unreadable,
        plan.account.doubts,
    )
