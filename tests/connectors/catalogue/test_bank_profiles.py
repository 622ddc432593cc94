"""Bank profiles: shipped ones, those of the operator, who corrects and adds, and what is not understood."""

import pytest

from kontor.connectors.catalogue import load_catalogue
from kontor.connectors.catalogue.banks import load_banks
from kontor.connectors.fints.quirks import Quirks, find_fints_bank
from kontor.connectors.profile_checks import check_profiles, load_bank_profiles
from kontor.connectors.profiles import OwnBank, ProfileError, Profiles, load_profiles, load_shipped
from kontor.connectors.xs2a import read_profile

BOTH = frozenset(["fints", "xs2a"])
FINTS = "https://127.0.0.1:8443/fints"
XS2A = {"base_url": "https://xs2a.example"}
DKB = "12030000"


def read(tmp_path, text):
    file = tmp_path / "banks.toml"
    file.write_text(text, encoding="utf-8")
    return load_bank_profiles(file)


def find(own, code, kinds=BOTH):
    catalogue = load_catalogue(kinds, False, Profiles(banks={bank.code: bank for bank in own}))
    return list(catalogue.list(blz=code))


def test_without_a_file_the_shipped_profiles_are_used():
    assert load_profiles(None) is load_shipped()
    assert load_shipped().banks == {}


def test_the_shipped_profiles_are_valid_and_agree_with_the_catalogue():
    """An address that is in both is one of them wrong as soon as they differ."""
    check_profiles(load_shipped())
    before = {bank.blz: bank.address for bank in load_banks()}
    shown = load_catalogue(BOTH, True).list()
    assert {provider.bank_code: provider.address or "" for provider in shown if provider.bank_code in before} == before


def test_a_file_is_read(tmp_path):
    text = f'[[bank]]\ncode = "99999999"\nname = "Testbank"\nbic = "TESTDEFF"\nfints = "{FINTS}"\n'
    found = read(tmp_path, text + '[bank.xs2a]\nbase_url = "https://xs2a.example"\n')
    assert found.banks == {"99999999": OwnBank("99999999", "Testbank", "TESTDEFF", FINTS, XS2A)}


def test_a_new_bank_is_found_by_its_name_and_a_known_one_gets_another_address():
    added, changed = OwnBank("99999999", "Bank am Draht", fints=FINTS), OwnBank(DKB, fints=FINTS)
    catalogue = load_catalogue(BOTH, False, Profiles(banks={"99999999": added, DKB: changed}))
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
    with pytest.raises(ProfileError, match="needs a name"):
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
        ('[[bank]]\ncode = "99999999"', "needs a name"),
        ('[[bank]]\ncode = "99999999"\nname = "A"\n[bank.xs2a]\nbase_url = "ftp://x"', "base_url: must be an absolute"),
        ('groups = "ING"', "groups must be a list of texts"),
        ('groups = ["INK"]', "no bank of the catalogue is in INK"),
        ('groups = ["ING"]', "group ING occurs twice, also in .*ing.toml"),
        ('codes = ["1"]', "codes must be the eight digits"),
        ("fints = 1", "fints must be a table"),
        ('[fints]\naddress = "http://bank.example"', "fints: address must begin with https://"),
        ("[fints]\nuses_mt94O = true", "uses_mt94O"),
        ("[fints]\nhistory_days = true", "history_days"),
        ("[xs2a]\nlist_forms = 1", "XS2A knows no list_forms"),
        ('[xs2a]\nlist_form = "PDF"', "list_form"),
        ("[statistics]\nfetched = 1", "statistics: unknown fetched"),
        ("[statistics]\nfetches = true", "fetches has another form"),
    ],
)
def test_what_is_not_understood_is_named(tmp_path, text, words):
    with pytest.raises(ProfileError, match=words) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith("KONTOR_BANKS: ")


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with pytest.raises(ProfileError, match=r"nowhere\.toml cannot be read"):
        load_profiles(tmp_path / "nowhere.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ProfileError, match="no TOML"):
        load_profiles(tmp_path / "odd.toml")


# A folder


@pytest.fixture
def folder(tmp_path):
    """Without a release: ING moves and drops its quirk, and a bank family is added that one bank belongs to."""
    (tmp_path / "ing.toml").write_text(
        'groups = ["ING"]\n[fints]\naddress = "https://new.example/fints"\nhistory_days = 30\n'
        "[statistics]\nfetches = 12\nsuccesses = 11\nmean_seconds = 3.5\nuntil = 2026-11-01\n"
    )
    (tmp_path / "postbank.toml").write_text(
        'codes = ["10010010"]\nsources = ["https://bank.example"]\n[xs2a]\nbooking_status = "booked"\n'
        '[[bank]]\ncode = "10010010"\n[bank.xs2a]\nbase_url = "https://xs2a.example"\ndialect = "postbank"\n'
    )
    (tmp_path / "notes.txt").write_text("not a profile")
    return tmp_path


def test_a_file_of_a_folder_replaces_the_shipped_one_of_the_same_name(folder):
    profiles = load_bank_profiles(folder)
    (ing,) = load_catalogue(BOTH, False, profiles).list(blz="50010517")
    assert find_fints_bank(profiles, ing).url == "https://new.example/fints"
    assert find_fints_bank(profiles, ing).quirks == Quirks(history_days=30)
    shipped = find_fints_bank(load_shipped(), ing)
    assert shipped.quirks == Quirks(has_one_step=True)
    with pytest.raises(ValueError, match="unknown dialect ing"):
        read_profile(XS2A | {"dialect": "ing"}, "1", profiles)
    assert set(load_shipped().families) < set(profiles.families)


def test_a_file_of_a_folder_adds_a_dialect_and_a_bank_that_speaks_it(folder):
    profiles = load_bank_profiles(folder)
    bank = profiles.banks["10010010"]
    assert read_profile(bank.xs2a, bank.code, profiles).booking_status == "booked"
    assert load_catalogue(BOTH, False, profiles).list(blz="10010010")[0].bank_channels == ("fints", "xs2a")


def test_a_bank_code_says_more_than_a_group(tmp_path):
    (tmp_path / "berlin.toml").write_text('codes = ["10050000"]\n[fints]\nuses_mt940 = true\n')
    profiles = load_bank_profiles(tmp_path)
    assert profiles.find_family("10050000", "Sparkasse").name == "berlin"
    assert profiles.find_family("37050198", "Sparkasse").name == "sparkasse"
    assert profiles.find_family("37050198", None) is None
