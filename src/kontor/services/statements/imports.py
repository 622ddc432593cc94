"""Statement files into accounts: looked at first, then stored. What is there already is not added twice."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from kontor.analysis.tagging import OwnAccounts
from kontor.connectors.catalogue.providers import FILES_PROVIDER
from kontor.connectors.files.accounts import FileAccount
from kontor.connectors.statements import LIMITS, Balance, Limits, RejectedRow, UnknownTable
from kontor.connectors.statements.results import IssueKind
from kontor.domain.accesses import Access, check_access_id, make_product_id
from kontor.domain.balances import BalanceGap
from kontor.domain.cleaning import clean_position, clean_product
from kontor.domain.doubts import Doubt
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.import_results import AccountResult, ImportRecord, RefusedRow
from kontor.domain.merge_plans import MergePlan
from kontor.domain.permissions import PermissionChannel
from kontor.domain.principals import Principal, user_of
from kontor.domain.products import Product
from kontor.domain.stored_products import StoredProduct
from kontor.domain.transactions import Transaction
from kontor.services.analyses import NOTHING_PREPARED, PreparedTags, TransactionTagging, read_own_accounts
from kontor.services.compute import Compute, ReadAccount, ReadFile, read_file
from kontor.services.fetching import NOTHING_KNOWN, Merges, PackedKnown, write_plan
from kontor.services.runtime import Clock
from kontor.services.security import auditing
from kontor.services.statements.import_targets import check_named, check_targets, find_target
from kontor.storage import accesses, permissions, positions, products
from kontor.storage import imports as stored_imports
from kontor.storage.data_versions import lock_data, read_version
from kontor.storage.database import Connection, Database
from kontor.storage.permissions import NewPermission
from kontor.storage.retries import retry_conflicts
from kontor.storage.tags import TaggedRow

PLAN_ATTEMPTS = 3  # before the data is locked while the plans are made
NAMED_COLUMNS = 20  # in an error message


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
    """What a file brings to one account. `rejected` rows are left out.

    `doubts` are contradictions in the file, or between its balances and the bookings that are stored afterwards.

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

    def summarise(self) -> AccountResult:
        """Without the bookings."""
        return AccountResult(
            self.product_id,
            self.form,
            self.read,
            len(self.added),
            self.changed,
            self.known,
            tuple(RefusedRow(row.line, row.reason) for row in self.rejected),
            self.doubts,
            None if self.opening is None else self.opening.amount,
            None if self.closing is None else self.closing.amount,
        )


@dataclass(frozen=True, slots=True)
class Import:
    """`id` is that of the result, where it is kept."""

    kind: str
    accounts: tuple[ImportedAccount, ...]
    id: UUID | None = None


class UnknownFormError(InvalidError):
    """A CSV that the user has to describe first."""

    def __init__(self, table: UnknownTable) -> None:
        names = ", ".join(name for name, _ in table.columns[:NAMED_COLUMNS])
        super().__init__(f"The columns of this CSV are those of no form that Kontor knows: {names}", "body")
        self.table = table


@dataclass(frozen=True, slots=True)
class _Target:
    """Where an account of a file goes, and the rows that are stored there already."""

    read: ReadAccount
    product_id: UUID
    stored: StoredProduct | None
    known: PackedKnown


