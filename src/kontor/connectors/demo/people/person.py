"""A person as the demo bank shows it today.

The bank shows whole months of history: from the first day of the month `persona.months` before today's. Bookings up to
today are final, card payments made but not yet booked are pending, all else is still to come.
"""

from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from operator import attrgetter

from kontor.connectors.demo.people.amounts import count_rises
from kontor.connectors.demo.people.banking_days import (
    BERLIN,
    DAY,
    find_day,
    find_first_day,
    move_to_banking_day,
    number_month,
)
from kontor.connectors.demo.people.bookings import Draft
from kontor.connectors.demo.people.descriptions import AccountPlan, Habit, load_persona
from kontor.connectors.demo.people.ledger import Ledger, find_opening_balance, open_ledger
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.products import make_depot, make_product, read_cents
from kontor.connectors.demo.people.securities import list_positions
from kontor.connectors.demo.people.truth import Account, ContractTruth, Entry, LifeEvent, Person
from kontor.connectors.demo.people.wording import StatementWriter

PERSONAS = (
    "demo1",
    "student",
    "berufseinstieg",
    "familie",
    "freiberuf",
    "rente",
    "schulden",
    "vermoegend",
    "arbeitslos",
    "elternzeit",
    "hauskauf",
    "umzug",
    "trennung",
    "azubi",
)
TEST_LOGINS = (
    "test_sca_method",
    "test_sca_method_media",
    "test_decoupled",
    "test_phototan",
    "test_chiptan",
    "test_redirect",
    "test_failing_payment",
    "test_reference",
    "test_unreachable",
    "test_partial",
    "test_slow",
    "test_locked",
    "test_vop_close",
    "test_vop_nomatch",
    "test_internal",
    "test_bank_message",
    "test_product_error",
    "test_transactions_error",
    "test_positions_error",
    "test_products",
    "test_student",
    "test_broken_rows",
    "test_large",
)
# Logins whose persona is their own; other test logins share one.
OWN_PERSONAS = frozenset({*PERSONAS, "leer", "test_positions_error", "test_products", "test_student"})
LARGE_COUNT = 40_000
LARGE_MONTHS = 60
# Direct debits are known to the bank before they are booked.
ANNOUNCED = frozenset({"debit", "first_debit"})
_read_draft_day = attrgetter("day")


def find_description(login: str) -> str | None:
    """The name of the persona that a login lives as."""
    kind = login.partition("+")[0]
    if kind in OWN_PERSONAS:
        return kind
    return "test" if kind in TEST_LOGINS else None


def person_for(login: str, today: date) -> Person | None:
    """The customer with that login as of today, or nothing if there is none. The same call gives the same data."""
    description = find_description(login)
    if description is None:
        return None
    if login.partition("+")[0] == "test_large":
        return large_person(LARGE_COUNT, today, login)
    return _build_person(login, description, today)


@lru_cache(maxsize=8)
def _build_person(login: str, description: str, today: date) -> Person:
    life = Life(login, load_persona(description))
    last = number_month(today)
    return build_person(life, last - life.persona.months, today)


@lru_cache(maxsize=1)
def large_person(count: int, today: date, login: str = "test_large") -> Person:
    """A customer whose checking account has exactly `count` final bookings: the newest ones of five busy years."""
    persona = load_persona("large")
    # A little more than needed, as months differ: their sum over five years does so by less than one percent.
    wanted = count / LARGE_MONTHS * 1.04 + 5
    total = sum(habit.rate for habit in persona.habits)
    habits = tuple(Habit(habit.category, habit.rate * wanted / total) for habit in persona.habits)
    life = Life(login, replace(persona, habits=habits))
    return build_person(life, number_month(today) - LARGE_MONTHS, today, newest=count)


def build_person(life: Life, first: int, today: date, newest: int | None = None) -> Person:
    """The person with a history from the month `first` on, and of the main account only so many of the newest ones."""
    last = number_month(today)
    # Card payments of the last days are booked in the month to come.
    ledger = open_ledger(life, first, last + 1)
    accounts = tuple(
        build_account(life, plan, ledger, first, today, newest if plan.key == "main" else None)
        for plan in life.persona.accounts
    )
    return Person(
        login=life.login,
        name=life.name,
        address=life.find_address(last),
        accounts=accounts,
        life_events=tell_life_events(life, ledger, first, today),
        contracts=tell_contracts(ledger, accounts, today),
    )


