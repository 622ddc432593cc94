"""Tag views of transactions: each tree, classifications, evidence, pages, and own transfers."""

import jsonschema
import pytest
from pushed_rows import CAR_INSURANCE, GROCERIES, RENT, SALARY

from banking import href, new_customer, rels


def test_each_view_shows_the_tag_of_its_tree(account):
    account.push(RENT, SALARY, GROCERIES, CAR_INSURANCE)
    categories = {-900: "HOUSING_RENT", 2500: "INCOME_SALARY", -23.45: "LIVING_GROCERIES", -48.1: "INSURANCE_VEHICLE"}
    assert account.names("true") == account.names("categories") == categories
    insurances = account.names("insurances")
    assert insurances == account.names("insurance-types")
    assert insurances[-48.1] == "VEHICLE_LIABILITY"
    assert insurances[-900] == "UNRELATED_OTHER"
    partners = account.names("business-partners")
    assert (partners[-23.45], partners[-48.1], partners[-900]) == ("REWE", "HUK_COBURG", "UNKNOWN")
    assert account.names("freelancer-categories")[2500] == "UNRELATED"


def test_a_tag_instance_has_the_interfaces_shape_and_followable_relations(account):
    account.push(GROCERIES)
    row = account.list(tag="categories")[0]
    found = row["tags"][0]
    assert set(found) == {"id", "entity", "relations", "tagTreeItem", "details"}
    assert found["entity"] == {"displayName": "Kontoumsatz", "entityClass": "TRANSACTION", "id": row["id"]}
    assert rels(found) == ["tag_trees", "tag_tree", "tag_tree_items", "tag_tree_item"]
    item = account.customer.read(href(found, "tag_tree_item"))
    assert item["systemName"] == found["tagTreeItem"]["systemName"]
    assert found["tagTreeItem"]["systemNameParent"] == "LIVING"
    assert 0 <= found["details"]["confidenceLevel"] <= 1


def test_transactions_without_a_view_carry_no_tags(account):
    account.push(GROCERIES)
    assert all("tags" not in row and "classifications" not in row for row in account.list() + account.list(tag="false"))


def test_categorize_shows_classifications(account):
    account.push(GROCERIES)
    row = account.list(categorize="true")[0]
    [shown] = row["classifications"]
    confidence = shown.pop("confidenceLevel")
    assert shown == {"category": "LIVING_GROCERIES", "parentCategory": "LIVING", "displayName": "Lebensmittel"}
    assert 0 < confidence <= 1
    both = account.list(categorize="true", tag="insurances")[0]
    assert both["classifications"][0]["category"] == "LIVING_GROCERIES"
    assert both["tags"][0]["tagTreeItem"]["systemName"] == "UNRELATED_OTHER"


def test_what_a_view_shows_is_what_the_document_says(account):
    account.push(RENT, SALARY, GROCERIES, CAR_INSURANCE)
    schemas = account.customer.http.get("/openapi.json").json()["components"]["schemas"]
    named = {"tags": "TagInstance", "classifications": "Classification"}
    for field, name in named.items():
        assert schemas["Transaction"]["properties"][field]["items"] == {"$ref": f"#/components/schemas/{name}"}
    closed = {name: schema | {"additionalProperties": False} for name, schema in schemas.items()}
    page = {"type": "array", "items": {"$ref": "#/components/schemas/Transaction"}, "components": {"schemas": closed}}
    for tree in ("categories", "insurances", "business-partners", "freelancer-categories"):
        rows = account.list(tag=tree, categorize="true", explain="true")
        jsonschema.Draft202012Validator(page).validate(rows)
        assert all(row["tags"] and row["classifications"] for row in rows)


def test_explain_says_what_decided(account):
    account.push(GROCERIES)
    evidence = account.tags(explain="true")[-23.45]["details"]["evidence"]
    assert any(reason["decisive"] and reason["kind"] == "partner" for reason in evidence)


def test_tag_views_are_paged_like_the_plain_list(account):
    account.push(*[GROCERIES | {"betrag": -1 - number} for number in range(5)])
    first = account.customer.get(account.url, params={"tag": "true", "limit": 2})
    rest = account.customer.get(first.links["next"]["url"])
    assert [row["betrag"] for row in first.json() + rest.json()] == [-5, -4, -3, -2]
    assert all(row["tags"] for row in rest.json())


@pytest.mark.parametrize("query", [{"tag": "colours"}, {"categorize": "perhaps"}, {"explain": "2"}])
def test_unknown_views_are_400(account, query):
    assert account.customer.get(account.url, params=query).status_code == 400


def test_a_fetched_access_is_tagged_and_its_relations_lead_to_the_views(demo1):
    reader, access_id = demo1
    product = reader.product(access_id, "GIROKONTO")
    for rel in ("get_kontoumsaetze_tagged", "get_kontoumsaetze_insurances", "get_kontoumsaetze_business_partners"):
        rows = reader.read(href(product, rel))
        assert rows
        assert all(len(row["tags"]) == 1 for row in rows)


def test_transfers_between_own_accounts_follow_which_accounts_are_known(bank_server, shared):
    """The counterpart is told apart by its IBAN: known after a second access is added, unknown when it is gone."""
    customer = new_customer(shared)
    first = customer.add_complete("leer+one")
    product = customer.products(first)[0]
    second_iban = customer_iban(shared, "leer+two")
    url = f"/customer/v2/bankzugaenge/{first}/{product['id']}/kontoumsaetze"
    row = {"betrag": -50, "buchungsdatum": "2026-11-02", "identifier": {"batchId": "own"}, "verwendungszweck": "Danke",
           "gegenkontoInhaber": "Konto zwei", "gegenkontoIban": second_iban}  # fmt: skip
    assert customer.post(url, [row]).status_code == 201
    assert category(customer, url) != "TRANSFER_OWN"
    second = customer.add_complete("leer+two")
    assert category(customer, url) == "TRANSFER_OWN"
    customer.delete(f"/customer/v2/bankzugaenge/{second}")
    assert category(customer, url) != "TRANSFER_OWN"


def customer_iban(tenant, login):
    other = new_customer(tenant)
    return other.products(other.add_complete(login))[0]["iban"]


def category(customer, url):
    return customer.read(url, params={"tag": "true"})[0]["tags"][0]["tagTreeItem"]["systemName"]
