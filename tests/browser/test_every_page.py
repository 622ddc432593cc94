"""axe-core finds nothing on any page: light on a desktop, dark on a phone, and none of them scrolls sideways.

Every page is known: of the console, of the web form, of the demo bank, and those about the API. A page that no test has
declared to show (`shows`) fails the first test here.
"""

import importlib
import re
from datetime import datetime, timedelta
from importlib import resources
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import expect

from assistants.granting import CHALLENGE, VERIFIER
from banking import href, new_customer, new_id
from browser.accessibility import DECLARED, LOOKED_AT, check, find_all_problems, shows
from browser.keyboard import TWO_LOOKS, Person
from browser.test_browser_accessibility import OPTIONS
from consenting import CALLBACK, PRESENT, new_login, start
from console_site import make_console_adviser, password_of, sign_in
from form_client import DETAILS, product_url
from kontor.console.views import VIEWS
from kontor.demobank.pages import HEADERS, HTML, draw_login
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS
from kontor.pages.formatting import BERLIN
from kontor.webform.pages import Page
from kontor.webform.rendering import BASE, draw
from kontor.webform.texts import load_texts
from timeouts import WAIT_TIMEOUT_SECONDS

pytestmark = pytest.mark.long

SHOWING = ("test_browser_accessibility", "test_browser_payments", "test_console_app", "test_console_paying")
# They lead on to another page, and show nothing of their own.
LEADING_ON = {"alert", "connect_back", "payment_back"}
# Parts of pages, and what a view draws where the API refuses.
NO_PAGES = {"base", "page", "refusal"}
# Views about one thing; the others are opened by their addresses.
ABOUT_ONE = (
    "account", "budget", "consent", "contract", "credit_file", "disclosure", "goal", "payment", "permission", "rule",
    "transaction",
)  # fmt: skip
CUSTOMERS = [
    view for view in VIEWS if not (view.is_operator or view.is_adviser or "{" in view.path or view.name in LEADING_ON)
]
OPERATORS = [view for view in VIEWS if view.is_operator]
ADVISERS = [view for view in VIEWS if view.is_adviser]
SECTION = re.compile(r'href="(/docs/[a-z0-9-]+)"')


def list_templates(package, folder=""):
    names = (entry.name for entry in resources.files(package).joinpath(folder).iterdir())
    return {name.removesuffix(".html") for name in names if name.endswith(".html") and not name.startswith("_")}


def name_pages(area, names):
    return {f"{area}/{name}" for name in names}


def test_every_page_is_known():
    for module in SHOWING:
        importlib.import_module(f"browser.{module}")
    shown = frozenset().union(*DECLARED.values())
    bank = resources.files("kontor.demobank").joinpath("templates").iterdir()
    bank_pages = re.findall(r'data-page="([^"]+)"', "".join(file.read_text("utf-8") for file in bank))
    views = {view.name for view in VIEWS} | list_templates("kontor.console", "templates")
    pages = (
        name_pages("console", views - LEADING_ON - NO_PAGES)
        | name_pages("form", list_templates("kontor.webform", "templates") - NO_PAGES | set(bank_pages))
        | {"docs"}
    )
    assert pages - shown == set(), "pages that no test looks at with axe: add them here"
    assert shown - pages == set(), "pages that are gone"


def look_at(page, addresses):
    """All of them; then what is wrong with any."""
    problems = {}
    for address in addresses:
        page.goto(address)
        expect(page.locator("main")).to_be_visible()
        if page.locator("figure.chart").count():
            page.wait_for_selector("html[data-charts=drawn]")
        if found := find_all_problems(page, OPTIONS):
            problems[address] = found
    assert problems == {}


@pytest.fixture(scope="module")
def client_of(console_site):
    """A customer of advisers, with something behind each page."""
    customer = new_customer(console_site.advised)
    access_id = customer.add_complete("demo1+pages")
    scopes = ["sales-triggers", "affordability", "credit-check", "contracts", "credit-bookings"]
    until = (datetime.now(BERLIN).date() + timedelta(days=30)).isoformat()
    given = customer.post("/customer/v2/freigaben", {"umfang": scopes, "gueltigBis": until})
    assert given.status_code == 201
    file = {"zweck": "Ratenkredit", "freigabe": given.headers["location"].rpartition("/")[2]}
    assert customer.post("/customer/v2/ai/credit-files", file).status_code == 201
    rule = {"tagTreeItem": {"systemName": "LIVING_GROCERIES"}, "conditions": {"text": "rewe"}, "name": "Markt"}
    assert customer.post("/customer/v2/ai/tagging-rules", rule).status_code in (200, 201)
    return customer, access_id


def find_file(customer):
    return customer.read("/customer/v2/ai/credit-files")[0]["id"]


