"""Provider and its login form, as the provider interface shows them."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.domain.providers import Capability as DomainCapability
from kontor.domain.providers import Provider as DomainProvider
from kontor.services.banks import BankChannelStatistics
from kontor.services.banks import Statistics as DomainStatistics
from kontor.wire.encoding import format_timestamp
from kontor.wire.products import CATEGORIES, Category
from kontor.wire.relations import Relation
from kontor.wire.tokens import Timestamp
from kontor.wire.urls import Urls

Capability = Annotated[Literal["KONTEN", "KARTEN", "DEPOTS"], Meta(title="ProviderCapability")]
Channel = Annotated[Literal["file"], Meta(title="ProviderChannel")]
CAPABILITIES: dict[DomainCapability, Capability] = {
    DomainCapability.ACCOUNTS: "KONTEN",
    DomainCapability.CARDS: "KARTEN",
    DomainCapability.DEPOTS: "DEPOTS",
}
CAPABILITY_BY_WORD = {word: capability for capability, word in CAPABILITIES.items()}


class AuthenticationField(msgspec.Struct):
    fieldkey: Annotated[str, Meta(description="name of the parameter in the Credentials object", examples=["userid"])]
    label: Annotated[str, Meta(examples=["Anmeldename"])]
    secret: Annotated[bool, Meta(description="hidden input; storing it is optional")]
    format: Annotated[str, Meta(description="token or regular-expression notation", examples=["|~30"])]
    hint: str | msgspec.UnsetType = msgspec.UNSET


class AuthenticationInfo(msgspec.Struct):
    fields: list[AuthenticationField]
    loginHint: str | msgspec.UnsetType = msgspec.UNSET  # noqa: N815


class Provider(msgspec.Struct):
    id: UUID
    name: str
    consumerRelevant: bool  # noqa: N815
    capabilities: list[Capability]
    channels: Annotated[list[list[Category]], Meta(description="groups of product categories reached together")]
    authenticationInfo: AuthenticationInfo  # noqa: N815
    relations: list[Relation]
    group: str | msgspec.UnsetType = msgspec.UNSET
    blz: Annotated[str, Meta(description="bank code of a German bank")] | msgspec.UnsetType = msgspec.UNSET
    bic: str | msgspec.UnsetType = msgspec.UNSET


class WayStatistics(msgspec.Struct):
    """One of several ways to a bank, in the last day."""

    way: Annotated[str, Meta(examples=["fints", "xs2a"])]
    calls: int
    isNext: Annotated[bool, Meta(description="taken by whoever has used no way yet")]  # noqa: N815
    successRate: Annotated[float, Meta(ge=0, le=1)] | msgspec.UnsetType = msgspec.UNSET  # noqa: N815


class ProviderStatistics(msgspec.Struct):
    """Recent fetches (seven days) at a provider."""

    fetches: int
    successRate: Annotated[float, Meta(ge=0, le=1)] | msgspec.UnsetType = msgspec.UNSET  # noqa: N815
    meanDurationSeconds: float | msgspec.UnsetType = msgspec.UNSET  # noqa: N815
    lastSuccess: Timestamp | msgspec.UnsetType = msgspec.UNSET  # noqa: N815
    downSince: (  # noqa: N815
        Annotated[Timestamp, Meta(description="it does not answer since then; only then is this field there")]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    nextAttempt: (  # noqa: N815
        Annotated[Timestamp, Meta(description="when background refresh tries again whether it is back")]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    ways: Annotated[list[WayStatistics], Meta(description="where there is more than one")] | msgspec.UnsetType = (
        msgspec.UNSET
    )


def show_provider(provider: DomainProvider, urls: Urls) -> Provider:
    return Provider(
        id=provider.id,
        name=provider.name,
        consumerRelevant=provider.is_consumer_relevant,
        group=provider.group or msgspec.UNSET,
        blz=provider.bank_code or msgspec.UNSET,
        bic=provider.bic or msgspec.UNSET,
        capabilities=[CAPABILITIES[capability] for capability in provider.capabilities],
        channels=[[CATEGORIES[category] for category in channel.categories] for channel in provider.channels],
        authenticationInfo=AuthenticationInfo(
            loginHint=provider.login_hint or msgspec.UNSET,
            fields=[
                AuthenticationField(field.key, field.label, field.is_secret, field.format, field.hint or msgspec.UNSET)
                for field in provider.login_fields
            ],
        ),
        relations=urls.provider_relations(provider.id),
    )


def show_statistics(facts: DomainStatistics) -> ProviderStatistics:
    has_any = facts.fetches > 0
    return ProviderStatistics(
        fetches=facts.fetches,
        successRate=round(facts.successes / facts.fetches, 4) if has_any else msgspec.UNSET,
        meanDurationSeconds=msgspec.UNSET if facts.mean_seconds is None else round(facts.mean_seconds, 3),
        lastSuccess=msgspec.UNSET if facts.last_success_at is None else format_timestamp(facts.last_success_at),
        downSince=msgspec.UNSET if facts.down_since is None else format_timestamp(facts.down_since),
        nextAttempt=msgspec.UNSET if facts.next_try_at is None else format_timestamp(facts.next_try_at),
        ways=[_show_bank_channel(statistics) for statistics in facts.bank_channels] or msgspec.UNSET,
    )


def _show_bank_channel(statistics: BankChannelStatistics) -> WayStatistics:
    rate = round(statistics.health.rate, 4) if statistics.health.calls else msgspec.UNSET
    return WayStatistics(statistics.bank_channel, statistics.health.calls, statistics.is_next, rate)
