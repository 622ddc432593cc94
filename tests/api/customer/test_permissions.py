"""Berechtigungen: who may use which accounts for what, how it is withdrawn, and the receipt that stays."""

import asyncio
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from access_rows import count_rows

from banking import ACCESSES, DEMO_BANK, new_customer, rels, wait_for
from kontor.domain.clocks import BERLIN

PERMISSIONS = "/customer/v2/berechtigungen"
TODAY = datetime.now(BERLIN).date()
SOON = (TODAY + timedelta(days=30)).isoformat()
RECEIPT = ("id", "widerrufenAm", "bankInformiert", "geloescht", "pruefsumme")


def only(customer):
    [permission] = customer.read(PERMISSIONS)
    return permission


def address_of(permission):
    return f"{PERMISSIONS}/{permission['id']}"


def withdraw(customer, permission):
    answer = customer.delete(address_of(permission))
    assert answer.status_code == 200, answer.text
    return answer.json()


def sum_up(receipt):
    """As the guide describes it, by no code of ours."""
    given = {name: receipt[name] for name in ("id", "widerrufenAm", "bankInformiert", "geloescht")}
    return hashlib.sha256(json.dumps(given, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_an_access_is_listed_with_purpose_accounts_times_and_the_client_that_uses_it(customer):
    assert customer.read(PERMISSIONS) == []
    access_id = customer.add_complete("demo1", zweck="Haushaltsbuch", nutzungBis=SOON)
    permission = only(customer)
    address = permission["relations"][0]["href"]
    assert address.endswith(address_of(permission))
    assert permission == {
        "id": permission["id"],
        "zugangId": access_id,
        "providerId": DEMO_BANK,
        "weg": "DEMO",
        "zweck": "Haushaltsbuch",
        "produkte": [product["id"] for product in customer.products(access_id)],
        "seit": TODAY.isoformat(),
        "bis": SOON,
        "letzteNutzung": permission["letzteNutzung"],
        "aufrufer": [customer.tenant.app[0].partition("/")[2]],
        "status": "AKTIV",
        "relations": [
            {"rel": "self", "href": address},
            {"rel": "delete_berechtigung", "href": address},
            {"rel": "get_bankzugang", "href": address.replace(address_of(permission), f"{ACCESSES}/{access_id}")},
        ],
    }
    assert customer.read(address) == permission
    assert "get_berechtigungen" in rels(customer.read("/customer/v2"))


def test_purpose_and_last_day_are_optional_and_can_be_changed_later(customer):
    access_id = customer.add_complete("leer")
    shown = only(customer)
    assert "zweck" not in shown
    assert shown["bis"] > SOON, "the bank's consent lasts 180 days"
    assert customer.post(ACCESSES, {access_id: {"zweck": "Kredit\x00antrag"}}).status_code == 201
    assert customer.post(ACCESSES, {access_id: {"nutzungBis": SOON}}).status_code == 201
    assert (only(customer)["zweck"], only(customer)["bis"]) == ("Kreditantrag", SOON)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"zweck": "x" * 201}, "zweck"),
        ({"zweck": ""}, "zweck"),
        ({"zweck": " \t\u00a0"}, ".zweck: expected a text in printable characters"),
        ({"zweck": "\x00"}, ".zweck: expected a text in printable characters"),
        ({"zweck": 7}, "zweck"),
        ({"nutzungBis": "soon"}, "nutzungBis"),
        ({"nutzungBis": (TODAY - timedelta(days=2)).isoformat()}, "nutzungBis"),
    ],
)
def test_a_wrong_purpose_or_day_is_refused_and_the_field_named(customer, change, word):
    answer = customer.post(ACCESSES, {"a": customer.access("leer", **change)})
    assert (answer.status_code, word in answer.json()["message"]) == (400, True)
    assert customer.read(PERMISSIONS) == []


def test_withdrawing_erases_stops_and_answers_with_a_receipt_that_anybody_can_check(customer, owner):
    access_id = customer.add_complete("demo1")
    held = {product["id"] for product in customer.products(access_id)}
    rows = count_rows(owner, customer.reference)
    permission = only(customer)
    receipt = withdraw(customer, permission)
    assert {name: receipt[name] for name in RECEIPT} == {
        "id": permission["id"],
        "widerrufenAm": receipt["widerrufenAm"],
        "bankInformiert": False,
        "geloescht": {"produkte": len(held), "umsaetze": rows["transactions"], "zugangsdaten": 1},
        "pruefsumme": sum_up(receipt),
    }
    assert set(receipt) == {*RECEIPT, "relations"}
    assert rels(receipt) == ["self"]
    after = count_rows(owner, customer.reference)
    assert (after["accesses"], after["products"], after["transactions"]) == (0, 0, 0)
    assert customer.get(f"{ACCESSES}/{access_id}").status_code == 404
    kept = only(customer)
    assert (kept["status"], set(kept["produkte"]), kept["bis"]) == ("WIDERRUFEN", held, TODAY.isoformat())
    assert customer.read(address_of(permission)) == kept == kept | receipt
    assert withdraw(customer, permission) == receipt, "twice is as once"


