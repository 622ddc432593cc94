"""All analyses by their names, and the stateless call that runs them on transactions of the caller."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from kontor.analysis.affordability import measure_affordability
from kontor.analysis.cashflow import Options, find_cashflow
from kontor.analysis.credit_checks import check_credit
from kontor.analysis.disposable_money import find_disposable_money
from kontor.analysis.life_events import find_life_events
from kontor.analysis.life_stages import find_life_stages
from kontor.analysis.records import Account, Record
from kontor.analysis.sales_triggers import find_sales_triggers
from kontor.domain.cleaning import clean_amount
from kontor.domain.errors import InvalidError
from kontor.domain.products import ProductCategory
from kontor.services.analyses import Facts
from kontor.wire import affordability, credit_checks, disposable_money, life, sales_triggers
from kontor.wire.ai_transactions import AiConnectTransaction, Id
from kontor.wire.cashflow import show_cashflow
from kontor.wire.contracts import show_contracts
from kontor.wire.products import CATEGORIES, Category
from kontor.wire.urls import Urls

Show: TypeAlias = Callable[[Facts, Urls, bool], Any]
AnalysisName = Annotated[
    Literal[
        "contracts",
        "cashflow",
        "disposable-money",
        "life-events",
        "life-stages",
        "sales-triggers",
        "affordability",
        "credit-check",
    ],
    Meta(title="AnalysisName"),
]
CATEGORIES_INSIDE = {word: category for category, word in CATEGORIES.items()}


class AnalysedAccount(msgspec.Struct):
    product: Id
    iban: Annotated[str, Meta(max_length=64)] | None = None
    inhaber: Annotated[str, Meta(max_length=256)] | None = None
    saldo: Decimal | None = None
    kategorie: Category | None = None

    @property
    def category(self) -> ProductCategory:
        return ProductCategory.CHECKING if self.kategorie is None else CATEGORIES_INSIDE[self.kategorie]


class AnalysesRequest(msgspec.Struct):
    analyses: Annotated[list[AnalysisName], Meta(min_length=1)]
    transactions: list[AiConnectTransaction]
    today: Annotated[date, Meta(description="the current date where it is left out")] | None = None
    accounts: list[AnalysedAccount] | None = None


def _show_contracts(facts: Facts, urls: Urls, explain: bool) -> Any:
    return show_contracts(facts.contracts, facts, urls, explain=explain)


def _show_cashflow(facts: Facts, urls: Urls, explain: bool) -> Any:
    options = Options(explain=explain)
    found = find_cashflow(facts.records, facts.contracts, facts.accounts, facts.today, options)
    return show_cashflow(found, facts, urls, options)


def show_disposable_money(facts: Facts, urls: Urls, explain: bool) -> Any:
    found = find_disposable_money(facts.records, facts.contracts, facts.today)
    return disposable_money.show_disposable_money(found, facts, urls, explain=explain)


def show_life_events(facts: Facts, urls: Urls, explain: bool) -> Any:
    found = find_life_events(facts.records, facts.contracts, facts.accounts, facts.today)
    return life.show_life_events(found, facts, urls, explain=explain)


def show_life_stages(facts: Facts, urls: Urls, explain: bool) -> Any:
    found = find_life_stages(facts.records, facts.contracts, facts.accounts, facts.today)
    return life.show_life_stages(found, facts, urls, explain=explain)


def show_sales_triggers(facts: Facts, urls: Urls, explain: bool) -> Any:
    found = find_sales_triggers(facts.records, facts.contracts, facts.accounts, facts.today)
    return sales_triggers.show_sales_triggers(found, facts, urls, explain=explain)


def show_affordability(facts: Facts, urls: Urls, explain: bool) -> Any:
    found = measure_affordability(facts.records, facts.contracts, facts.accounts, facts.today)
    return affordability.show_affordability(found, facts, urls, explain=explain)


def show_credit_check(facts: Facts, urls: Urls, explain: bool) -> Any:
    found = check_credit(facts.records, facts.contracts, facts.accounts, facts.today)
    return credit_checks.show_credit_check(found, facts, urls, explain=explain)


ANALYSES: dict[str, Show] = {
    "contracts": _show_contracts,
    "cashflow": _show_cashflow,
    "disposable-money": show_disposable_money,
    "life-events": show_life_events,
    "life-stages": show_life_stages,
    "sales-triggers": show_sales_triggers,
    "affordability": show_affordability,
    "credit-check": show_credit_check,
}


def make_accounts(request: AnalysesRequest, records: list[Record]) -> list[Account]:
    """Those given, and every product that transactions name. Data reaches as far as the newest booking does."""
    newest: dict[str, date] = {}
    for record in records:
        if record.account not in newest or newest[record.account] < record.day:
            newest[record.account] = record.day
    given = {account.product: account for account in request.accounts or []}
    accounts = []
    for product in sorted(given.keys() | newest.keys()):
        known = given.get(product, AnalysedAccount(product))
        if known.saldo is not None and clean_amount(known.saldo) is None:
            raise InvalidError("is no amount", "accounts.saldo")
        accounts.append(
            Account(
                id=product,
                category=known.category,
                holder=known.inhaber or "",
                iban=known.iban or "",
                balance=known.saldo,
                data_until=newest.get(product),
            )
        )
    return accounts
