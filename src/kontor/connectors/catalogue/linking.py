"""Banks of Enable Banking beside those of the table: which are the same, and providers of the others."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from kontor.connectors.aspsps import PERSONAL, AspspBank
from kontor.connectors.catalogue.banks import Bank
from kontor.connectors.catalogue.login_forms import ENABLEBANKING_FORM
from kontor.domain.products import ProductCategory
from kontor.domain.providers import Provider, ProviderChannel

KIND = "enablebanking"
HOME = "DE"
CHANNEL = ProviderChannel(
    KIND,
    (
        ProductCategory.CHECKING,
        ProductCategory.SAVINGS,
        ProductCategory.CALL_MONEY,
        ProductCategory.LOAN,
        ProductCategory.OTHER_ACCOUNT,
        ProductCategory.CREDIT_CARD,
    ),
)


def link_banks(aspsps: Iterable[AspspBank], table: Sequence[Bank]) -> dict[str, AspspBank]:
    """By bank code, those that are a bank of the table without any doubt.

    Two that lead to one bank (its private and its business customers) are told apart by the name, or not linked.
    """
    aspsps = tuple(aspsps)
    if not aspsps:
        return {}
    by_bic: dict[str, list[Bank]] = {}
    by_name: dict[str, list[Bank]] = {}
    for bank in table:
        by_bic.setdefault(_complete(bank.bic), []).append(bank)
        by_name.setdefault(_fold(bank.name), []).append(bank)
    found: dict[str, list[AspspBank]] = {}
    names = {bank.blz: _fold(bank.name) for bank in table}
    for aspsp in aspsps:
        code = _find_code(aspsp, by_bic, by_name)
        if code is not None:
            found.setdefault(code, []).append(aspsp)
    linked = {}
    for code, same in found.items():
        named = same if len(same) == 1 else [aspsp for aspsp in same if _fold(aspsp.name) == names[code]]
        if len(named) == 1:
            linked[code] = named[0]
    return linked


def _find_code(
    aspsp: AspspBank, by_bic: Mapping[str, Sequence[Bank]], by_name: Mapping[str, Sequence[Bank]]
) -> str | None:
    """A BIC may be that of many branches: then the name decides, or that one alone of them serves customers online."""
    if aspsp.country != HOME:
        return None
    name = _fold(aspsp.name)
    if not aspsp.bic:
        same = by_name.get(name, ())
    else:
        same = by_bic.get(_complete(aspsp.bic), ())
        if len(same) > 1:
            named = [bank for bank in same if _fold(bank.name) == name]
            same = named or [bank for bank in same if bank.address]
    return same[0].blz if len(same) == 1 else None


def make_own_provider(aspsp: AspspBank, provider_id: UUID) -> Provider:
    """Of a bank that is on no other list."""
    return Provider(
        id=provider_id,
        name=aspsp.name if aspsp.country == HOME else f"{aspsp.name} ({aspsp.country})",
        connector=KIND,
        login_fields=ENABLEBANKING_FORM.fields,
        channels=(CHANNEL,),
        group=aspsp.group,
        bic=aspsp.bic,
        login_hint=ENABLEBANKING_FORM.hint,
        is_consumer_relevant=PERSONAL in aspsp.psu_types,
        bank_channels=(KIND,),
    )


def _complete(bic: str) -> str:
    return bic.upper() if len(bic) != 8 else f"{bic.upper()}XXX"


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())
