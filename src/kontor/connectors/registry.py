"""Which connector reaches a provider."""

from collections.abc import Iterable

from kontor.connectors.base import Connector
from kontor.domain.providers import Provider


class Registry:
    def __init__(self, connectors: Iterable[Connector]) -> None:
        self._connectors = {connector.kind: connector for connector in connectors}

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self._connectors)

    def find(self, provider: Provider, bank_channel: str | None = None) -> Connector | None:
        """By its preferred channel, or by another. None for a bank that cannot be reached with what is enabled here."""
        return self._connectors.get(bank_channel or provider.connector)

    def list_bank_channels(self, provider: Provider) -> list[str]:
        """All channels to a provider, the preferred one first."""
        return [channel for channel in (provider.bank_channels or (provider.connector,)) if channel in self._connectors]
