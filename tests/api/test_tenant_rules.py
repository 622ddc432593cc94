"""A tenant's rules and categories over the API: scope, foreign tenants, and that users get them from the worker."""

import time

import pytest

from banking import new_customer
from kontor.domain.scopes import RULES_MANAGE
from kontor.domain.tenants import ClientKind
from tenants import create_tenant
from timeouts import WAIT_TIMEOUT_SECONDS

CATEGORY = {"displayName": "Vereinsleben", "basis": "RECREATION"}


class Manager:
    """A client that may manage rules of its tenant."""

    def __init__(self, tenant, secret):
        self.http, self.url = tenant.http, tenant.url
        token = tenant.client_token((f"{tenant.name}/rules", secret), RULES_MANAGE)
        self.headers = {"Authorization": f"Bearer {token}"}

    def call(self, method, path, body=None):
        url = path if path.startswith("http") else self.url + path
        return self.http.request(method, url, json=body, headers=self.headers)


async def add_manager(services, tenant):
    _, secret = await services.tenant_administration.create_client(
        tenant.name, "rules", ClientKind.ADMIN, [RULES_MANAGE]
    )
    return Manager(tenant, secret)


@pytest.fixture
async def tenant(bank_server, services, http):
    return await create_tenant(services, http)


@pytest.fixture
async def manager(services, tenant):
    return await add_manager(services, tenant)


def push(customer, access_id, product):
    url = f"/customer/v2/bankzugaenge/{access_id}/{product['id']}/kontoumsaetze"
    row = {"identifier": {"batchId": "b"}, "buchungsdatum": "2026-11-02 00:00:00", "betrag": -12,
           "verwendungszweck": "Jahresbeitrag", "gegenkontoInhaber": "Kegelclub Alle Neune"}  # fmt: skip
    assert customer.post(url, [row]).status_code == 201
    return url


def wait_for(read, expected):
    until = time.monotonic() + WAIT_TIMEOUT_SECONDS
    while (found := read()) != expected and time.monotonic() < until:
        time.sleep(0.3)
    assert found == expected


async def test_users_get_the_tenants_categories_and_rules_from_the_worker(tenant, manager):
    customer = new_customer(tenant)
    access_id = customer.add_complete("leer+tenant-rules")
    url = push(customer, access_id, customer.products(access_id)[0])

    def names(tree):
        [row] = customer.read(url, params={"tag": tree})
        return [tag["tagTreeItem"]["systemName"] for tag in row["tags"]]

    before = names("categories")
    added = manager.call("POST", "/categories", CATEGORY)
    assert added.status_code == 201
    item = manager.call("GET", added.headers["location"]).json()
    assert (item["systemNameParent"], item["displayName"]) == ("RECREATION", "Vereinsleben")
    assert manager.call("GET", "/categories").json() == [item]
    [shown] = customer.read("/customer/v2/ai/categories/")
    assert shown["systemName"] == item["systemName"]
    own_address = f"/customer/v2/ai/categories/{item['systemId']}"
    assert customer.get(own_address).status_code == 200
    assert customer.http.put(own_address, json=CATEGORY, headers=customer.headers).status_code == 404
    assert customer.delete(own_address).status_code == 404
    rule = {"tagTreeItem": {"systemName": item["systemName"]}, "conditions": {"text": "kegelclub"}, "name": "Vereine"}
    location = manager.call("POST", "/tagging-rules", rule).headers["location"]
    assert manager.call("GET", location).json()["conditions"] == {"text": "kegelclub"}
    assert customer.read("/customer/v2/ai/tagging-rules/") == [], "it is the tenant's"
    wait_for(lambda: names("custom-categories"), [item["systemName"]])
    assert names("categories") == ["RECREATION_OTHER"]
    for key in ("systemName", "systemId"):
        assert len(customer.read(url, params={"category": item[key]})) == 1
        assert len(customer.read("/customer/v2/kontoumsaetze", params={"category": item[key]})) == 1
    assert manager.call("PUT", location, rule | {"active": False}).status_code == 200
    wait_for(lambda: (names("custom-categories"), names("categories")), ([], before))
    assert manager.call("PUT", added.headers["location"], CATEGORY | {"displayName": "Klub"}).status_code == 200
    assert customer.get(own_address).json()["displayName"] == "Klub"
    assert manager.call("DELETE", added.headers["location"]).status_code == 200
    assert customer.get(own_address).status_code == 404
    [left] = manager.call("GET", "/tagging-rules").json()
    assert (left["active"], left["tagTreeItem"]["systemName"]) == (False, "RECREATION_OTHER")
    assert manager.call("DELETE", location).status_code == 200
    assert manager.call("GET", "/tagging-rules").json() == []


async def test_a_tenant_is_reached_by_its_own_clients_with_the_scope_alone(tenant, manager, services, http):
    stranger = await add_manager(services, await create_tenant(services, http))
    category = manager.call("POST", "/categories", CATEGORY).headers["location"]
    body = {"tagTreeItem": {"systemName": "TRANSFER_OTHER"}, "counterpartyName": "Meier"}
    rule = manager.call("POST", "/tagging-rules", body).headers["location"]
    for method, address in (
        ("GET", category), ("PUT", category), ("DELETE", category), ("GET", rule), ("PUT", rule), ("DELETE", rule),
        ("GET", f"{http.base_url}{tenant.url}/tagging-rules"), ("POST", f"{http.base_url}{tenant.url}/categories"),
    ):  # fmt: skip
        assert stranger.call(method, address, {}).status_code == 404
        path = address.replace(tenant.url, stranger.url)
        if method != "POST" and not address.endswith("tagging-rules"):
            assert stranger.call(method, path, {}).status_code == 404, "nor under its own tenant"
    assert http.get(tenant.url + "/categories", headers=tenant.as_admin).status_code == 403
    assert http.get(tenant.url + "/categories", headers=tenant.as_user).status_code == 403
    trees = http.get("/tags/v1/tag-trees", headers=new_customer(tenant).headers).json()
    assert 20 in {tree["systemId"] for tree in trees}


async def test_a_tenants_rule_names_no_product_and_no_foreign_category(manager):
    body = {"tagTreeItem": {"systemName": "TRANSFER_OTHER"}}
    product = {"conditions": {"product": "00000000-0000-4000-8000-000000000000"}}
    refused = manager.call("POST", "/tagging-rules", body | product)
    assert refused.status_code == 400
    assert refused.json()["message"].startswith("conditions.product:")
    foreign = {"tagTreeItem": {"systemName": "X_0123456789AB"}, "counterpartyName": "Meier"}
    assert manager.call("POST", "/tagging-rules", foreign).status_code == 400
    assert manager.call("POST", "/tagging-rules", body).status_code == 400
