"""What must be known about a bank before it is called, and how this installation calls banks."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from kontor.domain.secrets import Secret

SEPA = "sepa-credit-transfers"
INSTANT = "instant-sepa-credit-transfers"


class Approach(StrEnum):
    """How a customer authenticates: in our form, in the bank's app, or on the bank's page."""

    EMBEDDED = "EMBEDDED"
    DECOUPLED = "DECOUPLED"
    REDIRECT = "REDIRECT"


@dataclass(frozen=True, slots=True)
class Xs2aBank:
    """A bank's profile. `base_url` is what comes before `/v1`.

    `may_exempt_payments`: the bank may execute an order without asking the customer. `confirmation_parameter` is the
    query parameter in which a confirmation code comes back from the bank's page.
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
    has_stable_ids: bool = True
    may_exempt_payments: bool = False
    confirmation_parameter: str = "code"


@dataclass(frozen=True, slots=True)
class Xs2aSettings:
    """The certificates are files: QWAC for the connection, QSeal for signatures. Without them none is used.

    `ca_file` names authorities to trust instead of the system's. Time limits: to connect, between two pieces of an
    answer, and for one answer as a whole.
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
    largest_answer_bytes: int = 8_000_000
    most_pages: int = 1_000
    most_rows: int = 250_000


def read_profile(values: Mapping[str, Any], bank_code: str) -> Xs2aBank:
    """A profile from an operator's file. Raises ValueError for what is not part of one."""
    known = {field.name: field for field in fields(Xs2aBank)}
    if odd := sorted(set(values) - set(known)):
        raise ValueError(f"bank {bank_code}: XS2A knows no {', '.join(odd)}")
    if not str(values.get("base_url", "")).startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise ValueError(f"bank {bank_code}: base_url must begin with https://")
    changes: dict[str, Any] = dict(values)
    if "preferred_approach" in changes:
        changes["preferred_approach"] = Approach(changes["preferred_approach"])
    if "payment_products" in changes:
        changes["payment_products"] = tuple(changes["payment_products"])
    return Xs2aBank(**changes)