def find_one_of_each(customer, access_id):
    """Addresses of the views about one thing."""
    product = customer.product(access_id, "GIROKONTO")
    [row] = customer.read("/customer/v2/kontoumsaetze", params={"limit": 1, "produkt": product["id"]})
    contract = customer.read("/customer/v2/ai/contracts")[0]["id"]
    disclosure = customer.read("/customer/v2/freigaben")[0]["id"]
    gone = customer.add("leer")
    assert customer.delete(f"/customer/v2/bankzugaenge/{gone}").status_code == 200
    permission = customer.read("/customer/v2/berechtigungen")[-1]["id"]
    rule = customer.read("/customer/v2/ai/tagging-rules")[0]["id"]
    body = {"instant": False, "transferDetails": DETAILS}
    payer = customer.add_complete(new_login("test_bank_message"))
    query = {"paymentId": new_id(), "callbackUrl": CALLBACK}
    paid = customer.post(product_url(customer, payer), body, params=query, headers=PRESENT)
    assert paid.status_code == 200, paid.text
    payment = href(customer.read("/customer/v2/payments")[0], "self").rpartition("/")[2]
    consent = start(customer, new_login("test_sca_method"))
    return [
        f"/accounts/{access_id}/{product['id']}", "/budgets/new", "/goals/new", f"/contracts/{contract}",
        f"/disclosures/{disclosure}", f"/transactions/rules/{rule}", f"/payments/single-transfer/{payment}",
        f"/permissions/{permission}", f"/credit-files/{find_file(customer)}?figure=EINNAHMEN",
        f"/transactions/{access_id}/{product['id']}/{row['id']}", f"/connect/{consent.access_id}/{consent.id}",
    ]  # fmt: skip


@shows(*name_pages("console", (view.name for view in CUSTOMERS)), *name_pages("console", ABOUT_ONE))
def test_every_page_of_a_customer(open_console, console_site, client_of):
    customer, access_id = client_of
    page = open_console(customer=customer)
    addresses = [view.path for view in CUSTOMERS]
    look_at(page, [console_site.url + path for path in (*addresses, *find_one_of_each(customer, access_id))])


@shows(*name_pages("console", (view.name for view in ADVISERS)))
def test_every_page_of_an_adviser(new_console_context, console_site, client_of):
    page = new_console_context().new_page()
    sign_in(page, console_site, make_console_adviser(console_site), "/adviser")
    known = {"{customer:str}": client_of[0].reference, "{file:str}": f"{find_file(client_of[0])}?figure=EINNAHMEN"}
    paths = [re.sub(r"\{\w+:str\}", lambda found: known[found[0]], view.path) for view in ADVISERS]
    look_at(page, [console_site.url + path for path in paths])


@shows(*name_pages("console", (view.name for view in OPERATORS)))
def test_every_page_of_an_operator(open_console, console_site, owner):
    tenant, customer = console_site.regulated, console_site.rich
    hook = {"url": "http://127.0.0.1:9/hook", "events": ["transactions.new"]}
    made = httpx.post(
        f"{console_site.address}{tenant.url}/webhooks", json=hook, headers=tenant.as_admin, timeout=WAIT_TIMEOUT_SECONDS
    )
    [job] = owner.execute(
        "insert into pgqueuer (priority, status, entrypoint, payload, attempts) values (0, 'failed', 'nothing', %s, 3)"
        " returning id",
        [uuid4().bytes],
    ).fetchone()
    known = {
        "{user:str}": customer.reference, "{access:str}": console_site.access_id, "{job:str}": str(job),
        "{webhook:str}": made.headers["location"].rpartition("/")[2],
    }  # fmt: skip
    page = open_console("/ops", is_operator=True)
    paths = [re.sub(r"\{\w+:str\}", lambda found: known[found[0]], view.path) for view in OPERATORS]
    look_at(page, [console_site.url + path for path in (*paths, f"/ops/webhooks/{uuid4()}")])
    owner.execute("delete from pgqueuer where id = %s", [job])
    httpx.delete(console_site.address + made.headers["location"].partition(tenant.url)[1], headers=tenant.as_admin)


@shows("console/sign_in", "console/operator_sign_in", "console/problem")
def test_pages_before_the_login_and_of_nothing(new_console_context, console_site):
    page = new_console_context().new_page()
    look_at(page, [console_site.url + path for path in ("/sign-in", "/ops/sign-in", "/nothing/here")])


@shows("docs")
def test_every_page_about_the_api(new_console_context, console_site):
    """With an operation and a shape opened on each."""
    page = new_console_context().new_page()
    page.goto(f"{console_site.address}/docs")
    check(page, OPTIONS)
    for path in dict.fromkeys(SECTION.findall(page.content())):
        page.goto(console_site.address + path)
        for opened in ("details.operation", "details.shape"):
            if page.locator(opened).count():
                page.locator(f"{opened} > summary").first.click()
        check(page, OPTIONS)
    LOOKED_AT.add("docs")


