"""The web form without a browser: what its pages say, and their forms sent by hand."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import httpx

from banking import ACCESSES, DEMO_BANK, BankCustomer, new_id
from consenting import PRESENT
from plain_http import plain_client
from timeouts import WAIT_TIMEOUT_SECONDS

CALLBACK = "https://example.com/back?state=1"
SINGLE = "/customer/v2/payment/single-transfer"
WAITING = ("connecting", "working", "fetching")
DETAILS = {
    "recipient": "Erika Müller",
    "purpose": "Rechnung 4711",
    "iban": "DE89370400440532013000",
    "bic": "COBADEFFXXX",
    "currency": "EUR",
    "amount": 12.3,
}


@dataclass
class FormClient:
    """One browser without a browser. `html` is the page that it shows."""

    base_url: str
    language: str = "de"
    html: str = ""
    status: int = 0
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        headers = {"Accept-Language": self.language}
        # No connection is kept, so none is left open.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.http = plain_client(
            base_url=self.base_url, headers=headers, follow_redirects=True, timeout=WAIT_TIMEOUT_SECONDS, limits=limits
        )

    def open(self, location: str, callback: str = CALLBACK) -> "FormClient":
        return self._show(self.http.get(f"{location}&callbackUrl={quote(callback, safe='')}"))

    def reload(self) -> "FormClient":
        return self._show(self.http.get("/customer/v2/webform/step"))

    def send(self, action: str, **fields: str | Sequence[str]) -> "FormClient":
        return self._show(self.post(self.hidden() | {"action": action} | fields))

    def post(self, fields: dict[str, Any]) -> httpx.Response:
        return self.http.post("/customer/v2/webform/step", data=fields)

    def hidden(self) -> dict[str, Any]:
        """What makes a form count: taken from a page, it can be sent later, or twice."""
        return {name: self.find(f'name="{name}" value="([^"]*)"') for name in ("token", "step")}

    def _show(self, answer: httpx.Response) -> "FormClient":
        self.html, self.status = answer.text, answer.status_code
        return self

    @property
    def page(self) -> str:
        return self.find('<main[^>]* data-page="([^"]*)"')

    @property
    def text(self) -> str:
        return unescape(" ".join(re.sub(r"<[^>]*>", " ", self.html.partition("<main")[2].partition(">")[2]).split()))

    @property
    def actions(self) -> set[str]:
        return set(re.findall('name="action" value="([^"]*)"', self.html))

    def find(self, pattern: str) -> str:
        found = re.search(pattern, self.html)
        assert found is not None, (pattern, self.html)
        return unescape(found[1])

    def at(self, page: str) -> "FormClient":
        """The page, once the bank has answered."""
        end = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while self.page in WAITING and self.page != page and time.monotonic() < end:
            time.sleep(0.1)
            self.reload()
        assert self.page == page, self.text
        return self

    def returned(self) -> dict[str, str]:
        """What the tenant is told; the page that leads there is shown."""
        self.at("end")
        return dict(parse_qsl(urlsplit(self.find('href="([^"]*)" id="target"')).query))

    # Ways through it

    def accept(self) -> "FormClient":
        return self.send("accept") if self.page == "legal" else self

    def log_in(self, login: str, pin: str = "demo", **fields: str) -> "FormClient":
        if self.page == "provider":
            self.send("choose", provider=DEMO_BANK)
        return self.send("submit", **{"field-userid": login, "field-pin": pin} | fields)


def connect_account(customer: BankCustomer, login: str) -> str:
    """An access of a redirect tenant's user, added in the form; its id."""
    access_id = new_id()
    answer = customer.post(ACCESSES, {access_id: {}})
    assert answer.status_code == 451, answer.text
    client = FormClient(str(customer.http.base_url)).open(answer.headers["location"]).accept().log_in(login)
    accounts = re.findall('name="account" value="([^"]*)"', client.at("accounts").html)
    client.send("confirm", account=accounts).at("end")
    customer.wait_until_complete(access_id)
    return access_id


def order_payment(
    customer: BankCustomer, url: str = SINGLE, body: dict[str, Any] | None = None, **query: str
) -> tuple[str, str]:
    """(id of the payment, address of the form)"""
    body = {"instant": False, "transferDetails": DETAILS} if body is None else body
    answer = customer.post(url, body, params=query, headers=PRESENT)
    assert answer.status_code == 451, answer.text
    return answer.json()["transfer"]["paymentId"], answer.headers["location"]


def product_url(customer: BankCustomer, access_id: str, category: str = "GIROKONTO") -> str:
    product = customer.product(access_id, category)
    return f"{ACCESSES}/{access_id}/{product['id']}/payment/single-transfer"


def read_codes(customer: BankCustomer, payment_id: str) -> list[str]:
    return [message["code"] for message in customer.read(f"{SINGLE}/{payment_id}")["messages"]]
