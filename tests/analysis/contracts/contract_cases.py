"""Reads the golden cases: `cases/*.json`, one difficulty each."""

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from kontor.analysis.records import NO_INSURANCE, NO_PARTNER, Account, Record
from kontor.domain.products import ProductCategory

FOLDER = Path(__file__).parent / "cases"
NAMES = {"name": "counterparty_name", "iban": "counterparty_iban", "bic": "counterparty_bic"}


@dataclass(frozen=True)
class Case:
    why: str
    today: date
    accounts: list[Account]
    records: list[Record]
    expected: list[dict[str, Any]]


def read_account(row: dict[str, Any]) -> Account:
    known = {**row, "category": ProductCategory(row.get("category", "CHECKING"))}
    if "data_until" in row:
        known["data_until"] = date.fromisoformat(row["data_until"])
    return Account(**known)


def read_record(row: dict[str, Any]) -> Record:
    known = {NAMES.get(name, name): value for name, value in row.items()}
    known["day"], known["amount"] = date.fromisoformat(row["day"]), Decimal(row["amount"])
    return Record(**({"insurance_type": NO_INSURANCE, "partner": NO_PARTNER} | known))


def read_case(name: str) -> Case:
    table = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Case(
        table["why"],
        date.fromisoformat(table["today"]),
        [read_account(row) for row in table["accounts"]],
        [read_record(row) for row in table["transactions"]],
        table["expected"],
    )


def list_cases() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.json"))
