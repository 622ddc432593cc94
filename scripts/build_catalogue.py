"""Builds the provider catalogue: `banks.tsv` and `banks.provenance.json` next to `overrides.toml`.

    python scripts/build_catalogue.py [--package fints-institute-db-0.16.0.tgz] [--check]

Bank codes, names and BICs are those of the installed `schwifty`, FinTS addresses and cities those of the npm package
`fints-institute-db`, fetched with `npm pack` unless a file is given; `overrides.toml` corrects both. The result depends
on these three alone, never on the clock, so that building again gives the same bytes. `--check` writes nothing and
fails when the committed files differ.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import schwifty

FOLDER = Path(__file__).resolve().parent.parent / "src" / "kontor" / "connectors" / "catalogue"
REGISTER = Path(schwifty.__file__).parent / "bank_registry" / "generated_de.json"
NPM_PACKAGE = "fints-institute-db"
# Pinned, so that a build next year reads what the committed files were made from until someone decides otherwise.
NPM_VERSION = "0.16.0"
COLUMNS = ("blz", "bic", "name", "city", "group", "address")

Row = dict[str, Any]


@dataclass(frozen=True)
class Bank:
    blz: str
    bic: str
    name: str
    city: str = ""
    group: str = ""
    address: str = ""

    def line(self) -> str:
        values = (self.blz, self.bic, self.name, self.city, self.group, self.address)
        if any("\t" in value or "\n" in value or value != value.strip() for value in values):
            raise ValueError(f"A value of bank {self.blz} does not fit into a line: {values}")
        return "\t".join(values)


# Reading


def fetch_package(folder: Path) -> Path:
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{NPM_PACKAGE}@{NPM_VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return folder / packed.stdout.split()[-1]


def read_package(path: Path) -> tuple[Row, bytes]:
    """The package's own description and its data file."""
    with tarfile.open(path) as archive:
        description, data = (
            archive.extractfile("package/package.json"),
            archive.extractfile("package/fints-institutes.json"),
        )
        assert description is not None
        assert data is not None
        return json.load(description), data.read()


def head_rows(register: list[Row]) -> list[Row]:
    """One row per bank code: the primary one, which the register has exactly once for each."""
    heads = {row["bank_code"]: row for row in register if row["primary"]}
    missing = {row["bank_code"] for row in register} - heads.keys()
    if missing:
        raise ValueError(f"Bank codes without a primary row: {sorted(missing)}")
    return [heads[code] for code in sorted(heads)]


# Joining


def clean(text: str | None) -> str:
    return " ".join((text or "").split())


def city_name(location: str | None) -> str:
    """'Nürnberg, Mittelfr' and 'Mainz a Rhein' to the name people use."""
    city = clean(location).split(",")[0]
    return re.sub(r" (a|am|an der|a d|i|im|in)\.? .*$| \(.*\)$", "", city).strip()


def known_cities(institutes: list[Row]) -> set[str]:
    return {city for row in institutes if len(city := city_name(row["location"])) > 2}


def find_city(row: Row, institutes: list[Row], cities: set[str]) -> str:
    """The place at the end of the register's short name, which is the head office, else the first one listed."""
    words = clean(row["short_name"]).replace("-alt-", "").replace(",", " ").split()
    words = ["Frankfurt" if word in ("Ffm", "FFM") else word for word in words if word != "Main"]
    for start in range(1, len(words)):
        place = " ".join(words[start:])
        if place in cities:
            return place
    same_bic = [institute for institute in institutes if institute["bic"] == row["bic"]]
    return next((city for institute in same_bic + institutes if (city := city_name(institute["location"]))), "")


def find_address(institutes: list[Row], moved: dict[str, str]) -> str:
    addresses = [clean(institute["pinTanURL"]) for institute in institutes if institute["pinTanURL"]]
    if not addresses:
        return ""
    host = urlsplit(addresses[0]).hostname or ""
    return moved.get(host, addresses[0])


def find_group(blz: str, name: str, rules: list[Row]) -> Row:
    for rule in rules:
        if blz[3] in rule.get("clearing", blz[3]) and re.search(rule["name"], name):
            return rule
    return {"group": ""}


