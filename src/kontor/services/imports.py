"""Statement files into accounts: looked at first, then stored. What is there already is not added twice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from kontor.connectors.catalogue.providers import FILES_PROVIDER
from kontor.connectors.files.accounts import FileAccount, join_statements
from kontor.connectors.statements import Balance, RejectedRow, StatementError, read_statements
from kontor.domain.accesses import check_access_id, make_product_id
from kontor.domain.cleaning import clean_position, clean_product
from kontor.domain.doubts import Doubt
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.merging import Merge, merge_transactions
from kontor.domain.principals import Principal
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, clean_transaction, find_day
from kontor.services import auditing
from kontor.services.accesses import user_of
from kontor.services.bookings import write_merge
from kontor.services.clock import Clock
from kontor.services.import_targets import check_named, find_target
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
    """What a file brings to one account. `rejected` rows are left out; `doubts` are contradictions in the file.

    `form` names the format, and the layout of a CSV. The balances are those before and after the file's bookings.
    """

    product_id: UUID
    product: Product
    is_new: bool
    form: str
    read: int
    added: tuple[Transaction, ...]
    changed: int
    known: int
    rejected: tuple[RejectedRow, ...]
    doubts: tuple[Doubt, ...]
    opening: Balance | None
    closing: Balance | None


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

        With `product_id` the file must be of that product, or name no account. Without, its accounts are found by their
        numbers, or by bank and kind, in an access that holds files only; it is made, and gets the accounts it lacks.
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
            if (access is None and product_id is not None) or (access is not None and not access.is_confirmed):
                raise NotFoundError
            stored = await products.list_products(connection, owner.user_id, access_id)
            if product_id is not None:
                stored = [one for one in stored if one.id == product_id]
                if not stored:
                    raise NotFoundError
            is_named = product_id is not None
            if is_named:
                check_named(accounts)
            may_add = product_id is None and (access is None or access.provider_id == FILES_PROVIDER.id)
            targets = [find_target(stored, one, is_named=is_named, may_add=may_add) for one in accounts]
            plans = [
                await self._plan(connection, owner, access_id, account, target)
                for account, target in zip(accounts, targets, strict=True)
            ]
            if not is_preview:
                await self._store(connection, owner, access_id, plans, is_new=access is None)
        return Import(str(found.kind), tuple(_describe(one) for one in plans))

    async def _plan(
        self,
        connection: Connection,
        owner: Owner,
        access_id: str,
        account: FileAccount,
        fitting: StoredProduct | None,
    ) -> _Plan:
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


def _describe(plan: _Plan) -> ImportedAccount:
    account = plan.account
    rejected = account.rejected
    if plan.unreadable:
        rejected += (RejectedRow(None, f"{plan.unreadable} bookings have no day or no amount that can be stored."),)
    return ImportedAccount(
        plan.product_id,
        account.product if plan.stored is None else plan.stored.product,
        plan.stored is None,
        account.form,
        len(plan.merge.new) + len(plan.merge.changed) + plan.known,
        plan.merge.new,
        len(plan.merge.changed),
        plan.known,
        rejected,
        account.doubts,
        account.opening,
        account.closing,
    )
