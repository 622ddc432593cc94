"""Payments. Every query of a customer names the user; recovery starts from rows of our own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from kontor.domain.mandates import DebitInstruction
from kontor.domain.payments import (
    Order,
    PayeeEvidence,
    Payment,
    PaymentDialogue,
    PaymentFailure,
    PaymentKind,
    PaymentState,
)
from kontor.domain.schedules import StandingInstruction
from kontor.storage.database import Connection
from kontor.storage.lock_order import Lock, note_lock
from kontor.storage.user_binding import bind_transaction

KEY_LIFETIME_DAYS = 30
DUPLICATE_SECONDS = 60
HASTENED_LOOKUPS = 3

COLUMNS = (
    "user_id, id, tenant_id, pseudonym, kind, state, failure, detail, provider_id, access_id, product_id, product_key,"
    " product, orders, given, is_instant, execution_date, prefers_rejection, asks_settings, is_payee_accepted,"
    " is_editable, customer_ip, callback_url, dialogue, lease_key, fence, idempotency_key,"
    " request_digest, lookups, next_lookup_at, created_at, expires_at, standing, debit, evidence"
)
_NAMES = COLUMNS.split(", ")
PLACEHOLDERS = ", ".join(f"%({name})s" for name in _NAMES)
_FIXED = ("user_id", "id", "tenant_id", "pseudonym", "kind", "request_digest", "idempotency_key", "created_at")
CHANGES = ", ".join(f"{name} = %({name})s" for name in _NAMES if name not in _FIXED)
# Does the process that is at the bank still live? Its lease tells.
IS_AT_BANK = (
    "exists (select 1 from credential_leases l where l.key = payments.lease_key and l.fence = payments.fence"
    " and l.until > now())"
)
WHOLE = f"{COLUMNS}, sealed, credentials, {IS_AT_BANK}"


def _payment(row: Sequence[Any]) -> tuple[Payment, bytes | None, bytes | None]:
    values = dict(zip(_NAMES, row, strict=False))
    values["kind"] = PaymentKind(values["kind"])
    values["state"] = PaymentState(values["state"])
    values["failure"] = None if values["failure"] is None else PaymentFailure(values["failure"])
    values["orders"] = msgspec.convert(values["orders"], tuple[Order, ...])
    values["given"] = msgspec.convert(values["given"], tuple[Order, ...])
    values["dialogue"] = msgspec.convert(values["dialogue"], PaymentDialogue)
    standing = values["standing"]
    values["standing"] = None if standing is None else msgspec.convert(standing, StandingInstruction)
    debit = values["debit"]
    values["debit"] = None if debit is None else msgspec.convert(debit, DebitInstruction)
    evidence = values["evidence"]
    values["evidence"] = None if evidence is None else msgspec.convert(evidence, PayeeEvidence)
    sealed, credentials, is_at_bank = row[len(_NAMES) :]
    return Payment(**values, is_at_bank=is_at_bank), sealed, credentials


def _values(payment: Payment) -> dict[str, Any]:
    values = {name: getattr(payment, name) for name in _NAMES}
    for name in ("kind", "state"):
        values[name] = str(values[name])
    values["failure"] = None if payment.failure is None else str(payment.failure)
    for name in ("orders", "given", "dialogue"):
        values[name] = Jsonb(msgspec.to_builtins(values[name]))
    for name in ("standing", "debit", "evidence"):
        values[name] = None if values[name] is None else Jsonb(msgspec.to_builtins(values[name]))
    return values


async def insert_payment(connection: Connection, payment: Payment, credentials: bytes | None) -> bool:
    """False when the id or the idempotency key is taken: of two equal requests at once, one gets through."""
    cursor = await connection.execute(
        f"insert into payments ({COLUMNS}, credentials) values ({PLACEHOLDERS}, %(credentials)s)"
        " on conflict do nothing",
        _values(payment) | {"credentials": credentials},
    )
    return cursor.rowcount == 1


async def find_payment(
    connection: Connection, user_id: UUID, payment_id: UUID
) -> tuple[Payment, bytes | None, bytes | None] | None:
    """With its sealed state and its sealed credentials."""
    cursor = await connection.execute(
        f"select {WHOLE} from payments where user_id = %s and id = %s", [user_id, payment_id]
    )
    row = await cursor.fetchone()
    return None if row is None else _payment(row)


async def find_by_key(connection: Connection, user_id: UUID, key: str) -> Payment | None:
    cursor = await connection.execute(
        f"select {WHOLE} from payments where user_id = %s and idempotency_key = %s", [user_id, key]
    )
    row = await cursor.fetchone()
    return None if row is None else _payment(row)[0]


async def lock_payment(
    connection: Connection, user_id: UUID, payment_id: UUID
) -> tuple[Payment, bytes | None, bytes | None] | None:
    """As `find_payment`; nobody else moves it on until the end of the transaction.

    Read again once the lock is ours: a lease that was taken while we waited for it must be seen.
    """
    note_lock(Lock.PAYMENT, user_id, payment_id)
    await connection.execute("select 1 from payments where user_id = %s and id = %s for update", [user_id, payment_id])
    return await find_payment(connection, user_id, payment_id)


async def list_payments(connection: Connection, user_id: UUID, limit: int | None) -> list[Payment]:
    cursor = await connection.execute(
        f"select {WHOLE} from payments where user_id = %s order by created_at desc, id limit %s", [user_id, limit]
    )
    return [_payment(row)[0] for row in await cursor.fetchall()]


async def save_payment(
    connection: Connection, payment: Payment, sealed: bytes | None, credentials: bytes | None
) -> None:
    """What moved on. The row must be locked."""
    await connection.execute(
        f"update payments set {CHANGES}, sealed = %(sealed)s, credentials = %(credentials)s, changed_at = now(),"
        " sent_at = case when %(state)s = 'SENDING' then coalesce(sent_at, now()) else sent_at end"
        " where user_id = %(user_id)s and id = %(id)s",
        _values(payment) | {"sealed": sealed, "credentials": credentials},
    )


async def save_evidence(connection: Connection, payment: Payment) -> None:
    """What the user was shown. The row must be locked."""
    await connection.execute(
        "update payments set evidence = %s where user_id = %s and id = %s",
        [Jsonb(msgspec.to_builtins(payment.evidence)), payment.user_id, payment.id],
    )


async def was_sent(connection: Connection, user_id: UUID, payment_id: UUID) -> bool:
    """Has its order, or a TAN for it, left for the bank before?"""
    cursor = await connection.execute(
        "select sent_at is not null from payments where user_id = %s and id = %s", [user_id, payment_id]
    )
    row = await cursor.fetchone()
    return row is not None and row[0]


# Duplicates


async def note_order(connection: Connection, user_id: UUID, fingerprint: bytes, payment_id: UUID) -> None:
    """Remember an order that came with a key of its own; equal ones without a key are refused for a while."""
    await connection.execute(
        "insert into payment_fingerprints (user_id, fingerprint, payment_id) values (%s, %s, %s)"
        " on conflict (user_id, fingerprint) do update set payment_id = excluded.payment_id, given_at = now()",
        [user_id, fingerprint, payment_id],
    )


async def claim_order(connection: Connection, user_id: UUID, fingerprint: bytes, payment_id: UUID) -> bool:
    """False when an equal order was given a moment ago."""
    cursor = await connection.execute(
        "insert into payment_fingerprints as f (user_id, fingerprint, payment_id) values (%s, %s, %s)"
        " on conflict (user_id, fingerprint) do update set payment_id = excluded.payment_id, given_at = now()"
        " where f.given_at <= now() - make_interval(secs => %s)",
        [user_id, fingerprint, payment_id, DUPLICATE_SECONDS],
    )
    return cursor.rowcount == 1


# Recovery


async def list_orphaned(connection: Connection, batch: int) -> list[tuple[UUID, UUID]]:
    """Payments whose process died at the bank, and those whose user took too long. (user, payment)"""
    cursor = await connection.execute(
        "select user_id, id from all_payments payments where state in ('DRAFT', 'OPEN', 'SENDING')"
        f" and ((fence is null and expires_at <= now()) or (fence is not null and not {IS_AT_BANK})) limit %s",
        [batch],
    )
    return [(row[0], row[1]) for row in await cursor.fetchall()]


async def claim_lookups(connection: Connection, batch: int) -> list[Payment]:
    """Payments to be asked about now, claimed for a while: another worker asks about them later at the soonest.

    The pauses grow from a minute to a day, so that four questions are asked on the first day.
    """
    cursor = await connection.execute(
        "update all_payments set lookups = lookups + 1,"
        " next_lookup_at = now() + make_interval(secs => least(86400, 60 * power(12, least(lookups, 3))))"
        " where (user_id, id) in (select user_id, id from all_payments where next_lookup_at <= now()"
        " order by next_lookup_at limit %s for update skip locked) returning user_id, id",
        [batch],
    )
    claimed = []
    for user_id, payment_id in await cursor.fetchall():
        await bind_transaction(connection, user_id)
        found = await find_payment(connection, user_id, payment_id)
        assert found is not None
        claimed.append(found[0])
    return claimed


async def advance_lookup(connection: Connection, user_id: UUID, payment_id: UUID, not_before: datetime) -> None:
    """Somebody wants to know: ask as soon as it makes sense, instead of when it would be due. Not again and again."""
    await connection.execute(
        "update payments set next_lookup_at = %s where user_id = %s and id = %s and state = 'UNKNOWN'"
        " and next_lookup_at > %s and changed_at < now() - interval '5 seconds' and lookups < %s",
        [not_before, user_id, payment_id, not_before, HASTENED_LOOKUPS],
    )


async def postpone_lookup(connection: Connection, user_id: UUID, payment_id: UUID, seconds: float) -> None:
    """The bank may not be called yet: this one does not count."""
    await connection.execute(
        "update payments set lookups = greatest(0, lookups - 1), next_lookup_at = now() + make_interval(secs => %s)"
        " where user_id = %s and id = %s and next_lookup_at is not null",
        [seconds, user_id, payment_id],
    )


# Housekeeping


async def forget_old_keys(connection: Connection, batch: int) -> int:
    """An idempotency key may be used again after its lifetime."""
    cursor = await connection.execute(
        "update all_payments set idempotency_key = null where (user_id, id) in (select user_id, id from all_payments"
        " where idempotency_key is not null and created_at < now() - make_interval(days => %s) limit %s)",
        [KEY_LIFETIME_DAYS, batch],
    )
    return cursor.rowcount


async def delete_old_fingerprints(connection: Connection) -> int:
    cursor = await connection.execute(
        "delete from all_payment_fingerprints where given_at < now() - make_interval(secs => %s)", [DUPLICATE_SECONDS]
    )
    return cursor.rowcount


async def delete_old_payments(connection: Connection, batch: int) -> int:
    """Records that the tenant need not keep any longer. What may still come to something stays."""
    cursor = await connection.execute(
        "delete from all_payments where (user_id, id) in (select p.user_id, p.id from all_payments p"
        " join tenants t on t.id = p.tenant_id"
        " where p.created_at < now() - greatest(make_interval(days => t.payment_retention_days),"
        " case when exists (select 1 from users u where u.id = p.user_id) then make_interval(days => %s)"
        " else interval '0' end)"
        " and p.state in ('EXECUTED', 'ACCEPTED', 'FAILED', 'UNKNOWN') limit %s)",
        [KEY_LIFETIME_DAYS, batch],
    )
    return cursor.rowcount
