"""Securities with prices that move a little every banking day, the same for everybody."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from math import exp, sin

from kontor.connectors.demo.people.amounts import compute_cents
from kontor.connectors.demo.people.banking_days import find_midnight, move_to_banking_day, number_month
from kontor.connectors.demo.people.currencies import find_rate
from kontor.connectors.demo.people.descriptions import AccountPlan, Agreement
from kontor.connectors.demo.people.life import EPOCH, Life
from kontor.connectors.demo.people.schedules import list_payments
from kontor.connectors.demo.people.streams import derive_number, draw_share
from kontor.connectors.demo.people.words import read_sections
from kontor.domain.positions import Position, TradingUnit

PRICES_OF = date(2025, 1, 2).toordinal()


@dataclass(frozen=True, slots=True)
class Security:
    """`price` is that of the start of 2025, `drift` the growth of a year, `swing` how far prices move about it."""

    name: str
    isin: str
    wkn: str
    price: float
    currency: str
    exchange: str
    unit: TradingUnit
    drift: float
    swing: float


@lru_cache(maxsize=1)
def load_securities() -> tuple[Security, ...]:
    return tuple(
        Security(name, isin, wkn, float(price), currency, exchange, TradingUnit(unit), float(drift), float(swing))
        for _, (name, isin, wkn, price, currency, exchange, unit, drift, swing) in read_sections("securities.txt")
    )


@lru_cache(maxsize=4096)
def find_price(security: Security, day: date) -> float:
    """The closing price of that day, or of the last banking day before it."""
    number = move_to_banking_day(day, -1).toordinal()
    age = number - PRICES_OF
    phase = 6.28 * draw_share("price", security.isin)
    wave = 0.6 * sin(age / 230 + phase) + 0.3 * sin(age / 61 + 2 * phase) + 0.1 * sin(age / 11 + 3 * phase)
    noise = 0.25 * (draw_share("price", security.isin, number) - 0.5)
    return round(security.price * exp(security.drift * age / 365 + security.swing * (wave + noise)), 3)


def count_saved_pieces(life: Life, plan: Agreement, security: Security, today: date) -> float:
    """Pieces that a savings plan has bought since the epoch."""
    last = number_month(today)
    pieces = 0.0
    for term in life.list_terms(plan, EPOCH, last):
        for month, day in list_payments(life, term, EPOCH, last):
            if day <= today:
                pieces += compute_cents(life, term, month) / 100 / find_price(security, day)
    return pieces


def choose_holdings(life: Life, plan: AccountPlan) -> list[tuple[Security, float]]:
    """The titles in a depot with their quantities; the first one is the fund of the savings plan, if there is one."""
    funds = [security for security in load_securities() if "ETF" in security.name]
    fund = funds[derive_number("fund", life.login) % len(funds)]
    others = sorted(load_securities(), key=lambda other: derive_number("holding", life.login, other.isin))
    titles = [fund, *(other for other in others if other is not fund)][: plan.holdings]
    holdings = []
    for security in titles:
        worth = plan.balance[0] + (plan.balance[1] - plan.balance[0]) * draw_share("worth", life.login, security.isin)
        if security.unit is TradingUnit.NOMINAL:
            quantity = max(1.0, round(worth / 1000)) * 1000
        else:
            quantity = max(1.0, round(worth / security.price))
        holdings.append((security, float(quantity)))
    return holdings


def list_positions(life: Life, plan: AccountPlan, today: date) -> tuple[Position, ...]:
    plans = [agreement for agreement in life.persona.agreements if agreement.category == "SAVINGS_SECURITIES"]
    positions = []
    for number, (security, held) in enumerate(choose_holdings(life, plan)):
        quantity = Decimal(str(held))
        if number == 0 and plans:
            saved = sum(count_saved_pieces(life, agreement, security, today) for agreement in plans)
            quantity += Decimal(f"{saved:.4f}")
        price = Decimal(f"{find_price(security, today):.3f}")
        rate = Decimal(f"{1 / find_rate(security.currency, move_to_banking_day(today, -1)):.6f}")
        is_foreign = security.currency != "EUR"
        worth = quantity * price * (rate if is_foreign else 1)
        if security.unit is TradingUnit.NOMINAL:
            worth /= 100
        positions.append(
            Position(
                name=security.name,
                quantity=quantity,
                unit=security.unit,
                isin=security.isin,
                wkn=security.wkn,
                price=price,
                price_at=find_midnight(move_to_banking_day(today, -1)),
                currency=security.currency,
                exchange_rate=rate if is_foreign else None,
                exchange=security.exchange,
                total_value=worth.quantize(Decimal("0.01")),
            )
        )
    return tuple(positions)
