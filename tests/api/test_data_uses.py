"""Which requests count as a use of bank data, and what customers see of them."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest
from psycopg_pool import PoolTimeout

import kontor.api.app  # noqa: F401 (declares the operations)
from banking import ACCESSES, new_customer
from kontor.api.data_uses import ACCESS, OTHERS_OF_ALL_ACCESSES, WITHOUT_BANK_DATA, reads_all_accesses
from kontor.api.operations import OPERATIONS, Security
from kontor.domain.principals import Principal
from kontor.services.accesses.permission_uses import PermissionUses
from kontor.storage import permissions as stored

PERMISSIONS = "/customer/v2/berechtigungen"
SOME_READS = {
    "list_accesses",
    "list_all_transactions",
    "list_contracts",
    "read_cashflow",
    "read_customer",
    "export_customer",
}


def test_reads_count_but_for_those_that_tell_nothing_which_a_bank_said():
    by_id = {operation.id: operation for operation in OPERATIONS}
    assert {name for name in SOME_READS if not reads_all_accesses(by_id[name])} == set()
    for name in WITHOUT_BANK_DATA:
        operation = by_id[name]
        assert (operation.method, operation.security, ACCESS in operation.path_names) == (
            "GET", Security.USER_TOKEN, False,
        ), name  # fmt: skip
    assert not reads_all_accesses(by_id["list_providers"])
    assert {name for name in OTHERS_OF_ALL_ACCESSES if not reads_all_accesses(by_id[name])} == set()


def name_client(customer):
    return customer.tenant.app[0].partition("/")[2]


def forget_uses(customer, owner):
    """Also in the process: it notes the next use of all accesses again after an access was added."""
    owner.execute("update permissions set used_at = null, callers = '{}' where user_id = %s", [customer.reference])


TABLE = b"Buchungstag;Betrag;Verwendungszweck\n01.10.2026;-5,00;Markt\n"
IMPORT = "/customer/v2/imports?form=f"
FORM = {
    "name": "f", "kennzeichen": ["Buchungstag"], "datumsformat": "dd.mm.yyyy", "dezimalzeichen": ",",
    "spalten": {"Buchungstag": "buchungsdatum", "Betrag": "betrag", "Verwendungszweck": "verwendungszweck"},
}  # fmt: skip


def import_table(customer, query=""):
    headers = customer.headers | {"Content-Type": "text/csv"}
    return customer.http.post(f"{IMPORT}{query}", content=TABLE, headers=headers)


def test_reading_an_access_is_a_use_of_it_alone_and_looking_at_permissions_is_none(customer, owner):
    first, second = customer.add_complete("leer"), customer.add_complete("leer")
    owner.execute("update permissions set used_at = null where user_id = %s", [customer.reference])
    other = new_customer(customer.tenant)
    assert customer.read(PERMISSIONS)[0].get("letzteNutzung") is None
    assert other.get(f"{ACCESSES}/{first}").status_code == 404
    for _ in range(2):
        assert customer.get(f"{ACCESSES}/{first}/issues").status_code == 200
    used = {permission["zugangId"]: "letzteNutzung" in permission for permission in customer.read(PERMISSIONS)}
    assert used[second] is False


async def test_callers_are_named_once_the_last_one_first_and_written_down_now_and_then(customer, owner, services):
    access_id = customer.add_complete("leer")
    [app] = customer.read(PERMISSIONS)[0]["aufrufer"]
    tenant_id, user_id = owner.execute("select tenant_id, id from users where id = %s", [customer.reference]).fetchone()
    budget = Principal(tenant_id, "t", True, uuid4(), "budget-app", frozenset(), user_id)
    uses = PermissionUses(services.database)
    await uses.note(budget, access_id)
    assert customer.read(PERMISSIONS)[0]["aufrufer"] == ["budget-app", app]
    await uses.note(replace(budget, client_id=uuid4(), client_name=app), None)
    assert customer.read(PERMISSIONS)[0]["aufrufer"] == [app, "budget-app"]
    await uses.note(budget, access_id)
    assert customer.read(PERMISSIONS)[0]["aufrufer"] == [app, "budget-app"], "noted less than five minutes ago"
    await uses.note(replace(budget, client_id=uuid4(), client_name="x"), "another access")
    assert "x" not in customer.read(PERMISSIONS)[0]["aufrufer"]


PREVIEWED_RULE = {
    "tagTreeItem": {"systemName": "SHOPPING_OTHER", "tagTree": {"systemName": "CATEGORIES"}},
    "counterpartyName": "Markt",
}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/customer/v2/ai/credit-files", {"zweck": "Ratenkredit", "freigabe": "SELBST"}),
        ("/customer/v2/ai/tagging-rules/preview", PREVIEWED_RULE),
        ("/customer/v2/kontoumsaetze/bearbeitungen?preview=true", {"filter": {"search": "x"}, "schlagworte": ["a"]}),
        ("/customer/v2/kontoumsaetze/bearbeitungen", {"filter": {"search": "x"}, "schlagworte": ["a"]}),
    ],
)
def test_what_computes_from_all_accesses_is_a_use_of_them(customer, owner, path, body):
    customer.add_complete("leer")
    forget_uses(customer, owner)
    answer = customer.post(path, body)
    assert answer.status_code in (200, 201), answer.text
    [permission] = customer.read(PERMISSIONS)
    assert (permission["aufrufer"], "letzteNutzung" in permission) == ([name_client(customer)], True)


def test_a_refused_preview_is_no_use(customer, owner):
    customer.add_complete("leer")
    forget_uses(customer, owner)
    assert customer.post("/customer/v2/ai/tagging-rules/preview", {}).status_code == 400
    assert customer.read("/customer/v2/zahlungsempfaenger") == [], "whom the user has paid is not the bank's data"
    [permission] = customer.read(PERMISSIONS)
    assert (permission["aufrufer"], "letzteNutzung" in permission) == ([], False)


def test_an_import_and_its_preview_are_a_use_of_the_access_whose_bookings_they_compare(customer, owner):
    bank = customer.add_complete("leer")
    assert customer.post("/customer/v2/imports/forms", FORM).status_code == 201
    assert import_table(customer).status_code == 201
    used = {permission["zugangId"]: "letzteNutzung" in permission for permission in customer.read(PERMISSIONS)}
    assert used["dateien"]
    customer.add_complete("leer")  # from here on the process notes each use again
    forget_uses(customer, owner)
    assert import_table(customer, "&preview=true").status_code == 200
    used = {permission["zugangId"]: permission["aufrufer"] for permission in customer.read(PERMISSIONS)}
    assert (used["dateien"], used[bank]) == ([name_client(customer)], [])


def test_a_use_of_all_accesses_is_a_use_of_one_that_was_imported_just_before(customer, owner):
    assert customer.get(ACCESSES).status_code == 200
    assert customer.post("/customer/v2/imports/forms", FORM).status_code == 201
    assert import_table(customer).status_code == 201
    forget_uses(customer, owner)
    assert customer.get(ACCESSES).status_code == 200
    assert "letzteNutzung" in customer.read(PERMISSIONS)[0]


@pytest.fixture
def budget(customer, owner):
    """Another client of a customer with an access."""
    customer.add_complete("leer")
    tenant_id, user_id = owner.execute("select tenant_id, id from users where id = %s", [customer.reference]).fetchone()
    return Principal(tenant_id, "t", True, uuid4(), "budget-app", frozenset(), user_id)


@pytest.mark.parametrize("is_of_all", [True, False])
async def test_a_use_while_somebody_holds_the_permission_is_made_up_for_by_the_next(
    customer, owner, services, budget, is_of_all
):
    [permission] = customer.read(PERMISSIONS)
    access_id = None if is_of_all else permission["zugangId"]
    uses = PermissionUses(services.database)
    with owner.transaction():
        owner.execute("select 1 from permissions where id = %s for update", [permission["id"]])
        await uses.note(budget, access_id)
    assert "budget-app" not in customer.read(PERMISSIONS)[0]["aufrufer"]
    await uses.note(budget, access_id)
    assert "budget-app" in customer.read(PERMISSIONS)[0]["aufrufer"]


@pytest.mark.parametrize("end", [PoolTimeout(), asyncio.CancelledError()])
async def test_a_use_that_was_not_written_is_made_up_for_by_the_next(customer, services, budget, monkeypatch, end):
    uses = PermissionUses(services.database)

    async def fail(*_):
        raise end

    with monkeypatch.context() as patch:
        patch.setattr(stored, "note_use", fail)
        if isinstance(end, Exception):
            await uses.note(budget, None)
        else:
            with pytest.raises(asyncio.CancelledError):
                await uses.note(budget, None)
    await uses.note(budget, None)
    assert "budget-app" in customer.read(PERMISSIONS)[0]["aufrufer"]
