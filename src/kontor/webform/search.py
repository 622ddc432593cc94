"""Searching for a bank, as the page shows what is found."""

from collections.abc import Sequence
from typing import Any

from kontor.domain.disruptions import Disruption
from kontor.domain.providers import Provider
from kontor.pages.formatting import format_bank_code
from kontor.pages.texts import Texts
from kontor.services.banks import Providers

SHOWN = 8
MAX_QUERY_LENGTH = 100
# What most people look for, before they have typed anything.
POPULAR = ("Sparkasse", "Volksbank", "ING", "DKB", "Commerzbank", "Deutsche Bank", "Postbank", "comdirect")


async def search(providers: Providers, query: str, texts: Texts, *, is_demo: bool) -> dict[str, Any]:
    query = query.strip()[:MAX_QUERY_LENGTH]
    popular = ("Demo-Bank", *POPULAR) if is_demo else POPULAR
    if not query:
        return {"query": "", "banks": [], "summary": "", "popular": popular}
    found = providers.search(query)
    return {
        "query": query,
        "banks": await show_banks(providers, found[:SHOWN], texts),
        "summary": _summarise(len(found), query, texts),
        "popular": popular,
    }


async def show_banks(providers: Providers, found: Sequence[Provider], texts: Texts) -> list[dict[str, Any]]:
    """Each with a badge where it cannot be connected, or is not doing well."""
    disruptions = await providers.list_disruptions([provider.id for provider in found])
    return [
        _show_bank(provider, texts, disruptions.get(provider.id), is_available=providers.can_connect(provider))
        for provider in found
    ]


def _show_bank(
    provider: Provider, texts: Texts, disruption: Disruption | None, *, is_available: bool
) -> dict[str, Any]:
    code = texts("provider.code", code=format_bank_code(provider.bank_code)) if provider.bank_code else None
    badge = None
    if not is_available:
        badge = texts("provider.unavailable_badge")
    elif disruption is not None:
        badge = texts(f"provider.{disruption}_badge")
    return {
        "id": str(provider.id),
        "name": provider.name,
        "detail": " · ".join(part for part in (code, provider.bic) if part),
        "logo": f"/providers/v2/{provider.id}/logo",
        "is_available": is_available,
        "badge": badge,
    }


def _summarise(count: int, query: str, texts: Texts) -> str:
    if count == 0:
        return texts("provider.none", query=query)
    return texts("provider.some", count=count) if count <= SHOWN else texts("provider.many", count=count, shown=SHOWN)
