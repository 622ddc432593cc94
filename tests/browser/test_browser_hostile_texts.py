"""Texts of a bank, of a tenant and of imported files are full of scripts: in a real browser none of them runs.

A script that runs sets a mark or opens a dialog; one that the content security policy stops is complained about, and
an element that was made of a text has an attribute that is looked for.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect

from asgi_servers import serve_app
from banking import BankCustomer, new_customer
from browser.form_driver import BASE, Form
from browser.tenant_site import TenantSite
from browser.watching import Watch
from console_site import ConsoleSite, password_of
from hostile_texts import HOSTILE, MARKUP, TextBank
from kontor.bootstrap import open_services
from kontor.config import Settings
from kontor.domain.secrets import Secret
from plain_http import plain_client
from processes import WITH_CHEAP_PASSWORDS, beside, running_server, running_worker
from tenants import TenantUnderTest, create_tenant

pytestmark = pytest.mark.long
BANK_NAME = "Böse Bank"
LEGAL = f"Absatz {HOSTILE}\n\n[Bild](javascript:alert(1)) {HOSTILE}"
MAX_PAGES = 60
SENTENCE = "<script>window.hacked=1"  # a part that stands on every page that shows such a text


@dataclass
class HostileSite:
    console: ConsoleSite
    tenant: TenantUnderTest
    watch: Watch
    tenant_site: TenantSite
    new_context: Callable[[], BrowserContext]
    dialogs: list[str]


async def _make_tenant(settings: Settings, http: Any) -> TenantUnderTest:
    async with open_services(replace(settings, pool_size=2), "kontor tests, hostile texts") as services:
        return await create_tenant(services, http, is_regulated=False)


@pytest.fixture(scope="module")
def hostile_site(
    settings: Settings, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HostileSite]:
    """Processes and a database of their own, which know the bank."""
    folder = tmp_path_factory.mktemp("hostile")
    with ExitStack() as stack:
        own = stack.enter_context(beside(settings, allow_loopback=True, log_level="info", banks=folder / "banks.toml"))
        url = stack.enter_context(serve_app(TextBank(datetime.now(UTC).date())))
        (folder / "banks.toml").write_text(
            f'[[bank]]\ncode = "99999997"\nname = "{BANK_NAME}"\n[bank.xs2a]\nbase_url = "{url}"\n'
        )
        http = stack.enter_context(plain_client(base_url=own.base_url, timeout=60))
        with ThreadPoolExecutor(1) as thread:  # this one has the browser's event loop
            tenant = thread.submit(lambda: asyncio.run(_make_tenant(own, http))).result()
        assert own.migration_database_url is not None
        with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
            owner.execute(
                "update tenants set display_name = %s, legal_text = %s, legal_version = %s where name = %s",
                [HOSTILE, LEGAL, HOSTILE, tenant.name],
            )
        own = replace(own, console_clients=Secret(f"{tenant.app[0]}:{tenant.app[1]}"))
        stack.enter_context(running_server(own, folder / "server.log", program=WITH_CHEAP_PASSWORDS))
        stack.enter_context(running_worker(own, folder / "worker.log"))
        site = stack.enter_context(TenantSite(f"{own.base_url}{BASE}/embed.js"))
        watch = Watch(own.base_url.partition("//")[2], [site])
        dialogs: list[str] = []

        def new_context() -> BrowserContext:
            context = browser.new_context(locale="de-DE")
            stack.callback(context.close)
            context.set_default_timeout(60_000)
            watch.attach(context)
            context.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
            return context

        console = ConsoleSite(own.base_url, tenant, tenant, new_customer(tenant), "", "", tenant)
        yield HostileSite(console, tenant, watch, site, new_context, dialogs)


def check(site: HostileSite, page: Page) -> bool:
    """No text of the page became markup. Does it show one of the texts?"""
    assert page.evaluate("window.hacked") is None, page.url
    assert page.locator(f"[{MARKUP}]").count() == 0, page.url
    assert page.locator("[href^='javascript:' i], [src^='javascript:' i], [action^='javascript:' i]").count() == 0
    assert site.dialogs == [], page.url
    assert site.watch.complaints == [], page.url
    assert site.watch.foreign_hosts() == set(), page.url
    return SENTENCE in page.inner_text("body") or SENTENCE in page.content().replace("&lt;", "<")


def connect(site: HostileSite, customer: BankCustomer) -> str:
    """Through the web form; every page of it is looked at. The access."""
    form = Form(site.new_context().new_page(), customer, site.tenant_site)
    form.open().at("legal")
    assert check(site, form.page)
    form.accept().choose_bank(BANK_NAME).at("credentials")
    check(site, form.page)
    form.log_in(HOSTILE[:60], "wrong-pin").at("credentials")
    check(site, form.page)
    form.log_in("somebody", "right").at("method")
    assert check(site, form.page)
    form.page.get_by_role("radio").first.check()
    form.press("common.next")
    form.at("tan")
    assert check(site, form.page)
    form.enter("123456").at("accounts")
    assert check(site, form.page)
    form.confirm_accounts().expect_return("ACCOUNT_CREATED")
    customer.wait_until_complete(form.access_id)
    return form.access_id


def sign_in(site: HostileSite, customer: BankCustomer, path: str = "") -> Page:
    """There is one tenant only, which need not be chosen."""
    page = site.new_context().new_page()
    page.goto(f"{site.console.url}/sign-in?next=/console{path}")
    page.fill("#username", customer.username)
    page.fill("#password", password_of(customer))
    page.click("#sign-in")
    page.wait_for_selector("body.signed-in")
    return page


def crawl(site: HostileSite, page: Page) -> tuple[int, int]:
    """Every page that links lead to, within the console; how many there were, and how many showed such a text."""
    open_links, seen, shown = [page.url], set(), 0
    while open_links and len(seen) < MAX_PAGES:
        url = open_links.pop(0)
        place = urlsplit(url)._replace(fragment="").geturl()
        if place in seen or "/data/export" in place:
            continue
        seen.add(place)
        page.goto(place)
        shown += check(site, page)
        found = page.eval_on_selector_all("a[href]", "links => links.map((link) => link.href)")
        open_links += [link for link in found if link.startswith(site.console.url)]
    return len(seen), shown


def test_no_text_of_a_bank_or_a_tenant_becomes_a_script(hostile_site: HostileSite):
    customer = new_customer(hostile_site.tenant)
    connect(hostile_site, customer)
    page = sign_in(hostile_site, customer)
    visited, shown = crawl(hostile_site, page)
    assert visited > 20
    assert shown > 10
    assert hostile_site.watch.weak_documents() == []


def test_no_text_of_an_imported_file_or_its_name_becomes_a_script(hostile_site: HostileSite):
    customer = new_customer(hostile_site.tenant)
    page = sign_in(hostile_site, customer, "/imports")
    quoted = HOSTILE.replace('"', '""')
    rows = "".join(
        f'{day:02d}.10.2026;"Laden {day} {quoted}";"Einkauf {quoted}";-10,00;{1000 - 10 * day},00\n'
        for day in range(1, 10)
    )
    table = f'Datum;"Empfänger";"Was {quoted}";Umsatz;Kontostand\n{rows}"{quoted}";X;Y;eins;1,00\n'
    name = f"{HOSTILE.replace('/', '∕')}.csv"
    file: FilePayload = {"name": name, "mimeType": "text/csv", "buffer": table.encode()}
    page.set_input_files("#file", file)
    page.click("#preview-button")
    expect(page.locator("#description-title")).to_be_visible()
    assert check(hostile_site, page)
    page.get_by_role("combobox", name=re.compile("^Was")).select_option(label="Verwendungszweck")
    page.fill("#form-name", HOSTILE.replace("/", "")[:60].strip())
    page.click("#describe-button")
    expect(page.locator("#preview-title")).to_be_visible()
    assert check(hostile_site, page)
    page.click("#import-button")
    page.wait_for_url("**/console/imports?result=*")
    check(hostile_site, page)
    visited, shown = crawl(hostile_site, page)
    assert visited > 20
    assert shown > 5
