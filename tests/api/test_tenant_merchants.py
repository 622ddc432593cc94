"""What a tenant knows of merchants, over the API: scope, foreign tenants, pages, changes and refusals."""

from uuid import uuid4

import pytest
from test_tenant_rules import add_manager

from kontor.domain.merchants import MerchantState
from kontor.storage import merchants
from tenants import create_tenant

SHOPS = ["kupferkanne", "nordwind atelier", "zirbelglueck"]


@pytest.fixture
async def tenant(services, http):
    return await create_tenant(services, http)


@pytest.fixture
async def manager(services, tenant):
    """Of a tenant that knows three merchants; of the last one the model has named a category."""
    tenant_id = (await services.tenant_administration.find_tenant(tenant.name)).id
    async with services.database.transaction() as connection:
        await merchants.add_open(connection, tenant_id, SHOPS)
        found = await merchants.list_merchants(connection, tenant_id, None, "", 10)
        await merchants.set_state(connection, tenant_id, found[2].id, MerchantState.SUGGESTED, "SHOPPING_OTHER")
    return await add_manager(services, tenant)


def read(manager, path="/merchants"):
    answer = manager.call("GET", path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_merchants_are_listed_in_pages_and_by_status(manager):
    listed = read(manager)
    assert [(shown["merchant"], shown["status"]) for shown in listed] == list(
        zip(SHOPS, ("OPEN", "OPEN", "SUGGESTED"), strict=True)
    )
    known = listed[2]
    assert (known["tagTreeItem"]["systemName"], known["confidenceLevel"]) == ("SHOPPING_OTHER", 0.6)
    assert not {"tagTreeItem", "confidenceLevel", "model", "answeredAt"} & set(listed[0])
    assert read(manager, "/merchants?status=SUGGESTED") == [known]
    assert read(manager, known["relations"][0]["href"]) == known
    first = manager.call("GET", "/merchants?limit=2")
    following = first.links["next"]["url"]
    assert [shown["merchant"] for shown in (*first.json(), *read(manager, following))] == SHOPS


def test_a_category_is_approved_changed_rejected_and_deleted(manager):
    url = read(manager)[2]["relations"][0]["href"]
    assert manager.call("PUT", url, {"status": "APPROVED"}).status_code == 200
    shown = read(manager, url)
    assert (shown["status"], shown["tagTreeItem"]["systemName"], shown["confidenceLevel"]) == (
        "APPROVED", "SHOPPING_OTHER", 1,
    )  # fmt: skip
    change = {"status": "APPROVED", "tagTreeItem": {"systemName": "RECREATION_HOBBY"}}
    assert manager.call("PUT", url, change).status_code == 200
    assert read(manager, url)["tagTreeItem"]["systemName"] == "RECREATION_HOBBY"
    assert manager.call("PUT", url, {"status": "REJECTED"}).status_code == 200
    shown = read(manager, url)
    assert (shown["status"], "tagTreeItem" in shown) == ("REJECTED", False)
    assert manager.call("DELETE", url).status_code == 200
    assert manager.call("GET", url).status_code == 404
    assert len(read(manager)) == 2


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"status": "APPROVED"}, "tagTreeItem"),  # no category is known
        ({"status": "OPEN"}, "status"),
        ({}, "status"),
        ({"status": "APPROVED", "tagTreeItem": {"systemName": "INCOME_SALARY"}}, "tagTreeItem"),
        ({"status": "APPROVED", "tagTreeItem": {"systemName": "LIVING"}}, "tagTreeItem"),
        ({"status": "REJECTED", "tagTreeItem": {"systemName": "TAXES"}}, "tagTreeItem"),
    ],
)
def test_a_change_that_cannot_be_is_refused_by_the_name_of_its_field(manager, body, named):
    answer = manager.call("PUT", read(manager)[0]["relations"][0]["href"], body)
    assert answer.status_code == 400
    assert named in answer.json()["message"]


async def test_the_scope_is_needed_and_no_other_tenant_is_reached(manager, tenant, services, http):
    assert http.get(f"{tenant.url}/merchants", headers=tenant.as_admin).status_code == 403
    url = read(manager)[0]["relations"][0]["href"]
    stranger = await add_manager(services, await create_tenant(services, http))
    assert read(stranger) == []
    own = url.replace(tenant.url, stranger.url)
    for address in (url, own, f"{stranger.url}/merchants/{uuid4()}"):
        path = address.removeprefix(stranger.url)
        assert stranger.call("GET", path).status_code == 404
        assert stranger.call("PUT", path, {"status": "REJECTED"}).status_code == 404
        assert stranger.call("DELETE", path).status_code == 404
    assert manager.call("GET", "/merchants?status=NOTHING").status_code == 400
    assert manager.call("GET", "/merchants?wrong=1").status_code == 400
