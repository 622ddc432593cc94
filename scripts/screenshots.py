"""Take a picture of each page of the web form: `.venv/bin/python scripts/screenshots.py` (needs Chromium).

Starts a demo of its own in a temporary folder, goes through the form as users do, and writes to
`docs/screenshots/webform/`. With names of scenes (`payment payees`) only those.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "screenshots" / "webform"
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402 (the tests' own modules come next)
from running_demos import running_demo  # noqa: E402

from banking import BankCustomer, new_customer  # noqa: E402
from browser.form_driver import WRONG_TAN, Form  # noqa: E402
from browser.payment_driver import PAYMENT_TAN, PaymentForm  # noqa: E402
from browser.tenant_site import TenantSite  # noqa: E402
from consenting import new_login  # noqa: E402
from form_client import DETAILS, connect_account, product_url  # noqa: E402
from tenants import TenantUnderTest  # noqa: E402

PROGRAMS = ("/usr/bin/chromium", "/usr/bin/chromium-headless-shell")
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
MAX_BYTES = 120_000
BILL = {
    "instant": True,
    "transferDetails": DETAILS | {"recipient": "Gärtnerei Müller", "purpose": "Rechnung 2026-118", "amount": 248.9},
}


@contextmanager
def running_tenant() -> Iterator[tuple[TenantUnderTest, str]]:
    """A demo's redirect tenant, and an assistant that its users may let read."""
    with running_demo() as facts, httpx.Client(base_url=facts["baseUrl"], timeout=30) as http:
        tenant = next(tenant for tenant in facts["tenants"] if not tenant["regulated"])
        logins = [
            (tenant[part]["username"], tenant[part]["password"]) for part in ("adminClient", "userClient", "user")
        ]
        assistant = register_assistant(tenant["name"], facts["folder"])
        yield TenantUnderTest(tenant["name"], logins[0], logins[1], *logins[2], "", http), assistant


def register_assistant(tenant: str, folder: str) -> str:
    """Its id."""
    command = [
        sys.executable, "-m", "kontor", "client", "create-assistant", tenant, "finanzhelfer",
        "--redirect-address", "http://127.0.0.1/callback", "--description", "Finanzhelfer",
    ]  # fmt: skip
    env = os.environ | {"KONTOR_DATA": folder}
    told = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    found = re.search(rf"{re.escape(tenant)}/\S+", told)
    assert found is not None, told
    return found[0]


class Camera:
    def __init__(self, browser: Browser, tenant: TenantUnderTest, assistant: str, site: TenantSite) -> None:
        self.browser = browser
        self.tenant = tenant
        self.assistant = assistant
        self.site = site

    def new_form(self, language: str = "de", *, is_phone: bool = False, is_dark: bool = False) -> Form:
        page = self.new_page(language, is_phone=is_phone, is_dark=is_dark)
        return Form(page, new_customer(self.tenant), self.site, language)

    def new_page(self, language: str = "de", *, is_phone: bool = False, is_dark: bool = False) -> Page:
        context = self.browser.new_context(
            locale={"de": "de-DE", "en": "en-GB"}[language],
            viewport=PHONE if is_phone else DESKTOP,
            color_scheme="dark" if is_dark else "light",
            reduced_motion="reduce",
        )
        return context.new_page()

    def new_payment(self, customer: BankCustomer, language: str = "de", **look: bool) -> PaymentForm:
        return PaymentForm(self.new_page(language, **look), customer, self.site, language)

    def take(self, page: Page, name: str) -> None:
        page.evaluate("document.activeElement && document.activeElement.blur()")
        page.wait_for_load_state("networkidle")
        file = TARGET / f"{name}.png"
        page.screenshot(path=file)
        size = file.stat().st_size
        print(f"{file.relative_to(ROOT)}  {size // 1000} kB")
        if size > MAX_BYTES:
            raise SystemExit(f"{name} is too large for the repository")


def show_beginning(camera: Camera) -> None:
    form = camera.new_form()
    form.open().at("legal")
    camera.take(form.page, "legal-desktop")
    expect(form.accept().search("Sparkasse Köln")).not_to_have_count(0)
    camera.take(form.page, "bank-search-desktop")
    form.choose_bank().at("credentials")
    camera.take(form.page, "credentials-desktop")
    form.log_in(new_login("demo1"), "falsch")
    expect(form.page.get_by_role("alert")).to_be_visible()
    camera.take(form.page, "credentials-wrong-desktop")


def show_methods(camera: Camera) -> None:
    form = camera.new_form(is_phone=True)
    form.open().at("legal")
    camera.take(form.page, "legal-phone")
    expect(form.accept().search("Volksbank")).to_have_count(8)
    camera.take(form.page, "bank-search-phone")
    form.choose_bank().at("credentials")
    camera.take(form.page, "credentials-phone")
    form.log_in(new_login("test_sca_method_media")).at("method")
    camera.take(form.page, "method-phone")


def show_challenges(camera: Camera) -> None:
    form = camera.new_form()
    form.open().to_credentials().log_in(new_login("test_phototan")).at("tan")
    camera.take(form.page, "phototan-desktop")
    for _ in range(3):
        form.enter(WRONG_TAN)
    form.at("failed")
    camera.take(form.page, "failed-desktop")
    for login, page, name in (
        ("test_chiptan", "tan", "chiptan-phone"),
        ("test_decoupled", "confirmation", "confirmation-phone"),
    ):
        form = camera.new_form(is_phone=True)
        form.open().to_credentials().log_in(new_login(login)).at(page)
        camera.take(form.page, name)


