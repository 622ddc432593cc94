"""Accesses and products of the API, read once for all pages that show them.

German keys of the interface stand here, and in the other modules that read answers of the API.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kontor.console.gateway import segment

DEPOT = "DEPOT"
CARDS = ("KREDITKARTE", "SONSTIGEKARTE")
LOAN = "KREDITKONTO"
EVERYDAY_KINDS = ("GIROKONTO", "SONSTIGESKONTO", *CARDS)


@dataclass(frozen=True, slots=True)
class Product:
    access_id: str
    id: str
    name: str
    kind: str
    currency: str
    balance: Decimal | None
    iban: str | None
    number: str | None
    bank: str
    facts: Mapping[str, Any]  # as the API told them
    provider_id: str = ""

    @property
    def path(self) -> str:
        """Of the API."""
        return f"/customer/v2/bankzugaenge/{segment(self.access_id)}/{segment(self.id)}"

    @property
    def url(self) -> str:
        """Of the console's page about it."""
        return f"/console/accounts/{segment(self.access_id)}/{segment(self.id)}"

    @property
    def is_everyday(self) -> bool:
        """Whether money is spent from it."""
        return self.kind in EVERYDAY_KINDS

    @property
    def is_depot(self) -> bool:
        return self.kind == DEPOT


def list_products(accesses: Mapping[str, Any]) -> list[Product]:
    """All products, in the order of the accesses."""
    return [
        read_product(key, product, access.get("providerId", ""))
        for key, access in accesses.items()
        for product in access.get("bankprodukte", [])
    ]


def read_product(access_id: str, product: Mapping[str, Any], provider_id: str = "") -> Product:
    balance = product.get("saldo")
    return Product(
        access_id,
        product["id"],
        product.get("bezeichnung") or product["kategorie"],
        product["kategorie"],
        product.get("waehrung") or "EUR",
        None if balance is None else Decimal(str(balance)),
        product.get("iban"),
        product.get("kontonummer"),
        product.get("kreditinstitut") or "",
        product,
        provider_id,
    )


def list_accounts(products: Sequence[Product]) -> list[Product]:
    """Each account once, for sums. Of one that several accesses report, the product with the newest balance.

    Accounts are told apart as analyses do it (see docs/guides/analyses.md).
    """
    groups: dict[Hashable, list[Product]] = {}
    for product in products:
        groups.setdefault(_name_account(product), []).append(product)
    listed = []
    for group in groups.values():
        if len({product.access_id for product in group}) < len(group):
            listed += group  # one access lists two products: the bank says that they are two
        else:
            listed.append(max(group, key=_rate_balance))
    return listed


def group_by_use(products: Sequence[Product]) -> dict[str, list[Product]]:
    """To spend from, to put aside, and owed; without empty groups."""
    groups: dict[str, list[Product]] = {"everyday": [], "savings": [], "loans": []}
    for product in products:
        name = "everyday" if product.is_everyday else "loans" if product.kind == LOAN else "savings"
        groups[name].append(product)
    return {name: group for name, group in groups.items() if group}


def _name_account(product: Product) -> Hashable:
    kind = "card" if product.kind in CARDS else "depot" if product.is_depot else "account"
    if product.iban and kind != "card":
        return kind, "".join(product.iban.split()).upper(), product.currency
    number = "".join((product.number or "").split())
    if any(character.isdigit() for character in number):
        return kind, product.provider_id, number, product.currency
    return product.access_id, product.id


def _rate_balance(product: Product) -> tuple[bool, str, str]:
    updated = product.facts.get("aktualisierungszeitpunkt", "")
    return product.balance is not None, product.facts.get("saldoDatum", updated)[:10], updated
