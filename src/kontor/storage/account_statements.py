"""Account statements of customers. Their files are sealed."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from kontor.domain.account_statements import (
    MAX_STATEMENTS,
    AccountStatement,
    StatementFormat,
    StatementNumber,
    StatementState,
    StoredStatement,
)
from kontor.storage.database import Connection

COLUMNS = "id, product_id, number, year, format, starts_on, ends_on, created_on, size, state, fetched_at"
# Newest first; those without a number by their day.
ORDER = "coalesce(year, extract(year from coalesce(ends_on, created_on))) desc nulls last, number desc nulls last, id"
# A statement that is there with its file stays as it is.
STORE = """
    insert into account_statements as known (user_id, tenant_id, product_id, id, number, year, format, starts_on,
        ends_on, created_on, size, state, digest, content, fetched_at)
    select %(user)s, u.tenant_id, %(product)s, gen_random_uuid(), %(number)s, %(year)s, %(format)s, %(starts_on)s,
        %(ends_on)s, %(created_on)s, %(size)s, %(state)s, %(digest)s, %(content)s, now()
    from users u where u.id = %(user)s
        and not exists (select 1 from account_statements where user_id = %(user)s and product_id = %(product)s
            and %(number)s::integer is null and digest = any(%(digests)s::bytea[]))
    on conflict (user_id, product_id, coalesce(year, 0), number) do update set format = excluded.format,
        starts_on = excluded.starts_on, ends_on = excluded.ends_on, created_on = excluded.created_on,
        size = excluded.size, state = excluded.state, digest = excluded.digest, content = excluded.content,
        fetched_at = excluded.fetched_at
    where known.state <> 'STORED' and excluded.state <> 'LISTED'
"""
DROP_OLDEST = f"""
    delete from account_statements where user_id = %(user)s and id in (
        select id from account_statements where user_id = %(user)s and product_id = %(product)s
        order by {ORDER} offset %(kept)s)
"""


def _statement(row: Sequence[Any]) -> StoredStatement:
    id, product_id, number, year, kind, starts_on, ends_on, created_on, size, state, fetched_at = row
    return StoredStatement(
        id,
        product_id,
        number,
        year,
        None if kind is None else StatementFormat(kind),
        starts_on,
        ends_on,
        created_on,
        size,
        StatementState(state),
        fetched_at,
    )


async def list_statements(connection: Connection, user_id: UUID, product_id: UUID) -> list[StoredStatement]:
    cursor = await connection.execute(
        f"select {COLUMNS} from account_statements where user_id = %s and product_id = %s order by {ORDER}",
        [user_id, product_id],
    )
    return [_statement(row) for row in await cursor.fetchall()]


async def find_file(
    connection: Connection, user_id: UUID, product_id: UUID, statement_id: UUID
) -> tuple[StoredStatement, bytes] | None:
    """With its sealed file."""
    cursor = await connection.execute(
        f"select {COLUMNS}, content from account_statements"
        " where user_id = %s and product_id = %s and id = %s and content is not null",
        [user_id, product_id, statement_id],
    )
    row = await cursor.fetchone()
    return None if row is None else (_statement(row[:-1]), row[-1])


async def find_exported_file(connection: Connection, user_id: UUID, statement_id: UUID) -> tuple[str, bytes] | None:
    """The access and the sealed file."""
    cursor = await connection.execute(
        "select p.access_id, s.content from account_statements s join products p on p.user_id = s.user_id"
        " and p.id = s.product_id where s.user_id = %s and s.id = %s and s.content is not null",
        [user_id, statement_id],
    )
    row = await cursor.fetchone()
    return None if row is None else (row[0], row[1])


async def list_known(connection: Connection, user_id: UUID, access_id: str) -> dict[str, tuple[StatementNumber, ...]]:
    """Numbers of statements that need not be fetched again, by the bank's keys of the products."""
    cursor = await connection.execute(
        "select p.bank_key, s.year, s.number from account_statements s join products p on p.user_id = s.user_id"
        " and p.id = s.product_id where s.user_id = %s and p.access_id = %s and s.state <> 'LISTED'"
        " and s.number is not null order by s.year, s.number",
        [user_id, access_id],
    )
    known: dict[str, tuple[StatementNumber, ...]] = {}
    for key, year, number in await cursor.fetchall():
        known[key] = (*known.get(key, ()), (year, number))
    return known


async def store_statement(
    connection: Connection,
    user_id: UUID,
    product_id: UUID,
    statement: AccountStatement,
    digests: Sequence[bytes],
    sealed: bytes | None,
) -> None:
    """`digests` of its file: the first is stored, and by each it is known again."""
    values = {
        "user": user_id,
        "product": product_id,
        "number": statement.number,
        "year": statement.year,
        "format": None if statement.format is None else str(statement.format),
        "starts_on": statement.starts_on,
        "ends_on": statement.ends_on,
        "created_on": statement.created_on,
        "size": statement.size,
        "state": str(statement.state),
        "digest": digests[0] if digests else None,
        "digests": list(digests),
        "content": sealed,
    }
    await connection.execute(STORE, values)


async def drop_oldest(connection: Connection, user_id: UUID, product_id: UUID) -> None:
    """Beyond what is kept of one account."""
    await connection.execute(DROP_OLDEST, {"user": user_id, "product": product_id, "kept": MAX_STATEMENTS})
