"""A user's correction teaches: later transactions of the same kind follow it, earlier ones and other users' do not."""

from uuid import UUID

from tenants import create_tenant

SHOP = {"betrag": -14.2, "verwendungszweck": "MIRABELLENHOF OTTO//Wittstock/DE", "buchungstext": "Kartenzahlung"}
SALARY = {"betrag": 2500, "verwendungszweck": "Lohn Gehalt November", "gegenkontoInhaber": "Muster GmbH"}


def item(system_name):
    return {"tags": {"systemName": system_name}}


def teach(account, category="RECREATION_SPORTS", amount=-14.2):
    account.push(SHOP | {"betrag": amount}, SALARY)
    [row] = [row for row in account.list() if row["betrag"] == amount]
    assert account.correct(row, item(category)).status_code == 200
    return row


def test_a_later_transaction_of_the_same_shop_follows_the_correction_and_says_so(account):
    row = teach(account)
    account.push(SHOP | {"betrag": -9.8, "verwendungszweck": "MIRABELLENHOF OTTO WITTST"}, batch="later")
    found = account.tags(explain="true")[-9.8]
    assert found["tagTreeItem"]["systemName"] == "RECREATION_SPORTS"
    [why] = found["details"]["evidence"]
    assert (why["kind"], why["text"]) == ("correction", row["id"])
    assert 0.5 < found["details"]["confidenceLevel"] < 1


def test_transactions_that_were_there_before_and_other_shops_stay_as_they_are(account):
    account.push(SHOP | {"betrag": -3})
    before = account.names()[-3]
    account.push(SHOP, batch="second")
    [row] = [row for row in account.list() if row["betrag"] == -14.2]
    account.correct(row, item("RECREATION_SPORTS"))
    other = {"betrag": -5, "verwendungszweck": "BLUMEN PETERS//Wittstock/DE", "buchungstext": "Kartenzahlung"}
    account.push(other, batch="third")
    names = account.names()
    assert names[-3] == before != "RECREATION_SPORTS"
    assert names[-5] != "RECREATION_SPORTS"


def test_the_latest_correction_counts_and_a_rule_counts_more(account):
    teach(account)
    account.push(SHOP | {"betrag": -2}, batch="second")
    [row] = [row for row in account.list() if row["betrag"] == -2]
    account.correct(row, item("RECREATION_HOBBY"))
    account.push(SHOP | {"betrag": -4}, batch="third")
    assert account.names()[-4] == "RECREATION_HOBBY"
    rule = {"tagTreeItem": {"systemName": "LIVING_OTHER"}, "conditions": {"text": "mirabellenhof"}}
    assert account.customer.post("/customer/v2/ai/tagging-rules/", rule).status_code == 201
    account.push(SHOP | {"betrag": -6}, batch="fourth")
    assert account.names()[-6] == "LIVING_OTHER"


def test_an_own_category_is_learnt_with_its_basis(account):
    body = {"displayName": "Hof", "basis": "RECREATION_HOBBY"}
    assert account.customer.post("/customer/v2/ai/categories/", body).status_code == 201
    [own] = account.customer.read("/customer/v2/ai/categories/")
    teach(account, own["systemName"])
    account.push(SHOP | {"betrag": -4}, batch="later")
    [later] = [row for row in account.list(tag="custom-categories") if row["betrag"] == -4]
    assert later["tags"][0]["tagTreeItem"]["systemName"] == own["systemName"]
    assert account.names()[-4] == "RECREATION_HOBBY"


async def test_a_tenant_can_switch_it_off_and_what_was_learnt_is_decided_anew(services, http, open_account):
    tenant = await create_tenant(services, http)
    account = open_account(tenant)
    teach(account)
    account.push(SHOP | {"betrag": -4}, batch="second")
    assert account.names()[-4] == "RECREATION_SPORTS"
    await services.tenant_administration.change_tenant(tenant.name, learns_from_corrections=False)
    while await services.transaction_tagging.retag_step(UUID(account.customer.reference)):
        pass
    account.push(SHOP | {"betrag": -5}, batch="third")
    names = account.names()
    assert names[-14.2] == "RECREATION_SPORTS", "the correction itself stays"
    assert names[-4] == names[-5] != "RECREATION_SPORTS"
