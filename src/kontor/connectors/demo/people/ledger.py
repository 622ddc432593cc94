"""All bookings of a life in a stretch of months, whole months always; and the balances before them."""

from collections import defaultdict
from dataclasses import dataclass

from kontor.connectors.demo.people.agreements import (
    INCOMING,
    FixedAgreement,
    draft_own_transfer,
    draft_term,
    fix_agreement,
)
from kontor.connectors.demo.people.amounts import compute_cents
from kontor.connectors.demo.people.banking_days import find_first_day, list_banking_days, number_month
from kontor.connectors.demo.people.bookings import Draft
from kontor.connectors.demo.people.budget import close_month, find_closing_balance
from kontor.connectors.demo.people.currencies import draft_currency_transfers
from kontor.connectors.demo.people.descriptions import AccountPlan
from kontor.connectors.demo.people.life import EPOCH, Life
from kontor.connectors.demo.people.numbers import DEMO_BANK
from kontor.connectors.demo.people.products import number_product
from kontor.connectors.demo.people.purchases import draft_purchases
from kontor.connectors.demo.people.schedules import list_payments
from kontor.connectors.demo.people.streams import draw_share


@dataclass(slots=True)
class Ledger:
    """Drafts by account and month of booking, and the agreements they come from with their own drafts."""

    months: dict[tuple[str, int], list[Draft]]
    agreements: list[tuple[FixedAgreement, list[Draft]]]

    def list_account(self, account: str, first: int, last: int) -> list[Draft]:
        return [draft for month in range(first, last + 1) for draft in self.months.get((account, month), ())]

    def enter(self, drafts: list[Draft]) -> None:
        for draft in drafts:
            self.months[draft.account, number_month(draft.day)].append(draft)


def enter_card_settlement(life: Life, ledger: Ledger, plan: AccountPlan, month: int) -> None:
    """The card's charges of the month before are collected from the main account."""
    card = plan.key
    owed = sum(draft.cents for draft in ledger.months.get((card, month - 1), ()) if draft.method != "credit")
    if not owed:
        return
    payment = Draft(
        key=f"{card}/settlement/{month}",
        account="main",
        day=list_banking_days(month)[4],
        cents=owed,
        method="settlement" if owed < 0 else "credit",
        purpose=f"Kreditkartenabrechnung {(month - 1) % 12 + 1:02d}/{(month - 1) // 12} {number_product(life, plan)}",
        category="BANKFINANCE_TRANSFER",
        partner=DEMO_BANK,
    )
    legs = draft_own_transfer(life, payment, card)
    legs[1].category = "BANKFINANCE_TRANSFER"
    # A card is no account one can transfer to: the bank names itself.
    payment.name, payment.partner, payment.iban = f"{DEMO_BANK} Kreditkartenservice", DEMO_BANK, None
    legs[1].partner = DEMO_BANK
    ledger.enter(legs)


def open_ledger(life: Life, first: int, last: int) -> Ledger:
    """Everything booked in the months from `first` to `last`.

    Looked at are also the month before, from which returned debits and refunds reach over, and the one after, from
    which payments are moved back to a banking day. A card's first statement needs one month more.
    """
    ledger = Ledger(defaultdict(list), [])
    for agreement in life.persona.agreements:
        for term in life.list_terms(agreement, first - 1, last + 1):
            fixed = fix_agreement(life, term)
            drafts = draft_term(fixed, first - 1, last + 1)
            ledger.agreements.append((fixed, drafts))
            ledger.enter(drafts)
    for month in range(first - (1 if life.card_account is None else 2), last + 1):
        ledger.enter(draft_purchases(life, month))
    for month in range(first, last + 1):
        for plan in life.persona.accounts:
            if plan.key == life.card_account:
                enter_card_settlement(life, ledger, plan, month)
        for plan in life.persona.accounts:
            if plan.currencies:
                ledger.enter(draft_currency_transfers(life, plan, month))
            if plan.close:
                ledger.enter(close_month(life, plan, month, ledger.months[plan.key, month]))
    return ledger


def sum_planned(life: Life, plan: AccountPlan, until: int) -> int:
    """What planned bookings have added to the account from the epoch up to the month `until`."""
    total = 0
    end = find_first_day(until)
    for agreement in life.persona.agreements:
        if plan.key not in (agreement.account, agreement.to):
            continue
        sign = 1 if agreement.to == plan.key or agreement.method in INCOMING else -1
        for term in life.list_terms(agreement, EPOCH, until):
            due = list_payments(life, term, EPOCH, until)
            total += sign * sum(compute_cents(life, term, month) for month, day in due if day < end)
    return total


def find_opening_balance(life: Life, plan: AccountPlan, ledger: Ledger, first: int) -> int:
    """The balance, in cents, before the first day of the month `first`."""
    if plan.close:
        return find_closing_balance(life, plan, first - 1)
    if plan.key == life.card_account:
        charges = ledger.months.get((plan.key, first - 1), ())
        return sum(draft.cents for draft in charges if draft.method != "credit")
    low, high = plan.balance
    base = round((low + (high - low) * draw_share("epoch balance", life.login, plan.key)) * 100)
    # What comes into a pocket account in a month leaves it in the same month.
    return base if plan.currencies else base + sum_planned(life, plan, first)
