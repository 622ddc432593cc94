"""What a customer allows advisers to read, as the console's pages show it and as its form gives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from kontor.console.rendering import read_day
from kontor.console.typed_days import UnreadableDayError, read_typed_day
from kontor.console.visits import Form, field_of
from kontor.domain.disclosures import DisclosureScope, check_end, describe_disclosure
from kontor.domain.errors import InvalidError

SCOPES = tuple(str(scope) for scope in DisclosureScope)
USUAL_DAYS = 90


@dataclass(frozen=True, slots=True)
class Disclosure:
    """`text` is what was recorded when the customer agreed."""

    id: str
    scopes: tuple[str, ...]
    valid_until: date
    adviser: str | None
    text: str
    is_valid: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """What was typed into the form. `problem` names what is wrong with it."""

    scopes: tuple[str, ...] = ()
    until: str = ""
    is_for_one: bool = False
    adviser: str = ""
    problem: str | None = None

    @property
    def body(self) -> dict[str, Any]:
        body = {"umfang": list(self.scopes), "gueltigBis": str(read_typed_day(self.until))}
        return body | ({"berater": self.adviser} if self.is_for_one else {})

    def describe(self, tenant: str) -> str:
        """The sentence that the API records for it."""
        chosen = [DisclosureScope(scope) for scope in self.scopes]
        until = read_typed_day(self.until)
        assert until is not None, "a wish without a problem has an end"
        return describe_disclosure(tenant, chosen, until, has_adviser=self.is_for_one)


def read_disclosure(freigabe: Mapping[str, Any], today: date) -> Disclosure:
    until = read_day(freigabe["gueltigBis"])
    assert until is not None, "the API tells a day"
    return Disclosure(
        freigabe["id"], tuple(freigabe["umfang"]), until, freigabe.get("berater"), freigabe["text"], until >= today
    )


def start_wish(today: date) -> Wish:
    return Wish(until=(today + timedelta(days=USUAL_DAYS)).isoformat())


def read_wish(form: Form, today: date) -> Wish:
    wish = Wish(
        tuple(scope for scope in SCOPES if f"scope-{scope}" in form),
        field_of(form, "until").strip(),
        field_of(form, "whom") == "one",
        field_of(form, "adviser").strip(),
    )
    return Wish(wish.scopes, wish.until, wish.is_for_one, wish.adviser, _find_problem(wish, today))


def _find_problem(wish: Wish, today: date) -> str | None:
    if not wish.scopes:
        return "scope"
    try:
        until = read_typed_day(wish.until)
        check_end(until or date.min, today)
    except (UnreadableDayError, InvalidError):
        return "until"
    return "adviser" if wish.is_for_one and not _is_reference(wish.adviser) else None


def name_problem(text: str) -> str:
    """The field that the API refuses."""
    return next(
        (problem for problem, field in (("adviser", "berater"), ("until", "gueltigBis")) if field in text), "many"
    )


def _is_reference(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
