"""A bank or other provider that can be connected, and what it asks its users for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from kontor.domain.products import ProductCategory


class Capability(StrEnum):
    ACCOUNTS = "ACCOUNTS"
    CARDS = "CARDS"
    DEPOTS = "DEPOTS"


_CATEGORIES = {
    Capability.ACCOUNTS: tuple(
        category for category in ProductCategory if not category.is_card and not category.is_depot
    ),
    Capability.CARDS: tuple(category for category in ProductCategory if category.is_card),
    Capability.DEPOTS: tuple(category for category in ProductCategory if category.is_depot),
}


def list_categories(capabilities: Iterable[Capability]) -> tuple[ProductCategory, ...]:
    """All kinds of products that somebody with these capabilities may have."""
    return tuple(category for capability in capabilities for category in _CATEGORIES[capability])


@dataclass(frozen=True, slots=True)
class LoginField:
    """One field of a login form. `format` is in token or regular-expression notation, see `login_formats`."""

    key: str
    label: str
    is_secret: bool
    format: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderChannel:
    """Product categories that are reached together, by a connector of this kind."""

    kind: str
    categories: tuple[ProductCategory, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What dialogues over one channel have shown of a provider.

    `offered` is what the bank's own parameters say, None where it has told none. `categories` are of products that were
    found there.
    """

    offered: tuple[Capability, ...] | None = None
    categories: tuple[ProductCategory, ...] = ()


@dataclass(frozen=True, slots=True)
class Provider:
    """`connector` is how it is reached, or would be; `bank_channels` are those enabled here, best first."""

    id: UUID
    name: str
    connector: str
    login_fields: tuple[LoginField, ...]
    channels: tuple[ProviderChannel, ...]
    group: str | None = None
    bank_code: str | None = None
    bic: str | None = None
    login_hint: str | None = None
    is_consumer_relevant: bool = True
    address: str | None = None
    bank_channels: tuple[str, ...] = ()

    @property
    def capabilities(self) -> tuple[Capability, ...]:
        """Over all channels together."""
        reached = {category for channel in self.channels for category in channel.categories}
        return tuple(capability for capability in Capability if not reached.isdisjoint(_CATEGORIES[capability]))

    def with_findings(self, findings: Mapping[str, Finding]) -> "Provider":
        """As dialogues have shown it. By kind of channel; what a bank says of itself replaces what was assumed."""
        return replace(self, channels=tuple(_extend(channel, findings.get(channel.kind)) for channel in self.channels))


def _extend(channel: ProviderChannel, finding: Finding | None) -> ProviderChannel:
    if finding is None:
        return channel
    told = channel.categories if finding.offered is None else list_categories(finding.offered)
    known = {*told, *finding.categories}
    return ProviderChannel(channel.kind, tuple(category for category in ProductCategory if category in known))
