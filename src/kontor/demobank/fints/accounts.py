"""Accounts and balances: HKSPA and HKSAL. And TAN media: HKTAB."""

from decimal import Decimal

from kontor.connectors.demo.scenarios import find_scenario
from kontor.demobank.fints.customers import Customer
from kontor.demobank.fints.message_exchanges import MessageExchange
from kontor.demobank.fints.modes import Mode
from kontor.demobank.fints.parameters import (
    NAME_CHARACTERS,
    PRODUCT_NAME_CHARACTERS,
    is_apart,
    name_account,
    name_account_internationally,
    name_allowed_methods,
)
from kontor.demobank.fints.segments import Segment, Writable, make_segment
from kontor.domain.products import Product
from kontor.domain.sca import MediumClass, ScaMedium

_MEDIA = {MediumClass.LIST: "L", MediumClass.GENERATOR: "G", MediumClass.SECODER: "S"}
_MOBILE = "M"
_INTERNATIONAL_SINCE = {"HKSAL": 7, "HKKAZ": 7, "HKCAZ": 1, "HKWPD": 99, "DKKKU": 99, "HKKAU": 2, "HKEKA": 4}


def find_product(exchange: MessageExchange, customer: Customer, order: Segment) -> Product | None:
    """The account an order is about. Without one, or with somebody else's, the order is refused."""
    group = order.read_group(1)
    is_international = order.version >= _INTERNATIONAL_SINCE.get(order.code, 1)
    numbers = (group[0], *group[2:3]) if is_international and group else group[:1]
    if is_international and not _is_named_rightly(exchange, order, group):
        return None
    product = customer.find_product(*numbers)
    if product is None or (is_apart(product, exchange.modes) and order.code != "DKKKU"):
        exchange.reply(order, "9210", "Auftrag abgelehnt - Das Konto ist der Bank nicht bekannt.")
        return None
    return product


def _is_named_rightly(exchange: MessageExchange, order: Segment, group: tuple[str, ...]) -> bool:
    has_iban, has_number = bool(group and group[0]), bool(group[2:3] and group[2])
    if Mode.ACCOUNT_IN_FULL in exchange.modes and not has_number:
        exchange.reply(order, "9210", "Angaben zur nationalen Kontoverbindung für Identifikation erforderlich.")
        return False
    if Mode.ACCOUNT_BY_IBAN in exchange.modes and has_iban and has_number:
        exchange.reply(order, "9130", "Nachrichtenaufbau fehlerhaft. Nachricht nicht verarbeitbar.")
        return False
    return True


def show_accounts(exchange: MessageExchange, customer: Customer, order: Segment) -> None:
    if Mode.ACCOUNTS_UNAVAILABLE in exchange.modes:
        exchange.reply(order, "9010", "Verarbeitungssystem nicht verfügbar.")
        return
    wanted = {order.read(element, 0) for element in range(1, len(order.elements) + 1)} - {""}
    products = [
        product
        for product in customer.products
        if (not wanted or product.account_number in wanted) and not is_apart(product, exchange.modes)
    ]
    rows = [(bool(product.iban), *name_account_internationally(product)) for product in products]
    exchange.reply(order, "0020")
    exchange.add(make_segment("HISPA", order.version, *rows), order)


def show_balance(exchange: MessageExchange, customer: Customer, order: Segment) -> None:
    product = find_product(exchange, customer, order)
    if product is None:
        return
    wanted = [product]
    if order.read(2) == "J":
        wanted = [product for product in customer.products if not product.category.is_depot]
    exchange.reply(order, "0020")
    for wanted_product in wanted:
        exchange.add(_make_balance(wanted_product, order.version, exchange), order)


def _make_balance(product: Product, version: int, exchange: MessageExchange) -> Segment:
    currency = product.currency or "EUR"
    balance = product.balance or Decimal(0)
    account = name_account_internationally(product) if version >= 7 else name_account(product)
    line = product.overdraft_limit
    available = balance + (line or Decimal(0))
    return make_segment(
        "HISAL",
        version,
        account,
        product.name[:PRODUCT_NAME_CHARACTERS],
        currency,
        (
            "D" if balance < 0 else "C",
            balance,
            currency,
            None if Mode.BALANCE_WITHOUT_DAY in exchange.modes else exchange.today,
        ),
        None,
        None if line is None else (line, currency),
        None if available < 0 else (available, currency),
    )


def show_media(exchange: MessageExchange, customer: Customer, order: Segment) -> None:
    """Of the kind that is asked for; `A` are all."""
    scenario = find_scenario(customer.login)
    wanted = order.read(2)
    methods = name_allowed_methods(scenario.methods, exchange.modes)
    media = [medium for medium in scenario.media if wanted in ("A", "", _MEDIA.get(medium.medium_class, _MOBILE))]
    if not media:
        exchange.reply(order, "3010")
    else:
        exchange.reply(order, "0020")
    rows = [_describe_medium(medium, order.version, methods[0]) for medium in media]
    exchange.add(make_segment("HITAB", order.version, 0, *rows), order)


def _describe_medium(medium: ScaMedium, version: int, method: str) -> tuple[Writable, ...]:
    head: list[Writable] = [_MEDIA.get(medium.medium_class, _MOBILE), 1]
    if version >= 5:
        head.append(method)
    card: list[Writable] = [None] * 10  # card, its owner's account, validity, list
    return (*head, *card, medium.name[:NAME_CHARACTERS])
