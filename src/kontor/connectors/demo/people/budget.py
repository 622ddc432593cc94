"""Closing the month of an account in daily use.

Whatever a month brought, its last balance is the one that `find_closing_balance` gives: what is left over is moved
away, what is missing is moved in, and one shopping trip takes the odd cents. So a balance is known without the history
before it, and nobody drifts into riches or ruin over the years.
"""

from datetime import date, datetime, time

from kontor.connectors.demo.people.agreements import draft_counter_booking
from kontor.connectors.demo.people.banking_days import DAY, is_shop_open, list_banking_days
from kontor.connectors.demo.people.bookings import Draft
from kontor.connectors.demo.people.descriptions import AccountPlan
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.numbers import DEMO_BIC
from kontor.connectors.demo.people.partners import Partner, make_own_account_elsewhere, make_private_person
from kontor.connectors.demo.people.purchases import number_branch
from kontor.connectors.demo.people.streams import derive_number, draw_share, pick_one
from kontor.connectors.demo.people.words import load_merchants, weight_merchants

SMALL_REST = 3000
MAX_WITHDRAWAL = 40000
OWN_PURPOSES = ("Umbuchung", "Übertrag", "Umbuchung Rücklage", "Übertrag eigenes Konto", "Eigenübertrag")
FAMILY_PURPOSES = ("Zuschuss", "Für dich", "Taschengeld", "wie besprochen", "Hilfe für {0}")


def find_closing_balance(life: Life, plan: AccountPlan, month: int) -> int:
    low, high = plan.balance
    return round((low + (high - low) * draw_share("closing", life.login, plan.key, month)) * 100)


def stretch_purchases(drafts: list[Draft], wanted: int) -> None:
    """Make everyday purchases larger or smaller, within reason, to come closer to the wanted sum of the month."""
    elastic = [draft for draft in drafts if draft.is_scalable]
    spent = -sum(draft.cents for draft in elastic)
    if spent <= 0:
        return
    factor = min(1.25, max(0.8, (spent + sum(draft.cents for draft in drafts) - wanted) / spent))
    for draft in elastic:
        draft.cents = -max(60, round(-draft.cents * factor))


def draft_last_purchase(life: Life, plan: AccountPlan, month: int, cents: int) -> Draft:
    """Groceries near the end of the month, for exactly that much."""
    days = list_banking_days(month)
    booked = days[-1 - derive_number("last purchase", life.login, month) % 6]
    bought = booked - DAY
    while not is_shop_open(bought):
        bought -= DAY
    shops = [shop for shop in weight_merchants(life.login, "LIVING_GROCERIES").merchants if shop.weight >= 8]
    shop = pick_one(shops or load_merchants()["LIVING_GROCERIES"], "last shop", life.login, month)
    text = number_branch(life.login, shop.text, 0)
    minute = derive_number("last minute", life.login, month) % 60
    return Draft(
        key=f"{plan.key}/last/{month}",
        account=plan.key,
        day=booked,
        cents=-cents,
        method="card",
        purpose=text,
        category="LIVING_GROCERIES",
        partner=shop.partner,
        bought_at=datetime.combine(bought, time(9 + minute % 10, minute, 59 - minute)),
        place=life.find_place(month).city,
    )


def _draft_move(life: Life, plan: AccountPlan, month: int, day: date, cents: int, partner: Partner) -> Draft:
    """Money that leaves (negative) or comes, between the account and a partner."""
    return Draft(
        key=f"{plan.key}/rest/{month}",
        account=plan.key,
        day=day,
        cents=cents,
        method="transfer" if cents < 0 else "credit",
        purpose=pick_one(OWN_PURPOSES, "rest purpose", life.login, plan.key, month),
        category="TRANSFER_OWN",
        partner=partner.brand,
        name=partner.legal,
        iban=partner.iban,
        bic=partner.bic,
    )


def _draft_help(life: Life, plan: AccountPlan, month: int, day: date, cents: int) -> Draft:
    draft = _draft_move(life, plan, month, day, cents, make_private_person(life, "parent"))
    purpose = pick_one(FAMILY_PURPOSES, "help", life.login, month)
    draft.purpose, draft.category = purpose.format(life.given_names[0]), "OTHER_INCOME"
    return draft


def draft_cash(life: Life, plan: AccountPlan, month: int, cents: int) -> list[Draft]:
    """Cash from machines in amounts that machines give, or cash paid in at one."""
    days = list_banking_days(month)
    drafts: list[Draft] = []
    while cents:
        part = max(-MAX_WITHDRAWAL, cents)
        day = days[(3 + 5 * len(drafts)) % len(days)]
        draft = Draft(
            key=f"{plan.key}/cash/{month}/{len(drafts)}",
            account=plan.key,
            day=day,
            cents=part,
            method="atm" if part < 0 else "atm_in",
            purpose=f"GA NR{derive_number('machine', life.login, len(drafts)) % 10**8:08d} BLZ99999999",
            category="BANKFINANCE_ATMWITHDRAWAL" if part < 0 else "BANKFINANCE_ATMDEPOSIT",
            place=life.find_place(month).city,
        )
        if part < 0:
            draft.bought_at = datetime.combine(day - DAY, time(17, 10 + len(drafts)))
        drafts.append(draft)
        cents -= part
    return drafts


def draft_rest(life: Life, plan: AccountPlan, month: int, rest: int) -> list[Draft]:
    """Move a surplus (positive rest) away, or a shortfall in, the way this account's owner does."""
    days = list_banking_days(month)
    number = derive_number("rest day", life.login, plan.key, month)
    day = days[-1 - number % 4] if rest > 0 else days[len(days) // 3 + number % 6]
    if plan.close == "cash" or (plan.close == "family" and rest > 0):
        return draft_cash(life, plan, month, -rest)
    if plan.close == "family":
        return [_draft_help(life, plan, month, day, -rest)]
    if plan.close == "external":
        return [_draft_move(life, plan, month, day, -rest, make_own_account_elsewhere(life))]
    own = Partner(life.name, life.name, "", life.ibans[plan.close], DEMO_BIC)
    draft = _draft_move(life, plan, month, day, -rest, own)
    draft.purpose = "Privatentnahme" if rest > 0 else "Privateinlage"
    draft.freelancer = "PRIVATEWITHDRAWAL" if rest > 0 else "PRIVATEDEPOSIT"
    return [draft, draft_counter_booking(life, draft, plan.close)]


def close_month(life: Life, plan: AccountPlan, month: int, drafts: list[Draft]) -> list[Draft]:
    """What has to be booked besides `drafts` so that the month ends on its closing balance."""
    wanted = find_closing_balance(life, plan, month) - find_closing_balance(life, plan, month - 1)
    stretch_purchases(drafts, wanted)
    purchase = 3500 + derive_number("last amount", life.login, plan.key, month) % 3000
    surplus = sum(draft.cents for draft in drafts) - purchase - wanted
    rest = round(surplus / 1000) * 1000
    if abs(rest) <= SMALL_REST:
        rest = 0
    closing = [draft_last_purchase(life, plan, month, purchase + surplus - rest)]
    return closing + draft_rest(life, plan, month, rest) if rest else closing
