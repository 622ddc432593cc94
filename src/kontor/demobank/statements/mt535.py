"""Holdings of a depot as SWIFT MT535."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from kontor.demobank.statements.swift_texts import LINE_END, make_swift_text, write_number
from kontor.domain.clocks import BERLIN
from kontor.domain.positions import Position, TradingUnit
from kontor.domain.products import Product

NAME_WIDTH = 35
MARKETS = {
    "XETRA": "XETR",
    "Frankfurt": "XFRA",
    "Stuttgart": "XSTU",
    "Tradegate": "XGAT",
    "München": "XMUN",
    "Düsseldorf": "XDUS",
    "NASDAQ": "XNAS",
    "New York": "XNYS",
}
_MARKS = (":", "-")


def write_mt535(product: Product, positions: Sequence[Position], *, day: date) -> bytes:
    """All holdings on one page, as of `day`. Values are in the depot's currency."""
    currency = product.currency or "EUR"
    account = make_swift_text(f"{product.bank_code or '00000000'}/{product.account_number or product.key}")[:35]
    lines = [
        "",
        ":16R:GENL",
        ":28E:1/ONLY",
        ":20C::SEME//NONREF",
        ":23G:NEWM",
        f":98A::PREP//{day:%Y%m%d}",
        f":98A::STAT//{day:%Y%m%d}",
        ":22F::STTY//CUST",
        f":97A::SAFE//{account}",
        f":17B::ACTI//{'Y' if positions else 'N'}",
        ":16S:GENL",
    ]
    for position in positions:
        lines += _write_position(position, currency)
    total = sum((position.total_value for position in positions if position.total_value is not None), Decimal("0.00"))
    lines += [":16R:ADDINFO", f":19A::HOLP//{_write_signed(total, currency)}", ":16S:ADDINFO", "-", ""]
    return LINE_END.join(lines).encode("latin-1")


def _write_position(position: Position, currency: str) -> list[str]:
    unit = "FAMT" if position.unit is TradingUnit.NOMINAL else "UNIT"
    lines = [":16R:FIN", *_write_identification(position)]
    if position.price is not None and unit == "FAMT":
        lines.append(f":90A::MRKT//PRCT/{write_number(position.price)}")
    elif position.price is not None:
        lines.append(f":90B::MRKT//ACTU/{position.currency or currency}{write_number(position.price)}")
    if position.exchange is not None:
        lines.append(f":94B::PRIC//LMAR/{MARKETS.get(position.exchange, make_swift_text(position.exchange)[:30])}")
    if position.price_at is not None:
        lines.append(f":98A::PRIC//{position.price_at.astimezone(BERLIN):%Y%m%d}")
    if position.quantity is not None:
        sign = "N" if position.quantity < 0 else ""
        quantity = write_number(position.quantity)
        lines += [
            f":93B::AGGR//{unit}/{sign}{quantity}",
            ":16R:SUBBAL",
            f":93C::TAVI//{unit}/AVAI/{sign}{quantity}",
            ":16S:SUBBAL",
        ]
    if position.total_value is not None:
        lines.append(f":19A::HOLD//{_write_signed(position.total_value, currency)}")
    if position.exchange_rate is not None:
        lines.append(f":92B::EXCH//{position.currency or currency}/{currency}/{write_number(position.exchange_rate)}")
    return [*lines, ":16S:FIN"]


def _write_identification(position: Position) -> list[str]:
    """Field 35B: the ISIN, the German number, and the name in two lines at most."""
    lines = [f"ISIN {position.isin}"] if position.isin else []
    lines += [f"/DE/{position.wkn}"] if position.wkn else []
    lines += _split_name(make_swift_text(position.name).strip())
    return [f":35B:{lines[0]}", *lines[1:]]


def _split_name(name: str) -> list[str]:
    """At the last blank that leaves a second line of the right length, or else in the middle of a word.

    A line that begins like a field or a message's end would be read as one.
    """
    name = f".{name}" if name.startswith(_MARKS) else name
    if len(name) <= NAME_WIDTH:
        return [name]
    cuts = [number for number in range(NAME_WIDTH - 1, 0, -1) if name[number] == " "]
    for first, rest in [*((name[:cut], name[cut + 1 :]) for cut in cuts), (name[:NAME_WIDTH], name[NAME_WIDTH:])]:
        if len(rest) <= NAME_WIDTH and not rest.startswith(_MARKS):
            return [first, rest]
    rest = name[NAME_WIDTH:]
    return [name[:NAME_WIDTH], (f".{rest}" if rest.startswith(_MARKS) else rest)[:NAME_WIDTH].rstrip()]


def _write_signed(amount: Decimal, currency: str) -> str:
    return f"{'N' if amount < 0 else ''}{currency}{write_number(amount)}"
