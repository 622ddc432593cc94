"""A user erases itself, with everything: nothing readable is left, and the token is dead."""

import pytest

from banking import narrow, new_customer
from kontor.domain.scopes import CUSTOMER_READ
from kontor.storage.export_omissions import ELSEWHERE
from kontor.storage.export_sections import SECTIONS

CUSTOMER = "/customer/v2"


@pytest.fixture
def leaver(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete("test_products+leaver")
    return customer


def erase(customer, **query):
    return customer.http.delete(CUSTOMER, headers=customer.headers, params=query)


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ({}, "confirm: is required: repeat the username"),
        ({"confirm": ""}, "confirm: must be the user's own username, exactly"),
        ({"confirm": "somebody"}, "confirm: must be the user's own username, exactly"),
    ],
)
def test_without_the_exact_name_nothing_happens(demo1, query, complaint):
    customer, access_id = demo1
    answer = erase(customer, **query)
    assert answer.status_code == 400
    assert complaint in answer.text
    assert customer.read_access(access_id)["status"] == "VOLLSTAENDIG"


def test_a_token_that_may_only_read_erases_nobody(demo1):
    customer, access_id = demo1
    assert erase(narrow(customer, CUSTOMER_READ), confirm=customer.username).status_code == 403
    assert customer.read_access(access_id)


def test_nothing_is_left_and_the_token_is_dead_at_once(leaver, shared, owner):
    row = owner.execute("select pseudonym::text from users where id = %s", [leaver.reference]).fetchone()
    assert row is not None
    leaver.read("/customer/v2/ai/contracts")  # an answer that is kept
    answer = erase(leaver, confirm=leaver.username)
    assert (answer.status_code, answer.content) == (200, b"")
    assert leaver.get(CUSTOMER).status_code in (401, 403)
    form = {"grant_type": "password", "username": leaver.username, "password": f"password of {leaver.username}"}
    assert shared.http.post("/auth/oauth2/token", data=form, auth=shared.app).status_code == 401
    assert owner.execute("select 1 from users where id = %s", [leaver.reference]).fetchone() is None
    for table in {section.table for section in SECTIONS} | {"transactions", *ELSEWHERE}:
        found = owner.execute(f"select count(*) from {table} where user_id = %s", [leaver.reference]).fetchone()
        assert found == (0,), table
    trail = owner.execute(
        "select action, actor || object from audit_entries where object like %s", [f"%{row[0]}%"]
    ).fetchall()
    assert "user.erase" in {action for action, _ in trail}
    assert not [text for _, text in trail if leaver.reference in text or leaver.username in text]


def test_a_running_fetch_does_not_bring_the_user_back(bank_server, shared, owner):
    customer = new_customer(shared)
    customer.add("test_products+running")
    assert erase(customer, confirm=customer.username).status_code == 200
    for table in ("accesses", "products", "transactions", "fetches"):
        found = owner.execute(f"select count(*) from {table} where user_id = %s", [customer.reference]).fetchone()
        assert found == (0,), table


def test_the_name_is_free_again(leaver, shared):
    assert erase(leaver, confirm=leaver.username).status_code == 200
    body = {"username": leaver.username, "password": "another one"}
    assert shared.http.post(f"{shared.url}/users", json=body, headers=shared.as_admin).status_code == 201
