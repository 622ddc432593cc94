"""An access that was begun in the web form and not finished can be gone on with for a day, by its user alone."""

import re
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from banking import ACCESSES, BankCustomer, new_customer, new_id, rels, wait_for
from consenting import new_login
from form_client import FormClient
from form_navigation import begin, go_on, offered, to_accounts, walk
from kontor.domain.secrets import Secret
from kontor.services.redirects import sessions as form_sessions
from tenant_view import TenantView
from tenants import create_tenant

SESSIONS = "/customer/v2/regprotect/sessions"


@pytest.fixture(scope="module")
async def redirecting(standing_services, http):
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture
def newcomer(bank_server, redirecting) -> BankCustomer:
    return new_customer(redirecting)


def other_browser(customer: BankCustomer, location: str) -> FormClient:
    return FormClient(str(customer.http.base_url)).open(location)


def let_pass(owner: psycopg.Connection, customer: BankCustomer, passed: timedelta) -> None:
    """All sessions of the user ran out that long ago."""
    owner.execute(
        "update redirect_sessions set expires_at = %s where user_id = %s",
        [datetime.now(UTC) - passed, customer.reference],
    )


# Going on


def test_a_use_of_all_accesses_is_a_use_of_one_that_was_just_added_in_the_form(newcomer, owner):
    assert newcomer.get(ACCESSES).status_code == 200
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    form.send("confirm", account=eyes.product_ids)
    owner.execute("update permissions set callers = '{}' where user_id = %s", [newcomer.reference])
    assert newcomer.get(ACCESSES).status_code == 200
    [permission] = newcomer.read("/customer/v2/berechtigungen")
    assert permission["aufrufer"] == [newcomer.tenant.app[0].partition("/")[2]]


def test_the_browser_that_began_goes_on_with_the_choice_of_accounts(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, new_login("test_sca_method"))
    form.open(go_on(newcomer, eyes.access_id))
    assert set(offered(form)) == set(eyes.product_ids)
    eyes.see_nothing(is_stored=True)
    form.send("confirm", account=eyes.product_ids)
    assert form.returned()["baReentry"] == "ACCOUNT_CREATED"
    eyes.see_only(eyes.product_ids)
    assert "start_sca" not in rels(newcomer.read_access(eyes.access_id))


@pytest.mark.parametrize(
    ("kind", "page", "pin"),
    [
        ("test_sca_method", "method", "demo"),
        ("test_products", "credentials", "wrong"),
        pytest.param("test_sca_method_media", "tan", "demo", marks=pytest.mark.long),
        pytest.param("test_decoupled", "confirmation", "demo", marks=pytest.mark.long),
        pytest.param("test_locked", "failed", "demo", marks=pytest.mark.long),
    ],
)
def test_the_form_goes_on_at_the_page_where_it_was_left(newcomer, owner, kind, page, pin):
    eyes = TenantView(newcomer, owner, new_login(kind), new_id())
    form = FormClient(str(newcomer.http.base_url)).open(begin(newcomer, eyes.access_id)).accept()
    if page == "credentials":
        form.log_in(eyes.login, pin).at("credentials")
    else:
        for _ in walk(form, eyes.login, owner, last=page):
            pass
    left = form.text
    dialogues = eyes.consent_ids()
    form.open(go_on(newcomer, eyes.access_id))
    assert (form.page, form.text) == (page, left)
    assert eyes.consent_ids() == dialogues, "the bank was not asked again"
    eyes.see_nothing(is_stored=True)


