"""Advisers read analyses of customers who allow it, as long as they do; each read is told to the customer."""

import asyncio
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from advising import create_office, make_adviser
from banking import BankCustomer, new_customer, rels
from kontor.domain.clocks import BERLIN
from kontor.domain.disclosures import MAX_DISCLOSURES
from kontor.domain.scopes import ADVISER_READ, CUSTOMER_CREDIT, USER_SCOPES

DISCLOSURES = "/customer/v2/freigaben"
CUSTOMERS = "/adviser/v2/kunden"
PERMISSIONS = "/customer/v2/berechtigungen"
EVERYTHING = ["sales-triggers", "affordability", "credit-check", "contracts"]
TODAY = datetime.now(BERLIN).date()
SOON = (TODAY + timedelta(days=30)).isoformat()


@pytest.fixture(scope="module")
async def office(standing_services, shared):
    return await create_office(standing_services, shared)


@pytest.fixture(scope="module")
def adviser(shared, office):
    return make_adviser(shared, office)


def allow(customer, umfang=("contracts",), until=SOON, **facts):
    answer = customer.post(DISCLOSURES, {"umfang": list(umfang), "gueltigBis": until} | facts)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def path_of(customer, umfang="contracts"):
    return f"{CUSTOMERS}/{customer.reference}/{umfang}/"


def list_customers(adviser):
    found, address = [], f"{CUSTOMERS}?limit=2"
    while address:
        answer = adviser.get(address)
        assert answer.status_code == 200, answer.text
        found += answer.json()
        address = answer.links.get("next", {}).get("url")
    return found


# Customers


def test_a_disclosure_is_shown_with_its_text_and_withdrawn(customer, adviser):
    assert "get_freigaben" in rels(customer.read("/customer/v2"))
    address = allow(customer, ["contracts", "sales-triggers", "contracts"], berater=adviser.reference)
    shown = customer.read(address)
    assert shown == {
        "id": address.rpartition("/")[2],
        "umfang": ["sales-triggers", "contracts"],
        "gueltigBis": SOON,
        "berater": adviser.reference,
        "text": shown["text"],
        "relations": [
            {"rel": "self", "href": address},
            {"rel": "delete_freigabe", "href": address},
            {"rel": "get_zugriffe", "href": f"{address}/zugriffe"},
        ],
    }
    assert all(word in shown["text"] for word in ("Verträge", "Anlässe", customer.tenant.name, "widerrufen"))
    assert customer.read(DISCLOSURES) == [shown]
    assert customer.delete(address).status_code == 200
    assert customer.read(DISCLOSURES) == []
    assert customer.get(address).status_code == 404
    assert customer.delete(address).status_code == 404


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"umfang": []}, "umfang"),
        ({"umfang": ["transactions"]}, "umfang"),
        ({"gueltigBis": "soon"}, "gueltigBis"),
        ({"gueltigBis": (TODAY - timedelta(days=2)).isoformat()}, "gueltigBis"),
        ({"gueltigBis": (TODAY + timedelta(days=370)).isoformat()}, "12 months"),
        ({"berater": str(uuid4())}, "berater"),
        ({"berater": "x"}, "berater"),
    ],
)
def test_a_wrong_disclosure_is_refused_and_the_field_named(customer, change, word):
    answer = customer.post(DISCLOSURES, {"umfang": ["contracts"], "gueltigBis": SOON} | change)
    assert answer.status_code == 400
    assert word in answer.json()["message"]


def test_an_adviser_of_another_tenant_and_the_customer_itself_cannot_be_named(customer, neighbour):
    for reference in (neighbour.user_reference, customer.reference):
        answer = customer.post(DISCLOSURES, {"umfang": ["contracts"], "gueltigBis": SOON, "berater": reference})
        assert (answer.status_code, "berater" in answer.json()["message"]) == (400, True)


def test_twelve_months_are_allowed_and_an_unknown_parameter_is_not(customer):
    allow(customer, until=(TODAY + timedelta(days=364)).isoformat())
    for address in (DISCLOSURES, f"{DISCLOSURES}/{uuid4()}"):
        answer = customer.get(address, params={"limit": 1})
        assert (answer.status_code, "limit" in answer.json()["message"]) == (400, True)


