"""Payees that a user has paid, read from the payments, and the limits that the user has set for them."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from kontor.domain.payees import Payee, PayeeSettings, PayeeUse
from kontor.domain.payments import PayeeResult
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock

# What the bank has taken. Direct debits pay nobody, and neither does a standing order that is deleted.
IS_PAID = "p.state in ('EXECUTED', 'ACCEPTED') and p.debit is null and coalesce(p.standing->>'action', '') <> 'DELETE'"
# Evidence without the bank's results is that of a warning alone.
IS_VERIFIED = "p.evidence->'results'->(o.ordinality - 1)::integer is not null"
LIST_USES = f"""
    select o.value->>'recipient', o.value->>'iban', min(p.created_at), max(p.created_at),
        (array_agg(p.evidence->'results'->(o.ordinality - 1)::integer order by p.evidence->>'verified_at' desc)
            filter (where {IS_VERIFIED}))[1],
        max((p.evidence->>'verified_at')::timestamptz) filter (where {IS_VERIFIED})
    from payments p, jsonb_array_elements(p.orders) with ordinality o
    where p.user_id = %(user_id)s and {IS_PAID}
        and (%(ibans)s::text[] is null or o.value->>'iban' = any(%(ibans)s))
    group by 1, 2
    union all
    select name, iban, first_at, last_at, null, null from payee_limits
    where user_id = %(user_id)s and name is not null
        and (max_amount is not null or hold_hours > 0 or held_until > now())
        and (%(ibans)s::text[] is null or iban = any(%(ibans)s))
"""
SUM_ORDERED = """
    select o.value->>'iban', sum((o.value->>'amount')::numeric)
    from payments p, jsonb_array_elements(p.orders) o
    where p.user_id = %s and p.id <> all(%s) and p.created_at >= %s and p.created_at < %s
        and p.state not in ('DRAFT', 'FAILED') and p.debit is null and coalesce(p.standing->>'action', '') <> 'DELETE'
        and o.value->>'iban' = any(%s)
    group by 1
"""
LIST_SETTINGS = "select id, max_amount, hold_hours, held_until from payee_limits where user_id = %s"
LOCK_SETTINGS = (
    "select id, max_amount, hold_hours, held_until from payee_limits where user_id = %s and id = any(%s)"
    " order by id for update"
)
ADD_SETTINGS = "insert into payee_limits (user_id, id, iban) values (%s, %s, %s) on conflict (user_id, id) do nothing"
SAVE_SETTINGS = """
    insert into payee_limits (user_id, id, iban, max_amount, hold_hours, held_until, name, first_at, last_at)
    values (%s, %s, %s, %s, %s, %s, %s, %s, %s)
    on conflict (user_id, id) do update set max_amount = excluded.max_amount, hold_hours = excluded.hold_hours,
        held_until = excluded.held_until, name = excluded.name, first_at = excluded.first_at,
        last_at = excluded.last_at, changed_at = now()
"""


async def list_uses(connection: Connection, user_id: UUID, ibans: Sequence[str] | None = None) -> list[PayeeUse]:
    """Names and IBANs of executed orders; of these IBANs alone, if any are named.

    A payee with a rule in force is among them as it was when the rule was set: its payments may have been deleted.
    """
    values = {"user_id": user_id, "ibans": None if ibans is None else list(ibans)}
    cursor = await connection.execute(LIST_USES, values)
    return [
        PayeeUse(name, iban, first, last, None if result is None else msgspec.convert(result, PayeeResult), verified)
        for name, iban, first, last, result, verified in await cursor.fetchall()
    ]


async def list_settings(connection: Connection, user_id: UUID) -> dict[UUID, PayeeSettings]:
    cursor = await connection.execute(LIST_SETTINGS, [user_id])
    return {row[0]: PayeeSettings(*row[1:]) for row in await cursor.fetchall()}


async def lock_settings(connection: Connection, user_id: UUID, ids: Sequence[UUID]) -> dict[UUID, PayeeSettings]:
    """Of these payees. Nobody else orders to them or changes them until the end of the transaction."""
    for payee_id in sorted(ids, key=str):
        note_lock(Lock.PAYEE, user_id, payee_id)
    cursor = await connection.execute(LOCK_SETTINGS, [user_id, list(ids)])
    return {row[0]: PayeeSettings(*row[1:]) for row in await cursor.fetchall()}


async def add_settings(connection: Connection, user_id: UUID, payee_id: UUID, iban: str) -> None:
    """A row without rules, unless there is one: what is to be locked must be there."""
    note_lock(Lock.PAYEE, user_id, payee_id)
    await connection.execute(ADD_SETTINGS, [user_id, payee_id, iban])


async def save_settings(
    connection: Connection, user_id: UUID, payee: Payee, settings: PayeeSettings, now: datetime
) -> None:
    """Name and times of the payee are kept for as long as a rule is in force."""
    values = [settings.max_amount, settings.hold_hours, settings.held_until]
    facts = [payee.name, payee.first_at, payee.last_at] if settings.is_in_force(now) else [None, None, None]
    await connection.execute(SAVE_SETTINGS, [user_id, payee.id, payee.iban, *values, *facts])


async def sum_ordered(
    connection: Connection,
    user_id: UUID,
    payment_ids: Sequence[UUID],
    ibans: Sequence[str],
    since: datetime,
    until: datetime,
) -> dict[str, Decimal]:
    """What other payments of a day order for each of these IBANs, whatever comes of them; not what has failed."""
    cursor = await connection.execute(SUM_ORDERED, [user_id, list(payment_ids), since, until, list(ibans)])
    return {iban: Decimal(amount) for iban, amount in await cursor.fetchall()}
