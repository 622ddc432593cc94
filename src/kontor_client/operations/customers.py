"""The customer's data as a whole: taken along, or erased."""

from kontor_client.plans import Call, Plan, send

CUSTOMER = "/customer/v2"


def export(format: str = "json") -> Plan[bytes]:
    """Everything the user has: `json`, or transactions with their tags as `csv` or `beancount`."""
    answer = yield from send(Call("GET", f"{CUSTOMER}/export", {"format": format}, headers={"Accept": "*/*"}))
    return answer.content


def erase_customer(confirm: str) -> Plan[None]:
    """Erase the user with all data, for good. `confirm` is the user's own name."""
    yield from send(Call("DELETE", CUSTOMER, {"confirm": confirm}, is_repeatable=False))
