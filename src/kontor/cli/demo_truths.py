"""The demo bank's people as input for analyses, with what is true about them. For evaluations only."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum

from msgspec import structs

from kontor.analysis.calendars import find_day, move_to_banking_day, number_month
from kontor.analysis.records import NO_PARTNER, Account, Record, make_record
from kontor.analysis.records import Tags as SaidTags
from kontor.analysis.scoring.contract_scores import KnownContract, find_known_status
from kontor.analysis.scoring.event_scores import KnownEvent
from kontor.analysis.tagging import load_tagger, make_own_accounts
from kontor.connectors.demo.people import Entry, Person, Truth, person_for
from kontor.connectors.demo.people.descriptions import load_persona
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.person import find_description
from kontor.connectors.demo.people.schedules import MONTHS, WEEKS
from kontor.domain.clocks import BERLIN
from kontor.domain.errors import NotFoundError
from kontor.domain.tags import TransactionTags

LOOK_AHEAD = timedelta(days=400)  # longer than a year, so that yearly payments are seen to come
# An end is seen once the next payment is overdue, a beginning once an earlier payment would have been seen.
OVERDUE, EARLIER = timedelta(days=45), timedelta(days=31)
# Where a life course begins anew the bookings show more than the persona tells: right when found, not asked for.
WRAPS = {
    "umzug": ("EMPLOYMENT_CHANGE", "TENANCY_START", "TENANCY_END", "RELOCATION"),
    "berufseinstieg": ("EMPLOYMENT_END", "TENANCY_END"),
}
OWN_TRANSFER, SAVED = "TRANSFER_OWN", "SAVINGS_ACCOUNT"
SAVINGS = "SAVINGS_"
SETTLEMENT, SETTLEMENT_WORD = "BANKFINANCE_TRANSFER", "KREDITKARTENABR"


class Tags(StrEnum):
    """Whose tags the analyses read: those the bookings really have, or what the tagger makes of them."""

    TRUTH = "truth"
    TAGGER = "tagger"


@dataclass(frozen=True, slots=True)
class DemoTruth:
    """A person on a day. `purchases` are everyday ones, `months` the true sums as (aggregate, month) to amount, and
    `categories` pairs of a booking's true category and the one it has here."""

    login: str
    today: date
    records: list[Record]
    accounts: list[Account]
    contracts: list[KnownContract]
    purchases: frozenset[str]
    events: list[KnownEvent]
    months: dict[tuple[str, str], Decimal]
    categories: list[tuple[str, str]]


def read_demo_person(login: str, today: date, tags: Tags = Tags.TRUTH) -> DemoTruth:
    person = _find_person(login, today)
    records: list[Record] = []
    booked: dict[str, list[tuple[Record, bool]]] = {}
    purchases: set[str] = set()
    categories = []
    for entry, record in _list_bookings(person, tags):
        records.append(record)
        categories.append((entry.truth.category, record.category))
        if entry.truth.contract is None:
            if record.amount < 0:
                purchases.add(record.id)
        elif not record.is_pending:
            booked.setdefault(entry.truth.contract, []).append((record, entry.truth.is_regular))
    first = min((record.day for record in records), default=today)
    return DemoTruth(
        login,
        today,
        records,
        _list_accounts(person, today),
        _tell_contracts(person, today, booked),
        frozenset(purchases),
        _tell_events(person, first, today),
        _sum_months(person),
        categories,
    )


def read_demo_records(login: str, today: date, tags: Tags = Tags.TRUTH) -> tuple[list[Record], list[Account]]:
    """Bookings and accounts alone, for what needs no truth beside them."""
    person = _find_person(login, today)
    return [record for _, record in _list_bookings(person, tags)], _list_accounts(person, today)


def _find_person(login: str, today: date) -> Person:
    person = person_for(login, today)
    if person is None:
        raise NotFoundError(f"The demo bank has no customer {login}.")
    return person


# Records


def _list_bookings(person: Person, tags: Tags) -> list[tuple[Entry, Record]]:
    entries = [(account.key, entry) for account in person.accounts for entry in account.entries]
    said: Sequence[SaidTags]
    if tags is Tags.TRUTH:
        said = [_tell_tags(entry.truth) for _, entry in entries]
    else:
        products = [account.product for account in person.accounts]
        own = make_own_accounts((product.iban or "", person.name, product.category) for product in products)
        said = load_tagger().tag([entry.transaction for _, entry in entries], own)
    bookings = []
    for number, ((account, entry), transaction_tags) in enumerate(zip(entries, said, strict=True)):
        record = make_record(f"{account}-{number}", account, entry.transaction, transaction_tags)
        bookings.append((entry, structs.replace(record, is_pending=entry.transaction.is_pending)))
    return bookings


