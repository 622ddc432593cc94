"""Bodies of requests, as the standard defines them; what it allows beyond is ignored."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

Text35 = Annotated[str, Meta(max_length=35)]
Text70 = Annotated[str, Meta(max_length=70)]
Text140 = Annotated[str, Meta(max_length=140)]
Iban = Annotated[str, Meta(pattern="^[A-Z]{2}[0-9]{2}[a-zA-Z0-9]{1,30}$")]
Currency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
AmountText = Annotated[str, Meta(pattern=r"^-?[0-9]{1,14}(\.[0-9]{1,3})?$")]
Bic = Annotated[str, Meta(pattern="^[A-Z]{6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3})?$")]
PurposeCode = Annotated[str, Meta(pattern="^[A-Z0-9]{4}$")]
AllAccounts = Annotated[str, Meta(pattern="^(allAccounts|allAccountsWithOwnerName)$")]


class AccountReference(Struct, rename="camel", kw_only=True, omit_defaults=True):
    iban: Iban | UnsetType = UNSET
    bban: Annotated[str, Meta(pattern="^[a-zA-Z0-9]{1,30}$")] | UnsetType = UNSET
    pan: Text35 | UnsetType = UNSET
    masked_pan: Text35 | UnsetType = UNSET
    msisdn: Text35 | UnsetType = UNSET
    currency: Currency | UnsetType = UNSET
    cash_account_type: str | UnsetType = UNSET


class AdditionalAccess(Struct, rename="camel", kw_only=True, omit_defaults=True):
    owner_name: list[AccountReference] | UnsetType = UNSET
    trusted_beneficiaries: list[AccountReference] | UnsetType = UNSET


class AccountAccess(Struct, rename="camel", kw_only=True, omit_defaults=True):
    accounts: list[AccountReference] | UnsetType = UNSET
    balances: list[AccountReference] | UnsetType = UNSET
    transactions: list[AccountReference] | UnsetType = UNSET
    additional_information: AdditionalAccess | UnsetType = UNSET
    available_accounts: AllAccounts | UnsetType = UNSET
    available_accounts_with_balance: AllAccounts | UnsetType = UNSET
    all_psd2: AllAccounts | UnsetType = field(default=UNSET, name="allPsd2")
    restricted_to: list[str] | UnsetType = UNSET


class ConsentBody(Struct, rename="camel", kw_only=True):
    access: AccountAccess
    recurring_indicator: bool
    valid_until: date
    frequency_per_day: Annotated[int, Meta(ge=1)]
    combined_service_indicator: bool


class PsuData(Struct, rename="camel", kw_only=True):
    password: str | None = None


class AuthorisationBody(Struct, rename="camel", kw_only=True):
    """One of them is there; all are missing where the customer is only identified, by a header."""

    psu_data: PsuData | None = None
    authentication_method_id: Text35 | None = None
    sca_authentication_data: str | None = None
    confirmation_code: str | None = None


class Amount(Struct, rename="camel"):
    currency: Currency
    amount: AmountText

    @property
    def value(self) -> Decimal:
        return Decimal(self.amount)


class Transfer(Struct, rename="camel", kw_only=True):
    """What a single payment and an element of a bulk have in common."""

    instructed_amount: Amount
    creditor_account: AccountReference
    creditor_name: Text70
    creditor_agent: Bic | None = None
    end_to_end_identification: Text35 | None = None
    instruction_identification: Text35 | None = None
    remittance_information_unstructured: Text140 | None = None
    purpose_code: PurposeCode | None = None
    ultimate_debtor: Text70 | None = None
    ultimate_creditor: Text70 | None = None
    creditor_id: Text35 | None = None
    debtor_name: Text70 | None = None


class SinglePayment(Transfer, kw_only=True):
    debtor_account: AccountReference
    requested_execution_date: date | None = None


class PeriodicPayment(Transfer, kw_only=True):
    debtor_account: AccountReference
    start_date: date
    frequency: Literal["Weekly", "EveryTwoWeeks", "Monthly", "EveryTwoMonths", "Quarterly", "SemiAnnual", "Annual"]
    end_date: date | None = None
    execution_rule: Literal["following", "preceding"] | None = None
    day_of_execution: Annotated[str, Meta(pattern="^([1-9]|[12][0-9]|3[01])$")] | None = None


class BulkPayment(Struct, rename="camel", kw_only=True):
    debtor_account: AccountReference
    payments: Annotated[list[Transfer], Meta(min_length=1, max_length=1000)]
    requested_execution_date: date | None = None
    batch_booking_preferred: bool | None = None


def make_link(path: str) -> dict[str, Any]:
    return {"href": path}
