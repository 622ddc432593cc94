"""Completeness statements: per account and month the balances, the bookings between them, and gaps."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.completeness import AccountMonth, CompletenessStatement
from kontor.domain.completeness import Gap as FoundGap
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls

GapWord = Annotated[
    Literal["VOR_ERSTER_BUCHUNG", "SALDO_ABWEICHUNG", "NOCH_NICHT_ABGERUFEN", "KEIN_SALDO"],
    Meta(title="LueckenArt"),
]
GAP_WORDS: dict[str, GapWord] = {
    "BEFORE_FIRST_BOOKING": "VOR_ERSTER_BUCHUNG",
    "BALANCE_MISMATCH": "SALDO_ABWEICHUNG",
    "NOT_YET_READ": "NOCH_NICHT_ABGERUFEN",
    "NO_BALANCE": "KEIN_SALDO",
}


class Luecke(msgspec.Struct):
    """Days about which something is not known."""

    art: GapWord
    von: date
    bis: date
    differenz: Annotated[Decimal, Meta(description="what the bookings lack, of `SALDO_ABWEICHUNG`")] | UnsetType = UNSET


class Monat(msgspec.Struct):
    """Pending bookings are left out. Without a balance of the bank there are no balances."""

    monat: Annotated[str, Meta(examples=["2026-10"])]
    anzahl: Annotated[int, Meta(description="of bookings")]
    einnahmen: Amount
    ausgaben: Annotated[Decimal, Meta(description="negative, as bookings are")]
    luecken: list[Luecke]
    saldoAnfang: Annotated[Decimal, Meta(description="before the first day")] | UnsetType = UNSET  # noqa: N815
    saldoEnde: Annotated[Decimal, Meta(description="at the end of the last day")] | UnsetType = UNSET  # noqa: N815


class Vollstaendigkeit(msgspec.Struct):
    """Of one account, oldest month first."""

    zugangId: str  # noqa: N815
    produktId: UUID  # noqa: N815
    waehrung: str
    monate: list[Monat]
    relations: list[Relation]
    ausgeschlosseneWaehrungen: (  # noqa: N815
        Annotated[list[str], Meta(description="currencies of bookings that no month contains")] | UnsetType
    ) = UNSET


def show_completeness(statement: CompletenessStatement, urls: Urls) -> Vollstaendigkeit:
    stored = statement.stored
    return Vollstaendigkeit(
        zugangId=stored.access_id,
        produktId=stored.id,
        waehrung=statement.currency,
        monate=[_show_month(month) for month in statement.months],
        relations=urls.completeness_relations(stored.access_id, stored.id),
        ausgeschlosseneWaehrungen=list(statement.other_currencies) or UNSET,
    )


def _show_month(month: AccountMonth) -> Monat:
    return Monat(
        monat=f"{month.first:%Y-%m}",
        anzahl=month.count,
        einnahmen=month.credits,
        ausgaben=month.debits,
        luecken=[show_gap(gap) for gap in month.gaps],
        saldoAnfang=UNSET if month.opening is None else month.opening,
        saldoEnde=UNSET if month.closing is None else month.closing,
    )


def show_gap(gap: FoundGap) -> Luecke:
    return Luecke(GAP_WORDS[gap.kind], gap.first, gap.last, UNSET if gap.difference is None else gap.difference)


def export_completeness(statement: CompletenessStatement) -> list[dict[str, Any]]:
    """As in an export: an object per month."""
    return [
        {
            "product_id": statement.stored.id,
            "month": f"{month.first:%Y-%m}",
            "currency": statement.currency,
            "opening_balance": month.opening,
            "booking_count": month.count,
            "credits": month.credits,
            "debits": month.debits,
            "closing_balance": month.closing,
            "gaps": [
                {"kind": gap.kind, "first_day": gap.first, "last_day": gap.last, "difference": gap.difference}
                for gap in month.gaps
            ],
        }
        for month in statement.months
    ]
