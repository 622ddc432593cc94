"""Storing what a bank said, in one transaction each, and only while the lease is ours."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from uuid import UUID

import msgspec

from kontor.connectors.base import Done, Failed, FailureKind, Fetched, Headers, Progress, State
from kontor.domain.accesses import DATA_LIFETIME, Access, AccessStatus, Notice, NoticeKind, make_product_id
from kontor.domain.cleaning import clean_product
from kontor.domain.dialogues import Dialogue
from kontor.domain.permissions import CHANNELS, PermissionChannel
from kontor.domain.products import Product
from kontor.domain.webhooks import Event
from kontor.services.accesses import Refreshing, request_fetch
from kontor.services.banks import BANK_CHANNEL_KEY, REFUSALS, Admissions
from kontor.services.fetching.access_events import find_notice_events, find_transaction_events
from kontor.services.fetching.merges import FetchedMerges, Merges, clean_fetched
from kontor.services.fetching.notices import FAILURES
from kontor.services.fetching.staging import Staging
from kontor.services.fetching.writing import FetchWriting
from kontor.services.runtime import Clock
from kontor.services.security import UserEncryption
from kontor.services.webhooks import Events
from kontor.storage import accesses, alert_states, fetches, permissions, products, queue, users
from kontor.storage.data_versions import read_version, take_version
from kontor.storage.database import Connection, Database
from kontor.storage.fetches import Fetch, FetchState
from kontor.storage.leases import Lease
from kontor.storage.retries import retry_conflicts, retry_when_locked

PREPARE_ATTEMPTS = 3
INTERNAL = Notice(NoticeKind.INTERNAL)


class LeaseLostError(Exception):
    """Another worker took over, or there is nobody left to fetch for; whatever we know is not ours to store."""


@dataclass(frozen=True, slots=True)
class PreparedRelease:
    """What was computed from what was staged at that time."""

    staged_at: datetime
    merges: FetchedMerges


class FetchContinuation(msgspec.Struct, frozen=True):
    """What is sealed for the worker that goes on: the connector's state, and headers that are not stored yet.

    `since` as the bank was asked.
    """

    state: State
    headers: Headers | None
    since: dict[str, date] = {}


@dataclass(frozen=True, slots=True)
class FinishedFetch:
    """A fetch that the bank has answered completely. `headers` are those that are not stored yet.

    `since` are the days from which the bank was asked, by the bank's keys of the products.
    """

    fetch: Fetch
    lease: Lease
    headers: Headers | None
    step: Done
    since: Mapping[str, date]
    seconds: float


class FetchResults:
    def __init__(
        self,
        database: Database,
        user_encryption: UserEncryption,
        clock: Clock,
        events: Events,
        refreshing: Refreshing,
        admissions: Admissions,
        staging: Staging,
        merges: Merges,
        writing: FetchWriting,
    ) -> None:
        self._database = database
        self._merges = merges
        self._writing = writing
        self._user_encryption = user_encryption
        self._clock = clock
        self._events = events
        self._admissions = admissions
        self._staging = staging
        self.refreshing = refreshing

    @retry_conflicts
    async def store_headers(self, fetch: Fetch, headers: Headers, lease: Lease) -> None:
        async with self._fenced(fetch, lease) as (connection, access):
            await self._store_first_headers(connection, fetch.user_id, access, headers)

    async def store_done(self, finished: FinishedFetch) -> None:
        """Everything of a fetch at once: products, transactions, positions, notices, the end of fetch and lease.

        Before the user has chosen accounts it is staged instead.
        """
        for attempt in range(PREPARE_ATTEMPTS):
            prepared = await self._prepare(finished)
            if await self._store_prepared(finished, prepared, is_last=attempt + 1 == PREPARE_ATTEMPTS):
                return

    @retry_conflicts
    async def _store_prepared(self, finished: FinishedFetch, prepared: FetchedMerges, *, is_last: bool) -> bool:
        """False when the data has changed since it was prepared for. The last attempt computes under the locks then."""
        fetch, lease, seconds = finished.fetch, finished.lease, finished.seconds
        async with self._fenced(fetch, lease) as (connection, access):
            if not access.is_confirmed:
                await self._staging.stage_result(connection, fetch.user_id, access.id, finished.step)
                await self.refreshing.note_success(connection, fetch)
                await fetches.finish_answered(connection, fetch.id, lease, access.provider_id, seconds)
                return True
            if await read_version(connection, fetch.user_id) != prepared.version:
                if not is_last:
                    return False
                prepared = replace(prepared, plans={})
            written = await self._writing.write_fetched(
                connection, fetch.user_id, access, finished.headers, finished.step, finished.since, prepared
            )
            # Late, since notes of use leave a row that is held.
            await permissions.note_fetch(connection, fetch.user_id, access.id, _find_channel(finished.step))
            await self.refreshing.note_success(connection, fetch)
            # From here on other fetches of this user wait.
            await products.set_products_seen(connection, fetch.user_id, written.complete, written.seen)
            await fetches.finish_answered(connection, fetch.id, lease, access.provider_id, seconds)
            news: list[Event] = []
            if any(product.count for product in written.counts):
                version = await take_version(connection, fetch.user_id)
                news = find_transaction_events(fetch.user_id, access, written.counts, version)
            await self._publish(connection, fetch, access, written.notices, news)
        return True

    async def store_failure(
        self, fetch: Fetch, access: Access, step: Failed, lease: Lease, seconds: float | None
    ) -> None:
        """The stored data stays as it is; only what there is to say is noted."""
        await retry_when_locked(lambda: self._store_failure(fetch, step, lease, seconds))

    @retry_conflicts
    async def _store_failure(self, fetch: Fetch, step: Failed, lease: Lease, seconds: float | None) -> None:
        notice = Notice(FAILURES.get(step.kind, NoticeKind.INTERNAL), step.detail)
        async with self._fenced(fetch, lease) as (connection, access):
            messages = [notice] if notice.kind.is_for_the_user else list(access.messages)
            await accesses.store_notices(connection, fetch.user_id, access.id, messages, [notice])
            await fetches.finish_fetch(connection, fetch.id, FetchState.FAILED, str(step.kind))
            if step.kind in REFUSALS and fetch.lease_key is not None:
                await self.refreshing.pause_credentials(connection, fetch.lease_key, fetch.user_id, access.id)
            if not access.is_synced:
                await self._forget(connection, fetch.user_id, access)
            await self.refreshing.reschedule(connection, fetch.user_id, access.id)
            if seconds is not None:
                # A wrong PIN is the customer's failure, not the bank's.
                is_success = notice.kind.is_for_the_user
                is_refused = step.kind in REFUSALS
                await fetches.record_outcome(
                    connection, access.provider_id, is_success=is_success, is_refused=is_refused, seconds=seconds
                )
                is_up = step.kind not in (FailureKind.UNREACHABLE, FailureKind.INTERNAL)
                await self._admissions.note_answer(connection, access.provider_id, is_up=is_up)
            await self._publish(connection, fetch, access, [notice])

    @retry_conflicts
    async def store_sca_needed(self, fetch: Fetch, access: Access, lease: Lease, *, was_called: bool) -> None:
        """The bank wants the customer to authenticate; nothing more can be done unattended."""
        notice = Notice(NoticeKind.SCA_NEEDED)
        async with self._fenced(fetch, lease) as (connection, _):
            await accesses.store_notices(connection, fetch.user_id, access.id, [notice], [notice])
            if not access.is_synced:
                # Without an answer of the user the credentials must not stay for ever.
                await accesses.set_expiry(connection, fetch.user_id, access.id, datetime.now(UTC) + DATA_LIFETIME)
            await fetches.finish_fetch(connection, fetch.id, FetchState.WAITING)
            await self.refreshing.pause_for_sca(connection, fetch.user_id, access.id)
            if was_called:
                await self._admissions.note_answer(connection, access.provider_id, is_up=True)
            await self._publish(connection, fetch, access, [notice])

    @asynccontextmanager
    async def fenced(self, user_id: UUID, access_id: str, lease: Lease) -> AsyncIterator[Connection]:
        """A transaction that exists only while the lease and the access do, and the user is active."""
        async with self._database.transaction(user_id) as connection:
            if await accesses.lock_leased(connection, user_id, access_id, lease) is None:
                raise LeaseLostError
            if not await users.is_active(connection, user_id):
                raise LeaseLostError
            yield connection

    async def check_wanted(self, fetch: Fetch, lease: Lease) -> None:
        """Before the bank is called again. Raises LeaseLostError when what it says could not be stored anyway."""
        async with self._database.connect(fetch.user_id) as connection:
            if not await fetches.is_wanted(connection, fetch.id, lease):
                raise LeaseLostError

    @retry_conflicts
    async def hand_back(self, fetch: Fetch, lease: Lease, rest: FetchContinuation) -> None:
        """Another worker goes on with the same dialogue."""
        async with self._fenced(fetch, lease) as (connection, access):
            sealed = await self._user_encryption.seal(connection, fetch.user_id, access.id, "rest", rest)
            await fetches.hand_back(connection, fetch.user_id, fetch.id, sealed)

    @retry_conflicts
    async def interrupt(self, fetch: Fetch, lease: Lease) -> None:
        """Its worker stops before the bank has answered. Who asked for it can see that; no event says it to tenants."""
        async with self._fenced(fetch, lease) as (connection, access):
            await fetches.interrupt_fetches(connection, [fetch.id])
            await queue.remove_fetch_jobs(connection, [fetch.id])
            await self._note_internal(connection, fetch.user_id, access)

    @retry_conflicts
    async def note_interrupted(self, user_id: UUID, access_id: str) -> None:
        """A fetch that failed again and again through no fault of the bank: the user must be told all the same.

        Unless it is the user who is gone: then that is why, and nobody wants to know.
        """
        async with self._database.transaction(user_id) as connection:
            access = await accesses.lock_access(connection, user_id, access_id)
            if access is not None:
                is_wanted = await self._note_internal(connection, user_id, access)
                if is_wanted:
                    events = find_notice_events(user_id, access, [INTERNAL], is_attended=False)
                    await self._events.publish(connection, *events)

    # Accesses that are being added in the web form

    async def list_staged_products(
        self, connection: Connection, user_id: UUID, access_id: str
    ) -> list[tuple[UUID, Product]]:
        """Among which the user may choose, with the ids that they will have."""
        headers = await self._staging.find_headers(connection, user_id, access_id)
        found = () if headers is None else headers.products
        return [(make_product_id(user_id, access_id, product.key), product) for product in map(clean_product, found)]

    async def prepare_release(self, user_id: UUID, access_id: str, chosen: Collection[UUID]) -> PreparedRelease | None:
        """What can be computed of a choice before the transaction that stores it."""
        async with self._database.connect(user_id) as connection:
            staged = await self._staging.find(connection, user_id, access_id)
        if staged is None or staged.done is None:
            return None
        assert isinstance(staged.done.result, Fetched), "a fetch was asked for"
        cleaned = map(clean_product, staged.headers.products)
        coming = [product for product in cleaned if make_product_id(user_id, access_id, product.key) in chosen]
        merges = await self._merges.prepare_fetched(
            user_id, access_id, coming, staged.done.result, {}, self._clock.today()
        )
        return PreparedRelease(staged.staged_at, merges)

    async def release(
        self,
        connection: Connection,
        user_id: UUID,
        access: Access,
        chosen: Sequence[UUID] | None,
        prepared: PreparedRelease | None,
    ) -> None:
        """The user has chosen: this becomes customer data, and nothing else. None where there was nothing to choose.

        The caller has locked the access. What is still being fetched, the worker then stores as for any other. What was
        prepared is used as far as nothing has changed since.
        """
        selected = None if chosen is None else tuple(chosen)
        await accesses.confirm_access(connection, user_id, access.id, selected)
        confirmed = replace(access, form_session_id=None, selected_products=selected)
        staged = await self._staging.take(connection, user_id, access.id)
        if staged is not None:
            version = await read_version(connection, user_id)
            await self._writing.write_headers(connection, user_id, confirmed, staged.headers)
            if staged.done is not None:
                assert isinstance(staged.done.result, Fetched), "a fetch was asked for"
                if prepared is not None and (prepared.staged_at, prepared.merges.version) == (
                    staged.staged_at,
                    version,
                ):
                    merges = prepared.merges
                else:
                    merges = await clean_fetched(staged.done.result, self._clock.today())
                await permissions.note_fetch(connection, user_id, access.id, _find_channel(staged.done))
                written = await self._writing.write_fetched(
                    connection, user_id, confirmed, None, staged.done, {}, merges
                )
                await products.set_products_seen(connection, user_id, written.complete, written.seen)
        elif selected is not None:
            await products.delete_other_products(connection, user_id, access.id, selected)
        await self.refreshing.reschedule(connection, user_id, access.id)
        await alert_states.mark_due(connection, user_id, await self._clock.read(connection))

    # From a dialogue with the user to the worker

    async def queue_continuation(
        self, connection: Connection, dialogue: Dialogue, access: Access, step: Progress
    ) -> None:
        """The user is authenticated and the products are known: the rest of the fetch is a worker's."""
        user_id = dialogue.user_id
        is_first = access.status is not AccessStatus.COMPLETE
        if is_first:
            await self._store_first_headers(connection, user_id, access, step.partial)
        await accesses.store_notices(connection, user_id, access.id, [], [])
        await self.refreshing.resume(connection, user_id, access.id)
        rest = FetchContinuation(step.state, None if is_first else step.partial)
        sealed = await self._user_encryption.seal(connection, user_id, access.id, "rest", rest)
        await fetches.interrupt_open(connection, user_id, access.id)
        await request_fetch(
            connection,
            user_id,
            access.id,
            dialogue.lease_key,
            is_attended=True,
            all_history=True,
            resume_state=sealed,
        )

    async def open_continuation(self, fetch: Fetch) -> FetchContinuation:
        assert fetch.resume_state is not None
        async with self._database.connect(fetch.user_id) as connection:
            return await self._user_encryption.unseal(
                connection, fetch.user_id, fetch.access_id, "rest", fetch.resume_state, FetchContinuation
            )

    # Parts

    async def _note_internal(self, connection: Connection, user_id: UUID, access: Access) -> bool:
        """A fetch of a locked access has ended without the bank's word. False when its user is gone."""
        is_wanted = await users.is_active(connection, user_id)
        if is_wanted:
            await accesses.store_notices(connection, user_id, access.id, access.messages, [INTERNAL])
        if not access.is_synced:
            await self._forget(connection, user_id, access)
        await self.refreshing.reschedule(connection, user_id, access.id)
        return is_wanted

    async def _prepare(self, finished: FinishedFetch) -> FetchedMerges:
        """Before the transaction, which then takes no longer than writing does."""
        fetch, headers, result = finished.fetch, finished.headers, finished.step.result
        assert isinstance(result, Fetched), "a fetch was asked for"
        coming = () if headers is None else tuple(map(clean_product, headers.products))
        return await self._merges.prepare_fetched(
            fetch.user_id, fetch.access_id, coming, result, finished.since, self._clock.today()
        )

    @asynccontextmanager
    async def _fenced(self, fetch: Fetch, lease: Lease) -> AsyncIterator[tuple[Connection, Access]]:
        """As `fenced`, and only while nobody took this fetch over or ended it.

        With the access as it is now: options may have changed while the bank was asked.
        """
        async with self._database.transaction(fetch.user_id) as connection:
            access = await accesses.lock_leased(connection, fetch.user_id, fetch.access_id, lease)
            if access is None or not await fetches.is_running(connection, fetch.id, lease):
                raise LeaseLostError
            yield connection, access

    async def _publish(
        self,
        connection: Connection,
        fetch: Fetch,
        access: Access,
        notices: Sequence[Notice],
        events: Sequence[Event] = (),
    ) -> None:
        """At the very end: the webhooks' rows are held until the commit. `access` is as it was before."""
        await alert_states.mark_due(connection, fetch.user_id, await self._clock.read(connection))
        found = find_notice_events(fetch.user_id, access, notices, is_attended=fetch.is_attended)
        await self._events.publish(connection, *events, *found)

    async def _store_first_headers(
        self, connection: Connection, user_id: UUID, access: Access, headers: Headers
    ) -> None:
        if access.is_confirmed:
            await self._writing.write_headers(connection, user_id, access, headers)
        else:
            await self._staging.stage_headers(connection, user_id, access.id, headers)
        await accesses.set_status(connection, user_id, access.id, AccessStatus.HEADERS)

    @staticmethod
    async def _forget(connection: Connection, user_id: UUID, access: Access) -> None:
        await accesses.forget_credentials(connection, user_id, access.id)


def _find_channel(step: Done) -> PermissionChannel | None:
    """Which of several channels to the bank was taken; None where there is one."""
    kind = (step.connector_state or {}).get(BANK_CHANNEL_KEY)
    return None if kind is None else CHANNELS.get(kind)
