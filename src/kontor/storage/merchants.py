"""What tenants know of merchants, and which merchants the operator's model is still to be asked about (ADR 0081)."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from kontor.domain.merchants import MAX_ATTEMPTS, MODEL_CONFIDENCE, Merchant, MerchantState, plan_pause
from kontor.storage.database import Connection
from kontor.storage.tags import ROW_COLUMNS, TAG_COLUMNS, TaggedRow, make_row

COLUMNS = "id, merchant, state, category, model, answered_at"
USERS_TENANT = "(select t.id from users u join tenants t on t.id = u.tenant_id where u.id = %(user)s and t.asks_model)"
PIECE_ROWS = 1000
NEWS = "select 1 from tenant_merchants where state = 'SUGGESTED' and is_new"
# Category and partner of these rows were decided after the version that was seen last.
UNKNOWN_ROWS = f"""
    select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS}
    from (
        select * from transaction_tags where user_id = %(user)s and source = 'TAGGER' and partner = 'UNKNOWN'
            and learnt_from is null and category_confidence < %(confidence)s
            and greatest(category_version, partner_version) > %(seen)s
            and (product_id, transaction_id) > (%(product)s, %(transaction)s)
        order by product_id, transaction_id limit %(limit)s
    ) g join lateral (
        select * from transactions
        where user_id = %(user)s and product_id = g.product_id and id = g.transaction_id limit 1
    ) t on true
    order by t.product_id, t.id
"""
CLAIM_USER = """
    update users set merchants_checked_at = %(now)s where id in (
        select u.id from users u join tenants t on t.id = u.tenant_id
        where t.asks_model and u.is_active and (t.id = %(tenant)s or %(tenant)s::uuid is null)
            and (u.merchants_checked_at is null or u.merchants_checked_at < %(before)s)
        order by u.merchants_checked_at nulls first, u.id limit 1 for update of u skip locked
    ) returning tenant_id, id, merchants_version
"""
CLAIM_OPEN = """
    update tenant_merchants set attempts = attempts + 1, due_at = %(now)s + %(lease)s where (tenant_id, id) in (
        select tenant_id, id from tenant_merchants
        where tenant_id = %(tenant)s and state = 'OPEN' and due_at <= %(now)s
            and exists (select 1 from tenants t where t.id = %(tenant)s and t.asks_model)
        order by attempts, due_at, id limit 1 for update skip locked
    ) returning id, merchant, attempts
"""
COUNT_REQUEST = """
    insert into model_days as d (tenant_id, day, requests) values (%(tenant)s, %(day)s, 1)
    on conflict (tenant_id, day) do update set requests = d.requests + 1 where d.requests < %(limit)s
    returning requests
"""


@dataclass(frozen=True, slots=True)
class ClaimedUser:
    """`seen` is the user's data version at the last look."""

    tenant_id: UUID
    id: UUID
    seen: int


@dataclass(frozen=True, slots=True)
class OpenMerchant:
    """`attempts` are those made and the one that is claimed."""

    id: UUID
    merchant: str
    attempts: int


def _merchant(row: Sequence[Any]) -> Merchant:
    merchant_id, merchant, state, *rest = row
    return Merchant(merchant_id, merchant, MerchantState(state), *rest)


# For tags


async def has_knowledge(connection: Connection, user_id: UUID) -> bool:
    """Whether the user's tenant knows any category, and wants what is known to count."""
    cursor = await connection.execute(
        f"select exists (select 1 from tenant_merchants where tenant_id = {USERS_TENANT}"
        " and state in ('SUGGESTED', 'APPROVED'))",
        {"user": user_id},
    )
    row = await cursor.fetchone()
    return row is not None and row[0]


async def find_known(connection: Connection, user_id: UUID, merchants: Collection[str]) -> dict[str, Merchant]:
    """Those of the user's tenant that have a category, by their words."""
    cursor = await connection.execute(
        f"select {COLUMNS} from tenant_merchants where tenant_id = {USERS_TENANT}"
        " and merchant = any(%(merchants)s) and state in ('SUGGESTED', 'APPROVED')",
        {"user": user_id, "merchants": list(merchants)},
    )
    return {row[1]: _merchant(row) for row in await cursor.fetchall()}


# For the tenant


