"""Searching for a bank, as the page shows what is found."""

from typing import Any

from kontor.domain.providers import Provider
from kontor.pages.formatting import format_bank_code
from kontor.pages.texts import Texts
from kontor.services.banks import Providers

SHOWN = 8
LONGEST_QUERY = 100
# What most people look for, before they have typed anything.
POPULAR = ("Sparkasse", "Volksbank", "ING", "DKB", "Commerzbank", "Deutsche Bank", "Postbank", "comdirect")


def search(providers: Providers, query: str, texts: Texts, *, is_demo: bool) -> dict[str, Any]:
    query = query.strip()[:LONGEST_QUERY]
    popular = ("Demo-Bank", *POPULAR) if is_demo else POPULAR
    if not query:
        return {"query": "", "banks": [], "summary": "", "popular": popular}
    found = providers.search(query)
    return {
        "query": query,
        "banks": [
            show_bank(provider, texts, is_available=providers.can_connect(provider)) for provider in found[:SHOWN]
        ],
        "summary": _summarise(len(found), query, texts),
        "popular": popular,
    }


def show_bank(provider: Provider, texts: Texts, *, is_available: bool = True) -> dict[str, Any]:
    code = texts("provider.code", code=format_bank_code(provider.bank_code)) if provider.bank_code else None
    return {
        "id": str(provider.id),
        "name": provider.name,
        "detail": " · ".join(part for part in (code, provider.bic) if part),
        "logo": f"/providers/v2/{provider.id}/logo",
        "is_available": is_available,
    }


def _summarise(count: int, query: str, texts: Texts) -> str:
    if count == 0:
        return texts("provider.none", query=query)
    return texts("provider.some", count=count) if count <= SHOWN else texts("provider.many", count=count, shown=SHOWN)
