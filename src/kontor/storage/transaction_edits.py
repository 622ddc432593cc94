"""Edits of several transactions at once, and what the transactions had before."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from kontor.domain.annotations import UNCHANGED, Annotation
from kontor.domain.transaction_edits import LISTED_EDITS, UNDO_DAYS, TransactionEdit, Undoing
from kontor.storage.data_versions import increment_version, take_version
from kontor.storage.database import ALLOW_NESTED_LOOPS, AVOID_NESTED_LOOPS, Connection
from kontor.storage.lock_order import Lock, note_lock
from kontor.storage.user_binding import bind_transaction

NO_EDIT = UUID(int=0)
EDIT_COLUMNS = (
    "id, version, tags, sets_note, note, sets_keywords, keywords, row_count, skipped_count, made_at,"
    " made_at > now() - make_interval(days => %(days)s)"
)
# Rows are many, and statistics may not know that the user has any. So no statement looks up row by row: ids are
# looked up in a table made once (within `case`, so that the planner makes no join of it), and a full join is never
# done row against row.
KEEP_ROWS = """
    insert into transaction_edit_rows (user_id, product_id, transaction_id, edit_id, tags, note, keywords,
        edited_version)
    select t.user_id, t.product_id, t.id, %(edit)s,
        case when %(sets_tags)s then (
            select to_jsonb(g) - '{user_id,product_id,transaction_id}'::text[] from transaction_tags g
            where g.user_id = %(user)s and g.product_id = t.product_id and g.transaction_id = t.id) end,
        case when %(sets_note)s then t.note end, case when %(sets_keywords)s then t.keywords end, t.edited_version
    from transactions t where t.user_id = %(user)s
        and case when t.id in (select unnest(%(ids)s::uuid[])) then true else false end
"""
# A row whose edited version is another one was changed by the user since.
RESTORABLE = """
    select id, changed_version > %(edited)s from transactions where user_id = %(user)s and edited_version = %(edited)s
"""
RESTORE_TAGS = """
    update transaction_tags g set category = b.category, insurance_type = b.insurance_type,
        category_confidence = b.category_confidence, insurance_confidence = b.insurance_confidence,
        source = b.source, rule_id = b.rule_id, own_category = b.own_category, learnt_from = b.learnt_from,
        tagger_version = b.tagger_version,
        category_version = case when (g.category, g.category_confidence)
            is distinct from (b.category, b.category_confidence) then %(version)s else g.category_version end,
        insurance_version = case when (g.insurance_type, g.insurance_confidence)
            is distinct from (b.insurance_type, b.insurance_confidence) then %(version)s else g.insurance_version end,
        own_category_version = case when g.own_category is distinct from b.own_category then %(version)s
            else g.own_category_version end
    from (
        select coalesce(o.place, '(0,0)') as place, r.tags
        from (select ctid as place, product_id, transaction_id from transaction_tags where user_id = %(user)s) o
            full join (
                select product_id, transaction_id, tags from transaction_edit_rows
                where user_id = %(user)s and edit_id = %(edit)s and tags is not null
                    and case when transaction_id in (select unnest(%(ids)s::uuid[])) then true else false end
            ) r on r.product_id = o.product_id and r.transaction_id = o.transaction_id
        where coalesce(r.tags, 'null') <> 'null'
    ) f cross join lateral jsonb_populate_record(null::transaction_tags, f.tags) b
    where g.user_id = %(user)s and g.ctid = f.place
"""
# Tags of a rule are decided anew, since it may be another one now, and those of the tagger where the booking or the
# tagger has changed since.
FORGET_TAGS = """
    update transaction_tags set is_forgotten = true where user_id = %(user)s and source <> 'USER'
        and case when transaction_id in (select unnest(%(ids)s::uuid[])) then true else false end
        and (source = 'RULE' or tagger_version <> %(tagger)s
            or case when transaction_id in (select unnest(%(changed_ids)s::uuid[])) then true else false end)
"""
RESTORE_ROWS = """
    update transactions t set note = case when %(sets_note)s then f.note else t.note end,
        keywords = case when %(sets_keywords)s then f.keywords else t.keywords end,
        edited_version = f.edited_version,
        changed_version = case when (%(sets_note)s and t.note is distinct from f.note)
            or (%(sets_keywords)s and t.keywords is distinct from f.keywords)
            then %(version)s else t.changed_version end,
        document_version = case when %(sets_note)s or %(sets_keywords)s then null else t.document_version end
    from (
        select coalesce(o.place, '(0,0)') as place, r.note, r.keywords, r.edited_version
        from (
            select ctid as place, product_id, id from transactions
            where user_id = %(user)s and edited_version = %(edited)s
        ) o full join (
            select * from transaction_edit_rows where user_id = %(user)s and edit_id = %(edit)s
        ) r on r.product_id = o.product_id and r.transaction_id = o.id
        where coalesce(r.edit_id, %(none)s) = %(edit)s
    ) f
    where t.user_id = %(user)s and t.ctid = f.place
"""
FORGET_EDITS = """
    delete from transaction_edits where user_id = %(user)s and made_at <= now() - make_interval(days => %(days)s)
        and id not in (select id from transaction_edits where user_id = %(user)s
            order by made_at desc, version desc, id limit %(listed)s)
