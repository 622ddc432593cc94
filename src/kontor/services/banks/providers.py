"""The provider catalogue: searching it, and how providers have been doing lately."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from kontor.connectors.catalogue import Catalogue, logo_for
from kontor.domain.errors import NotFoundError
from kontor.domain.login_formats import compile_format
from kontor.domain.providers import Capability, Provider
from kontor.domain.routing import UNKNOWN, Health, choose_bank_channel
from kontor.domain.secrets import Secret
from kontor.storage import bank_channels, fetches, outages
from kontor.storage.database import Database


@dataclass(frozen=True, slots=True)
class BankChannelStatistics:
    """`is_next`: it is taken by whoever has used no way yet."""

    bank_channel: str
    health: Health
    is_next: bool


@dataclass(frozen=True, slots=True)
class Statistics:
    fetches: int
    successes: int
    mean_seconds: float | None
    last_success_at: datetime | None
    down_since: datetime | None = None
    next_try_at: datetime | None = None
    bank_channels: tuple[BankChannelStatistics, ...] = ()


class Providers:
    def __init__(self, database: Database, catalogue: Catalogue, kinds: frozenset[str]) -> None:
        """`kinds`: the connectors that are enabled."""
        self._database = database
        self._catalogue = catalogue
        self._kinds = kinds

    def find(self, provider_id: UUID) -> Provider | None:
        return self._catalogue.find(provider_id)

    def can_connect(self, provider: Provider) -> bool:
        """Nobody is asked for credentials of a bank that is listed but cannot be reached from here."""
        return bool(provider.login_fields) and provider.connector in self._kinds

    def read(self, provider_id: UUID) -> Provider:
        provider = self._catalogue.find(provider_id)
        if provider is None:
            raise NotFoundError
        return provider

    def list(
        self, q: str | None, bank_code: str | None, bic: str | None, capability: Capability | None
    ) -> tuple[Provider, ...]:
        return self._catalogue.list(q, bank_code, bic, capability)

    def tag(self, providers: Any = None, salt: str = "") -> str:
        """An ETag for these providers, or for all."""
        return self._catalogue.etag(providers, salt)

    def draw_logo(self, provider_id: UUID) -> bytes:
        return logo_for(self.read(provider_id))

    async def read_statistics(self, provider_id: UUID) -> Statistics:
        provider = self.read(provider_id)
        async with self._database.connect() as connection:
            total, successes, mean, last = await fetches.read_statistics(connection, provider_id)
            health = await bank_channels.list_health(connection, provider_id) if len(provider.bank_channels) > 1 else {}
            outage = (await outages.list_outages(connection, [provider_id])).get(provider_id)
        described = _describe_bank_channels(provider, health)
        statistics = Statistics(total, successes, mean, last, bank_channels=described)  # type: ignore[arg-type]
        if outage is None or outage.down_since is None:
            return statistics
        return replace(statistics, down_since=outage.down_since, next_try_at=outage.next_try_at)


def _describe_bank_channels(provider: Provider, health: dict[str, Health]) -> tuple[BankChannelStatistics, ...]:
    """Only where there is more than one."""
    if len(provider.bank_channels) < 2:
        return ()
    chosen = choose_bank_channel(provider.bank_channels, None, health)
    return tuple(
        BankChannelStatistics(channel, health.get(channel, UNKNOWN), channel == chosen)
        for channel in provider.bank_channels
    )


def find_missing_fields(provider: Provider, credentials: dict[str, Secret]) -> list[str]:
    """Labels of login fields that are absent, empty, or not in the format the provider asks for."""
    missing = []
    for field in provider.login_fields:
        value = credentials.get(field.key)
        if value is None or not value.reveal() or not compile_format(field.format).matches(value.reveal()):
            missing.append(field.label)
    return missing
