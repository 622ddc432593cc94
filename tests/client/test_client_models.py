"""Typed answers of the real service: nothing that it says is lost, pages are followed, waiting ends."""

import asyncio
import itertools
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import msgspec
import pytest
from comparing import find_lost

from banking import DEMO_BANK, wait_for
from kontor_client import (
    AccessFailedError,
    AccessStatus,
    ApiError,
    AsyncKontor,
    AuthenticationNeededError,
    Batch,
    Kontor,
    KontorClientError,
    NewTransaction,
    ProductCategory,
    TimeLimitError,
)
from kontor_client.sessions import encode_json

LISTINGS = [
    ("read_customer", {}, "/customer/v2"),
    ("list_accesses", {}, "/customer/v2/bankzugaenge"),
    ("list_contracts", {"explain": True}, "/customer/v2/ai/contracts?explain=true"),
    ("read_cashflow", {"explain": True}, "/customer/v2/ai/cashflow?explain=true"),
    ("read_cashflow", {"focus": "tag", "level": "main"}, "/customer/v2/ai/cashflow?focus=tag&catLevel=main"),
    ("read_disposable_money", {"explain": True}, "/customer/v2/ai/disposable-money?explain=true"),
    ("list_life_events", {"explain": True}, "/customer/v2/ai/life-events?explain=true"),
    ("list_life_stages", {"explain": True}, "/customer/v2/ai/life-stages?explain=true"),
    ("list_sales_triggers", {"explain": True}, "/customer/v2/ai/sales-triggers?explain=true"),
    ("read_affordability", {"explain": True}, "/customer/v2/ai/affordability?explain=true"),
    ("read_credit_check", {"explain": True}, "/customer/v2/ai/credit-check?explain=true"),
    ("list_tag_trees", {}, "/tags/v1/tag-trees"),
    ("list_tag_tree_items", {"tree": "CATEGORIES"}, "/tags/v1/tag-trees/CATEGORIES/tag-tree-items"),
    ("list_providers", {"query": "Sparkasse"}, "/providers/v2?q=Sparkasse"),
]


@pytest.mark.parametrize(
    ("name", "options", "path"), LISTINGS, ids=[f"{listing[0]}{len(listing[1])}" for listing in LISTINGS]
)
def test_nothing_that_the_service_says_is_lost(reading, name, options, path):
    typed = getattr(reading, name)(**options)
    said = reading.request("GET", path).json()
    assert said, "there is nothing to compare"
    assert find_lost(said, msgspec.json.decode(encode_json(typed))) == []


@pytest.fixture
def products(reading, demo1):
    return {product.category: product for product in reading.read_access(demo1[1]).products}


def test_transactions_with_tags_and_positions_lose_nothing(reading, demo1, products):
    path = f"/customer/v2/bankzugaenge/{demo1[1]}"
    giro, depot = products[ProductCategory.CHECKING], products[ProductCategory.DEPOT]
    typed = reading.list_transactions(demo1[1], giro.id, tag="categories", explain=True)
    said = reading.request("GET", f"{path}/{giro.id}/kontoumsaetze?tag=categories&explain=true").json()
    assert len(said) > 100
    assert find_lost(said, msgspec.json.decode(encode_json(typed))) == []
    said = reading.request("GET", f"{path}/{depot.id}/depotpositionen").json()
    assert said
    assert find_lost(said, msgspec.json.decode(encode_json(reading.list_positions(demo1[1], depot.id)))) == []
    assert reading.read_product(demo1[1], giro.id) == giro


def test_numbers_are_exact_and_days_are_dates(reading, demo1, products):
    giro = products[ProductCategory.CHECKING]
    assert isinstance(giro.balance, Decimal)
    transaction = reading.list_transactions(demo1[1], giro.id, tag="true")[0]
    assert isinstance(transaction.amount, Decimal)
    assert transaction.booked_at is not None
    assert transaction.category == transaction.tags[0].item.system_name
    contract = reading.list_contracts()[0]
    assert isinstance(contract.details.amount_latest, Decimal)
    assert isinstance(contract.details.date_latest, date)


def test_a_customer_without_a_salary_has_no_disposable_money(server, new_user):
    with Kontor(server, new_user.token) as client:
        assert client.read_disposable_money() is None
        assert client.read_affordability() is None


def test_fields_and_words_of_a_newer_service_do_not_break_the_client():
    body = b"""{"x": {"id": "x", "providerId": "p", "status": "NEU", "sync": true, "relations": [], "neu": {"a": 1},
        "aktualisierungszeitpunkt": "2026-11-15 10:00:00"}}"""
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    with Kontor("https://kontor.example", "t", transport=transport) as client:
        assert client.list_accesses()["x"].status == "NEU"


# Pages


