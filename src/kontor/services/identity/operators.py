"""Operators and their tokens: made, listed and deleted on the command line, looked up with every request."""

import secrets
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.operators import Operator
from kontor.domain.secrets import Secret
from kontor.domain.tenants import check_technical_name
from kontor.services.security import auditing, hash_secret
from kontor.storage import operators
from kontor.storage.database import Database

TOKEN_PREFIX = "kontor_op_"  # noqa: S105 (lets secret scanners recognise a leaked token)
MAX_DAYS = 3650


class Operators:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def authenticate(self, token: str) -> Operator | None:
        """The bearer of a token, or None when it is unknown, expired or deleted. Nothing is cached."""
        async with self._database.connect() as connection:
            return await operators.find_operator(connection, hash_secret(token))

    async def create_operator(self, name: str, days: int) -> tuple[Operator, Secret]:
        """An operator and its token, which is shown now and never again."""
        check_technical_name(name)
        if not 1 <= days <= MAX_DAYS:
            raise InvalidError(f"must be between 1 and {MAX_DAYS}", "--days")
        token = Secret(TOKEN_PREFIX + secrets.token_urlsafe(32))
        now = datetime.now(UTC).replace(microsecond=0)
        operator = Operator(uuid4(), name, now, now + timedelta(days=days))
        async with self._database.transaction() as connection:
            await operators.insert_operator(connection, operator, hash_secret(token.reveal()))
            await auditing.record(connection, None, auditing.OPERATOR, "operator.create", f"operator {name}")
        return operator, token

    async def list_operators(self) -> list[Operator]:
        async with self._database.connect() as connection:
            return await operators.list_operators(connection)

    async def delete_operator(self, name: str) -> None:
        async with self._database.transaction() as connection:
            if await operators.delete_operator(connection, name) is None:
                raise NotFoundError(f"There is no operator named {name}.")
            await auditing.record(connection, None, auditing.OPERATOR, "operator.delete", f"operator {name}")