def test_two_withdrawals_at_once_are_answered_with_one_receipt(customer):
    customer.add_complete("demo1")
    permission = only(customer)

    async def ask():
        return await asyncio.gather(*(asyncio.to_thread(withdraw, customer, permission) for _ in range(4)))

    receipts = asyncio.run(ask())
    assert all(receipt == receipts[0] for receipt in receipts)
    assert receipts[0]["geloescht"]["produkte"] > 0


def test_deleting_an_access_leaves_its_history_and_a_new_one_of_the_same_id_is_another(customer):
    access_id = customer.add_complete("leer", zweck="alt")
    first = only(customer)
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    assert only(customer)["status"] == "WIDERRUFEN"
    customer.add_complete("leer", access_id=access_id)
    ended, second = customer.read(PERMISSIONS)
    assert (ended["id"], second["status"], "zweck" in second) == (first["id"], "AKTIV", False)
    assert withdraw(customer, ended)["geloescht"]["produkte"] == 1
    assert customer.read_access(access_id)["status"] == "VOLLSTAENDIG", "an old receipt deletes nothing new"
    assert customer.delete(ACCESSES).status_code == 200
    assert [permission["status"] for permission in customer.read(PERMISSIONS)] == ["WIDERRUFEN"] * 2


def test_a_permission_of_another_user_is_not_found(customer, shared, neighbour):
    customer.add_complete("leer")
    permission = only(customer)
    for stranger in (new_customer(shared), new_customer(neighbour)):
        assert stranger.read(PERMISSIONS) == []
        assert stranger.get(address_of(permission)).status_code == 404
        assert stranger.delete(address_of(permission)).status_code == 404
    for wrong in (uuid4(), "x"):
        assert customer.delete(f"{PERMISSIONS}/{wrong}").status_code == 404
    assert only(customer)["status"] == "AKTIV"


def test_reading_needs_read_and_withdrawing_modify(customer, shared):
    customer.add_complete("leer")
    reader = new_customer(shared, "http://service/customer/read")
    assert reader.get(PERMISSIONS).status_code == 200
    assert reader.delete(f"{PERMISSIONS}/{uuid4()}").status_code == 403
    assert reader.get(PERMISSIONS, params={"status": "AKTIV"}).status_code == 400


def test_after_its_last_day_the_access_is_deleted_and_the_permission_expired(customer, owner):
    access_id = customer.add_complete("leer", nutzungBis=TODAY.isoformat())
    assert only(customer)["status"] == "AKTIV", "the last day counts"
    owner.execute("update permissions set usable_until = current_date - 2 where user_id = %s", [customer.reference])
    ended = wait_for(lambda: only(customer), lambda permission: "pruefsumme" in permission, seconds=60)
    assert (ended["status"], ended["geloescht"]["zugangsdaten"]) == ("ABGELAUFEN", 1)
    assert ended["pruefsumme"] == sum_up(ended)
    assert customer.get(f"{ACCESSES}/{access_id}").status_code == 404
    assert withdraw(customer, ended)["pruefsumme"] == ended["pruefsumme"]
    assert only(customer)["status"] == "ABGELAUFEN"


def test_a_consent_that_has_ended_at_the_bank_is_expired_and_can_be_withdrawn(customer, owner):
    customer.add_complete("leer", nutzungBis=SOON)
    ended = TODAY - timedelta(days=3)  # in Berlin, where it may be tomorrow already
    owner.execute("update accesses set consent_until = %s where user_id = %s", [ended, customer.reference])
    assert (only(customer)["status"], only(customer)["bis"]) == ("ABGELAUFEN", ended.isoformat())
    withdraw(customer, only(customer))
    assert only(customer)["status"] == "WIDERRUFEN"


async def test_ended_permissions_are_shown_for_two_years_and_then_deleted(customer, owner, services):
    customer.add_complete("leer")
    permission = only(customer)
    withdraw(customer, permission)
    age = "update permissions set ended_at = now() - interval '2 years' + %s::interval where user_id = %s"
    owner.execute(age, ["1 day", customer.reference])
    await services.housekeeping.clean()
    assert only(customer)["id"] == permission["id"]
    owner.execute(age, ["-1 minute", customer.reference])
    assert customer.read(PERMISSIONS) == []
    assert customer.get(address_of(permission)).status_code == 404
    await services.housekeeping.clean()
    found = owner.execute("select 1 from permissions where user_id = %s", [customer.reference]).fetchall()
    assert found == []


def test_files_have_a_permission_too(customer):
    table = b"Buchungstag;Betrag;Verwendungszweck\n01.10.2026;-5,00;Markt\n"
    form = {
        "name": "f", "kennzeichen": ["Buchungstag"], "datumsformat": "dd.mm.yyyy", "dezimalzeichen": ",",
        "spalten": {"Buchungstag": "buchungsdatum", "Betrag": "betrag", "Verwendungszweck": "verwendungszweck"},
    }  # fmt: skip
    assert customer.post("/customer/v2/imports/forms", form).status_code == 201
    headers = customer.headers | {"Content-Type": "text/csv"}
    answer = customer.http.post("/customer/v2/imports?form=f", content=table, headers=headers)
    assert answer.status_code == 201, answer.text
    permission = only(customer)
    assert (permission["weg"], len(permission["produkte"]), permission["status"]) == ("DATEI", 1, "AKTIV")
    receipt = withdraw(customer, permission)
    assert receipt["geloescht"] == {"produkte": 1, "umsaetze": 1, "zugangsdaten": 0}


