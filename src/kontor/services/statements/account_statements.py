"""Account statements of a user: listing them, and reading their files."""

from uuid import UUID

from kontor.domain.account_statements import StoredStatement
from kontor.domain.errors import NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.services.security import STATEMENT, UserEncryption
from kontor.storage import account_statements, products
from kontor.storage.database import Database


class AccountStatements:
    def __init__(self, database: Database, user_encryption: UserEncryption) -> None:
        self._database = database
        self._user_encryption = user_encryption

    async def list_statements(self, principal: Principal, access_id: str, product_id: UUID) -> list[StoredStatement]:
        """Newest first."""
        user_id = user_of(principal)
        async with self._database.connect(user_id) as connection:
            if not await products.has_product(connection, user_id, access_id, product_id):
                raise NotFoundError
            return await account_statements.list_statements(connection, user_id, product_id)

    async def read_file(
        self, principal: Principal, access_id: str, product_id: UUID, statement_id: UUID
    ) -> tuple[StoredStatement, bytes]:
        user_id = user_of(principal)
        async with self._database.connect(user_id) as connection:
            if not await products.has_product(connection, user_id, access_id, product_id):
                raise NotFoundError
            found = await account_statements.find_file(connection, user_id, product_id, statement_id)
            if found is None:
                raise NotFoundError
            statement, sealed = found
            return statement, await self._user_encryption.unseal_file(connection, user_id, access_id, STATEMENT, sealed)
