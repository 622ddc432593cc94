"""What must be known about a bank before it is called, and how this installation calls banks."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from kontor.connectors.profiles import Profiles, load_shipped
from kontor.domain.callbacks import parse_callback
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret

SEPA = "sepa-credit-transfers"
INSTANT = "instant-sepa-credit-transfers"


class Approach(StrEnum):
    """How a customer authenticates: in our form, in the bank's app, or on the bank's page."""

    EMBEDDED = "EMBEDDED"
    DECOUPLED = "DECOUPLED"
    REDIRECT = "REDIRECT"


class ListForm(StrEnum):
    """In which form a bank sends lists of bookings."""

    JSON = "JSON"
    CAMT = "camt.052"
    MT940 = "MT940"


@dataclass(frozen=True, slots=True)
class Xs2aBank:
    """A bank's profile. `base_url` is what comes before `/v1`.

    `may_exempt_payments`: the bank may execute an order without asking the customer. `confirmation_parameter` is the
    query parameter in which a confirmation code comes back from the bank's page. `builds_addresses`: the bank's
    accounts have no links, and their addresses follow from their ids. `booking_status` is which bookings are asked for.
    `has_unsigned_amounts`: the parties of a booking tell its sign. `name_is_holder`: an account's name is its holder's.
    `has_periodic`: standing orders can be created; `cancels_periodic`: and deleted, those that were created here.
    `has_card_accounts`: the bank serves card accounts. `asks_for_holders`: it tells the holders of accounts if asked.

    For banks with OAuth: `client_id` is what the bank calls us. With `discovery_address` a token is fetched first, for
    `token_scope`; without `has_consents` that token is the consent. `token_address` replaces what the server's metadata
    say. `issuer` is the server's name in them: those of another are refused. `needs_client_token`: a consent is asked
    for with a token of our own. Addresses are relative to `base_url`.
    """

    base_url: str
    preferred_approach: Approach | None = None
    login_field: str = "userid"
    pin_field: str = "pin"
    login_type: str | None = None
    consents_to_lists: bool = False
    consent_days: int = 180
    history_days: int = 730
    payment_products: tuple[str, ...] = (SEPA, INSTANT)
    has_bulk: bool = False
    has_periodic: bool = False
    cancels_periodic: bool = False
    has_stable_ids: bool = True
    may_exempt_payments: bool = False
    confirmation_parameter: str = "code"
    list_form: ListForm = ListForm.JSON
    builds_addresses: bool = False
    booking_status: str = "both"
    has_unsigned_amounts: bool = False
    name_is_holder: bool = False
    has_card_accounts: bool = False
    asks_for_holders: bool = False
    accounts_path: str = "v1/accounts"
    client_id: str = ""
    discovery_address: str | None = None
    token_scope: str = "AIS"  # noqa: S105 (no password)
    token_address: str | None = None
    issuer: str | None = None
    needs_client_token: bool = False
    has_consents: bool = True


@dataclass(frozen=True, slots=True)
class Xs2aSettings:
    """The certificates are files: QWAC for the connection, QSeal for signatures. Without them none is used.

    `ca_file` names authorities to trust instead of the system's. Time limits: to connect, between two pieces of an
    answer, and for one answer as a whole. An answer may be a statement of two years in one piece. `most_answer_bytes`
    is for all answers of one step of a dialogue.
    """

    certificate_file: Path | None = None
    key_file: Path | None = None
    key_password: Secret | None = None
    seal_certificate_file: Path | None = None
    seal_key_file: Path | None = None
    seal_key_password: Secret | None = None
    ca_file: Path | None = None
    proxy: str | None = None
    connect_seconds: float = 5.0
    read_seconds: float = 20.0
    answer_seconds: float = 60.0
    largest_answer_bytes: int = 32_000_000
    most_answer_bytes: int = 128_000_000
    most_pages: int = 1_000
    most_rows: int = 250_000


def list_dialects(profiles: Profiles) -> dict[str, Mapping[str, Any]]:
    """Profile values of bank families, by their names. Raises ValueError for what is none."""
    known = {field.name for field in fields(Xs2aBank)} - {"base_url"}
    for family in profiles.families.values():
        if odd := sorted(set(family.xs2a) - known):
            raise ValueError(f"{family.place}: XS2A knows no {', '.join(odd)}")
        try:
            msgspec.convert({"base_url": "", **family.xs2a}, Xs2aBank)
        except msgspec.ValidationError as error:
            raise ValueError(f"{family.place}: xs2a: {error}") from None
    return {family.name: family.xs2a for family in profiles.families.values() if family.xs2a}


def read_profile(values: Mapping[str, Any], bank_code: str, profiles: Profiles | None = None) -> Xs2aBank:
    """A bank as an operator describes it: values of its dialect, and its own. Raises ValueError for what is none."""
    told, dialects = dict(values), list_dialects(profiles or load_shipped())
    dialect = told.pop("dialect", None)
    if dialect is not None and dialect not in dialects:
        raise ValueError(f"bank {bank_code}: unknown dialect {dialect}; there are {', '.join(sorted(dialects))}")
    if odd := sorted(set(told) - {field.name for field in fields(Xs2aBank)}):
        raise ValueError(f"bank {bank_code}: XS2A knows no {', '.join(odd)}")
    _check_base_url(str(told.get("base_url", "")), bank_code)
    family = {} if dialect is None else dialects[dialect]
    try:
        return msgspec.convert({**family, **told}, Xs2aBank)
    except msgspec.ValidationError as error:
        raise ValueError(f"bank {bank_code}: {error}") from None


def _check_base_url(url: str, bank_code: str) -> None:
    """Read by its parts: a name may begin like that of this machine. Requests go below its path."""
    try:
        parts = parse_callback(url, "base_url")
    except InvalidError as error:
        raise ValueError(f"bank {bank_code}: {error.message}") from None
    if parts.scheme != "https" and not parts.is_loopback:
        raise ValueError(f"bank {bank_code}: base_url must be an https address, or http at this machine")
    if "?" in url:
        raise ValueError(f"bank {bank_code}: base_url must have no query")