"""


def _edit(row: Sequence[Any]) -> TransactionEdit:
    edit_id, version, tags, sets_note, note, sets_keywords, keywords, count, skipped, *times = row
    annotation = Annotation(note if sets_note else UNCHANGED, tuple(keywords or ()) if sets_keywords else UNCHANGED)
    return TransactionEdit(edit_id, version, tags, annotation, count, skipped, *times)


def _name_values(annotation: Annotation) -> dict[str, Any]:
    return {
        "sets_note": annotation.note is not UNCHANGED,
        "note": None if annotation.note is UNCHANGED else annotation.note,
        "sets_keywords": annotation.keywords is not UNCHANGED,
        "keywords": None if annotation.keywords is UNCHANGED else list(annotation.keywords) or None,
    }


async def insert_edit(
    connection: Connection,
    user_id: UUID,
    edit_id: UUID,
    tags: Any,
    annotation: Annotation,
    rows: Sequence[tuple[UUID, UUID]],
    skipped: int,
) -> None:
    """Before these transactions, given by product and id, are changed. Edits that nobody is shown any more go."""
    values = {
        "user": user_id,
        "edit": edit_id,
        "version": await take_version(connection, user_id),
        "tags": None if tags is None else Jsonb(tags),
        "count": len(rows),
        "skipped": skipped,
        "sets_tags": tags is not None,
        "days": UNDO_DAYS,
        "listed": LISTED_EDITS,
        "ids": [transaction_id for _, transaction_id in rows],
    } | _name_values(annotation)
    await connection.execute(
        "insert into transaction_edits (user_id, id, version, tags, sets_note, note, sets_keywords, keywords,"
        " row_count, skipped_count) values (%(user)s, %(edit)s, %(version)s, %(tags)s, %(sets_note)s, %(note)s,"
        " %(sets_keywords)s, %(keywords)s, %(count)s, %(skipped)s)",
        values,
    )
    await connection.execute(KEEP_ROWS, values)
    await connection.execute(FORGET_EDITS, values)


async def list_edits(connection: Connection, user_id: UUID) -> list[TransactionEdit]:
    """The latest first."""
    cursor = await connection.execute(
        f"select {EDIT_COLUMNS} from transaction_edits where user_id = %(user)s"
        " order by made_at desc, version desc, id limit %(listed)s",
        {"user": user_id, "days": UNDO_DAYS, "listed": LISTED_EDITS},
    )
    return [_edit(row) for row in await cursor.fetchall()]


async def find_edit(connection: Connection, user_id: UUID, edit_id: UUID) -> TransactionEdit | None:
    cursor = await connection.execute(
        f"select {EDIT_COLUMNS} from transaction_edits where user_id = %(user)s and id = %(edit)s",
        {"user": user_id, "edit": edit_id, "days": UNDO_DAYS},
    )
    row = await cursor.fetchone()
    return None if row is None else _edit(row)


async def undo_edit(connection: Connection, user_id: UUID, edit: TransactionEdit, tagger_version: str) -> Undoing:
    """The rows that nobody has changed since have their former values again; the edit is gone."""
    note_lock(Lock.DATA_VERSION, user_id)
    values = {
        "user": user_id,
        "edit": edit.id,
        "edited": edit.version,
        "version": await take_version(connection, user_id),
        "tagger": tagger_version,
        "none": NO_EDIT,
    } | _name_values(edit.annotation)
    cursor = await connection.execute(RESTORABLE, values)
    rows = await cursor.fetchall()
    values |= {"ids": [row[0] for row in rows], "changed_ids": [row[0] for row in rows if row[1]]}
    # Row-level security adds a condition on the user to a join by `ctid`.
    await connection.execute(AVOID_NESTED_LOOPS)
    if edit.tags is not None:
        await connection.execute(RESTORE_TAGS, values)
        await connection.execute(FORGET_TAGS, values)
    await connection.execute(RESTORE_ROWS, values)
    await connection.execute(ALLOW_NESTED_LOOPS)
    if rows:
        await increment_version(connection, user_id)
    await connection.execute("delete from transaction_edits where user_id = %s and id = %s", [user_id, edit.id])
    return Undoing(len(rows), edit.count - len(rows))


async def delete_empty_edits(connection: Connection, user_id: UUID) -> None:
    """Edits whose transactions are all gone: what the user wrote goes with them."""
    await connection.execute(
        "delete from transaction_edits e where e.user_id = %(user)s and e.has_rows and (select true"
        " from transaction_edit_rows r where r.user_id = %(user)s and r.edit_id = e.id limit 1) is null",
        {"user": user_id},
    )


async def forget_old_rows(connection: Connection) -> bool:
    """What one edit that can no longer be undone had set, and the former values. False when there is none."""
    cursor = await connection.execute(
        "select user_id, id from all_old_edits(now() - make_interval(days => %s))", [UNDO_DAYS]
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    await bind_transaction(connection, row[0])
    cursor = await connection.execute(
        "select 1 from transaction_edits where user_id = %s and id = %s and has_rows for update skip locked", list(row)
    )
    if await cursor.fetchone() is None:  # somebody else is at it
        return False
    await connection.execute(
        "update transaction_edits set has_rows = false, tags = null, sets_note = false, note = null,"
        " sets_keywords = false, keywords = null where user_id = %s and id = %s",
        list(row),
    )
    await connection.execute("delete from transaction_edit_rows where user_id = %s and edit_id = %s", list(row))
    return True
