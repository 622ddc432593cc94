"""The web form's part in adding an access: whose it is until the user has chosen accounts, and the choice itself.

An access that is not confirmed belongs to one session. A later session goes on with it: at once in the browser that
began it, elsewhere after the user has entered the same credentials again. A tenant can start sessions and could open
them itself, and must not see accounts that way.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from kontor.domain.accesses import Access, AccessStatus
from kontor.domain.errors import InvalidError
from kontor.domain.principals import user_of
from kontor.domain.providers import Provider
from kontor.domain.redirects import Failure, FormSession, FormStep, RedirectOutcome, UseCase
from kontor.domain.secrets import Secret
from kontor.domain.stored_products import StoredProduct
from kontor.services.accesses import Accesses, delete_access_data
from kontor.services.fetching import FetchResults
from kontor.services.redirects.dialogues import MAX_WRONG_LOGINS
from kontor.services.redirects.sessions import FormSessions, end_session, record
from kontor.storage import accesses, dialogues, permissions, products, redirects
from kontor.storage.database import Connection, Database
from kontor.storage.permissions import NewPermission
from kontor.storage.retries import retry_conflicts


class FormAccounts:
    def __init__(self, database: Database, sessions: FormSessions, added: Accesses, results: FetchResults) -> None:
        self._database = database
        self._sessions = sessions
        self._accesses = added
        self._results = results

    # Going on with what an earlier session began

    async def replace_sessions(self, connection: Connection, session: FormSession) -> None:
        """A new session for an access that is not confirmed ends the ones before it. The access stays."""
        access = await self._find_unconfirmed(connection, session)
        if access is not None:
            for other_session in await redirects.lock_sessions_of_access(
                connection, user_of(session.principal), access.id
            ):
                await end_session(connection, other_session, RedirectOutcome.SESSION_EXPIRED)

    async def adopt(self, connection: Connection, session: FormSession, cookie_hash: bytes | None) -> FormSession:
        """The session, going on where the one before it stood if this is the browser that it was opened in."""
        access = await self._find_unconfirmed(connection, session)
        if access is None or cookie_hash is None:
            return session
        before = await redirects.find_by_cookie(connection, cookie_hash)
        if before is None or before.id != access.form_session_id:
            return session
        return await self._take_over(connection, session, before, access)

    async def find_step(self, connection: Connection, session: FormSession) -> FormSession:
        """Where a session that adds an access begins: with the choice of the bank, or where the one before stood."""
        access = await self._find_unconfirmed(connection, session)
        if access is None or access.form_session_id != session.id:
            return replace(session, step=FormStep.PROVIDER)
        if access.status is not AccessStatus.STARTED:
            return replace(session, step=FormStep.ACCOUNTS)
        if session.notice is Failure.WRONG_CREDENTIALS and session.wrong_logins < MAX_WRONG_LOGINS:
            return replace(session, step=FormStep.CREDENTIALS)
        if session.notice is not None:
            return replace(session, step=FormStep.FAILED)
        return replace(session, step=FormStep.SCA, dialogue_id=await self._find_dialogue(connection, session))

    async def take_up(
        self, connection: Connection, session: FormSession, provider: Provider, credentials: dict[str, Secret]
    ) -> FormSession | None:
        """Before credentials are stored: the session where an earlier one stood, if they are the same as there.

        What an earlier session stored with other credentials is removed. Raises InvalidError where the access is
        being added by a session that is still open, or is confirmed already.
        """
        access = await accesses.lock_access(connection, user_of(session.principal), session.access_id)
        if session.use_case is UseCase.AUTHENTICATE_ACCOUNT:
            if access is None:  # a new one would be shown without a choice of accounts
                raise InvalidError("this access has been deleted meanwhile", session.access_id)
            return None
        if access is None or access.form_session_id == session.id:
            return None
        before = None
        if access.form_session_id is not None:
            before = await redirects.find_session(connection, access.form_session_id)
        if access.is_confirmed or (before is not None and before.is_open(datetime.now(UTC))):
            raise InvalidError("this access has been added meanwhile", session.access_id)
        is_same = access.provider_id == provider.id and await self._accesses.has_credentials(
            connection, session.principal, access.id, credentials
        )
        if before is not None and is_same:
            return await self.find_step(connection, await self._take_over(connection, session, before, access))
        if await delete_access_data(connection, user_of(session.principal), access.id):
            subject = f"user {session.principal.user_pseudonym} access {access.id}"
            await record(connection, session, "access.delete", subject)
        return None

    # Choosing

    async def list_offered(self, session: FormSession) -> tuple[StoredProduct, ...]:
        """The accounts among which the user chooses."""
        user_id = user_of(session.principal)
        async with self._database.connect(session.principal.user_id) as connection:
            access = await accesses.find_access(connection, user_id, session.access_id)
            return () if access is None else await self._list_offered(connection, session, access)

    @retry_conflicts
    async def confirm(self, session: FormSession, chosen: set[UUID]) -> bool:
        """Keep the chosen accounts and finish, in one transaction.

        False when there is something to choose and nothing was chosen.
        """
        user_id = user_of(session.principal)
        prepared = await self._results.prepare_release(user_id, session.access_id, chosen)
        async with self._sessions.change(session, FormStep.ACCOUNTS) as (connection, current):
            access = await accesses.lock_access(connection, user_id, current.access_id)
            if access is None or access.form_session_id not in (None, current.id):
                await end_session(connection, current, RedirectOutcome.ERROR)
                return True
            offered = await self._list_offered(connection, current, access)
            kept = [product.id for product in offered if product.id in chosen]
            if offered and not kept:
                return False
            await self._results.release(connection, user_id, access, kept if offered else None, prepared)
            subject = f"user {current.principal.user_pseudonym} access {access.id}"
            await record(connection, current, "access.select", subject)
            await end_session(connection, current, RedirectOutcome.ACCOUNT_CREATED)
        return True

    async def advance_after_fetch(self, session: FormSession) -> FormSession:
        """On to the choice as soon as the bank has named its accounts."""
        access = await self._accesses.find_for_form(session.principal, session.access_id)
        if access is None:
            return await self._sessions.finish(session, RedirectOutcome.ERROR)
        if access.access.status is AccessStatus.STARTED:
            return session
        async with self._sessions.change(session, FormStep.FETCHING, FormStep.ACCOUNTS) as (connection, current):
            current = replace(current, step=FormStep.ACCOUNTS)
            await redirects.save_session(connection, current)
        return current

    # Parts

    @staticmethod
    async def _find_unconfirmed(connection: Connection, session: FormSession) -> Access | None:
        if session.use_case is not UseCase.CREATE_ACCOUNT:
            return None
        access = await accesses.find_access(connection, user_of(session.principal), session.access_id)
        return None if access is None or access.is_confirmed else access

    @staticmethod
    async def _take_over(
        connection: Connection, session: FormSession, before: FormSession, access: Access
    ) -> FormSession:
        user_id, options = user_of(session.principal), session.options
        await accesses.set_form_session(connection, user_id, access.id, session.id)
        new = NewPermission(access.id, purpose=options.purpose, usable_until=options.usable_until)
        await permissions.open_permission(connection, user_id, new)
        return replace(
            session,
            provider_id=access.provider_id,
            dialogue_id=before.dialogue_id,
            wrong_logins=before.wrong_logins,
            notice=before.notice,
        )

    @staticmethod
    async def _find_dialogue(connection: Connection, session: FormSession) -> UUID:
        """The dialogue with the bank, or a new one where its time is over."""
        if session.dialogue_id is None:
            return uuid4()
        found = await dialogues.find_dialogue(connection, user_of(session.principal), session.dialogue_id)
        is_over = found is not None and found[0].expires_at < datetime.now(UTC)
        return uuid4() if is_over else session.dialogue_id

    async def _list_offered(
        self, connection: Connection, session: FormSession, access: Access
    ) -> tuple[StoredProduct, ...]:
        """Those that the tenant has asked for, where the bank has any of them."""
        user_id, wanted = user_of(session.principal), session.options.selected_products
        staged: Sequence[StoredProduct] = [
            StoredProduct(product_id, access.id, AccessStatus.HEADERS, access.updated_at, product)
            for product_id, product in await self._results.list_staged_products(connection, user_id, access.id)
        ]
        # A session that the version before has begun: it has stored the accounts as customer data.
        found = tuple(staged or await products.list_products(connection, user_id, access.id))
        return tuple(product for product in found if wanted is not None and product.id in wanted) or found
