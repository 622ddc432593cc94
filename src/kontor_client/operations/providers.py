"""The provider catalogue."""

from kontor_client.models.providers import Provider, ProviderStatistics
from kontor_client.plans import Plan, fetch, path_of

PROVIDERS = "/providers/v2"


def list_providers(
    query: str | None = None, *, bank_code: str | None = None, bic: str | None = None, capability: str | None = None
) -> Plan[list[Provider]]:
    """All, or those that fit: words of the name, bank code or BIC; `capability` is KONTEN, KARTEN or DEPOTS."""
    params = {"q": query, "blz": bank_code, "bic": bic, "capability": capability}
    return fetch(list[Provider], PROVIDERS, params=params)


def read_provider(provider_id: str) -> Plan[Provider]:
    return fetch(Provider, PROVIDERS + path_of(provider_id))


def read_provider_statistics(provider_id: str) -> Plan[ProviderStatistics]:
    """How recent fetches went."""
    return fetch(ProviderStatistics, PROVIDERS + path_of(provider_id, "statistics"))
