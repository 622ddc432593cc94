"""Berechtigungen: what a customer allows for an access, and the receipt of its end."""

import hashlib
import json
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.clocks import BERLIN
from kontor.domain.permissions import Permission, PermissionChannel, PermissionStatus, Receipt
from kontor.services.accesses import PermissionView
from kontor.wire.accesses import Zweck
from kontor.wire.encoding import format_timestamp
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

Weg = Annotated[Literal["FINTS", "XS2A", "AGGREGATOR", "DATEI", "DEMO"], Meta(title="Weg")]
WAYS: dict[PermissionChannel, Weg] = {
    PermissionChannel.FINTS: "FINTS",
    PermissionChannel.XS2A: "XS2A",
    PermissionChannel.AGGREGATOR: "AGGREGATOR",
    PermissionChannel.FILES: "DATEI",
    PermissionChannel.DEMO: "DEMO",
}
PermissionWord = Annotated[Literal["AKTIV", "ABGELAUFEN", "WIDERRUFEN"], Meta(title="BerechtigungStatus")]
STATUSES: dict[PermissionStatus, PermissionWord] = {
    PermissionStatus.ACTIVE: "AKTIV",
    PermissionStatus.EXPIRED: "ABGELAUFEN",
    PermissionStatus.WITHDRAWN: "WIDERRUFEN",
}
Count = Annotated[int, Meta(ge=0)]
Checksum = Annotated[
    str,
    Meta(
        description="SHA-256, hexadecimal, of the receipt as JSON (id, widerrufenAm, bankInformiert, geloescht): names"
        " sorted, no white space, UTF-8",
        pattern="^[0-9a-f]{64}$",
    ),
]


class Geloescht(msgspec.Struct):
    produkte: Count
    umsaetze: Count
    zugangsdaten: Annotated[int, Meta(ge=0, description="stored logins: 0 or 1")]


class Widerruf(msgspec.Struct):
    """The receipt. It never changes."""

    id: UUID
    widerrufenAm: Timestamp  # noqa: N815
    bankInformiert: Annotated[bool, Meta(description="the bank has confirmed the end of its consent")]  # noqa: N815
    geloescht: Geloescht
    pruefsumme: Checksum
    relations: list[Relation]


class Berechtigung(msgspec.Struct):
    id: UUID
    zugangId: str  # noqa: N815
    providerId: UUID  # noqa: N815
    weg: Weg
    produkte: Annotated[list[UUID], Meta(description="of an ended one those that the access had")]
    seit: date
    aufrufer: Annotated[list[str], Meta(description="names of clients that used the data, the last one first")]
    status: PermissionWord
    relations: list[Relation]
    zweck: Zweck | UnsetType = UNSET
    bis: (
        Annotated[date, Meta(description="last day: as agreed or as the bank said; of an ended one the day of its end")]
        | UnsetType
    ) = UNSET
    letzteNutzung: Timestamp | UnsetType = UNSET  # noqa: N815 (last fetch or read, exact to five minutes)
    widerrufenAm: Timestamp | UnsetType = UNSET  # noqa: N815
    bankInformiert: bool | UnsetType = UNSET  # noqa: N815
    geloescht: Geloescht | UnsetType = UNSET
    pruefsumme: Checksum | UnsetType = UNSET


def show_berechtigung(view: PermissionView, urls: Urls) -> Berechtigung:
    permission = view.permission
    shown = Berechtigung(
        id=permission.id,
        zugangId=permission.access_id,
        providerId=permission.provider_id,
        weg=WAYS[view.channel],
        produkte=list(permission.products),
        seit=permission.began_at.astimezone(BERLIN).date(),
        aufrufer=list(permission.callers),
        status=STATUSES[view.status],
        relations=urls.permission_relations(permission.id, permission.access_id if permission.is_open else None),
        zweck=permission.purpose or UNSET,
        bis=permission.last_day or UNSET,
        letzteNutzung=UNSET if permission.used_at is None else format_timestamp(permission.used_at),
    )
    if permission.receipt is not None:
        receipt = _describe(permission.receipt)
        shown.widerrufenAm = receipt["widerrufenAm"]
        shown.bankInformiert = receipt["bankInformiert"]
        shown.geloescht = Geloescht(**receipt["geloescht"])
        shown.pruefsumme = sum_up(receipt)
    return shown


def show_widerruf(ended: Permission, urls: Urls) -> Widerruf:
    assert ended.receipt is not None, "it has ended"
    receipt = _describe(ended.receipt)
    return Widerruf(
        id=ended.id,
        widerrufenAm=receipt["widerrufenAm"],
        bankInformiert=receipt["bankInformiert"],
        geloescht=Geloescht(**receipt["geloescht"]),
        pruefsumme=sum_up(receipt),
        relations=urls.permission_relations(ended.id, None),
    )


def sum_up(receipt: dict[str, Any]) -> str:
    """So that anybody can compute it again: `jq -cjS '{id, widerrufenAm, bankInformiert, geloescht}' | sha256sum`."""
    text = json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _describe(receipt: Receipt) -> dict[str, Any]:
    erased = receipt.erased
    return {
        "id": str(receipt.permission_id),
        "widerrufenAm": format_timestamp(receipt.ended_at),
        "bankInformiert": receipt.is_bank_told,
        "geloescht": {
            "produkte": erased.products,
            "umsaetze": erased.transactions,
            "zugangsdaten": erased.credentials,
        },
    }
