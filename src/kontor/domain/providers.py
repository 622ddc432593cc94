"""A bank or other provider that can be connected, and what it asks its users for."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from kontor.domain.products import ProductCategory


class Capability(StrEnum):
    ACCOUNTS = "ACCOUNTS"
    CARDS = "CARDS"
    DEPOTS = "DEPOTS"


@dataclass(frozen=True, slots=True)
class LoginField:
    """One field of a login form. `format` is in token or regular-expression notation, see `login_formats`."""

    key: str
    label: str
    is_secret: bool
    format: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Provider:
    """`connector` is how it is reached, or would be; `bank_channels` are those enabled here, best first."""

    id: UUID
    name: str
    connector: str
    login_fields: tuple[LoginField, ...]
    capabilities: tuple[Capability, ...]
    channels: tuple[tuple[ProductCategory, ...], ...]
    group: str | None = None
    bank_code: str | None = None
    bic: str | None = None
    login_hint: str | None = None
    is_consumer_relevant: bool = True
    address: str | None = None
    bank_channels: tuple[str, ...] = ()
