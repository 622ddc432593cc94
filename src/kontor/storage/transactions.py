"""Transactions of a product: merged row by row, listed as ready JSON."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

from psycopg import sql

from kontor.domain.json_fields import JsonField
from kontor.domain.merging import StoredTransaction
from kontor.domain.searches import Window
from kontor.domain.transactions import Transaction, find_day
from kontor.storage.alerts import note_parts_removed
from kontor.storage.clusters import is_clustered
from kontor.storage.data_versions import increment_version, take_version
from kontor.storage.database import TURN_ROWS, Connection, execute_statement, fetch_row, fetch_rows, stream_rows
from kontor.storage.documents import find_writer
from kontor.storage.json_rows import current_condition, fresh_expression
from kontor.storage.lock_order import Lock, note_lock
from kontor.storage.removals import note_removed
from kontor.storage.row_documents import split_columns, write_document

FIELDS = (
    "amount, currency, booked_at, value_at, purpose, booking_text, gv_code, prima_nota, counterparty_name,"
    " counterparty_iban, counterparty_bic, ultimate_counterparty, bank_id, is_pending, channel"
)
NEW_COLUMNS = """
    id uuid, booked_on date, ordinal bigint, batch_id text, amount numeric, currency text, booked_at timestamptz,
    value_at timestamptz, purpose text, booking_text text, gv_code text, prima_nota text, counterparty_name text,
    counterparty_iban text, counterparty_bic text, ultimate_counterparty text, bank_id text, is_pending boolean,
    channel text
"""
NEW_NAMES = split_columns(NEW_COLUMNS)
NEW_LIST = ", ".join(NEW_NAMES)
NEW_VALUES = ", ".join(f"new.{name}" for name in NEW_NAMES)
# With the row that `take_version` has locked, a cluster runs the whole statement on the user's shard. Else it would
# copy rows there, which row-level security refuses. An object within the document is taken as it is written.
INSERT = f"""
    insert into transactions (user_id, product_id, created_version, changed_version, document, document_version,
        document_format, {NEW_LIST})
    select d.user_id, $2, $3, $3, new.document::text, case when new.document is not null then $3 end, $5,
        {NEW_VALUES}
    from data_versions d, json_to_recordset($4::json) as new ({NEW_COLUMNS}, document json)
    where d.user_id = $1
"""
DOCUMENTED_NAMES = (*NEW_NAMES, "document")

MANY_ROWS = 300  # fewer are checked fast enough whatever the planner believes

NEWEST_DAYS = """
    select p.id, p.bank_key, newest.booked_on from products p left join lateral (
        select t.booked_on from transactions t
        where t.user_id = $1 and t.product_id = p.id and not t.is_pending and t.batch_id is null
        order by t.booked_on desc, t.ordinal desc limit 1) newest on true
    where p.user_id = $1 and p.access_id = $2 order by p.ordinal, p.id
"""


async def list_newest_days(
    connection: Connection, user_id: UUID, access_id: str
) -> list[tuple[UUID, str, date | None]]:
    """Products of an access, with the bank's key of each and the day of its newest final booking."""
    return [(row[0], row[1], row[2]) for row in await fetch_rows(connection, NEWEST_DAYS, [user_id, access_id])]


async def load_transactions(
    connection: Connection, user_id: UUID, product_id: UUID, since: date | None
) -> list[StoredTransaction]:
    """Rows that a fetch from `since` on may bring again, in the bank's order; pending ones whatever their day.

    What was pushed from outside is not the bank's: no fetch changes or removes it.
    """
    cursor = await connection.execute(
        f"select id, {FIELDS} from transactions where user_id = %(user)s and product_id = %(product)s"
        " and batch_id is null and (booked_on >= %(since)s or %(since)s::date is null or is_pending)"
        " order by booked_on, ordinal",
        {"user": user_id, "product": product_id, "since": since},
    )
    return [StoredTransaction(row[0], Transaction(*row[1:])) async for row in stream_rows(cursor)]


LEDGERS = f"""
    select product_id::text, id::text, {FIELDS} from transactions where user_id = $1 and product_id = any($2)
    order by product_id, booked_on, ordinal
"""


async def load_ledgers(
    connection: Connection, user_id: UUID, product_ids: Sequence[UUID]
) -> list[tuple[str, str, Transaction]]:
    """All transactions of these products with the product's id and their own, in the bank's order."""
    rows = await fetch_rows(connection, LEDGERS, [user_id, list(product_ids)], binary=True)
    return [(row[0], row[1], Transaction(*row[2:])) for row in rows]