def test_accesses_that_the_previous_version_has_added_or_deleted_are_told_rightly(customer, owner):
    customer.add_complete("leer")
    owner.execute("delete from permissions where user_id = %s", [customer.reference])
    found = only(customer)
    assert (found["weg"], found["status"], only(customer)["id"]) == ("DEMO", "AKTIV", found["id"])
    owner.execute("delete from accesses where user_id = %s", [customer.reference])
    ended = only(customer)
    assert (ended["status"], ended["geloescht"]) == (
        "WIDERRUFEN", {"produkte": 0, "umsaetze": 0, "zugangsdaten": 0},
    )  # fmt: skip


def read_while(customer, owner, change):
    """The list that is read from the moment on when `change` has begun; it waits, or was answered before the end."""
    with ThreadPoolExecutor(1) as pool:
        with owner.transaction():
            change()
            reading = pool.submit(customer.read, PERMISSIONS)
            wait_for(lambda: reading.done() or count_waiting(owner) > 0, bool)
        return reading.result()


def count_waiting(owner):
    """Connections that wait for this one."""
    text = "select count(*) from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))"
    return owner.execute(text).fetchone()[0]


def test_an_access_that_is_deleted_while_its_missing_permission_is_added_leaves_one_row(customer, owner):
    """An insert that waits for the deletion would add a row for an access that is gone."""
    access_id = customer.add_complete("leer")
    here = [customer.reference, access_id]
    owner.execute("delete from permissions where user_id = %s and access_id = %s", here)

    def delete():
        owner.execute("select 1 from accesses where user_id = %s and id = %s for update", here)
        owner.execute(
            "insert into permissions (user_id, id, access_id, provider_id, began_at)"
            " select user_id, gen_random_uuid(), id, provider_id, created_at from accesses"
            " where user_id = %s and id = %s",
            here,
        )
        owner.execute(
            "update permissions set ended_at = now(), ended_as = 'WITHDRAWN', is_bank_told = false,"
            " products_erased = 1, transactions_erased = 0, credentials_erased = 1"
            " where user_id = %s and access_id = %s",
            here,
        )
        owner.execute("delete from accesses where user_id = %s and id = %s", here)

    [permission] = read_while(customer, owner, delete)
    assert (permission["status"], permission["geloescht"]["produkte"]) == ("WIDERRUFEN", 1)
    assert customer.read(PERMISSIONS) == [permission]


def test_an_access_that_is_added_again_while_its_former_permission_is_ended_keeps_purpose_and_last_day(customer, owner):
    access_id = customer.add_complete("leer")
    here = [customer.reference, access_id]
    owner.execute("create temp table kept as select * from accesses where user_id = %s and id = %s", here)
    owner.execute("delete from accesses where user_id = %s and id = %s", here)  # by the previous version

    def add_again():
        owner.execute("insert into accesses select * from kept")
        owner.execute(
            "update permissions set purpose = 'Haushaltsbuch', usable_until = %s where user_id = %s and access_id = %s",
            [SOON, *here],
        )

    read_while(customer, owner, add_again)
    permission = only(customer)
    assert (permission["status"], permission["zweck"], permission["bis"]) == ("AKTIV", "Haushaltsbuch", SOON)


def test_missing_permissions_are_added_in_the_order_in_which_accesses_are_locked(customer, owner):
    """Another transaction holds the first access and then takes the second: neither waits for the other."""
    first, second = sorted(customer.add_complete("leer") for _ in range(2))
    owner.execute("delete from permissions where user_id = %s", [customer.reference])
    lock = "select 1 from accesses where user_id = %s and id = %s for update"

    with ThreadPoolExecutor(1) as pool:
        with owner.transaction():
            owner.execute(lock, [customer.reference, first])
            reading = pool.submit(customer.read, PERMISSIONS)
            wait_for(lambda: count_waiting(owner), bool)
            owner.execute(f"{lock} nowait", [customer.reference, second])
        found = {permission["zugangId"]: permission["status"] for permission in reading.result()}
    assert found == {first: "AKTIV", second: "AKTIV"}


def test_withdrawal_is_in_the_audit_trail_and_the_history_in_the_export(customer):
    customer.add_complete("leer", zweck="Beratung")
    receipt = withdraw(customer, only(customer))
    exported = customer.read("/customer/v2/export")
    [row] = exported["permissions"]
    assert (row["purpose"], row["ended_as"], row["products_erased"]) == ("Beratung", "WITHDRAWN", 1)
    entry = next(entry for entry in exported["audit_entries"] if entry["action"] == "permission.withdraw")
    assert receipt["id"] in json.dumps(entry)
    assert "1 products, 0 transactions, 1 credentials" in json.dumps(entry)
