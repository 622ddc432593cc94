"""Shopping: what a person buys in a month, where, and how it is paid."""

from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from random import Random

from kontor.connectors.demo.people.banking_days import (
    DAY,
    add_banking_days,
    is_shop_open,
    list_banking_days,
    move_to_banking_day,
    number_month,
)
from kontor.connectors.demo.people.bookings import Draft
from kontor.connectors.demo.people.descriptions import Habit
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.partners import make_partner
from kontor.connectors.demo.people.streams import draw_digits, open_stream
from kontor.connectors.demo.people.words import Favourites, Merchant, weight_merchants

PAYPAL = ("PayPal", "PayPal Europe S.a.r.l. et Cie S.C.A", "LU96ZZZ0000000000000000058")
KLARNA = ("Klarna", "Klarna Bank AB (publ)", None)
AMAZON = ("Amazon", "AMAZON EU S.A R.L., NIEDERLASSUNG DEUTSCHLAND", "DE24ZZZ00000561652")

# Open on Sundays and public holidays, too.
ALWAYS_OPEN = ("MOBILITY_", "RECREATION_", "TRAVEL_", "BANKFINANCE_", "SHOPPING_DIGITALCONTENT", "SERVICES_ONLINE")
# Groceries and the like: where people save when money is short.
ELASTIC = frozenset(
    {"LIVING_GROCERIES", "LIVING_DRUGSTORE", "LIVING_CONSUMABLES", "MOBILITY_FUEL", "HOUSING_FURNISHING"}
)
REFUNDED = frozenset({"SHOPPING_CLOTHINGACCESSORIES", "SHOPPING_ELECTRONICS", "SHOPPING_OTHER", "HOUSING_FURNISHING"})
# Bought with the credit card by those who have one; all else with the debit card.
WORTH_A_CREDIT_CARD = ("TRAVEL_", "SHOPPING_")
SEASONS = {
    "TRAVEL": (0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.0, 1.2, 1.0, 0.5, 0.7),
    "SHOPPING": (0.8, 0.7, 0.9, 1.0, 1.0, 0.9, 0.9, 0.9, 1.0, 1.0, 1.4, 1.6),
    "FAMILY_TOYS": (0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 0.8, 0.8, 0.9, 1.1, 1.8, 2.6),
    "RECREATION_GARDEN": (0.2, 0.4, 1.5, 2.2, 2.2, 1.4, 1.0, 0.9, 1.1, 0.9, 0.5, 0.3),
    "LIVING_GROCERIES": (1.0, 0.95, 1.0, 1.0, 1.0, 1.0, 0.95, 0.95, 1.0, 1.0, 1.0, 1.15),
}
HOURS = (8, 9, 10, 11, 12, 12, 13, 14, 15, 16, 17, 17, 18, 18, 19, 20)


@lru_cache(maxsize=512)
def list_shopping_days(month: int, always_open: bool) -> tuple[tuple[date, date], ...]:
    """Days of shopping that are booked in the month, each with its booking day. Saturdays count twice."""
    pairs = []
    for booked in list_banking_days(month):
        bought = booked - DAY
        previous = move_to_banking_day(bought, -1)
        while bought >= previous:
            if always_open or is_shop_open(bought):
                pairs += [(bought, booked)] * (2 if bought.weekday() == 5 else 1)
            bought -= DAY
    return tuple(pairs)


def draw_count(stream: Random, rate: float) -> int:
    wanted = rate * (0.75 + 0.5 * stream.random())
    whole = int(wanted)
    return whole + (stream.random() < wanted - whole)


def draw_cents(stream: Random, merchant: Merchant, level: float) -> int:
    """Small amounts are more common than large ones, and many prices end in 9."""
    euros: float = merchant.low * (merchant.high / merchant.low) ** (0.5 * (stream.random() + stream.random()))
    cents = round(euros * 100 * level)
    return cents - cents % 10 + 9 if stream.random() < 0.4 else cents


def find_season(category: str, month: int) -> float:
    curve = SEASONS.get(category) or SEASONS.get(category.partition("_")[0])
    return curve[month % 12] if curve else 1.0


def draw_number(stream: Random, low: int, high: int) -> int:
    """From `low` up to, not including, `high`: quicker than `randrange`, and even enough for numbers on a receipt."""
    return low + int(stream.random() * (high - low))


