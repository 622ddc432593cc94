"""Where a user goes after the form: which addresses a tenant may name, and what is added to them."""

from kontor.domain.callbacks import CallbackRules, add_to_query, check_callback
from kontor.domain.errors import InvalidError
from kontor.domain.principals import Principal
from kontor.domain.redirects import FormSession, RedirectOutcome
from kontor.storage import tenants
from kontor.storage.database import Connection, Database


class FormCallbacks:
    def __init__(self, database: Database, *, is_loopback_allowed: bool) -> None:
        self._database = database
        self._is_loopback_allowed = is_loopback_allowed

    async def check(self, principal: Principal, url: str) -> str:
        """The URL, when the tenant's allow-list has it; else InvalidError."""
        async with self._database.connect() as connection:
            return check_callback(url, await self._rules(connection, principal.tenant_name))

    async def choose(
        self, connection: Connection, session: FormSession, appended: str | None
    ) -> tuple[str | None, RedirectOutcome | None]:
        """The appended address wins over the stored one, and is checked like it."""
        if appended is None:
            return None, None if session.callback_url is not None else RedirectOutcome.NO_CALLBACK_URL
        try:
            return check_callback(appended, await self._rules(connection, session.principal.tenant_name)), None
        except InvalidError:
            return None, RedirectOutcome.INVALID_CALLBACK_URL

    async def _rules(self, connection: Connection, tenant_name: str) -> CallbackRules:
        tenant = await tenants.find_tenant(connection, tenant_name)
        assert tenant is not None
        # A list of bases is a redirect tenant's duty; a regulated one may do without, and is then not restricted.
        is_free = tenant.is_regulated and not tenant.callback_bases
        is_any_allowed = tenant.is_any_callback_allowed or is_free
        return CallbackRules(tenant.callback_bases, is_any_allowed, self._is_loopback_allowed)


def find_target(session: FormSession) -> str | None:
    """Where the user goes at the end; None where there is no safe place."""
    if session.outcome is None or not session.outcome.has_safe_target or session.callback_url is None:
        return None
    reentry = str(session.outcome)
    subject = {"accessId": session.access_id} if session.payment_id is None else {"paymentId": str(session.payment_id)}
    return add_to_query(session.callback_url, baReentry=reentry, **subject)
