"""Pauses of background refresh by operators: beside what the bank says, and until an operator ends them."""

from datetime import datetime
from uuid import UUID

from kontor.storage.database import Connection

STOP = """
    update accesses set operator_paused_at = %s, next_refresh_at = null
    where user_id = %s and id = %s and operator_paused_at is null
"""
CONTINUE = """
    update accesses set operator_paused_at = null
    where user_id = %s and id = %s and operator_paused_at is not null
"""


async def pause_by_operator(connection: Connection, user_id: UUID, access_id: str, at: datetime) -> bool:
    """False when it was paused already."""
    return (await connection.execute(STOP, [at, user_id, access_id])).rowcount == 1


async def resume_by_operator(connection: Connection, user_id: UUID, access_id: str) -> bool:
    """`reschedule` then finds the next time. False when no operator had paused it."""
    return (await connection.execute(CONTINUE, [user_id, access_id])).rowcount == 1
