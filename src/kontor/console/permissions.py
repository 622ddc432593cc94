"""What a customer allows for each access, as the console's pages show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from kontor.console.banks import Bank
from kontor.console.rendering import read_day

PERMISSIONS = "/customer/v2/berechtigungen"
STATES = {"AKTIV": "active", "ABGELAUFEN": "expired", "WIDERRUFEN": "withdrawn"}
TONES = {"active": "good", "expired": "warn", "withdrawn": "plain"}


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased when the permission ended; `checksum` proves that nobody has changed it."""

    at: str
    is_bank_told: bool
    products: int
    transactions: int
    credentials: int
    checksum: str


@dataclass(frozen=True, slots=True)
class ShownPermission:
    """`bank` is None where the catalogue does not know it. `accounts` are names, of those that are still there."""

    id: str
    bank: str | None
    channel: str
    state: str
    purpose: str | None
    accounts: Sequence[str]
    products: int
    since: date | None
    until: date | None
    used_at: str | None
    callers: Sequence[str]
    can_withdraw: bool
    receipt: Receipt | None

    @property
    def tone(self) -> str:
        return TONES[self.state]

    @property
    def is_open(self) -> bool:
        """Also one whose consent is over, as long as its data is there."""
        return self.can_withdraw


def read_permission(told: Mapping[str, Any], names: Mapping[str, str], banks: Mapping[str, Bank]) -> ShownPermission:
    """`names` are those of banks by provider, `banks` the accesses by their ids."""
    is_open = any(relation["rel"] == "delete_berechtigung" for relation in told["relations"])
    access = banks.get(told["zugangId"]) if is_open else None
    return ShownPermission(
        id=told["id"],
        bank=names.get(told["providerId"]) if access is None else access.name,
        channel=told["weg"].lower(),
        state=STATES[told["status"]],
        purpose=told.get("zweck"),
        accounts=[] if access is None else [product.name for product in access.products],
        products=len(told["produkte"]),
        since=read_day(told["seit"]),
        until=read_day(told.get("bis")),
        used_at=told.get("letzteNutzung"),
        callers=told["aufrufer"],
        can_withdraw=is_open,
        receipt=_read_receipt(told),
    )


def _read_receipt(told: Mapping[str, Any]) -> Receipt | None:
    """None while the permission is open, and for the seconds in which its bank is told."""
    if "pruefsumme" not in told:
        return None
    erased = told["geloescht"]
    return Receipt(
        told["widerrufenAm"],
        told["bankInformiert"],
        erased["produkte"],
        erased["umsaetze"],
        erased["zugangsdaten"],
        told["pruefsumme"],
    )
