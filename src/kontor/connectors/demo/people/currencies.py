"""Accounts with pockets in several currencies: each month money is exchanged, and spent to the cent."""

from datetime import date, datetime, time
from functools import lru_cache
from math import sin

from kontor.connectors.demo.people.banking_days import DAY, list_banking_days
from kontor.connectors.demo.people.bookings import Draft
from kontor.connectors.demo.people.descriptions import AccountPlan
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.numbers import DEMO_BANK
from kontor.connectors.demo.people.streams import derive_number, draw_share, open_stream
from kontor.connectors.demo.people.words import Merchant, load_merchants

# Units of the currency for one euro, about which the rate swings.
RATES = {"EUR": 1.0, "USD": 1.09, "CHF": 0.95, "GBP": 0.86}
EXCHANGED = 9000


@lru_cache(maxsize=4096)
def find_rate(currency: str, day: date) -> float:
    """Units of the currency for one euro on that day."""
    if currency == "EUR":
        return 1.0
    phase = 6.28 * draw_share("rate", currency)
    number = day.toordinal()
    swing = 0.04 * sin(number / 310 + phase) + 0.015 * sin(number / 47 + 2 * phase)
    return round(RATES[currency] * (1 + swing + 0.006 * (draw_share("rate", currency, day) - 0.5)), 4)


def _draft_spending(life: Life, plan: AccountPlan, month: int, currency: str, cents: int) -> list[Draft]:
    """Two or three purchases abroad that use up what was exchanged."""
    stream = open_stream("pocket", life.login, currency, month)
    days = list_banking_days(month)
    parts = 2 + (derive_number("parts", life.login, currency, month) % 2)
    drafts = []
    merchants: tuple[tuple[str, Merchant], ...] = tuple(
        (category.partition(":")[2], shop)
        for category, shops in load_merchants().items()
        if category.startswith(f"{currency}:")
        for shop in shops
    )
    for number in range(parts):
        last = number == parts - 1
        part = cents if last else round(cents * (0.2 + 0.35 * stream.random()))
        cents -= part
        category, shop = merchants[int(stream.random() * len(merchants))]
        day = days[8 + int(stream.random() * (len(days) - 8))]
        drafts.append(
            Draft(
                key=f"{plan.key}/{currency}/{month}/{number}",
                account=plan.key,
                day=day,
                cents=-part,
                method="card",
                purpose=shop.text,
                category=category,
                partner=shop.partner,
                bought_at=datetime.combine(day - DAY, time(10 + number * 3, int(stream.random() * 60))),
                currency=currency,
            )
        )
    return drafts


def _draft_exchange(plan: AccountPlan, month: int, day: date, currency: str, cents: int, of: str, rate: float) -> Draft:
    return Draft(
        key=f"{plan.key}/exchange/{of}/{currency}/{month}",
        account=plan.key,
        day=day,
        cents=cents,
        method="exchange",
        purpose=f"Devisengeschaeft EUR/{of} Kurs {rate:.4f}".replace(".", ","),
        category="TRANSFER_OWN",
        partner=DEMO_BANK,
        currency=currency,
    )


def draft_currency_transfers(life: Life, plan: AccountPlan, month: int) -> list[Draft]:
    day = list_banking_days(month)[6]
    drafts: list[Draft] = []
    for currency in plan.currencies:
        if currency == "EUR":
            continue
        rate = find_rate(currency, day)
        bought = round(EXCHANGED * rate)
        drafts += [
            _draft_exchange(plan, month, day, "EUR", -EXCHANGED, currency, rate),
            _draft_exchange(plan, month, day, currency, bought, currency, rate),
            *_draft_spending(life, plan, month, currency, bought),
        ]
    return drafts
