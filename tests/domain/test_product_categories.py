"""Cards and accounts that are none of the usual kinds have the categories for that."""

import pytest

from kontor.connectors.fints.accounts import Account
from kontor.domain.products import ProductCategory, find_card_category
from kontor.wire.products import CATEGORIES


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (("Visa Debit",), "SONSTIGEKARTE"),
        ((None, "Prepaid Mastercard"), "SONSTIGEKARTE"),
        (("girocard",), "SONSTIGEKARTE"),
        (("Mastercard Gold", None), "KREDITKARTE"),
        ((None,), "KREDITKARTE"),
    ],
)
def test_a_card_that_is_paid_at_once_or_beforehand_is_another_card(names, word):
    assert CATEGORIES[find_card_category(*names)] == word


@pytest.mark.parametrize(("kind", "word"), [(80, "SONSTIGESPRODUKT"), (89, "SONSTIGESPRODUKT"), (90, "SONSTIGESKONTO")])
def test_an_account_of_a_kind_without_a_category_is_another_product(kind, word):
    account = Account("1", "", "99999999", "", "", kind, "EUR", "Anna", "Fonds", ())
    assert CATEGORIES[account.category] == word
    assert account.category is not ProductCategory.CHECKING
