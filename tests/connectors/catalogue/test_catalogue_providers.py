"""Providers made from the table: ids, groups, login forms, what is offered to whom."""

from dataclasses import replace
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
from catalogue_view import ALL_CONNECTORS, EVERYTHING, count_calls, load_again

from kontor.connectors.catalogue import DEMO_PROVIDER, Catalogue, load_catalogue, provider_id
from kontor.connectors.catalogue.providers import PROVIDER_NAMESPACE
from kontor.domain.login_formats import compile_format
from kontor.domain.providers import Capability

BY_CODE = {provider.bank_code: provider for provider in EVERYTHING.list()}


@pytest.mark.parametrize(
    ("code", "id"),
    [
        ("37050198", "663986b7-58ff-50dd-83bf-8b4f231f173f"),
        ("50010517", "4bcd7783-2e16-5c55-ad68-c28dd2e6f9bb"),
        ("12030000", "00b8d9ca-0901-50f8-bfe8-fa282f9e13dc"),
        ("10010010", "de58a593-9739-54d9-94e3-b8c3471f8154"),
        ("50040000", "521702ba-6064-5968-9812-02a83ba3648d"),
    ],
)
def test_ids_never_change(code, id):
    assert BY_CODE[code].id == UUID(id)


def test_ids_are_the_version_5_uuids_of_country_and_bank_code():
    assert uuid5(NAMESPACE_URL, "urn:kontor:providers") == PROVIDER_NAMESPACE
    for code, provider in BY_CODE.items():
        if provider != DEMO_PROVIDER:
            assert provider.id == provider_id(code) == uuid5(PROVIDER_NAMESPACE, f"DE:{code}")
            assert provider.id.version == 5


def test_ids_are_unique_and_find_their_provider():
    providers = EVERYTHING.list()
    assert len({provider.id for provider in providers}) == len(providers) == len(EVERYTHING)
    assert all(EVERYTHING.find(provider.id) is provider for provider in providers)
    assert EVERYTHING.find(UUID(int=1)) is None


def test_the_demo_bank_is_first_and_as_documented():
    demo = EVERYTHING.list()[0]
    assert demo == DEMO_PROVIDER
    assert str(demo.id) == "00000000-0000-0000-0000-000000000000"
    assert (demo.name, demo.connector, demo.bank_code, demo.bic) == ("Demo-Bank", "demo", "99999999", "KONTDEFFXXX")
    assert [field.key for field in demo.login_fields] == ["userid", "pin"]
    assert [field.is_secret for field in demo.login_fields] == [False, True]
    assert demo.capabilities == (Capability.ACCOUNTS, Capability.CARDS, Capability.DEPOTS)


@pytest.mark.parametrize("login", ["demo1", "familie", "test_sca_method_media", "test_vop_close+anything", "leer+7"])
def test_the_demo_bank_takes_its_documented_logins(login):
    userid, pin = (compile_format(field.format) for field in DEMO_PROVIDER.login_fields)
    assert userid.matches(login)
    assert pin.matches("demo")
    assert pin.matches(login.partition("+")[0])


def test_only_providers_with_an_enabled_connector_are_listed():
    assert [provider.connector for provider in load_catalogue(frozenset({"demo"}), list_all=False).list()] == ["demo"]
    connectors = {provider.connector for provider in load_catalogue(frozenset({"fints"}), list_all=False).list()}
    assert connectors == {"fints"}
    assert load_catalogue(frozenset(), list_all=False).list() == ()
    assert len(load_catalogue(frozenset(), list_all=True)) == len(EVERYTHING) > 3_500


def test_a_bank_with_an_address_is_reached_by_fints_and_one_without_by_nothing():
    for provider in EVERYTHING.list()[1:]:
        if provider.address:
            assert provider.connector == "fints"
            assert [field.key for field in provider.login_fields] == ["userid", "pin"]
            assert [channel.kind for channel in provider.channels] == ["fints"]
        else:
            assert provider.connector == "none"
            assert (provider.login_fields, provider.capabilities, provider.channels) == ((), (), ())


def test_every_login_format_compiles_and_can_be_shown_to_a_person_and_a_browser():
    formats = {field.format for provider in EVERYTHING.list() for field in provider.login_fields}
    for format in formats:
        compiled = compile_format(format)
        assert compiled.html_pattern()
        assert "vorgibt" not in compiled.describe_de()
    assert any(format.startswith("^") for format in formats)
    assert any(format.startswith("#") for format in formats)