def join(register: list[Row], institutes: list[Row], overrides: Row) -> list[Bank]:
    by_code: dict[str, list[Row]] = defaultdict(list)
    for institute in sorted(institutes, key=lambda institute: int(institute["number"])):
        by_code[institute["blz"]].append(institute)
    moved = {entry["host"]: entry["address"] for entry in overrides["moved"]}
    corrections = {code: entry for entry in overrides["bank"] for code in entry["blz"]}
    cities = known_cities(institutes)
    banks = []
    named = set(corrections)  # a name given by hand is what it is
    for row in head_rows(register):
        code, name = row["bank_code"], clean(row["name"])
        rule = find_group(code, name, overrides["group"])
        correction = corrections.pop(code, {})
        if rule.get("is_direct"):
            named.add(code)
        address = find_address(by_code[code], moved) or rule.get("address", "")
        banks.append(
            Bank(
                blz=code,
                bic=row["bic"],
                name=correction.get("name", rule.get("rename", name)),
                city=find_city(row, by_code[code], cities),
                group=correction.get("group", rule["group"]),
                address=correction.get("address", address),
            )
        )
    if corrections:
        raise ValueError(f"overrides.toml names bank codes that do not exist: {sorted(corrections)}")
    return tell_apart(banks, named)


def tell_apart(banks: list[Bank], named: set[str]) -> list[Bank]:
    """Adds the city to names that several banks have: 180 rows that all say 'Commerzbank' help nobody choose."""
    uses = Counter(bank.name for bank in banks)
    return [with_city(bank) if uses[bank.name] > 1 and bank.blz not in named else bank for bank in banks]


def with_city(bank: Bank) -> Bank:
    if not bank.city or bank.city.lower() in bank.name.lower():
        return bank
    # "-alt-" marks a code that a merger left behind; it stays at the end.
    name, old, _ = bank.name.partition(" -alt-")
    return replace(bank, name=f"{name} {bank.city}{old}")


# Writing


def render(banks: list[Bank]) -> bytes:
    return "\n".join(["\t".join(COLUMNS), *(bank.line() for bank in banks), ""]).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def provenance(banks: list[Bank], table: bytes, inputs: dict[str, bytes], package: Row, rows: tuple[int, int]) -> bytes:
    register_rows, institute_rows = rows
    version = metadata.version("schwifty")
    year, month = version.split(".")[:2]
    facts = {
        "built_by": "scripts/build_catalogue.py",
        # schwifty is numbered by year and month; the npm package carries no date at all.
        "data_as_of": f"{year}-{int(month):02d}",
        "inputs": [
            {
                "package": "schwifty",
                "registry": "PyPI",
                "version": version,
                "licence": metadata.metadata("schwifty")["License-Expression"],
                "file": "schwifty/bank_registry/generated_de.json",
                "rows": register_rows,
                "sha256": sha256(inputs["register"]),
                "used_for": "bank code, BIC, name",
            },
            {
                "package": package["name"],
                "registry": "npm",
                "version": package["version"],
                "licence": package["license"],
                "file": "fints-institutes.json",
                "rows": institute_rows,
                "sha256": sha256(inputs["institutes"]),
                "used_for": "FinTS address, city",
            },
            {
                "file": "overrides.toml",
                "sha256": sha256(inputs["overrides"]),
                "used_for": "moved addresses, brand names, groups",
            },
        ],
        "output": {
            "file": "banks.tsv",
            "sha256": sha256(table),
            "banks": len(banks),
            "with_address": sum(bool(bank.address) for bank in banks),
            "with_city": sum(bool(bank.city) for bank in banks),
            "addresses": len({bank.address for bank in banks if bank.address}),
            "groups": dict(sorted(Counter(bank.group for bank in banks if bank.group).items())),
        },
    }
    return (json.dumps(facts, ensure_ascii=False, indent=2) + "\n").encode()


def build(archive: Path) -> dict[str, bytes]:
    package, institutes = read_package(archive)
    inputs = {
        "register": REGISTER.read_bytes(),
        "institutes": institutes,
        "overrides": (FOLDER / "overrides.toml").read_bytes(),
    }
    register_rows, institute_rows = json.loads(inputs["register"]), json.loads(institutes)
    named = [row for row in institute_rows if row["blz"]]
    banks = join(register_rows, named, tomllib.loads(inputs["overrides"].decode()))
    table = render(banks)
    counts = (len(register_rows), len(institute_rows))
    return {"banks.tsv": table, "banks.provenance.json": provenance(banks, table, inputs, package, counts)}


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the provider catalogue.")
    parser.add_argument("--package", type=Path, help=f"a packed {NPM_PACKAGE}, instead of fetching it")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the committed files differ")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = build(options.package or fetch_package(Path(folder)))
    if options.check:
        stale = [name for name, data in files.items() if (FOLDER / name).read_bytes() != data]
        print(f"differs: {', '.join(stale)}" if stale else "the committed files are up to date")
        return 1 if stale else 0
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
        print(f"{name}: {len(data)} bytes, sha256 {sha256(data)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
