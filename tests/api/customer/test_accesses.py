"""Adding, refreshing and deleting accesses, over HTTP with a worker at work."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from cryptography.hazmat.primitives import hashes

import shapes
from banking import ACCESSES, DEMO_BANK, encrypt, new_id, wait_for

# Adding


def test_added_access_has_products_and_its_location_is_its_address(customer, server):
    access_id = new_id()
    answer = customer.post(ACCESSES, {access_id: customer.access("student")})
    assert (answer.status_code, answer.content) == (201, b"")
    assert answer.headers["location"] == f"{server}{ACCESSES}/{access_id}"
    access = customer.read(answer.headers["location"])
    assert access["status"] in ("KOPFDATEN", "VOLLSTAENDIG")
    assert access["bankprodukte"]


def test_several_accesses_in_one_call_and_their_location_is_the_collection(customer, server):
    body = {
        "one": customer.access("leer+one"),
        "two": customer.access("leer+two"),
        "bad": customer.access("leer", "no"),
    }
    answer = customer.post(ACCESSES, body)
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{server}{ACCESSES}"
    assert set(customer.read(ACCESSES)) == {"one", "two", "bad"}
    assert [len(customer.products(access_id)) for access_id in ("one", "two", "bad")] == [1, 1, 0]
    assert customer.message_codes("bad") == ["BA1011"]


def test_several_accesses_are_stored_all_or_none(customer):
    body = {"good": customer.access("leer"), "bad": customer.access("leer") | {"providerId": str(uuid4())}}
    assert customer.post(ACCESSES, body).status_code == 400
    assert customer.read(ACCESSES) == {}


def test_credentials_under_sha1_are_understood_too(customer):
    body = {key: encrypt(customer.tenant, text, hashes.SHA1) for key, text in (("userid", "leer"), ("pin", "demo"))}
    answer = customer.post(ACCESSES, {"sha1": {"providerId": DEMO_BANK, "credentials": body}})
    assert answer.status_code == 201
    assert len(customer.products("sha1")) == 1


def test_pin_may_be_the_logins_own_name_without_its_suffix(customer):
    assert customer.products(customer.add("leer+somebody", "leer"))


@contextmanager
def frozen(settings, table):
    """Nobody writes to the table for the time of the block; everybody may read it."""
    with psycopg.connect(settings.migration_database_url.reveal()) as connection:
        connection.execute(f"lock table {table} in share mode")
        yield


def test_status_goes_from_started_over_headers_to_complete_while_the_fetch_runs(customer, settings):
    access_id = new_id()

    def fits(shown):
        return shapes.fits(shapes.ACCESS)(shapes.parse_raw(customer.get(f"{ACCESSES}/{access_id}").text)) and shown

    with ThreadPoolExecutor(1) as pool, frozen(settings, "transactions"):
        with frozen(settings, "credential_leases"):
            adding = pool.submit(customer.post, ACCESSES, {access_id: customer.access("student+states")})
            wait_for(lambda: customer.read(ACCESSES), lambda accesses: access_id in accesses)
            started = customer.read_access(access_id)
            assert fits(started)["status"] == "GESTARTET"
            assert "bankprodukte" not in started
        assert adding.result().status_code == 201
        known = customer.read_access(access_id)
        assert fits(known)["status"] == "KOPFDATEN"
        assert {product["status"] for product in known["bankprodukte"]} == {"KOPFDATEN"}
        assert customer.transactions(known["bankprodukte"][0]) == []
    complete = customer.wait_until_complete(access_id)
    assert {product["status"] for product in complete["bankprodukte"]} == {"VOLLSTAENDIG"}
    assert customer.transactions(complete["bankprodukte"][0])


def test_access_of_an_unreachable_bank_stays_started(customer):
    access_id = customer.add("test_unreachable")
    access = customer.read_access(access_id)
    assert access["status"] == "GESTARTET"
    assert "bankprodukte" not in access


# The same id again


def count_fetches(owner, customer, access_id):
    return owner.execute(
        "select count(*) from fetches where user_id = %s and access_id = %s", [customer.reference, access_id]
    ).fetchone()[0]


def test_same_id_with_the_same_credentials_changes_nothing(customer, owner):
    access_id = customer.add_complete("leer")
    before = customer.get(f"{ACCESSES}/{access_id}").text
    assert customer.post(ACCESSES, {access_id: customer.access("leer")}).status_code == 201
    assert customer.get(f"{ACCESSES}/{access_id}").text == before
    assert count_fetches(owner, customer, access_id) == 1


def test_same_id_with_other_credentials_tries_them_at_once(customer, owner):
    access_id = customer.add_complete("leer")
    customer.add("leer", "wrong", access_id=access_id)
    assert customer.message_codes(access_id) == ["BA1011"]
    customer.add("leer", "leer", access_id=access_id)
    assert customer.message_codes(access_id) == []
    assert count_fetches(owner, customer, access_id) == 3


def test_other_credentials_are_answered_for_while_only_header_data_is_there(customer, owner):
    access_id = customer.add_complete("leer")
    owner.execute(
        "update accesses set status = 'HEADERS' where user_id = %s and id = %s", [customer.reference, access_id]
    )
    customer.add("leer", "wrong", access_id=access_id)
    assert customer.message_codes(access_id) == ["BA1011"]


def test_same_id_at_another_provider_is_400(customer):
    access_id = customer.add_complete("leer")
    other = customer.read("/providers/v2?blz=37050198")[0]["id"]
    answer = customer.post(ACCESSES, {access_id: customer.access("leer") | {"providerId": other}})
    assert answer.status_code == 400
    assert "providerId" in answer.json()["message"]
    assert customer.read_access(access_id)["providerId"] == DEMO_BANK


def test_refresh_with_an_empty_object_uses_the_stored_credentials(customer, owner):
    access_id = customer.add_complete("student+refresh")
    before = {product["id"]: customer.transactions(product) for product in customer.products(access_id)}
    assert customer.refresh(access_id).status_code == 201
    assert count_fetches(owner, customer, access_id) == 2
    after = {product["id"]: customer.transactions(product) for product in customer.products(access_id)}
    assert after == before
    assert customer.issue_codes(access_id) == []


def test_empty_object_without_refresh_changes_nothing(customer, owner):
    access_id = customer.add_complete("leer")
    assert customer.post(ACCESSES, {access_id: {}}).status_code == 201
    assert count_fetches(owner, customer, access_id) == 1


def test_refresh_of_an_access_that_does_not_exist_is_400(customer):
    assert customer.refresh("unknown").status_code == 400


@pytest.mark.parametrize("value", ["yes", "2", ""])
def test_refresh_must_be_a_boolean(customer, value):
    assert customer.post(f"{ACCESSES}?refresh={value}", {"a": {}}).status_code == 400
