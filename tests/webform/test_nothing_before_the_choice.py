"""Until the user has chosen accounts in the web form, the tenant sees that an access is being added, and nothing else.

Each flow is walked page by page, and after each page the API is asked for everything.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from uuid import UUID

import pytest
from markupsafe import escape

from banking import ACCESSES, BankCustomer, href, new_customer, new_id
from consenting import PRESENT, new_login
from form_client import SINGLE, FormClient, order_payment
from form_navigation import WAITING, begin, is_stored, offered, to_accounts, wait_until_staged, walk
from kontor.services.fetching.staging import Staging
from many_examples import few_cases
from tenant_view import TenantView
from tenants import create_tenant

HOSTILE_NAME = """<script>window.hacked=1</script>"'><img src=x onerror="window.hacked=1">{{7*7}}"""


@pytest.fixture(scope="module")
async def redirecting(standing_services, http):
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture
def newcomer(bank_server, redirecting) -> BankCustomer:
    return new_customer(redirecting)


PAGES = {
    "test_sca_method_media": {"legal", "provider", "method", "medium", "tan", "accounts"},
    "test_decoupled": {"confirmation"},
    "test_redirect": {"redirect"},
    "test_products": {"legal", "provider", "accounts"},
    "test_sca_method": {"method", "tan"},
    "test_phototan": {"tan"},
    "test_chiptan": {"tan"},
    "test_partial": {"accounts"},
}


@pytest.mark.parametrize("kind", few_cases(PAGES, 3))
def test_the_tenant_sees_nothing_on_any_page_and_then_only_what_was_chosen(newcomer, owner, kind):
    eyes = TenantView(newcomer, owner, new_login(kind), new_id())
    form = FormClient(str(newcomer.http.base_url)).open(begin(newcomer, eyes.access_id))
    seen = set()
    for page in walk(form, eyes.login, owner):
        if page not in seen or page not in WAITING:
            eyes.see_nothing(is_stored=is_stored(eyes))
        seen.add(page)
    assert PAGES[kind] <= seen
    wait_until_staged(owner, eyes)
    eyes.see_nothing(is_stored=True)
    eyes.refuse_everything_else()
    assert eyes.consent_ids()
    chosen = offered(form)[:1]
    assert set(offered(form)) == set(eyes.product_ids)
    form.send("confirm", account=chosen)
    assert form.returned()["baReentry"] == "ACCOUNT_CREATED"
    eyes.see_only(chosen)


def test_a_wrong_pin_tells_the_tenant_nothing(newcomer, owner):
    eyes = TenantView(newcomer, owner, new_login("test_products"), new_id())
    form = FormClient(str(newcomer.http.base_url)).open(begin(newcomer, eyes.access_id)).accept()
    form.log_in(eyes.login, "wrong").at("credentials")
    assert "start_sca" in [relation["rel"] for relation in newcomer.read_access(eyes.access_id)["relations"]]
    eyes.see_nothing(is_stored=True)
    for _ in walk(form, eyes.login, owner):
        eyes.see_nothing(is_stored=True)
    form.send("confirm", account=offered(form)).returned()
    eyes.see_only(eyes.product_ids)


@pytest.mark.parametrize(
    ("kind", "outcome"), [("test_locked", "INVALID_CREDENTIALS"), ("test_unreachable", "BACKEND_ERROR")]
)
def test_a_bank_that_refuses_leaves_nothing(newcomer, owner, kind, outcome):
    eyes = TenantView(newcomer, owner, new_login(kind), new_id())
    form = FormClient(str(newcomer.http.base_url)).open(begin(newcomer, eyes.access_id))
    for _ in walk(form, eyes.login, owner, last="failed"):
        eyes.see_nothing(is_stored=is_stored(eyes))
    assert form.send("cancel").returned()["baReentry"] == outcome
    eyes.left_nothing()


@pytest.mark.parametrize("page", ["tan", "accounts"])
def test_who_cancels_leaves_nothing(newcomer, owner, page):
    eyes = TenantView(newcomer, owner, new_login("test_sca_method"), new_id())
    form = FormClient(str(newcomer.http.base_url)).open(begin(newcomer, eyes.access_id))
    for _ in walk(form, eyes.login, owner, last=page):
        pass
    assert form.send("cancel").returned()["baReentry"] == "USER_CANCELLED"
    eyes.left_nothing()


def test_choosing_another_bank_leaves_nothing_of_the_first(newcomer, owner):
    eyes = TenantView(newcomer, owner, new_login("test_products"), new_id())
    form = FormClient(str(newcomer.http.base_url)).open(begin(newcomer, eyes.access_id)).accept()
    form.log_in(eyes.login, "wrong").at("credentials").send("other-bank").at("provider")
    eyes.left_nothing()


def test_two_tabs_that_choose_accounts_at_once_keep_the_choice_of_one(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, "familie+two-tabs")
    first, second, *_ = accounts = offered(form)
    fields = form.hidden() | {"action": "confirm"}
    choices = [[first], [second]] * 4
    barrier = Barrier(len(choices))

    def confirm(choice):
        barrier.wait()
        return form.post(fields | {"account": choice}).status_code

    with ThreadPoolExecutor(len(choices)) as pool:
        statuses = list(pool.map(confirm, choices))
    assert set(statuses) == {200}
    assert form.reload().returned()["baReentry"] == "ACCOUNT_CREATED"
    newcomer.wait_until_complete(eyes.access_id)
    kept = [product["id"] for product in newcomer.products(eyes.access_id)]
    assert kept in ([first], [second]), (kept, accounts)
    eyes.see_only(kept)


