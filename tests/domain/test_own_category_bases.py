"""What an own category means for a transaction: its basis, or what is left over in a main category."""

import re
from decimal import Decimal

import pytest

from kontor.analysis.trees import CATEGORIES, TREES
from kontor.domain.own_categories import fits_basis, make_category, resolve_basis
from kontor.domain.tags import fits_sign
from kontor.services.analyses import decisions, own_categories

SPENT, RECEIVED, NOTHING = Decimal("-1.00"), Decimal("1.00"), Decimal("0.00")


@pytest.mark.parametrize("amount", [SPENT, RECEIVED, NOTHING])
def test_every_basis_leads_to_a_category_that_a_transaction_can_have(amount):
    for basis in own_categories._BASES:
        category = resolve_basis(basis, amount)
        assert decisions.choose_category(category, "", {}).basis == category
        parent = TREES[CATEGORIES].items[category].parent
        assert basis in (category, parent)


@pytest.mark.parametrize(
    ("basis", "amount", "category"),
    [
        ("LIVING", SPENT, "LIVING_OTHER"),
        ("LIVING_DRUGSTORE", SPENT, "LIVING_DRUGSTORE"),
        ("HEALTH", SPENT, "HEALTH_OTHERS"),
        ("TAXES", SPENT, "TAXES"),
        ("OTHER", SPENT, "OTHER_SPENDING"),
        ("OTHER", RECEIVED, "OTHER_INCOME"),
        ("INCOME", RECEIVED, "INCOME_OTHER"),
    ],
)
def test_a_main_category_stands_for_what_is_left_over_in_it(basis, amount, category):
    assert resolve_basis(basis, amount) == category
    assert fits_basis(basis, amount)


def test_the_sign_rule_is_that_of_the_basis_and_other_has_both_signs():
    for basis in own_categories._BASES - {"OTHER"}:
        for amount in (SPENT, RECEIVED, NOTHING):
            assert fits_basis(basis, amount) == fits_sign(resolve_basis(basis, amount), amount)
    assert not fits_basis("OTHER", NOTHING)


def test_sums_of_categories_are_no_basis():
    assert "NET" not in own_categories._BASES
    assert "EXPENSES" not in own_categories._BASES


def test_system_names_are_made_by_us_and_differ():
    names = {make_category("Hund", "RECREATION_PETS").system_name for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch("X_[0-9A-Z]{12}", name) for name in names)