async def insert_transactions(
    connection: Connection,
    user_id: UUID,
    product_id: UUID,
    transactions: Sequence[Transaction],
    today: date,
    batch_ids: Sequence[str | None] | None = None,
) -> list[UUID]:
    """Add rows in the given order (oldest first). The caller holds the product, so that ordinals stay unique.

    Returns the ids that they have got.
    """
    note_lock(Lock.DATA_VERSION, user_id)
    if not transactions:
        return []
    ids = [uuid4() for _ in transactions]
    version = await take_version(connection, user_id)
    cursor = await connection.execute(
        "select coalesce(max(ordinal), 0) from transactions where user_id = %s and product_id = %s",
        [user_id, product_id],
    )
    row = await cursor.fetchone()
    assert row is not None
    start = row[0] + 1
    writer = find_writer()
    if writer is not None:
        writer.arrange(NEW_NAMES)
    for first in range(0, len(transactions), TURN_ROWS):  # others have their turn in between
        rows = [
            (
                ids[number],
                find_day(transaction) or today,
                start + number,
                None if batch_ids is None else batch_ids[number],
                *_values(transaction),
            )
            for number, transaction in enumerate(transactions[first : first + TURN_ROWS], first)
        ]
        names: tuple[str, ...] = NEW_NAMES
        if writer is not None:
            names, rows = DOCUMENTED_NAMES, [(*row, writer.write(row)) for row in rows]
        document = write_document(names, rows)
        written_format = None if writer is None else writer.format
        await execute_statement(connection, INSERT, [user_id, product_id, version, document, written_format])
    if len(transactions) >= MANY_ROWS and not is_clustered(connection):
        await connection.execute("select analyze_new_transactions()")  # once in the life of a database
    await increment_version(connection, user_id)
    return ids


def _values(transaction: Transaction) -> tuple[object, ...]:
    return (
        transaction.amount,
        transaction.currency,
        transaction.booked_at,
        transaction.value_at,
        transaction.purpose,
        transaction.booking_text,
        transaction.gv_code,
        transaction.prima_nota,
        transaction.counterparty_name,
        transaction.counterparty_iban,
        transaction.counterparty_bic,
        transaction.ultimate_counterparty,
        transaction.bank_id,
        transaction.is_pending,
        transaction.channel,
    )


# What is shown of a transaction, besides what never changes: another value makes it a changed one (ADR 0047).
SHOWN_COLUMNS = (
    "booked_on, amount, currency, booked_at, value_at, purpose, booking_text, gv_code, prima_nota, counterparty_name,"
    " counterparty_iban, counterparty_bic, is_pending"
)
BEFORE = ", ".join(f"before.{name}" for name in SHOWN_COLUMNS.split(", "))
AFTER = ", ".join(f"n.{name}" for name in SHOWN_COLUMNS.split(", "))
UPDATE = f"""
    update transactions t set booked_on = n.booked_on, amount = n.amount, currency = n.currency,
        booked_at = n.booked_at, value_at = n.value_at, purpose = n.purpose, booking_text = n.booking_text,
        gv_code = n.gv_code, prima_nota = n.prima_nota, counterparty_name = n.counterparty_name,
        counterparty_iban = n.counterparty_iban, counterparty_bic = n.counterparty_bic,
        ultimate_counterparty = n.ultimate_counterparty, bank_id = n.bank_id, is_pending = n.is_pending,
        channel = n.channel, parts = case when before.amount = n.amount then before.parts end,
        changed_version = case when ({BEFORE}) is distinct from ({AFTER}) then %s else before.changed_version end,
        document_version = case when ({BEFORE}) is distinct from ({AFTER}) then null else before.document_version end
    from transactions before, (values (%s::date, %s::numeric(20, 2), %s, %s::timestamptz, %s::timestamptz, %s, %s, %s,
        %s, %s, %s, %s, %s, %s, %s::boolean, %s)) as n (booked_on, {FIELDS})
    where t.user_id = %s and t.product_id = %s and t.id = %s
        and before.user_id = t.user_id and before.product_id = t.product_id and before.id = t.id
    returning ({BEFORE}) is distinct from ({AFTER}), before.parts is not null and t.parts is null, t.id
"""


async def update_transactions(
    connection: Connection, user_id: UUID, product_id: UUID, changed: Sequence[StoredTransaction], today: date
) -> int:
    """The same booking with other words: it keeps its id, and so everything the user said about it.

    Returns how many are shown differently now.
    """
    note_lock(Lock.DATA_VERSION, user_id)
    if not changed:
        return 0
    version = await take_version(connection, user_id)
    cursor = connection.cursor()
    await cursor.executemany(
        UPDATE,
        [
            (
                version,
                find_day(stored.transaction) or today,
                *_values(stored.transaction),
                user_id,
                product_id,
                stored.id,
            )
            for stored in changed
        ],
        returning=True,
    )
    rows = [row async for result in cursor.results() for row in await result.fetchall()]
    if rows:
        await increment_version(connection, user_id)
    if without_parts := [transaction_id for _, is_without, transaction_id in rows if is_without]:
        await note_parts_removed(connection, user_id, product_id, without_parts)
    return sum(is_shown for is_shown, _, _ in rows)


