"""Findings of the API's analyses (tag instances of a customer), read once for the pages that show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from kontor.console.finding_reasons import Reasons


@dataclass(frozen=True, slots=True)
class Finding:
    """`name` and `description` are the API's own words; `group` is the system name of the item above."""

    id: str
    system_name: str
    group: str
    name: str
    description: str
    day: date | None
    amount: Decimal | None
    confidence: Decimal
    bookings: int
    reasons: list[str]


def read_finding(finding: Mapping[str, Any], reasons: Reasons) -> Finding:
    item, details = finding["tagTreeItem"], finding["details"]
    day = details.get("eventDate") or details.get("triggerDate")
    amount = details.get("amount")
    return Finding(
        finding["id"],
        item["systemName"],
        item.get("systemNameParent") or "",
        item["displayName"],
        item.get("description") or "",
        None if day is None else date.fromisoformat(day),
        None if amount is None else Decimal(amount),
        Decimal(details["confidenceLevel"]),
        len(details["transactionIds"]),
        reasons.tell_all(details),
    )
