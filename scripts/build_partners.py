"""Builds the partner table `partners_nsi.txt` from the names of the OpenStreetMap world.

    python scripts/build_partners.py [--package name-suggestion-index-8.0.20260918.tgz] [--check]

Brands and operators that cover Germany are those of the npm package `name-suggestion-index`, fetched with `npm pack`
unless a file is given. `osm_categories.txt` says which tag is which category, `osm_left_out.txt` which names are
ordinary words or people, and everything in `partners/` wins over it. The result depends on these alone, never on the
clock, so that building again gives the same bytes. `--check` writes nothing and fails when the committed file differs.
"""

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "src" / "kontor" / "analysis" / "data"
RESULT = "partners_nsi.txt"
NPM_PACKAGE = "name-suggestion-index"
# Pinned, so that a build next year reads what the committed file was made from until someone decides otherwise.
NPM_VERSION = "8.0.20260918"
HEADER = """\
# Partners known to OpenStreetMap. Built by scripts/build_partners.py, never edited by hand.
# Source: npm {name} {version}, licence {licence}; what it takes from Wikidata is CC0.
# Name | aliases | CATEGORY | options
"""
SEPARATOR = " | "
# The world, Europe, the European Union, Germany, Western Europe, the German-speaking countries.
PLACES = {"001", "150", "155", "de", "eu", "q458", "q46"}
BRANCHES = ("brands", "operators")
MIN_NAME_LENGTH = 4
MAX_NAME_LENGTH = 60
LEGAL_FORM = re.compile(
    r"(,?\s+((gemeinnützige\s+)?g?gmbh|ag|se|kg|ohg|eg|vvag|mbh|e\.\s*v\.|e\.\s*g\.|inc\.?|ltd\.?|&\s*co\.?))+$",
    re.IGNORECASE,
)
# Public bodies do everything: a charging point or a kindergarten says nothing about what is paid to them.
PUBLIC_BODY = re.compile(
    r"^((landeshaupt|hanse|kreis|universitaets)?stadt|(verbands|samt|orts|kirchen)?gemeinde|(land)?kreis|markt|amt|"
    r"bistum|erzbistum|freistaat|land|region|ev|evang|evangelische[rs]?|kath|katholische[rs]?|st|zweckverband) |kreis$"
)
# Suppliers put up charging points, but what people pay them is the electricity at home.
SUPPLIER = re.compile(r"werke?\b|stadtwerk|energie|strom|versorg|elektrizitaet")
CHARGING_TAGS = {"amenity/charging_station", "man_made/charge_point"}
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae", "œ": "oe"})
NAME_TAGS = ("brand", "operator", "name", "official_name", "short_name", "alt_name", "name:de", "brand:de", "name:en")

Row = dict[str, Any]


@dataclass
class Partner:
    name: str
    category: str
    aliases: list[str] = field(default_factory=list)

    def line(self) -> str:
        return SEPARATOR.join((self.name, "; ".join(self.aliases), self.category))


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


def read_package(path: Path) -> tuple[Row, dict[str, Row], list[str]]:
    """The package's own description, its tree of names, and the patterns of names that mean nothing."""
    with tarfile.open(path) as archive:

        def load(name: str) -> Any:
            file = archive.extractfile(f"package/{name}")
            assert file is not None
            return json.load(file)

        tree = load("dist/json/nsi.min.json")["nsi"]
        return load("package.json"), tree, load("dist/json/genericWords.min.json")["genericWords"]


def read_lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def read_categories(path: Path) -> dict[str, str]:
    pairs = (line.split(SEPARATOR) for line in read_lines(path))
    return {tag.strip(): category.strip() for tag, category in pairs}


def read_known_texts(folder: Path) -> set[str]:
    """Every folded name and alias that was written by hand."""
    known = set()
    for path in sorted(folder.glob("*.txt")):
        for line in read_lines(path):
            name, aliases, *_ = line.split("|")
            texts = [name, *aliases.split(";")]
            known |= {fold(text.strip().removeprefix("=")) for text in texts}
    return known - {""}


# Choosing


def fold(text: str) -> str:
    """As the tagger reads statements: lower case, plain letters, blanks for the rest."""
    plain = unicodedata.normalize("NFKD", text.lower().translate(UMLAUTS))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(re.sub(r"[^a-z0-9]+", " ", plain).split())


def covers_germany(places: Row) -> bool:
    included = {place for place in places.get("include", ()) if isinstance(place, str)}
    excluded = {place for place in places.get("exclude", ()) if isinstance(place, str)}
    is_included = bool(included & PLACES) or any(re.fullmatch(r"de-\w+\.geojson", place) for place in included)
    return is_included and not excluded & PLACES


