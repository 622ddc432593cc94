"""The figures an operator watches: counted when somebody asks, kept for some seconds, and judged."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kontor.domain.egress import PurposeTotal
from kontor.domain.incidents import Report
from kontor.domain.operator_views import DeliveryCounts, JobCount
from kontor.domain.operators import Viewer
from kontor.services.operations.egress import EgressReport
from kontor.services.operations.incidents import Incidents
from kontor.services.operations.refresh_outcomes import OutcomeTally
from kontor.services.runtime import Clock, SingleFlightCache
from kontor.storage import merchants, ops, ops_jobs, ops_providers, ops_refreshes, ops_webhooks, workers
from kontor.storage.database import Database
from kontor.storage.ops_refreshes import RefreshCounts


@dataclass(frozen=True, slots=True)
class RefreshFigures:
    """`at` is the business time for which they hold; `outcomes` are those of the last 24 hours, by state."""

    at: datetime
    counts: RefreshCounts
    outcomes: dict[str, int]


@dataclass(frozen=True, slots=True)
class AccessFigures:
    total: int
    by_status: dict[str, int]
    temporary: int
    paused: dict[str, int]


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """What belongs to no tenant."""

    outages: int
    jobs: list[JobCount]
    workers_alive: int
    workers_dead: int
    worker_versions: dict[str, int]
    merchants: dict[str, int]  # by state


# Somebody's password is wrong at any time. Beyond this share of all accesses it is no single customer's affair.
MAX_TROUBLED = 0.01


@dataclass(frozen=True, slots=True)
class Check:
    """`detail` is for people."""

    name: str
    is_well: bool
    detail: str


class OpsFigures:
    def __init__(self, database: Database, clock: Clock, egress: EgressReport) -> None:
        self._database = database
        self._egress_report = egress
        self._clock = clock
        self._outcomes = OutcomeTally(database)
        self._refreshes: SingleFlightCache[UUID | None, RefreshFigures] = SingleFlightCache(self._count_refreshes)
        self._accesses: SingleFlightCache[UUID | None, AccessFigures] = SingleFlightCache(self._count_accesses)
        self._deliveries: SingleFlightCache[UUID | None, DeliveryCounts] = SingleFlightCache(self._count_deliveries)
        self._system: SingleFlightCache[None, SystemFigures] = SingleFlightCache(self._count_system)
        self._incidents = Incidents(database)
        self._deadlines: SingleFlightCache[None, dict[Report, datetime]] = SingleFlightCache(self._find_deadlines)
        self._egress: SingleFlightCache[None, list[PurposeTotal]] = SingleFlightCache(self._sum_egress)

    async def count_refreshes(self, tenant_id: UUID | None) -> RefreshFigures:
        return await self._refreshes.read(tenant_id)

    async def count_accesses(self, tenant_id: UUID | None) -> AccessFigures:
        return await self._accesses.read(tenant_id)

    async def count_deliveries(self, tenant_id: UUID | None) -> DeliveryCounts:
        return await self._deliveries.read(tenant_id)

    async def count_system(self) -> SystemFigures:
        return await self._system.read(None)

    async def check_health(self, viewer: Viewer) -> list[Check]:
        """Is all well? What belongs to no tenant is told to tenants without its figures."""
        if not await self._database.is_ready():
            return [Check("database", is_well=False, detail="does not answer")]
        refreshes = (await self.count_refreshes(viewer.tenant_id)).counts
        accesses = await self.count_accesses(viewer.tenant_id)
        deliveries = await self.count_deliveries(viewer.tenant_id)
        system = await self.count_system()
        checks = [
            Check("database", is_well=True, detail="answers"),
            Check("workers", system.workers_alive > 0, "at work" if system.workers_alive else "none is at work"),
            Check("refreshes", refreshes.late == 0, f"{refreshes.late} late"),
            _check_accesses(refreshes, accesses.total),
            Check("deliveries", deliveries.discarded == 0, f"{deliveries.discarded} discarded within 24 hours"),
        ]
        if viewer.tenant_id is not None:
            return checks
        held = sum(job.count for job in system.jobs if job.status == "failed")
        checks[1] = Check(
            "workers",
            system.workers_alive > 0 and system.workers_dead == 0,
            f"{system.workers_alive} at work, {system.workers_dead} gone without a word within the last hour",
        )
        return [
            *checks,
            Check("providers", system.outages == 0, f"{system.outages} down"),
            Check("jobs", held == 0, f"{held} failed and held"),
        ]

    async def sum_egress(self) -> list[PurposeTotal]:
        """Of this day in UTC, by purpose."""
        return await self._egress.read(None)

    async def find_incident_deadlines(self) -> dict[Report, datetime]:
        """Of open incidents: when which report is due next."""
        return await self._deadlines.read(None)

    # Parts

    async def _count_refreshes(self, tenant_id: UUID | None) -> RefreshFigures:
        now = self._clock.now()
        async with self._database.connect() as connection:
            counts = await ops_refreshes.count_refreshes(connection, tenant_id, now)
        return RefreshFigures(now, counts, await self._outcomes.count(tenant_id))

    async def _count_accesses(self, tenant_id: UUID | None) -> AccessFigures:
        async with self._database.connect() as connection:
            total, others, temporary = await ops.count_accesses(connection, tenant_id)
        by_status = {"STARTED": 0, "HEADERS": 0} | others
        by_status["COMPLETE"] = max(0, total - sum(others.values()))
        paused = (await self.count_refreshes(tenant_id)).counts.paused
        return AccessFigures(total, by_status, temporary, paused)

    async def _count_deliveries(self, tenant_id: UUID | None) -> DeliveryCounts:
        async with self._database.connect() as connection:
            return await ops_webhooks.count_deliveries(connection, tenant_id)

    async def _count_system(self, nothing: None) -> SystemFigures:
        async with self._database.connect() as connection:
            outages = await ops_providers.count_outages(connection)
            jobs = await ops_jobs.count_jobs(connection)
            alive, dead = await workers.count_workers(connection)
            versions = await workers.count_versions(connection)
            states = await merchants.count_states(connection)
        return SystemFigures(outages, jobs, alive, dead, versions, states)

    async def _sum_egress(self, nothing: None) -> list[PurposeTotal]:
        return await self._egress_report.sum_today()

    async def _find_deadlines(self, nothing: None) -> dict[Report, datetime]:
        return await self._incidents.find_next_deadlines()


def _check_accesses(counts: RefreshCounts, total: int) -> Check:
    """Banks that do not answer, and logins that they refuse, count alike: the customer gets no data."""
    refused = counts.paused.get("CREDENTIALS", 0)
    detail = f"{counts.failing} of {total} failed at the last fetch, {refused} with a refused login"
    return Check("accesses", counts.troubled <= total * MAX_TROUBLED, detail)
