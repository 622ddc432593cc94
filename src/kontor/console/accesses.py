"""Accesses and products of the API, read once for all pages that show them.

German keys of the interface stand here, and in the other modules that read answers of the API.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kontor.console.gateway import segment

DEPOT = "DEPOT"


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

    @property
    def path(self) -> str:
        """Of the API."""
        return f"/customer/v2/bankzugaenge/{segment(self.access_id)}/{segment(self.id)}"

    @property
    def url(self) -> str:
        """Of the console's page about it."""
        return f"/console/accounts/{segment(self.access_id)}/{segment(self.id)}"

    @property
    def is_depot(self) -> bool:
        return self.kind == DEPOT


def list_products(accesses: Mapping[str, Any]) -> list[Product]:
    """All products, in the order of the accesses."""
    return [read_product(key, one) for key, access in accesses.items() for one in access.get("bankprodukte", [])]


def read_product(access_id: str, one: Mapping[str, Any]) -> Product:
    balance = one.get("saldo")
    return Product(
        access_id,
        one["id"],
        one.get("bezeichnung") or one["kategorie"],
        one["kategorie"],
        one.get("waehrung") or "EUR",
        None if balance is None else Decimal(str(balance)),
        one.get("iban"),
        one.get("kontonummer"),
        one.get("kreditinstitut") or "",
        one,
    )
