"""Answers of a bank, as far as they are read. A text that should be a number, or the like, is no answer at all."""

from typing import Any

from msgspec import Raw, Struct, field


class Link(Struct, frozen=True):
    href: str = ""


Links = dict[str, Link]


class TppMessage(Struct, rename="camel", frozen=True):
    code: str = ""
    text: str | None = None


class Refusal(Struct, rename="camel", frozen=True):
    """Errors in the standard's own form, as problem document (RFC 7807), or of an OAuth server (`error`)."""

    tpp_messages: tuple[TppMessage, ...] = ()
    code: str = ""
    detail: str | None = None
    error: str = ""


class ScaMethodMessage(Struct, rename="camel", frozen=True):
    authentication_method_id: str = ""
    authentication_type: str = ""
    name: str | None = None
    explanation: str | None = None


class ChallengeMessage(Struct, rename="camel", frozen=True):
    image: str | None = None
    data: tuple[str, ...] | str = ()
    additional_information: str | None = None


class Authorising(Struct, rename="camel", frozen=True):
    """Whatever carries an authorisation on: a new consent or payment, an authorisation, or an update of one."""

    consent_id: str | None = None
    consent_status: str | None = None
    payment_id: str | None = None
    transaction_status: str | None = None
    sca_status: str | None = None
    sca_methods: tuple[ScaMethodMessage, ...] | None = None
    chosen_sca_method: ScaMethodMessage | None = None
    challenge_data: ChallengeMessage | None = None
    psu_message: str | None = None
    links: Links = field(default_factory=dict, name="_links")


class Discovery(Struct, frozen=True):
    """Metadata of an OAuth server (RFC 8414, RFC 9207)."""

    authorization_endpoint: str
    token_endpoint: str
    issuer: str | None = None
    authorization_response_iss_parameter_supported: bool = False


class TokenAnswer(Struct, frozen=True):
    access_token: str
    token_type: str = "Bearer"  # noqa: S105 (no password)
    expires_in: int | None = None
    refresh_token: str | None = None


class ConsentFacts(Struct, rename="camel", frozen=True):
    consent_status: str
    valid_until: str | None = None


class PaymentStatus(Struct, rename="camel", frozen=True):
    transaction_status: str
    funds_available: bool | None = None
    psu_message: str | None = None
    tpp_messages: tuple[TppMessage, ...] = ()


class Amount(Struct, frozen=True):
    """`amount` as it was sent: the standard has a text, some banks send a number. It never becomes a float."""

    currency: str
    amount: Raw


class Balance(Struct, rename="camel", frozen=True):
    balance_amount: Amount
    balance_type: str = ""
    credit_limit_included: bool = False
    reference_date: str | None = None
    last_change_date_time: str | None = None


class Account(Struct, rename="camel", frozen=True):
    resource_id: str | None = None
    iban: str | None = None
    bban: str | None = None
    currency: str = ""
    name: str | None = None
    display_name: str | None = None
    product: str | None = None
    cash_account_type: str | None = None
    owner_name: str | None = None
    bic: str | None = None
    balances: tuple[Balance, ...] | None = None
    links: Links = field(default_factory=dict, name="_links")


class AccountList(Struct, frozen=True):
    accounts: tuple[Account, ...]


class CardAccount(Struct, rename="camel", frozen=True):
    masked_pan: str
    currency: str
    resource_id: str | None = None
    name: str | None = None
    display_name: str | None = None
    product: str | None = None
    owner_name: str | None = None
    credit_limit: Amount | None = None
    is_debt: bool = field(default=False, name="debitAccounting")
    balances: tuple[Balance, ...] | None = None
    links: Links = field(default_factory=dict, name="_links")


class CardAccountList(Struct, rename="camel", frozen=True):
    card_accounts: tuple[CardAccount, ...]


class BalanceList(Struct, frozen=True):
    balances: tuple[Balance, ...] = ()


class AccountReference(Struct, rename="camel", frozen=True):
    iban: str | None = None
    bban: str | None = None


class Booking(Struct, rename="camel", frozen=True):
    transaction_amount: Amount
    transaction_id: str | None = None
    entry_reference: str | None = None
    booking_date: str | None = None
    value_date: str | None = None
    creditor_name: str | None = None
    creditor_account: AccountReference | None = None
    creditor_agent: str | None = None
    ultimate_creditor: str | None = None
    debtor_name: str | None = None
    debtor_account: AccountReference | None = None
    debtor_agent: str | None = None
    ultimate_debtor: str | None = None
    end_to_end_id: str | None = None
    mandate_id: str | None = None
    creditor_id: str | None = None
    remittance_information_unstructured: str | None = None
    remittance_information_unstructured_array: tuple[str, ...] | None = None
    remittance_information_structured: Any = None  # a text, or an object with a reference
    credit_debit_indicator: str | None = None
    additional_information: str | None = None
    proprietary_bank_transaction_code: str | None = None


class CardAcceptorAddress(Struct, rename="camel", frozen=True):
    town_name: str | None = None
    country: str | None = None


class CardBooking(Struct, rename="camel", frozen=True):
    transaction_amount: Amount
    card_transaction_id: str | None = None
    transaction_date: str | None = None
    booking_date: str | None = None
    value_date: str | None = None
    card_acceptor_id: str | None = None
    card_acceptor_address: CardAcceptorAddress | None = None
    transaction_details: str | None = None
    proprietary_bank_transaction_code: str | None = None


class Report(Struct, frozen=True):
    """Rows are read one by one: a broken one must not spoil the others."""

    booked: tuple[Raw, ...] = ()
    pending: tuple[Raw, ...] = ()
    links: Links = field(default_factory=dict, name="_links")


class TransactionPage(Struct, rename="camel", frozen=True):
    transactions: Report | None = None
    card_transactions: Report | None = None
