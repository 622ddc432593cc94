"""What users write beside their transactions, in columns of `transactions`.

No refresh touches them; parts go when the amount is another one.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from kontor.domain.annotations import UNCHANGED, Annotation
from kontor.domain.parts import Part
from kontor.storage.data_versions import increment_version, take_version
from kontor.storage.database import Connection, fetch_row
from kontor.storage.lock_order import Lock, note_lock

# Ids are looked up in a table made once, whatever statistics say about the user.
ANNOTATE = """
    update transactions t set edited_version = %(version)s,
        note = case when %(sets_note)s then %(note)s else t.note end,
        keywords = case when %(sets_keywords)s then %(keywords)s::text[] else t.keywords end,
        parts = case when %(sets_parts)s then %(parts)s::jsonb else t.parts end,
        changed_version = case when (%(sets_note)s and t.note is distinct from %(note)s)
            or (%(sets_keywords)s and t.keywords is distinct from %(keywords)s::text[])
            or (%(sets_parts)s and t.parts is distinct from %(parts)s::jsonb)
            then %(version)s else t.changed_version end,
        document_version = case when %(sets_note)s or %(sets_keywords)s or %(sets_parts)s then null
            else t.document_version end
    where t.user_id = %(user)s and t.product_id = any(%(products)s)
        and case when t.id in (select unnest(%(ids)s::uuid[])) then true else false end
"""

AMOUNT = "select amount from transactions where user_id = $1 and product_id = $2 and id = $3"
_encoder = msgspec.json.Encoder(decimal_format="number")


async def annotate(
    connection: Connection, user_id: UUID, rows: Sequence[tuple[UUID, UUID]], annotation: Annotation
) -> int:
    """Write it beside these transactions, given by product and id. Returns how many of them there are.

    An empty annotation notes that the user has said something else about them.
    """
    note_lock(Lock.DATA_VERSION, user_id)
    if not rows:
        return 0
    cursor = await connection.execute(
        ANNOTATE,
        {
            "user": user_id,
            "products": list({product_id for product_id, _ in rows}),
            "ids": [transaction_id for _, transaction_id in rows],
            "version": await take_version(connection, user_id),
            "sets_note": annotation.note is not UNCHANGED,
            "note": None if annotation.note is UNCHANGED else annotation.note,
            "sets_keywords": annotation.keywords is not UNCHANGED,
            # Null where there are none: what nobody has set is left out.
            "keywords": None if annotation.keywords is UNCHANGED else list(annotation.keywords) or None,
            "sets_parts": annotation.parts is not UNCHANGED,
            "parts": None if annotation.parts is UNCHANGED else _encode_parts(annotation.parts),
        },
    )
    if cursor.rowcount:
        await increment_version(connection, user_id)
    return cursor.rowcount


def _encode_parts(parts: Sequence[Part]) -> str | None:
    """Amounts are numbers with their decimals, which PostgreSQL keeps; a note that is not there has no key."""
    if not parts:
        return None
    values = [
        {"amount": part.amount, "category": part.category, "tags": part.tags}
        | ({} if part.note is None else {"note": part.note})
        | ({"own_category": part.own_category} if part.own_category else {})
        for part in parts
    ]
    return _encoder.encode(values).decode()


async def find_amount(connection: Connection, user_id: UUID, product_id: UUID, transaction_id: UUID) -> Decimal | None:
    row = await fetch_row(connection, AMOUNT, [user_id, product_id, transaction_id])
    return None if row is None else row[0]


SPLIT_BY_OWN = """
    select product_id, id, parts from transactions
    where user_id = %s and parts is not null and jsonb_path_exists(parts, '$[*].own_category')
"""


async def list_split_by_own(connection: Connection, user_id: UUID) -> list[tuple[UUID, UUID, list[Part]]]:
    """Product, id and parts of the transactions of which a part has an own category."""
    cursor = await connection.execute(SPLIT_BY_OWN, [user_id])
    return [
        (product_id, transaction_id, [_read_part(part) for part in parts])
        for product_id, transaction_id, parts in await cursor.fetchall()
    ]


async def list_split(connection: Connection, user_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
    """Those of the transactions that the user has split."""
    cursor = await connection.execute(
        "select id from transactions where user_id = %s and parts is not null and id = any(%s)", [user_id, list(ids)]
    )
    return {row[0] for row in await cursor.fetchall()}


def _read_part(part: dict[str, Any]) -> Part:
    amount = Decimal(str(part["amount"]))
    return Part(amount, part["category"], part["tags"], part.get("note"), part.get("own_category", ""))
