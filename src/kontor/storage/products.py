"""Products of a customer."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from kontor.domain.accesses import AccessStatus, Notice
from kontor.domain.balances import BalanceGap
from kontor.domain.mandates import DebitForm
from kontor.domain.products import BalanceSource, CurrencyBalance, HomeSavings, Product, ProductCategory
from kontor.domain.schedules import StandingAction
from kontor.domain.stored_products import StoredProduct
from kontor.storage.contracts import delete_empty
from kontor.storage.data_versions import increment_version
from kontor.storage.database import Connection, fetch_row, fetch_rows
from kontor.storage.lock_order import Lock, note_lock
from kontor.storage.removals import note_removed_products

COLUMNS = (
    "id, access_id, status, updated_at, bank_key, category, name, holder, currency, account_number, iban, bic,"
    " bank_code, institution, balance, balance_at, balance_source, balances, overdraft_limit, credit_limit,"
    " credit_drawn, home_savings, can_transfer, can_bulk_transfer, balance_gap,"
    " standing_order_actions, debit_forms"
)
# What the last fetch had to say about the product is stored with its access.
NOTICES = (
    "coalesce((select jsonb_agg(n.notice order by n.number) from jsonb_array_elements(theirs.issues)"
    " with ordinality n (notice, number) where n.notice->>'product_id' = products.id::text), '[]')"
)
WHOLE = f"{COLUMNS}, {NOTICES}"
# Data that is not stored permanently is shown until its end, whenever it is deleted.
IS_SHOWN = "(expires_at is null or expires_at > now())"
# Accesses and products may be on different nodes: a subselect of accesses names the user, and nothing of `products`.
WITH_ACCESS = (
    f"products join (select id as owner_id, issues, {IS_SHOWN} as is_shown from accesses where user_id = %(user)s)"
    " theirs on theirs.owner_id = products.access_id"
)


def _product(row: Sequence[Any]) -> StoredProduct:
    product = Product(
        key=row[4],
        category=ProductCategory(row[5]),
        name=row[6],
        holder=row[7],
        currency=row[8],
        account_number=row[9],
        iban=row[10],
        bic=row[11],
        bank_code=row[12],
        institution=row[13],
        balance=row[14],
        balance_at=row[15],
        balance_source=None if row[16] is None else BalanceSource(row[16]),
        balances=msgspec.convert(row[17], tuple[CurrencyBalance, ...]),
        overdraft_limit=row[18],
        credit_limit=row[19],
        credit_drawn=row[20],
        home_savings=None if row[21] is None else msgspec.convert(row[21], HomeSavings),
        can_transfer=row[22],
        can_bulk_transfer=row[23],
        standing_order_actions=tuple(map(StandingAction, row[25])),
        debit_forms=tuple(map(DebitForm, row[26])),
    )
    notices = msgspec.convert(row[27], tuple[Notice, ...])
    return StoredProduct(row[0], row[1], AccessStatus(row[2]), row[3], product, _gap(row[24]), notices)


def _gap(value: Any) -> BalanceGap | None:
    return None if value is None else msgspec.convert(value, BalanceGap)


async def upsert_product(
    connection: Connection, user_id: UUID, product_id: UUID, access_id: str, ordinal: int, product: Product
) -> bool:
    """False when it is stored just so already."""
    note_lock(Lock.DATA_VERSION, user_id)
    values = {
        "user_id": user_id,
        "id": product_id,
        "access_id": access_id,
        "ordinal": ordinal,
        "bank_key": product.key,
        "category": str(product.category),
        "name": product.name,
        "holder": product.holder,
        "currency": product.currency,
        "account_number": product.account_number,
        "iban": product.iban,
        "bic": product.bic,
        "bank_code": product.bank_code,
        "institution": product.institution,
        "balance": product.balance,
        "balance_at": product.balance_at,
        "balance_source": None if product.balance_source is None else str(product.balance_source),
        "balances": Jsonb(msgspec.to_builtins(product.balances)),
        "overdraft_limit": product.overdraft_limit,
        "credit_limit": product.credit_limit,
        "credit_drawn": product.credit_drawn,
        "home_savings": None if product.home_savings is None else Jsonb(msgspec.to_builtins(product.home_savings)),
        "can_transfer": product.can_transfer,
        "can_bulk_transfer": product.can_bulk_transfer,
        "standing_order_actions": [str(action) for action in product.standing_order_actions],
        "debit_forms": [str(form) for form in product.debit_forms],
    }
    cursor = await connection.execute(UPSERT, values)
    is_changed = cursor.rowcount == 1
    if is_changed:
        await increment_version(connection, user_id)
    return is_changed


_KEY = ("user_id", "id", "access_id", "ordinal")
_SET_APART = ("status", "updated_at", "balance_gap")
_ALL = (*_KEY, *[name for name in COLUMNS.split(", ") if name not in (*_KEY, *_SET_APART)])
INSERT_COLUMNS = ", ".join(_ALL)
INSERT_VALUES = ", ".join(f"%({name})s" for name in _ALL)
UPDATES = ", ".join(f"{name} = excluded.{name}" for name in _ALL if name not in _KEY[:3])
STORED = ", ".join(f"products.{name}" for name in _ALL)
FETCHED = ", ".join(f"excluded.{name}" for name in _ALL)
UPSERT = (
    f"insert into products ({INSERT_COLUMNS}, updated_at) values ({INSERT_VALUES}, now())"
    f" on conflict (user_id, id) do update set {UPDATES}, updated_at = excluded.updated_at"
    f" where ({STORED}) is distinct from ({FETCHED})"
)


HAS_PRODUCT = f"""
    select 1 from products where user_id = $1 and access_id = $2 and id = $3
        and exists (select 1 from accesses where user_id = $1 and id = $2 and {IS_SHOWN})
