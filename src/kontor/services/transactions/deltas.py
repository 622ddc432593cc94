"""Changes of transactions since a reader's position (ADR 0047)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kontor.domain.deltas import (
    NOTHING_TOLD,
    Change,
    ChangeKind,
    DeltaCursor,
    Progress,
    name_scope,
    read_cursor,
    refuse_cursor,
    write_cursor,
)
from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.principals import Principal, user_of
from kontor.services.analyses import Repetitions, TransactionTagging
from kontor.storage import deltas, repetitions
from kontor.storage.database import Database
from kontor.storage.deltas import DeltaState


@dataclass(frozen=True, slots=True)
class DeltaView:
    """What is read: of one product or of all, which keys of each transaction, and with which tags beside it."""

    product_id: UUID | None
    fields: tuple[JsonField, ...]
    columns: tuple[TagColumns, ...] = ()

    @property
    def tag_column(self) -> str | None:
        return self.columns[0][0] if self.columns else None


@dataclass(frozen=True, slots=True)
class Delta:
    """An answer. Rows come with the id of their product."""

    new: list[tuple[UUID, TagRow]]
    changed: list[tuple[UUID, TagRow]]
    removed: list[Change]
    cursor: str
    has_more: bool


class Deltas:
    def __init__(self, database: Database, tagging: TransactionTagging, repetitions: Repetitions) -> None:
        self._database = database
        self._tagging = tagging
        self._repetitions = repetitions

    async def read(self, principal: Principal, since: str | None, limit: int, view: DeltaView) -> Delta:
        """What has changed since a cursor, or everything without one.

        ConflictError for a cursor that is not the user's, or before changes that are no longer known.
        """
        user_id = user_of(principal)
        cursor = DeltaCursor() if since is None else read_cursor(user_id, since)
        if view.columns:
            await self._tagging.ensure_tagged(principal)
        paired = await self._repetitions.update(user_id) if view.product_id is None else None
        scope = name_scope(view.product_id, view.tag_column)
        async with self._database.snapshot(principal.user_id) as connection:
            state = await deltas.read_state(connection, user_id)
            _check(cursor, scope, state)
            until = state.version if paired is None else max(paired, cursor.version)
            progress = cursor.progress or Progress(scope, until, cursor.version + 1)
            changes = await deltas.list_changes(
                connection,
                user_id,
                cursor.version,
                progress,
                limit + 1,  # tells whether anything follows
                product_id=view.product_id,
                tag_column=view.tag_column,
                is_paired=view.product_id is None and await repetitions.has_repeated(connection, user_id),
            )
            told = changes[:limit]
            shown = [change for change in told if change.kind is not ChangeKind.REMOVED]
            rows = await deltas.read_rows(connection, user_id, shown, view.fields, view.columns)
        following = DeltaCursor(progress.until)
        if len(changes) > limit:
            last = told[-1]
            position = Progress(scope, progress.until, last.version, last.product_id, last.transaction_id)
            following = DeltaCursor(cursor.version, position)
        return Delta(
            _select(ChangeKind.NEW, shown, rows),
            _select(ChangeKind.CHANGED, shown, rows),
            [change for change in told if change.kind is ChangeKind.REMOVED],
            write_cursor(user_id, following),
            following.progress is not None,
        )


def _check(cursor: DeltaCursor, scope: bytes, state: DeltaState) -> None:
    """From where on changes must be known: the reader's version, or the end of its first reading."""
    progress = cursor.progress
    if progress is not None and (progress.scope != scope or progress.until > state.version):
        raise refuse_cursor()
    if cursor.version == NOTHING_TOLD:
        needed = state.version if progress is None else progress.until
    else:
        needed = cursor.version
    if not state.first_version <= needed <= state.version:
        raise refuse_cursor()


def _select(kind: ChangeKind, changes: Sequence[Change], rows: Sequence[TagRow]) -> list[tuple[UUID, TagRow]]:
    return [(change.product_id, row) for change, row in zip(changes, rows, strict=True) if change.kind is kind]
