"""What an operator sees: of every tenant, or of one. For a tenant's own client there is no other tenant."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from kontor.domain.audit import SYSTEM_CHAIN, ChainedEntry
from kontor.domain.errors import NotFoundError
from kontor.domain.operator_views import (
    AccessFilter,
    AccessRow,
    ClientRow,
    HeldJob,
    Place,
    ProviderRow,
    RefreshRow,
    TenantRow,
    UserFilter,
    UserRow,
    Worker,
)
from kontor.domain.operators import Operator, RefreshState, Viewer
from kontor.domain.principals import Principal
from kontor.domain.webhooks import Webhook
from kontor.services.accesses import Refreshing
from kontor.services.operations.egress import EgressReport
from kontor.services.operations.figures import OpsFigures
from kontor.services.operations.incidents import Incidents
from kontor.services.operations.interventions import Interventions
from kontor.services.runtime import Clock, SingleFlightCache
from kontor.services.security import Finding, auditing
from kontor.storage import audit, ops, ops_jobs, ops_providers, ops_refreshes, ops_webhooks, tenants, workers
from kontor.storage.database import Database

MAX_SERIAL = 2**62


@dataclass(frozen=True, slots=True)
class Verification:
    """When it was found, and what: (the tenant's name, None for the system's own chain; the finding)."""

    at: datetime
    findings: list[tuple[str | None, Finding]]

    @property
    def is_whole(self) -> bool:
        return all(finding.problem is None for _, finding in self.findings)


def view_as_operator(operator: Operator) -> Viewer:
    return Viewer(f"operator {operator.name}")


def view_as_client(principal: Principal) -> Viewer:
    return Viewer(auditing.name_actor(principal), principal.tenant_id, principal.tenant_name)


class Ops:
    def __init__(self, database: Database, clock: Clock, refreshing: Refreshing) -> None:
        self._database = database
        self._clock = clock
        self.egress = EgressReport(database)
        self.figures = OpsFigures(database, clock, self.egress)
        self.incidents = Incidents(database)
        self.interventions = Interventions(database, clock, refreshing)
        self._providers: SingleFlightCache[None, list[ProviderRow]] = SingleFlightCache(self._list_providers)
        self._verifications: SingleFlightCache[UUID | None, Verification] = SingleFlightCache(self._verify)

    async def choose_tenant(self, viewer: Viewer, name: str | None) -> UUID | None:
        """The tenant to look at, None for all. One that the viewer may not see does not exist for it."""
        if name is None or name == viewer.tenant_name:
            return viewer.tenant_id
        if viewer.tenant_id is not None or "\x00" in name:
            raise NotFoundError
        async with self._database.connect() as connection:
            tenant = await tenants.find_tenant(connection, name)
        if tenant is None:
            raise NotFoundError
        return tenant.id

    # Tenants, clients, users, accesses

    async def list_tenants(self, viewer: Viewer, after: str, limit: int) -> list[TenantRow]:
        async with self._database.connect() as connection:
            return await ops.list_tenants(connection, viewer.tenant_id, after, limit)

    async def list_clients(self, tenant_id: UUID | None, after: tuple[str, str], limit: int) -> list[ClientRow]:
        async with self._database.connect() as connection:
            return await ops.list_clients(connection, tenant_id, after, limit)

    async def list_users(self, wanted: UserFilter, after: UUID, limit: int) -> list[UserRow]:
        async with self._database.connect() as connection:
            return await ops.list_users(connection, wanted, after, limit)

    async def list_accesses(
        self, wanted: AccessFilter, after: tuple[UUID, str], limit: int
    ) -> tuple[list[AccessRow], tuple[UUID, str] | None]:
        """A page, and where the next one begins."""
        async with self._database.connect() as connection:
            return await ops.list_accesses(connection, wanted, self._clock.now(), after, limit)

    # Refreshes, providers

    async def list_refreshes(
        self, state: RefreshState, tenant_id: UUID | None, after: Place | None, limit: int
    ) -> tuple[list[RefreshRow], Place | None]:
        """A page, and where the next one begins."""
        async with self._database.connect() as connection:
            return await ops_refreshes.list_refreshes(connection, state, tenant_id, self._clock.now(), after, limit)

    async def list_providers(self) -> list[ProviderRow]:
        """Providers belong to no tenant, and everybody may know how they do."""
        return await self._providers.read(None)

    async def count_accesses_by_provider(self) -> dict[UUID, int]:
        """Of all tenants."""
        async with self._database.connect() as connection:
            return await ops_providers.count_accesses(connection)

    # Webhooks

    async def list_webhooks(
        self, tenant_id: UUID | None, after: tuple[str, UUID], limit: int
    ) -> list[tuple[str, Webhook]]:
        """With the names of their tenants."""
        async with self._database.connect() as connection:
            return await ops_webhooks.list_webhooks(connection, tenant_id, after, limit)

    async def find_webhook(self, viewer: Viewer, webhook_id: UUID) -> Webhook:
        async with self._database.connect() as connection:
            webhook = await ops_webhooks.find_webhook(connection, viewer.tenant_id, webhook_id)
        if webhook is None:
            raise NotFoundError
        return webhook

    # Machinery

    async def list_held_jobs(self, before: int, limit: int) -> list[HeldJob]:
        async with self._database.connect() as connection:
            return await ops_jobs.list_held(connection, before, limit)

    async def list_workers(self, limit: int) -> list[Worker]:
        async with self._database.connect() as connection:
            return await workers.list_workers(connection, limit)

    async def read_server_version(self) -> str:
        """Of PostgreSQL."""
        async with self._database.connect() as connection:
            return await ops.read_server_version(connection)

    # Audit trail

    async def list_audit_entries(self, tenant_id: UUID | None, before: int, limit: int) -> list[ChainedEntry]:
        """Of the tenant, or of the system itself; newest first."""
        async with self._database.connect() as connection:
            return await audit.list_newest(connection, tenant_id or SYSTEM_CHAIN, before, limit)

    async def verify_audit_trail(self, tenant_id: UUID | None) -> Verification:
        """The tenant's chain, or all of them."""
        return await self._verifications.read(tenant_id)

    # Parts

    async def _list_providers(self, nothing: None) -> list[ProviderRow]:
        async with self._database.connect() as connection:
            return await ops_providers.list_providers(connection)

    async def _verify(self, tenant_id: UUID | None) -> Verification:
        async with self._database.connect() as connection:
            names = {tenant.id: tenant.name for tenant in await tenants.list_tenants(connection)}
            chains = [tenant_id] if tenant_id else [chain for chain, _, _ in await audit.list_chains(connection)]
        findings = [(names.get(chain), await auditing.verify_chain(self._database, chain)) for chain in chains]
        return Verification(datetime.now(UTC), findings)