@pytest.mark.parametrize(
    ("code", "group", "label"),
    [
        ("37050198", "Sparkasse", "Anmeldename oder Legitimations-ID"),
        ("38060186", "Volksbanken Raiffeisenbanken", "VR-NetKey oder Alias"),
        ("50010517", "ING", "Zugangsnummer"),
        ("12030000", "DKB", "Anmeldename"),
        ("20041133", "comdirect", "Zugangsnummer"),
        ("50070010", "Deutsche Bank", "Filial- und Kontonummer oder Deutsche Bank ID"),
        ("50040000", "Commerzbank", "Teilnehmernummer"),
        ("70090500", "Sparda-Bank", "Kundennummer oder Alias"),
        ("76090900", "PSD Bank", "PSD-Key, VR-NetKey oder Alias"),
        ("10010010", "Postbank", "Postbank ID"),
        ("10077777", "norisbank", "Anmeldename / Benutzerkennung"),
        ("70020270", "HypoVereinsbank", "Direct Banking Nummer"),
        ("76035000", None, "Anmeldename / Benutzerkennung"),
    ],
)
def test_groups_and_their_own_words_for_the_login(code, group, label):
    assert BY_CODE[code].group == group
    assert BY_CODE[code].login_fields[0].label == label


@pytest.mark.parametrize("code", ["37050198", "50010517", "12030000", "20041133", "43060967", "10011001", "50050222"])
def test_banks_for_private_customers_are_consumer_relevant(code):
    assert BY_CODE[code].is_consumer_relevant


@pytest.mark.parametrize(
    "code",
    [
        "10000000",  # Bundesbank
        "50050000",  # Helaba
        "70050000",  # BayernLB
        "50060400",  # DZ BANK
        "20730024",  # a settlement code of HypoVereinsbank
        "38050000",  # left behind by the merger to Sparkasse KölnBonn
        "43060988",  # cash machines of GLS
    ],
)
def test_central_banks_settlement_codes_and_old_codes_are_not(code):
    assert not BY_CODE[code].is_consumer_relevant


def test_filters_narrow_the_list():
    assert [p.name for p in EVERYTHING.list(blz="37050198")] == ["Sparkasse KölnBonn"]
    assert [p.name for p in EVERYTHING.list(blz=" 370 501 98 ")] == ["Sparkasse KölnBonn"]
    assert [p.name for p in EVERYTHING.list(bic="ingddeff")] == ["ING"]
    assert EVERYTHING.list(blz="370", bic="COLSDE33") == (BY_CODE["37050198"],)
    assert EVERYTHING.list(q="sparkasse", blz="37050299") == (BY_CODE["37050299"],)
    assert EVERYTHING.list(blz="00") == ()


def test_an_empty_query_lists_everything():
    assert EVERYTHING.list(q="") == EVERYTHING.list(q="  ") == EVERYTHING.list()


def test_the_etag_is_the_same_for_the_same_content():
    again = load_again()
    assert again.etag() == EVERYTHING.etag() == EVERYTHING.etag(EVERYTHING.list())
    assert again.etag().startswith('"')
    assert again.etag().endswith('"')


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Anders"},
        {"address": "https://elsewhere.example/"},
        {"login_fields": ()},
        {"is_consumer_relevant": False},
        {"login_hint": None},
        {"channels": ()},
    ],
)
def test_the_etag_changes_with_any_content(change):
    before = Catalogue([DEMO_PROVIDER, BY_CODE["37050198"]])
    after = Catalogue([replace(DEMO_PROVIDER, **change), BY_CODE["37050198"]])
    assert before.etag() != after.etag()


def test_the_etag_depends_on_selection_order_and_salt():
    first, second = BY_CODE["37050198"], BY_CODE["50010517"]
    tags = {
        EVERYTHING.etag([first, second]),
        EVERYTHING.etag([second, first]),
        EVERYTHING.etag([first]),
        EVERYTHING.etag([]),
        EVERYTHING.etag([first], salt="1.1"),
        EVERYTHING.etag(salt="1.1"),
        EVERYTHING.etag(),
    }
    assert len(tags) == 7


def test_the_etag_of_a_changed_copy_is_not_that_of_the_known_provider():
    known = BY_CODE["37050198"]
    EVERYTHING.etag([known])
    assert EVERYTHING.etag([replace(known, name="Anders")]) != EVERYTHING.etag([known])


def test_loading_does_a_few_steps_per_bank():
    calls = count_calls(lambda: load_catalogue(ALL_CONNECTORS, list_all=True))
    assert calls < 30 * len(EVERYTHING)  # measured: 18


def test_what_only_a_search_needs_is_made_by_the_first_search():
    catalogue = load_catalogue(frozenset({"demo"}), list_all=False)
    assert "_index" not in vars(catalogue)
    assert count_calls(lambda: catalogue.list(q="demo")) > count_calls(lambda: catalogue.list(q="demo"))
