"""Banks of Enable Banking in the catalogue: the same bank is one provider, and any doubt makes two."""

import json
import subprocess
import sys

import pytest

from kontor.connectors.aspsps import AspspBank, BankListError, choose_banks, read_bank_list, write_bank_list
from kontor.connectors.catalogue import find_aspsps, load_catalogue, provider_id
from kontor.connectors.catalogue.banks import Bank
from kontor.connectors.catalogue.linking import link_banks
from kontor.connectors.profiles import load_shipped

DAYS = 180 * 86_400
DKB = "12030000"


def aspsp(name, bic=None, country="DE", **facts):
    return AspspBank(name, country, DAYS, bic, **facts)


def bank(blz, name, bic="", address=""):
    return Bank(blz, bic, name, "", "", address)


TABLE = (
    bank("10000001", "Einzelbank", "EINZDEFFXXX"),
    bank("15000001", "Sparkasse Neu", "SPARDEFFXXX", "https://bank.example/fints"),
    bank("15000002", "Sparkasse -alt-", "SPARDEFFXXX"),
    bank("20000001", "Filialbank", "FILIDEFFXXX"),
    bank("20000002", "Filialbank Nord", "FILIDEFFXXX"),
    bank("20000003", "Filialbank Nord", "FILIDEFFXXX"),
    bank("30000001", "Volksbank Überall"),
    bank("30000002", "Zwilling"),
    bank("30000003", "Zwilling"),
)


@pytest.mark.parametrize(
    ("listed", "linked"),
    [
        ([aspsp("Anders genannt", "EINZDEFFXXX")], {"10000001"}),
        ([aspsp("Anders genannt", "einzdeff")], {"10000001"}),
        ([aspsp("Sparkasse", "SPARDEFFXXX")], {"15000001"}),
        ([aspsp("FILIALBANK", "FILIDEFFXXX")], {"20000001"}),
        ([aspsp("Filialbank Nord", "FILIDEFFXXX")], set()),
        ([aspsp("Filialbank Süd", "FILIDEFFXXX")], set()),
        ([aspsp("volksbank  überall")], {"30000001"}),
        ([aspsp("Zwilling")], set()),
        ([aspsp("Einzelbank", "ANDRDEFFXXX")], set()),
        ([aspsp("Einzelbank", "EINZDEFFXXX", "AT")], set()),
        ([aspsp("Privat", "EINZDEFFXXX"), aspsp("Geschäft", "EINZDEFFXXX")], set()),
        ([aspsp("Einzelbank", "EINZDEFFXXX"), aspsp("Einzelbank Geschäft", "EINZDEFFXXX")], {"10000001"}),
    ],
)
def test_a_bank_is_linked_where_nothing_speaks_for_another(listed, linked):
    assert set(link_banks(listed, TABLE)) == linked


LISTED = (
    aspsp("DKB", "BYLADEM1001"),
    aspsp("Neobank", "NEOBDEFFXXX", group="Neos"),
    aspsp("Nordea", "NDEAFIHH", "FI", psu_types=("business",)),
)


def test_a_linked_bank_is_one_provider_with_both_channels_and_asks_for_its_pin():
    catalogue = load_catalogue(frozenset(["fints", "enablebanking"]), False, aspsps=LISTED)
    found = catalogue.find(provider_id(DKB))
    assert found.bank_channels == ("fints", "enablebanking")
    assert [field.key for field in found.login_fields] == ["userid", "pin"]
    assert catalogue.list("Neobank")[0].bank_channels == ("enablebanking",)


def test_where_enable_banking_is_the_only_channel_no_secret_is_asked_for():
    catalogue = load_catalogue(frozenset(["enablebanking"]), False, aspsps=LISTED)
    assert len(catalogue) == 3, "only what the operator has listed"
    for provider in catalogue.list():
        assert provider.connector == "enablebanking"
        assert not any(field.is_secret for field in provider.login_fields)
        assert provider.login_fields, "a provider without fields is taken for one that cannot be connected"
        assert {str(capability) for capability in provider.capabilities} == {"ACCOUNTS", "CARDS"}


def test_other_banks_are_providers_with_ids_that_follow_from_their_names():
    catalogue = load_catalogue(frozenset(["enablebanking"]), False, aspsps=LISTED)
    before = {provider.name: provider.id for provider in catalogue.list()}
    assert {"Neobank", "Nordea (FI)"} < set(before)
    others = load_catalogue(frozenset(["enablebanking"]), False, aspsps=tuple(reversed(LISTED)))
    assert {provider.name: provider.id for provider in others.list()} == before
    assert not catalogue.list("Nordea")[0].is_consumer_relevant


def test_the_connector_knows_the_bank_of_each_provider():
    known = find_aspsps(load_shipped(), LISTED)
    listed = load_catalogue(frozenset(["enablebanking"]), False, aspsps=LISTED).list()
    assert {provider.id for provider in listed} == set(known)
    assert known[provider_id(DKB)].name == "DKB"


def test_without_the_channel_its_banks_are_not_listed():
    without = load_catalogue(frozenset(["fints"]), False)
    assert [provider.id for provider in load_catalogue(frozenset(["fints"]), False, aspsps=LISTED).list()] == [
        provider.id for provider in without.list()
    ]


# The file


def test_a_list_that_was_written_reads_as_it_was(tmp_path):
    file = tmp_path / "banks.json"
    file.write_bytes(write_bank_list(LISTED))
    assert set(read_bank_list(file)) == set(LISTED)
    assert [entry["name"] for entry in json.loads(file.read_text())["banks"]] == ["DKB", "Neobank", "Nordea"]
    assert choose_banks(LISTED, ["neo", "dkb"]) == LISTED[:2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not a list of banks"),
        ('{"banks": [{"name": "A"}]}', "not a list of banks"),
        ('{"banks": [{"name": " ", "country": "DE", "maximum_consent_validity": 1}]}', "no name"),
        ('{"banks": [{"name": "A", "country": "Germany", "maximum_consent_validity": 1}]}', "no country"),
        ('{"banks": [{"name": "A", "country": "DE", "maximum_consent_validity": 0}]}', "validity"),
        ('{"banks": [%s, %s]}' % (('{"name": "A", "country": "DE", "maximum_consent_validity": 1}',) * 2), "A twice"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused_with_a_reason(tmp_path, text, words):
    file = tmp_path / "banks.json"
    file.write_text(text)
    with pytest.raises(BankListError, match=words):
        read_bank_list(file)
    with pytest.raises(BankListError, match="cannot be read"):
        read_bank_list(tmp_path / "gone.json")


def test_a_catalogue_loads_without_the_connector():
    """Reading a list must not cost what the connector costs."""
    code = "import sys, kontor.connectors.catalogue as c; sys.exit('kontor.connectors.enablebanking' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