def _tell_tags(truth: Truth) -> TransactionTags:
    partner = truth.partner or NO_PARTNER
    return TransactionTags(truth.category, truth.insurance_type, partner, truth.freelancer_category, 1.0, 1.0, 1.0, 1.0)


def _list_accounts(person: Person, today: date) -> list[Account]:
    return [
        Account(
            account.key,
            account.product.category,
            account.product.name,
            person.name,
            account.product.iban or "",
            balance=account.product.balance,
            data_until=today,
        )
        for account in person.accounts
    ]


def _read_day(entry: Entry) -> date:
    assert entry.transaction.booked_at is not None, "the demo bank dates everything"
    return entry.transaction.booked_at.astimezone(BERLIN).date()


# What is true


def _sum_months(person: Person) -> dict[tuple[str, str], Decimal]:
    """What the bank booked, without what moved between own accounts or was saved on one of them."""
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    ibans = {account.product.iban for account in person.accounts} - {None}
    for account in person.accounts:
        for entry in account.entries:
            transaction = entry.transaction
            if (
                transaction.is_pending
                or transaction.currency != "EUR"
                or not transaction.amount
                or entry.truth.category in (OWN_TRANSFER, SAVED)
            ):
                continue
            is_own = transaction.counterparty_iban in ibans or transaction.counterparty_name == person.name
            if (is_own and entry.truth.category.startswith(SAVINGS)) or _is_settlement(entry):
                continue
            side = "INCOME" if transaction.amount > 0 else "EXPENSES"
            sums[side, f"{_read_day(entry):%Y_M%m}"] += transaction.amount
    return dict(sums)


def _is_settlement(entry: Entry) -> bool:
    """Cards are accounts of the same person at the same bank."""
    purpose = "".join((entry.transaction.purpose or "").split()).upper()
    return entry.truth.category == SETTLEMENT and SETTLEMENT_WORD in purpose


def _tell_contracts(person: Person, today: date, booked: dict[str, list[tuple[Record, bool]]]) -> list[KnownContract]:
    nexts = _list_next_days(person.login, today)
    known = []
    for truth in person.contracts:
        bookings = booked.get(truth.id, [])
        regular = [record for record, is_regular in bookings if is_regular]
        if not regular:
            continue
        due = nexts.get(truth.id) if truth.ended is None else None
        expected = due or _find_due(truth.period, max(record.day for record in regular))
        known.append(
            KnownContract(
                truth.id,
                frozenset(record.id for record, _ in bookings),
                frozenset(record.id for record in regular),
                truth.period,
                find_known_status(truth.period, len(regular), expected, today),
                due,
            )
        )
    return known


def _list_next_days(login: str, today: date) -> dict[str, date]:
    """When each contract will really be paid next: the bank's future is known."""
    nexts: dict[str, date] = {}
    for account in _find_person(login, today + LOOK_AHEAD).accounts:
        for entry in account.entries:
            contract, day = entry.truth.contract, _read_day(entry)
            if contract and entry.truth.is_regular and not entry.transaction.is_pending and day > today:
                nexts[contract] = min(day, nexts.get(contract, day))
    return nexts


def _find_due(period: str, latest: date) -> date:
    """When the payment after the latest one should have come, had the contract gone on."""
    if period in WEEKS:
        return move_to_banking_day(latest + timedelta(weeks=WEEKS[period]))
    return move_to_banking_day(find_day(number_month(latest) + MONTHS[period], latest.day))


def _tell_events(person: Person, first: date, today: date) -> list[KnownEvent]:
    known = []
    for event in person.life_events:
        is_visible = event.date - first >= EARLIER
        if event.name.endswith("_END"):
            is_visible = is_visible and today - event.date >= OVERDUE
        known.append(KnownEvent(event.name, event.date, is_visible))
    return [*known, *_list_wraps(person.login)]


def _list_wraps(login: str) -> Sequence[KnownEvent]:
    description = find_description(login)
    assert description is not None, "there is such a person"
    names = WRAPS.get(description, ())
    life = Life(login, load_persona(description))
    days = (
        [find_day(life.cycle_start + cycle * life.persona.cycle_months, 1) for cycle in range(-3, 4)] if names else []
    )
    return [KnownEvent(name, day, is_visible=False) for name in names for day in days]
