"""A person who pays in the web form."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import expect

from browser.form_driver import Form
from form_client import SINGLE, order_payment

PAYMENT_TAN = "4712"


@dataclass
class PaymentForm(Form):
    """The form of one payment."""

    payment_id: str = ""

    def order(self, url: str = SINGLE, body: dict[str, Any] | None = None, **query: str) -> "PaymentForm":
        """Order it at the API, and go to the form."""
        self.payment_id, self.location = order_payment(self.customer, url, body, **query)
        self.open()
        return self

    def review(self) -> "PaymentForm":
        """Who has agreed before is not asked again."""
        expect(self.page.locator('main[data-page="legal"], main[data-page="payment"]')).to_be_visible()
        if self.button("legal.accept").is_visible():
            self.accept()
        self.at("payment")
        return self

    def to_source(self) -> "PaymentForm":
        self.review().press("payment.next")
        return self

    def pay_from_first(self) -> "PaymentForm":
        self.at("source")
        self.press("source.submit")
        return self

    def log_in_to_pay(self, login: str, iban: str, pin: str = "demo") -> "PaymentForm":
        self.at("credentials")
        fields = self.page.locator("#credentials-form input:not([type=hidden])")
        fields.nth(0).fill(login)
        fields.nth(1).fill(pin)
        self.page.get_by_label(self.text("source.iban"), exact=True).fill(iban)
        self.press("credentials.submit_payment")
        return self

    def confirm_payment_at_bank(self, decision: str = "confirm") -> "PaymentForm":
        self.at("redirect")
        self.page.get_by_role("link", name=self.text("redirect.go")).click()
        expect(self.page.locator("main[data-page=demobank-payment] h1")).to_be_visible()
        self.page.click(f"#bank-{decision}")
        return self

    def expect_return(self, outcome: str, path: str = "/back") -> dict[str, str]:
        self.page.wait_for_url(re.compile(re.escape(self.site.origin + path)), timeout=20_000)
        query = dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))
        assert query.pop("baReentry") == outcome
        assert query.pop("paymentId") == self.payment_id
        return query
