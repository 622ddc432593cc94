"""Berechtigungen: what the customer allows for each access, and how it is withdrawn."""

from kontor.api.answers import Answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY, READ
from kontor.api.operations import Call, Success, operation
from kontor.wire.permissions import Berechtigung, Widerruf, show_berechtigung, show_widerruf

PERMISSIONS = CUSTOMER + "/berechtigungen"
PERMISSION = PERMISSIONS + "/{berechtigung-id}"


@operation("GET", PERMISSIONS, success=Success(shape=list[Berechtigung]), **READ)
async def list_permissions(call: Call) -> Answer:
    """List what the customer allows for each access.

    Ended ones stay for two years, also after their access was deleted.
    """
    found = await call.services.accesses.permissions.list_permissions(call.principal)
    return json_answer([show_berechtigung(view, call.urls) for view in found])


@operation("GET", PERMISSION, success=Success(shape=Berechtigung), errors=(404,), **READ)
async def read_permission(call: Call) -> Answer:
    """Read one Berechtigung.

    One that has ended has the fields of its receipt.
    """
    view = await call.services.accesses.permissions.read_permission(call.principal, call.path_uuid("berechtigung-id"))
    return json_answer(show_berechtigung(view, call.urls))


@operation("DELETE", PERMISSION, success=Success(shape=Widerruf, description="withdrawn"), errors=(404,), **MODIFY)
async def withdraw_permission(call: Call) -> Answer:
    """Withdraw a Berechtigung.

    From now on nothing is fetched. The access is deleted with its credentials, products and transactions. The answer is
    the receipt; one that has ended already is answered with the same receipt again.
    """
    ended = await call.services.accesses.permissions.withdraw(call.principal, call.path_uuid("berechtigung-id"))
    return json_answer(show_widerruf(ended, call.urls))
