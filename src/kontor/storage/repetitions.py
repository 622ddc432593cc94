"""Transactions that repeat a transaction of another access: left out of what covers all accounts (ADR 0047)."""

from collections.abc import Collection
from uuid import UUID

from kontor.storage.data_versions import increment_version, take_version
from kontor.storage.database import Connection, fetch_rows

MAX_FLIPS = 1000  # more than 90 days of an account that two accesses refresh in turn
LIST_HIDDEN = """
    select product_id, transaction_id from repeated_transactions r where user_id = $1 and cardinality(flips) % 2 = 1
    and exists (select 1 from transactions t where t.user_id = $1 and t.product_id = r.product_id
        and t.id = r.transaction_id)
"""
HAS_REPEATED = "select 1 from repeated_transactions where user_id = $1 limit 1"


async def has_repeated(connection: Connection, user_id: UUID) -> bool:
    """Is a transaction left out, or was one."""
    return bool(await fetch_rows(connection, HAS_REPEATED, [user_id]))


async def list_hidden(connection: Connection, user_id: UUID) -> set[tuple[UUID, UUID]]:
    """Product and id of the transactions that are left out."""
    return {(row[0], row[1]) for row in await fetch_rows(connection, LIST_HIDDEN, [user_id])}


# {most} is a literal: on a cluster, workers run the `on conflict` clause without the statement's parameters.
FLIP = """
    insert into repeated_transactions as kept (user_id, product_id, transaction_id, flips)
    select %(user)s, product_id, transaction_id, array[%(version)s::bigint]
    from unnest(%(products)s::uuid[], %(ids)s::uuid[]) as flipped (product_id, transaction_id)
    on conflict (user_id, product_id, transaction_id) do update
        set flips = (case when cardinality(kept.flips) < {most} then kept.flips else kept.flips[3:] end)
            || excluded.flips
"""
# Positions before the flips that go are void: what was shown then is no longer known.
FORGET_FLIPS = """
    update data_versions set first_version = greatest(first_version, (select max(flips[2]) from repeated_transactions
        where user_id = %(user)s and cardinality(flips) >= %(most)s)) where user_id = %(user)s
"""


async def toggle_visibility(connection: Connection, user_id: UUID, rows: Collection[tuple[UUID, UUID]]) -> None:
    """Hide those that are shown, and show those that are hidden."""
    if rows:
        values = {
            "user": user_id,
            "version": await take_version(connection, user_id),
            "products": [product_id for product_id, _ in rows],
            "ids": [transaction_id for _, transaction_id in rows],
            "most": MAX_FLIPS,
        }
        await connection.execute(FORGET_FLIPS, values)
        await connection.execute(FLIP.format(most=MAX_FLIPS), values)
        await increment_version(connection, user_id)


async def set_paired(connection: Connection, user_id: UUID, version: int) -> None:
    """The caller has locked the user's data."""
    await connection.execute("update data_versions set paired_version = %s where user_id = %s", [version, user_id])
