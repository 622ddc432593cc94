"""One Chromium for the whole package, one context for each test, and a watch on everything it says and asks for."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from assistants.granting import LOOPBACK
from banking import BankCustomer, new_customer
from browser.accessibility import DECLARED, DESKTOP, LOOKED_AT, PHONE
from browser.form_driver import BASE, Form
from browser.tenant_site import TenantSite
from browser.watching import Watch
from console_site import ConsoleSite, sign_in, sign_in_operator
from kontor.services.bundle import Services
from tenants import TenantUnderTest, create_tenant
from timeouts import WAIT_TIMEOUT_SECONDS

# The headless shell is Chromium without windows: the same engine for a third of the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
LOCALES = {"de": "de-DE", "en": "en-GB"}
PATIENCE_MS = WAIT_TIMEOUT_SECONDS * 1000


@pytest.fixture(scope="session")
async def redirecting(standing_services: Services, http: httpx.Client) -> TenantUnderTest:
    """A tenant that may not handle credentials, with Kontor's own design."""
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture(scope="session")
async def branded(standing_services: Services, http: httpx.Client) -> TenantUnderTest:
    """A second one, whose look tests may change."""
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture(scope="session")
async def assistant_id(standing_services: Services, console_site: ConsoleSite) -> str:
    """An assistant that users of the tenant may let read; it is sent back to a port of this machine."""
    administration = standing_services.tenant_administration
    made = await administration.create_assistant(console_site.regulated.name, "assistant", [LOOPBACK], "Finanzhelfer")
    return made.username


@pytest.fixture(scope="package")
def browser(
    bank_server: str,
    redirecting: TenantUnderTest,
    branded: TenantUnderTest,
    console_site: ConsoleSite,
    assistant_id: str,
) -> Iterator[Browser]:
    """Started after all asynchronous fixtures: Playwright keeps an event loop of its own until it is stopped."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.fail(f"The browser tests need Debian's Chromium: apt-get install {PROGRAMS[0]}", pytrace=False)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def declared_pages(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test looks at the pages that it has declared to show."""
    LOOKED_AT.clear()
    yield
    assert DECLARED.get(request.function.__name__, frozenset()) - LOOKED_AT == frozenset()


@pytest.fixture
def watch(bank_server: str) -> Iterator[Watch]:
    """Whatever a test does: no page complains, is sent with weak headers, asks strangers, or says where one was."""
    watch = Watch(bank_server.partition("//")[2])
    yield watch
    assert watch.complaints == []
    assert watch.weak_documents() == []
    assert watch.foreign_hosts() == set()
    assert watch.referrers() == []


@pytest.fixture
def new_context(browser: Browser, watch: Watch) -> Iterator[Callable[..., BrowserContext]]:
    """Browsers for one test."""
    yield from _make_contexts(browser, watch)


def _make_contexts(browser: Browser, watch: Watch) -> Iterator[Callable[..., BrowserContext]]:
    opened = []

    def make(*, is_phone: bool = False, language: str = "de", **options: Any) -> BrowserContext:
        usual = {
            "locale": LOCALES[language],
            "viewport": PHONE if is_phone else DESKTOP,
            "is_mobile": is_phone,
            "has_touch": is_phone,
        }
        context = browser.new_context(**(usual | options))
        context.set_default_timeout(PATIENCE_MS)
        watch.attach(context)
        opened.append(context)
        return context

    yield make
    for context in opened:
        context.close()


@pytest.fixture
def console_watch(console_site: ConsoleSite) -> Iterator[Watch]:
    """The same watch on the console, which another process serves."""
    watch = Watch(console_site.address.partition("//")[2])
    yield watch
    assert watch.complaints == []
    assert watch.weak_documents() == []
    assert watch.foreign_hosts() == set()


@pytest.fixture
def new_console_context(browser: Browser, console_watch: Watch) -> Iterator[Callable[..., BrowserContext]]:
    yield from _make_contexts(browser, console_watch)


@pytest.fixture(scope="session")
def console_cookies() -> dict[str, Any]:
    """What a browser keeps of whoever has signed in before; whoever signs out or is erased should be somebody new."""
    return {}


@pytest.fixture
def open_console(
    new_console_context: Callable[..., BrowserContext], console_site: ConsoleSite, console_cookies: dict[str, Any]
) -> Callable[..., Page]:
    """A browser that is signed in to the console, at a page: `open_console("/contracts", language="en")`.

    `customer` is the user whose data is there from the start, unless another is given; `is_operator` opens /ops pages.
    Further options go to the browser's context: `is_phone`, `color_scheme`, `java_script_enabled`.
    """

    def open_page(
        path: str = "", *, customer: BankCustomer | None = None, is_operator: bool = False, **options: Any
    ) -> Page:
        who = "/ops" if is_operator else (customer or console_site.rich).username
        if who in console_cookies:
            page = new_console_context(storage_state=console_cookies[who], **options).new_page()
            page.goto(console_site.url + (path or ("/ops" if is_operator else "")))
            page.wait_for_selector("body.signed-in")
            return page
        page = new_console_context(**options).new_page()
        if is_operator:
            sign_in_operator(page, console_site, path or "/ops")
        else:
            sign_in(page, console_site, customer, path)
        console_cookies[who] = page.context.storage_state()
        return page

    return open_page


@pytest.fixture
def site(bank_server: str, watch: Watch) -> Iterator[TenantSite]:
    """The tenant's site, on a free port of 127.0.0.1 (and so of the same site as Kontor, but another origin)."""
    with TenantSite(f"{bank_server}{BASE}/embed.js") as site:
        watch.sites.append(site)
        yield site


@pytest.fixture
def other_site(bank_server: str, watch: Watch) -> Iterator[TenantSite]:
    """Somebody else's."""
    with TenantSite(f"{bank_server}{BASE}/embed.js") as site:
        watch.sites.append(site)
        yield site


@pytest.fixture
def new_form(
    new_context: Callable[..., BrowserContext], redirecting: TenantUnderTest, site: TenantSite
) -> Callable[..., Form]:
    """A new user of the tenant in front of a browser of their own."""

    def make(*, language: str = "de", tenant: TenantUnderTest | None = None, **options: Any) -> Form:
        context = new_context(language=language, **options)
        return Form(context.new_page(), new_customer(tenant or redirecting), site, language)

    return make


@pytest.fixture
def form(new_form: Callable[..., Form]) -> Form:
    """In German, on a desktop."""
    return new_form()


@pytest.fixture
def second_tab() -> Callable[[Form], Form]:
    """The same session in another tab of the same browser."""

    def open_tab(form: Form) -> Form:
        return Form(form.page.context.new_page(), form.customer, form.site, form.language, form.access_id)

    return open_tab


@pytest.fixture
def set_branding(owner: psycopg.Connection, branded: TenantUnderTest) -> Iterator[Callable[..., None]]:
    """Change how the branded tenant looks; afterwards it is plain again."""
    plain: dict[str, Any] = {
        "display_name": None,
        "logo": None,
        "colours": "{}",
        "legal_text": None,
        "legal_version": None,
        "frame_origins": [],
    }

    def change(**branding: Any) -> None:
        for column, value in (plain | branding).items():
            owner.execute(f"update tenants set {column} = %s where name = %s", [value, branded.name])

    yield change
    change()


@pytest.fixture
def expire(owner: psycopg.Connection) -> Callable[[Form], None]:
    """Let the session of a form run out."""

    def move(form: Form) -> None:
        changed = owner.execute(
            "update redirect_sessions set expires_at = now() - interval '1 minute' where access_id = %s",
            [form.access_id],
        )
        assert changed.rowcount == 1

    return move
