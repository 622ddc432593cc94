"""Storing what a bank said, in one transaction each, and only while the lease is ours."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from uuid import UUID, uuid4

import msgspec

from kontor.connectors.base import Done, Failed, FailureKind, Fetched, Headers, Problem, ProblemKind, Progress, State
from kontor.connectors.base import Fetch as FetchJob
from kontor.domain.accesses import DATA_LIFETIME, Access, AccessStatus, Notice, NoticeKind, make_product_id
from kontor.domain.cleaning import clean_position, clean_product
from kontor.domain.dialogues import Dialogue
from kontor.domain.positions import Position
from kontor.domain.products import Product
from kontor.domain.webhooks import Event
from kontor.services.access_events import find_notice_events, find_transaction_events
from kontor.services.bookings import write_plan
from kontor.services.clock import Clock
from kontor.services.correlation import correlation_id
from kontor.services.events import Events
from kontor.services.fetch_notices import CREDENTIAL_FAILURES, FAILURES, make_notices
from kontor.services.merges import FetchedMerges, Merges, clean_fetched
from kontor.services.refreshing import Refreshing, retry_when_locked
from kontor.services.staging import Staging
from kontor.services.tagging import TransactionTagging
from kontor.services.vault import Vault
from kontor.storage import accesses, fetches, positions, products, queue, users
from kontor.storage.data_versions import read_version
from kontor.storage.database import Connection, Database
from kontor.storage.fetches import Fetch, FetchState
from kontor.storage.leases import Lease


PREPARE_ATTEMPTS = 3


class LeaseLostError(Exception):
    """Another worker took over, or there is nobody left to fetch for; whatever we know is not ours to store."""


@dataclass(frozen=True, slots=True)
class PreparedRelease:
    """What was computed from what was staged at that time."""

    staged_at: datetime
    merges: FetchedMerges


class FetchResults:
    def __init__(
        self,
        database: Database,
        vault: Vault,
        clock: Clock,
        tagging: TransactionTagging,
        events: Events,
        refreshing: Refreshing,
        staging: Staging,
        merges: Merges,
    ) -> None:
        self._database = database
        self._merges = merges
        self._vault = vault
        self._clock = clock
        self._tagging = tagging
        self._events = events
        self._staging = staging
        self.refreshing = refreshing

    async def store_headers(self, fetch: Fetch, headers: Headers, lease: Lease) -> None:
        async with self._fenced(fetch, lease) as (connection, access):
            await self._store_first_headers(connection, fetch.user_id, access, headers)

    async def store_done(
        self,
        fetch: Fetch,
        headers: Headers | None,
        step: Done,
        job: FetchJob,
        lease: Lease,
        seconds: float,
    ) -> None:
        """Everything of a fetch at once: products, transactions, positions, notices, the end of fetch and lease.

        Before the user has chosen accounts it is staged instead.
        """
        for attempt in range(PREPARE_ATTEMPTS):
            prepared = await self._prepare(fetch, headers, step, job)
            is_last = attempt + 1 == PREPARE_ATTEMPTS
            if await self._store_prepared(fetch, headers, step, job, lease, seconds, prepared, is_last=is_last):
                return

    async def _store_prepared(
        self,
        fetch: Fetch,
        headers: Headers | None,
        step: Done,
        job: FetchJob,
        lease: Lease,
        seconds: float,
        prepared: FetchedMerges,
        *,
        is_last: bool,
    ) -> bool:
        """False when the data has changed since it was prepared for. The last attempt computes under the locks then."""
        async with self._fenced(fetch, lease) as (connection, access):
            if not access.is_confirmed:
                await self._staging.stage_result(connection, fetch.user_id, access.id, step)
                await self.refreshing.note_success(connection, fetch)
                await fetches.finish_answered(connection, fetch.id, lease, access.provider_id, seconds)
                return True
            if await read_version(connection, fetch.user_id) != prepared.version:
                if not is_last:
                    return False
                prepared = replace(prepared, plans={})
            written = await self._write_fetched(connection, fetch.user_id, access, headers, step, job.since, prepared)
            await self.refreshing.note_success(connection, fetch)
            # From here on other fetches of this user wait.
            await products.set_products_seen(connection, fetch.user_id, written.complete, written.seen)
            await fetches.finish_answered(connection, fetch.id, lease, access.provider_id, seconds)
            news = find_transaction_events(fetch.user_id, access, written.new_counts)
            await self._publish(connection, fetch, access, make_notices(written.problems), news)
        return True

    async def store_failure(
        self, fetch: Fetch, access: Access, step: Failed, lease: Lease, seconds: float | None
    ) -> None:
        """The stored data stays as it is; only what there is to say is noted."""
        await retry_when_locked(lambda: self._store_failure(fetch, step, lease, seconds))

    async def _store_failure(self, fetch: Fetch, step: Failed, lease: Lease, seconds: float | None) -> None:
        notice = Notice(FAILURES.get(step.kind, NoticeKind.INTERNAL), step.detail)
        async with self._fenced(fetch, lease) as (connection, access):
            messages = [notice] if notice.kind.is_for_the_user else list(access.messages)
            await accesses.store_notices(connection, fetch.user_id, access.id, messages, [notice])
            await fetches.finish_fetch(connection, fetch.id, FetchState.FAILED, str(step.kind))
            if step.kind in CREDENTIAL_FAILURES and fetch.lease_key is not None:
                await self.refreshing.pause_credentials(connection, fetch.lease_key, fetch.user_id, access.id)
            if not access.is_synced:
                await self._forget(connection, fetch.user_id, access)
            await self.refreshing.follow(connection, fetch.user_id, access.id)
            if seconds is not None:
                # A wrong PIN is the customer's failure, not the bank's.
                is_success = notice.kind.is_for_the_user
                await fetches.record_outcome(connection, access.provider_id, is_success=is_success, seconds=seconds)
                is_up = step.kind not in (FailureKind.UNREACHABLE, FailureKind.INTERNAL)
                await self.refreshing.note_answer(connection, access.provider_id, is_up=is_up)
            await self._publish(connection, fetch, access, [notice])

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
                await self.refreshing.note_answer(connection, access.provider_id, is_up=True)
            await self._publish(connection, fetch, access, [notice])

    @asynccontextmanager
    async def fenced(self, user_id: UUID, access_id: str, lease: Lease) -> AsyncIterator[Connection]:
        """A transaction that exists only while the lease and the access do, and the user is active."""
        async with self._database.transaction() as connection:
            if await accesses.lock_leased(connection, user_id, access_id, lease) is None:
                raise LeaseLostError
            if not await users.is_active(connection, user_id):
                raise LeaseLostError
            yield connection

    async def check_wanted(self, fetch: Fetch, lease: Lease) -> None:
        """Before the bank is called again. Raises LeaseLostError when what it says could not be stored anyway."""
        async with self._database.connect() as connection:
            if not await fetches.is_wanted(connection, fetch.id, lease):
                raise LeaseLostError

    async def note_interrupted(self, user_id: UUID, access_id: str) -> None:
        """A fetch that failed again and again through no fault of the bank: the user must be told all the same.

        Unless it is the user who is gone: then that is why, and nobody wants to know.
        """
        notice = Notice(NoticeKind.INTERNAL)
        async with self._database.transaction() as connection:
            access = await accesses.lock_access(connection, user_id, access_id)
            if access is not None:
                is_wanted = await users.is_active(connection, user_id)
                if is_wanted:
                    await accesses.store_notices(connection, user_id, access_id, access.messages, [notice])
                if not access.is_synced:
                    await self._forget(connection, user_id, access)
                await self.refreshing.follow(connection, user_id, access_id)
                if is_wanted:
                    events = find_notice_events(user_id, access, [notice], is_attended=False)
                    await self._events.publish(connection, *events)

    # Accesses that are being added in the web form

    async def list_staged_products(
        self, connection: Connection, user_id: UUID, access_id: str
    ) -> list[tuple[UUID, Product]]:
        """Among which the user may choose, with the ids that they will have."""
        headers = await self._staging.find_headers(connection, user_id, access_id)
        found = () if headers is None else headers.products
        return [(make_product_id(user_id, access_id, one.key), one) for one in map(clean_product, found)]

    async def prepare_release(self, user_id: UUID, access_id: str, chosen: Collection[UUID]) -> PreparedRelease | None:
        """What can be computed of a choice before the transaction that stores it."""
        async with self._database.connect() as connection:
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
            await self._write_headers(connection, user_id, confirmed, staged.headers)
            if staged.done is not None:
                assert isinstance(staged.done.result, Fetched), "a fetch was asked for"
                if prepared is not None and (prepared.staged_at, prepared.merges.version) == (
                    staged.staged_at,
                    version,
                ):
                    merges = prepared.merges
                else:
                    merges = await clean_fetched(staged.done.result, self._clock.today())
                written = await self._write_fetched(connection, user_id, confirmed, None, staged.done, {}, merges)
                await products.set_products_seen(connection, user_id, written.complete, written.seen)
        elif selected is not None:
            await products.delete_other_products(connection, user_id, access.id, selected)
        await self.refreshing.follow(connection, user_id, access.id)

    # From a dialogue with the user to the worker

    async def begin_rest(self, connection: Connection, dialogue: Dialogue, access: Access, step: Progress) -> None:
        """The user is authenticated and the products are known: the rest of the fetch is a worker's."""
        fetch = Fetch(
            uuid4(), dialogue.user_id, access.id, FetchState.QUEUED, True, True, dialogue.lease_key,
            correlation_id.get(),
        )  # fmt: skip
        is_first = access.status is not AccessStatus.COMPLETE
        if is_first:
            await self._store_first_headers(connection, fetch.user_id, access, step.partial)
        await accesses.store_notices(connection, fetch.user_id, access.id, [], [])
        await self.refreshing.resume(connection, fetch.user_id, access.id)
        rest = {"state": step.state, "headers": None if is_first else msgspec.to_builtins(step.partial)}
        sealed = await self._vault.seal(connection, fetch.user_id, access.id, "rest", rest)
        await fetches.interrupt_open(connection, fetch.user_id, access.id)
        if await fetches.insert_fetch(connection, replace(fetch, resume_state=sealed)):
            await queue.enqueue_fetch(connection, fetch.id)

    async def open_rest(self, fetch: Fetch) -> tuple[State, Headers | None]:
        assert fetch.resume_state is not None
        async with self._database.connect() as connection:
            rest = await self._vault.unseal(connection, fetch.user_id, fetch.access_id, "rest", fetch.resume_state)
        return rest["state"], None if rest["headers"] is None else msgspec.convert(rest["headers"], Headers)

    # Parts

    async def _prepare(self, fetch: Fetch, headers: Headers | None, step: Done, job: FetchJob) -> FetchedMerges:
        """Before the transaction, which then takes no longer than writing does."""
        result = step.result
        assert isinstance(result, Fetched), "a fetch was asked for"
        coming = () if headers is None else tuple(map(clean_product, headers.products))
        return await self._merges.prepare_fetched(
            fetch.user_id, fetch.access_id, coming, result, job.since, self._clock.today()
        )

    @asynccontextmanager
    async def _fenced(self, fetch: Fetch, lease: Lease) -> AsyncIterator[tuple[Connection, Access]]:
        """As `fenced`, and only while nobody took this fetch over or ended it.

        With the access as it is now: options may have changed while the bank was asked.
        """
        async with self._database.transaction() as connection:
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
        found = find_notice_events(fetch.user_id, access, notices, is_attended=fetch.is_attended)
        await self._events.publish(connection, *events, *found)

    async def _store_first_headers(
        self, connection: Connection, user_id: UUID, access: Access, headers: Headers
    ) -> None:
        if access.is_confirmed:
            await self._write_headers(connection, user_id, access, headers)
        else:
            await self._staging.stage_headers(connection, user_id, access.id, headers)
        await accesses.set_status(connection, user_id, access.id, AccessStatus.HEADERS)

    async def _write_fetched(
        self,
        connection: Connection,
        user_id: UUID,
        access: Access,
        headers: Headers | None,
        step: Done,
        since: Mapping[str, date],
        prepared: FetchedMerges,
    ) -> "_Fetched":
        """All but when the products were seen. `access` is as it was before."""
        result = step.result
        assert isinstance(result, Fetched), "a fetch was asked for"
        is_changed = access.status is not AccessStatus.COMPLETE
        if headers is not None:
            is_changed |= await self._write_headers(connection, user_id, access, headers)
        stored = await products.list_ids(connection, user_id, access.id)
        problems = list(result.problems)
        new_counts: dict[UUID, int] = {}
        for key in result.transactions:
            if key in stored:
                written = await self._write_transactions(
                    connection, user_id, stored[key], key, prepared, since.get(key)
                )
                problems += written.problems
                new_counts[stored[key]] = written.new
                is_changed |= written.is_changed
        await self._write_positions(connection, user_id, stored, result.positions)
        named = [one.key for one in map(clean_product, headers.products)] if headers is not None else []
        complete = [stored[key] for key in (*result.transactions, *result.positions) if key in stored]
        seen = [stored[key] for key in named if key in stored]
        if is_changed:  # else there is nothing that tags could follow from
            await self._tagging.follow(connection, user_id, prepared.tags)
        await self._write_end(connection, user_id, access, step, problems)
        return _Fetched(new_counts, problems, complete, seen)

    async def _write_headers(self, connection: Connection, user_id: UUID, access: Access, headers: Headers) -> bool:
        """Products of the bank that are selected. One that the bank no longer names keeps its history.

        True when there was anything to change.
        """
        is_changed = False
        for number, product in enumerate(map(clean_product, headers.products)):
            product_id = make_product_id(user_id, access.id, product.key)
            if access.selected_products is None or product_id in access.selected_products:
                is_changed |= await products.upsert_product(connection, user_id, product_id, access.id, number, product)
        if access.selected_products is not None:
            is_changed |= await products.delete_other_products(connection, user_id, access.id, access.selected_products)
        if _has_new_options(access, headers):
            await accesses.store_sca_options(
                connection, user_id, access.id, headers.methods, headers.media, headers.active_method
            )
        return is_changed

    @staticmethod
    async def _write_positions(
        connection: Connection, user_id: UUID, stored: Mapping[str, UUID], fetched: Mapping[str, Sequence[Position]]
    ) -> None:
        for key, held in fetched.items():
            if key in stored:
                cleaned = [clean_position(one) for one in held]
                if cleaned != await positions.list_positions(connection, user_id, stored[key]):
                    await positions.replace_positions(connection, user_id, stored[key], cleaned)

    async def _write_transactions(
        self,
        connection: Connection,
        user_id: UUID,
        product_id: UUID,
        key: str,
        prepared: FetchedMerges,
        since: date | None,
    ) -> "_Written":
        """What can be stored is; how many rows could not is a problem to be shown.

        A plan that was not prepared, or is out of date, is computed now.
        """
        delivered = prepared.rows[key]
        plan = prepared.plans.get(key)
        if plan is None:
            known = await self._merges.load(connection, user_id, product_id, delivered.first, delivered.spans, since)
            plan = await self._merges.plan(user_id, known, delivered.rows, delivered.spans)
        await write_plan(connection, user_id, product_id, plan, self._clock.today())
        merge, unreadable = plan.merge, delivered.unreadable
        problems = [Problem(ProblemKind.TRANSACTIONS, key, count=unreadable)] if unreadable else []
        return _Written(len(merge.new), bool(merge.new or merge.changed or merge.vanished), problems)

    async def _write_end(
        self, connection: Connection, user_id: UUID, access: Access, step: Done, problems: Sequence[Problem]
    ) -> None:
        issues = make_notices(problems)
        messages = [one for one in issues if one.kind.is_for_the_user]
        memory = None
        if access.is_synced and step.memory is not None:
            memory = await self._vault.seal(connection, user_id, access.id, "memory", step.memory)
        assert isinstance(step.result, Fetched), "a fetch was asked for"
        await accesses.store_success(
            connection,
            user_id,
            access.id,
            messages=messages,
            issues=issues,
            memory=memory,
            consent_until=step.result.consent_until,
            expires_at=None if access.is_synced else datetime.now(UTC) + DATA_LIFETIME,
        )
        if not access.is_synced:
            await self._forget(connection, user_id, access)

    @staticmethod
    async def _forget(connection: Connection, user_id: UUID, access: Access) -> None:
        await accesses.forget_credentials(connection, user_id, access.id)


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of the transactions of one product: how many are new, and what could not be stored."""

    new: int
    is_changed: bool
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class _Fetched:
    """What became of a fetch: how many transactions are new per product, problems, and which products were told of."""

    new_counts: dict[UUID, int]
    problems: list[Problem]
    complete: list[UUID]
    seen: list[UUID]


def _has_new_options(access: Access, headers: Headers) -> bool:
    if access.active_method is None and headers.active_method is not None:
        return True
    return (access.methods, access.media) != (tuple(headers.methods), tuple(headers.media))
