"""Securities position (Depotposition)."""

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.domain.positions import Position as DomainPosition
from kontor.domain.positions import TradingUnit
from kontor.wire.products import Amount, present, present_time
from kontor.wire.tokens import Timestamp

UnitWord = Annotated[Literal["STUECK", "NOMINAL"], Meta(title="TradingUnit")]
UNITS: dict[TradingUnit, UnitWord] = {
    TradingUnit.PIECES: "STUECK",
    TradingUnit.NOMINAL: "NOMINAL",
}


class Position(msgspec.Struct):
    name: str | UnsetType = UNSET
    menge: Decimal | UnsetType = UNSET
    handelseinheit: UnitWord | UnsetType = UNSET
    isin: str | UnsetType = UNSET
    wkn: str | UnsetType = UNSET
    kurs: Decimal | UnsetType = UNSET
    kursDatum: Timestamp | UnsetType = UNSET  # noqa: N815
    waehrung: str | UnsetType = UNSET
    waehrungskurs: Decimal | UnsetType = UNSET
    handelsplatz: str | UnsetType = UNSET
    gesamtwert: Amount | UnsetType = UNSET


def show_position(position: DomainPosition) -> Position:
    return Position(
        name=position.name or UNSET,
        menge=present(position.quantity),
        handelseinheit=UNSET if position.unit is None else UNITS[position.unit],
        isin=present(position.isin),
        wkn=present(position.wkn),
        kurs=present(position.price),
        kursDatum=present_time(position.price_at),
        waehrung=present(position.currency),
        waehrungskurs=present(position.exchange_rate),
        handelsplatz=present(position.exchange),
        gesamtwert=present(position.total_value),
    )
