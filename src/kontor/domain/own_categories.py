"""Categories that users and tenants make: each is a name for transactions, over a category of Kontor's own tree."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from kontor.domain.tags import fits_sign

MAX_CATEGORIES = 200
PREFIX = "X_"
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# Numbers of users and tenants are apart, since they meet in one tree.
_TENANTS_IDS, _USERS_IDS = range(1_000_000, 2**30), range(2**30, 2**31)


@dataclass(frozen=True, slots=True)
class OwnCategory:
    """`basis` is a main category or subcategory: what sign rule, categories and analyses see."""

    system_id: int
    system_name: str
    name: str
    basis: str
    description: str = ""


# By system name: those that a user can see.
OwnCategories: TypeAlias = Mapping[str, OwnCategory]


def make_category(name: str, basis: str, description: str = "", *, is_tenants: bool = False) -> OwnCategory:
    system_name = PREFIX + "".join(secrets.choice(_LETTERS) for _ in range(12))
    system_id = secrets.choice(_TENANTS_IDS if is_tenants else _USERS_IDS)
    return OwnCategory(system_id, system_name, name, basis, description)


def is_own_name(system_name: str) -> bool:
    return system_name.startswith(PREFIX)


def resolve_basis(basis: str, amount: Decimal) -> str:
    """The category of a transaction: a main category means what is left over in it."""
    if "_" in basis or basis == "TAXES":
        return basis
    if basis == "OTHER":
        return "OTHER_INCOME" if amount > 0 else "OTHER_SPENDING"
    return "HEALTH_OTHERS" if basis == "HEALTH" else f"{basis}_OTHER"


def leave_basis(basis: str) -> str:
    """What a rule names when its own category is gone: a category of a transaction. `OTHER` has one for either sign."""
    return basis if basis == "OTHER" else resolve_basis(basis, Decimal(-1))


def fits_basis(basis: str, amount: Decimal) -> bool:
    """The sign rule. `OTHER` has a subcategory for either sign."""
    return amount != 0 if basis == "OTHER" else fits_sign(resolve_basis(basis, amount), amount)
