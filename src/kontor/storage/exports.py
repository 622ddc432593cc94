"""Everything that is stored about a user, as ready JSON objects, one table after the other, a page at a time."""

from datetime import date
from functools import lru_cache
from uuid import UUID

from psycopg import sql

from kontor.domain.searches import Position
from kontor.storage.database import Connection, fetch_row, fetch_rows
from kontor.storage.export_sections import TRANSACTIONS, Section

FIND_USER = (
    "select to_json(shown)::text from (select u.id, n.name as tenant, u.username, u.first_name, u.last_name,"
    " u.is_active, u.created_at from users u join tenants n on n.id = u.tenant_id"
    " where u.tenant_id = $1 and u.id = $2) shown"
)
# The pseudonym stands for the user in the trail, and must not be found out from an export: `self` takes its place.
LIST_AUDIT = """
    select serial, (select to_json(shown) from (
        select at, replace(actor, $2, 'self') as actor, action, replace(object, $2, 'self') as object, result
    ) shown)::text
    from audit_entries where chain = $1
        and coalesce(substring(object from 'user ([0-9a-f-]{36})'), substring(actor from 'user ([0-9a-f-]{36})')) = $2
        and serial > $3 order by serial limit $4
"""


@lru_cache(maxsize=64)
def _section_query(section: Section) -> str:
    return (
        sql.SQL(
            "select {key}, json_build_object({shown})::text from {table} t"
            " where t.user_id = $1 and {key} > $2 and {condition} order by {key} limit $3"
        )
        .format(
            key=sql.SQL(section.key),
            shown=_list_pairs(section),
            table=sql.Identifier(section.table),
            condition=sql.SQL(section.condition),
        )
        .as_string()
    )


@lru_cache(maxsize=1)
def _transactions_query() -> str:
    return (
        sql.SQL(
            "select t.booked_on, t.ordinal, json_build_object({shown})::text"
            " from transactions t where t.user_id = $1 and t.product_id = $2 and (t.booked_on, t.ordinal) > ($3, $4)"
            " and t.booked_on <= $5 order by t.booked_on, t.ordinal limit $6"
        )
        .format(shown=_list_pairs(TRANSACTIONS))
        .as_string()
    )


def _list_pairs(section: Section) -> sql.Composable:
    """For `json_build_object`. A cluster refuses `to_json` of a subselect."""
    pairs = [(name, f"t.{name}") for name in section.columns.split(", ")]
    pairs += [section.extra] if section.extra else []
    return sql.SQL(", ").join([sql.SQL("{}, {}").format(sql.Literal(name), sql.SQL(value)) for name, value in pairs])


async def find_user_object(connection: Connection, tenant_id: UUID, user_id: UUID) -> str | None:
    row = await fetch_row(connection, FIND_USER, [tenant_id, user_id])
    return None if row is None else row[0]


async def list_objects(
    connection: Connection, user_id: UUID, section: Section, after: str, limit: int
) -> list[tuple[str, str]]:
    """A page: (position, JSON object) of the rows behind a position; the first page is behind the empty one."""
    rows = await fetch_rows(connection, _section_query(section), [user_id, after, limit])
    return [(row[0], row[1]) for row in rows]


async def list_audit_objects(
    connection: Connection, chain: UUID, pseudonym: UUID, after: int, limit: int
) -> list[tuple[int, str]]:
    """A page of the trail about the user: (serial, JSON object)."""
    rows = await fetch_rows(connection, LIST_AUDIT, [chain, str(pseudonym), after, limit])
    return [(row[0], row[1]) for row in rows]


async def list_transaction_objects(
    connection: Connection, user_id: UUID, product_id: UUID, after: Position, until: date, limit: int
) -> list[tuple[Position, str]]:
    """A page of a product's transactions, oldest first: (position, JSON object)."""
    rows = await fetch_rows(connection, _transactions_query(), [user_id, product_id, *after, until, limit])
    return [((row[0], row[1]), row[2]) for row in rows]
