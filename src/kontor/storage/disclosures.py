"""What customers allow advisers to read. Customers' own rows by user; advisers find them by their tenant."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

from kontor.domain.disclosures import DisclosingCustomer, Disclosure, DisclosureRead, DisclosureScope
from kontor.storage.database import Connection

COLUMNS = "id, scopes, valid_until, adviser_id, shown_text"
LIST_OWN = f"""
    select {COLUMNS} from disclosures where user_id = %s and withdrawn_at is null order by created_at, id
"""
FIND_OWN = f"select {COLUMNS} from disclosures where user_id = %s and id = %s and (withdrawn_at is null or %s)"
INSERT = f"insert into disclosures (user_id, tenant_id, {COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s)"
WITHDRAW = f"""
    update disclosures set withdrawn_at = now() where user_id = %s and id = %s and withdrawn_at is null
    returning {COLUMNS}
"""
# The one condition under which somebody else's analyses are read.
IS_VALID = """
    d.tenant_id = %(tenant)s and d.withdrawn_at is null and d.valid_until >= %(today)s
    and (d.adviser_id is null or d.adviser_id = %(adviser)s) and d.user_id <> %(adviser)s
    and exists (select 1 from users u where u.id = d.user_id and u.tenant_id = d.tenant_id and u.is_active)
"""
LIST_CUSTOMERS = f"""
    select d.user_id, d.id, d.scopes, d.valid_until from all_disclosures d
    where {IS_VALID} and (d.user_id, d.id) > (%(after_user)s, %(after)s)
    order by d.user_id, d.id limit %(limit)s
"""
FIND_VALID = f"""
    select d.id from all_disclosures d where {IS_VALID} and d.user_id = %(user)s and %(scope)s = any(d.scopes)
    order by d.adviser_id nulls last, d.valid_until desc, d.id limit 1
"""
# A file is read by the disclosure that it was made for, and by no other.
FIND_OF_FILE = f"""
    select f.user_id, d.id from all_credit_files f
        join all_disclosures d on d.user_id = f.user_id and d.id = f.disclosure_id
    where {IS_VALID} and f.id = %(file)s and f.tenant_id = %(tenant)s and %(scope)s = any(d.scopes)
"""
# As the index of entries by user is made.
LIST_READS = """
    select e.at, u.id, split_part(e.object, ' ', 5) from audit_entries e
    left join users u on u.tenant_id = e.chain
        and u.pseudonym = substring(e.actor from 'user ([0-9a-f-]{36})')::uuid
    where e.chain = %(tenant)s and e.action = 'disclosure.read' and e.object like %(object)s
        and coalesce(substring(e.object from 'user ([0-9a-f-]{36})'), substring(e.actor from 'user ([0-9a-f-]{36})'))
            = %(pseudonym)s
        and e.serial < %(before)s
    order by e.serial desc limit %(limit)s
"""


def _disclosure(row: Sequence[Any]) -> Disclosure:
    return Disclosure(row[0], tuple(map(DisclosureScope, row[1])), *row[2:])


async def list_disclosures(connection: Connection, user_id: UUID) -> list[Disclosure]:
    """Those that are not withdrawn."""
    cursor = await connection.execute(LIST_OWN, [user_id])
    return [_disclosure(row) for row in await cursor.fetchall()]


async def find_disclosure(
    connection: Connection, user_id: UUID, disclosure_id: UUID, *, is_withdrawn_too: bool = False
) -> Disclosure | None:
    row = await (await connection.execute(FIND_OWN, [user_id, disclosure_id, is_withdrawn_too])).fetchone()
    return None if row is None else _disclosure(row)


async def insert_disclosure(connection: Connection, user_id: UUID, tenant_id: UUID, disclosure: Disclosure) -> None:
    scopes = [str(scope) for scope in disclosure.scopes]
    values = [disclosure.id, scopes, disclosure.valid_until, disclosure.adviser_id, disclosure.text]
    await connection.execute(INSERT, [user_id, tenant_id, *values])


async def withdraw_disclosure(connection: Connection, user_id: UUID, disclosure_id: UUID) -> Disclosure | None:
    row = await (await connection.execute(WITHDRAW, [user_id, disclosure_id])).fetchone()
    return None if row is None else _disclosure(row)


async def list_customers(
    connection: Connection, tenant_id: UUID, adviser_id: UUID, today: date, after: tuple[UUID, UUID], limit: int
) -> list[DisclosingCustomer]:
    values = {"tenant": tenant_id, "adviser": adviser_id, "today": today, "limit": limit}
    cursor = await connection.execute(LIST_CUSTOMERS, values | {"after_user": after[0], "after": after[1]})
    return [
        DisclosingCustomer(row[0], row[1], tuple(map(DisclosureScope, row[2])), row[3])
        for row in await cursor.fetchall()
    ]


async def find_valid(
    connection: Connection, tenant_id: UUID, adviser_id: UUID, today: date, user_id: UUID, scope: DisclosureScope
) -> UUID | None:
    """The disclosure by which the adviser may read this of the customer now: one for this adviser before others."""
    values = {"tenant": tenant_id, "adviser": adviser_id, "today": today, "user": user_id, "scope": str(scope)}
    row = await (await connection.execute(FIND_VALID, values)).fetchone()
    return None if row is None else row[0]


async def find_of_file(
    connection: Connection, tenant_id: UUID, adviser_id: UUID, today: date, file_id: UUID, scope: DisclosureScope
) -> tuple[UUID, UUID] | None:
    """The customer of a credit file, and the disclosure by which the adviser may read it now."""
    values = {"tenant": tenant_id, "adviser": adviser_id, "today": today, "file": file_id}
    cursor = await connection.execute(FIND_OF_FILE, values | {"scope": str(scope)})
    row = await cursor.fetchone()
    return None if row is None else (row[0], row[1])


async def list_reads(
    connection: Connection, tenant_id: UUID, pseudonym: UUID, disclosure_id: UUID, limit: int
) -> list[DisclosureRead]:
    """From the audit trail, newest first."""
    values = {"tenant": tenant_id, "pseudonym": str(pseudonym), "limit": limit, "before": 2**62}
    cursor = await connection.execute(LIST_READS, values | {"object": f"% disclosure {disclosure_id} %"})
    return [DisclosureRead(row[0], row[1], DisclosureScope(row[2])) for row in await cursor.fetchall()]
