"""The provider catalogue."""

from kontor_client.models.providers import Provider, ProviderStatistics
from kontor_client.plans import Call, Plan, fetch, path_of, send

PROVIDERS = "/providers/v2"


def list_providers(
    query: str | None = None,
    *,
    bank_code: str | None = None,
    bic: str | None = None,
    capability: str | None = None,
    channel: str | None = None,
) -> Plan[list[Provider]]:
    """All, or those that fit: words of the name, bank code or BIC; `capability` is KONTEN, KARTEN or DEPOTS.

    With `channel` "file" those whose statements can be read from files, also if nothing else is known of them.
    """
    params = {"q": query, "blz": bank_code, "bic": bic, "capability": capability, "channel": channel}
    return fetch(list[Provider], PROVIDERS, params=params)


def read_provider(provider_id: str) -> Plan[Provider]:
    return fetch(Provider, PROVIDERS + path_of(provider_id))


def list_provider_statistics() -> Plan[dict[str, ProviderStatistics]]:
    """How recent fetches went, by the ids of providers that were called lately or are down."""
    return fetch(dict[str, ProviderStatistics], PROVIDERS + "/statistics")


def read_provider_statistics(provider_id: str) -> Plan[ProviderStatistics]:
    """How recent fetches went."""
    return fetch(ProviderStatistics, PROVIDERS + path_of(provider_id, "statistics"))


def read_logo(provider_id: str) -> Plan[bytes]:
    """The provider's logo as an image."""
    answer = yield from send(Call("GET", PROVIDERS + path_of(provider_id, "logo"), headers={"Accept": "*/*"}))
    return answer.content
