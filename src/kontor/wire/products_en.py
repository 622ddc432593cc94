"""BankProduct in its English-named form: every field is always there, and nullable."""

from decimal import Decimal
from uuid import UUID

import msgspec

from kontor.domain.stored_products import StoredProduct
from kontor.wire.encoding import format_timestamp
from kontor.wire.errors import Message
from kontor.wire.products import CATEGORIES, SOURCES, STATUSES, list_messages, list_relations
from kontor.wire.relations import Relation
from kontor.wire.urls import Urls


class Balance(msgspec.Struct):
    balance: Decimal | None
    balanceDate: str | None  # noqa: N815
    currency: str | None


class EnglishBankProduct(msgspec.Struct):
    accountNumber: str | None  # noqa: N815
    balance: Decimal | None
    balanceDataSource: str | None  # noqa: N815
    balanceDate: str | None  # noqa: N815
    balances: dict[str, Balance] | None
    bankCode: str | None  # noqa: N815
    bic: str | None
    bulkTransferSupport: bool | None  # noqa: N815
    category: str | None
    contractAmount: Decimal | None  # noqa: N815
    contractDate: str | None  # noqa: N815
    contractNumber: str | None  # noqa: N815
    contractStatus: str | None  # noqa: N815
    contractType: str | None  # noqa: N815
    creditDrawn: Decimal | None  # noqa: N815
    creditLimit: Decimal | None  # noqa: N815
    currency: str | None
    debitInterestRate: Decimal | None  # noqa: N815
    holder: str | None
    iban: str | None
    id: UUID | None
    institution: str | None
    messages: list[Message] | None
    name: str | None
    overdraftLimit: Decimal | None  # noqa: N815
    rating: Decimal | None
    relations: list[Relation] | None
    savingPhase: bool | None  # noqa: N815
    savingsInterestRate: Decimal | None  # noqa: N815
    savingsProgress: Decimal | None  # noqa: N815
    status: str | None
    transferSupport: bool | None  # noqa: N815
    updatedAt: str | None  # noqa: N815


def show_english_product(
    stored: StoredProduct, provider_id: UUID, urls: Urls, *, has_credentials: bool
) -> EnglishBankProduct:
    product, contract = stored.product, stored.product.home_savings
    balances = {
        balance.currency: Balance(balance.balance, format_timestamp(balance.balance_at), balance.currency)
        for balance in product.balances
    }
    shown = EnglishBankProduct(
        accountNumber=product.account_number,
        balance=product.balance,
        balanceDataSource=None if product.balance_source is None else SOURCES[product.balance_source],
        balanceDate=None if product.balance_at is None else format_timestamp(product.balance_at),
        balances=balances or None,
        bankCode=product.bank_code,
        bic=product.bic,
        bulkTransferSupport=product.can_bulk_transfer,
        category=CATEGORIES[product.category],
        contractAmount=None,
        contractDate=None,
        contractNumber=None,
        contractStatus=None,
        contractType=None,
        creditDrawn=product.credit_drawn,
        creditLimit=product.credit_limit,
        currency=product.currency,
        debitInterestRate=None,
        holder=product.holder,
        iban=product.iban,
        id=stored.id,
        institution=product.institution,
        messages=list_messages(stored) or None,
        name=product.name,
        overdraftLimit=product.overdraft_limit,
        rating=None,
        relations=list_relations(stored, provider_id, urls, has_credentials=has_credentials),
        savingPhase=None,
        savingsInterestRate=None,
        savingsProgress=None,
        status=STATUSES[stored.status],
        transferSupport=product.can_transfer,
        updatedAt=format_timestamp(stored.updated_at),
    )
    if contract is not None:
        shown.contractAmount = contract.contract_amount
        shown.contractNumber = contract.contract_number
        shown.contractStatus = contract.contract_status
        shown.contractType = contract.contract_type
        shown.debitInterestRate = contract.debit_interest_rate
        shown.rating = contract.rating
        shown.savingPhase = contract.is_saving
        shown.savingsInterestRate = contract.savings_interest_rate
        shown.savingsProgress = contract.savings_progress
        shown.contractDate = format_timestamp(contract.contract_at)
    return shown
