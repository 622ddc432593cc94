"""Records of payments after their user was erased: what must be kept, and nothing that leads to the user.

The user's id becomes the pseudonym under which the audit trail knows the user. Rows are deleted and inserted anew: a
table that is distributed by `user_id` cannot change it.
"""

from uuid import UUID

from kontor.domain.payments import name_at_bank
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock
from kontor.storage.payments import IS_AT_BANK
from kontor.storage.user_binding import bind_transaction

# Nothing else is kept: no address of the customer, no callback, no access, no key, no secret, no names of devices.
KEPT = (
    "id, tenant_id, pseudonym, kind, state, failure, detail, provider_id, product_key, product, orders, given,"
    " is_instant, execution_date, prefers_rejection, is_payee_accepted, created_at, changed_at, sent_at, expires_at,"
    " standing, debit, evidence"
)
EMPTIED = "dialogue - array['methods', 'media', 'chosen_medium', 'redirect_url', 'wanted_method', 'wanted_medium']"
# What is still at the bank is waited for, since its outcome must be written down; housekeeping comes back to it.
IS_OVER = f"state in ('EXECUTED', 'ACCEPTED', 'FAILED', 'UNKNOWN') and not {IS_AT_BANK}"


async def anonymise_payments(connection: Connection, user_id: UUID) -> int:
    """Of a user who is being erased, or was."""
    cursor = await connection.execute(
        f"select id from payments where user_id = %s and {IS_OVER} order by id for update", [user_id]
    )
    ids = [row[0] for row in await cursor.fetchall()]
    for payment_id in ids:
        note_lock(Lock.PAYMENT, user_id, payment_id)
    await connection.execute(
        f"with gone as (delete from payments where user_id = %(user_id)s and id = any(%(ids)s) returning *)"
        f" insert into payments (user_id, {KEPT}, dialogue, lease_key, request_digest, kept_bank_id)"
        f" select pseudonym, {KEPT}, {EMPTIED}, case when lease_key is not null then ''::bytea end, ''::bytea,"
        " bank_id from gone join unnest(%(ids)s::uuid[], %(bank_ids)s::uuid[]) as told (payment_id, bank_id)"
        " on payment_id = gone.id",
        {"user_id": user_id, "ids": ids, "bank_ids": [name_at_bank(user_id, payment_id) for payment_id in ids]},
    )
    return len(ids)


async def anonymise_orphaned(connection: Connection) -> bool:
    """Of one user who was erased while a payment was at the bank, or by a version that kept the id."""
    cursor = await connection.execute(
        f"select user_id from all_payments payments where user_id <> pseudonym and {IS_OVER}"
        " and not exists (select 1 from users u where u.id = payments.user_id) limit 1"
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    await bind_transaction(connection, row[0])
    return await anonymise_payments(connection, row[0]) > 0
