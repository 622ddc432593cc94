"""Verifications of payees. Every query of a customer names the user."""

from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from kontor.domain.payments import PayeeResult, PayeeWarning, Verification
from kontor.storage.database import Connection


async def insert_verification(connection: Connection, verification: Verification) -> None:
    await connection.execute(
        "insert into payee_verifications (user_id, id, payment_id, payees, results, expires_at, created_at, warnings)"
        " values (%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            verification.user_id,
            verification.id,
            verification.payment_id,
            Jsonb(msgspec.to_builtins(verification.payees)),
            Jsonb(msgspec.to_builtins(verification.results)),
            verification.expires_at,
            verification.verified_at,
            Jsonb(msgspec.to_builtins(verification.warnings)),
        ],
    )


async def find_verification(connection: Connection, user_id: UUID, verification_id: UUID) -> Verification | None:
    """One that can still be used."""
    cursor = await connection.execute(
        "select payment_id, payees, results, expires_at, created_at, warnings, shown_text from payee_verifications"
        " where user_id = %s and id = %s and used_at is null and expires_at > now()",
        [user_id, verification_id],
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    payees = msgspec.convert(row[1], tuple[tuple[str, str], ...])
    results = msgspec.convert(row[2], tuple[PayeeResult, ...])
    warnings = msgspec.convert(row[5], tuple[PayeeWarning, ...])
    return Verification(verification_id, user_id, row[0], payees, results, row[3], row[4], warnings, row[6])


async def save_shown_text(connection: Connection, user_id: UUID, verification_id: UUID, text: str) -> None:
    await connection.execute(
        "update payee_verifications set shown_text = %s where user_id = %s and id = %s",
        [text, user_id, verification_id],
    )


async def use_verification(connection: Connection, user_id: UUID, verification_id: UUID) -> bool:
    """False when it was used before, by whomever came first."""
    cursor = await connection.execute(
        "update payee_verifications set used_at = now()"
        " where user_id = %s and id = %s and used_at is null and expires_at > now()",
        [user_id, verification_id],
    )
    return cursor.rowcount == 1


async def delete_old_verifications(connection: Connection, batch: int) -> int:
    cursor = await connection.execute(
        "delete from all_payee_verifications where (user_id, id) in"
        " (select user_id, id from all_payee_verifications where expires_at < now() - interval '1 day' limit %s)",
        [batch],
    )
    return cursor.rowcount
