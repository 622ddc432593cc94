"""Consents of a bank customer over HTTP, and a check that everything offered is shown in its place."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg

from banking import ACCESSES, BankCustomer, href, rels, wait_for
from kontor.config import Settings
from plain_http import plain_client
from processes import free_port, running_server

PRESENT = {"Customer-IP-Address": "8.8.8.8"}
CALLBACK = "https://example.com/back?state=1"
CONSENTS = "/customer/v2/consent"

# The way through each login's dialogue: what is offered, and what is answered.
WAYS: dict[str, list[tuple[str, str, Any]]] = {
    "test_sca_method": [("BA3010", "set_method", {"chosenScaMethodId": "900"}), ("BA3030", "authenticate", "12")],
    "test_sca_method_media": [
        ("BA3010", "set_method", {"chosenScaMethodId": 901}),
        ("BA3020", "set_medium", {"chosenScaMedia": "Mein Tablet"}),
        ("BA3030", "authenticate", "4711112"),
    ],
    "test_decoupled": [("BA3030", "authenticate", {}), ("BA3030", "authenticate", {})],
    "test_phototan": [("BA3030", "authenticate", "8534842")],
    "test_chiptan": [("BA3030", "authenticate", "936086")],
    "test_redirect": [("BA3005", "authenticate", "code=xyz&state=1")],
}

# Relations and further members of every state.
SHAPES: dict[str, tuple[set[str], set[str]]] = {
    "BA3005": ({"self", "redirect_url", "authenticate", "cancel"}, set()),
    "BA3010": ({"self", "set_method", "cancel"}, {"scaMethods"}),
    "BA3020": ({"self", "set_medium", "cancel"}, {"scaMediums"}),
    "BA3030": ({"self", "authenticate", "cancel"}, {"challenge"}),
    "BA3040": ({"self"}, set()),
    "BA3050": ({"self", "get_bankzugang"}, set()),
    "BA3060": ({"self"}, set()),
}
LEVELS = {"BA3040": "ERROR", "BA3060": "ERROR", "BA1103": "ERROR"}


def new_login(login: str) -> str:
    """Another customer of the same kind."""
    return f"{login}+{uuid4().hex[:10]}"


def check_shape(status: dict[str, Any]) -> dict[str, Any]:
    """A consent status says and offers exactly what belongs to its state."""
    *before, message = status["messages"]
    relations, members = SHAPES[message["code"]]
    if status.get("challenge", {}).get("decoupled"):
        relations = relations | {"poll"}
    assert set(rels(status)) == relations, status
    assert len(rels(status)) == len(relations)
    assert set(status) == {"messages", "relations"} | members, status
    assert [earlier["code"] for earlier in before] in ([], ["BA1103"])
    for shown in status["messages"]:
        assert shown["level"] == LEVELS.get(shown["code"], "INFO")
        assert shown["message"]
        assert "details" not in shown or shown["details"]
    return status


@dataclass
class Consent:
    """One consent, as its tenant drives it."""

    customer: BankCustomer
    access_id: str
    url: str

    @property
    def id(self) -> UUID:
        return UUID(self.url.rpartition("/")[2])

    def read(self) -> dict[str, Any]:
        return check_shape(self.customer.read(self.url))

    @property
    def code(self) -> str:
        return self.read()["messages"][-1]["code"]

    def post(self, body: Any, url: str | None = None) -> httpx.Response:
        return self.customer.post(url or self.url, body)

    def answer(self, rel: str, body: Any) -> dict[str, Any]:
        """Follow a relation that is offered; it answers 200 with the new status, which is then the stored one."""
        answer = self.post(body, href(self.read(), rel))
        assert answer.status_code == 200, answer.text
        assert check_shape(answer.json()) == self.read()
        return answer.json()

    def choose_method(self, code: str | int) -> dict[str, Any]:
        return self.answer("set_method", {"chosenScaMethodId": code})

    def choose_medium(self, name: str) -> dict[str, Any]:
        return self.answer("set_medium", {"chosenScaMedia": name})

    def enter(self, tan: str) -> dict[str, Any]:
        return self.answer("authenticate", {"scaAuthenticationData": tan})

    def poll(self) -> dict[str, Any]:
        answer = self.customer.get(href(self.read(), "poll"))
        assert answer.status_code == 200, answer.text
        return check_shape(answer.json())

    def cancel(self) -> dict[str, Any]:
        answer = self.customer.http.post(href(self.read(), "cancel"), headers=self.customer.headers)
        assert answer.status_code == 200, answer.text
        return check_shape(answer.json())

    def wait_until_complete(self) -> dict[str, Any]:
        return self.customer.wait_until(
            self.access_id, lambda access: access["status"] == "VOLLSTAENDIG" and "start_sca" not in rels(access)
        )


def post_consent(
    customer: BankCustomer, access_id: str, body: Any = None, headers: dict[str, str] | None = None, **query: str
) -> httpx.Response:
    """Ask for consent, with all that is required unless it is given otherwise; an empty value leaves it out."""
    params = {name: value for name, value in ({"callbackUrl": CALLBACK} | query).items() if value}
    sent = customer.headers | (PRESENT if headers is None else headers)
    url = f"{ACCESSES}/{access_id}/consent"
    if body is None:
        return customer.http.post(url, params=params, headers=sent)
    return customer.http.post(url, params=params, headers=sent, json=body)


def start(
    customer: BankCustomer,
    login: str,
    access_id: str | None = None,
    *,
    facts: dict[str, Any] | None = None,
    **query: str,
) -> Consent:
    """A new access by way of its consent."""
    access_id = access_id or str(uuid4())
    body = {access_id: customer.access(login) | (facts or {})}
    return follow(customer, access_id, post_consent(customer, access_id, body, **query))


def renew(customer: BankCustomer, access_id: str, **query: str) -> Consent:
    return follow(customer, access_id, post_consent(customer, access_id, **query))


def follow(customer: BankCustomer, access_id: str, answer: httpx.Response) -> Consent:
    assert answer.status_code == 201, answer.text
    assert answer.content == b""
    url = answer.headers["location"]
    assert url.startswith(f"{str(customer.http.base_url).rstrip('/')}{CONSENTS}/")
    return Consent(customer, access_id, url)


def codes(status: dict[str, Any]) -> list[str]:
    return [message["code"] for message in status.get("messages", [])]


def decide_at_bank(owner: psycopg.Connection, redirect_url: str, *, is_confirmed: bool = True) -> str:
    """What the customer does on the bank's own page; where that leads back to."""
    page_id = redirect_url.rpartition("/")[2]
    row = owner.execute(
        "update demo_bank_pages set is_confirmed = %s where id = %s returning return_url", [is_confirmed, page_id]
    ).fetchone()
    assert row is not None
    return str(row[0])


