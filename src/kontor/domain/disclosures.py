"""Disclosures: what a customer allows advisers of the tenant to read, and until when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from kontor.domain.errors import InvalidError

MAX_DISCLOSURES = 100
MAX_MONTHS = 12


class DisclosureScope(StrEnum):
    """What can be disclosed: analyses, as their addresses are called, and the bookings behind a credit file."""

    SALES_TRIGGERS = "sales-triggers"
    AFFORDABILITY = "affordability"
    CREDIT_CHECK = "credit-check"
    CONTRACTS = "contracts"
    CREDIT_BOOKINGS = "credit-bookings"  # of credit files

    @property
    def is_credit(self) -> bool:
        return self in (DisclosureScope.AFFORDABILITY, DisclosureScope.CREDIT_CHECK)

    @property
    def is_analysis(self) -> bool:
        return self is not DisclosureScope.CREDIT_BOOKINGS


NAMES = {
    DisclosureScope.SALES_TRIGGERS: "Anlässe für ein Gespräch",
    DisclosureScope.AFFORDABILITY: "Haushaltsrechnung",
    DisclosureScope.CREDIT_CHECK: "Angaben für eine Kreditentscheidung",
    DisclosureScope.CONTRACTS: "Verträge",
    DisclosureScope.CREDIT_BOOKINGS: "Buchungen, auf denen die Werte einer Kreditakte beruhen",
}


@dataclass(frozen=True, slots=True)
class Disclosure:
    """`adviser_id` None: every adviser of the tenant. `text` is what the customer agreed to."""

    id: UUID
    scopes: tuple[DisclosureScope, ...]
    valid_until: date
    adviser_id: UUID | None
    text: str


@dataclass(frozen=True, slots=True)
class DisclosingCustomer:
    """A valid disclosure, as the adviser sees it."""

    user_id: UUID
    disclosure_id: UUID
    scopes: tuple[DisclosureScope, ...]
    valid_until: date


@dataclass(frozen=True, slots=True)
class DisclosureRead:
    """A read by an adviser; `adviser_id` None where that user was erased."""

    at: datetime
    adviser_id: UUID | None
    scope: DisclosureScope


def check_end(valid_until: date, today: date) -> None:
    """Its last day: from today on, and at most twelve months from now."""
    last = _add_year(today)
    if not today <= valid_until <= last:
        raise InvalidError(f"expected a day from {today} to {last}: at most {MAX_MONTHS} months", "gueltigBis")


def describe_disclosure(tenant: str, scopes: Sequence[DisclosureScope], valid_until: date, *, has_adviser: bool) -> str:
    """What the customer agrees to, in German; it is kept and written to the audit trail."""
    who = "Eine von mir benannte Person in der Beratung" if has_adviser else "Jede Person in der Beratung"
    what = ", ".join(NAMES[scope] for scope in scopes)
    end = valid_until.strftime("%d.%m.%Y")
    return f"{who} von {tenant} darf bis einschließlich {end} lesen: {what}. Ich kann das jederzeit widerrufen."


def describe_withdrawal(text: str) -> str:
    return f"Ich widerrufe mit sofortiger Wirkung: {text}"


def _add_year(day: date) -> date:
    try:
        return day.replace(year=day.year + 1)
    except ValueError:  # the 29th of February
        return day.replace(year=day.year + 1, day=28)
