"""Account statements: which ones a fetch asks for, and storing those that came."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from kontor.domain.accesses import Access
from kontor.domain.account_statements import AccountStatement, StatementNumber
from kontor.services.security import STATEMENT, UserEncryption
from kontor.storage import account_statements
from kontor.storage.database import Connection


async def find_wanted_statements(
    connection: Connection, user_id: UUID, access: Access
) -> dict[str, tuple[StatementNumber, ...]] | None:
    """For the job of a fetch: those that are known; None where nobody wants any."""
    if not access.wants_statements:
        return None
    return await account_statements.list_known(connection, user_id, access.id)


async def write_statements(
    connection: Connection,
    user_encryption: UserEncryption,
    user_id: UUID,
    access_id: str,
    stored: Mapping[str, UUID],
    fetched: Mapping[str, Sequence[AccountStatement]],
) -> None:
    """`stored` are products by the bank's keys. The same statement twice is stored once."""
    for key, statements in fetched.items():
        if key not in stored or not statements:
            continue
        for statement in statements:
            digests: list[bytes] = []
            sealed = None
            if statement.content is not None:
                digests, sealed = await user_encryption.seal_file(
                    connection, user_id, access_id, STATEMENT, statement.content
                )
            await account_statements.store_statement(connection, user_id, stored[key], statement, digests, sealed)
        await account_statements.drop_oldest(connection, user_id, stored[key])
