"""The demo bank's people as input for analyses, with what is true about their lives."""

from dataclasses import dataclass
from datetime import date, timedelta

from kontor.analysis.calendars import find_day
from kontor.analysis.contracts import find_contracts
from kontor.analysis.contracts.findings import Contract
from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.analysis.scoring.event_scores import KnownEvent
from kontor.connectors.demo.people.banking_days import BERLIN
from kontor.connectors.demo.people.descriptions import load_persona
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.person import find_description, person_for
from kontor.connectors.demo.people.truth import Person

# An end is seen once the next payment is overdue, a beginning once an earlier payment would have been seen.
OVERDUE, EARLIER = timedelta(days=45), timedelta(days=31)
# Where a life course begins anew the bookings show more than the persona tells: right when found, not asked for.
WRAPS = {
    "umzug": ("EMPLOYMENT_CHANGE", "TENANCY_START", "TENANCY_END", "RELOCATION"),
    "berufseinstieg": ("EMPLOYMENT_END", "TENANCY_END"),
}


@dataclass(frozen=True)
class DemoLife:
    records: list[Record]
    contracts: list[Contract]
    accounts: list[Account]
    events: list[KnownEvent]


def read_records(person: Person) -> list[Record]:
    records = []
    for account in person.accounts:
        for number, entry in enumerate(account.entries):
            booking, truth = entry.transaction, entry.truth
            assert booking.booked_at is not None
            records.append(
                Record(
                    id=f"{account.key}-{number}",
                    account=account.key,
                    day=booking.booked_at.astimezone(BERLIN).date(),
                    amount=booking.amount,
                    category=truth.category,
                    currency=booking.currency or "EUR",
                    insurance_type=truth.insurance_type,
                    partner=truth.partner or NO_PARTNER,
                    freelancer_category=truth.freelancer_category,
                    purpose=booking.purpose or "",
                    booking_text=booking.booking_text or "",
                    gv_code=booking.gv_code or "",
                    counterparty_name=booking.counterparty_name or "",
                    counterparty_iban=booking.counterparty_iban or "",
                    counterparty_bic=booking.counterparty_bic or "",
                    ultimate_counterparty=booking.ultimate_counterparty or "",
                    is_pending=booking.is_pending,
                )
            )
    return records


def tell_known(person: Person, login: str, first: date, today: date) -> list[KnownEvent]:
    known = []
    for event in person.life_events:
        is_visible = event.date - first >= EARLIER
        if event.name.endswith("_END"):
            is_visible = is_visible and today - event.date >= OVERDUE
        known.append(KnownEvent(event.name, event.date, is_visible))
    description = find_description(login)
    assert description is not None
    life = Life(login, load_persona(description))
    for name in WRAPS.get(description, ()):
        for cycle in range(-3, 4):
            day = find_day(life.cycle_start + cycle * life.persona.cycle_months, 1)
            known.append(KnownEvent(name, day, is_visible=False))
    return known


def read_life(login: str, today: date) -> DemoLife:
    person = person_for(login, today)
    assert person is not None
    records = read_records(person)
    accounts = [
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
    first = min((record.day for record in records), default=today)
    return DemoLife(
        records, find_contracts(records, accounts, today), accounts, tell_known(person, login, first, today)
    )
