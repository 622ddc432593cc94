"""The written knowledge reaches everything: each category and each insurance product has a booking that gets it."""

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging import OwnAccounts
from kontor.analysis.tagging.lexicons import IN_NAME, IN_PURPOSE, load_keywords
from kontor.analysis.trees import TREES

OWN_IBAN = "DE02120300000000202051"
LEAVES = sorted(name for name, item in TREES["CATEGORIES"].items.items() if item.parent or name == "TAXES")
TYPES = sorted(name for name, item in TREES["INSURANCE_TYPES"].items.items() if item.parent)
FREELANCER = sorted(TREES["FREELANCER_CATEGORIES"].items)


def write_rows(keywords):
    """Bookings in which a keyword is all there is to see."""
    for keyword in keywords:
        text = " ".join(atom.replace("*", "") for atom in keyword.atoms)
        amount = 50 if keyword.sign == "+" or keyword.category.startswith(("INCOME", "OTHER_INCOME")) else -50
        if keyword.code.startswith("gv:"):
            yield book(amount, "Xyqz", None, None, keyword.code[3:])
        elif keyword.code:
            yield book(amount, "Xyqz", f"SVWZ+x PURP+{keyword.code[5:]}")
        elif keyword.places & IN_PURPOSE:
            yield book(amount, "Xyqz", text)
        else:
            yield book(amount, text) if keyword.places & IN_NAME else book(amount, "Xyqz", None, text)


def is_reached(wanted, field, keywords):
    return any(getattr(tag(row), field) == wanted for row in write_rows(keywords))


@pytest.mark.parametrize("category", LEAVES)
def test_every_category_is_reached(category):
    keywords = [keyword for keyword in load_keywords() if keyword.category == category]
    assert keywords
    assert is_reached(category, "category", keywords)


@pytest.mark.parametrize("insurance_type", TYPES)
def test_every_insurance_product_is_reached(insurance_type):
    if insurance_type == "UNRELATED_OTHER":
        keywords = [keyword for keyword in load_keywords() if keyword.category == "LIVING_GROCERIES"]
    else:
        keywords = [keyword for keyword in load_keywords() if keyword.insurance_type == insurance_type]
    assert is_reached(insurance_type, "insurance_type", keywords)


@pytest.mark.parametrize("name", FREELANCER)
def test_every_freelancer_category_is_reached(name):
    keywords = [
        keyword
        for keyword in load_keywords()
        if keyword.freelancer_category == name or (name == "UNRELATED" and keyword.category == "LIVING_GROCERIES")
    ]
    assert is_reached(name, "freelancer_category", keywords)


def test_own_accounts_are_reached_without_any_word():
    own = OwnAccounts(frozenset({OWN_IBAN}))
    assert tag(book(-5, None, None, iban=OWN_IBAN), own).category == "TRANSFER_OWN"
