"""The providers made from the table of banks, and the demo bank."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from kontor.connectors.aspsps import AspspBank
from kontor.connectors.catalogue.banks import Bank, load_banks
from kontor.connectors.catalogue.catalogue import Catalogue
from kontor.connectors.catalogue.file_forms import find_channels, list_file_providers
from kontor.connectors.catalogue.linking import CHANNEL as ENABLEBANKING_CHANNEL
from kontor.connectors.catalogue.linking import HOME, KIND, link_banks, make_own_provider
from kontor.connectors.catalogue.login_forms import (
    DEMO_FORM,
    ENABLEBANKING_FORM,
    FILES_FORM,
    NO_FORM,
    LoginForm,
    check_formats,
    fints_form,
)
from kontor.connectors.catalogue.relevance import is_consumer_relevant
from kontor.connectors.profiles import OwnBank, ProfileError, Profiles, load_shipped
from kontor.domain.products import ProductCategory
from kontor.domain.providers import Capability, Provider, ProviderChannel, list_categories

# uuid5(NAMESPACE_URL, "urn:kontor:providers"). Ids are stored with every access: it must never change.
PROVIDER_NAMESPACE = UUID("b6677a35-56b4-5f16-80af-723a859a5c66")
DEMO_PROVIDER_ID = UUID(int=0)

_NAMESPACE_HASH = hashlib.sha1(PROVIDER_NAMESPACE.bytes, usedforsecurity=False)
_VERSION_BITS = 0xF000_C000_0000_0000_0000
_VERSION_5 = 0x5000_8000_0000_0000_0000

# Of a bank that nobody has called yet it is known that it has accounts: every FinTS server tells them. Cards and depots
# are optional, and told by the bank's profile or by the bank itself (`Finding`).
# A FinTS login reaches all of a customer's products in one dialogue, hence one channel.
_ANY_CHANNEL = ProviderChannel("fints", list_categories([Capability.ACCOUNTS]))
# PSD2 opens payment accounts; loans and deposits only as far as a bank lists them beside.
_PAYMENT_ACCOUNTS = (
    ProductCategory.CHECKING,
    ProductCategory.SAVINGS,
    ProductCategory.CALL_MONEY,
    ProductCategory.OTHER_ACCOUNT,
)
_CARD_ACCOUNTS = (ProductCategory.CREDIT_CARD,)

DEMO_PROVIDER = Provider(
    id=DEMO_PROVIDER_ID,
    name="Demo-Bank",
    connector="demo",
    login_fields=DEMO_FORM.fields,
    channels=(ProviderChannel("demo", tuple(ProductCategory)),),
    group="Demo-Bank",
    bank_code="99999999",
    bic="KONTDEFFXXX",
    login_hint=DEMO_FORM.hint,
)
# Not a bank: statements that lie in a folder, or are imported.
FILES_PROVIDER = Provider(
    id=UUID("5d1c2f0a-1f1e-5f8e-9a6b-0b6f5c1d7e21"),
    name="Kontoauszüge aus Dateien",
    connector="files",
    login_fields=FILES_FORM.fields,
    channels=(ProviderChannel("files", tuple(ProductCategory)),),
    login_hint=FILES_FORM.hint,
)


def provider_id(bank_code: str, country: str = "DE") -> UUID:
    """The UUIDv5 of country and bank code."""
    # As uuid5() does it, which is three times slower and would be half of the time that loading takes.
    digest = _NAMESPACE_HASH.copy()
    digest.update(f"{country}:{bank_code}".encode())
    number = int.from_bytes(digest.digest()[:16])
    return UUID(int=number & ~_VERSION_BITS | _VERSION_5)


def make_provider(
    bank: Bank,
    enabled_connectors: frozenset[str] = frozenset(),
    own: OwnBank | None = None,
    channels: Mapping[str, ProviderChannel] = {},
    *,
    is_linked: bool = False,
) -> Provider:
    """`bank` with the address that is used. `channels` as `_list_channels` makes them.

    `is_linked`: it is reached through Enable Banking too.
    """
    address = (own.fints if own is not None else None) or bank.address
    possible = {}
    if address:
        possible["fints"] = channels.get(bank.blz) or channels.get(bank.group) or _ANY_CHANNEL
    if own is not None and own.xs2a:
        possible["xs2a"] = channels[f"xs2a {bank.blz}"]
    if is_linked:
        possible[KIND] = ENABLEBANKING_CHANNEL
    bank_channels = tuple(name for name in possible if name in enabled_connectors)
    form = _choose_form(bank, bank_channels or tuple(possible))
    return Provider(
        id=provider_id(bank.blz),
        name=bank.name,
        connector=(*bank_channels, *possible, "none")[0],
        login_fields=form.fields,
        channels=tuple(possible[name] for name in bank_channels or possible),
        group=bank.group or None,
        bank_code=bank.blz,
        bic=bank.bic or None,
        login_hint=form.hint,
        is_consumer_relevant=is_consumer_relevant(bank),
        address=address or None,
        bank_channels=bank_channels,
    )


def _choose_form(bank: Bank, ways: tuple[str, ...]) -> LoginForm:
    """A PIN is asked for where a way needs it."""
    if not ways:
        return NO_FORM
    return ENABLEBANKING_FORM if ways == (KIND,) else fints_form(bank.group)


def _list_channels(profiles: Profiles) -> dict[str, ProviderChannel]:
    """What profiles say: over FinTS by bank code or group, over XS2A by the bank that is described."""
    channels: dict[str, ProviderChannel] = {}
    for family in profiles.families.values():
        if family.offers is not None:
            offered = ProviderChannel("fints", list_categories(family.offers))
            channels |= dict.fromkeys((*family.groups, *family.codes), offered)
    for own in profiles.banks.values():
        dialect = profiles.families.get(own.xs2a.get("dialect", ""))
        values = {**({} if dialect is None else dialect.xs2a), **own.xs2a}
        cards = _CARD_ACCOUNTS if values.get("has_card_accounts") else ()
        channels[f"xs2a {own.code}"] = ProviderChannel("xs2a", _PAYMENT_ACCOUNTS + cards)
    return channels


def load_catalogue(
    enabled_connectors: frozenset[str],
    list_all: bool,
    profiles: Profiles | None = None,
    aspsps: Sequence[AspspBank] = (),
) -> Catalogue:
    """The demo bank first, then by bank code: the providers with an enabled connector, or all of them.

    Addresses in profiles replace those of the table. `aspsps` are reached through Enable Banking: those that are no
    bank of the table come last.
    """
    check_formats()
    profiles = profiles or load_shipped()
    own_banks, channels = profiles.banks, _list_channels(profiles)
    table = _correct(load_banks(), profiles)
    known = {bank.blz for bank in table}
    added = tuple(_make_bank(own_bank) for code, own_bank in own_banks.items() if code not in known)
    linked = link_banks(aspsps, (*added, *table))
    others = _find_unlinked(aspsps, linked)

    def providers() -> Iterator[Provider]:
        if list_all or DEMO_PROVIDER.connector in enabled_connectors:
            yield DEMO_PROVIDER
        if FILES_PROVIDER.connector in enabled_connectors:
            yield FILES_PROVIDER
        for bank in (*added, *table):
            own = own_banks.get(bank.blz)
            is_linked = bank.blz in linked
            if list_all or (bank.address and "fints" in enabled_connectors) or own is not None or is_linked:
                provider = make_provider(bank, enabled_connectors, own, channels, is_linked=is_linked)
                if list_all or provider.bank_channels:
                    yield provider
        if KIND in enabled_connectors:
            yield from (make_own_provider(aspsp, id) for id, aspsp in others.items())

    listed = tuple(providers())
    cities = {bank.blz: bank.city for bank in table if bank.city}
    return Catalogue(listed, cities, _prepare_readable(listed, table))


def find_aspsps(profiles: Profiles, aspsps: Sequence[AspspBank]) -> dict[UUID, AspspBank]:
    """By the ids of their providers, as `load_catalogue` makes them."""
    table = _correct(load_banks(), profiles)
    known = {bank.blz for bank in table}
    added = tuple(_make_bank(own) for code, own in profiles.banks.items() if code not in known)
    linked = link_banks(aspsps, (*added, *table))
    return {provider_id(code): aspsp for code, aspsp in linked.items()} | _find_unlinked(aspsps, linked)


def _find_unlinked(aspsps: Sequence[AspspBank], linked: Mapping[str, AspspBank]) -> dict[UUID, AspspBank]:
    """By ids that follow from country and name, by which Enable Banking knows a bank."""
    own = [aspsp for aspsp in aspsps if aspsp not in linked.values()]
    ordered = sorted(own, key=lambda aspsp: (aspsp.country != HOME, aspsp.country, aspsp.name))
    return {provider_id(aspsp.name, f"{KIND} {aspsp.country}"): aspsp for aspsp in ordered}


def _prepare_readable(listed: tuple[Provider, ...], table: tuple[Bank, ...]) -> Callable[[], Iterator[Provider]]:
    """Providers of which a file form is known: those that are reached here as they are, then all others."""

    def make() -> Iterator[Provider]:
        reached = {provider.id: provider for provider in listed if provider.bank_channels}
        channels = find_channels()
        yield from list_file_providers(PROVIDER_NAMESPACE)
        for bank in table:
            if bank.group in channels:
                provider = make_provider(bank._replace(address=""))
                yield reached.get(provider.id) or replace(provider, channels=(channels[bank.group],))

    return make


def _correct(table: tuple[Bank, ...], profiles: Profiles) -> tuple[Bank, ...]:
    """With the addresses that profiles have for a bank code or a group; a bank code says more."""
    families = [family for family in profiles.families.values() if family.address is not None]
    by_group = {group: family.address or "" for family in families for group in family.groups}
    by_code = {code: family.address or "" for family in families for code in family.codes}
    return tuple(
        bank if address is None or address == bank.address else bank._replace(address=address)
        for bank, address in ((bank, by_code.get(bank.blz) or by_group.get(bank.group)) for bank in table)
    )


def _make_bank(own: OwnBank) -> Bank:
    if not own.name:
        raise ProfileError(f"bank {own.code} is in no public list and needs a name")
    return Bank(own.code, own.bic or "", own.name, "", "", own.fints or "")