@lru_cache(maxsize=1024)
def draw_own_digits(count: int, what: str, login: str, partner: str = "") -> str:
    """Digits that stay with a customer: mandates, customer codes."""
    return draw_digits(count, what, login, partner)


@lru_cache(maxsize=4096)
def number_branch(login: str, text: str, branch: int) -> str:
    """The terminal's text with the number of a branch: people go to two or three branches of a chain."""
    digits = draw_digits(text.count("#"), "branch", login, text, branch) if "#" in text else ""
    for digit in digits:
        text = text.replace("#", digit, 1)
    return text


def _charge_credit_card(life: Life, draft: Draft) -> None:
    if life.card_account is not None and draft.account == "main":
        draft.account = life.card_account
        draft.is_scalable = False


def _pay_by_card(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    draft.method, draft.purpose = "card", number_branch(life.login, merchant.text, int(stream.random() * 2.5))
    if draft.category.startswith(WORTH_A_CREDIT_CARD):
        _charge_credit_card(life, draft)


def _pay_by_sumup(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    draft.method, draft.purpose = "card", f"SumUp  *{merchant.text}"


def _pay_by_zettle(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    draft.method, draft.purpose = "card", f"Zettle_*{merchant.text}"


def _pay_by_credit_card(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    _pay_by_card(life, merchant, draft, stream)
    _charge_credit_card(life, draft)


def _pay_by_debit(draft: Draft, purpose: str, name: tuple[str, str, str | None], mandate: str) -> None:
    partner = make_partner(*name)
    draft.method, draft.purpose, draft.name = "debit", purpose, partner.legal
    draft.iban, draft.bic, draft.creditor_id = partner.iban, partner.bic, partner.creditor_id
    draft.mandate, draft.bought_at = mandate, None


def _pay_by_paypal(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    number, shop = draw_number(stream, 10**12, 10**13), merchant.text.replace("#", "")
    code = draw_own_digits(4, "paypal", life.login)
    _pay_by_debit(
        draft,
        f"{number}/PP.{code}.PP/. {shop}, Ihr Einkauf bei {shop}",
        PAYPAL,
        f"{draw_own_digits(4, 'paypal mandate', life.login)}2224{code}",
    )
    draft.reference = f"{number} PP.{code}.PP PAYPAL"


def _pay_by_klarna(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    number = draw_number(stream, 10**10, 10**11)
    _pay_by_debit(draft, f"Ihr Einkauf bei {merchant.text} Klarna-Nr. {number}", KLARNA, f"KL{number % 10**8:08d}")


def _pay_by_amazon(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    order = f"30{draw_number(stream, 2, 7)}-{draw_number(stream, 10**6, 10**7)}-{draw_number(stream, 10**6, 10**7)}"
    code = f"{draw_number(stream, 0, 36**8):X}"[:11]
    _pay_by_debit(
        draft, f"{order} {merchant.text} {code}", AMAZON, draw_own_digits(9, "amazon mandate", life.login) + "P"
    )
    draft.reference = code


def _pay_by_own_debit(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    _pay_by_debit(
        draft,
        f"{merchant.text} Rechnung {draw_number(stream, 10**7, 10**8)}",
        (merchant.partner, merchant.text, None),
        draw_own_digits(10, "shop mandate", life.login, merchant.partner),
    )


def _pay_by_signature(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    """Debit made from a card at the till (elektronisches Lastschriftverfahren)."""
    bought_at = draft.bought_at or datetime(draft.day.year, draft.day.month, draft.day.day, 12)  # noqa: DTZ001
    _pay_by_debit(
        draft,
        f"ELV{draw_number(stream, 10**7, 10**8)} {bought_at:%d.%m %H.%M} ME{draw_number(stream, 1, 8)}",
        (merchant.partner, merchant.text.replace("#", ""), None),
        f"OFFLINE{draw_number(stream, 10**9, 10**10)}",
    )
    draft.method = "elv"


def _pay_by_transfer(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    number = draw_number(stream, 10**4, 10**6)
    partner = make_partner(merchant.partner, merchant.text.replace("#", ""), None, f"{life.login} {merchant.partner}")
    draft.method, draft.name, draft.iban, draft.bic = "transfer", partner.legal, partner.iban, partner.bic
    form = ("Rechnung Nr. {0}", "RG {0} {1}", "Re.-Nr. {0} vom {2:%d.%m.%Y}", "Rechnungsnr {0}, {1}")[number % 4]
    draft.purpose = form.format(number, life.name, draft.day - 9 * DAY)
    draft.bought_at = None


def _pay_by_machine(life: Life, merchant: Merchant, draft: Draft, stream: Random) -> None:
    """Cash from a machine: whole notes, and nobody to name as partner."""
    draft.cents = -max(1000, round(-draft.cents / 1000) * 1000)
    _pay_by_card(life, merchant, draft, stream)
    draft.method, draft.partner, draft.bought_at = "atm", None, draft.bought_at


PAYMENTS: dict[str, Callable[[Life, Merchant, Draft, Random], None]] = {
    "card": _pay_by_card,
    "visa": _pay_by_credit_card,
    "sumup": _pay_by_sumup,
    "zettle": _pay_by_zettle,
    "paypal": _pay_by_paypal,
    "klarna": _pay_by_klarna,
    "amazon": _pay_by_amazon,
    "debit": _pay_by_own_debit,
    "elv": _pay_by_signature,
    "invoice": _pay_by_transfer,
    "atm": _pay_by_machine,
}


@dataclass(frozen=True, slots=True)
class Round:
    """All that a month's purchases of one habit have in common. `key` is how their keys begin."""

    habit: Habit
    month: int
    level: float
    city: str
    favourites: Favourites
    days: tuple[tuple[date, date], ...]
    key: str
    is_scalable: bool


def draft_purchase(life: Life, trip: Round, number: int, stream: Random) -> Draft:
    habit, draw, cumulated = trip.habit, stream.random, trip.favourites.cumulated
    merchant = trip.favourites.merchants[bisect(cumulated, draw() * cumulated[-1], 0, len(cumulated) - 1)]
    bought, booked = trip.days[int(draw() * len(trip.days))]
    if draw() < 0.15:
        later = add_banking_days(booked, 1)
        booked = later if number_month(later) == trip.month else booked
    cents = -draw_cents(stream, merchant, trip.level)
    second = int(draw() * 57600)
    moment = datetime(  # noqa: DTZ001 - wall time, as the till prints it
        bought.year, bought.month, bought.day, HOURS[second // 3600], second // 60 % 60, second % 60
    )
    draft = Draft(
        f"{trip.key}{number}",
        habit.account,
        booked,
        cents,
        "card",
        "",
        habit.category,
        merchant.partner,
        freelancer=habit.freelancer,
        bought_at=moment,
        place=trip.city,
        is_scalable=trip.is_scalable,
    )
    channels = merchant.channels
    PAYMENTS[channels[int(draw() * len(channels))]](life, merchant, draft, stream)
    return draft


def draft_refund(purchase: Draft, stream: Random) -> Draft:
    """Goods sent back. The purchase keeps its price so that both agree."""
    purchase.is_scalable = False
    by_card = purchase.method == "card"
    return Draft(
        key=f"{purchase.key}/refund",
        account=purchase.account,
        day=add_banking_days(purchase.day, 3 + int(stream.random() * 5)),
        cents=-purchase.cents,
        method="card_refund" if by_card else "credit",
        purpose=purchase.purpose if by_card else f"Erstattung {purchase.purpose}",
        category="INCOME_OTHER",
        partner=purchase.partner,
        name=purchase.name,
        iban=purchase.iban,
        bic=purchase.bic,
        place=purchase.place,
        bought_at=None,
        freelancer=purchase.freelancer,
    )


def draft_purchases(life: Life, month: int) -> list[Draft]:
    """All purchases that are booked in the month, and refunds of them (booked later, maybe in the next month)."""
    drafts: list[Draft] = []
    level, city = life.find_level(month), life.find_place(month).city
    stream = open_stream("purchases", life.login, month)
    for habit in life.persona.habits:
        if not life.has_habit(habit, month):
            continue
        category = habit.category
        count = draw_count(stream, habit.rate * find_season(category, month) * (0.5 + 0.5 * level))
        if not count:
            continue
        days = list_shopping_days(month, category.startswith(ALWAYS_OPEN))
        favourites, key = weight_merchants(life.login, category), f"{habit.account}/{category}/{month}/"
        trip = Round(habit, month, level, city, favourites, days, key, category in ELASTIC)
        is_sent_back = category in REFUNDED
        for number in range(count):
            purchase = draft_purchase(life, trip, number, stream)
            drafts.append(purchase)
            if is_sent_back and stream.random() < 0.06:
                drafts.append(draft_refund(purchase, stream))
    return drafts
