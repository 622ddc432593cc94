"""The committed table of banks and the record of where it came from."""

import hashlib
import importlib.util
import json
import re
import tarfile
import tomllib
from collections import Counter
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import pytest

from kontor.connectors.catalogue.banks import COLUMNS, load_banks

FOLDER = files("kontor.connectors.catalogue")
SCRIPT = Path(__file__).parents[3] / "scripts" / "build_catalogue.py"


@pytest.fixture(scope="module")
def provenance():
    return json.loads(FOLDER.joinpath("banks.provenance.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def build_catalogue():
    spec = importlib.util.spec_from_file_location("build_catalogue", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_line_has_the_six_columns_and_ends_like_any_text_line():
    data = FOLDER.joinpath("banks.tsv").read_bytes()
    assert data.endswith(b"\n")
    assert b"\r" not in data
    lines = data.decode().splitlines()
    assert tuple(lines[0].split("\t")) == COLUMNS
    assert {len(line.split("\t")) for line in lines} == {len(COLUMNS)}


def test_every_bank_has_a_valid_code_bic_and_name():
    for bank in load_banks():
        assert re.fullmatch(r"[1-9]\d{7}", bank.blz), bank
        assert re.fullmatch(r"[A-Z0-9]{4}DE[A-Z0-9]{2}([A-Z0-9]{3})?", bank.bic), bank
        assert bank.name
        assert all(value == " ".join(value.split()) for value in bank), bank


def test_banks_are_sorted_by_code_and_each_code_is_there_once():
    codes = [bank.blz for bank in load_banks()]
    assert codes == sorted(set(codes))
    assert len(codes) > 3_000


def test_addresses_are_https_and_none_is_a_host_known_to_be_gone():
    addresses = {bank.address for bank in load_banks() if bank.address}
    assert all(re.fullmatch(r"https://[a-z0-9.-]+(/[\w./-]*)?", address) for address in addresses)
    gone = {entry["host"] for entry in tomllib.loads(FOLDER.joinpath("overrides.toml").read_text("utf-8"))["moved"]}
    assert not {address.split("/")[2] for address in addresses} & gone


@pytest.mark.parametrize(
    ("code", "address"),
    [
        ("12030000", "https://fints.dkb.de/fints"),
        ("50010517", "https://fints.ing.de/fints"),
        ("43060967", "https://fints1.atruvia.de/cgi-bin/hbciservlet"),
        ("10090000", "https://fints2.atruvia.de/cgi-bin/hbciservlet"),
        ("50040000", "https://fints.commerzbank.de/fints"),
        ("20041111", "https://fints.comdirect.de/fints"),
        ("30060601", ""),
    ],
)
def test_overrides_replace_stale_addresses(code, address):
    assert {bank.blz: bank.address for bank in load_banks()}[code] == address


def test_the_record_matches_the_committed_files(provenance):
    table, banks = FOLDER.joinpath("banks.tsv").read_bytes(), load_banks()
    output = provenance["output"]
    assert output["sha256"] == hashlib.sha256(table).hexdigest()
    assert output["banks"] == len(banks)
    assert output["with_address"] == sum(bool(bank.address) for bank in banks)
    assert output["with_city"] == sum(bool(bank.city) for bank in banks)
    assert output["groups"] == Counter(bank.group for bank in banks if bank.group)
    overrides = FOLDER.joinpath("overrides.toml").read_bytes()
    assert provenance["inputs"][-1] == {
        "file": "overrides.toml",
        "sha256": hashlib.sha256(overrides).hexdigest(),
        "used_for": "moved addresses, brand names, groups",
    }


def test_the_record_names_package_version_licence_and_rows_of_every_source(provenance):
    sources = {source["package"]: source for source in provenance["inputs"] if "package" in source}
    assert {name: source["licence"] for name, source in sources.items()} == {
        "schwifty": "MIT",
        "fints-institute-db": "CC0-1.0",
    }
    assert all(source["rows"] > 4_000 and source["version"] for source in sources.values())
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", provenance["data_as_of"])


def pack(institutes):
    """A package as npm would pack it, so that the build can be tried without a network."""
    archive = BytesIO()
    described = {"name": "fints-institute-db", "version": "0.0.1", "license": "CC0-1.0"}
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in (("package.json", described), ("fints-institutes.json", institutes)):
            data = json.dumps(content).encode()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(data)
            tar.addfile(entry, BytesIO(data))
    return archive.getvalue()


def institute(number, blz, location, address, bic=""):
    return {"number": number, "blz": blz, "location": location, "pinTanURL": address, "bic": bic, "name": ""}


def test_building_twice_gives_the_same_bytes_whatever_the_order_of_the_rows(build_catalogue, tmp_path):
    rows = [
        institute(2, "37050198", "Köln", "https://one.example/fints"),
        institute(1, "12030000", "Berlin", "https://banking-dkb.s-fints-pt-dkb.de/fints30"),
    ]
    for name, order in (("a.tgz", rows), ("b.tgz", rows[::-1])):
        (tmp_path / name).write_bytes(pack(order))
    first, second = build_catalogue.build(tmp_path / "a.tgz"), build_catalogue.build(tmp_path / "b.tgz")
    assert second["banks.tsv"] == first["banks.tsv"]
    records = [json.loads(built["banks.provenance.json"]) for built in (first, second)]
    for record in records:
        # Only the packed file is another one.
        record["inputs"] = [source for source in record["inputs"] if source.get("package") != "fints-institute-db"]
    assert records[0] == records[1]
    assert (
        "37050198\tCOLSDE33XXX\tSparkasse KölnBonn\tKöln\tSparkasse\thttps://one.example/fints\n"
        in first["banks.tsv"].decode()
    )
    assert "\thttps://fints.dkb.de/fints\n" in first["banks.tsv"].decode()


def test_names_shared_by_several_banks_get_their_city_before_the_mark_of_old_codes(build_catalogue):
    bank = build_catalogue.Bank
    told = build_catalogue.tell_apart(
        [
            bank("1", "A", "Volksbank -alt-", "Lengerich"),
            bank("2", "B", "Volksbank -alt-", ""),
            bank("3", "C", "PSD Bank", "Nürnberg"),
            bank("4", "D", "PSD Bank", "Hannover"),
            bank("5", "E", "comdirect", "Quickborn"),
            bank("6", "F", "comdirect", "Quickborn"),
            bank("7", "G", "Sparkasse Essen", "Essen"),
        ],
        named={"5", "6"},
    )
    assert [renamed.name for renamed in told] == [
        "Volksbank Lengerich -alt-",
        "Volksbank -alt-",
        "PSD Bank Nürnberg",
        "PSD Bank Hannover",
        "comdirect",
        "comdirect",
        "Sparkasse Essen",
    ]


def test_overrides_for_codes_that_do_not_exist_stop_the_build(build_catalogue):
    register = [{"bank_code": "10000000", "primary": True, "name": "B", "short_name": "B", "bic": "X"}]
    overrides = {"moved": [], "group": [], "bank": [{"blz": ["99999999"], "name": "nobody"}]}
    with pytest.raises(ValueError, match="99999999"):
        build_catalogue.join(register, [], overrides)
