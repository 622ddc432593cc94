"""A console for tests: an API process that knows its clients, and people to sign in as."""

from dataclasses import dataclass
from typing import Any

import httpx

from banking import BankCustomer
from tenants import TenantUnderTest


def password_of(customer: BankCustomer) -> str:
    return f"password of {customer.username}"


@dataclass
class ConsoleSite:
    """`rich` is a user of `regulated` with three years of data, for tests that only read."""

    address: str
    regulated: TenantUnderTest
    redirecting: TenantUnderTest
    rich: BankCustomer
    access_id: str
    operator_token: str

    @property
    def url(self) -> str:
        return f"{self.address}/console"

    def visit(self, customer: BankCustomer | None = None) -> httpx.Client:
        """A browser without scripts, signed in; by default as `rich`."""
        customer = customer or self.rich
        client = httpx.Client(base_url=self.address, timeout=60, headers={"Accept-Language": "de"})
        form = {"action": "user", "tenant": customer.tenant.name, "username": customer.username}
        answer = client.post("/console/sign-in", data=form | {"password": password_of(customer)})
        assert answer.status_code == 303, answer.text
        return client

    def operate(self, token: str | None = None) -> httpx.Client:
        """A browser without scripts, signed in as an operator."""
        client = httpx.Client(base_url=self.address, timeout=60, headers={"Accept-Language": "de"})
        form = {"action": "operator", "operator_token": token or self.operator_token}
        answer = client.post("/console/ops/sign-in", data=form)
        assert answer.status_code == 303, answer.text
        return client


def sign_in(page: Any, site: ConsoleSite, customer: BankCustomer | None = None, path: str = "") -> None:
    """In a real browser, as a person does it, and on to a page."""
    customer = customer or site.rich
    page.goto(f"{site.url}/sign-in?next=/console{path}" if path else f"{site.url}/sign-in")
    page.select_option("#tenant", customer.tenant.name)
    page.fill("#username", customer.username)
    page.fill("#password", password_of(customer))
    page.click("#sign-in")
    page.wait_for_selector("body.signed-in")


def sign_in_operator(page: Any, site: ConsoleSite, path: str = "/ops") -> None:
    page.goto(f"{site.url}/ops/sign-in?next=/console{path}")
    page.fill("#operator-token", site.operator_token)
    page.locator("#operator-token").press("Enter")
    page.wait_for_selector("body.signed-in")
