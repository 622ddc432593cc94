"""Credit files of customers: inserted once, never changed."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

from kontor.domain.credit_files import (
    CreditFile,
    CreditFileEntry,
    CreditPurpose,
    ReviewEntry,
    ReviewRequest,
    ReviewStatus,
)
from kontor.domain.disclosures import DisclosureScope
from kontor.storage.database import Connection
from kontor.storage.disclosures import IS_VALID

HEAD = "id, version, predecessor_id, purpose, disclosure_id, consent, created_at"
COLUMNS = f"{HEAD}, document, signature"
LIST_OWN = f"select {HEAD} from credit_files where user_id = %s order by created_at desc, id"
FIND_OWN = f"select {COLUMNS} from credit_files where user_id = %s and id = %s"
INSERT = f"""
    insert into credit_files (user_id, tenant_id, {COLUMNS}) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def _credit_file(row: Sequence[Any]) -> CreditFile:
    return CreditFile(
        id=row[0],
        version=row[1],
        predecessor_id=row[2],
        purpose=CreditPurpose(row[3], row[4], row[5]),
        created_at=row[6],
        document=row[7],
        signature=row[8],
    )


async def list_files(connection: Connection, user_id: UUID) -> list[CreditFileEntry]:
    """The newest first."""
    cursor = await connection.execute(LIST_OWN, [user_id])
    return [
        CreditFileEntry(
            id=row[0],
            version=row[1],
            predecessor_id=row[2],
            purpose=CreditPurpose(row[3], row[4], row[5]),
            created_at=row[6],
        )
        for row in await cursor.fetchall()
    ]


async def find_file(connection: Connection, user_id: UUID, file_id: UUID) -> CreditFile | None:
    row = await (await connection.execute(FIND_OWN, [user_id, file_id])).fetchone()
    return None if row is None else _credit_file(row)


async def insert_file(connection: Connection, user_id: UUID, tenant_id: UUID, file: CreditFile) -> None:
    purpose = file.purpose
    values = [file.id, file.version, file.predecessor_id, purpose.text, purpose.disclosure_id, purpose.consent]
    await connection.execute(INSERT, [user_id, tenant_id, *values, file.created_at, file.document, file.signature])


async def count_first_versions(connection: Connection, user_id: UUID) -> int:
    """Those that the customer has made, not those that reviews have."""
    cursor = await connection.execute(
        "select count(*) from credit_files where user_id = %s and predecessor_id is null", [user_id]
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def has_successor(connection: Connection, user_id: UUID, file_id: UUID) -> bool:
    cursor = await connection.execute(
        "select 1 from credit_files where user_id = %s and predecessor_id = %s", [user_id, file_id]
    )
    return await cursor.fetchone() is not None


async def delete_file(connection: Connection, user_id: UUID, file_id: UUID) -> None:
    await connection.execute("delete from credit_files where user_id = %s and id = %s", [user_id, file_id])


# Reviews


async def insert_request(connection: Connection, user_id: UUID, file_id: UUID, request: ReviewRequest) -> bool:
    """False where there is one already."""
    cursor = await connection.execute(
        "insert into credit_review_requests (user_id, file_id, comment, requested_at) values (%s, %s, %s, %s)"
        " on conflict do nothing",
        [user_id, file_id, request.comment, request.requested_at],
    )
    return cursor.rowcount > 0


async def find_request(connection: Connection, user_id: UUID, file_id: UUID) -> ReviewRequest | None:
    cursor = await connection.execute(
        "select comment, requested_at from credit_review_requests where user_id = %s and file_id = %s",
        [user_id, file_id],
    )
    row = await cursor.fetchone()
    return None if row is None else ReviewRequest(*row)


# For advisers: files whose disclosure holds now. A version that has a newer one is done, and one that a review has made
# until the customer asks again.
LIST_REVIEWS = f"""
    select * from (
        select f.user_id, f.id, f.version, f.created_at, r.requested_at, %(bookings)s = any(d.scopes) as shows_bookings,
            case when exists (select 1 from all_credit_files n
                    where n.user_id = f.user_id and n.predecessor_id = f.id) then 'REVIEWED'
                when r.requested_at is not null then 'REQUESTED'
                when f.predecessor_id is not null then 'REVIEWED'
                else 'OPEN' end as status
        from all_credit_files f join all_disclosures d on d.user_id = f.user_id and d.id = f.disclosure_id
            left join all_credit_review_requests r on r.user_id = f.user_id and r.file_id = f.id
        where {IS_VALID} and f.tenant_id = %(tenant)s and %(scope)s = any(d.scopes)
    ) found
    where (user_id, id) > (%(after_user)s, %(after)s) and (%(status)s::text is null or status = %(status)s)
    order by user_id, id limit %(limit)s
"""


def _review_entry(row: Sequence[Any]) -> ReviewEntry:
    user_id, file_id, version, created_at, requested_at, shows_bookings, status = row
    return ReviewEntry(
        user_id, file_id, version, created_at, requested_at, ReviewStatus(status), shows_bookings=shows_bookings
    )


async def list_reviews(
    connection: Connection,
    tenant_id: UUID,
    adviser_id: UUID,
    today: date,
    status: ReviewStatus | None,
    after: tuple[UUID, UUID],
    limit: int,
) -> list[ReviewEntry]:
    values = {"tenant": tenant_id, "adviser": adviser_id, "today": today, "status": status, "limit": limit}
    values |= {"scope": str(DisclosureScope.CREDIT_CHECK), "after_user": after[0], "after": after[1]}
    values["bookings"] = str(DisclosureScope.CREDIT_BOOKINGS)
    cursor = await connection.execute(LIST_REVIEWS, values)
    return [_review_entry(row) for row in await cursor.fetchall()]


# Retention: from the day on which the purpose has ended. That of a customer's own file ends when it is made.
DELETE_OLD = """
    delete from all_credit_files where (user_id, id) in (
        select f.user_id, f.id from all_credit_files f
            left join all_disclosures d on d.user_id = f.user_id and d.id = f.disclosure_id
        where coalesce(least(d.withdrawn_at, d.valid_until + 1), f.created_at) <= now() - make_interval(days => %s)
        limit %s)
"""


async def delete_old_files(connection: Connection, days: int, limit: int) -> int:
    cursor = await connection.execute(DELETE_OLD, [days, limit])
    return cursor.rowcount
