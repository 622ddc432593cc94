"""Writes the partners of savings banks and cooperative banks from the catalogue of banks.

    python scripts/build_local_banks.py          # writes src/kontor/analysis/data/partners/local_banks.txt
    python scripts/build_local_banks.py --check  # fails if that file is out of date

Banks that have merged into others, cash machines' numbers and branches are left out, and so is what another file of
partners or the table of organisations names.
"""

import argparse
import csv
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.organisations import list_organisations
from kontor.analysis.tagging.partners import read_partners

SOURCE = Path(__file__).parents[1] / "src/kontor/connectors/catalogue/banks.tsv"
TARGET = Path(__file__).parents[1] / "src/kontor/analysis/data/partners/local_banks.txt"
# The group in the catalogue, how such banks are called, and the group and kind of the partner.
GROUPS = {
    "Sparkasse": ("sparkasse", "Sparkassen-Finanzgruppe", "Sparkasse"),
    "Volksbanken Raiffeisenbanken": ("bank", "Volksbanken Raiffeisenbanken", "Volksbank"),
}
COOPERATIVE = re.compile(r"Volksbank|Raiffeisenbank|VR[- ]Bank|Volks-", re.IGNORECASE)
# Former banks, numbers for machines and funds, and branches under a name of their own.
LEFT_OUT = re.compile(r"-alt|\(|\bGf\b|\bNdl\b|\bFil\b|\bZw\b|\bZNL\b|Zweigniederlassung|VRF", re.IGNORECASE)
# How cash machines write the kind of bank.
SHORT = {
    "Kreissparkasse ": ("KSK ",),
    "Stadtsparkasse ": ("SSK ",),
    "Sparkasse ": ("SPK ",),
    "Volksbank ": ("VB ",),
    "Raiffeisenbank ": ("RB ", "RAIBA "),
    "VR Bank ": ("VR-BK ",),
    "VR-Bank ": ("VR-BK ",),
}
# A name that is no longer names the kind alone.
MAX_KIND_LENGTH = len("raiffeisenbank")
LINKS = re.compile(r" (?:im|in|am|an der|an|zu) ")
HEADING = "# Savings banks and cooperative banks of the bank catalogue; written by scripts/build_local_banks.py.\n"


def list_banks(rows: Iterable[dict[str, str]]) -> Iterator[tuple[str, str]]:
    """Name and group of each bank once, without the other numbers that it has."""
    seen: set[str] = set()
    for row in rows:
        name = row["name"].removesuffix(" eG").strip()
        group = GROUPS.get(row["group"])
        if group is None or LEFT_OUT.search(name) or fold(name) in seen:
            continue
        if group[0] not in name.lower() or (group[0] == "bank" and not COOPERATIVE.search(name)):
            continue
        if len(fold(name)) <= MAX_KIND_LENGTH:
            continue
        seen.add(fold(name))
        yield name, row["group"]


def spell(name: str) -> list[str]:
    """Other spellings: abbreviations of machines, and without `im` or `in`."""
    spellings = [
        short + name[len(kind) :] for kind, shorts in SHORT.items() if name.startswith(kind) for short in shorts
    ]
    if LINKS.search(name):
        spellings.append(LINKS.sub(" ", name))
    return spellings


def write_file(rows: Iterable[dict[str, str]], taken: set[str]) -> str:
    """The lines of all banks that are not taken; a spelling that fits two banks is left out of the second."""
    banks = [(name, group) for name, group in sorted(list_banks(rows)) if fold(name) not in taken]
    used = taken | {fold(name) for name, _ in banks}
    lines = []
    for name, group in banks:
        aliases = [alias for alias in spell(name) if fold(alias) not in used]
        used.update(map(fold, aliases))
        _, title, kind = GROUPS[group]
        lines.append(f"{name} | {'; '.join(aliases)} | BANKFINANCE_OTHER | kinds={kind}; group={title}\n")
    return HEADING + "".join(lines)


def list_taken() -> set[str]:
    """Names of all partners that are not in the file itself."""
    own = {line.partition("|")[0].strip() for line in TARGET.read_text(encoding="utf-8").splitlines()}
    others = [partner for partner in read_partners() if partner.name not in own]
    others.extend(list_organisations(others))
    return {fold(name) for partner in others for name in partner.names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the file, write nothing")
    options = parser.parse_args()
    with SOURCE.open(encoding="utf-8") as source:
        text = write_file(csv.DictReader(source, delimiter="\t"), list_taken())
    if not options.check:
        TARGET.write_text(text, encoding="utf-8")
    elif text != TARGET.read_text(encoding="utf-8"):
        sys.exit(f"{TARGET.name} is out of date: run scripts/build_local_banks.py")


if __name__ == "__main__":
    main()
