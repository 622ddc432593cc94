"""What a customer allows for each access (Berechtigungen), and how it is withdrawn."""

from kontor_client.models.permissions import Permission, Receipt
from kontor_client.plans import Call, Plan, fetch, path_of, send

PERMISSIONS = "/customer/v2/berechtigungen"


def list_permissions() -> Plan[list[Permission]]:
    """With those that ended within two years."""
    return fetch(list[Permission], PERMISSIONS)


def read_permission(permission_id: str) -> Plan[Permission]:
    return fetch(Permission, PERMISSIONS + path_of(permission_id))


def withdraw_permission(permission_id: str) -> Plan[Receipt]:
    """The access is deleted with all its data. Repeated, it answers with the same receipt."""
    answer = yield from send(Call("DELETE", PERMISSIONS + path_of(permission_id)))
    return answer.decode(Receipt)
