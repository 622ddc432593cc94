"""Families spend on what German households spend on.

Shares of private consumption, in percent: Statistisches Bundesamt (Destatis), Laufende Wirtschaftsrechnungen 2022,
"Konsumausgaben privater Haushalte", Germany, 2,846 euros per household and month.
"""

from collections import defaultdict
from functools import lru_cache

import pytest
from people_view import find_person, list_entries

SHARES_2022 = {
    "food": 14.6,  # Nahrungsmittel, Getränke, Tabakwaren
    "clothing": 3.6,  # Bekleidung und Schuhe
    "housing": 36.0,  # Wohnen, Energie, Wohnungsinstandhaltung
    "furnishing": 6.0,  # Innenausstattung, Haushaltsgeräte
    "health": 4.1,  # Gesundheit
    "transport": 12.2,  # Verkehr
    "communication": 4.3,  # Information und Kommunikation
    "leisure": 8.6,  # Freizeit, Sport und Kultur
    "eating out": 6.2,  # Gastronomie und Beherbergung
}
GROUPS = {
    "food": ("LIVING_GROCERIES", "LIVING_CONSUMABLES"),
    "clothing": ("SHOPPING_CLOTHING",),
    "housing": ("HOUSING_RENT", "HOUSING_ANCILLARYCOSTS", "HOUSING_SERVICES", "BILLS_ELECTRICITY", "BILLS_HEATING"),
    "furnishing": ("HOUSING_FURNISHING",),
    "health": ("HEALTH_",),
    "transport": ("MOBILITY_",),
    "communication": (
        *("BILLS_FIXEDINTERNET", "BILLS_MOBILE", "BILLS_TELECOMMUNICATIONS", "BILLS_OTHER"),
        *("SHOPPING_ELECTRONICS", "SHOPPING_DIGITALCONTENT", "SERVICES_ONLINE", "RECREATION_ONLINE"),
    ),
    "eating out": ("RECREATION_ENTERTAINMENTFOOD", "TRAVEL_ACCOMMODATION"),
    "leisure": ("RECREATION_", "FAMILY_TOYS", "FAMILY_CHILDACTIVITIES", "TRAVEL_INCLUSIVEOFFERS", "TRAVEL_ACTIVITIES"),
    # Consumption as well, but Destatis counts it among other goods and services.
    "other": ("LIVING_DRUGSTORE", "LIVING_OTHER", "SHOPPING_", "FAMILY_CHILD", "SERVICES_", "EDUCATION_"),
}


@lru_cache(maxsize=128)
def find_group(category: str) -> str | None:
    """The first group that fits: special ones come before whole main categories."""
    exact = (name for name, parts in GROUPS.items() if category in parts)
    return next(exact, None) or next((name for name, parts in GROUPS.items() if category.startswith(parts)), None)


@lru_cache(maxsize=8)
def measure_shares(login: str) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for _, entry in list_entries(find_person(login)):
        group = find_group(entry.truth.category)
        if group is not None and entry.transaction.currency == "EUR":
            sums[group] -= float(entry.transaction.amount)
    total = sum(sums.values())
    return {group: 100 * spent / total for group, spent in sums.items()}


@pytest.mark.parametrize("group", SHARES_2022)
def test_a_family_spends_like_households_do(group: str) -> None:
    """Half to twice the share of all households: families differ from pensioners and singles, but not beyond that."""
    share = measure_shares("familie")[group]
    assert SHARES_2022[group] / 2 <= share <= SHARES_2022[group] * 2


@pytest.mark.parametrize("login", ["elternzeit", "trennung", "familie"])
def test_the_big_items_of_families_have_their_size(login: str) -> None:
    shares = measure_shares(login)
    for group in ("food", "housing", "transport"):
        assert SHARES_2022[group] / 2 <= shares[group] <= SHARES_2022[group] * 1.7, (group, shares)
    assert max(shares, key=shares.__getitem__) == "housing"