def is_telling(text: str, left_out: set[str], generic: Iterable[re.Pattern[str]]) -> bool:
    """Whether this text on a statement means this partner and hardly anything else."""
    folded = fold(text)
    words = folded.split()
    return (
        len(folded.replace(" ", "")) >= MIN_NAME_LENGTH
        and len(text) <= MAX_NAME_LENGTH
        and any(len(word) > 2 and not word.isdigit() for word in words)
        and folded not in left_out
        and not PUBLIC_BODY.search(folded)
        and not all(word in left_out for word in words)
        and "|" not in text
        and ";" not in text
        and not any(pattern.search(text.lower()) for pattern in generic)
    )


def find_texts(item: Row) -> list[str]:
    """The display name first, then how else it is called, each spelling once."""
    tags = item["tags"]
    name = LEGAL_FORM.sub("", re.sub(r"\s*\(.*\)$", "", item["displayName"]).strip())
    texts = [name, item["displayName"], *(tags.get(tag, "") for tag in NAME_TAGS), *item.get("matchNames", ())]
    unique: dict[str, str] = {}
    for text in texts:
        for part in text.split(";"):
            unique.setdefault(fold(part), " ".join(part.split()))
    unique.pop("", None)
    return list(unique.values()) if fold(name) else []


def find_category(tag: str, name: str, categories: dict[str, str]) -> str:
    return "BILLS_ELECTRICITY" if tag in CHARGING_TAGS and SUPPLIER.search(fold(name)) else categories[tag]


def is_alias(text: str, name: str) -> bool:
    """Single words are other brands or first names too often, unless they are the name written together."""
    folded = fold(text)
    return " " in folded or fold(name).replace(" ", "") in folded


def choose(
    tree: dict[str, Row], categories: dict[str, str], known: set[str], left_out: set[str], generic: list[str]
) -> list[Partner]:
    """One partner per name. A name under several tags goes to the tag that comes first in the list of categories."""
    always = [re.compile(pattern) for pattern in generic]
    candidates: dict[str, list[tuple[int, Partner]]] = defaultdict(list)
    ranks = {tag: rank for rank, tag in enumerate(categories)}
    for path in sorted(tree):
        branch, _, tag = path.partition("/")
        if branch not in BRANCHES or tag not in categories:
            continue
        own = tree[path]["properties"].get("exclude", {}).get("generic", ())
        patterns = [*always, *(re.compile(pattern) for pattern in own)]
        for item in sorted(tree[path]["items"], key=lambda item: item["id"]):
            texts = find_texts(item)
            if not texts or not covers_germany(item["locationSet"]) or not is_telling(texts[0], left_out, patterns):
                continue
            if known.isdisjoint(fold(text) for text in texts[:2]):
                aliases = [
                    text for text in texts[1:] if is_alias(text, texts[0]) and is_telling(text, left_out, patterns)
                ]
                partner = Partner(texts[0], find_category(tag, texts[0], categories), aliases)
                candidates[fold(texts[0])].append((ranks[tag], partner))
    return merge(candidates, known)


def merge(candidates: dict[str, list[tuple[int, Partner]]], known: set[str]) -> list[Partner]:
    names = set(candidates) | known
    owners: dict[str, set[str]] = defaultdict(set)
    for key, ranked in candidates.items():
        for _, partner in ranked:
            for alias in partner.aliases:
                owners[fold(alias)].add(key)
    partners = []
    for key in sorted(candidates):
        ranked_partners = [partner for _, partner in sorted(candidates[key], key=lambda pair: pair[0])]
        chosen = ranked_partners[0]
        aliases = {fold(alias): alias for partner in reversed(ranked_partners) for alias in partner.aliases}
        # An alias that is somebody's name, or two partners' alias, says nothing.
        chosen.aliases = [
            aliases[folded_alias]
            for folded_alias in sorted(aliases)
            if folded_alias not in names and len(owners[folded_alias]) == 1
        ]
        partners.append(chosen)
    return partners


# Writing


def render(partners: list[Partner], package: Row) -> bytes:
    header = HEADER.format(name=package["name"], version=package["version"], licence=package["license"])
    return (header + "".join(f"{partner.line()}\n" for partner in partners)).encode()


def build(archive: Path) -> bytes:
    package, tree, generic = read_package(archive)
    categories = read_categories(DATA / "osm_categories.txt")
    known = read_known_texts(DATA / "partners")
    left_out = {fold(line) for line in read_lines(DATA / "osm_left_out.txt")}
    return render(choose(tree, categories, known, left_out, generic), package)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the partner table.")
    parser.add_argument("--package", type=Path, help=f"a packed {NPM_PACKAGE}, instead of fetching it")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the committed file differs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = build(options.package or fetch_package(Path(folder)))
    if options.check:
        is_stale = (DATA / RESULT).read_bytes() != data
        print(f"differs: {RESULT}" if is_stale else "the committed file is up to date")
        return 1 if is_stale else 0
    (DATA / RESULT).write_bytes(data)
    print(f"{RESULT}: {len(data.splitlines()) - len(HEADER.splitlines())} partners, {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