def stored_credentials(owner: psycopg.Connection, customer: BankCustomer, access_id: str) -> bytes | None:
    row = owner.execute(
        "select credentials from accesses where user_id = %s and id = %s", [customer.reference, access_id]
    ).fetchone()
    assert row is not None
    return row[0]


def wait_for_fetch(owner: psycopg.Connection, customer: BankCustomer, access_id: str) -> list[str]:
    """States of the access's fetches, once none is at work; slots that were left out are none."""

    def look() -> list[str]:
        rows = owner.execute(
            "select state from fetches where user_id = %s and access_id = %s and state <> 'SKIPPED'"
            " order by requested_at",
            [customer.reference, access_id],
        ).fetchall()
        return [row[0] for row in rows]

    return wait_for(look, lambda found: found and not {"QUEUED", "RUNNING"} & set(found))


# Other servers of the same database


@dataclass(frozen=True)
class AtServer:
    """A tenant as it is seen at another server of the same database."""

    tenant: Any
    http: httpx.Client

    @property
    def name(self) -> str:
        return self.tenant.name

    @property
    def url(self) -> str:
        return self.tenant.url

    @property
    def app(self) -> tuple[str, str]:
        return self.tenant.app


def at_server(customer: BankCustomer, http: httpx.Client) -> BankCustomer:
    return BankCustomer(AtServer(customer.tenant, http), customer.username, customer.reference, customer.token)


@contextmanager
def another_server(settings: Settings, log: Path, **changes: Any) -> Iterator[httpx.Client]:
    """A server process with other settings on the same database."""
    own = replace(settings, base_url=f"http://127.0.0.1:{free_port()}", compute_preload=False, **changes)
    with running_server(own, log) as address, plain_client(base_url=address, timeout=60) as client:
        yield client
