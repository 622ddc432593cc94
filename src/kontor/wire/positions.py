"""Securities position (Depotposition)."""

from decimal import Decimal
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from kontor.domain.positions import Position as DomainPosition
from kontor.domain.positions import TradingUnit
from kontor.wire.products import Amount, present, present_time
from kontor.wire.tokens import Timestamp

UNITS: dict[TradingUnit, Literal["STUECK", "NOMINAL"]] = {
    TradingUnit.PIECES: "STUECK",
    TradingUnit.NOMINAL: "NOMINAL",
}


class Position(msgspec.Struct):
    name: str | UnsetType = UNSET
    menge: Decimal | UnsetType = UNSET
    handelseinheit: Literal["STUECK", "NOMINAL"] | UnsetType = UNSET
    isin: str | UnsetType = UNSET
    wkn: str | UnsetType = UNSET
    kurs: Decimal | UnsetType = UNSET
    kursDatum: Timestamp | UnsetType = UNSET  # noqa: N815
    waehrung: str | UnsetType = UNSET
    waehrungskurs: Decimal | UnsetType = UNSET
    handelsplatz: str | UnsetType = UNSET
    gesamtwert: Amount | UnsetType = UNSET


def show_position(one: DomainPosition) -> Position:
    return Position(
        name=one.name or UNSET,
        menge=present(one.quantity),
        handelseinheit=UNSET if one.unit is None else UNITS[one.unit],
        isin=present(one.isin),
        wkn=present(one.wkn),
        kurs=present(one.price),
        kursDatum=present_time(one.price_at),
        waehrung=present(one.currency),
        waehrungskurs=present(one.exchange_rate),
        handelsplatz=present(one.exchange),
        gesamtwert=present(one.total_value),
    )
