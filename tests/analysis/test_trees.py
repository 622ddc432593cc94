"""The tag trees: complete, with stable numbers."""

import re
from itertools import pairwise

import pytest

from kontor.analysis.tagging import list_partners
from kontor.analysis.trees import TREES, find_item, find_tree, list_items

NUMBERS = {
    1: "CATEGORIES",
    2: "INSURANCE_TYPES",
    3: "BUSINESS_PARTNERS",
    4: "PERIODS",
    5: "SALES_TRIGGERS",
    6: "CASHFLOW",
    7: "AFFORDABILITY",
    9: "DISPOSABLE_MONEY",
    10: "LIFE_EVENTS",
    12: "LIFE_STAGES",
    15: "FREELANCER_CATEGORIES",
}
CATEGORIES = """
LIVING: GROCERIES, DRUGSTORE, CONSUMABLES, OTHER
HOUSING: RENT, FINANCING, ANCILLARYCOSTS, SERVICES, FURNISHING, OTHER
BILLS: ELECTRICITY, HEATING, FIXEDINTERNET, MOBILE, TELECOMMUNICATIONS, OTHER
HEALTH: SERVICES, CONSUMABLES, OTHERS
MOBILITY: VEHICLEACQUISITION, BIKEACQUISITION, FUEL, SERVICES, PARKING, PUBLICTRANSPORT, CARSHARE, BIKESHARE, TAXI
MOBILITY: OTHER
TRAVEL: ACCOMMODATION, TRANSPORT, ACTIVITIES, INCLUSIVEOFFERS, OTHER
FAMILY: CHILDCARE, CHILDNECESSITIES, TOYS, CHILDACTIVITIES, SUPPORT, OTHER
EDUCATION: TRAINING, ACADEMIC, OTHER
SERVICES: FINANCIAL, ONLINE, OFFLINE, OTHER
RECREATION: ENTERTAINMENTFOOD, SPORTS, CULTURAL, HOBBY, GARDEN, ONLINE, PRINTED, PETS, OTHER
SHOPPING: CLOTHINGACCESSORIES, BEAUTY, ELECTRONICS, DIGITALCONTENT, OTHER
INSURANCE: VEHICLE, LIABILITY, HOME, HEALTH, TRAVEL, SPECIAL, PROVISIONARY, INCAPACITY, LIFE, OTHER
BANKFINANCE: ATMDEPOSIT, ATMWITHDRAWAL, CASHDEPOSIT, CASHWITHDRAWAL, TRANSFER, CREDITINCOME, CREDITPAYMENT, INVESTMENT
BANKFINANCE: OTHER
SAVINGS: LIFEINSURANCE, LIFEBUILDING, ACCOUNT, SECURITIES, OTHER
INCOME: SALARY, INVESTMENT, RENTAL, PENSION, STATE_FAMILY, STATE_EDUCATION, OTHER
TAXES:
OTHER: INCOME, SPENDING, DONATION, SUPPORT
TRANSFER: OWN, OTHER
NET:
EXPENSES:
"""
INSURANCE_TYPES = """
VEHICLE: LIABILITY, PARTIALCOVER, FULLCOVER, BREAKDOWN, OTHER
LIABILITY: PRIVATE, PETOWNER, PROPERTYOWNER, PROFESSIONAL, OTHER
HOME: CONTENTS, BUILDING, GLASS, NATURALHAZARD, OTHER
HEALTH: PRIVATE, STATUTORY, DENTAL, HOSPITAL, CARE, SICKPAY, OTHER
TRAVEL: HEALTH, CANCELLATION, OTHER
SPECIAL: LEGAL, CYBER, DEVICE, PET, BIKE, OTHER
PROVISIONARY: RIESTER, RUERUP, COMPANYPENSION, PRIVATEPENSION, FUNERAL, OTHER
INCAPACITY: OCCUPATIONAL, BASICABILITY, CRITICALILLNESS, ACCIDENT, OTHER
LIFE: TERM, ENDOWMENT, UNITLINKED, OTHER
OTHER: OTHER
UNRELATED: OTHER
"""


def spell(text):
    """Names of a two-level tree with their parents."""
    found = {}
    for line in text.strip().splitlines():
        main, _, rest = line.partition(":")
        found[main] = None
        found |= {f"{main}_{part.strip()}": main for part in rest.split(",") if part.strip()}
    return found


@pytest.mark.parametrize(("tree", "text"), [("CATEGORIES", CATEGORIES), ("INSURANCE_TYPES", INSURANCE_TYPES)])
def test_two_level_trees_hold_exactly_what_the_interface_names(tree, text):
    assert {item.system_name: item.parent for item in list_items(TREES[tree])} == spell(text)


def test_trees_have_the_numbers_of_the_returned_payloads():
    assert {tree.system_id: tree.system_name for tree in TREES.values()} == NUMBERS
    assert find_tree(11) is find_tree("10") is find_tree("LIFE_EVENTS")
    assert find_tree(8) is None
    assert find_tree("NOWHERE") is None


def test_a_system_name_and_a_number_find_the_same_item():
    for tree in TREES.values():
        for item in list_items(tree):
            assert find_item(tree, item.system_name) == item
            assert find_item(tree, item.system_id) == item


def test_numbers_and_names_are_unique_and_parents_exist():
    for tree in TREES.values():
        items = list_items(tree)
        names = {item.system_name for item in items}
        assert len(names) == len(items) == len({item.system_id for item in items})
        assert {item.parent for item in items} - {None} <= names
        assert all(item.name and 0 < item.system_id < 2**31 for item in items)


def test_spans_of_time_are_items_with_their_year_as_parent():
    tree = TREES["CASHFLOW"]
    for name in ("2020_Y", "2020_Q1", "2020_M01", "2020_W01", "2020_W53"):
        item = find_item(tree, name)
        assert item is not None
        assert item.parent == "2020"
    assert find_item(tree, "2020_M13") is None
    assert find_item(tree, "TOTAL_TOTAL") is not None


def test_partners_have_plain_unique_names_and_numbers_that_follow_from_them():
    partners = list_partners()
    assert all(re.fullmatch(r"[A-Z0-9]+(_[A-Z0-9]+)*", partner.system_name) for partner in partners)
    assert all(first.system_name < second.system_name for first, second in pairwise(partners))
    # A client may have stored them: these two must never change.
    numbers = {partner.system_name: partner.system_id for partner in partners}
    assert numbers["HUK_COBURG"] == HUK_COBURG
    assert numbers["REWE"] == REWE


HUK_COBURG, REWE = 892437179, 966595331