def show_bank_page(camera: Camera) -> None:
    form = camera.new_form()
    form.open().to_credentials().log_in(new_login("test_redirect")).at("redirect")
    camera.take(form.page, "redirect-desktop")
    form.page.get_by_role("link", name=form.text("redirect.go")).click()
    expect(form.page.locator("#bank-confirm")).to_be_visible()
    camera.take(form.page, "demo-bank-desktop")


def show_accounts(camera: Camera) -> None:
    form = camera.new_form()
    form.to_accounts("demo1")
    camera.take(form.page, "accounts-desktop")
    form.page.emulate_media(color_scheme="dark")
    form.page.set_viewport_size(PHONE)
    camera.take(form.page, "accounts-phone-dark")


def show_english_and_dark(camera: Camera) -> None:
    form = camera.new_form("en", is_dark=True)
    form.open().at("legal")
    camera.take(form.page, "legal-desktop-english-dark")
    form.to_credentials().log_in(new_login("test_chiptan")).at("tan")
    camera.take(form.page, "chiptan-desktop-english-dark")


def show_payment(camera: Camera) -> None:
    customer = new_customer(camera.tenant)
    form = camera.new_payment(customer, is_phone=True)
    form.order(body=BILL).at("legal")
    camera.take(form.page, "payment-legal-phone")
    access_id = connect_account(customer, new_login("demo1"))
    form = camera.new_payment(customer)
    form.order(product_url(customer, access_id), BILL).at("payment")
    camera.take(form.page, "payment-desktop")
    form = camera.new_payment(customer, is_phone=True, is_dark=True)
    form.order(body=BILL).to_source().at("source")
    camera.take(form.page, "payment-source-phone-dark")
    form.pay_from_first().at("tan")
    camera.take(form.page, "payment-tan-phone-dark")
    form = camera.new_payment(customer)
    form.order(body=BILL, editableDetails="true").review()
    form.page.get_by_label(form.text("payment.iban")).fill("DE00 1234")
    form.page.get_by_label(form.text("payment.amount_in", currency="EUR")).fill("1,234")
    form.press("payment.next")
    expect(form.page.get_by_role("alert")).to_be_visible()
    camera.take(form.page, "payment-editable-desktop")


def show_payees(camera: Camera) -> None:
    customer = new_customer(camera.tenant)
    connect_account(customer, new_login("demo1"))
    for iban, language, look, name in (
        ("DE98999999990000000008", "de", {"is_phone": True}, "payment-close-match-phone"),
        ("DE71999999990000000009", "de", {}, "payment-no-match-desktop"),
        ("DE44999999990000000010", "en", {"is_dark": True}, "payment-not-verified-desktop-english-dark"),
    ):
        form = camera.new_payment(customer, language, **look)
        body = {"instant": False, "transferDetails": BILL["transferDetails"] | {"iban": iban}}
        editable = "true" if "close" in name else "false"
        form.order(body=body, editableDetails=editable).to_source().pay_from_first().at("payees")
        camera.take(form.page, name)


def show_payment_results(camera: Camera) -> None:
    customer = new_customer(camera.tenant)
    connect_account(customer, new_login("demo1"))
    for iban, page, name in (
        ("DE12999999990000000004", "unknown", "payment-unknown-phone"),
        ("DE93999999990000000001", "failed", "payment-failed-phone"),
    ):
        form = camera.new_payment(customer, is_phone=True)
        body = {"instant": False, "transferDetails": BILL["transferDetails"] | {"iban": iban}}
        form.order(body=body).to_source().pay_from_first().at("tan")
        form.page.route("**/progress", lambda route: route.abort())  # it would go on by itself
        form.enter(PAYMENT_TAN).at(page)
        camera.take(form.page, name)


def show_end(camera: Camera) -> None:
    form = camera.new_form(is_phone=True)
    form.page.goto(form.start())
    form.at("end")
    camera.take(form.page, "no-callback-phone")


def show_assistant(camera: Camera) -> None:
    customer = new_customer(camera.tenant)
    query = {
        "response_type": "code", "client_id": camera.assistant, "redirect_uri": "http://127.0.0.1/callback",
        "state": "1", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        "scope": "http://service/customer/read http://service/customer/tags",
    }  # fmt: skip
    for look, name in (({}, "desktop"), ({"is_phone": True, "is_dark": True}, "phone-dark")):
        page = camera.new_page(**look)
        page.goto(f"{camera.tenant.http.base_url}/auth/oauth2/authorize?{urlencode(query)}")
        camera.take(page, f"authorize-login-{name}")
        page.fill("#username", customer.username)
        page.fill("#password", f"password of {customer.username}")
        page.click("#sign-in")
        expect(page.locator("main[data-page=authorize_consent]")).to_be_visible()
        camera.take(page, f"authorize-consent-{name}")


def main() -> None:
    program = next((program for program in PROGRAMS if Path(program).exists()), None)
    if program is None:
        raise SystemExit("Chromium is needed: apt-get install chromium")
    TARGET.mkdir(parents=True, exist_ok=True)
    with running_tenant() as (tenant, assistant), TenantSite("") as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        camera = Camera(browser, tenant, assistant, site)
        for show in (
            show_beginning,
            show_methods,
            show_challenges,
            show_bank_page,
            show_accounts,
            show_english_and_dark,
            show_payment,
            show_payees,
            show_payment_results,
            show_end,
            show_assistant,
        ):
            if not sys.argv[1:] or show.__name__.removeprefix("show_") in sys.argv[1:]:
                show(camera)
        browser.close()


if __name__ == "__main__":
    main()