def test_the_disclosure_of_another_user_is_not_found(customer, adviser, shared):
    address, other = allow(customer), new_customer(shared)
    assert other.get(address).status_code == 404
    assert other.delete(address).status_code == 404
    assert other.get(f"{address}/zugriffe").status_code == 404
    assert other.read(DISCLOSURES) == []


def test_a_user_has_at_most_as_many_disclosures_as_the_limit_also_when_several_are_made_at_once(customer, owner):
    owner.execute(
        "insert into disclosures (user_id, id, tenant_id, scopes, valid_until, shown_text)"
        " select u.id, gen_random_uuid(), u.tenant_id, array['contracts'], current_date, ''"
        " from users u, generate_series(1, %s) where u.id = %s",
        [MAX_DISCLOSURES - 1, customer.reference],
    )

    async def ask():
        body = {"umfang": ["contracts"], "gueltigBis": SOON}
        return await asyncio.gather(*(asyncio.to_thread(customer.post, DISCLOSURES, body) for _ in range(4)))

    answers = asyncio.run(ask())
    assert sorted(answer.status_code for answer in answers) == [201, 400, 400, 400]
    refused = next(answer for answer in answers if answer.status_code == 400)
    assert str(MAX_DISCLOSURES) in refused.json()["message"]


# Advisers


@pytest.mark.parametrize("umfang", EVERYTHING)
def test_the_adviser_reads_what_the_customer_reads_byte_for_byte(demo1, adviser, umfang):
    customer, _ = demo1
    assert adviser.get(path_of(customer, umfang)).status_code == 404
    address = allow(customer, [umfang], berater=adviser.reference)
    for query in ({}, {"explain": "true"}):
        own = customer.get(f"/customer/v2/ai/{umfang}/", params=query)
        read = adviser.get(path_of(customer, umfang), params=query)
        assert (read.status_code, read.content) == (200, own.content)
        assert len(read.content) > 2
    for other in set(EVERYTHING) - {umfang}:
        assert adviser.get(path_of(customer, other)).status_code == 404
    assert adviser.get(path_of(customer, umfang), params={"user": customer.reference}).status_code == 400
    reads = customer.read(f"{address}/zugriffe")
    assert [(read["umfang"], read["berater"]) for read in reads] == [(umfang, adviser.reference)] * 2
    assert customer.delete(address).status_code == 200
    assert adviser.get(path_of(customer, umfang)).status_code == 404, "withdrawn at once"
    assert customer.read(f"{address}/zugriffe") == reads


def test_the_read_of_an_adviser_is_a_use_that_the_customer_sees_with_the_permission(customer, adviser, owner, office):
    customer.add_complete("leer")
    owner.execute("update permissions set used_at = null, callers = '{}' where user_id = %s", [customer.reference])
    assert adviser.get(path_of(customer)).status_code == 404
    assert customer.read(PERMISSIONS)[0]["aufrufer"] == []
    allow(customer)
    assert adviser.get(path_of(customer)).status_code == 200
    [permission] = customer.read(PERMISSIONS)
    assert (permission["aufrufer"], "letzteNutzung" in permission) == ([office[0]], True)


def test_a_disclosure_for_one_adviser_is_not_for_another_and_one_without_is_for_all(customer, adviser, shared, office):
    colleague = make_adviser(shared, office)
    address = allow(customer, berater=adviser.reference)
    assert adviser.get(path_of(customer)).status_code == 200
    assert colleague.get(path_of(customer)).status_code == 404
    assert customer.delete(address).status_code == 200
    allow(customer)
    for reader in (adviser, colleague):
        assert reader.get(path_of(customer)).status_code == 200


def test_a_disclosure_ends_with_its_last_day_and_with_the_customers_account(customer, adviser, owner, shared):
    allow(customer, until=TODAY.isoformat())
    assert adviser.get(path_of(customer)).status_code == 200
    owner.execute("update disclosures set valid_until = current_date - 2 where user_id = %s", [customer.reference])
    assert adviser.get(path_of(customer)).status_code == 404
    assert len(customer.read(DISCLOSURES)) == 1
    allow(customer)
    assert adviser.get(path_of(customer)).status_code == 200
    owner.execute("update users set is_active = false where id = %s", [customer.reference])
    assert adviser.get(path_of(customer)).status_code == 404


