"""Account statements: wanted per access, listed and read per product, and gone with what they belong to."""

import base64

from banking import ACCESSES, href, narrow, new_customer, rels
from kontor.domain.scopes import CUSTOMER_MODIFY

LOGIN = "student"
CHECKING = "GIROKONTO"
FILES = 12  # that one fetch brings


def list_statements(customer, access_id):
    return customer.read(href(customer.product(access_id, CHECKING), "get_kontoauszuege"))


def path_of(customer, access_id, statement):
    return f"{href(customer.product(access_id, CHECKING), 'get_kontoauszuege')}/{statement['id']}"


def test_without_the_wish_there_are_no_statements(customer):
    access_id = customer.add_complete(LOGIN)
    assert "kontoauszuege" not in customer.read_access(access_id)
    assert list_statements(customer, access_id) == []


def test_a_fetch_stores_the_newest_statements_and_later_ones_bring_the_rest(customer):
    access_id = customer.add_complete(LOGIN, kontoauszuege=True)
    assert customer.read_access(access_id)["kontoauszuege"] is True
    first = list_statements(customer, access_id)
    states = [statement["status"] for statement in first]
    assert states[:FILES] == ["VORHANDEN"] * FILES
    assert set(states[FILES:]) == {"GELISTET"}
    newest = first[0]
    assert newest["format"] == "PDF"
    assert newest["von"] < newest["bis"] < newest["erstellt"]
    numbers = [(statement["jahr"], statement["nummer"]) for statement in first]
    assert numbers == sorted(set(numbers), reverse=True)
    assert customer.refresh(access_id).status_code == 201
    customer.wait_until_complete(access_id)
    second = list_statements(customer, access_id)
    assert [statement["id"] for statement in second] == [statement["id"] for statement in first]
    assert sum(statement["status"] == "VORHANDEN" for statement in second) == min(2 * FILES, len(first))


def test_the_wish_can_be_added_and_taken_back_and_what_is_stored_stays(customer):
    access_id = customer.add_complete(LOGIN)
    assert customer.post(ACCESSES, {access_id: {"kontoauszuege": True}}).status_code == 201
    assert customer.refresh(access_id).status_code == 201
    customer.wait_until_complete(access_id)
    stored = list_statements(customer, access_id)
    assert stored
    assert customer.post(ACCESSES, {access_id: {"kontoauszuege": False}}).status_code == 201
    assert "kontoauszuege" not in customer.read_access(access_id)
    assert list_statements(customer, access_id) == stored


def test_a_file_is_sent_as_an_attachment_with_a_name_of_our_own(customer):
    access_id = customer.add_complete(LOGIN, kontoauszuege=True)
    statement = list_statements(customer, access_id)[0]
    answer = customer.get(path_of(customer, access_id, statement))
    assert answer.status_code == 200
    assert answer.content.startswith(b"%PDF-")
    assert len(answer.content) == statement["groesse"]
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    name = f"kontoauszug-{statement['jahr']}-{statement['nummer']}.pdf"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'


def test_what_is_only_listed_or_somebody_elses_is_not_found(customer, tenant):
    access_id = customer.add_complete(LOGIN, kontoauszuege=True)
    statements = list_statements(customer, access_id)
    assert customer.get(path_of(customer, access_id, statements[-1])).status_code == 404
    stranger = new_customer(tenant)
    assert stranger.get(path_of(customer, access_id, statements[0])).status_code == 404
    assert stranger.get(href(customer.product(access_id, CHECKING), "get_kontoauszuege")).status_code == 404
    without = narrow(customer, CUSTOMER_MODIFY)
    assert without.get(path_of(customer, access_id, statements[0])).status_code == 403


def test_files_are_sealed_in_the_database_and_go_with_the_access(customer, owner):
    access_id = customer.add_complete(LOGIN, kontoauszuege=True)
    read = customer.get(path_of(customer, access_id, list_statements(customer, access_id)[0])).content
    query = "select content, tenant_id is not null from account_statements where user_id = %s and content is not null"
    rows = owner.execute(query, [customer.reference]).fetchall()
    assert len(rows) >= FILES
    assert all(has_tenant and b"%PDF" not in content and read[20:60] not in content for content, has_tenant in rows)
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    assert owner.execute(query, [customer.reference]).fetchall() == []


def test_the_export_has_the_files_and_erasure_removes_them(customer, owner):
    access_id = customer.add_complete(LOGIN, kontoauszuege=True)
    statement = list_statements(customer, access_id)[0]
    exported = {row["id"]: row for row in customer.read("/customer/v2/export")["account_statements"]}
    content = customer.get(path_of(customer, access_id, statement)).content
    assert base64.b64decode(exported[statement["id"]]["content"]) == content
    listed = [row for row in exported.values() if row["state"] == "LISTED"]
    assert listed
    assert not any("content" in row for row in listed)
    answer = customer.delete(f"/customer/v2?confirm={customer.username}")
    assert answer.status_code == 200
    found = owner.execute("select count(*) from account_statements where user_id = %s", [customer.reference])
    assert found.fetchone() == (0,)


def test_a_depot_offers_no_statements(customer):
    access_id = customer.add_complete("demo1", kontoauszuege=True)
    assert "get_kontoauszuege" not in rels(customer.product(access_id, "DEPOT"))
