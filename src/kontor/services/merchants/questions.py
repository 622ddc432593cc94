"""Which merchants nobody knows, and asking the operator's model about them, once per merchant and tenant.

A worker does so in the background. Who is asked about stands in the database before the request: a worker that dies
leaves an entry that is asked again later.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog

from kontor.domain.merchants import MAX_OPEN, plan_pause
from kontor.services.analyses import MerchantKnowledge, may_be_known, read_own_accounts
from kontor.services.merchants.model_calls import ModelCalls, ModelFailure
from kontor.services.merchants.prompts import make_body
from kontor.storage import merchants, queue, tenant_rules, users
from kontor.storage.data_versions import read_version
from kontor.storage.database import Database

log = structlog.get_logger(__name__)

CHECK_PAUSE = timedelta(hours=1)  # between two looks through a user's transactions
USERS_PER_RUN = 200
REQUESTS_PER_RUN = 50  # of a tenant
LEASE_SLACK = timedelta(minutes=1)
MAX_REST = timedelta(hours=1)  # after failed requests


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be sent: the address, and a body for each merchant. None where the operator has named no model."""

    address: str | None
    bodies: list[bytes]


class MerchantQuestions:
    """`calls` is None where the operator has named no model: then nothing is collected and nobody is asked."""

    def __init__(
        self,
        database: Database,
        knowledge: MerchantKnowledge,
        calls: ModelCalls | None,
        read_clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._knowledge = knowledge
        self._calls = calls
        self._read_clock = read_clock
        self._failures = 0
        self.last_failure: str | None = None
        self._rests_until = 0.0

    @property
    def is_set(self) -> bool:
        return self._calls is not None

    async def run(self) -> int:
        """What a worker does every few minutes; returns how many requests were made."""
        if self._calls is None:
            return 0
        await self.collect()
        return await self.ask()

    # Collecting

    async def collect(self) -> int:
        """Look through the transactions of users whose turn it is; returns how many."""
        for count in range(USERS_PER_RUN):
            async with self._database.transaction() as connection:
                claimed = await merchants.claim_user(connection, datetime.now(UTC), CHECK_PAUSE)
            if claimed is None:
                return count
            async with self._database.connect() as connection:
                room = MAX_OPEN - await merchants.count_open(connection, claimed.tenant_id)
            if room <= 0:
                continue  # the user's transactions are looked through when there is room again
            async with self._database.connect(claimed.id) as connection:
                version = await read_version(connection, claimed.id)
            found = await self._find_unknown(claimed.tenant_id, claimed.id, claimed.seen, room)
            async with self._database.transaction() as connection:
                if not await merchants.can_store_question(connection, claimed.tenant_id, claimed.id):
                    continue
                await merchants.add_open(connection, claimed.tenant_id, found)
                if len(found) < room:
                    await merchants.note_seen(connection, claimed.id, version)
        return USERS_PER_RUN

    async def _find_unknown(self, tenant_id: UUID, user_id: UUID, seen: int, limit: int) -> list[str]:
        """Merchants of the user's transactions about which the tenant knows nothing, in the order of the rows."""
        found: dict[str, None] = {}
        async with self._database.connect(user_id) as connection:
            own = await read_own_accounts(connection, user_id)
            async for rows in merchants.list_unknown(connection, user_id, seen):
                unknown = [
                    row.transaction for row in rows if row.tags is not None and may_be_known(row.transaction, row.tags)
                ]
                names = dict.fromkeys(name for name in await self._knowledge.name(user_id, unknown, own) if name)
                settled = await merchants.list_settled(connection, tenant_id, names)
                found |= {name: None for name in names if name not in settled}
                if len(found) >= limit:
                    break
        return list(found)[:limit]

    async def preview(self, tenant_id: UUID, limit: int) -> Preview:
        """What asking for this tenant would send, whether or not it is switched on. Nothing is sent or stored."""
        found: dict[str, None] = {}
        async with self._database.connect() as connection:
            user_ids = [user.id for user in await users.list_users(connection, tenant_id, include_inactive=False)]
        for user_id in user_ids:
            found |= dict.fromkeys(await self._find_unknown(tenant_id, user_id, 0, limit))
            if len(found) >= limit:
                break
        names = list(found)[:limit]
        if self._calls is None:
            return Preview(None, [make_body("", name) for name in names])
        return Preview(self._calls.address, [make_body(self._calls.settings.name, name) for name in names])

    # Asking

    async def ask(self) -> int:
        """Ask about what is open and due. The first failure ends the run: the model has a rest, and so have we."""
        if self._calls is None or self._read_clock() < self._rests_until:
            return 0
        async with self._database.connect() as connection:
            tenant_ids = await merchants.list_asking_tenants(connection, datetime.now(UTC))
        count = 0
        for tenant_id in tenant_ids:
            count += await self._ask_for_tenant(self._calls, tenant_id)
            if self._read_clock() < self._rests_until:
                break
        return count

    async def _ask_for_tenant(self, calls: ModelCalls, tenant_id: UUID) -> int:
        count = 0
        while count < REQUESTS_PER_RUN and await self._ask_once(calls, tenant_id):
            count += 1
            if self._read_clock() < self._rests_until:
                break
        await self._put_in_force(tenant_id)
        return count

    async def _ask_once(self, calls: ModelCalls, tenant_id: UUID) -> bool:
        """False: there is nothing to ask, or no request left for today."""
        now, settings = datetime.now(UTC), calls.settings
        async with self._database.transaction() as connection:
            lease = timedelta(seconds=settings.seconds) + LEASE_SLACK
            asked = await merchants.claim_open(connection, tenant_id, now, lease)
            if asked is None:
                return False
            if not await merchants.count_request(connection, tenant_id, now.date(), settings.daily_requests):
                await merchants.postpone(connection, tenant_id, asked, now + CHECK_PAUSE)
                return False
        answer = await calls.ask(asked.merchant)
        async with self._database.transaction() as connection:
            at = datetime.now(UTC)
            if answer.failure is None:
                await merchants.store_answer(connection, tenant_id, asked.id, answer.category, settings.name, at)
            else:
                await merchants.store_failure(connection, tenant_id, asked, at)
        self._note_outcome(answer.failure)
        log.info("model.asked", entry=str(asked.id), attempt=asked.attempts, failure=answer.failure)
        return True

    def _note_outcome(self, failure: ModelFailure | None) -> None:
        self.last_failure = failure
        self._failures = 0 if failure is None else self._failures + 1
        if failure is not None:
            pause = min(plan_pause(self._failures), MAX_REST)
            self._rests_until = self._read_clock() + pause.total_seconds()

    async def _put_in_force(self, tenant_id: UUID) -> None:
        """Transactions are tagged anew, as after a change of the tenant's rules: once for all answers of a run."""
        async with self._database.connect() as connection:
            if not await merchants.has_news(connection, tenant_id):
                return
        async with self._database.transaction() as connection:
            await tenant_rules.increment_rules_version(connection, tenant_id)
            await merchants.note_news(connection, tenant_id)
            await queue.enqueue_retag_tenant(connection, tenant_id)
