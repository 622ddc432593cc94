"""Which requests count as a use of bank data, and what customers see of them."""

from dataclasses import replace
from uuid import uuid4

import kontor.api.app  # noqa: F401 (declares the operations)
from banking import ACCESSES, new_customer
from kontor.api.data_uses import ACCESS, WITHOUT_BANK_DATA, reads_all_accesses
from kontor.api.operations import OPERATIONS, Security
from kontor.domain.principals import Principal
from kontor.services.accesses.permission_uses import PermissionUses

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
