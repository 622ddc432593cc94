"""Accesses: added (the bank is asked in the background), read and deleted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from uuid import UUID

from kontor.domain.accesses import Access, AccessStatus, Notice, NoticeKind, check_access_id
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.domain.providers import Provider
from kontor.domain.redirects import FormOptions
from kontor.domain.secrets import Secret
from kontor.domain.stored_products import StoredProduct
from kontor.services.accesses.deletion import delete_expired
from kontor.services.accesses.fetch_requests import request_fetch
from kontor.services.accesses.permissions import Permissions
from kontor.services.accesses.refreshing import Refreshing
from kontor.services.accesses.requests import (
    AccessRequest,
    IncompleteCredentialsError,
    refuse_stale_selection,
    refuse_unknown_products,
)
from kontor.services.accesses.revocations import Revocations
from kontor.services.accesses.views import AccessView, UnconfirmedAccess, mask_unconfirmed, view_access
from kontor.services.accesses.waiting import StartedFetch, wait_for_fetches
from kontor.services.banks import BankGateway, Providers, find_missing_fields
from kontor.services.runtime import Clock
from kontor.services.security import Encryption, UserEncryption, auditing
from kontor.storage import accesses, dialogues, fetches, products, queue
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts

# Answer a little before the edge cuts the request off, so that the answer can say what it waits for.
WAIT_MARGIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Plan:
    """A request that was found good, with its credentials opened. `seen` is the access as it was then."""

    access_id: str
    request: AccessRequest
    provider: Provider
    credentials: dict[str, Secret] | None
    form_session_id: UUID | None = None
    seen: Access | None = None


class _CredentialsOutcome(Enum):
    """What became of the credentials that a request brought."""

    NEW = "new"
    SAME = "same"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of a request. `is_widened`: products are selected that only the bank can tell."""

    action: str
    credentials: _CredentialsOutcome
    selected: tuple[UUID, ...] | None
    is_widened: bool


