"""The operator's own list of banks: corrects, adds, and refuses what it does not understand."""

import pytest

from kontor.connectors.catalogue import load_catalogue
from kontor.connectors.catalogue.own_banks import OwnBank, OwnBanksError, read_own_banks

BOTH = frozenset(["fints", "xs2a"])
FINTS = "https://127.0.0.1:8443/fints"
XS2A = {"base_url": "https://xs2a.example"}
DKB = "12030000"


def read(tmp_path, text):
    file = tmp_path / "banks.toml"
    file.write_text(text, encoding="utf-8")
    return read_own_banks(file)


def find(own, code, kinds=BOTH):
    catalogue = load_catalogue(kinds, False, {bank.code: bank for bank in own})
    return list(catalogue.list(blz=code))


def test_no_file_changes_nothing():
    assert read_own_banks(None) == {}


def test_a_file_is_read(tmp_path):
    text = f'[[bank]]\ncode = "99999999"\nname = "Testbank"\nbic = "TESTDEFF"\nfints = "{FINTS}"\n'
    found = read(tmp_path, text + '[bank.xs2a]\nbase_url = "https://xs2a.example"\n')
    assert found == {"99999999": OwnBank("99999999", "Testbank", "TESTDEFF", FINTS, XS2A)}


def test_a_new_bank_is_found_by_its_name_and_a_known_one_gets_another_address():
    added, changed = OwnBank("99999999", "Bank am Draht", fints=FINTS), OwnBank(DKB, fints=FINTS)
    catalogue = load_catalogue(BOTH, False, {"99999999": added, DKB: changed})
    assert [provider.address for provider in catalogue.list(q="Bank am Draht")][:1] == [FINTS]
    known = catalogue.list(blz=DKB)
    assert known
    assert {provider.address for provider in known} == {FINTS}
    assert load_catalogue(BOTH, False).list(blz=DKB)[0].id == known[0].id, "accesses stay with their bank"


@pytest.mark.parametrize(
    ("bank", "kinds", "bank_channels"),
    [
        (OwnBank("99999999", "A", fints=FINTS, xs2a=XS2A), BOTH, ("fints", "xs2a")),
        (OwnBank("99999999", "A", fints=FINTS, xs2a=XS2A), frozenset(["xs2a"]), ("xs2a",)),
        (OwnBank("99999999", "A", xs2a=XS2A), BOTH, ("xs2a",)),
        (OwnBank("99999999", "A", fints=FINTS), BOTH, ("fints",)),
    ],
)
def test_a_bank_has_the_ways_that_are_described_and_enabled(bank, kinds, bank_channels):
    (found,) = find([bank], bank.code, kinds)
    assert (found.bank_channels, found.connector) == (bank_channels, bank_channels[0])


def test_a_bank_without_any_way_is_not_offered():
    assert find([OwnBank("99999999", "A", fints=FINTS)], "99999999", frozenset(["xs2a"])) == []


def test_a_new_bank_needs_a_name():
    with pytest.raises(OwnBanksError, match="needs a name"):
        find([OwnBank("99999999", fints=FINTS)], "99999999")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[bank", "no TOML"),
        ('[[bank]]\nname = "A"', "eight digits"),
        ("[[bank]]\ncode = 99999999", "eight digits"),
        ('[[bank]]\ncode = "9999999"', "eight digits"),
        ('[[bank]]\ncode = "99999999"\nurl = "x"', "unknown url"),
        ('[[bank]]\ncode = "99999999"\nname = 7', "name must be text"),
        ('[[bank]]\ncode = "99999999"\nfints = "http://bank.example"', "https://"),
        ('[[bank]]\ncode = "99999999"\nxs2a = "x"', "must be a table"),
        ('[[bank]]\ncode = "99999999"\n[[bank]]\ncode = "99999999"', "occurs twice"),
        ('bank = "x"', "must be tables"),
        ('[[banks]]\ncode = "99999999"', "unknown banks"),
    ],
)
def test_what_is_not_understood_is_named(tmp_path, text, words):
    with pytest.raises(OwnBanksError, match=words) as raised:
        read(tmp_path, text)
    assert "KONTOR_BANKS" in str(raised.value)


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with pytest.raises(OwnBanksError, match="cannot be read"):
        read_own_banks(tmp_path / "nowhere.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(OwnBanksError, match="no TOML"):
        read_own_banks(tmp_path / "odd.toml")
