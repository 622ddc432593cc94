"""A caller's whole way, by relations alone: client token, user, provider, access, transactions, positions."""

import base64
import re
from dataclasses import dataclass
from typing import Any

import httpx

from banking import wait_for


def follow(thing, rel):
    return next(relation["href"] for relation in thing["relations"] if relation["rel"] == rel)


@dataclass
class Traveller:
    """The application, acting as a user."""

    http: httpx.Client
    headers: dict[str, str]

    def read(self, url: str) -> Any:
        answer = self.http.get(url, headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def encrypt(self, text: str) -> str:
        content = base64.b64encode(text.encode())
        headers = self.headers | {"Content-Type": "application/octet-stream+base64"}
        return self.http.put("/encrypt", content=content, headers=headers).text


def test_journey_from_client_token_to_transactions(bank_server, shared, http):
    create_user(shared, http)
    traveller = log_in(shared, http)
    typed = {"userid": "demo1+journey", "pin": "demo"}
    bank = find_bank(traveller, typed)
    access = add_access(traveller, bank, typed)
    assert count_transactions(traveller, access) > 1000

    # And everything can be taken back.
    me = traveller.read("/customer/v2")
    assert list(me["bankzugaenge"]) == ["my-bank"]
    url = follow(me["bankzugaenge"]["my-bank"], "delete_bankzugang")
    assert http.delete(url, headers=traveller.headers).status_code == 200
    assert http.get(follow(access, "self"), headers=traveller.headers).status_code == 404
    assert "bankzugaenge" not in traveller.read("/customer/v2")


def create_user(shared, http):
    """By the tenant's admin."""
    form = {"grant_type": "client_credentials"}
    admin = http.post("/auth/oauth2/token", data=form, auth=shared.admin).json()
    users = f"/auth/mgmt/v1/tenants/{admin['tenant']}/users"
    bearer = {"Authorization": f"Bearer {admin['access_token']}"}
    made = http.post(users, json={"username": "traveller", "password": "a long way"}, headers=bearer)
    assert made.status_code == 201
    assert http.get(made.headers["location"], headers=bearer).json()["username"] == "traveller"


def log_in(shared, http):
    form = {"grant_type": "password", "username": "traveller", "password": "a long way"}
    user = http.post("/auth/oauth2/token", data=form, auth=shared.app).json()
    return Traveller(http, {"Authorization": f"Bearer {user['access_token']}"})


def find_bank(traveller, typed):
    """The application looks for the bank, shows its logo and asks for the fields of its login form."""
    found = traveller.read("/providers/v2?q=demobank")
    bank = next(provider for provider in found if provider["id"].startswith("00000000"))
    bank = traveller.read(follow(bank, "self"))
    assert traveller.http.get(follow(bank, "logo")).headers["content-type"].startswith("image/svg+xml")
    fields = [field["fieldkey"] for field in bank["authenticationInfo"]["fields"]]
    assert sorted(fields) == sorted(typed)
    return bank


def add_access(traveller, bank, typed):
    """With what the user typed, encrypted. The products are there at once, the transactions follow."""
    me = traveller.read("/customer/v2")
    assert "bankzugaenge" not in me
    credentials = {key: traveller.encrypt(text) for key, text in typed.items()}
    added = traveller.http.post(
        follow(me, "add_bankzugaenge"),
        json={"my-bank": {"providerId": bank["id"], "credentials": credentials}},
        headers=traveller.headers | {"Customer-IP-Address": "93.184.216.34"},
    )
    assert added.status_code == 201, added.text
    access = traveller.read(added.headers["location"])
    assert access["status"] in ("KOPFDATEN", "VOLLSTAENDIG")
    assert access["bankprodukte"]
    url = follow(access, "self")
    access = wait_for(lambda: traveller.read(url), lambda access: access["status"] == "VOLLSTAENDIG")
    assert traveller.read(follow(access, "get_issues"))["messages"] == []
    return access


def count_transactions(traveller, access):
    """By relations only."""
    total = 0
    for listed in access["bankprodukte"]:
        product = traveller.read(follow(listed, "self"))
        assert product["status"] == "VOLLSTAENDIG"
        if product["kategorie"] == "DEPOT":
            positions = traveller.read(follow(product, "get_depotpositionen"))
            assert abs(sum(position["gesamtwert"] for position in positions) - product["saldo"]) < 0.01
        else:
            rows = traveller.read(follow(product, "get_kontoumsaetze"))
            total += len(rows)
            assert all(re.fullmatch(r"\d{4}-\d\d-\d\d 00:00:00", row["buchungsdatum"]) for row in rows)
    return total