def show(page, address, body, policy):
    """A page that no test can hold: as it is drawn, with the styles that are served."""
    shared = {"Content-Type": HTML, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    headers = shared | {"Referrer-Policy": "no-referrer", "Content-Security-Policy": policy}
    page.route(address, lambda route: route.fulfill(body=body, headers=headers))
    page.goto(address)
    check(page, OPTIONS)


@shows("form/demobank-login")
@pytest.mark.parametrize("language", ["de", "en"])
def test_the_login_at_a_bank(new_context, bank_server, language):
    body = draw_login(language, "/v1/authorise/1", "demo1", kind="access", problem="wrong")
    page = new_context(language=language).new_page()
    show(page, f"{bank_server}/v1/authorise/1", body, HEADERS["Content-Security-Policy"])


@shows("form/working")
def test_a_page_that_waits_for_a_bank(new_context, bank_server):
    drawn = draw(Page("working", "working"), load_texts()["de"], provider=None)
    page = new_context().new_page()
    page.route("**/progress", lambda route: route.fulfill(json={"step": "working"}))
    show(page, f"{bank_server}{BASE}/working", drawn.body, drawn.headers["Content-Security-Policy"])


@shows("form/authorize_problem")
def test_an_assistant_that_is_not_known(new_context, bank_server):
    page = new_context().new_page()
    page.goto(f"{bank_server}/auth/oauth2/authorize?client_id=nobody")
    check(page, OPTIONS)


@shows("form/authorize_login", "form/authorize_consent", "form/authorize_end", "console/sign_ins")
@pytest.mark.parametrize("look", TWO_LOOKS, ids=str)
def test_an_assistant_is_let_in_and_put_out_with_the_keyboard_alone(
    new_console_context, console_watch, console_site, assistant_id, site, look
):
    console_watch.sites.append(site)
    customer = new_customer(console_site.regulated)
    person = Person(new_console_context(**look.options).new_page(), look, OPTIONS)
    query = {
        "response_type": "code", "client_id": assistant_id, "redirect_uri": f"http://127.0.0.1:{site.port}/callback",
        "state": "1", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        "scope": f"{CUSTOMER_READ} {CUSTOMER_TAGS}",
    }  # fmt: skip
    let_in(person, customer, str(httpx.URL(f"{console_site.address}/auth/oauth2/authorize", params=query)))
    code = dict(site.visits_to("/callback")[-1].query)["code"]
    form = {
        "grant_type": "authorization_code", "client_id": assistant_id, "code": code, "code_verifier": VERIFIER,
        "redirect_uri": query["redirect_uri"],
    }  # fmt: skip
    token = httpx.post(f"{console_site.address}/auth/oauth2/token", data=form, timeout=WAIT_TIMEOUT_SECONDS).json()
    assert token["scope"] == query["scope"]
    put_out(person, customer, f"{console_site.url}/sign-ins")
    assert not [listed for listed in customer.read("/customer/v2/tokens") if listed.get("grant")]


def let_in(person, customer, address):
    page = person.page
    page.route("**/callback**", lambda route: route.fulfill(status=204))  # the page stays
    page.goto(address)
    check(page, OPTIONS)
    person.enter("#username", customer.username)
    person.enter("#password", "wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    person.check()
    person.enter("#password", password_of(customer))
    page.keyboard.press("Enter")
    expect(page.locator("main[data-page=authorize_consent]")).to_be_visible()
    check(page, OPTIONS)
    person.press("#tags", "Space")
    person.press("#agree")
    expect(page.locator("main[data-page=authorize_end]")).to_be_visible()
    check(page, OPTIONS)
    page.unroute("**/callback**")
    person.press("#target")
    expect(page.get_by_role("heading", name="Back at the tenant")).to_be_visible()


def put_out(person, customer, address):
    page = person.page
    page.goto(address)
    person.choose("#tenant", customer.tenant.name)
    person.enter("#username", customer.username)
    person.enter("#password", password_of(customer))
    page.keyboard.press("Enter")
    person.at("sign_ins")
    person.press("#assistants input", "Space")
    person.enter("#password", "wrong")
    person.press("#end")
    expect(page.locator("#problem")).to_contain_text("Das Passwort ist falsch.")
    person.at("sign_ins")
    expect(page.locator("#assistants input")).to_be_checked()
    person.enter("#password", password_of(customer))
    person.press("#end")
    expect(page.get_by_role("status")).to_contain_text("Beendet.")
    expect(page.locator("#assistants")).to_contain_text("Kein Assistent darf Ihre Daten lesen.")
    check(page)
