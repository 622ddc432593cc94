"""Permissions (Berechtigungen): one that is open per access, and ended ones for two years.

Whoever opens or ends one has locked its access. Uses are noted without that: a row that somebody holds is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID, uuid4

from kontor.domain.permissions import (
    KEPT_YEARS,
    MAX_CALLERS,
    Erased,
    Permission,
    PermissionChannel,
    PermissionStatus,
    Receipt,
)
from kontor.storage.accesses import lock_access
from kontor.storage.database import Connection
from kontor.storage.user_binding import bind_transaction

COLUMNS = (
    "p.id, p.access_id, p.provider_id, p.channel, p.purpose, p.usable_until, p.product_ids, p.callers, p.began_at,"
    " p.used_at, a.consent_until, p.ended_as, p.ended_at, p.is_bank_told, p.products_erased, p.transactions_erased,"
    " p.credentials_erased"
)
# An access that is being added in the web form is nobody's business yet.
LIST = f"""
    select {COLUMNS} from permissions p
    left join accesses a on a.user_id = p.user_id and a.id = p.access_id and p.ended_at is null
    where p.user_id = %(user)s and (p.ended_at is not null or a.form_session_id is null)
        and (p.ended_at is null or p.ended_at > now() - make_interval(years => %(years)s))
        and (%(id)s::uuid is null or p.id = %(id)s)
    order by p.began_at, p.id
"""
LIST_PRODUCTS = "select access_id, id from products where user_id = %s order by access_id, ordinal, id"
# The access is there, so its own time counts: one that was added before there were permissions is older.
OPEN = """
    insert into permissions (user_id, id, access_id, provider_id, channel, purpose, usable_until, callers, began_at)
    select %(user)s, %(id)s, a.id, a.provider_id, %(channel)s, %(purpose)s, %(until)s, %(callers)s, a.created_at
    from accesses a where a.user_id = %(user)s and a.id = %(access)s
    on conflict (user_id, access_id) where ended_at is null do update set
        purpose = coalesce(excluded.purpose, permissions.purpose),
        usable_until = coalesce(excluded.usable_until, permissions.usable_until),
        callers = (excluded.callers || array(select c from unnest(permissions.callers) with ordinality as k (c, n)
            where c <> all(excluded.callers) order by n))[1:%(most)s]
"""
# The previous version adds accesses without a permission, and deletes them without ending it. What is written is
# decided anew under locks: another transaction may delete the access, or add it again, since it was looked for.
LIST_MISSING = """
    select a.id from accesses a where a.user_id = %s and not exists (select 1 from permissions p
        where p.user_id = a.user_id and p.access_id = a.id and p.ended_at is null)
"""
ADD_MISSING = """
    insert into permissions (user_id, id, access_id, provider_id, began_at)
    select a.user_id, gen_random_uuid(), a.id, a.provider_id, a.created_at from accesses a
    where a.user_id = %s and a.id = %s
    on conflict (user_id, access_id) where ended_at is null do nothing
"""
LOCK_LEFT_BEHIND = """
    select p.id from permissions p where p.user_id = %s and p.ended_at is null
        and not exists (select 1 from accesses a where a.user_id = p.user_id and a.id = p.access_id)
    for update of p skip locked
"""
END_LEFT_BEHIND = """
    update permissions p set ended_at = now(), ended_as = 'WITHDRAWN', is_bank_told = false, products_erased = 0,
        transactions_erased = 0, credentials_erased = 0
    where p.user_id = %s and p.ended_at is null and p.id = any(%s)
        and not exists (select 1 from accesses a where a.user_id = p.user_id and a.id = p.access_id)
"""
# With what the bank can be told by, where the protocol of the channel has a message for it.
END = """
    with kept as (select credentials, memory, lease_key from accesses
        where user_id = %(user)s and id = %(access)s
            and credentials is not null and memory is not null and lease_key is not null)
    update permissions p set ended_at = now(), ended_as = %(as)s, product_ids = %(products)s,
        products_erased = %(products_erased)s, transactions_erased = %(transactions_erased)s,
        credentials_erased = %(credentials_erased)s, is_bank_told = case when told.is_asked then null else false end,
        credentials = case when told.is_asked then (select credentials from kept) end,
        memory = case when told.is_asked then (select memory from kept) end,
        lease_key = case when told.is_asked then (select lease_key from kept) end
    from (select id, coalesce(channel, 'XS2A') in ('XS2A', 'AGGREGATOR') and exists (select 1 from kept) as is_asked
        from permissions where user_id = %(user)s and access_id = %(access)s and ended_at is null) as told
    where p.user_id = %(user)s and p.id = told.id returning p.id
