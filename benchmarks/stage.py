"""What all implementations share: an embedded PostgreSQL in a temporary folder, and a tenant with users in it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg

from kontor.bootstrap import attach_embedded, migrate_database, open_services
from kontor.config import Settings, read_settings
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.tenants import new_tenant
from kontor.services.tokens import ClientLogin, TokenRequest
from kontor.services.users import NewUser
from kontor.storage.embedded import EmbeddedPostgres


@contextmanager
def open_database() -> Iterator[Settings]:
    """Settings with a migrated database of our own, which is removed at the end. All else is Kontor's default."""
    folder = Path(tempfile.mkdtemp(prefix="kontor-bench-"))
    folder.chmod(0o755)  # the unprivileged user that runs PostgreSQL for root must get in
    server = EmbeddedPostgres(folder)
    try:
        settings = attach_embedded(read_settings({}, data=folder), server.start())
        migrate_database(settings)
        yield settings
    finally:
        server.stop()
        for leftover in (server.home, server.sockets, folder):
            shutil.rmtree(leftover, ignore_errors=True)


@dataclass
class Stage:
    """A tenant with an admin client, for the use of `async with`."""

    settings: Settings
    tenant: str = "bench"

    async def __aenter__(self) -> "Stage":
        self._exits = AsyncExitStack()
        self.services: Services = await self._exits.enter_async_context(open_services(self.settings, "kontor bench"))
        administration = self.services.tenant_administration
        await administration.create_tenant(new_tenant(self.tenant, is_regulated=True, scopes=ALL_SCOPES))
        _, secret = await administration.create_client(self.tenant, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
        self._login = ClientLogin(f"{self.tenant}/admin", Secret(secret), "127.0.0.1")
        return self

    async def __aexit__(self, *_: object) -> None:
        with self.owner() as connection:
            connection.execute("vacuum analyze")  # nothing of that kind shall happen while we measure
        await self._exits.aclose()

    def owner(self) -> psycopg.Connection:
        assert self.settings.migration_database_url is not None
        return psycopg.connect(self.settings.migration_database_url.reveal(), autocommit=True)

    async def issue_client_token(self) -> str:
        issued = await self.services.tokens.issue_token(self._login, TokenRequest("client_credentials"))
        return issued.token.reveal()

    async def add_users(self, count: int) -> list[str]:
        """The first through Kontor, the others as copies of its row: hashing a password each would take minutes."""
        first = await self.services.users.create_user_by_operator(
            self.tenant, NewUser("user-0@example.com", Secret(uuid4().hex))
        )
        with self.owner() as connection:
            rows = connection.execute(
                "insert into users (id, tenant_id, username, password_hash, pseudonym, data_key, wrapping_key_id)"
                " select gen_random_uuid(), tenant_id, 'user-' || n || '@example.com', password_hash,"
                " gen_random_uuid(), data_key, wrapping_key_id"
                " from users cross join generate_series(1, %s) n where id = %s returning id",
                [count - 1, first.id],
            ).fetchall()
        return [str(first.id), *(str(row[0]) for row in rows)]
