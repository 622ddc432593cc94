"""The providers made from the table of banks, and the demo bank."""

import hashlib
from collections.abc import Iterator
from uuid import UUID

from kontor.connectors.catalogue.banks import Bank, load_banks
from kontor.connectors.catalogue.catalogue import Catalogue
from kontor.connectors.catalogue.login_forms import DEMO_FORM, NO_FORM, check_formats, fints_form
from kontor.connectors.catalogue.relevance import is_consumer_relevant
from kontor.domain.products import ProductCategory
from kontor.domain.providers import Capability, Provider

# uuid5(NAMESPACE_URL, "urn:kontor:providers"). Ids are stored with every access: it must never change.
PROVIDER_NAMESPACE = UUID("b6677a35-56b4-5f16-80af-723a859a5c66")
DEMO_PROVIDER_ID = UUID(int=0)

_NAMESPACE_HASH = hashlib.sha1(PROVIDER_NAMESPACE.bytes, usedforsecurity=False)
_VERSION_BITS = 0xF000_C000_0000_0000_0000
_VERSION_5 = 0x5000_8000_0000_0000_0000

_ALL_CAPABILITIES = tuple(Capability)
# A FinTS login reaches all of a customer's products in one dialogue, hence one channel.
_ONE_CHANNEL = (tuple(ProductCategory),)

DEMO_PROVIDER = Provider(
    id=DEMO_PROVIDER_ID,
    name="Demo-Bank",
    connector="demo",
    login_fields=DEMO_FORM.fields,
    capabilities=_ALL_CAPABILITIES,
    channels=_ONE_CHANNEL,
    group="Demo-Bank",
    bank_code="99999999",
    bic="KONTDEFFXXX",
    login_hint=DEMO_FORM.hint,
)


def provider_id(bank_code: str, country: str = "DE") -> UUID:
    """The UUIDv5 of country and bank code."""
    # As uuid5() does it, which is three times slower and would be half of the time that loading takes.
    digest = _NAMESPACE_HASH.copy()
    digest.update(f"{country}:{bank_code}".encode())
    number = int.from_bytes(digest.digest()[:16])
    return UUID(int=number & ~_VERSION_BITS | _VERSION_5)


def make_provider(bank: Bank) -> Provider:
    reachable = bool(bank.address)
    form = fints_form(bank.group) if reachable else NO_FORM
    return Provider(
        id=provider_id(bank.blz),
        name=bank.name,
        connector="fints" if reachable else "none",
        login_fields=form.fields,
        capabilities=_ALL_CAPABILITIES if reachable else (),
        channels=_ONE_CHANNEL if reachable else (),
        group=bank.group or None,
        bank_code=bank.blz,
        bic=bank.bic or None,
        login_hint=form.hint,
        is_consumer_relevant=is_consumer_relevant(bank),
        address=bank.address or None,
    )


def load_catalogue(enabled_connectors: frozenset[str], list_all: bool) -> Catalogue:
    """The demo bank first, then by bank code: the providers with an enabled connector, or all of them."""
    check_formats()

    def providers() -> Iterator[Provider]:
        if list_all or DEMO_PROVIDER.connector in enabled_connectors:
            yield DEMO_PROVIDER
        for bank in load_banks():
            if list_all or (bank.address and "fints" in enabled_connectors):
                yield make_provider(bank)

    return Catalogue(tuple(providers()), {bank.blz: bank.city for bank in load_banks() if bank.city})
