"""A console for tests: an API process that knows its clients, and people to sign in as."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from banking import BankCustomer, new_customer
from plain_http import PatientClient
from tenants import TenantUnderTest

TOKEN = re.compile(r'name="token" value="([0-9a-f]{64})"')


def password_of(customer: BankCustomer) -> str:
    return f"password of {customer.username}"


def sign_in_form(customer: BankCustomer, **other: str) -> dict[str, str]:
    """What a browser sends for a user who signs in."""
    known = {"action": "user", "tenant": customer.tenant.name, "username": customer.username}
    return known | {"password": password_of(customer)} | other


def make_console_adviser(site: "ConsoleSite") -> BankCustomer:
    """A user of `advised` whose console is that of an adviser."""
    tenant, user = site.advised, new_customer(site.advised)
    members = f"{tenant.url}/clients/office/roles/adviser/users"
    tenant.http.post(members, json=user.reference, headers=tenant.as_admin).raise_for_status()
    return user


def read_token(page: str) -> str:
    """What every form of a page has to carry."""
    found = TOKEN.search(page)
    assert found is not None, page
    return found[1]


def text_of(answer: httpx.Response, status: int = 200) -> str:
    """A page as it is read, without escapes."""
    assert answer.status_code == status, answer.text
    return html.unescape(answer.text)


def send(visitor: httpx.Client, page: str, action: str, **fields: Any) -> httpx.Response:
    """A form of the page, as a browser without scripts sends it."""
    token = read_token(visitor.get(page).text)
    return visitor.post(page, data=fields | {"action": action, "token": token})


def money(value: Any) -> str:
    """German, as the pages write it."""
    amount = Decimal(str(value))
    return f"{'−' if amount < 0 else ''}{f'{abs(amount):,.2f}'.translate(str.maketrans(',.', '.,'))} €"


@dataclass
class ConsoleSite:
    """`rich` is a user of `regulated` with three years of data, for tests that only read.

    In `advised` the console's client is `office`, which has the roles `customer` (of all users) and `adviser`.
    """

    address: str
    regulated: TenantUnderTest
    redirecting: TenantUnderTest
    rich: BankCustomer
    access_id: str
    operator_token: str
    advised: TenantUnderTest

    @property
    def url(self) -> str:
        return f"{self.address}/console"

    @contextmanager
    def visit(self, customer: BankCustomer | None = None) -> Iterator[httpx.Client]:
        """A browser without scripts, signed in; by default as `rich`."""
        form = sign_in_form(customer or self.rich)
        with PatientClient(base_url=self.address, headers={"Accept-Language": "de"}) as client:
            answer = client.post("/console/sign-in", data=form)
            assert answer.status_code == 303, answer.text
            yield client

    @contextmanager
    def operate(self, form: dict[str, str] | None = None) -> Iterator[httpx.Client]:
        """A browser without scripts, signed in as an operator, or by another form."""
        form = form or {"action": "operator", "operator_token": self.operator_token}
        with PatientClient(base_url=self.address, headers={"Accept-Language": "de"}) as client:
            answer = client.post("/console/ops/sign-in", data=form)
            assert answer.status_code == 303, answer.text
            yield client


def sign_in(page: Any, site: ConsoleSite, customer: BankCustomer | None = None, path: str = "") -> None:
    """In a real browser, as a person does it, and on to a page."""
    customer = customer or site.rich
    page.goto(f"{site.url}/sign-in?next=/console{path}" if path else f"{site.url}/sign-in")
    enter(page, customer)
    page.wait_for_selector("body.signed-in")


def enter(page: Any, customer: BankCustomer, password: str | None = None) -> None:
    """What the form of a user asks for; whether it opens is another question."""
    page.select_option("#tenant", customer.tenant.name)
    page.fill("#username", customer.username)
    page.fill("#password", password_of(customer) if password is None else password)
    page.click("#sign-in")


def sign_in_operator(page: Any, site: ConsoleSite, path: str = "/ops") -> None:
    page.goto(f"{site.url}/ops/sign-in?next=/console{path}")
    page.fill("#operator-token", site.operator_token)
    page.locator("#operator-token").press("Enter")
    page.wait_for_selector("body.signed-in")
