"""A customer's accounts: from the user parameters and the SEPA accounts of a bank to products."""

from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from fints.formals import KTI1, Account2, Account3, BankIdentifier, CreditDebit2
from fints.segments.accounts import HKSPA1
from fints.segments.base import FinTS3Segment
from fints.segments.saldo import HKSAL5, HKSAL6, HKSAL7

from kontor.connectors.base import Problem, ProblemKind, State
from kontor.connectors.fints.parsing import list_values
from kontor.connectors.fints.segments import HKSAL8
from kontor.connectors.fints.sessions import GERMANY, MALFORMED, RefusedError, Session
from kontor.domain.clocks import BERLIN
from kontor.domain.products import Product, ProductCategory, find_card_category

BALANCES = {5: HKSAL5, 6: HKSAL6, 7: HKSAL7, 8: HKSAL8}
# The tens of the bank's kind of account; what is not listed is some other product.
_CATEGORIES = {
    0: ProductCategory.CHECKING,
    1: ProductCategory.SAVINGS,
    2: ProductCategory.FIXED_TERM,
    3: ProductCategory.DEPOT,
    4: ProductCategory.LOAN,
    6: ProductCategory.DEPOT,
    7: ProductCategory.HOME_SAVINGS,
    8: ProductCategory.OTHER_PRODUCT,
    9: ProductCategory.OTHER_ACCOUNT,
}
_CALL_MONEY = ("tagesgeld", "geldmarkt")


