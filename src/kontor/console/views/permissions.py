"""Who may fetch and use which accounts, for what and until when; how that is withdrawn, and the receipt."""

from collections.abc import Mapping, Sequence
from typing import Any

from kontor.console.banks import find_or_none, list_banks
from kontor.console.gateway import segment, together
from kontor.console.permissions import PERMISSIONS, ShownPermission, read_permission
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of


async def show(visit: Visit) -> Facts:
    """The newest first."""
    found = await _read(visit, await visit.api.get(PERMISSIONS))
    found.reverse()
    wanted = visit.query.get("withdraw")
    return {
        "open": [permission for permission in found if permission.is_open],
        "ended": [permission for permission in found if not permission.is_open],
        "withdrawing": next((each for each in found if each.id == wanted and each.is_open), None),
    }


async def withdraw(visit: Visit, form: Form) -> None:
    number = segment(field_of(form, "permission"))
    await visit.api.send("DELETE", f"{PERMISSIONS}/{number}")
    raise RedirectTo(f"{BASE}/permissions/{number}", notice="permission_withdrawn")


async def show_one(visit: Visit) -> Facts:
    told = await visit.api.get(f"{PERMISSIONS}/{segment(visit.path('permission'))}")
    [permission] = await _read(visit, [told])
    return {"permission": permission}


async def _read(visit: Visit, told: Sequence[Mapping[str, Any]]) -> list[ShownPermission]:
    """With the names of banks, as the accesses or the catalogue have them."""
    banks = {bank.id: bank for bank in await list_banks(visit.api)}
    ids = sorted({each["providerId"] for each in told if each["weg"] != "DATEI"})
    providers = await together(*(find_or_none(visit.api, f"/providers/v2/{segment(id)}") for id in ids))
    names = {id: provider["name"] for id, provider in zip(ids, providers, strict=True) if provider is not None}
    return [read_permission(each, names, banks) for each in told]


VIEWS = [
    View("permissions", "/permissions", show, group="data", actions={"withdraw": withdraw}),
    View("permission", "/permissions/{permission:str}", show_one, parent="permissions"),
]
