"""What Kontor reads of Enable Banking's messages. Fields that it does not use are skipped, and most may be null."""

from typing import Any

import msgspec


class Amount(msgspec.Struct):
    currency: str
    amount: msgspec.Raw


class OtherNumber(msgspec.Struct):
    identification: str | None = None
    scheme_name: str | None = None


class AccountNumber(msgspec.Struct):
    iban: str | None = None
    other: OtherNumber | None = None

    @property
    def text(self) -> str | None:
        return self.iban or (self.other.identification if self.other is not None else None) or None


class Institution(msgspec.Struct):
    bic_fi: str | None = None
    name: str | None = None


class Account(msgspec.Struct):
    """An account of a session. `uid` is missing where nothing can be fetched."""

    identification_hash: str
    currency: str
    cash_account_type: str | None = None
    uid: str | None = None
    identification_hashes: tuple[str, ...] = ()
    account_id: AccountNumber | None = None
    account_servicer: Institution | None = None
    name: str | None = None
    details: str | None = None
    product: str | None = None
    credit_limit: Amount | None = None


class Access(msgspec.Struct):
    valid_until: str | None = None


class Session(msgspec.Struct):
    """The answer to an authorisation code."""

    session_id: str
    accounts: tuple[Account, ...]
    access: Access


class SessionAccount(msgspec.Struct):
    uid: str
    identification_hash: str


class SessionFacts(msgspec.Struct):
    status: str
    access: Access
    accounts_data: tuple[SessionAccount, ...] = ()


class Authorization(msgspec.Struct):
    url: str


class Balance(msgspec.Struct):
    balance_amount: Amount
    balance_type: str
    last_change_date_time: str | None = None
    reference_date: str | None = None


class Balances(msgspec.Struct):
    balances: tuple[Balance, ...]


class Party(msgspec.Struct):
    name: str | None = None


class BankCode(msgspec.Struct):
    description: str | None = None
    code: str | None = None
    sub_code: str | None = None


class Booking(msgspec.Struct):
    transaction_amount: Amount
    credit_debit_indicator: str
    status: str
    entry_reference: str | None = None
    creditor: Party | None = None
    creditor_account: AccountNumber | None = None
    creditor_agent: Institution | None = None
    debtor: Party | None = None
    debtor_account: AccountNumber | None = None
    debtor_agent: Institution | None = None
    bank_transaction_code: BankCode | None = None
    booking_date: str | None = None
    value_date: str | None = None
    transaction_date: str | None = None
    reference_number: str | None = None
    remittance_information: tuple[str, ...] | None = None


class BookingPage(msgspec.Struct):
    """Bookings are read one by one: one that is odd does not hide the others."""

    transactions: tuple[msgspec.Raw, ...]
    continuation_key: str | None = None


class ListedGroup(msgspec.Struct):
    name: str | None = None


class ListedBank(msgspec.Struct):
    name: str
    country: str
    maximum_consent_validity: int
    psu_types: tuple[str, ...] = ()
    bic: str | None = None
    group: ListedGroup | None = None
    required_psu_headers: tuple[str, ...] | None = None
    beta: bool = False


class ListedBanks(msgspec.Struct):
    aspsps: tuple[ListedBank, ...]


class ApplicationFacts(msgspec.Struct):
    name: str
    environment: str
    active: bool
    redirect_urls: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    services: tuple[str, ...] = ()


class Refusal(msgspec.Struct):
    message: str | None = None
    error: str | None = None
    detail: Any = None
