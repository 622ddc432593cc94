"""The provider catalogue."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer, empty_answer, json_answer
from kontor.api.operations import Call, Security, Success, operation
from kontor.domain.scopes import PROVIDER_READ
from kontor.wire.providers import (
    CAPABILITY_BY_WORD,
    Capability,
    Channel,
    Provider,
    ProviderStatistics,
    show_provider,
    show_statistics,
)

PROVIDERS = "/providers/v2"
PROVIDER = PROVIDERS + "/{provider-id}"
COMMON: dict[str, Any] = {"tag": "Providers", "security": Security.ANY_TOKEN, "scope": PROVIDER_READ}
SVG = "image/svg+xml"
# A drawing is only ever an image: nothing in it may run or load.
LIST_HEADERS = {"Cache-Control": "private, no-cache"}  # kept by the caller alone, and asked about each time
LOGO_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "public, max-age=86400",
    "Cross-Origin-Resource-Policy": "cross-origin",  # tenants show logos on their own pages
}


class ProviderQuery(msgspec.Struct):
    q: Annotated[str, Meta(max_length=200, description="words of the name, bank code or BIC")] | None = None
    blz: Annotated[str, Meta(max_length=20, description="beginning of the bank code")] | None = None
    bic: Annotated[str, Meta(max_length=20, description="beginning of the BIC")] | None = None
    capability: Annotated[Capability, Meta(description="as far as it is known that the bank can")] | None = None
    channel: (
        Annotated[Channel, Meta(description="`file`: those whose statements are read from files, files alone included")]
        | None
    ) = None


@operation(
    "GET",
    PROVIDERS,
    query=ProviderQuery,
    headers={"If-None-Match": "ETag of a former answer; 304 when it still holds"},
    success=Success(shape=list[Provider], headers={"ETag": "of this list"}),
    other_statuses={304: "the list has not changed"},
    **COMMON,
)
async def list_providers(call: Call) -> Answer:
    """List the providers, or those that fit the filters, best first.

    With the `ETag` of a former answer in `If-None-Match`, 304 while the list has not changed.
    """
    query = call.query(ProviderQuery)
    providers = call.services.providers
    capability = None if query.capability is None else CAPABILITY_BY_WORD[query.capability]
    found = await providers.list(query.q, query.blz, query.bic, capability, from_files=query.channel == "file")
    tag = providers.tag(found, call.urls.base)
    if _is_known(call.header("if-none-match"), tag):
        return empty_answer(304, LIST_HEADERS | {"ETag": tag})
    shown = [show_provider(provider, call.urls) for provider in found]
    return json_answer(shown, headers=LIST_HEADERS | {"ETag": tag})


@operation("GET", PROVIDER, success=Success(shape=Provider), errors=(404,), **COMMON)
async def read_provider(call: Call) -> Answer:
    """Read one provider.

    It tells which fields its users log in with, and what it can do.
    """
    return json_answer(show_provider(await call.services.providers.read(call.path_uuid("provider-id")), call.urls))


@operation("GET", PROVIDERS + "/statistics", success=Success(shape=dict[UUID, ProviderStatistics]), **COMMON)
async def list_provider_statistics(call: Call) -> Answer:
    """Read how recent fetches went, by provider.

    Told of are those that were called in the last seven days, and those that are down.
    """
    found = await call.services.providers.list_statistics()
    return json_answer({str(id): show_statistics(facts) for id, facts in found.items()})


@operation("GET", PROVIDER + "/statistics", success=Success(shape=ProviderStatistics), errors=(404,), **COMMON)
async def read_provider_statistics(call: Call) -> Answer:
    """Read how recent fetches at the provider went.

    Of the last seven days. `downSince` is there only while the bank does not answer.
    """
    return json_answer(show_statistics(await call.services.providers.read_statistics(call.path_uuid("provider-id"))))


@operation(
    "GET",
    PROVIDER + "/logo",
    tag="Providers",
    security=Security.NONE,
    success=Success(shape=str, media_type=SVG),
    errors=(404,),
)
async def read_logo(call: Call) -> Answer:
    """Read the provider's logo.

    Open to everybody, so that a page can show it.
    """
    return Answer(200, call.services.providers.draw_logo(call.path_uuid("provider-id")), SVG, dict(LOGO_HEADERS))


def _is_known(header: str | None, tag: str) -> bool:
    if header is None:
        return False
    return any(candidate.strip().removeprefix("W/") in (tag, "*") for candidate in header.split(","))
