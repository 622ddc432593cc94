"""What analyses read, and their answers, kept while the data is unchanged."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from kontor.storage.clusters import hold_user
from kontor.storage.database import Connection, fetch_row, fetch_rows

# A full join is never done row against row, whatever the statistics believe of a user who has just come. The condition
# on the category, true for every tag, keeps the planner from making a plain join of it.
RECORDS = """
    select t.id::text, t.product_id::text, t.booked_on, t.amount, g.category, t.currency, g.insurance_type, g.partner,
        g.freelancer_category, coalesce(t.purpose, ''), coalesce(t.booking_text, ''), coalesce(t.gv_code, ''),
        coalesce(t.counterparty_name, ''), coalesce(t.counterparty_iban, ''), coalesce(t.counterparty_bic, ''),
        coalesce(t.ultimate_counterparty, ''), t.is_pending, coalesce(g.own_category, ''),
        case when t.parts is null then '{}'::numeric[]
            else array(select (part ->> 'amount')::numeric from jsonb_array_elements(t.parts) part) end,
        case when t.parts is null then '{}'::text[]
            else array(select part ->> 'category' from jsonb_array_elements(t.parts) part) end,
        case when t.parts is null then '{}'::text[]
            else array(select coalesce(part ->> 'own_category', '') from jsonb_array_elements(t.parts) part) end, 0,
        g.learnt_from is not null
    from (select * from transactions where user_id = $1) t
        full join (select * from transaction_tags where user_id = $1) g
        on g.product_id = t.product_id and g.transaction_id = t.id
    where coalesce(g.category, '') <> ''
"""
ANSWER = """
    select r.answer from analysis_results r join data_versions d on d.user_id = r.user_id and d.version = r.data_version
    where r.user_id = $1 and r.question = $2 and r.made_for = $3 and r.made_by = $4
"""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, the business date, and the version of the program that answers."""

    text: str
    today: date
    made_by: str


async def load_bookings(connection: Connection, user_id: UUID) -> list[tuple[Any, ...]]:
    """All tagged transactions of the user, in no particular order, with the values that a `Record` has, in order."""
    return await fetch_rows(connection, RECORDS, [user_id], binary=True)


async def find_answer(connection: Connection, user_id: UUID, question: Question) -> bytes | None:
    row = await fetch_row(connection, ANSWER, [user_id, question.text, question.today, question.made_by], binary=True)
    return None if row is None else row[0]


async def store_answer(
    connection: Connection, user_id: UUID, question: Question, data_version: int, answer: bytes
) -> None:
    """A later answer of another process is not replaced by an earlier one. Nothing for a user who is gone."""
    if not await hold_user(connection, user_id):
        return
    await connection.execute(
        "insert into analysis_results as kept (user_id, question, data_version, made_for, made_by, answer, made_at)"
        " select %(user)s, %(text)s, %(version)s, %(today)s, %(by)s, %(answer)s, now() from users where id = %(user)s"
        " on conflict (user_id, question) do update set data_version = excluded.data_version,"
        " made_for = excluded.made_for, made_by = excluded.made_by, answer = excluded.answer,"
        " made_at = excluded.made_at"
        " where kept.data_version <= excluded.data_version",
        {
            "user": user_id,
            "text": question.text,
            "version": data_version,
            "today": question.today,
            "by": question.made_by,
            "answer": answer,
        },
    )


async def delete_answers(connection: Connection, user_id: UUID) -> None:
    """What was concluded from data goes with the data."""
    await connection.execute("delete from analysis_results where user_id = %s", [user_id])


async def delete_old_answers(connection: Connection) -> int:
    cursor = await connection.execute("select delete_all_old_answers(now() - interval '7 days')")
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])
