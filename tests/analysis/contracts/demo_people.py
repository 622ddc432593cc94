"""The demo bank's people as input for analyses, with what is true about their contracts."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from msgspec import structs

from kontor.analysis.calendars import find_day, move_to_banking_day, number_month
from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.analysis.scoring.contract_scores import KnownContract, find_known_status
from kontor.connectors.demo.people.banking_days import BERLIN
from kontor.connectors.demo.people.person import person_for
from kontor.connectors.demo.people.schedules import MONTHS, WEEKS
from kontor.connectors.demo.people.truth import ContractTruth, Entry, Person

LOOK_AHEAD = timedelta(days=400)


@dataclass(frozen=True)
class Demo:
    records: list[Record]
    accounts: list[Account]
    known: list[KnownContract]
    purchases: frozenset[str]
    truths: dict[str, ContractTruth]

    def without_partners(self) -> list[Record]:
        return [structs.replace(record, partner=NO_PARTNER) for record in self.records]


def read_day(entry: Entry) -> date:
    assert entry.transaction.booked_at is not None
    return entry.transaction.booked_at.astimezone(BERLIN).date()


def make_record(account: str, number: int, entry: Entry) -> Record:
    booking, truth = entry.transaction, entry.truth
    return Record(
        id=f"{account}-{number}",
        account=account,
        day=read_day(entry),
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


def list_next_days(login: str, today: date) -> dict[str, date]:
    """When each contract will really be paid next."""
    later = person_for(login, today + LOOK_AHEAD)
    assert later is not None
    nexts: dict[str, date] = {}
    for account in later.accounts:
        for entry in account.entries:
            contract, day = entry.truth.contract, read_day(entry)
            if contract and entry.truth.is_regular and not entry.transaction.is_pending and day > today:
                nexts[contract] = min(day, nexts.get(contract, day))
    return nexts


def find_due(period: str, latest: date) -> date:
    """When the payment after the latest one should have come, had the contract gone on."""
    if period in WEEKS:
        return move_to_banking_day(latest + timedelta(weeks=WEEKS[period]))
    return move_to_banking_day(find_day(number_month(latest) + MONTHS[period], latest.day))


def tell_known(
    person: Person, login: str, today: date, records: dict[str, list[tuple[Record, bool]]]
) -> list[KnownContract]:
    nexts = list_next_days(login, today)
    known = []
    for truth in person.contracts:
        booked = records.get(truth.id, [])
        regular = [record for record, is_regular in booked if is_regular]
        if not regular:
            continue
        latest = max(record.day for record in regular)
        due = nexts.get(truth.id)
        expected = due if due is not None and due > today and truth.ended is None else find_due(truth.period, latest)
        known.append(
            KnownContract(
                truth.id,
                frozenset(record.id for record, _ in booked),
                frozenset(record.id for record in regular),
                truth.period,
                find_known_status(truth.period, len(regular), expected, today),
                due if truth.ended is None else None,
            )
        )
    return known


@lru_cache(maxsize=4)
def read_person(login: str, today: date) -> Demo:
    person = person_for(login, today)
    assert person is not None
    records: list[Record] = []
    booked: dict[str, list[tuple[Record, bool]]] = {}
    purchases: set[str] = set()
    accounts = []
    for account in person.accounts:
        product = account.product
        accounts.append(
            Account(account.key, product.category, product.name, person.name, product.iban or "", data_until=today)
        )
        for number, entry in enumerate(account.entries):
            record = make_record(account.key, number, entry)
            records.append(record)
            if entry.truth.contract is None:
                if record.amount < 0:
                    purchases.add(record.id)
            elif not record.is_pending:
                booked.setdefault(entry.truth.contract, []).append((record, entry.truth.is_regular))
    return Demo(
        records,
        accounts,
        tell_known(person, login, today, booked),
        frozenset(purchases),
        {truth.id: truth for truth in person.contracts},
    )