async def list_merchants(
    connection: Connection, tenant_id: UUID, state: MerchantState | None, after: str, limit: int
) -> list[Merchant]:
    """In the order of their words."""
    cursor = await connection.execute(
        f"select {COLUMNS} from tenant_merchants where tenant_id = %(tenant)s and merchant > %(after)s"
        " and (state = %(state)s or %(state)s::text is null) order by merchant limit %(limit)s",
        {"tenant": tenant_id, "state": state, "after": after, "limit": limit},
    )
    return [_merchant(row) for row in await cursor.fetchall()]


async def find_merchant(connection: Connection, tenant_id: UUID, merchant_id: UUID) -> Merchant | None:
    cursor = await connection.execute(
        f"select {COLUMNS} from tenant_merchants where tenant_id = %s and id = %s", [tenant_id, merchant_id]
    )
    row = await cursor.fetchone()
    return None if row is None else _merchant(row)


async def set_state(
    connection: Connection, tenant_id: UUID, merchant_id: UUID, state: MerchantState, category: str | None
) -> None:
    await connection.execute(
        "update tenant_merchants set state = %s, category = %s where tenant_id = %s and id = %s",
        [state, category, tenant_id, merchant_id],
    )


async def delete_merchant(connection: Connection, tenant_id: UUID, merchant_id: UUID) -> bool:
    cursor = await connection.execute(
        "delete from tenant_merchants where tenant_id = %s and id = %s", [tenant_id, merchant_id]
    )
    return cursor.rowcount > 0


# For the questions


async def claim_user(
    connection: Connection, now: datetime, pause: timedelta, tenant_id: UUID | None = None
) -> ClaimedUser | None:
    """Somebody whose transactions are to be looked through; of one tenant, or of all."""
    values = {"now": now, "before": now - pause, "tenant": tenant_id}
    cursor = await connection.execute(CLAIM_USER, values)
    row = await cursor.fetchone()
    return None if row is None else ClaimedUser(*row)


async def note_seen(connection: Connection, user_id: UUID, version: int) -> None:
    await connection.execute("update users set merchants_version = %s where id = %s", [version, user_id])


async def list_unknown(connection: Connection, user_id: UUID, seen: int) -> AsyncIterator[list[TaggedRow]]:
    """In pieces: transactions of which the tagger knows no partner, and the category not for sure."""
    last = UUID(int=0), UUID(int=0)
    while True:
        values = {
            "user": user_id,
            "confidence": MODEL_CONFIDENCE,
            "seen": seen,
            "product": last[0],
            "transaction": last[1],
            "limit": PIECE_ROWS,
        }
        cursor = await connection.execute(UNKNOWN_ROWS, values)
        rows = [make_row(row) for row in await cursor.fetchall()]
        if rows:
            yield rows
            last = rows[-1].product_id, rows[-1].id
        if len(rows) < PIECE_ROWS:
            return


async def list_settled(connection: Connection, tenant_id: UUID, merchants: Collection[str]) -> set[str]:
    """Those of them that are not to be asked about: the tenant has an entry that is not open."""
    cursor = await connection.execute(
        "select merchant from tenant_merchants where tenant_id = %s and merchant = any(%s) and state <> 'OPEN'",
        [tenant_id, list(merchants)],
    )
    return {row[0] for row in await cursor.fetchall()}


