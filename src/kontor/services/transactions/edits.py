"""Edits of several transactions at once: preview, apply, list, undo."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

from kontor.domain.deltas import Change, ChangeKind
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.domain.json_fields import JsonField
from kontor.domain.own_categories import fits_basis
from kontor.domain.principals import Principal, user_of
from kontor.domain.transaction_edits import (
    MAX_ROWS,
    UNDO_DAYS,
    EditChange,
    EditPreview,
    SelectedRow,
    Selection,
    TransactionEdit,
    Undoing,
)
from kontor.services.analyses import (
    CategoryChoice,
    Repetitions,
    TransactionTagging,
    choose_category,
    correct_row,
    read_categories,
)
from kontor.services.security import auditing
from kontor.storage import annotations, customer_transactions, deltas, tags, transaction_edits
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts

EXAMPLES = 10
EURO = "EUR"


class TransactionEdits:
    def __init__(self, database: Database, tagging: TransactionTagging, repetitions: Repetitions) -> None:
        self._database = database
        self._tagging = tagging
        self._repetitions = repetitions

    async def preview(
        self, principal: Principal, selection: Selection, change: EditChange, fields: tuple[JsonField, ...]
    ) -> EditPreview:
        """What `apply` would change; nothing is stored."""
        await self._prepare(principal, selection, change)
        async with self._database.snapshot(principal.user_id) as connection:
            choice = await _choose(connection, user_of(principal), change)
            rows, _ = await _select(connection, user_of(principal), selection, choice)
            shown = [Change(ChangeKind.CHANGED, 0, row.product_id, row.id) for row in rows[:EXAMPLES]]
            examples = await deltas.read_rows(connection, user_of(principal), shown, fields, ())
        total = sum((row.amount for row in rows if row.currency == EURO), Decimal("0.00"))
        return EditPreview(len(rows), total, [example[0] for example in examples])

    async def apply(self, principal: Principal, selection: Selection, change: EditChange) -> TransactionEdit:
        """Change all rows, or none where anything is wrong. Rows whose sign does not fit the category are skipped."""
        await self._prepare(principal, selection, change)
        return await self._apply(principal, selection, change)

    @retry_conflicts
    async def _apply(self, principal: Principal, selection: Selection, change: EditChange) -> TransactionEdit:
        user_id, edit_id = user_of(principal), uuid4()
        async with self._database.transaction(principal.user_id) as connection:
            version = await self._tagging.find_version(connection, user_id)
            await tags.lock_state(connection, user_id, version)
            choice = await _choose(connection, user_id, change)
            selected, skipped = await _select(connection, user_id, selection, choice)
            rows = [(row.product_id, row.id) for row in selected]
            await transaction_edits.insert_edit(
                connection, user_id, edit_id, change.tags, change.annotation, rows, skipped
            )
            if choice is not None:
                tagged = [
                    correct_row(row, choice)
                    for row in await tags.list_tagged_rows(connection, user_id, [row.id for row in selected])
                    if row.tags is not None
                ]
                await tags.update_tags(connection, user_id, version, tagged)
            await annotations.annotate(connection, user_id, rows, change.annotation)
            await _record(connection, principal, "transactions.edit", edit_id)
            edit = await transaction_edits.find_edit(connection, user_id, edit_id)
            assert edit is not None
            return edit

    async def list_edits(self, principal: Principal) -> list[TransactionEdit]:
        async with self._database.connect(principal.user_id) as connection:
            return await transaction_edits.list_edits(connection, user_of(principal))

    async def read_edit(self, principal: Principal, edit_id: UUID) -> TransactionEdit:
        async with self._database.connect(principal.user_id) as connection:
            edit = await transaction_edits.find_edit(connection, user_of(principal), edit_id)
        if edit is None:
            raise NotFoundError
        return edit

    @retry_conflicts
    async def undo(self, principal: Principal, edit_id: UUID) -> Undoing:
        """Former values for the rows that the user has not changed since; what a refresh changed stays."""
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            version = await self._tagging.find_version(connection, user_id)
            await tags.lock_state(connection, user_id, version)
            edit = await transaction_edits.find_edit(connection, user_id, edit_id)
            if edit is None:
                raise NotFoundError
            if not edit.can_be_undone:
                raise ConflictError(f"An edit can be undone for {UNDO_DAYS} days.")
            undoing = await transaction_edits.undo_edit(connection, user_id, edit, version)
            await self._tagging.retag_changed(connection, user_id)
            await _record(connection, principal, "transactions.undo", edit_id)
        return undoing

    async def _prepare(self, principal: Principal, selection: Selection, change: EditChange) -> None:
        filters = selection.filters
        if change.category is not None or (filters is not None and filters.categories is not None):
            await self._tagging.ensure_tagged(principal)
        if filters is not None:
            await self._repetitions.update(user_of(principal))


async def _choose(connection: Connection, user_id: UUID, change: EditChange) -> CategoryChoice | None:
    if change.category is None:
        return None
    return choose_category(change.category, "tags.systemName", await read_categories(connection, user_id))


async def _select(
    connection: Connection, user_id: UUID, selection: Selection, choice: CategoryChoice | None
) -> tuple[Sequence[SelectedRow], int]:
    """The rows that the category fits, the newest first, and how many others there are."""
    if selection.ids is not None:
        rows = await customer_transactions.find_rows(connection, user_id, selection.ids)
        if len(rows) < len(set(selection.ids)):
            raise NotFoundError
    else:
        assert selection.filters is not None
        rows = await customer_transactions.select_rows(connection, user_id, selection.filters, MAX_ROWS + 1)
        if len(rows) > MAX_ROWS:
            raise InvalidError(f"finds more than {MAX_ROWS} transactions, the most that are changed at once", "filter")
    if choice is None:
        return rows, 0
    fitting = [row for row in rows if fits_basis(choice.basis, row.amount)]
    return fitting, len(rows) - len(fitting)


async def _record(connection: Connection, principal: Principal, action: str, edit_id: UUID) -> None:
    subject = f"user {principal.user_pseudonym} edit {edit_id}"
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), action, subject)
