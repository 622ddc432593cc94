"""What all implementations share: an embedded PostgreSQL in a temporary folder, and a tenant with customers in it."""

import base64
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import psycopg

from kontor.bootstrap import attach_embedded, migrate_database, open_services
from kontor.config import Settings, read_settings
from kontor.connectors.demo.people import large_person
from kontor.domain.accesses import AccessStatus, make_product_id
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.tokens import ClientLogin, TokenRequest
from kontor.services.identity.users import NewUser
from kontor.storage import accesses, products, transactions
from kontor.storage.embedded import EmbeddedPostgres

DEMO_BANK = UUID(int=0)


@contextmanager
def open_database() -> Iterator[Settings]:
    """Settings with a migrated database of our own, which is removed at the end. All else is Kontor's default."""
    folder = Path(tempfile.mkdtemp(prefix="kontor-bench-"))
    folder.chmod(0o755)  # the unprivileged user that runs PostgreSQL for root must get in
    server = EmbeddedPostgres(folder)
    try:
        settings = attach_embedded(read_settings({}, data=folder, demo_bank=True), server.start())
        migrate_database(settings)
        yield settings
    finally:
        server.stop()
        for leftover in (server.home, server.sockets, folder):
            shutil.rmtree(leftover, ignore_errors=True)


@dataclass(frozen=True)
class Customer:
    """A user with a password and a token of its own."""

    id: UUID
    username: str
    password: Secret
    token: str


@dataclass
class BenchmarkEnvironment:
    """A tenant with an admin client and an app, for the use of `async with`."""

    settings: Settings
    tenant: str = "bench"

    async def __aenter__(self) -> "BenchmarkEnvironment":
        self._exits = AsyncExitStack()
        self.services: Services = await self._exits.enter_async_context(open_services(self.settings, "kontor bench"))
        administration = self.services.tenant_administration
        await administration.create_tenant(new_tenant(self.tenant, is_regulated=True, scopes=ALL_SCOPES))
        _, secret = await administration.create_client(self.tenant, "admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)
        self._login = ClientLogin(f"{self.tenant}/admin", Secret(secret), "127.0.0.1")
        _, secret = await administration.create_client(self.tenant, "app", ClientKind.USER, USER_SCOPES)
        await administration.create_role(self.tenant, "app", new_role("customer", USER_SCOPES, is_default=True))
        self._app = ClientLogin(f"{self.tenant}/app", Secret(secret), "127.0.0.1")
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

    # Customers

    async def add_customer(self) -> Customer:
        username, password = f"customer-{uuid4().hex[:12]}@example.com", Secret(uuid4().hex)
        user = await self.services.users.create_user_by_operator(self.tenant, NewUser(username, password))
        customer = Customer(user.id, username, password, "")
        return replace(customer, token=await self.issue_user_token(customer))

    async def issue_user_token(self, customer: Customer, scope: str | None = None) -> str:
        request = TokenRequest("password", scope, customer.username, customer.password)
        issued = await self.services.tokens.issue_token(self._app, request)
        return issued.token.reveal()

    async def add_transactions(self, customer: Customer, count: int) -> str:
        """A product of the customer with exactly so many of the demo bank's bookings; returns the path of their list.

        Through Kontor's storage, as a worker writes what a bank has sent.
        """
        today = datetime.now(UTC).date()
        account = large_person(count, today, f"test_large+{customer.username}").accounts[0]
        rows = [entry.transaction for entry in account.entries][-count:]
        access_id = str(uuid4())
        product_id = make_product_id(customer.id, access_id, account.product.key)
        async with self.services.database.transaction(customer.id) as connection:
            await accesses.insert_access(
                connection, customer.id, access_id, DEMO_BANK, is_synced=True, selected_products=None
            )
            await accesses.set_status(connection, customer.id, access_id, AccessStatus.COMPLETE)
            await products.upsert_product(connection, customer.id, product_id, access_id, 0, account.product)
            await transactions.insert_transactions(connection, customer.id, product_id, rows, today)
        return f"/customer/v2/bankzugaenge/{access_id}/{product_id}/kontoumsaetze"

    async def encrypt(self, customer: Customer, text: str) -> str:
        """As a caller must send credentials."""
        principal = await self.services.tokens.authenticate(customer.token)
        assert principal is not None
        return base64.b64encode(await self.services.encryption.encrypt(principal, text.encode())).decode()
