"""A caller's whole way, by relations alone: client token, user, provider, access, transactions, positions."""

import base64
import re

from banking import wait_for


def follow(thing, rel):
    return next(relation["href"] for relation in thing["relations"] if relation["rel"] == rel)


def test_journey_from_client_token_to_transactions(bank_server, shared, http):
    # The tenant's admin creates a user.
    form = {"grant_type": "client_credentials"}
    admin = http.post("/auth/oauth2/token", data=form, auth=shared.admin).json()
    users = f"/auth/mgmt/v1/tenants/{admin['tenant']}/users"
    bearer = {"Authorization": f"Bearer {admin['access_token']}"}
    made = http.post(users, json={"username": "traveller", "password": "a long way"}, headers=bearer)
    assert made.status_code == 201
    assert http.get(made.headers["location"], headers=bearer).json()["username"] == "traveller"

    # The application acts as that user.
    form = {"grant_type": "password", "username": "traveller", "password": "a long way"}
    user = http.post("/auth/oauth2/token", data=form, auth=shared.app).json()
    bearer = {"Authorization": f"Bearer {user['access_token']}"}

    def read(url):
        answer = http.get(url, headers=bearer)
        assert answer.status_code == 200, answer.text
        return answer.json()

    # It looks for the bank, shows its logo and asks for the fields of its login form.
    bank = next(provider for provider in read("/providers/v2?q=demobank") if provider["id"].startswith("00000000"))
    bank = read(follow(bank, "self"))
    assert http.get(follow(bank, "logo")).headers["content-type"].startswith("image/svg+xml")
    typed = {"userid": "demo1+journey", "pin": "demo"}
    fields = [field["fieldkey"] for field in bank["authenticationInfo"]["fields"]]
    assert sorted(fields) == sorted(typed)

    # It encrypts what the user typed, and adds the access.
    def encrypt(text):
        content = base64.b64encode(text.encode())
        headers = bearer | {"Content-Type": "application/octet-stream+base64"}
        return http.put("/encrypt", content=content, headers=headers).text

    me = read("/customer/v2")
    assert "bankzugaenge" not in me
    body = {"my-bank": {"providerId": bank["id"], "credentials": {key: encrypt(typed[key]) for key in fields}}}
    added = http.post(
        follow(me, "add_bankzugaenge"), json=body, headers=bearer | {"Customer-IP-Address": "93.184.216.34"}
    )
    assert added.status_code == 201, added.text

    # The products are there at once; the transactions follow in the background.
    access = read(added.headers["location"])
    assert access["status"] in ("KOPFDATEN", "VOLLSTAENDIG")
    assert access["bankprodukte"]
    access = wait_for(lambda: read(follow(access, "self")), lambda access: access["status"] == "VOLLSTAENDIG")
    assert read(follow(access, "get_issues"))["messages"] == []

    # From here on: relations only.
    total = 0
    for product in access["bankprodukte"]:
        product = read(follow(product, "self"))
        assert product["status"] == "VOLLSTAENDIG"
        if product["kategorie"] == "DEPOT":
            positions = read(follow(product, "get_depotpositionen"))
            assert abs(sum(position["gesamtwert"] for position in positions) - product["saldo"]) < 0.01
        else:
            rows = read(follow(product, "get_kontoumsaetze"))
            total += len(rows)
            assert all(re.fullmatch(r"\d{4}-\d\d-\d\d 00:00:00", row["buchungsdatum"]) for row in rows)
    assert total > 1000

    # And everything can be taken back.
    me = read("/customer/v2")
    assert list(me["bankzugaenge"]) == ["my-bank"]
    assert http.delete(follow(me["bankzugaenge"]["my-bank"], "delete_bankzugang"), headers=bearer).status_code == 200
    assert http.get(follow(access, "self"), headers=bearer).status_code == 404
    assert "bankzugaenge" not in read("/customer/v2")