"""


async def find_product(connection: Connection, user_id: UUID, access_id: str, product_id: UUID) -> StoredProduct | None:
    cursor = await connection.execute(
        f"select {WHOLE} from {WITH_ACCESS} where user_id = %(user)s and access_id = %(access)s and id = %(id)s"
        " and is_shown",
        {"user": user_id, "access": access_id, "id": product_id},
    )
    row = await cursor.fetchone()
    return None if row is None else _product(row)


async def has_product(connection: Connection, user_id: UUID, access_id: str, product_id: UUID) -> bool:
    return await fetch_row(connection, HAS_PRODUCT, [user_id, access_id, product_id]) is not None


async def is_product_of(connection: Connection, user_id: UUID, product_id: UUID) -> bool:
    cursor = await connection.execute("select 1 from products where user_id = %s and id = %s", [user_id, product_id])
    return await cursor.fetchone() is not None


async def lock_product(connection: Connection, user_id: UUID, access_id: str, product_id: UUID) -> StoredProduct | None:
    """As `find_product`; nobody else adds transactions to it until the end of the transaction."""
    note_lock(Lock.PRODUCT, user_id, product_id)
    cursor = await connection.execute(
        f"select {WHOLE} from {WITH_ACCESS} where user_id = %(user)s and access_id = %(access)s and id = %(id)s"
        " for update of products",
        {"user": user_id, "access": access_id, "id": product_id},
    )
    row = await cursor.fetchone()
    return None if row is None else _product(row)


async def list_products(connection: Connection, user_id: UUID, access_id: str | None = None) -> list[StoredProduct]:
    """Of one access, or of all."""
    cursor = await connection.execute(
        f"select {WHOLE} from {WITH_ACCESS} where user_id = %(user)s"
        " and (access_id = %(access)s or %(access)s::text is null) and is_shown order by access_id, ordinal, id",
        {"user": user_id, "access": access_id},
    )
    return [_product(row) for row in await cursor.fetchall()]


IDS = "select bank_key, id from products where user_id = $1 and access_id = $2"


async def list_ids(connection: Connection, user_id: UUID, access_id: str) -> dict[str, UUID]:
    """Ids of an access's products, by the bank's keys."""
    return {row[0]: row[1] for row in await fetch_rows(connection, IDS, [user_id, access_id])}


async def list_names(connection: Connection, user_id: UUID, access_id: str) -> dict[str, tuple[UUID, str]]:
    """Ids and names of an access's products, by the bank's keys."""
    cursor = await connection.execute(
        "select bank_key, id, name from products where user_id = %s and access_id = %s", [user_id, access_id]
    )
    return {row[0]: (row[1], row[2]) for row in await cursor.fetchall()}


def _list_numbers(alias: str) -> str:
    """Products that may be one account have one of these in common: an IBAN ends with the account number."""
    return f"array[{_number(f'{alias}.iban')}, {_number(f'{alias}.account_number')}]"


def _number(column: str) -> str:
    return f"nullif(ltrim(right(upper(regexp_replace({column}, '[^[:alnum:]]', '', 'g')), 10), '0'), '')"


NUMBERS = _list_numbers("before")
OTHER_NUMBERS = _list_numbers("other")

# Analyses read of `updated_at` the day, and which of several products of one account is the freshest
# (`services/analyses/duplicates.py`). Most looks at a product change neither, and kept answers stay good.
SET_SEEN = f"""
    update products p set updated_at = now(),
        status = case when p.id = any(%(complete)s) then 'COMPLETE' else p.status end
    from products before
    where p.user_id = %(user)s and p.id = any(%(seen)s) and before.user_id = %(user)s and before.id = p.id
    returning p.status <> before.status
        or (p.updated_at at time zone 'Europe/Berlin')::date <> (before.updated_at at time zone 'Europe/Berlin')::date
        or exists (
            select 1 from products other where other.user_id = %(user)s and other.access_id <> before.access_id
            and other.updated_at >= before.updated_at and {OTHER_NUMBERS} && {NUMBERS}
        )