"""
REVOCATION_RETRY_SECONDS = 30  # after an attempt whose process has died
CLAIM = """
    update permissions set told_at = now() where user_id = %s and id = %s and is_bank_told is null
        and ended_at is not null and (told_at is null or told_at < now() - make_interval(secs => %s))
    returning access_id, provider_id, lease_key, credentials, memory
"""
FINISH = """
    update permissions set is_bank_told = %s, credentials = null, memory = null, lease_key = null
    where user_id = %s and id = %s and is_bank_told is null
"""
LIST_UNTOLD = """
    select user_id, id from all_permissions where ended_at is not null and is_bank_told is null
        and (told_at is null or told_at < now() - make_interval(secs => %s)) order by ended_at limit %s
"""
NOTE_USE = """
    with noted as (
        update permissions p set used_at = now(), callers = (array[%(caller)s::text]
            || array(select c from unnest(p.callers) with ordinality as k (c, n) where c <> %(caller)s order by n))
            [1:%(most)s]
        from (select id from permissions where user_id = %(user)s and ended_at is null
            and (%(access)s::text is null or access_id = %(access)s) order by id for update skip locked) as found
        where p.user_id = %(user)s and p.id = found.id returning p.id)
    select not exists (select 1 from permissions where user_id = %(user)s and ended_at is null
        and (%(access)s::text is null or access_id = %(access)s) and id not in (select id from noted))
"""
NOTE_FETCH = """
    update permissions set used_at = now(), channel = coalesce(%s, channel)
    where user_id = %s and access_id = %s and ended_at is null
"""
DELETE_OLD = """
    delete from all_permissions where (user_id, id) in (select user_id, id from all_permissions
        where ended_at < now() - make_interval(years => %s) limit %s)
