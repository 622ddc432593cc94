"""The customer's data as a whole: taken along, or erased. The user's own password and tokens."""

from collections.abc import Sequence

from kontor_client.models.users import OwnToken
from kontor_client.plans import Call, Plan, fetch, send

CUSTOMER = "/customer/v2"


def export(format: str = "json") -> Plan[bytes]:
    """Everything as `json`, or transactions with their tags: `csv`, `beancount`, `hledger`, `gnucash`."""
    answer = yield from send(Call("GET", f"{CUSTOMER}/export", {"format": format}, headers={"Accept": "*/*"}))
    return answer.content


def erase_customer(confirm: str) -> Plan[None]:
    """Erase the user with all data, for good. `confirm` is the user's own name."""
    yield from send(Call("DELETE", CUSTOMER, {"confirm": confirm}, is_repeatable=False))


def change_password(password: str, new_password: str) -> Plan[None]:
    """Change the user's own password. All tokens of the user end, this client's too: log in again."""
    body = {"password": password, "newPassword": new_password}
    yield from send(Call("PUT", f"{CUSTOMER}/password", json=body, is_repeatable=False))


def list_own_tokens() -> Plan[list[OwnToken]]:
    """Valid tokens of the user, the newest first."""
    return fetch(list[OwnToken], f"{CUSTOMER}/tokens")


def revoke_own_tokens(password: str, ids: Sequence[str] | None = None) -> Plan[None]:
    """Revoke the tokens named, or all of the user's, this client's too."""
    body = {"password": password} | ({} if ids is None else {"ids": list(ids)})
    yield from send(Call("POST", f"{CUSTOMER}/tokens/revoke", json=body))