def test_adding_the_same_id_again_goes_on_too(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    form.open(begin(newcomer, eyes.access_id)).at("accounts")


def test_the_session_before_is_over_and_changes_nothing_any_more(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    old = form.hidden() | {"action": "confirm", "account": eyes.product_ids}
    go_on(newcomer, eyes.access_id)
    form.post(old)
    assert form.reload().returned()["baReentry"] == "SESSION_EXPIRED"
    eyes.see_nothing(is_stored=True)


def test_another_browser_sees_no_account_and_no_bank_before_the_user_has_logged_in(newcomer, owner):
    """A tenant can start a session for its user, and open it itself."""
    _, eyes = to_accounts(newcomer, owner, new_login("test_sca_method"))
    thief = other_browser(newcomer, go_on(newcomer, eyes.access_id)).at("provider")
    assert not [text for text in (*eyes.product_ids, eyes.accounts[0].product.holder) if text in thief.html]
    thief.post(thief.hidden() | {"action": "confirm", "account": eyes.product_ids})
    thief.log_in(eyes.login, "guessed").at("credentials")
    assert not [text for text in (*eyes.product_ids, eyes.accounts[0].product.holder) if text in thief.html]
    eyes.see_nothing(is_stored=True)


def test_another_browser_goes_on_after_the_same_login_without_asking_the_bank_again(newcomer, owner):
    _, eyes = to_accounts(newcomer, owner, new_login("test_sca_method"))
    dialogues = eyes.consent_ids()
    form = other_browser(newcomer, go_on(newcomer, eyes.access_id)).log_in(eyes.login).at("accounts")
    assert eyes.consent_ids() == dialogues
    form.send("confirm", account=eyes.product_ids)
    assert form.returned()["baReentry"] == "ACCOUNT_CREATED"
    eyes.see_only(eyes.product_ids)


def test_another_login_in_another_browser_replaces_what_was_begun(newcomer, owner):
    _, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    form = other_browser(newcomer, go_on(newcomer, eyes.access_id)).log_in("leer").at("accounts")
    assert not set(offered(form)) & set(eyes.product_ids)
    form.send("confirm", account=offered(form)).returned()
    access = newcomer.wait_until_complete(eyes.access_id)
    assert len(access["bankprodukte"]) == 1


def test_leaving_another_browser_before_the_login_leaves_the_access_as_it_was(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    other_browser(newcomer, go_on(newcomer, eyes.access_id)).at("provider").send("cancel").returned()
    eyes.see_nothing(is_stored=True)
    form.open(go_on(newcomer, eyes.access_id)).at("accounts").send("cancel").returned()
    eyes.left_nothing()


# Ending


def test_deleting_all_sessions_deletes_no_access(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    waiting = begin(newcomer, new_id())
    assert newcomer.delete(SESSIONS).status_code == 200
    eyes.see_nothing(is_stored=True)
    assert form.reload().returned()["baReentry"] == "SESSION_EXPIRED"
    assert FormClient(form.base_url).open(waiting).status == 410
    form.open(go_on(newcomer, eyes.access_id)).at("accounts")


async def test_what_is_not_gone_on_with_is_deleted_a_day_after_its_session(newcomer, owner, services):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    let_pass(owner, newcomer, timedelta(hours=23))
    await services.housekeeping.clean()
    assert form.reload().returned()["baReentry"] == "SESSION_EXPIRED"
    eyes.see_nothing(is_stored=True)
    form.open(go_on(newcomer, eyes.access_id)).at("accounts")
    let_pass(owner, newcomer, timedelta(hours=25))
    await services.housekeeping.clean()
    eyes.left_nothing()


async def test_a_finished_access_outlives_its_session(newcomer, owner, services):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    form.send("confirm", account=eyes.product_ids).returned()
    let_pass(owner, newcomer, timedelta(hours=25))
    await services.housekeeping.clean()
    eyes.see_only(eyes.product_ids)


def test_the_bank_is_asked_in_the_background_only_after_the_choice(newcomer, owner):
    def read_schedule() -> object:
        row = owner.execute("select next_refresh_at from accesses where id = %s", [eyes.access_id]).fetchone()
        return row and row[0]

    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    assert read_schedule() is None
    form.send("confirm", account=eyes.product_ids).returned()
    wait_for(read_schedule, lambda found: found is not None)


@pytest.mark.parametrize("moment", ["access.select", "redirect.end"])
async def test_a_choice_is_stored_whole_or_not_at_all(newcomer, owner, services, monkeypatch, moment):
    """A process that dies within it leaves everything as it was, and the user chooses again."""
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    session = await services.redirects.find_session(Secret(form.http.cookies["kontor-form"]))
    record = form_sessions.record

    async def die(connection, current, action, subject):
        if action == moment:
            raise RuntimeError(moment)
        await record(connection, current, action, subject)

    monkeypatch.setattr("kontor.services.redirects.sessions.record", die)
    monkeypatch.setattr("kontor.services.redirects.accounts.record", die)
    with pytest.raises(RuntimeError, match=re.escape(moment)):
        await services.redirects.accesses.confirm_accounts(
            session, {product.id for product in await _offered(services, session)}
        )
    await services.housekeeping.clean()
    eyes.see_nothing(is_stored=True)
    form.reload().at("accounts").send("confirm", account=eyes.product_ids).returned()
    eyes.see_only(eyes.product_ids)


async def _offered(services, session):
    return (await services.redirects.view(session)).offered


def test_asking_for_a_refresh_leads_to_the_form(newcomer, owner):
    _, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    assert newcomer.refresh(eyes.access_id).status_code == 451
    eyes.see_nothing(is_stored=True)
