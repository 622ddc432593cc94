"""What a provider can do, by what is known of it: connector, profile, the bank's own parameters, products found."""

from pathlib import Path

import pytest
from catalogue_view import EVERYTHING

from kontor.connectors.catalogue import DEMO_PROVIDER, load_catalogue, provider_id
from kontor.connectors.profiles import load_profiles
from kontor.domain.products import ProductCategory
from kontor.domain.providers import Capability, Finding

ACCOUNTS, CARDS, DEPOTS = Capability.ACCOUNTS, Capability.CARDS, Capability.DEPOTS
BY_CODE = {provider.bank_code: provider for provider in EVERYTHING.list()}
BANKS = """
[[bank]]
code = "90000001"
name = "Testbank"
[bank.xs2a]
base_url = "https://xs2a.bank.example"

[[bank]]
code = "90000002"
name = "Kartenbank"
fints = "https://fints.bank.example"
[bank.xs2a]
base_url = "https://xs2a.bank.example"
has_card_accounts = true
"""


@pytest.fixture
def own_banks(tmp_path: Path):
    file = tmp_path / "banks.toml"
    file.write_text(BANKS, encoding="utf-8")
    return load_catalogue(frozenset({"fints", "xs2a"}), False, load_profiles(file))


@pytest.mark.parametrize(
    ("code", "capabilities"),
    [
        ("37050198", (ACCOUNTS, CARDS)),  # a Sparkasse
        ("12030000", (ACCOUNTS, CARDS)),  # DKB
        ("20041133", (ACCOUNTS, DEPOTS)),  # comdirect
        ("43060967", (ACCOUNTS,)),  # GLS, of which nothing more is known
        ("10011001", ()),  # N26, which nothing reaches
    ],
)
def test_a_bank_can_what_its_profile_says_and_else_accounts_alone(code, capabilities):
    assert BY_CODE[code].capabilities == capabilities


def test_the_capability_filter_tells_banks_apart():
    found = {capability: sum(capability in p.capabilities for p in EVERYTHING.list()) for capability in Capability}
    assert len(EVERYTHING.list()) > found[ACCOUNTS] > found[CARDS] > found[DEPOTS] > 1


def test_xs2a_reaches_payment_accounts_and_cards_only_where_the_bank_serves_them(own_banks):
    plain, with_cards = own_banks.find(provider_id("90000001")), own_banks.find(provider_id("90000002"))
    assert plain.capabilities == (ACCOUNTS,)
    assert [channel.kind for channel in plain.channels] == ["xs2a"]
    assert ProductCategory.HOME_SAVINGS not in plain.channels[0].categories
    assert [channel.kind for channel in with_cards.channels] == ["fints", "xs2a"]
    assert with_cards.capabilities == (ACCOUNTS, CARDS)


def test_what_a_bank_says_of_itself_replaces_what_was_assumed():
    bank = BY_CODE["37050198"]
    assert bank.with_findings({"fints": Finding((ACCOUNTS, DEPOTS))}).capabilities == (ACCOUNTS, DEPOTS)
    assert bank.with_findings({"xs2a": Finding((ACCOUNTS, DEPOTS))}).capabilities == (ACCOUNTS, CARDS)
    assert bank.with_findings({}) == bank


def test_products_that_were_found_add_their_category():
    bank = BY_CODE["43060967"].with_findings({"fints": Finding(None, (ProductCategory.DEPOT,))})
    assert bank.capabilities == (ACCOUNTS, DEPOTS)
    assert bank.channels[0].categories[-2:] == (ProductCategory.DEPOT, ProductCategory.OTHER_PRODUCT)


# Files


def test_providers_known_by_a_file_form_alone_are_not_listed_and_have_no_login():
    listed = {provider.name for provider in EVERYTHING.list()}
    alone = [provider for provider in EVERYTHING.readable.list() if provider.bank_code is None]
    names = [provider.name for provider in alone]
    assert {"PayPal", "Revolut", "Trade Republic", "Wise", "American Express"} <= set(names)
    assert listed.isdisjoint(names)
    assert all(provider.login_fields == () and EVERYTHING.find(provider.id) is None for provider in alone)
    by_name = {provider.name: provider for provider in alone}
    assert by_name["American Express"].capabilities == (CARDS,)
    assert by_name["PayPal"].capabilities == (ACCOUNTS,)


def test_ids_of_providers_known_by_a_file_form_never_change():
    [paypal] = EVERYTHING.readable.list(q="paypal")
    assert str(paypal.id) == "cbb1ba2a-1fc3-5afb-9ffd-e42d95e9cd19"


def test_banks_with_a_file_form_keep_their_login_where_they_are_reached():
    readable = {provider.bank_code: provider for provider in EVERYTHING.readable.list() if provider.bank_code}
    assert readable["37050198"] == BY_CODE["37050198"]
    assert "43060967" not in readable
    n26 = readable["10011001"]
    assert (n26.id, n26.login_fields, n26.capabilities) == (BY_CODE["10011001"].id, (), (ACCOUNTS,))
    nothing_enabled = load_catalogue(frozenset(), list_all=False)
    assert len(nothing_enabled) == 0
    assert len(nothing_enabled.readable) == len(EVERYTHING.readable)
    assert all(provider.login_fields == () for provider in nothing_enabled.readable.list())


def test_the_demo_bank_has_everything_over_one_channel():
    assert [channel.kind for channel in DEMO_PROVIDER.channels] == ["demo"]
    assert DEMO_PROVIDER.channels[0].categories == tuple(ProductCategory)