class Accesses:
    def __init__(
        self,
        database: Database,
        providers: Providers,
        encryption: Encryption,
        user_encryption: UserEncryption,
        clock: Clock,
        refreshing: Refreshing,
        gateway: BankGateway,
        request_seconds: float,
    ) -> None:
        self._database = database
        self._providers = providers
        self._encryption = encryption
        self._user_encryption = user_encryption
        self._clock = clock
        self._refreshing = refreshing
        self._admissions = gateway.admissions
        self.permissions = Permissions(
            database, providers, clock, Revocations(database, gateway, user_encryption, clock)
        )
        self._wait_seconds = max(0.5, request_seconds - WAIT_MARGIN_SECONDS)

    # Reading

    async def list_accesses(self, principal: Principal) -> list[AccessView | UnconfirmedAccess]:
        async with self._database.connect(principal.user_id) as connection:
            found = await accesses.list_accesses(connection, user_of(principal))
            stored = await products.list_products(connection, user_of(principal))
            with_credentials = await accesses.list_with_credentials(connection, user_of(principal))
        now = datetime.now(UTC)
        by_access: dict[str, list[StoredProduct]] = {}
        for product in stored:
            by_access.setdefault(product.access_id, []).append(product)
        return [
            mask_unconfirmed(self._view(access, by_access.get(access.id, ()), access.id in with_credentials))
            for access in found
            if not access.is_over(now)
        ]

    async def read_access(self, principal: Principal, access_id: str) -> AccessView | UnconfirmedAccess:
        found = await self.find_for_form(principal, access_id)
        if found is None:
            raise NotFoundError
        return mask_unconfirmed(found)

    async def find_for_form(self, principal: Principal, access_id: str) -> AccessView | None:
        """Everything that is known of it, confirmed or not. For the pages of the web form, and nobody else."""
        async with self._database.connect(principal.user_id) as connection:
            access = await self._find(connection, principal, access_id)
            if access is None:
                return None
            stored = await products.list_products(connection, user_of(principal), access_id)
            with_credentials = await accesses.list_with_credentials(connection, user_of(principal))
        return self._view(access, stored, access_id in with_credentials)

    def _view(self, access: Access, stored: Sequence[StoredProduct], has_credentials: bool) -> AccessView:
        return view_access(access, stored, self._clock.today(), has_credentials=has_credentials)

    # Deleting

    async def delete_access(self, principal: Principal, access_id: str) -> None:
        await self.permissions.delete_access(principal, access_id)

    async def delete_all(self, principal: Principal) -> None:
        await self.permissions.delete_all(principal)

    # Adding

    async def add_accesses(
        self, principal: Principal, requests: dict[str, AccessRequest], *, refresh: bool, is_attended: bool
    ) -> timedelta | None:
        """Store all or none, then wait until each bank has named its products, asked for SCA, or refused.

        Banks may be called only so often without the user. Where one was not for that reason, returns how long until
        all may be.
        """
        plans = [await self._check(principal, key, requests[key]) for key in sorted(requests)]
        outcomes = await self._store_all(principal, plans, refresh=refresh, is_attended=is_attended)
        self.permissions.uses.forget(user_of(principal))
        started = [outcome for outcome in outcomes if isinstance(outcome, StartedFetch)]
        await wait_for_fetches(self._database, user_of(principal), started, self._wait_seconds)
        return max([outcome for outcome in outcomes if isinstance(outcome, timedelta)], default=None)

    @retry_conflicts
    async def store_access(self, principal: Principal, access_id: str, request: AccessRequest) -> None:
        """Store one access and its credentials, without asking the bank: a consent does that."""
        plan = await self._check(principal, access_id, request)
        async with self._database.transaction(principal.user_id) as connection:
            written = await self._write(connection, principal, plan)
            if written.credentials is _CredentialsOutcome.INCOMPLETE:
                assert plan.credentials is not None
                missing = find_missing_fields(plan.provider, plan.credentials)
                raise IncompleteCredentialsError(missing, f"{access_id}.credentials")
            await self._drop_others(connection, user_of(principal), access_id, written)
            await self._record(connection, principal, [(written.action, access_id)])
        self.permissions.uses.forget(user_of(principal))

    async def store_opened_access(
        self,
        connection: Connection,
        principal: Principal,
        access_id: str,
        provider: Provider,
        credentials: dict[str, Secret],
        form_session_id: UUID | None,
        options: FormOptions,
    ) -> None:
        """As `store_access`, with credentials that are not encrypted, in the caller's transaction.

        A new access belongs to the form session, where one is given, until the user has chosen accounts.
        """
        request = AccessRequest(provider.id, None, True, purpose=options.purpose, usable_until=options.usable_until)
        plan = _Plan(access_id, request, provider, credentials, form_session_id)
        written = await self._write(connection, principal, plan)
        await self._record(connection, principal, [(written.action, access_id)])

    async def has_credentials(
        self, connection: Connection, principal: Principal, access_id: str, credentials: dict[str, Secret]
    ) -> bool:
        """Whether these very credentials are stored."""
        stored = await accesses.find_secrets(connection, user_of(principal), access_id)
        return (
            stored is not None
            and stored.credentials is not None
            and stored.credentials_digest == self._user_encryption.digest_credentials(credentials)
        )

    async def exists(self, principal: Principal, access_id: str) -> bool:
        async with self._database.connect(principal.user_id) as connection:
            return await self._find(connection, principal, access_id) is not None

    async def is_confirmed(self, principal: Principal, access_id: str) -> bool:
        """Whether it is there, and customer data: not one that is being added in the web form."""
        async with self._database.connect(principal.user_id) as connection:
            access = await self._find(connection, principal, access_id)
        return access is not None and access.is_confirmed

    @staticmethod
    async def _find(connection: Connection, principal: Principal, access_id: str) -> Access | None:
        """Not one whose data has reached its end."""
        access = await accesses.find_access(connection, user_of(principal), access_id)
        return None if access is None or access.is_over(datetime.now(UTC)) else access

    async def _check(self, principal: Principal, access_id: str, request: AccessRequest) -> _Plan:
        check_access_id(access_id)
        self.permissions.check_usable_until(request.usable_until, f"{access_id}.nutzungBis")
        async with self._database.connect(principal.user_id) as connection:
            existing = await accesses.find_access(connection, user_of(principal), access_id)
        if existing is not None and existing.is_over(datetime.now(UTC)):
            await delete_expired(self._database, user_of(principal), access_id)
            existing = None
        provider_id = request.provider_id or (existing.provider_id if existing else None)
        if provider_id is None:
            raise InvalidError("is required", f"{access_id}.providerId")
        if existing is not None and provider_id != existing.provider_id:
            raise InvalidError("this access belongs to another provider", f"{access_id}.providerId")
        provider = self._providers.find(provider_id)
        if provider is None:
            raise InvalidError("there is no such provider", f"{access_id}.providerId")
        if request.credentials is None:
            if existing is None:
                raise InvalidError("is required", f"{access_id}.credentials")
            return _Plan(access_id, request, provider, None, seen=existing)
        # Of fields that the bank does not ask for nothing is read, so that nobody can have thousands decrypted.
        asked = {field.key for field in provider.login_fields}
        given = {key: value for key, value in request.credentials.items() if key in asked}
        credentials = await self._encryption.decrypt(principal.tenant_id, given)
        return _Plan(access_id, request, provider, credentials, seen=existing)

    @retry_conflicts
    async def _store_all(
        self, principal: Principal, plans: Sequence[_Plan], *, refresh: bool, is_attended: bool
    ) -> list[StartedFetch | timedelta | None]:
        """In the order of their ids, with the audit entries at the end: two calls for the same ids cannot deadlock."""
        async with self._database.transaction(principal.user_id) as connection:
            stored = [
                await self._store(connection, principal, plan, refresh=refresh, is_attended=is_attended)
                for plan in plans
            ]
            for plan, (written, _) in zip(plans, stored, strict=True):
                await self._drop_others(connection, user_of(principal), plan.access_id, written)
            actions = [(written.action, plan.access_id) for plan, (written, _) in zip(plans, stored, strict=True)]
            await self._record(connection, principal, actions)
        return [outcome for _, outcome in stored]

    @staticmethod
    async def _drop_others(connection: Connection, user_id: UUID, access_id: str, written: _Written) -> None:
        """Products that are not selected go at once, without asking the bank."""
        if written.selected is not None:
            await products.delete_other_products(connection, user_id, access_id, written.selected)

    async def _store(
        self, connection: Connection, principal: Principal, plan: _Plan, *, refresh: bool, is_attended: bool
    ) -> tuple[_Written, StartedFetch | timedelta | None]:
        """One access with its sealed credentials and, where the bank is to be asked, the fetch and its job.

        Returns what was written, and the fetch, or how long until the bank may be asked without the user.
        """
        user_id = user_of(principal)
        before = await accesses.lock_access(connection, user_id, plan.access_id)
        written = await self._write(connection, principal, plan, is_attended=is_attended)
        credentials, is_asked_for = written.credentials, refresh or written.is_widened
        outcome = None
        if credentials is _CredentialsOutcome.NEW or (is_asked_for and credentials is _CredentialsOutcome.SAME):
            outcome = await self._start(connection, user_id, plan, is_attended=is_attended, credentials=credentials)
        if outcome is not None and not isinstance(outcome, timedelta):
            # Header data that is shown already is not the answer to new credentials.
            has_headers = before is not None and before.status is AccessStatus.HEADERS
            return written, StartedFetch(outcome, until_end=has_headers and credentials is _CredentialsOutcome.NEW)
        if before is not None and before.is_synced and plan.request.is_synced is False:
            await accesses.forget_credentials(connection, user_id, plan.access_id)
            await self._refreshing.reschedule(connection, user_id, plan.access_id)
        if isinstance(outcome, timedelta):
            await self._admissions.advance_refresh(connection, user_id, plan.access_id, outcome)
        return written, outcome

    async def _write(
        self, connection: Connection, principal: Principal, plan: _Plan, *, is_attended: bool = True
    ) -> _Written:
        """Store the access, and its credentials where they are new.

        The caller drops products that are not selected, and records the action.
        """
        user_id, request = user_of(principal), plan.request
        is_new, access = await self._insert(connection, user_id, plan)
        # Others may have added or deleted it since it was looked at.
        if access.provider_id != plan.provider.id:
            raise InvalidError("this access belongs to another provider", f"{plan.access_id}.providerId")
        known = await products.list_ids(connection, user_id, plan.access_id)
        if not is_new:
            refuse_stale_selection(request, plan.seen, access)
            refuse_unknown_products(request, access, known.values())
        # Without credentials nobody could refresh it, neither for the first time nor from now on.
        is_needed = is_new or (bool(request.is_synced) and not access.is_synced)
        if is_needed and plan.credentials is None:
            stored = None if is_new else await accesses.find_secrets(connection, user_id, plan.access_id)
            if stored is None or stored.credentials is None:
                raise InvalidError("is required", f"{plan.access_id}.credentials")
        selected = request.select_from(access.selected_products)
        await accesses.change_options(
            connection,
            user_id,
            plan.access_id,
            is_synced=access.is_synced if request.is_synced is None else request.is_synced,
            selected_products=selected,
            wants_statements=request.choose_statements(access.wants_statements),
        )
        caller = principal.client_name if plan.form_session_id is None else None
        await self.permissions.keep(connection, user_id, access.id, plan.provider, request, caller)
        credentials = await self._keep_credentials(connection, user_id, plan, is_attended=is_attended)
        await self._refreshing.reschedule(connection, user_id, plan.access_id)
        is_lifted = selected is None and access.selected_products is not None
        is_widened = is_lifted or not set(selected or ()) <= {*known.values(), *(access.selected_products or ())}
        return _Written("access.add" if is_new else "access.change", credentials, selected, is_widened)

    @staticmethod
    async def _insert(connection: Connection, user_id: UUID, plan: _Plan) -> tuple[bool, Access]:
        """Whether it is new, and the access, locked. One that is deleted while we wait for it is new after all."""
        while True:
            is_new = await accesses.insert_access(
                connection,
                user_id,
                plan.access_id,
                plan.provider.id,
                is_synced=plan.request.is_synced is not False,
                selected_products=plan.request.selected_products,
                form_session_id=plan.form_session_id,
            )
            access = await accesses.lock_access(connection, user_id, plan.access_id)
            if access is not None:
                return is_new, access

    async def _keep_credentials(
        self, connection: Connection, user_id: UUID, plan: _Plan, *, is_attended: bool
    ) -> _CredentialsOutcome:
        """Seal new credentials. They are not those that we have, and can be tried as they are."""
        if plan.credentials is None:
            return _CredentialsOutcome.SAME
        missing = find_missing_fields(plan.provider, plan.credentials)
        if missing:
            notice = Notice(NoticeKind.INCOMPLETE_CREDENTIALS, ", ".join(missing))
            await accesses.store_notices(connection, user_id, plan.access_id, [notice], [notice])
            return _CredentialsOutcome.INCOMPLETE
        digest = self._user_encryption.digest_credentials(plan.credentials)
        stored = await accesses.find_secrets(connection, user_id, plan.access_id)
        if stored is not None and stored.credentials is not None and stored.credentials_digest == digest:
            was_refused = is_attended and await self._refreshing.accept_credentials(connection, user_id, plan.access_id)
            return _CredentialsOutcome.NEW if was_refused else _CredentialsOutcome.SAME
        sealed = await self._user_encryption.seal_credentials(connection, user_id, plan.access_id, plan.credentials)
        lease_key = self._user_encryption.digest_login(plan.provider, plan.credentials, user_id)
        await accesses.store_credentials(connection, user_id, plan.access_id, sealed, digest, lease_key)
        # A dialogue that began with the old ones cannot go on with these.
        await dialogues.end_open_dialogues(connection, user_id, plan.access_id)
        await self._refreshing.resume(connection, user_id, plan.access_id)  # what was refused were the old ones
        return _CredentialsOutcome.NEW

    async def _start(
        self, connection: Connection, user_id: UUID, plan: _Plan, *, is_attended: bool, credentials: _CredentialsOutcome
    ) -> UUID | timedelta | None:
        """The fetch to wait for: a new one, or the one that runs already with these very credentials.

        Instead, how long until the bank may be asked, if it was asked too often already without the user.
        """
        secrets = await accesses.find_secrets(connection, user_id, plan.access_id)
        if secrets is None or secrets.credentials is None:
            return None
        if credentials is _CredentialsOutcome.NEW:
            await fetches.interrupt_open(connection, user_id, plan.access_id)
        running = await fetches.list_open_fetches(connection, user_id, plan.access_id)
        if running:
            if is_attended and await fetches.attend_fetch(connection, user_id, running[0]):
                await queue.requeue_fetch_as_requested(connection, running[0])
            return running[0]
        if not is_attended:
            wait = await self._admissions.find_wait(connection, user_id, plan.access_id)
            if wait is not None:
                return wait
        return await request_fetch(
            connection, user_id, plan.access_id, secrets.lease_key, is_attended=is_attended, all_history=True
        )

    @staticmethod
    async def _record(connection: Connection, principal: Principal, actions: Iterable[tuple[str, str]]) -> None:
        """Of several accesses, at the end of the transaction."""
        actor = auditing.name_actor(principal)
        for action, access_id in actions:
            subject = f"user {principal.user_pseudonym} access {access_id}"
            await auditing.record(connection, principal.tenant_id, actor, action, subject)
