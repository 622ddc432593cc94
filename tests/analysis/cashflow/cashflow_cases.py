"""Reads the golden cases `cases/*.json`, and the demo bank's people as input for analyses."""

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from kontor.analysis.cashflow import Cashflow, Focus, Level, Options, TaggedBy, find_cashflow
from kontor.analysis.contracts import find_contracts
from kontor.analysis.records import NO_PARTNER, Account, Record
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN

FOLDER = Path(__file__).parent / "cases"
READERS = {"focus": Focus, "tagged_by": TaggedBy, "level": Level}


@dataclass(frozen=True)
class Case:
    today: date
    options: Options
    accounts: list[Account]
    records: list[Record]
    expected: list[dict[str, Any]]


def read_record(row: dict[str, Any], place: int) -> Record:
    known = {"id": f"t{place + 1}", "account": "giro"} | row
    known["day"], known["amount"] = date.fromisoformat(row["day"]), Decimal(row["amount"])
    known["counterparty_name"] = known.pop("name", "")
    return Record(**known)


def read_case(name: str) -> Case:
    table = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    options = {key: READERS.get(key, lambda option: option)(value) for key, value in table.get("options", {}).items()}
    accounts = [
        Account(row["id"], data_until=date.fromisoformat(row["data_until"])) for row in table.get("accounts", [])
    ]
    records = [read_record(row, place) for place, row in enumerate(table["transactions"])]
    return Case(date.fromisoformat(table["today"]), Options(**options), accounts, records, table["expected"])


def list_cases() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.json"))


def run_case(case: Case) -> list[Cashflow]:
    contracts = find_contracts(case.records, case.accounts, case.today)
    return find_cashflow(case.records, contracts, case.accounts, case.today, case.options)


def show(flow: Cashflow) -> dict[str, Any]:
    """A finding as the case files write it."""
    shown: dict[str, Any] = {"item": flow.item}
    if flow.is_aggregate:
        shown["aggregate"] = True
    shown["statistics"] = {statistic.item: str(statistic.amount) for statistic in flow.statistics}
    if flow.predictions:
        shown["predictions"] = {
            prediction.item: {
                "cashflow": str(prediction.amount),
                "regular": str(prediction.regular),
                "irregular": str(prediction.irregular),
                "lower": str(prediction.lower),
                "upper": str(prediction.upper),
            }
            for prediction in flow.predictions
        }
    if flow.excluded_currencies:
        shown["excluded_currencies"] = list(flow.excluded_currencies)
    return shown


@lru_cache(maxsize=4)
def read_person(login: str, today: date) -> tuple[list[Record], list[Account]]:
    """The bookings of one of the demo bank's people with their true categories, and the accounts."""
    person = person_for(login, today)
    assert person is not None
    records, accounts = [], []
    for account in person.accounts:
        product = account.product
        accounts.append(Account(account.key, product.category, product.name, person.name, product.iban or ""))
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
                    purpose=booking.purpose or "",
                    booking_text=booking.booking_text or "",
                    gv_code=booking.gv_code or "",
                    counterparty_name=booking.counterparty_name or "",
                    counterparty_iban=booking.counterparty_iban or "",
                    is_pending=booking.is_pending,
                )
            )
    return records, accounts
