"""The bank's products as its customers hold them."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from kontor.connectors.demo.people.banking_days import find_first_day, find_midnight
from kontor.connectors.demo.people.descriptions import AccountPlan
from kontor.connectors.demo.people.life import EPOCH, Life
from kontor.connectors.demo.people.numbers import DEMO_BANK, DEMO_BANK_CODE, DEMO_BIC, make_home_savings_number
from kontor.connectors.demo.people.streams import derive_number, draw_digits
from kontor.domain.mandates import DebitForm
from kontor.domain.positions import Position
from kontor.domain.products import BalanceSource, CurrencyBalance, HomeSavings, Product, ProductCategory
from kontor.domain.schedules import StandingAction

CENT = Decimal("0.01")
WITHOUT_IBAN = frozenset(
    {ProductCategory.CREDIT_CARD, ProductCategory.DEPOT, ProductCategory.OTHER_CARD, ProductCategory.OTHER_PRODUCT}
)


def read_cents(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)


def name_holder(life: Life, plan: AccountPlan) -> str:
    if plan.joint:
        first, second = life.given_names
        return f"{first} und {second} {life.surname}"
    return life.name


def number_product(life: Life, plan: AccountPlan) -> str:
    if plan.kind.is_card:
        scheme = "5232" if plan.name.startswith("Mastercard") else "4871"
        return f"{scheme}********{draw_digits(4, 'card', life.login, plan.key)}"
    return life.number_account(plan)


def describe_home_savings(life: Life, plan: AccountPlan, saved: Decimal) -> HomeSavings:
    amount = Decimal(plan.limit or 50000)
    return HomeSavings(
        contract_number=make_home_savings_number(life.login),
        contract_type="FuchsBau 08 Standard",
        contract_status="Sparphase",
        contract_amount=amount.quantize(CENT),
        rating=Decimal(4 + derive_number("rating", life.login) % 9).quantize(CENT),
        savings_interest_rate=Decimal("0.25"),
        debit_interest_rate=Decimal("2.35"),
        savings_progress=(saved * 100 / amount).quantize(CENT),
        is_saving=True,
        contract_at=find_midnight(find_first_day(EPOCH + derive_number("contract", life.login) % 60)),
    )


def make_product(life: Life, plan: AccountPlan, balances: Mapping[str, int], today: date) -> Product:
    """The product with its balance of today, given in cents per currency."""
    has_iban = plan.kind not in WITHOUT_IBAN
    balance_at = find_midnight(today)
    balance = read_cents(balances.get("EUR", 0))
    pockets = tuple(CurrencyBalance(name, read_cents(balances[name]), balance_at) for name in plan.currencies)
    drawn = max(Decimal(0), -balance) if plan.limit else None
    is_home_savings = plan.kind is ProductCategory.HOME_SAVINGS
    return Product(
        key=number_product(life, plan),
        category=plan.kind,
        name=plan.name,
        holder=name_holder(life, plan),
        currency="EUR",
        account_number=number_product(life, plan),
        iban=life.ibans[plan.key] if has_iban else None,
        bic=DEMO_BIC if has_iban else None,
        bank_code=DEMO_BANK_CODE,
        institution=DEMO_BANK,
        balance=balance,
        balance_at=balance_at,
        balances=pockets,
        overdraft_limit=Decimal(plan.overdraft).quantize(CENT) if plan.overdraft is not None else None,
        credit_limit=Decimal(plan.limit).quantize(CENT) if plan.limit and not is_home_savings else None,
        credit_drawn=drawn.quantize(CENT) if drawn is not None and not is_home_savings else None,
        home_savings=describe_home_savings(life, plan, balance) if is_home_savings else None,
        can_transfer=plan.kind is ProductCategory.CHECKING,
        can_bulk_transfer=plan.kind is ProductCategory.CHECKING,
        standing_order_actions=tuple(StandingAction) if plan.kind is ProductCategory.CHECKING else (),
        debit_forms=tuple(DebitForm) if plan.kind is ProductCategory.CHECKING else (),
    )


def make_depot(life: Life, plan: AccountPlan, positions: tuple[Position, ...], today: date) -> Product:
    total = sum((position.total_value or Decimal(0) for position in positions), Decimal("0.00"))
    return Product(
        key=number_product(life, plan),
        category=plan.kind,
        name=plan.name,
        holder=name_holder(life, plan),
        currency="EUR",
        account_number=number_product(life, plan),
        bank_code=DEMO_BANK_CODE,
        institution=DEMO_BANK,
        balance=total,
        balance_at=find_midnight(today),
        balance_source=BalanceSource.STATEMENT,
    )
