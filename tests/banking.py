"""Customers of a running service, as its callers see them: over HTTP, with credentials encrypted as a tenant would."""

import base64
import json
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from timeouts import WAIT_TIMEOUT_SECONDS

DEMO_BANK = "00000000-0000-0000-0000-000000000000"
ACCESSES = "/customer/v2/bankzugaenge"
_certificates: dict[tuple[str, str], x509.Certificate] = {}


def encrypt(tenant: Any, text: str, algorithm: type[hashes.HashAlgorithm] = hashes.SHA256) -> str:
    """With the tenant's public certificate: RSA-OAEP, Base64 without line breaks."""
    key = (str(tenant.http.base_url), tenant.name)
    if key not in _certificates:
        pem = tenant.http.get(f"{tenant.url}/certificate").content
        _certificates[key] = x509.load_pem_x509_certificate(pem)
    scheme = padding.OAEP(mgf=padding.MGF1(algorithm()), algorithm=algorithm(), label=None)
    public: Any = _certificates[key].public_key()
    return base64.b64encode(public.encrypt(text.encode(), scheme)).decode()


@dataclass
class BankCustomer:
    """A user of a tenant, with a token of its own."""

    tenant: Any
    username: str
    reference: str
    token: str
    secrets: set[str] = field(default_factory=set)

    @property
    def http(self) -> httpx.Client:
        return self.tenant.http

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, url: str, **facts: Any) -> httpx.Response:
        return self.http.get(url, headers=self.headers | facts.pop("headers", {}), **facts)

    def read(self, url: str, **facts: Any) -> Any:
        answer = self.get(url, **facts)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, url: str, body: Any, **facts: Any) -> httpx.Response:
        return self.http.post(url, json=body, headers=self.headers | facts.pop("headers", {}), **facts)

    def delete(self, url: str) -> httpx.Response:
        return self.http.delete(url, headers=self.headers)

    # Accesses

    def credentials(self, login: str, pin: str = "demo", **others: str) -> dict[str, str]:
        return {key: encrypt(self.tenant, text) for key, text in ({"userid": login, "pin": pin} | others).items()}

    def access(self, login: str, pin: str = "demo", **facts: Any) -> dict[str, Any]:
        """The object that adds an access."""
        return {"providerId": DEMO_BANK, "credentials": self.credentials(login, pin)} | facts

    def add(self, login: str, pin: str = "demo", *, access_id: str | None = None, **facts: Any) -> str:
        """Add an access and return its id; its transactions may still be on their way."""
        access_id = access_id or new_id()
        answer = self.post(ACCESSES, {access_id: self.access(login, pin, **facts)})
        assert answer.status_code == 201, answer.text
        return access_id

    def add_complete(self, login: str, pin: str = "demo", **facts: Any) -> str:
        access_id = self.add(login, pin, **facts)
        self.wait_until_complete(access_id)
        return access_id

    def refresh(self, access_id: str) -> httpx.Response:
        return self.post(f"{ACCESSES}?refresh=true", {access_id: {}})

    def read_access(self, access_id: str) -> dict[str, Any]:
        return self.read(f"{ACCESSES}/{access_id}")

    def wait_until_complete(self, access_id: str) -> dict[str, Any]:
        return self.wait_until(access_id, lambda access: access["status"] == "VOLLSTAENDIG")

    def wait_until(self, access_id: str, is_reached: Any) -> dict[str, Any]:
        return wait_for(lambda: self.read_access(access_id), is_reached)

    def issue_codes(self, access_id: str) -> list[str]:
        return [message["code"] for message in self.read(f"{ACCESSES}/{access_id}/issues")["messages"]]

    def message_codes(self, access_id: str) -> list[str]:
        return [message["code"] for message in self.read_access(access_id).get("messages", [])]

    def products(self, access_id: str) -> list[dict[str, Any]]:
        return self.read_access(access_id).get("bankprodukte", [])

    def product(self, access_id: str, category: str) -> dict[str, Any]:
        return next(product for product in self.products(access_id) if product["kategorie"] == category)

    def transactions(self, product: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
        return self.read(href(product, "get_kontoumsaetze"), params=query)


def new_customer(tenant: Any, scope: str | None = None) -> BankCustomer:
    username = f"customer-{uuid4().hex[:12]}"
    password = f"password of {username}"
    answer = tenant.http.post(
        f"{tenant.url}/users", json={"username": username, "password": password}, headers=tenant.as_admin
    )
    assert answer.status_code == 201, answer.text
    reference = answer.headers["location"].rpartition("/")[2]
    return BankCustomer(tenant, username, reference, login(tenant, username, password, scope), {password})


def login(tenant: Any, username: str, password: str, scope: str | None = None) -> str:
    form = {"grant_type": "password", "username": username, "password": password} | ({"scope": scope} if scope else {})
    answer = tenant.http.post("/auth/oauth2/token", data=form, auth=tenant.app)
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


def narrow(customer: BankCustomer, scope: str) -> BankCustomer:
    """The same customer with a token of one scope only."""
    password = f"password of {customer.username}"
    token = login(customer.tenant, customer.username, password, scope)
    return BankCustomer(customer.tenant, customer.username, customer.reference, token)


def new_id() -> str:
    return str(uuid4())


def href(thing: dict[str, Any], rel: str) -> str:
    return next(relation["href"] for relation in thing["relations"] if relation["rel"] == rel)


def rels(thing: dict[str, Any]) -> list[str]:
    return [relation["rel"] for relation in thing["relations"]]


def wait_for(look: Any, is_reached: Any, seconds: float = WAIT_TIMEOUT_SECONDS) -> Any:
    """Look until it is so. The limit is generous: it only ends a test that would never end.

    Pauses grow: each look takes processor time that the process waited for needs as well.
    """
    end = time.monotonic() + seconds
    pause = 0.03
    while True:
        found = look()
        if is_reached(found):
            return found
        assert time.monotonic() < end, f"not reached in time: {json.dumps(found, default=str)[:2000]}"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.3)
