"""A person in front of the web form: looks for what a page says in their language, and does what it offers."""

import re
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
import psycopg
from playwright.sync_api import BrowserContext, Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLongError
from psycopg.types.json import Jsonb

from banking import ACCESSES, BankCustomer, new_id
from browser.tenant_site import TenantSite
from consenting import PRESENT
from kontor.webform.texts import load_texts

BASE = "/customer/v2/webform"
STEP = f"{BASE}/step"
DEMO_BANK_NAME = "Demo-Bank"
TANS = {"mockTAN": "4712", "iTAN": "12", "photoTAN": "8534842", "chipTAN optisch": "936086"}
WRONG_TAN = "4711"


@dataclass
class Form:
    """The form in one tab, for one session of one user.

    `site` is the tenant's; where the console opened the form, it is itself what the form leads back to.
    """

    page: Page
    customer: BankCustomer
    site: TenantSite | None = None
    language: str = "de"
    access_id: str = ""
    location: str = ""
    pin: str = "demo"

    def text(self, key: str, **values: object) -> str:
        return load_texts()[self.language](key, **values)

    # The tenant's side

    def start(self, callback: str | None = None, **query: str) -> str:
        """Ask the API for a new access; the address of the form, without a callback appended."""
        self.access_id = self.access_id or new_id()
        answer = self.customer.post(ACCESSES, {self.access_id: {}}, params=query | _callback(callback))
        return self._follow(answer)

    def start_renewal(self, callback: str | None = None) -> str:
        url = f"{ACCESSES}/{self.access_id}/consent"
        headers = self.customer.headers | PRESENT
        return self._follow(self.customer.http.post(url, params=_callback(callback), headers=headers))

    def _follow(self, answer: httpx.Response) -> str:
        assert answer.status_code == 451, answer.text
        assert answer.content == b""
        self.location = answer.headers["location"]
        return self.location

    def callback(self, path: str = "/back", query: str = "") -> str:
        assert self.site is not None
        return f"{self.site.origin}{path}{query}"

    def open(self, callback: str | None = None) -> "Form":
        """Start and go there, with the callback appended."""
        if not self.location:
            self.start()
        target = self.callback() if callback is None else callback
        self.page.goto(f"{self.location}&callbackUrl={quote(target, safe='')}")
        return self

    # Pages

    def at(self, name: str) -> Locator:
        """The page's main part, once the browser is there."""
        main = self.page.locator(f'main[data-page="{name}"]')
        expect(main).to_be_visible(timeout=20_000)
        return main

    def press(self, key: str, **values: object) -> None:
        self.button(key, **values).click()

    def button(self, key: str, **values: object) -> Locator:
        return self.page.get_by_role("button", name=self.text(key, **values), exact=True)

    def heading(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    def accept(self) -> "Form":
        self.at("legal")
        self.press("legal.accept")
        return self

    def search(self, query: str) -> Locator:
        """Type, and wait for what is found."""
        self.at("provider")
        self.page.get_by_label(self.text("provider.label")).fill(query)
        return self.page.get_by_role("option")

    def choose_bank(self, name: str = DEMO_BANK_NAME) -> "Form":
        self.search(name).filter(has_text=name).first.click()
        return self

    def log_in(self, login: str, pin: str | None = None) -> "Form":
        self.at("credentials")
        fields = self.page.locator("#credentials-form input:not([type=hidden])")
        fields.nth(0).fill(login)
        fields.nth(1).fill(self.pin if pin is None else pin)
        self.press("credentials.submit")
        return self

    def choose(self, page: str, name: str) -> "Form":
        self.at(page).get_by_role("radio", name=name).check()
        self.press("common.next")
        return self

    def enter(self, tan: str) -> "Form":
        self.at("tan")
        self.page.get_by_label(self.text("tan.label"), exact=True).fill(tan)
        self.press("tan.submit")
        return self

    def confirm_at_bank(self, decision: str = "confirm") -> "Form":
        """To the demo bank's own page, and back from it. With JavaScript it goes there by itself after a while."""
        link = self.page.get_by_role("link", name=self.text("redirect.go"))
        bank = self.page.locator("main[data-page=demobank] h1")
        expect(link.or_(bank)).to_be_visible()
        if not bank.is_visible():
            with suppress(TooLongError):  # it has gone meanwhile
                link.click(timeout=5000)
        expect(bank).to_be_visible()
        self.page.click(f"#bank-{decision}")
        return self

    def confirm_accounts(self) -> "Form":
        self.at("accounts")
        self.press("accounts.submit")
        return self

    def to_credentials(self) -> "Form":
        """Who has agreed before is not asked again."""
        expect(self.page.locator('main[data-page="legal"], main[data-page="provider"]')).to_be_visible()
        if self.button("legal.accept").is_visible():
            self.accept()
        return self.choose_bank()

    def to_accounts(self, login: str = "leer") -> "Form":
        self.open().to_credentials().log_in(login)
        self.at("accounts")
        return self

    # The end

    def expect_return(self, outcome: str, path: str = "/back") -> dict[str, str]:
        """The browser is back at the tenant with this outcome; what else stands in the query."""
        self.page.wait_for_url(re.compile(re.escape(self.callback(path))), timeout=20_000)
        query = dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))
        assert query.pop("baReentry") == outcome
        assert query.pop("accessId") == self.access_id
        return query

    def expect_own_page(self, outcome: str) -> Locator:
        """The form ends on a page of its own, which shows the outcome and leads nowhere."""
        main = self.at("end")
        expect(main).to_have_attribute("data-reentry", outcome)
        expect(main.get_by_text(outcome)).to_be_visible()
        expect(main.get_by_role("link")).to_have_count(0)
        return main


def _callback(url: str | None) -> dict[str, str]:
    return {} if url is None else {"callbackUrl": url}


def post_twice(form: Form) -> list[int]:
    """The page's form, sent twice at the same moment, as two impatient clicks without a script would."""
    return form.page.evaluate(
        """async () => {
            const form = document.querySelector("main form[method=post]");
            const data = new URLSearchParams(new FormData(form));
            const button = form.querySelector("button.primary");
            if (button && button.name) data.set(button.name, button.value);
            const send = () => fetch(form.getAttribute("action"), { method: "post", body: data });
            return (await Promise.all([send(), send()])).map((one) => one.status);
        }"""
    )


def post_form(context: BrowserContext, url: str, form: dict[str, str], headers: dict[str, str] | None = None) -> int:
    """A POST with the browser's cookies, but not from its page; the answer's status, redirects not followed."""
    return context.request.post(url, form=form, headers=headers or {}, max_redirects=0).status


def hidden_fields(page: Page) -> dict[str, str]:
    form = page.locator("main form[method=post]").first
    return {name: form.locator(f"input[name={name}]").input_value() for name in ("token", "step")}


def keep_bank_waiting(owner: psycopg.Connection, form: Form) -> object:
    """As if the bank had not offered its methods yet; what it has offered."""
    row = owner.execute("select methods from dialogues where access_id = %s", [form.access_id]).fetchone()
    assert row is not None
    owner.execute("update dialogues set methods = '[]' where access_id = %s", [form.access_id])
    return row[0]


def let_bank_answer(owner: psycopg.Connection, form: Form, methods: object) -> None:
    owner.execute("update dialogues set methods = %s where access_id = %s", [Jsonb(methods), form.access_id])