"""


async def set_products_seen(
    connection: Connection, user_id: UUID, complete: Sequence[UUID], seen: Sequence[UUID]
) -> None:
    """The bank has just told about these; of the complete ones, everything. The caller has locked their access."""
    note_lock(Lock.DATA_VERSION, user_id)
    cursor = await connection.execute(
        SET_SEEN, {"user": user_id, "complete": list(complete), "seen": [*complete, *seen]}
    )
    if any(is_changed for (is_changed,) in await cursor.fetchall()):
        await increment_version(connection, user_id)


FIND_GAP = "select balance_gap from products where user_id = $1 and id = $2"


async def find_gap(connection: Connection, user_id: UUID, product_id: UUID) -> BalanceGap | None:
    row = await fetch_row(connection, FIND_GAP, [user_id, product_id])
    return None if row is None else _gap(row[0])


async def set_gap(connection: Connection, user_id: UUID, product_id: UUID, gap: BalanceGap | None) -> None:
    note_lock(Lock.DATA_VERSION, user_id)
    cursor = await connection.execute(
        "update products set balance_gap = %(gap)s where user_id = %(user)s and id = %(id)s"
        " and balance_gap is distinct from %(gap)s",
        {"gap": None if gap is None else Jsonb(msgspec.to_builtins(gap)), "user": user_id, "id": product_id},
    )
    if cursor.rowcount:
        await increment_version(connection, user_id)


async def set_newer_balance(connection: Connection, user_id: UUID, product_id: UUID, product: Product) -> None:
    """The balance that a file tells, unless a later one is known. One in another currency is of another pocket."""
    note_lock(Lock.DATA_VERSION, user_id)
    cursor = await connection.execute(
        "update products set balance = %(balance)s, balance_at = %(at)s, updated_at = now()"
        " where user_id = %(user)s and id = %(id)s and currency is not distinct from %(currency)s"
        " and (balance_at is null or balance_at <= %(at)s)"
        " and (balance, balance_at) is distinct from (%(balance)s, %(at)s)",
        {
            "balance": product.balance,
            "at": product.balance_at,
            "user": user_id,
            "id": product_id,
            "currency": product.currency,
        },
    )
    if cursor.rowcount:
        await increment_version(connection, user_id)


async def delete_other_products(connection: Connection, user_id: UUID, access_id: str, kept: Sequence[UUID]) -> bool:
    """Products that the bank no longer has, or that are no longer selected. True when there was one."""
    note_lock(Lock.DATA_VERSION, user_id)
    await note_removed_products(connection, user_id, access_id, kept)
    cursor = await connection.execute(
        "delete from products where user_id = %s and access_id = %s and not id = any(%s)",
        [user_id, access_id, list(kept)],
    )
    if cursor.rowcount:
        await increment_version(connection, user_id)
        await delete_empty(connection, user_id)
    return cursor.rowcount > 0
