"""Notices of the API (Hinweise), read for pages: what needs attention, and where something can be done about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from kontor.console.api_texts import tell
from kontor.console.banks import read_time
from kontor.console.gateway import segment
from kontor.console.visits import BASE

ALERTS = "/customer/v2/hinweise"
OPEN = ("NEU", "GELESEN")
URGENT = ("BANK_NEEDS_USER", "BALANCE_LOW", "CONSENT_ENDS")


@dataclass(frozen=True, slots=True)
class ShownAlert:
    """`url` is the page on which something can be done about it."""

    id: str
    text: str
    created_at: datetime | None
    is_urgent: bool
    url: str | None


def read_alert(alert: Mapping[str, Any], language: str) -> ShownAlert:
    return ShownAlert(
        alert["id"],
        tell(alert["text"], language),
        read_time(alert["erstelltAm"]),
        alert["art"] in URGENT,
        find_page(alert["objekt"]),
    )


def find_page(thing: Mapping[str, str]) -> str | None:
    """The console's page of what a notice is about."""
    parts = urlsplit(thing["href"]).path.split("/")
    match thing["rel"]:
        case "bankzugang":
            return f"{BASE}/accounts#bank-{parts[-1]}"
        case "bankprodukt":
            return f"{BASE}/accounts/{segment(parts[-2])}/{segment(parts[-1])}"
        case "kontoumsatz":
            access, product, transaction = parts[-4], parts[-3], parts[-1]
            return f"{BASE}/transactions/{segment(access)}/{segment(product)}/{segment(transaction)}"
        case "contract":
            return f"{BASE}/contracts/{segment(parts[-1])}"
        case "budget":
            return f"{BASE}/budgets#budget-{parts[-1]}"
    return None
