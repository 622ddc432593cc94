"""Which connector reaches a provider."""

from collections.abc import Iterable

from kontor.connectors.base import Connector
from kontor.domain.providers import Provider


class Registry:
    def __init__(self, connectors: Iterable[Connector]) -> None:
        self._connectors = {one.kind: one for one in connectors}

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self._connectors)

    def find(self, provider: Provider) -> Connector | None:
        """None for a bank that is listed but cannot be reached with what is enabled here."""
        return self._connectors.get(provider.connector)