async def test_pages_are_followed_to_the_end(server, demo1, products):
    giro = products[ProductCategory.CHECKING]
    requests = []

    class Watching(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request):
            requests.append(parse_qs(urlsplit(str(request.url)).query))
            return await super().handle_async_request(request)

    async with AsyncKontor(server, demo1[0].token, transport=Watching()) as client:
        whole = await client.list_transactions(demo1[1], giro.id, tag="categories")
        size = len(whole) // 3 + 1
        requests.clear()
        paged = [
            transaction
            async for transaction in client.iterate_transactions(demo1[1], giro.id, page_size=size, tag="categories")
        ]
    assert paged == whole
    assert len(requests) == 3
    assert all(query["limit"] == [str(size)] and query["tag"] == ["categories"] for query in requests)


def test_only_pages_that_are_needed_are_read(server, demo1, products):
    giro = products[ProductCategory.CHECKING]
    count = 0

    class Counting(httpx.HTTPTransport):
        def handle_request(self, request):
            nonlocal count
            count += 1
            return super().handle_request(request)

    with Kontor(server, demo1[0].token, transport=Counting()) as client:
        rows = list(itertools.islice(client.iterate_transactions(demo1[1], giro.id, page_size=10), 15))
    assert (len(rows), count) == (15, 2)


def test_a_window_has_both_its_days(reading, demo1, products):
    giro = products[ProductCategory.CHECKING]
    transactions = reading.list_transactions(demo1[1], giro.id)
    newest = max(transaction.booked_at.date() for transaction in transactions)
    since = newest - timedelta(days=20)
    wanted = [transaction.id for transaction in transactions if since <= transaction.booked_at.date() <= newest]
    found = [
        transaction.id for transaction in reading.iterate_transactions(demo1[1], giro.id, since=since, until=newest)
    ]
    assert found == wanted


# Accesses


async def test_an_access_is_added_waited_for_refreshed_and_deleted(own):
    added = await own.add_access(DEMO_BANK, {"userid": "student", "pin": "demo"}, customer_ip="8.8.8.8")
    assert added.products
    complete = await own.wait_until_complete(added.id)
    assert complete.status == AccessStatus.COMPLETE
    refreshed = await own.refresh_access(added.id, customer_ip="8.8.8.8")
    assert refreshed.updated_at >= complete.updated_at
    await own.delete_access(added.id)
    assert await own.list_accesses() == {}


async def test_values_may_come_encrypted(own):
    sealed = {"userid": await own.encrypt("leer"), "pin": await own.encrypt("demo")}
    added = await own.add_access(DEMO_BANK, sealed, is_encrypted=True, access_id="mine")
    assert added.id == "mine"
    assert added.products


async def test_waiting_ends_where_the_bank_refuses(own):
    added = await own.add_access(DEMO_BANK, {"userid": "student", "pin": "wrong"})
    with pytest.raises(AccessFailedError, match="BA1011"):
        await own.wait_until_complete(added.id)


async def test_waiting_ends_where_the_bank_wants_the_user(own):
    added = await own.add_access(DEMO_BANK, {"userid": "test_decoupled", "pin": "demo"})
    assert added.needs_authentication
    with pytest.raises(AuthenticationNeededError):
        await own.wait_until_complete(added.id)


def test_waiting_ends_after_its_time():
    def answer(request):
        messages = {"messages": []} if request.url.path.endswith("/issues") else {"status": "KOPFDATEN", "sync": True}
        body = {"id": "x", "providerId": "p", "aktualisierungszeitpunkt": "2026-11-15 10:00:00", "relations": []}
        return httpx.Response(200, json=body | messages)

    transport = httpx.MockTransport(answer)
    with Kontor("https://kontor.example", "t", transport=transport) as client, pytest.raises(TimeLimitError):
        client.wait_until_complete("x", timeout_seconds=0.2)


async def test_a_redirect_tenants_user_is_sent_to_the_form(server, redirect_tenant):
    callback = "https://example.com/back?state=1&b=2"
    async with await AsyncKontor.login(server, *redirect_tenant.app, "anna", "annas password") as client:
        url = await client.start_web_form(callback)
        async with httpx.AsyncClient() as browser:
            page = await browser.get(url, follow_redirects=True)
        await client.end_web_forms()
    assert parse_qs(urlsplit(url).query)["callbackUrl"] == [callback]
    assert page.status_code == 200
    assert "text/html" in page.headers["content-type"]


async def test_a_tenant_that_handles_credentials_has_no_form(own):
    with pytest.raises((KontorClientError, ApiError)):
        await own.start_web_form("https://example.com/back")


# Pushed data and tags


CSV = b"Tag;Was;Umsatz\n02.11.2026;Brot;-3,50\n03.11.2026;Bus;-2,40\nmorgen;Kino;x\n"