async def count_open(connection: Connection, tenant_id: UUID) -> int:
    cursor = await connection.execute(
        "select count(*) from tenant_merchants where tenant_id = %s and state = 'OPEN'", [tenant_id]
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def add_open(connection: Connection, tenant_id: UUID, merchants: Collection[str]) -> None:
    """In the order of their words, so that two who add the same do not wait for each other."""
    ordered = sorted(set(merchants))
    await connection.execute(
        "insert into tenant_merchants (tenant_id, id, merchant)"
        " select %s, * from unnest(%s::uuid[], %s::text[]) on conflict (tenant_id, merchant) do nothing",
        [tenant_id, [uuid4() for _ in ordered], ordered],
    )


async def list_asking_tenants(connection: Connection, now: datetime) -> list[UUID]:
    """Tenants that want the model to be asked, and have something to ask now, or an answer that is not in force."""
    cursor = await connection.execute(
        "select id from tenants t where asks_model and (exists (select 1 from tenant_merchants m"
        f" where m.tenant_id = t.id and m.state = 'OPEN' and m.due_at <= %s) or exists ({NEWS} and tenant_id = t.id))"
        " order by id",
        [now],
    )
    return [row[0] for row in await cursor.fetchall()]


async def can_store_question(connection: Connection, tenant_id: UUID, user_id: UUID) -> bool:
    """Whether the tenant still wants the model to be asked, and the user is still there; both until the transaction
    ends. The tenant is held first, as in `forget_open`."""
    for query, row_id in (
        ("select 1 from tenants where id = %s and asks_model for share", tenant_id),
        ("select 1 from users where id = %s and is_active for no key update", user_id),
    ):
        cursor = await connection.execute(query, [row_id])
        if await cursor.fetchone() is None:
            return False
    return True


async def forget_open(connection: Connection, tenant_id: UUID) -> None:
    """Whom the model was still to be asked about. All transactions of the tenant's users are looked through again."""
    await connection.execute("select 1 from tenants where id = %s for no key update", [tenant_id])
    await connection.execute("delete from tenant_merchants where tenant_id = %s and state = 'OPEN'", [tenant_id])
    await connection.execute(
        "update users set merchants_version = 0, merchants_checked_at = null where tenant_id = %s"
        " and merchants_checked_at is not null",
        [tenant_id],
    )


async def claim_open(connection: Connection, tenant_id: UUID, now: datetime, lease: timedelta) -> OpenMerchant | None:
    """One to ask about now. Nobody else asks before the end of the lease."""
    cursor = await connection.execute(CLAIM_OPEN, {"tenant": tenant_id, "now": now, "lease": lease})
    row = await cursor.fetchone()
    return None if row is None else OpenMerchant(*row)


async def count_request(connection: Connection, tenant_id: UUID, day: date, limit: int) -> bool:
    """False when the tenant has had all requests of the day already."""
    cursor = await connection.execute(COUNT_REQUEST, {"tenant": tenant_id, "day": day, "limit": limit})
    return await cursor.fetchone() is not None


async def store_answer(
    connection: Connection, tenant_id: UUID, merchant_id: UUID, category: str | None, model: str, now: datetime
) -> None:
    """Unless the tenant has decided or deleted the entry in the meantime."""
    state = MerchantState.UNANSWERED if category is None else MerchantState.SUGGESTED
    await connection.execute(
        "update tenant_merchants set state = %s, category = %s, model = %s, answered_at = %s"
        " where tenant_id = %s and id = %s and state = 'OPEN'",
        [state, category, model, now, tenant_id, merchant_id],
    )


async def store_failure(connection: Connection, tenant_id: UUID, asked: OpenMerchant, now: datetime) -> None:
    """It is asked again after a pause; after the last attempt it counts as not answered."""
    state = MerchantState.UNANSWERED if asked.attempts >= MAX_ATTEMPTS else MerchantState.OPEN
    await connection.execute(
        "update tenant_merchants set state = %s, due_at = %s where tenant_id = %s and id = %s and state = 'OPEN'",
        [state, now + plan_pause(asked.attempts), tenant_id, asked.id],
    )


async def postpone(connection: Connection, tenant_id: UUID, claimed: OpenMerchant, until: datetime) -> None:
    """It was not asked about."""
    await connection.execute(
        "update tenant_merchants set attempts = attempts - 1, due_at = %s where tenant_id = %s and id = %s",
        [until, tenant_id, claimed.id],
    )


async def has_news(connection: Connection, tenant_id: UUID) -> bool:
    """Whether there are suggestions for which transactions have not been tagged anew."""
    cursor = await connection.execute(f"select exists ({NEWS} and tenant_id = %s)", [tenant_id])
    row = await cursor.fetchone()
    return row is not None and row[0]


async def note_news(connection: Connection, tenant_id: UUID) -> None:
    await connection.execute(
        "update tenant_merchants set is_new = false where tenant_id = %s and state = 'SUGGESTED' and is_new",
        [tenant_id],
    )


async def delete_old_days(connection: Connection, today: date) -> int:
    cursor = await connection.execute("delete from model_days where day < %s", [today])
    return cursor.rowcount


async def count_states(connection: Connection) -> dict[str, int]:
    cursor = await connection.execute("select state, count(*) from tenant_merchants group by state")
    return {row[0]: row[1] for row in await cursor.fetchall()}