def test_a_deleted_access_is_gone_and_its_form_ends(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    access = newcomer.read_access(eyes.access_id)
    assert newcomer.delete(href(access, "delete_bankzugang")).status_code == 200
    eyes.left_nothing()
    form.send("confirm", account=eyes.product_ids)
    assert form.returned()["baReentry"] == "ERROR"
    eyes.left_nothing()


async def test_whatever_a_bank_calls_an_account_is_only_text(newcomer, owner, services):
    form, eyes = to_accounts(newcomer, owner, new_login("test_products"))
    staging = Staging(services.accesses._user_encryption)
    user_id = UUID(newcomer.reference)
    async with services.database.transaction(user_id) as connection:
        headers = await staging.find_headers(connection, user_id, eyes.access_id)
        products = tuple(replace(product, name=HOSTILE_NAME, holder=HOSTILE_NAME) for product in headers.products)
        await staging.stage_headers(connection, user_id, eyes.access_id, replace(headers, products=products))
    form.reload().at("accounts")
    assert "<img" not in form.html
    assert "<script>window" not in form.html
    assert escape(HOSTILE_NAME) in form.html


def test_accounts_that_are_not_confirmed_change_nothing_about_others(newcomer, owner):
    """A transfer to an account that the tenant must not know of yet is not called a transfer between own accounts."""
    first, known = to_accounts(newcomer, owner, new_login("leer"))
    first.send("confirm", account=offered(first)).returned()
    known.see_only(known.product_ids)
    url = f"{ACCESSES}/{known.access_id}/{known.product_ids[0]}/kontoumsaetze"
    login = new_login("test_products")
    iban = next(
        account.product.iban for account in TenantView(newcomer, owner, login, "x").accounts if account.product.iban
    )
    row = {
        "identifier": {"batchId": "1"},
        "betrag": -25,
        "buchungsdatum": "2026-10-01",
        "verwendungszweck": "Fuer Oktober",
        "gegenkontoInhaber": "Kim Beispiel",
        "gegenkontoIban": iban,
    }
    assert newcomer.post(url, [row]).status_code == 201

    def read_tags() -> list[str]:
        return [
            tag["tagTreeItem"]["systemName"]
            for transaction in newcomer.read(url, params={"tag": "categories"})
            for tag in transaction["tags"]
        ]

    before = read_tags()
    assert before
    form, eyes = to_accounts(newcomer, owner, login)
    assert read_tags() == before
    form.send("confirm", account=offered(form)).returned()
    eyes.see_only(eyes.product_ids)
    assert read_tags() == ["TRANSFER_OWN"] != before


def test_renewing_an_access_keeps_it_in_sight(newcomer, owner):
    form, eyes = to_accounts(newcomer, owner, new_login("test_sca_method"))
    form.send("confirm", account=eyes.product_ids).returned()
    before = newcomer.wait_until_complete(eyes.access_id)
    owner.execute("update accesses set consent_until = current_date + 3 where id = %s", [eyes.access_id])
    answer = newcomer.http.post(
        href(newcomer.read_access(eyes.access_id), "start_sca"), headers=newcomer.headers | PRESENT
    )
    assert "useCase=AUTHENTICATE_ACCOUNT" in answer.headers["location"]
    renewal = FormClient(str(newcomer.http.base_url)).open(answer.headers["location"])
    for _ in walk(renewal, eyes.login, owner, last="end"):
        access = newcomer.read_access(eyes.access_id)
        assert access["bankprodukte"] == before["bankprodukte"] or access["status"] == "VOLLSTAENDIG"
        assert [product["id"] for product in access["bankprodukte"]] == eyes.product_ids


def test_a_payment_names_no_bank_before_it_is_ordered_and_connects_none(newcomer, owner):
    eyes = TenantView(newcomer, owner, new_login("test_products"), "unused")
    payment_id, location = order_payment(newcomer)
    iban = eyes.accounts[0].product.iban
    assert iban is not None

    def see_no_bank() -> None:
        for url in (f"{SINGLE}/{payment_id}", "/customer/v2/payments", "/customer/v2/export"):
            answer = newcomer.get(url)
            assert answer.status_code == 200
            assert not [text for text in eyes.bank_strings if text in answer.text], url

    form = FormClient(str(newcomer.http.base_url)).open(location).accept().at("payment")
    see_no_bank()
    form.send("confirm").at("provider")
    form.log_in(eyes.login, "wrong", **{"account-iban": iban}).at("credentials")
    see_no_bank()
    form.log_in(eyes.login, **{"account-iban": iban}).at("tan")
    assert newcomer.read(f"{SINGLE}/{payment_id}")["transfer"]["product"] == iban
    form.send("submit", tan="12")
    assert form.returned()["baReentry"] == "FINISHED"
    assert newcomer.read(ACCESSES) == {}