async def test_an_unknown_csv_is_described_previewed_and_imported(own):
    unknown = await own.preview_import(CSV)
    assert (unknown.is_unknown, unknown.delimiter, unknown.encoding) == (True, ";", "UTF-8")
    assert [column.name for column in unknown.columns] == ["Tag", "Was", "Umsatz"]
    assert unknown.columns[0].example == "02.11.2026"
    columns = {"Tag": "buchungsdatum", "Was": "verwendungszweck", "Umsatz": "betrag"}
    form = await own.add_import_form("Bank & Co", columns, day_format="dd.mm.yyyy", decimal_sign=",", marks=["Was"])
    assert [form] == await own.list_import_forms()
    assert form.columns == columns
    preview = await own.preview_import(CSV, form="Bank & Co", access_id="archiv")
    (account,) = preview.accounts
    assert (account.new, account.product_id, account.institution) == (2, None, "Bank & Co")
    assert [row.amount for row in account.examples] == [Decimal("-3.50"), Decimal("-2.40")]
    stored = await own.import_file(CSV, access_id="archiv")
    assert [row.line for row in stored.accounts[0].rejected] == [4]
    assert await own.read_import(stored.id) == stored
    again = await own.import_file(CSV, product_id=stored.accounts[0].product_id)
    assert (again.accounts[0].new, again.accounts[0].known) == (0, 2)
    await own.delete_import_form("Bank & Co")
    assert await own.list_import_forms() == []


async def test_transactions_are_pushed_once(own, empty):
    new = NewTransaction(
        batch=Batch(id="b1"),
        amount=Decimal("-12.30"),
        booked_at="2026-11-13",
        purpose="Miete",
        counterparty_name="Vermieter",
    )
    await own.push_transactions(*empty, [new])
    await own.push_transactions(*empty, [new])
    (found,) = await own.list_transactions(*empty)
    assert (found.amount, found.purpose, found.batch) == (Decimal("-12.30"), "Miete", Batch(id="b1"))


STATEMENT = """:20:START
:25:{bank_code}/{account_number}
:28C:1/1
:60F:C261101EUR100,00
:61:2611021102D12,30N005NONREF
:86:005?00LASTSCHRIFT?20Beitrag
:62F:C261102EUR87,70
-
"""


async def test_a_statement_file_is_previewed_and_pushed(own, empty):
    product = await own.read_product(*empty)
    file = STATEMENT.format(bank_code=product.bank_code, account_number=product.account_number).encode()
    (previewed,) = await own.preview_statement(*empty, file)
    assert previewed.amount == Decimal("-12.30")
    assert await own.list_transactions(*empty) == []
    (told,) = (await own.push_statement(*empty, file)).accounts
    assert (told.product_id, told.form, told.new, told.rejected) == (empty[1], "MT940", 1, [])
    assert (told.opening_balance, told.closing_balance) == (Decimal("100.00"), Decimal("87.70"))
    (again,) = (await own.push_statement(*empty, file)).accounts
    assert (again.new, again.known) == (0, 1)
    assert [transaction.amount for transaction in await own.list_transactions(*empty)] == [Decimal("-12.30")]


async def test_several_calls_at_once_share_a_client(own):
    names = [f"one-{number}-{uuid4().hex[:4]}" for number in range(8)]
    sealed = await asyncio.gather(*[own.encrypt(name) for name in names])
    assert len(set(sealed)) == len(names)


def test_provider_and_its_statistics(reading):
    provider = reading.read_provider(DEMO_BANK)
    assert [field.key for field in provider.login.fields] == ["userid", "pin"]
    assert [field.is_secret for field in provider.login.fields] == [False, True]
    found = wait_for(lambda: reading.read_provider_statistics(DEMO_BANK), lambda statistics: statistics.fetches > 0)
    assert 0 <= found.success_rate <= 1


# The customer's data as a whole


async def test_everything_is_exported_and_erased(own, customer, empty):
    new = NewTransaction(batch=Batch(id="b"), amount=Decimal("-5.00"), booked_at="2026-11-13", purpose="Zeitung")
    await own.push_transactions(*empty, [new])
    for form in ("json", "csv", "beancount", "hledger", "gnucash"):
        assert b"Zeitung" in await own.export(form)
    with pytest.raises(ApiError) as caught:
        await own.erase_customer("somebody else")
    assert caught.value.status == 400
    await own.erase_customer(customer.username)
    with pytest.raises(ApiError) as caught:
        await own.list_accesses()
    assert caught.value.status == 403


async def test_a_user_changes_the_password_and_revokes_tokens(own, customer):
    (token,) = [token for token in await own.list_own_tokens() if token.is_current]
    assert (token.client, token.is_bound, token.expires_at - token.issued_at) == ("app", False, 7200)
    with pytest.raises(ApiError) as caught:
        await own.revoke_own_tokens("wrong", [token.id])
    assert caught.value.status == 400
    said = (await own.request("GET", "/customer/v2/tokens")).json()
    assert find_lost(said, msgspec.json.decode(encode_json(await own.list_own_tokens()))) == []
    await own.change_password(f"password of {customer.username}", "an entirely new passphrase")
    with pytest.raises(ApiError) as caught:
        await own.list_own_tokens()
    assert caught.value.status == 403
