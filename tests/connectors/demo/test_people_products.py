"""Products: what identifies them, and what only some of them have."""

import re
from dataclasses import fields
from datetime import date

from people_view import SMALL_LOGINS, TODAY, find_person, find_recent

from kontor.connectors.demo.people import PERSONAS, Person
from kontor.domain.products import BalanceSource, HomeSavings, Product, ProductCategory


def list_products() -> list[Product]:
    people = (find_person(login) for login in (*PERSONAS, *SMALL_LOGINS))
    return [account.product for person in people for account in person.accounts]


def test_keys_are_unique_within_a_login_and_never_change() -> None:
    for login in ("demo1", "test_positions_error"):
        keys = [account.product.key for account in find_person(login).accounts]
        assert len(set(keys)) == len(keys)
        for today in (date(2019, 3, 31), date(2027, 1, 1)):
            assert [account.product.key for account in find_recent(login, today, today).accounts] == keys


def test_cards_show_a_masked_number_and_no_iban() -> None:
    cards = [product for product in list_products() if product.category is ProductCategory.CREDIT_CARD]
    assert len(cards) >= 5
    for card in cards:
        assert re.fullmatch(r"[45]\d{3}\*{8}\d{4}", card.account_number or "")
        assert (card.account_number or "").startswith("5") == card.name.startswith("Mastercard")
        assert (card.iban, card.bic) == (None, None)
        assert card.credit_limit is not None
        assert card.credit_drawn == max(0, -(card.balance or 0))


def test_accounts_are_named_numbered_and_held(person: Person) -> None:
    for account in person.accounts:
        product = account.product
        assert product.name
        assert product.account_number
        assert person.name.split()[-1] in product.holder
        assert product.institution == "Kontor Demobank"
        assert product.balance is not None
        assert product.balance_at is not None
        has_iban = not product.category.is_card and not product.category.is_depot
        assert (product.iban is not None) == (product.bic is not None) == has_iban
        if has_iban:
            assert (product.iban or "").endswith(product.account_number)
        assert (product.category is ProductCategory.CHECKING) == product.can_transfer


def test_depots_say_where_their_balance_comes_from() -> None:
    depots = [product for product in list_products() if product.category.is_depot]
    assert depots
    assert all(depot.balance_source is BalanceSource.STATEMENT for depot in depots)
    others = [product for product in list_products() if not product.category.is_depot]
    assert all(product.balance_source is None for product in others)


def test_home_savings_are_complete_and_agree_with_the_bookings() -> None:
    person = find_person("demo1")
    account = next(a for a in person.accounts if a.product.category is ProductCategory.HOME_SAVINGS)
    home = account.product.home_savings
    assert home is not None
    assert all(getattr(home, field.name) not in (None, "") for field in fields(HomeSavings))
    assert 0 < home.savings_progress < 100
    assert home.savings_progress == round(account.product.balance * 100 / home.contract_amount, 2)
    assert home.contract_at.date() < TODAY
    assert all(home.contract_number in (entry.transaction.purpose or "") for entry in account.entries)
    assert sum(a.product.home_savings is not None for a in person.accounts) == 1


def test_a_multi_currency_account_has_a_balance_per_currency() -> None:
    account = next(account for account in find_person("demo1").accounts if account.product.balances)
    pockets = {pocket.currency: pocket for pocket in account.product.balances}
    assert list(pockets) == ["EUR", "USD", "CHF"]
    assert pockets["EUR"].balance == account.product.balance
    assert all(pocket.balance > 0 for pocket in pockets.values())
    assert all(pocket.balance_at == account.product.balance_at for pocket in pockets.values())
    assert {entry.transaction.currency for entry in account.entries} == set(pockets)
