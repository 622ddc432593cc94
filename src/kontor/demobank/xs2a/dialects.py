"""Dialects of real banks that the XS2A server speaks by name: `kontor demobank --dialect sparkasse`.

A bank speaks one dialect. The table says what each does; `docs/guides/demo-bank.md` shows it to users.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from kontor.demobank.xs2a.aspsp import AccountSnapshot
from kontor.domain.transactions import Transaction

JSON = "application/json"
CAMT = "application/xml"
MT940 = "text/plain"


class OAuthUse(StrEnum):
    """When a customer authorises at the bank's OAuth server: for a consent or an order, before it, or instead of it."""

    FOR_CONSENT = "FOR_CONSENT"
    BEFORE_CONSENT = "BEFORE_CONSENT"
    INSTEAD = "INSTEAD"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs from the standard. `media` is the form of lists of bookings, `text` says all of it to users."""

    name: str = ""
    text: str = ""
    media: str = JSON
    has_links: bool = True
    statuses: tuple[str, ...] = ("information", "booked", "pending", "both", "all")
    has_number_amounts: bool = False
    has_signs: bool = True
    has_structured_purpose: bool = False
    has_prima_nota: bool = True
    has_holder_as_name: bool = False
    has_bare_accounts: bool = False
    accounts_path: str = "/v1/accounts"
    oauth: OAuthUse | None = None
    discovery_path: str = "/.well-known/oauth-authorization-server"
    token_path: str = "/v1/token"  # noqa: S105 (no password)
    needs_client_token: bool = False
    has_refresh_tokens: bool = True


STANDARD = Dialect()
DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("sparkasse", "lists of bookings are camt.052 documents", media=CAMT),
        Dialect("bankverlag", "lists of bookings are MT940 texts", media=MT940, statuses=("booked",)),
        Dialect(
            "fiducia",
            "accounts have neither links nor names; `bookingStatus` must be `booked` or `information`",
            has_links=False,
            has_bare_accounts=True,
            statuses=("booked", "information"),
        ),
        Dialect(
            "unicredit",
            "accounts have no links; amounts of bookings have no sign, both parties are named, and the code of a"
            " booking is a text",
            has_links=False,
            has_signs=False,
        ),
        Dialect(
            "commerzbank",
            "amounts are JSON numbers; consents and orders are authorised over OAuth",
            has_number_amounts=True,
            oauth=OAuthUse.FOR_CONSENT,
            discovery_path="/.well-known/openid-configuration",
        ),
        Dialect(
            "comdirect",
            "as `commerzbank`",
            has_number_amounts=True,
            oauth=OAuthUse.FOR_CONSENT,
            discovery_path="/.well-known/openid-configuration",
        ),
        Dialect(
            "santander",
            "amounts are JSON numbers; the code of a booking ends after the GV code (`NTRF+116`); a consent needs a"
            " token of the caller (`client_credentials`), and an order as well; both are authorised over OAuth; there"
            " are no refresh tokens",
            has_number_amounts=True,
            has_prima_nota=False,
            oauth=OAuthUse.FOR_CONSENT,
            token_path="/v1/oauth_matls/token",  # noqa: S106 (no password)
            needs_client_token=True,
            has_refresh_tokens=False,
        ),
        Dialect(
            "ing",
            "the purpose is `remittanceInformationStructured`; an account is named after its holder; accounts are"
            " below `/v3`; there are no consents: an OAuth token takes their place",
            has_structured_purpose=True,
            has_holder_as_name=True,
            accounts_path="/v3/accounts",
            oauth=OAuthUse.INSTEAD,
        ),
    )
}


def change_amounts(shown: Any) -> Any:
    """Amounts anywhere in an answer as numbers, digit for digit."""
    if isinstance(shown, list):
        return [change_amounts(item) for item in shown]
    if not isinstance(shown, dict):
        return shown
    return {
        key: msgspec.Raw(value.encode()) if key == "amount" and isinstance(value, str) else change_amounts(value)
        for key, value in shown.items()
    }


def change_account(dialect: Dialect, shown: dict[str, Any], holding: AccountSnapshot) -> dict[str, Any]:
    if not dialect.has_links:
        shown.pop("_links", None)
    if dialect.has_bare_accounts:
        for name in ("name", "product", "cashAccountType", "status", "bic"):
            shown.pop(name, None)
    if dialect.has_holder_as_name and "ownerName" in shown:
        shown["name"] = shown.pop("ownerName")
    return shown


def change_booking(
    dialect: Dialect, shown: dict[str, Any], row: Transaction, holding: AccountSnapshot
) -> dict[str, Any]:
    if not dialect.has_signs:
        own = "debtor" if row.amount < 0 else "creditor"
        amount = shown["transactionAmount"]
        shown["transactionAmount"] = amount | {"amount": amount["amount"].removeprefix("-")}
        shown[f"{own}Name"] = holding.product.holder[:70]
        shown[f"{own}Account"] = {"iban": holding.product.iban}
        shown["proprietaryBankTransactionCode"] = row.booking_text or "SONSTIGES"
        shown.pop("additionalInformation", None)
    if not dialect.has_prima_nota and row.gv_code is not None:
        shown["proprietaryBankTransactionCode"] = f"NTRF+{row.gv_code}"
    if dialect.has_structured_purpose:
        lines = shown.pop("remittanceInformationUnstructuredArray", None)
        text = shown.pop("remittanceInformationUnstructured", None) or "".join(lines or ())
        if text:
            shown["remittanceInformationStructured"] = text
    return shown