@dataclass(frozen=True, slots=True)
class _Targets:
    """All that is known before anything is computed, as of a version of the user's data."""

    version: int
    access: Access | None
    own: OwnAccounts
    targets: tuple[_Target, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    account: FileAccount
    product_id: UUID
    stored: StoredProduct | None
    merging: MergePlan
    same: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class _Plans:
    plans: tuple[_Plan, ...]
    tags: PreparedTags


class _OutdatedError(Exception):
    """The data has changed since the plans were made; what was written meanwhile is rolled back."""


class Imports:
    def __init__(
        self, database: Database, clock: Clock, tagging: TransactionTagging, compute: Compute, merges: Merges
    ) -> None:
        self._database = database
        self._clock = clock
        self._tagging = tagging
        self._compute = compute
        self._merges = merges

    async def import_file(
        self,
        owner: Owner,
        access_id: str,
        data: bytes,
        *,
        product_id: UUID | None = None,
        is_preview: bool = False,
        limits: Limits = LIMITS,
        form: str | None = None,
        is_kept: bool = False,
    ) -> Import:
        """Store what a file has besides what is known, all or none; with `is_preview` only tell.

        With `product_id` the file must be of that product, or name no account. Without, its accounts are found by their
        numbers, or by bank and kind, in an access that holds files only; it is made, and gets the accounts it lacks.

        `form` names the form of a CSV; without it all are tried, the user's own ones too. With `is_kept` the result can
        be read again later. UnknownFormError where a CSV has none of these forms.
        """
        check_access_id(access_id)
        read = await self._read(owner, data, limits, form)
        result_id = uuid4() if is_kept else None
        for _ in range(PLAN_ATTEMPTS):
            async with self._database.connect(owner.user_id) as connection:
                targets = await self._find_targets(connection, owner, access_id, product_id, read)
            found = await self._plan(owner, targets, has_tags=not is_preview)
            imported = Import(read.kind, tuple(_describe(plan) for plan in found.plans), result_id)
            if is_preview or await self._store_if_current(owner, access_id, targets, found, imported):
                return imported
        return await self._plan_and_store(owner, access_id, product_id, read, result_id)

    async def find_access_of(self, owner: Owner, product_id: UUID) -> str:
        """The access of a product that the user has."""
        async with self._database.connect(owner.user_id) as connection:
            stored = await products.list_products(connection, owner.user_id)
        access_id = next((product.access_id for product in stored if product.id == product_id), None)
        if access_id is None:
            raise NotFoundError
        return access_id

    async def read_result(self, owner: Owner, result_id: UUID) -> ImportRecord:
        async with self._database.connect(owner.user_id) as connection:
            kept = await stored_imports.find_result(connection, owner.user_id, result_id)
        if kept is None:
            raise NotFoundError
        return kept

    async def _read(self, owner: Owner, data: bytes, limits: Limits, form: str | None) -> ReadFile:
        async with self._database.connect(owner.user_id) as connection:
            forms = await stored_imports.list_forms(connection, owner.user_id)
        today = self._clock.today()
        read = await self._compute.run(read_file, data, limits, today, forms, form, owner=owner.user_id)
        if isinstance(read, UnknownTable):
            raise UnknownFormError(read)
        return read

    @retry_conflicts
    async def _store_if_current(
        self, owner: Owner, access_id: str, targets: _Targets, found: _Plans, imported: Import
    ) -> bool:
        """False when the data that the plans were made from has changed since."""
        try:
            async with self._database.transaction(owner.user_id) as connection:
                access = await accesses.lock_access(connection, owner.user_id, access_id)
                if not _is_same_access(access, targets.access):
                    raise _OutdatedError
                if access is None and not await self._insert_access(connection, owner, access_id):
                    raise _OutdatedError
                await lock_data(connection, owner.user_id)
                if await read_version(connection, owner.user_id) != targets.version:
                    raise _OutdatedError
                await self._store(connection, owner, access_id, found, imported)
        except _OutdatedError:
            return False
        return True

    @retry_conflicts
    async def _plan_and_store(
        self, owner: Owner, access_id: str, product_id: UUID | None, read: ReadFile, result_id: UUID | None
    ) -> Import:
        """In one transaction, because other calls of this user keep changing the data: they wait this time."""
        async with self._database.transaction(owner.user_id) as connection:
            while await accesses.lock_access(connection, owner.user_id, access_id) is None:
                if product_id is not None:
                    raise NotFoundError
                if await self._insert_access(connection, owner, access_id):
                    break
            await lock_data(connection, owner.user_id)
            targets = await self._find_targets(connection, owner, access_id, product_id, read)
            found = await self._plan(owner, targets)
            imported = Import(read.kind, tuple(_describe(plan) for plan in found.plans), result_id)
            await self._store(connection, owner, access_id, found, imported)
        return imported

    async def _insert_access(self, connection: Connection, owner: Owner, access_id: str) -> bool:
        """An access for files. False when the user has one of that id by now."""
        is_inserted = await accesses.insert_access(
            connection, owner.user_id, access_id, FILES_PROVIDER.id, is_synced=True, selected_products=None
        )
        if is_inserted:
            await permissions.open_permission(
                connection, owner.user_id, NewPermission(access_id, PermissionChannel.FILES)
            )
            await accesses.store_success(
                connection, owner.user_id, access_id, messages=[], issues=[],
                connector_state=None, consent_until=None, today=self._clock.today(), expires_at=None,
            )  # fmt: skip
        return is_inserted

    async def _find_targets(
        self, connection: Connection, owner: Owner, access_id: str, product_id: UUID | None, read: ReadFile
    ) -> _Targets:
        version = await read_version(connection, owner.user_id)
        access = await accesses.find_access(connection, owner.user_id, access_id)
        if (access is None and product_id is not None) or (access is not None and not access.is_confirmed):
            raise NotFoundError
        stored = await products.list_products(connection, owner.user_id, access_id)
        if product_id is not None:
            stored = [product for product in stored if product.id == product_id]
            if not stored:
                raise NotFoundError
        is_named = product_id is not None
        read_accounts = [read_account.account for read_account in read.accounts]
        if is_named:
            check_named(read_accounts)
        may_add = product_id is None and (access is None or access.provider_id == FILES_PROVIDER.id)
        fitting = [find_target(stored, account, is_named=is_named, may_add=may_add) for account in read_accounts]
        check_targets(read_accounts, fitting)
        targets = [
            await self._load_target(connection, owner, access_id, read_account, product)
            for read_account, product in zip(read.accounts, fitting, strict=True)
        ]
        coming = [clean_product(target.read.account.product) for target in targets if target.stored is None]
        own = await read_own_accounts(connection, owner.user_id, coming)
        return _Targets(version, access, own, tuple(targets))

    async def _load_target(
        self, connection: Connection, owner: Owner, access_id: str, read: ReadAccount, fitting: StoredProduct | None
    ) -> _Target:
        if fitting is None:
            product_id = make_product_id(owner.user_id, access_id, read.account.product.key)
            return _Target(read, product_id, None, NOTHING_KNOWN)
        known = await self._merges.load(connection, owner.user_id, fitting.id, read.first, read.account.spans)
        return _Target(read, fitting.id, fitting, known)

    async def _plan(self, owner: Owner, targets: _Targets, *, has_tags: bool = True) -> _Plans:
        """What is to be written; nothing here needs the database."""
        plans = []
        for target in targets.targets:
            read = target.read
            # Only the bank knows what became of pending rows that a file does not repeat.
            merging = await self._merges.plan(
                owner.user_id, target.known, read.rows, read.account.spans, keeps_pending=True
            )
            same = read.count - len(merging.merge.new) - len(merging.merge.changed)
            plans.append(_Plan(read.account, target.product_id, target.stored, merging, same, read.unreadable))
        tags = NOTHING_PREPARED
        if has_tags:
            tags = await self._merges.prepare_tags(owner.user_id, targets.own, (plan.merging for plan in plans))
        return _Plans(tuple(plans), tags)

    async def _store(
        self, connection: Connection, owner: Owner, access_id: str, found: _Plans, imported: Import
    ) -> None:
        user_id, today = owner.user_id, self._clock.today()
        new: list[TaggedRow] = []
        for number, plan in enumerate(found.plans):
            if plan.stored is None:
                product = clean_product(plan.account.product)
                await products.upsert_product(connection, user_id, plan.product_id, access_id, number, product)
                await products.set_products_seen(connection, user_id, [plan.product_id], [])
            elif plan.account.product.balance_at is not None:
                product = clean_product(plan.account.product)
                await products.set_newer_balance(connection, user_id, plan.product_id, product)
            written = await write_plan(connection, user_id, plan.product_id, plan.merging, today)
            new += written.new
            if plan.account.positions is not None:
                held = [clean_position(position) for position in plan.account.positions]
                await positions.replace_positions(connection, user_id, plan.product_id, held)
        await self._tagging.retag_changed(connection, user_id, found.tags, new)
        subject = f"user {owner.pseudonym} access {access_id}"
        await auditing.record(connection, owner.tenant_id, owner.actor, "transactions.import", subject)
        if imported.id is not None:
            results = [account.summarise() for account in imported.accounts]
            await stored_imports.insert_result(connection, user_id, imported.id, access_id, results)


def _is_same_access(access: Access | None, planned_for: Access | None) -> bool:
    if access is None or planned_for is None:
        return access is planned_for
    return (access.provider_id, access.is_confirmed) == (planned_for.provider_id, planned_for.is_confirmed)


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
        len(plan.merging.merge.new) + len(plan.merging.merge.changed) + plan.same,
        plan.merging.merge.new,
        len(plan.merging.merge.changed),
        plan.same,
        rejected,
        (*account.doubts, *(_make_doubt(gap) for gap in plan.merging.span_gaps)),
        account.opening,
        account.closing,
    )


def _make_doubt(gap: BalanceGap) -> Doubt:
    span = gap.span
    return Doubt(str(IssueKind.BALANCE_MISMATCH), gap.difference, f"{span.first.day} to {span.last.day}")
