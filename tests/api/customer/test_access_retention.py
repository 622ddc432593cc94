"""How long accesses and their data are kept: without `sync`, by selection, until they are deleted."""

import asyncio

import psycopg
import pytest
from access_rows import count_rows, stored

import shapes
from banking import ACCESSES, href, wait_for

# Not stored permanently


def test_without_sync_credentials_are_gone_after_the_fetch_and_the_data_has_a_timeout(customer, owner):
    access_id = customer.add_complete("leer", sync=False)
    access = customer.read_access(access_id)
    assert access["sync"] is False
    assert shapes.is_timestamp(access["timeout"])
    assert stored(owner, customer, access_id, "credentials, credentials_digest, memory") == (None, None, None)


@pytest.mark.parametrize(("login", "pin"), [("leer", "wrong"), ("test_unreachable", "demo"), ("", "demo")])
def test_without_sync_nothing_stays_after_a_failure_either(customer, owner, login, pin):
    access_id = customer.add(login, pin, sync=False)
    assert "timeout" in customer.read_access(access_id)
    assert stored(owner, customer, access_id, "credentials, credentials_digest, memory") == (None, None, None)


def test_with_sync_credentials_stay_sealed(customer, owner):
    access_id = customer.add_complete("leer+sealed")
    sealed, memory = stored(owner, customer, access_id, "credentials, memory")
    assert sealed is not None
    assert b"leer+sealed" not in sealed
    assert b"consent" not in memory


def test_switching_sync_off_forgets_the_credentials_and_on_keeps_new_ones(customer, owner):
    access_id = customer.add_complete("leer")
    assert customer.post(ACCESSES, {access_id: {"sync": False}}).status_code == 201
    access = customer.read_access(access_id)
    assert access["sync"] is False
    assert "timeout" in access
    assert stored(owner, customer, access_id, "credentials") == (None,)
    customer.add("leer", access_id=access_id, sync=True)
    access = customer.read_access(access_id)
    assert access["sync"] is True
    assert "timeout" not in access


def test_data_is_not_shown_after_its_timeout_and_soon_deleted(customer, owner):
    access_id = customer.add_complete("leer", sync=False)
    product = customer.products(access_id)[0]
    owner.execute("update accesses set expires_at = now() - interval '1 millisecond' where id = %s", [access_id])
    assert customer.read(ACCESSES) == {}
    assert "bankzugaenge" not in customer.read("/customer/v2")
    for url in (f"{ACCESSES}/{access_id}", f"{ACCESSES}/{access_id}/issues", href(product, "self")):
        assert customer.get(url).status_code == 404
    assert customer.get(href(product, "get_kontoumsaetze")).status_code == 404
    wait_for(lambda: count_rows(owner, customer.reference)["accesses"], lambda count: count == 0, seconds=60)


def test_an_access_can_be_added_again_after_its_timeout(customer, owner):
    access_id = customer.add_complete("leer", sync=False)
    owner.execute("update accesses set expires_at = now() - interval '1 millisecond' where id = %s", [access_id])
    assert customer.post(ACCESSES, {access_id: {}}).status_code == 400  # nothing is known of it any more
    assert customer.add("leer", access_id=access_id, sync=False) == access_id
    assert "timeout" in customer.wait_until_complete(access_id)


async def test_housekeeping_removes_data_whose_time_is_over(customer, owner, services):
    gone = customer.add_complete("leer", sync=False)
    kept, synced = customer.add_complete("leer+kept", sync=False), customer.add_complete("leer+synced")
    owner.execute("update accesses set expires_at = now() - interval '1 second' where id = %s", [gone])
    await services.housekeeping.clean()
    assert set(customer.read(ACCESSES)) == {kept, synced}
    assert count_rows(owner, customer.reference)["products"] == 2


async def test_housekeeping_leaves_an_access_that_is_just_being_kept(customer, settings, services):
    """Its user sets `sync` while it is over: who decides last is the user, not a list that was read before."""
    access_id = customer.add_complete("leer", sync=False)
    with psycopg.connect(settings.migration_database_url.reveal()) as connection:
        # It is locked before its time has come: the worker's own housekeeping finds it at no moment.
        connection.execute("update accesses set expires_at = now() + interval '2 seconds' where id = %s", [access_id])
        connection.commit()
        connection.execute("update accesses set expires_at = null, is_synced = true where id = %s", [access_id])
        connection.execute("select pg_sleep(2.1)")
        await asyncio.wait_for(services.housekeeping.clean(), 50)  # it waits for nobody
        connection.commit()
    assert access_id in customer.read(ACCESSES)


# Selected products


def test_selected_products_alone_are_kept(customer):
    access_id = customer.add_complete("test_bank_message")
    everything = {product["id"] for product in customer.products(access_id)}
    chosen = min(everything)
    assert len(everything) > 1
    customer.post(f"{ACCESSES}?refresh=true", {access_id: {"selectedBankProducts": [chosen]}})
    assert [product["id"] for product in customer.products(access_id)] == [chosen]
    again = customer.post(f"{ACCESSES}?refresh=true", {access_id: {"selectedBankProducts": sorted(everything)}})
    assert again.status_code == 201
    assert {product["id"] for product in customer.products(access_id)} == everything
    assert {product["status"] for product in customer.products(access_id)} == {"VOLLSTAENDIG"}


def test_selected_products_hold_from_the_first_fetch_on(customer):
    access_id = customer.add_complete("test_bank_message")
    chosen = customer.products(access_id)[0]["id"]
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    customer.add_complete("test_bank_message", access_id=access_id, selectedBankProducts=[chosen])
    assert [product["id"] for product in customer.products(access_id)] == [chosen]


# Deleting


def test_deleted_access_leaves_no_row_in_any_table(customer, owner):
    access_id, other = customer.add_complete("demo1+deleted"), customer.add_complete("leer")
    assert all(count_rows(owner, customer.reference)[table] for table in ("transactions", "positions", "fetches"))
    answer = customer.delete(f"{ACCESSES}/{access_id}")
    assert (answer.status_code, answer.content) == (200, b"")
    assert customer.get(f"{ACCESSES}/{access_id}").status_code == 404
    assert set(customer.read(ACCESSES)) == {other}
    rows = count_rows(owner, customer.reference)
    assert rows == {"accesses": 1, "products": 1, "transactions": 0, "positions": 0, "push_batches": 0, "fetches": 1}
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 404


def test_deleting_all_leaves_nothing(customer, owner):
    customer.add_complete("leer+1")
    customer.add_complete("leer+2", sync=False)
    customer.add("leer", "wrong")
    assert customer.delete(ACCESSES).status_code == 200
    assert set(count_rows(owner, customer.reference).values()) == {0}
    assert customer.read(ACCESSES) == {}
    assert customer.delete(ACCESSES).status_code == 200


def test_erasing_a_user_leaves_no_row_either(customer, owner):
    customer.add_complete("leer")
    user = f"{customer.tenant.url}/users/{customer.reference}"
    assert customer.http.put(f"{user}/deactivate", headers=customer.tenant.as_admin).status_code == 200
    assert customer.get("/customer/v2").status_code == 403
    assert customer.http.delete(user, headers=customer.tenant.as_admin).status_code == 200
    assert set(count_rows(owner, customer.reference).values()) == {0}
