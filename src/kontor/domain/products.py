"""Bank products as a bank reports them: accounts, cards, depots, home-savings contracts."""

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from kontor.domain.mandates import DebitForm
from kontor.domain.schedules import StandingAction


class ProductCategory(StrEnum):
    CHECKING = "CHECKING"
    SAVINGS = "SAVINGS"
    FIXED_TERM = "FIXED_TERM"
    LOAN = "LOAN"
    CALL_MONEY = "CALL_MONEY"
    HOME_SAVINGS = "HOME_SAVINGS"
    OTHER_ACCOUNT = "OTHER_ACCOUNT"
    CREDIT_CARD = "CREDIT_CARD"
    OTHER_CARD = "OTHER_CARD"
    DEPOT = "DEPOT"
    OTHER_PRODUCT = "OTHER_PRODUCT"

    @property
    def is_card(self) -> bool:
        return self in (ProductCategory.CREDIT_CARD, ProductCategory.OTHER_CARD)

    @property
    def is_depot(self) -> bool:
        return self is ProductCategory.DEPOT


_NO_CREDIT_CARD = re.compile(r"debit|prepaid|girocard|maestro|guthabenkarte|servicekarte", re.IGNORECASE)


def find_card_category(*names: str | None) -> ProductCategory:
    """A card by what its bank calls it: what is paid at once or beforehand is no credit card."""
    is_other = any(name is not None and _NO_CREDIT_CARD.search(name) for name in names)
    return ProductCategory.OTHER_CARD if is_other else ProductCategory.CREDIT_CARD


class BalanceSource(StrEnum):
    """Where a depot's balance comes from: the bank's statement message, or elsewhere."""

    STATEMENT = "STATEMENT"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class CurrencyBalance:
    """One pocket of a multi-currency account."""

    currency: str
    balance: Decimal
    balance_at: datetime


@dataclass(frozen=True, slots=True)
class HomeSavings:
    """What only a home-savings contract (Bausparvertrag) has."""

    contract_number: str
    contract_type: str
    contract_status: str
    contract_amount: Decimal
    rating: Decimal
    savings_interest_rate: Decimal
    debit_interest_rate: Decimal
    savings_progress: Decimal
    is_saving: bool
    contract_at: datetime


@dataclass(frozen=True, slots=True)
class Product:
    """A product as fetched. `key` is the bank's own stable name for it within one login."""

    key: str
    category: ProductCategory
    name: str
    holder: str
    currency: str | None = None
    account_number: str | None = None
    iban: str | None = None
    bic: str | None = None
    bank_code: str | None = None
    institution: str | None = None
    balance: Decimal | None = None
    balance_at: datetime | None = None
    balance_source: BalanceSource | None = None
    balances: tuple[CurrencyBalance, ...] = ()
    overdraft_limit: Decimal | None = None
    credit_limit: Decimal | None = None
    credit_drawn: Decimal | None = None
    home_savings: HomeSavings | None = None
    can_transfer: bool = False
    can_bulk_transfer: bool = False
    standing_order_actions: tuple[StandingAction, ...] = ()
    debit_forms: tuple[DebitForm, ...] = ()