@dataclass(frozen=True, slots=True)
class Account:
    """An account as the bank's segments want it named."""

    number: str
    sub_number: str
    bank_code: str
    iban: str
    bic: str
    kind: int
    currency: str
    holder: str
    name: str
    businesses: tuple[str, ...]
    is_named_in_full: bool = False  # by account number and bank code beside IBAN and BIC

    @property
    def key(self) -> str:
        return self.iban or "/".join(part for part in (self.number, self.sub_number) if part)

    def can(self, command: str) -> bool:
        """A bank that lists nothing for an account leaves open what it can."""
        return not self.businesses or command in self.businesses

    @property
    def is_depot(self) -> bool:
        return self.kind // 10 in (3, 6)

    @property
    def is_card(self) -> bool:
        return self.kind // 10 == 5

    @property
    def is_read_as_card(self) -> bool:
        """Does the bank keep it apart from accounts? Few banks have statements of cards as well."""
        return self.is_card and self.can("DKKKU") and not {"HKKAZ", "HKCAZ"} & set(self.businesses)

    @property
    def category(self) -> ProductCategory:
        if self.kind // 10 == 1 and any(word in self.name.lower() for word in _CALL_MONEY):
            return ProductCategory.CALL_MONEY
        if self.is_card:
            return find_card_category(self.name)
        return _CATEGORIES.get(self.kind // 10, ProductCategory.OTHER_PRODUCT)

    def serialize(self) -> State:
        return asdict(self) | {"businesses": list(self.businesses)}

    @classmethod
    def deserialize(cls, values: State) -> "Account":
        return cls(**values | {"businesses": tuple(values["businesses"])})


def list_accounts(session: Session) -> list[Account]:
    """All accounts of the user parameters; IBAN and BIC from the SEPA accounts where the bank tells them there."""
    is_full = session.parameters.takes_national_accounts
    accounts = [
        replace(_read_account(segment, session.bank.bank_code), is_named_in_full=is_full)
        for segment in session.parameters.list_accounts()
    ]
    if not session.parameters.offers("HKSPA"):
        return accounts
    reply = session.send(HKSPA1())
    try:
        reply.refuse()
    except RefusedError as error:
        # The user parameters have the IBANs as well; what is missing then is the BIC.
        if error.is_about_pin or not session.is_open or not any(account.iban for account in accounts):
            raise
    known = {}
    for segment in reply.list("HISPA"):
        for sepa_account in segment.accounts:
            known[sepa_account.account_number, sepa_account.subaccount_number or ""] = (
                sepa_account.iban or "",
                sepa_account.bic or "",
            )
    completed = []
    for account in accounts:
        iban, bic = known.get((account.number, account.sub_number)) or known.get((account.number, "")) or ("", "")
        completed.append(replace(account, iban=account.iban or iban, bic=bic))
    return completed


def find_account(session: Session, name: str) -> Account | None:
    """By our key for it, its IBAN or its number."""
    return next(
        (account for account in list_accounts(session) if name in (account.key, account.iban, account.number)), None
    )


def _read_account(segment: Any, bank_code: str) -> Account:
    information = segment.account_information
    names = (segment.name_account_owner_1, segment.name_account_owner_2)
    businesses = [each.transaction for each in list_values(segment.allowed_transactions) if each.transaction]
    return Account(
        number=information.account_number or "",
        sub_number=information.subaccount_number or "",
        bank_code=information.bank_identifier.bank_code or bank_code,
        iban=segment.iban or "",
        bic="",
        kind=int(segment.account_type or 1),
        currency=segment.account_currency or "EUR",
        holder=" ".join(name for name in names if name),
        name=segment.account_product_name or "Konto",
        businesses=tuple(businesses),
    )


def name_account(segment: type[FinTS3Segment], account: Account) -> Any:
    """The account in the form that a segment has for it."""
    form = segment._fields["account"].type
    if form is KTI1:
        international = {"iban": account.iban, "bic": account.bic or None} if account.iban else {}
        if international and not account.is_named_in_full:
            return KTI1(**international)
        return KTI1(
            **international,
            account_number=account.number,
            subaccount_number=account.sub_number or None,
            bank_identifier=BankIdentifier(GERMANY, account.bank_code),
        )
    if form is Account2:
        return Account2(account.number, account.sub_number or None, GERMANY, account.bank_code)
    return Account3(account.number, account.sub_number or None, BankIdentifier(GERMANY, account.bank_code))


def make_product(account: Account, *, institution: str, can_pay: bool, can_pay_in_bulk: bool) -> Product:
    return Product(
        key=account.key,
        category=account.category,
        name=account.name,
        holder=account.holder,
        currency=account.currency,
        account_number=account.number,
        iban=account.iban or None,
        bic=account.bic or None,
        bank_code=account.bank_code,
        institution=institution or None,
        can_transfer=can_pay and account.can("HKCCS") and bool(account.iban),
        can_bulk_transfer=can_pay_in_bulk and account.can("HKCCM") and bool(account.iban),
    )


def add_balance(session: Session, account: Account, product: Product, today: date) -> Product | Problem:
    """The product with its balance, or what is wrong with it. Where the bank has none to tell, as it is."""
    version = session.parameters.find_newest("HKSAL", BALANCES)
    if version is None or not account.can("HKSAL") or account.is_depot:
        return product
    form = BALANCES[version]
    try:
        reply = session.send(form(account=name_account(form, account), all_accounts=False)).refuse()
        segment = reply.find("HISAL")
        return product if segment is None else _with_balance(product, segment, today)
    except RefusedError as error:
        if error.is_about_pin:
            raise
        return Problem(ProblemKind.PRODUCT, account.key, error.detail)
    except MALFORMED:
        return Problem(ProblemKind.PRODUCT, account.key, "Der Saldo ist nicht lesbar.")


def _with_balance(product: Product, segment: Any, today: date) -> Product:
    """A balance without a day is that of today."""
    booked = segment.balance_booked
    amount = booked.amount
    value = Decimal(amount if isinstance(amount, Decimal | float | int) else amount.amount)
    if booked.credit_debit is CreditDebit2.DEBIT:
        value = -value
    at = datetime.combine(booked.date or today, booked.time or time(0), BERLIN).astimezone(UTC)
    line = segment.line_of_credit
    limit = None if line is None or line.amount is None else Decimal(line.amount)
    if product.category.is_card:
        return replace(product, balance=value, balance_at=at, credit_limit=limit)
    return replace(product, balance=value, balance_at=at, overdraft_limit=limit)
