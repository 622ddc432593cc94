"""Who leaves the form before its end has agreed to nothing: what was begun is removed."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from kontor.config import Settings
from kontor.domain.redirects import FormSession, FormStep, Reentry, UseCase
from kontor.domain.secrets import Secret
from kontor.services.bundle import Services

DEMO_BANK = "00000000-0000-0000-0000-000000000000"


async def begin(services: Services, tenant, access_id: str) -> tuple[Secret, FormSession]:
    """A session in which the user has logged in at the bank, and stands before the choice of accounts."""
    principal = await services.tokens.authenticate(tenant.user_token())
    assert principal is not None
    handle = await services.redirects.start_session(
        principal, UseCase.CREATE_ACCOUNT, access_id, "https://example.com/back", None
    )
    cookie = await services.redirects.open_session(handle, None, None, is_framed=False)
    session = await services.redirects.find_session(cookie)
    if session.step is FormStep.LEGAL:
        await services.redirects.accept_legal(session)
    provider = services.providers.list("Demo-Bank", None, None, None)[0]
    assert str(provider.id) == DEMO_BANK
    await services.redirects.choose_provider(await services.redirects.find_session(cookie), provider.id)
    credentials = {"userid": Secret("demo1"), "pin": Secret("demo")}
    assert not await services.redirects.submit_credentials(await services.redirects.find_session(cookie), credentials)
    session = (await services.redirects.view(await services.redirects.find_session(cookie))).session
    assert session.step is FormStep.ACCOUNTS
    assert await services.accesses.exists(principal, access_id)
    return cookie, session


def let_expire(settings: Settings, session: FormSession) -> None:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url.reveal(), autocommit=True) as connection:
        past = datetime.now(UTC) - timedelta(seconds=1)
        connection.execute("update redirect_sessions set expires_at = %s where id = %s", [past, session.id])


@pytest.fixture
def access_id() -> str:
    return uuid4().hex


async def test_a_session_that_ran_out_takes_its_access_with_it(services, settings, tenant, access_id):
    cookie, session = await begin(services, tenant, access_id)
    let_expire(settings, session)
    await services.housekeeping.clean()
    assert not await services.accesses.exists(session.principal, access_id)
    ended = await services.redirects.find_session(cookie)
    assert ended.outcome is Reentry.SESSION_EXPIRED
    assert "baReentry=SESSION_EXPIRED" in (services.redirects.target(ended) or "")


async def test_deleting_the_users_sessions_removes_what_was_begun_in_them(services, tenant, access_id):
    _, session = await begin(services, tenant, access_id)
    await services.redirects.delete_sessions(session.principal)
    assert not await services.accesses.exists(session.principal, access_id)


async def test_an_access_that_was_finished_stays(services, settings, tenant, access_id):
    cookie, session = await begin(services, tenant, access_id)
    access = await services.accesses.read_access(session.principal, access_id)
    assert await services.redirects.confirm_accounts(session, {access.products[0].id})
    let_expire(settings, session)
    await services.housekeeping.clean()
    kept = await services.accesses.read_access(session.principal, access_id)
    assert [one.id for one in kept.products] == [access.products[0].id]
    assert (await services.redirects.find_session(cookie)).outcome is Reentry.ACCOUNT_CREATED
    await services.redirects.delete_sessions(session.principal)
    assert await services.accesses.exists(session.principal, access_id)
