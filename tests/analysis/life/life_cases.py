"""Reads the golden cases: `cases/<analysis>/*.json`, one situation each, that a person can read.

`everyday_since` stands for a purchase every week from that day on, so that the data has a beginning and an end. A row
with `monthly` is a payment every month between two days, on the day of the first one (or the month's last).
"""

import json
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from kontor.analysis.contracts import Contract, find_contracts
from kontor.analysis.records import Account, Record

FOLDER = Path(__file__).parent / "cases"
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Case:
    why: str
    today: date
    records: list[Record]
    contracts: list[Contract]
    accounts: list[Account]
    expected: Any

    @property
    def facts(self) -> tuple[list[Record], list[Contract], list[Account], date]:
        return self.records, self.contracts, self.accounts, self.today


def list_months(first: date, until: date) -> Iterator[date]:
    """Every month on the first one's day; a month that is shorter has its last day instead."""
    day, year, month = first.day, first.year, first.month
    while (found := date(year, month, min(day, monthrange(year, month)[1]))) <= until or (
        (year, month) == (until.year, until.month)
    ):
        yield until if (year, month) == (until.year, until.month) else found
        year, month = year + month // 12, month % 12 + 1


def make_record(row: dict[str, Any], number: str, day: date) -> Record:
    known = {key: value for key, value in row.items() if key not in ("id", "day", "monthly", "name", "amount")}
    account = known.pop("account", "main")
    return Record(
        id=number, account=account, day=day, amount=Decimal(row["amount"]), counterparty_name=row["name"], **known
    )


def read_rows(rows: list[dict[str, Any]]) -> Iterator[Record]:
    for row in rows:
        if "monthly" not in row:
            yield make_record(row, row["id"], date.fromisoformat(row["day"]))
            continue
        first, until = map(date.fromisoformat, row["monthly"])
        for place, day in enumerate(list_months(first, until), start=1):
            yield make_record(row, f"{row['id']}-{place}", day)


def list_everyday(first: date, until: date) -> Iterator[Record]:
    day, place = first, 0
    while day <= until:
        amount = Decimal(-2000 - (place * 37) % 900).scaleb(-2)
        yield Record(f"everyday-{place}", "main", day, amount, "LIVING_GROCERIES", gv_code="106")
        day, place = day + WEEK, place + 1


def read_case(kind: str, name: str) -> Case:
    table = json.loads((FOLDER / kind / f"{name}.json").read_text(encoding="utf-8"))
    today = date.fromisoformat(table["today"])
    records = list(read_rows(table["transactions"]))
    if "everyday_since" in table:
        until = date.fromisoformat(table.get("everyday_until", table["today"]))
        records += list_everyday(date.fromisoformat(table["everyday_since"]), until)
    records.sort(key=lambda record: (record.day, record.id))
    accounts = [
        Account(
            account["id"],
            data_until=date.fromisoformat(account["data_until"]),
            balance=Decimal(account["balance"]) if "balance" in account else None,
        )
        for account in table.get("accounts", [{"id": "main", "data_until": table["today"]}])
    ]
    return Case(table["why"], today, records, find_contracts(records, accounts, today), accounts, table["expected"])


def list_cases(kind: str) -> list[str]:
    return sorted(file.stem for file in (FOLDER / kind).glob("*.json"))