async def delete_transactions(connection: Connection, user_id: UUID, product_id: UUID, ids: Sequence[UUID]) -> None:
    note_lock(Lock.DATA_VERSION, user_id)
    await note_removed(connection, user_id, product_id, ids)
    cursor = await connection.execute(
        "delete from transactions where user_id = %s and product_id = %s and id = any(%s)",
        [user_id, product_id, list(ids)],
    )
    if cursor.rowcount:
        await increment_version(connection, user_id)


# Listing


# Of a page little more than the stored objects is read. The few rows whose object is not current are looked up again:
# by their place, so that no plan made for a small table reads the whole of a large one for each of them.
PAGE_OBJECT = (
    "coalesce(page.document, (select {} from transactions where user_id = $1 and product_id = $2 and ctid = page.ctid))"
)


def page_query(fields: tuple[JsonField, ...], *, has_times: bool, has_cursor: bool) -> sql.Composed:
    """Rows of a page with the stored object, where it is current.

    Placeholders: user, product, limit; then the times, then the cursor, where there are any.
    """
    conditions = ["user_id = $1 and product_id = $2"]
    if has_times:
        conditions.append(
            "(coalesce(booked_at, value_at) >= $4 or $4::timestamptz is null)"
            " and (coalesce(booked_at, value_at) < $5 or $5::timestamptz is null)"
        )
    if has_cursor:
        conditions.append("(booked_on, ordinal) < ($6, $7)" if has_times else "(booked_on, ordinal) < ($4, $5)")
    return sql.SQL(
        "select ctid, id, booked_on, ordinal, case when {} then document end as document"
        " from transactions where {} order by booked_on desc, ordinal desc limit $3"
    ).format(current_condition(fields), sql.SQL(" and ".join(conditions)))


def page_object(fields: tuple[JsonField, ...]) -> sql.Composed:
    """The object of a row of `page_query`."""
    return sql.SQL(PAGE_OBJECT).format(fresh_expression(fields))


def page_values(user_id: UUID, product_id: UUID, window: Window) -> tuple[bool, bool, list[Any]]:
    """Has the window times, has it a cursor, and the values for the placeholders of `page_query`."""
    has_times = window.since is not None or window.until is not None
    values: list[Any] = [user_id, product_id, window.limit]
    if has_times:
        values += [window.since, window.until]
    return has_times, window.cursor is not None, [*values, *(window.cursor or ())]


@lru_cache(maxsize=16)
def _list_query(fields: tuple[JsonField, ...], *, has_times: bool, has_cursor: bool) -> str:
    return (
        sql.SQL("select convert_to(string_agg({}, ','), 'UTF8'), count(*), count(*) - count(document) from ({}) page")
        .format(page_object(fields), page_query(fields, has_times=has_times, has_cursor=has_cursor))
        .as_string()
    )


async def list_json(
    connection: Connection, user_id: UUID, product_id: UUID, window: Window, fields: tuple[JsonField, ...]
) -> tuple[bytes, int, int]:
    """The JSON objects of a page, separated by commas, how many there are, and how many of them are not stored."""
    has_times, has_cursor, values = page_values(user_id, product_id, window)
    query = _list_query(fields, has_times=has_times, has_cursor=has_cursor)
    row = await fetch_row(connection, query, values, binary=True)
    assert row is not None
    return row[0] or b"", row[1], row[2]


async def find_page_end(
    connection: Connection, user_id: UUID, product_id: UUID, window: Window
) -> tuple[date, int] | None:
    """Where the page after this one begins, or None when this one is the last."""
    assert window.limit is not None
    day, ordinal = window.cursor or (None, None)
    cursor = await connection.execute(
        "select booked_on, ordinal from transactions where user_id = %(user)s and product_id = %(product)s"
        " and (coalesce(booked_at, value_at) >= %(since)s or %(since)s::timestamptz is null)"
        " and (coalesce(booked_at, value_at) < %(until)s or %(until)s::timestamptz is null)"
        " and (%(day)s::date is null or (booked_on, ordinal) < (%(day)s, %(ordinal)s::bigint))"
        " order by booked_on desc, ordinal desc offset %(skip)s limit 2",
        {
            "user": user_id,
            "product": product_id,
            "since": window.since,
            "until": window.until,
            "day": day,
            "ordinal": ordinal,
            "skip": window.limit - 1,
        },
    )
    rows = await cursor.fetchall()
    return (rows[0][0], rows[0][1]) if len(rows) == 2 else None


# Pushed batches


async def remember_batches(
    connection: Connection, user_id: UUID, product_id: UUID, batch_ids: Sequence[str]
) -> set[str]:
    """Note these batches and return those that were not known before."""
    cursor = await connection.execute(
        "insert into push_batches (user_id, product_id, batch_id) select %s, %s, unnest(%s::text[])"
        " on conflict do nothing returning batch_id",
        [user_id, product_id, list(batch_ids)],
    )
    return {row[0] for row in await cursor.fetchall()}