def test_the_list_of_customers_has_what_holds_for_the_adviser(customer, adviser, shared, office):
    colleague, other = make_adviser(shared, office), new_customer(shared)
    allow(customer, EVERYTHING, berater=colleague.reference)
    allow(other, ["contracts"], berater=colleague.reference)
    withdrawn = allow(other, ["sales-triggers"], berater=colleague.reference)
    assert other.delete(withdrawn).status_code == 200
    mine = {entry["userReference"]: entry for entry in list_customers(colleague)}
    assert {customer.reference, other.reference} <= set(mine)
    entry = mine[customer.reference]
    assert {name: entry[name] for name in ("userReference", "umfang", "gueltigBis")} == {
        "userReference": customer.reference, "umfang": EVERYTHING, "gueltigBis": SOON,
    }  # fmt: skip
    assert rels(entry) == ["self", "get_sales_triggers", "get_affordability", "get_credit_check", "get_contracts"]
    assert colleague.get(entry["relations"][-1]["href"]).status_code == 200
    assert mine[other.reference]["umfang"] == ["contracts"]
    others = {entry["userReference"] for entry in list_customers(adviser)}
    assert not {customer.reference, other.reference} & others


def test_the_credit_analyses_need_the_scope_for_credit_too(customer, shared, office):
    reader = make_adviser(shared, office, ADVISER_READ)
    address = allow(customer, EVERYTHING, berater=reader.reference)
    mine = next(entry for entry in list_customers(reader) if entry["userReference"] == customer.reference)
    assert rels(mine) == ["self", "get_sales_triggers", "get_contracts"]
    for umfang in ("affordability", "credit-check"):
        answer = reader.get(path_of(customer, umfang))
        assert answer.status_code == 403
        assert f'scope="{CUSTOMER_CREDIT}"' in answer.headers["www-authenticate"]
    assert reader.get(path_of(customer)).status_code == 200
    assert [read["umfang"] for read in customer.read(f"{address}/zugriffe")] == ["contracts"]


def test_no_role_has_the_scope_by_default_and_a_customers_token_is_refused(customer):
    assert ADVISER_READ not in USER_SCOPES
    for path in (CUSTOMERS, path_of(customer)):
        answer = customer.get(path)
        assert answer.status_code == 403
        assert f'scope="{ADVISER_READ}"' in answer.headers["www-authenticate"]


def test_an_adviser_reads_nobody_of_another_tenant_and_not_itself(adviser, neighbour):
    allow(BankCustomer(neighbour, neighbour.username, neighbour.user_reference, neighbour.user_token()))
    allow_self = adviser.http.post(
        DISCLOSURES, json={"umfang": ["contracts"], "gueltigBis": SOON}, headers=adviser.headers
    )
    assert allow_self.status_code == 403, "this token cannot modify"
    for reference in (neighbour.user_reference, adviser.reference, str(uuid4()), "x"):
        assert adviser.get(f"{CUSTOMERS}/{reference}/contracts/").status_code == 404
    assert adviser.get(f"{CUSTOMERS}/{adviser.reference}/cashflow/").status_code == 404


def test_every_change_and_read_is_in_the_audit_trail_with_the_text_and_no_user_ids(customer, adviser, owner):
    address = allow(customer, berater=adviser.reference)
    text = customer.read(address)["text"]
    assert adviser.get(path_of(customer)).status_code == 200
    customer.delete(address)
    assert adviser.get(path_of(customer)).status_code == 404
    found = owner.execute(
        "select action, actor, object from audit_entries where object like %s order by serial",
        [f"%disclosure {address.rpartition('/')[2]}%"],
    ).fetchall()
    assert [row[0] for row in found] == ["disclosure.add", "disclosure.read", "disclosure.withdraw"]
    assert found[0][2].endswith(f": {text}")
    assert found[2][2].endswith(f": Ich widerrufe mit sofortiger Wirkung: {text}")
    for reference in (customer.reference, adviser.reference):
        assert reference not in str(found)
