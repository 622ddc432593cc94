"""The provider catalogue: searching it, and how providers have been doing lately."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from kontor.connectors.base import Headers
from kontor.connectors.catalogue import Catalogue, logo_for
from kontor.domain.disruptions import Disruption, is_degraded
from kontor.domain.errors import NotFoundError
from kontor.domain.login_formats import compile_format
from kontor.domain.providers import Capability, Finding, Provider
from kontor.domain.routing import UNKNOWN, Health, choose_bank_channel
from kontor.domain.secrets import Secret
from kontor.storage import bank_channels, fetches, outages, provider_findings
from kontor.storage.database import Connection, Database


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
        self._noted: dict[tuple[UUID, str], Finding] = {}

    def find(self, provider_id: UUID) -> Provider | None:
        return self._catalogue.find(provider_id)

    def can_connect(self, provider: Provider) -> bool:
        """Nobody is asked for credentials of a bank that is listed but cannot be reached from here."""
        return bool(provider.login_fields) and provider.connector in self._kinds

    def search(self, q: str | None, bank_code: str | None = None) -> tuple[Provider, ...]:
        """Those that can be chosen for an access."""
        return self._catalogue.list(q, bank_code)

    # With what dialogues have shown of them

    async def read(self, provider_id: UUID) -> Provider:
        """Also one that is known by a file form alone."""
        provider = self._read_listed(provider_id)
        async with self._database.connect() as connection:
            findings = await provider_findings.list_findings(connection, provider_id)
        return provider.with_findings(findings[provider_id]) if provider_id in findings else provider

    async def list(
        self,
        q: str | None,
        bank_code: str | None,
        bic: str | None,
        capability: Capability | None,
        *,
        from_files: bool = False,
    ) -> tuple[Provider, ...]:
        """Those that fit. `from_files`: of those whose statements can be read from files, else of those listed."""
        catalogue = self._catalogue.readable if from_files else self._catalogue
        found = catalogue.list(q, bank_code, bic)
        async with self._database.connect() as connection:
            findings = await provider_findings.list_findings(connection)
        if findings:
            found = tuple(
                provider.with_findings(findings[provider.id]) if provider.id in findings else provider
                for provider in found
            )
        if capability is None:
            return found
        return tuple(provider for provider in found if capability in provider.capabilities)

    def tag(self, providers: Any, salt: str = "") -> str:
        """An ETag for these providers."""
        return self._catalogue.etag(providers, salt)

    async def note_headers(self, provider_id: UUID, bank_channel: str, headers: Headers, *, is_confirmed: bool) -> None:
        """A dialogue has shown what the bank can do. Products count once the user has chosen accounts.

        Written once per process, as long as nothing new is shown.
        """
        categories = {product.category for product in headers.products} if is_confirmed else set()
        known = self._noted.get((provider_id, bank_channel), Finding())
        finding = Finding(headers.offered, tuple(sorted({*categories, *known.categories})))
        if (finding.offered is None and not finding.categories) or finding == known:
            return
        async with self._database.connect() as connection:
            await provider_findings.note_finding(connection, provider_id, bank_channel, finding)
        self._noted[provider_id, bank_channel] = finding

    def draw_logo(self, provider_id: UUID) -> bytes:
        return logo_for(self._read_listed(provider_id))

    # Statistics

    async def read_statistics(self, provider_id: UUID) -> Statistics:
        provider = self._read_listed(provider_id)
        async with self._database.connect() as connection:
            measured = await fetches.list_statistics(connection, [provider_id])
            return await self._describe(connection, provider, measured.get(provider_id))

    async def list_statistics(self) -> dict[UUID, Statistics]:
        """Of the listed providers that were called in the last seven days, or are down."""
        async with self._database.connect() as connection:
            measured = await fetches.list_statistics(connection)
            concerned = {*measured, *await outages.list_down(connection)}
            providers = [provider for id in sorted(concerned) if (provider := self._catalogue.find(id)) is not None]
            return {
                provider.id: await self._describe(connection, provider, measured.get(provider.id))
                for provider in providers
            }

    async def list_disruptions(self, provider_ids: Sequence[UUID]) -> dict[UUID, Disruption]:
        """Of those that are not doing well."""
        if not provider_ids:
            return {}
        async with self._database.connect() as connection:
            measured = await fetches.list_statistics(connection, provider_ids)
            noted = await outages.list_outages(connection, provider_ids)
        found = {
            provider_id: Disruption.OFTEN
            for provider_id, (total, successes, _, _) in measured.items()
            if is_degraded(total, Decimal(successes) / total)
        }
        return found | {id: Disruption.DOWN for id, outage in noted.items() if outage.down_since is not None}

    async def _describe(
        self,
        connection: Connection,
        provider: Provider,
        measured: tuple[int, int, float | None, datetime | None] | None,
    ) -> Statistics:
        health = await bank_channels.list_health(connection, provider.id) if len(provider.bank_channels) > 1 else {}
        outage = (await outages.list_outages(connection, [provider.id])).get(provider.id)
        total, successes, mean, last = measured or (0, 0, None, None)
        statistics = Statistics(total, successes, mean, last, bank_channels=_describe_bank_channels(provider, health))
        if outage is None or outage.down_since is None:
            return statistics
        return replace(statistics, down_since=outage.down_since, next_try_at=outage.next_try_at)

    def _read_listed(self, provider_id: UUID) -> Provider:
        provider = self._catalogue.find(provider_id) or self._catalogue.readable.find(provider_id)
        if provider is None:
            raise NotFoundError
        return provider


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