"""


@dataclass(frozen=True, slots=True)
class NewPermission:
    """Values that are None change nothing of one that is open already. `caller` None: the customer in the web form."""

    access_id: str
    channel: PermissionChannel | None = None
    purpose: str | None = None
    usable_until: date | None = None
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class Revocation:
    """A bank that is to be told that its consent has ended, with what was sealed for the access."""

    access_id: str
    provider_id: UUID
    lease_key: bytes
    credentials: bytes
    memory: bytes


async def list_permissions(connection: Connection, user_id: UUID) -> list[Permission]:
    return await _list(connection, user_id, None)


async def find_permission(connection: Connection, user_id: UUID, permission_id: UUID) -> Permission | None:
    return next(iter(await _list(connection, user_id, permission_id)), None)


async def open_permission(connection: Connection, user_id: UUID, new: NewPermission) -> None:
    """Of an access that is there. One that is open already takes what is new."""
    channel = None if new.channel is None else str(new.channel)
    values: dict[str, Any] = {"user": user_id, "id": uuid4(), "access": new.access_id, "channel": channel}
    callers = [] if new.caller is None else [new.caller]
    values |= {"purpose": new.purpose, "until": new.usable_until, "callers": callers, "most": MAX_CALLERS}
    await connection.execute(OPEN, values)


async def add_missing(connection: Connection, user_id: UUID) -> None:
    """Of all accesses of a user, in a transaction."""
    cursor = await connection.execute(LIST_MISSING, [user_id])
    for access_id in sorted(row[0] for row in await cursor.fetchall()):
        if await lock_access(connection, user_id, access_id):
            await add_missing_of(connection, user_id, access_id)


async def add_missing_of(connection: Connection, user_id: UUID, access_id: str) -> None:
    """The caller has locked the access."""
    await connection.execute(ADD_MISSING, [user_id, access_id])


async def end_orphaned(connection: Connection, user_id: UUID) -> None:
    """In a transaction. A row that somebody holds is being ended, or opened anew."""
    cursor = await connection.execute(LOCK_LEFT_BEHIND, [user_id])
    found = [row[0] for row in await cursor.fetchall()]
    if found:
        await connection.execute(END_LEFT_BEHIND, [user_id, found])


async def end_permission(
    connection: Connection, user_id: UUID, access_id: str, ended_as: PermissionStatus
) -> UUID | None:
    """Before its access is deleted, with what will be erased. None where none was open."""
    products, erased = await _measure(connection, user_id, access_id)
    values = {
        "user": user_id,
        "access": access_id,
        "as": str(ended_as),
        "products": products,
        "products_erased": erased.products,
        "transactions_erased": erased.transactions,
        "credentials_erased": erased.credentials,
    }
    row = await (await connection.execute(END, values)).fetchone()
    return None if row is None else row[0]


async def claim_revocation(connection: Connection, user_id: UUID, permission_id: UUID) -> Revocation | None:
    """None where the bank was told, or somebody is telling it just now."""
    row = await (await connection.execute(CLAIM, [user_id, permission_id, REVOCATION_RETRY_SECONDS])).fetchone()
    return None if row is None else Revocation(*row)


async def finish_revocation(connection: Connection, user_id: UUID, permission_id: UUID, *, is_bank_told: bool) -> None:
    """The receipt is complete, and what was sealed is gone."""
    await connection.execute(FINISH, [is_bank_told, user_id, permission_id])


async def list_pending_revocations_of(connection: Connection, user_id: UUID) -> list[UUID]:
    cursor = await connection.execute(
        "select id from permissions where user_id = %s and ended_at is not null and is_bank_told is null order by id",
        [user_id],
    )
    return [row[0] for row in await cursor.fetchall()]


async def list_pending_revocations(connection: Connection, limit: int) -> list[tuple[UUID, UUID]]:
    """Users and their permissions whose bank nobody is telling just now."""
    cursor = await connection.execute(LIST_UNTOLD, [REVOCATION_RETRY_SECONDS, limit])
    return [(row[0], row[1]) for row in await cursor.fetchall()]


async def drop_permission(connection: Connection, user_id: UUID, access_id: str) -> None:
    """Of an access whose accounts nobody has chosen: it was never allowed."""
    await connection.execute(
        "delete from permissions where user_id = %s and access_id = %s and ended_at is null", [user_id, access_id]
    )


async def note_use(connection: Connection, user_id: UUID, access_id: str | None, caller: str) -> bool:
    """A client has used the data of an access, or of all. False when a row was left, since somebody holds it."""
    values = {"user": user_id, "access": access_id, "caller": caller, "most": MAX_CALLERS}
    row = await (await connection.execute(NOTE_USE, values)).fetchone()
    return row is not None and row[0]


async def note_fetch(connection: Connection, user_id: UUID, access_id: str, channel: PermissionChannel | None) -> None:
    """`channel` where the bank is reached by several. The caller has locked the access."""
    await connection.execute(NOTE_FETCH, [None if channel is None else str(channel), user_id, access_id])


async def lock_expired_permission(connection: Connection, today: date) -> tuple[UUID, str] | None:
    """An access whose permission has passed its last day. Binds the transaction to its user."""
    cursor = await connection.execute(
        "select a.user_id, a.id from all_permissions p"
        " join all_accesses a on a.user_id = p.user_id and a.id = p.access_id"
        " where p.ended_at is null and p.usable_until < %s order by p.usable_until limit 1"
        " for update of a skip locked",
        [today],
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    await bind_transaction(connection, row[0])
    return row[0], row[1]


async def delete_old_permissions(connection: Connection, batch: int) -> int:
    return (await connection.execute(DELETE_OLD, [KEPT_YEARS, batch])).rowcount


async def _list(connection: Connection, user_id: UUID, permission_id: UUID | None) -> list[Permission]:
    cursor = await connection.execute(LIST, {"user": user_id, "id": permission_id, "years": KEPT_YEARS})
    rows = await cursor.fetchall()
    products: dict[str, list[UUID]] = {}
    for access_id, product_id in await (await connection.execute(LIST_PRODUCTS, [user_id])).fetchall():
        products.setdefault(access_id, []).append(product_id)
    return [_permission(row, products.get(row[1], ())) for row in rows]


async def _measure(connection: Connection, user_id: UUID, access_id: str) -> tuple[list[UUID], Erased]:
    """The products of an access, and how much there is of it. Apart, since a cluster has them on other nodes."""
    cursor = await connection.execute(
        "select id from products where user_id = %s and access_id = %s order by ordinal, id", [user_id, access_id]
    )
    products = [row[0] for row in await cursor.fetchall()]
    cursor = await connection.execute(
        "select count(*) from transactions where user_id = %s and product_id = any(%s)", [user_id, products]
    )
    counted = await cursor.fetchone()
    cursor = await connection.execute(
        "select credentials is not null from accesses where user_id = %s and id = %s", [user_id, access_id]
    )
    stored = await cursor.fetchone()
    transactions = 0 if counted is None else counted[0]
    return products, Erased(len(products), transactions, int(stored is not None and stored[0]))


def _permission(row: Sequence[Any], products: Sequence[UUID]) -> Permission:
    ended_at: datetime | None = row[12]
    erased = None if ended_at is None else Erased(*row[14:17])
    return Permission(
        id=row[0],
        access_id=row[1],
        provider_id=row[2],
        channel=None if row[3] is None else PermissionChannel(row[3]),
        purpose=row[4],
        usable_until=row[5],
        products=tuple(products if ended_at is None else row[6]),
        callers=tuple(row[7]),
        began_at=row[8],
        used_at=row[9],
        consent_until=row[10],
        ended_at=ended_at,
        ended_as=None if row[11] is None else PermissionStatus(row[11]),
        erased=erased,
        receipt=None
        if ended_at is None or erased is None or row[13] is None
        else Receipt(row[0], ended_at, row[13], erased),
    )
