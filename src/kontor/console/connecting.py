"""Connecting a bank on the console's own pages, where the tenant may handle credentials: banks, fields, dialogues."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kontor.console.banks import Bank, find_path, read_time
from kontor.console.gateway import Gateway
from kontor.console.visits import Form, field_of
from kontor.domain.cleaning import clean_text
from kontor.domain.disruptions import is_degraded
from kontor.pages.formatting import format_bank_code
from kontor.pages.texts import Texts

PAGE = "/console/connect"
ENCRYPT = "/encrypt"
BASE64 = "application/octet-stream+base64"
SHOWN_BANKS = 12
MAX_QUERY_LENGTH = 100
MAX_FIELD_LENGTH = 256
MAX_PURPOSE_LENGTH = 200
FIELD = "field-"
# Which step a relation stands for; the first that is offered counts.
STEPS = {
    "set_method": "method",
    "set_medium": "medium",
    "redirect_url": "redirect",
    "poll": "app",
    "authenticate": "tan",
}
GIVEN, WRONG_TAN = "BA3050", "BA1103"


@dataclass(frozen=True, slots=True)
class Choice:
    """A bank of the catalogue."""

    id: str
    name: str
    detail: str
    logo: str | None


@dataclass(frozen=True, slots=True)
class Health:
    """How a bank is doing: `down` since a time, or `disturbed` with the share of fetches that succeeded."""

    kind: str
    since: datetime | None = None
    rate: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ConsentStatus:
    """A dialogue with the bank. `step` is what the user is asked for, as a word; None where nothing is asked."""

    step: str | None
    is_given: bool
    is_last_tan_wrong: bool
    facts: Mapping[str, Any]


def read_choice(provider: Mapping[str, Any], texts: Texts) -> Choice:
    code = texts("connect.code", code=format_bank_code(provider["blz"])) if "blz" in provider else ""
    detail = " · ".join(part for part in (code, provider.get("bic", "")) if part)
    return Choice(provider["id"], provider["name"], detail, find_path(provider, "logo"))


def list_own(banks: Sequence[Bank]) -> list[Choice]:
    """The banks that the user has connected before, each once."""
    found = {bank.provider_id: Choice(bank.provider_id, bank.name, "", bank.logo) for bank in banks if bank.provider_id}
    return list(found.values())


def can_connect(provider: Mapping[str, Any]) -> bool:
    """Of one that is listed without fields nobody can enter anything."""
    return bool(provider["authenticationInfo"]["fields"])


def read_health(statistics: Mapping[str, Any] | None) -> Health | None:
    """None for a bank that is doing well, or of which too little is known."""
    if statistics is None:
        return None
    if "downSince" in statistics:
        return Health("down", since=read_time(statistics["downSince"]))
    rate = statistics.get("successRate")
    if rate is None or not is_degraded(statistics["fetches"], Decimal(str(rate))):
        return None
    return Health("disturbed", rate=Decimal(str(rate)))


def read_healths(statistics: Mapping[str, Mapping[str, Any]]) -> dict[str, Health]:
    """Of the banks that are not doing well, by their ids."""
    read = {provider_id: read_health(measured) for provider_id, measured in statistics.items()}
    return {provider_id: health for provider_id, health in read.items() if health is not None}


def read_consent(status: Mapping[str, Any]) -> ConsentStatus:
    rels = {relation["rel"] for relation in status["relations"]}
    codes = [message["code"] for message in status["messages"]]
    step = next((step for rel, step in STEPS.items() if rel in rels), None)
    return ConsentStatus(step, GIVEN in codes, WRONG_TAN in codes, status)


# What the customer agrees to with a new bank: for what, and until when


def read_agreed(form: Form) -> dict[str, str]:
    """Both are optional; what is left empty is empty."""
    purpose = clean_text(field_of(form, "purpose")).strip()[:MAX_PURPOSE_LENGTH]
    return {"purpose": purpose, "until": field_of(form, "until").strip()}


def find_agreed_problems(agreed: Mapping[str, str], today: date) -> dict[str, str]:
    until = agreed.get("until")
    if not until:
        return {}
    try:
        return {} if date.fromisoformat(until) >= today else {"until": "past"}
    except ValueError:
        return {"until": "past"}


def list_agreed(agreed: Mapping[str, str], problems: Mapping[str, str]) -> list[dict[str, str | None]]:
    names = ("purpose", "until")
    return [{"key": name, "value": agreed.get(name, ""), "problem": problems.get(name)} for name in names]


def write_agreed(agreed: Mapping[str, str]) -> dict[str, str]:
    """As fields of the access."""
    fields = {"zweck": agreed.get("purpose"), "nutzungBis": agreed.get("until")}
    return {name: value for name, value in fields.items() if value}


async def encrypt(api: Gateway, value: str) -> str:
    """For the tenant. The call is not among those that a page shows: its body is a secret."""
    body = base64.b64encode(value.encode())
    answer = await api.client.request("PUT", ENCRYPT, content=body, headers={"Content-Type": BASE64})
    return answer.content.decode()
