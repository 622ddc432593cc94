"""Providers whose statements can be read from files, by the forms in `connectors/statements/data`."""

from collections.abc import Iterable
from uuid import UUID, uuid5

from kontor.connectors.statements import list_banks_with_forms
from kontor.domain.products import ProductCategory
from kontor.domain.providers import Capability, Provider, ProviderChannel, list_categories

FILE = "file"  # the kind of channel
# Groups of the catalogue by the bank that a form names. A bank that is not listed here is in no public list of banks.
GROUPS = {
    "1822direkt": ("1822direkt",),
    "comdirect": ("comdirect",),
    "commerzbank": ("Commerzbank",),
    "consorsbank": ("Consorsbank",),
    "deutsche-bank": ("Deutsche Bank", "norisbank"),
    "dkb": ("DKB",),
    "hypovereinsbank": ("HypoVereinsbank",),
    "ing": ("ING",),
    "n26": ("N26",),
    "postbank": ("Postbank",),
    "santander": ("Openbank",),
    "sparda": ("Sparda-Bank",),
    "sparkasse": ("Sparkasse",),
    "targobank": ("TARGOBANK",),
    "volksbank": ("Volksbanken Raiffeisenbanken",),
}
PROGRAMS = ("hibiscus",)  # whose forms say nothing about the bank


def find_channels() -> dict[str, ProviderChannel]:
    """By group of the catalogue: what the forms of its banks tell."""
    banks = {form.bank: _make_channel(form.kinds) for form in list_banks_with_forms()}
    return {group: banks[bank] for bank, groups in GROUPS.items() for group in groups}


def list_file_providers(namespace: UUID) -> list[Provider]:
    """Providers that are known by a file form alone, by name."""
    found = [
        Provider(
            id=uuid5(namespace, f"file:{form.bank}"),
            name=form.institution or form.bank,
            connector="none",
            login_fields=(),
            channels=(_make_channel(form.kinds),),
            group=form.institution,
        )
        for form in list_banks_with_forms()
        if form.bank not in GROUPS and form.bank not in PROGRAMS
    ]
    return sorted(found, key=lambda provider: provider.name.casefold())


def _make_channel(kinds: Iterable[str]) -> ProviderChannel:
    """Forms do not tell kinds of accounts apart: "card" is a credit card, everything else some account."""
    told = set(kinds)
    capabilities = [Capability.ACCOUNTS] if told - {"card"} else []
    cards = (ProductCategory.CREDIT_CARD,) if "card" in told else ()
    return ProviderChannel(FILE, (*list_categories(capabilities), *cards))