def build_account(
    life: Life, plan: AccountPlan, ledger: Ledger, first: int, today: date, newest: int | None
) -> Account:
    if plan.kind.is_depot:
        positions = list_positions(life, plan, today)
        return Account(plan.key, make_depot(life, plan, positions, today), positions=positions)
    last = number_month(today)
    # Sorting keeps the order of a day's bookings, which is that of their making and does not depend on the window.
    finals = [draft for draft in ledger.list_account(plan.key, first, last) if draft.day <= today]
    finals.sort(key=_read_draft_day)
    opening = find_opening_balances(life, plan, ledger, first)
    if newest is not None and newest < len(finals):
        opening["EUR"] += sum(draft.cents for draft in finals[: len(finals) - newest])
        finals = finals[len(finals) - newest :]
    balances = dict(opening)
    for draft in finals:
        balances[draft.currency] = balances.get(draft.currency, 0) + draft.cents
    pen = StatementWriter(life, plan.key)
    return Account(
        plan.key,
        make_product(life, plan, balances, today),
        {currency: read_cents(cents) for currency, cents in opening.items()},
        (*map(pen.write_final, finals), *write_pendings(pen, ledger.list_account(plan.key, last, last + 1), today)),
    )


def find_announcement(draft: Draft) -> date | None:
    """From when on the bank shows a booking to come: a card's use at once, a direct debit a banking day ahead."""
    if draft.bought_at is not None:
        return draft.bought_at.date()
    return move_to_banking_day(draft.day - DAY, -1) if draft.method in ANNOUNCED else None


def write_pendings(pen: StatementWriter, drafts: list[Draft], today: date) -> list[Entry]:
    pending = [
        (draft, shown_from)
        for draft in drafts
        if draft.day > today and (shown_from := find_announcement(draft)) is not None and shown_from <= today
    ]
    pending.sort(key=lambda pair: pair[0].day)
    return [pen.write_pending(draft, shown_from) for draft, shown_from in pending]


def find_opening_balances(life: Life, plan: AccountPlan, ledger: Ledger, first: int) -> dict[str, int]:
    cents = find_opening_balance(life, plan, ledger, first)
    return {"EUR": cents} | {name: cents // 3 + len(life.login) * 100 for name in plan.currencies if name != "EUR"}


def tell_life_events(life: Life, ledger: Ledger, first: int, today: date) -> tuple[LifeEvent, ...]:
    """Events inside the window that the bookings give reason for."""
    begin = find_first_day(first)
    events: set[tuple[date, str]] = set()
    for fixed, drafts in ledger.agreements:
        agreement, term = fixed.agreement, fixed.term
        days = [draft.day for draft in drafts if draft.account == agreement.account and draft.key.endswith("/")]
        if not days:
            continue
        if agreement.starts and term.start is not None and term.start >= first:
            events.add((min(days), agreement.starts))
        if agreement.ends and term.end is not None and term.end <= number_month(today):
            events.add((max(days), agreement.ends))
        if agreement.event:
            events.add((days[0], agreement.event))
        if agreement.category == "INCOME_SALARY" and agreement.rise[1] and agreement.contract:
            months = [number_month(draft.day) for draft in drafts if draft.is_regular]
            raised = (
                day
                for day, month, before in zip(days[1:], months[1:], months, strict=False)
                if count_rises(life, term, month) > count_rises(life, term, before)
            )
            events |= {(day, "SALARY_INCREASE") for day in raised}
    length = life.persona.cycle_months
    for offset, day_of_month, name in life.persona.events:
        cycle = (number_month(today) - life.cycle_start - offset) // length
        events.add((find_day(life.cycle_start + cycle * length + offset, day_of_month), name))
    return tuple(LifeEvent(day, name) for day, name in sorted(events) if begin <= day <= today)


def tell_contracts(ledger: Ledger, accounts: tuple[Account, ...], today: date) -> tuple[ContractTruth, ...]:
    """The agreements that show in the data."""
    seen: dict[str, list[date]] = {}
    announced: dict[str, list[date]] = {}
    for account in accounts:
        for entry in account.entries:
            if entry.truth.contract is not None and entry.transaction.booked_at is not None:
                found = announced if entry.transaction.is_pending else seen
                found.setdefault(entry.truth.contract, []).append(_read_day(entry.transaction.booked_at))
    seen = announced | seen
    contracts = []
    for fixed, _ in ledger.agreements:
        if fixed.contract is None or fixed.contract not in seen:
            continue
        days, term = seen[fixed.contract], fixed.term
        is_over = term.end is not None and term.end <= number_month(today)
        contract_numbers, customer_numbers = fixed.shown_numbers
        contracts.append(
            ContractTruth(
                id=fixed.contract,
                partner=fixed.life.name if fixed.agreement.to else fixed.partner.brand,
                category=fixed.agreement.category,
                insurance_type=fixed.agreement.insurance,
                period=fixed.agreement.period,
                first=min(days),
                ended=max(days) if is_over else None,
                contract_numbers=contract_numbers,
                customer_numbers=customer_numbers,
            )
        )
    return tuple(contracts)


@lru_cache(maxsize=8192)
def _read_day(moment: datetime) -> date:
    return moment.astimezone(BERLIN).date()
