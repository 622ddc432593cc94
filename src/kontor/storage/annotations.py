"""What users write beside their transactions, in columns of `transactions`: no refresh touches them."""

from collections.abc import Sequence
from uuid import UUID

from kontor.domain.annotations import UNCHANGED, Annotation
from kontor.storage.data_versions import raise_version, take_version
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

ANNOTATE = """
    update transactions t set
        note = case when %(sets_note)s then %(note)s else t.note end,
        keywords = case when %(sets_keywords)s then %(keywords)s::text[] else t.keywords end,
        changed_version = case when (%(sets_note)s and t.note is distinct from %(note)s)
            or (%(sets_keywords)s and t.keywords is distinct from %(keywords)s::text[])
            then %(version)s else t.changed_version end
    from unnest(%(products)s::uuid[], %(ids)s::uuid[]) as n (product_id, id)
    where t.user_id = %(user)s and t.product_id = n.product_id and t.id = n.id
"""


async def annotate(
    connection: Connection, user_id: UUID, rows: Sequence[tuple[UUID, UUID]], annotation: Annotation
) -> int:
    """Write it beside these transactions, given by product and id. Returns how many of them there are."""
    note_lock(Lock.DATA_VERSION, user_id)
    if not rows or annotation.is_empty:
        return 0
    cursor = await connection.execute(
        ANNOTATE,
        {
            "user": user_id,
            "products": [product_id for product_id, _ in rows],
            "ids": [transaction_id for _, transaction_id in rows],
            "version": await take_version(connection, user_id),
            "sets_note": annotation.note is not UNCHANGED,
            "note": None if annotation.note is UNCHANGED else annotation.note,
            "sets_keywords": annotation.keywords is not UNCHANGED,
            # Null where there are none: what nobody has set is left out.
            "keywords": None if annotation.keywords is UNCHANGED else list(annotation.keywords) or None,
        },
    )
    if cursor.rowcount:
        await raise_version(connection, user_id)
    return cursor.rowcount
