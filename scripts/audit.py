"""Audits what Kontor depends on: a list of components (CycloneDX), their licences, their known vulnerabilities.

python scripts/audit.py [--lock requirements/run.lock] [--output dist/sbom.cdx.json] [--index ADDRESS]

Licences are read from the installed packages. Vulnerabilities are those that the index reports for a version: the same
advisories that pip-audit asks for, which needs an address for each version that some mirrors lack. Whatever cannot be
found out fails the audit.
"""

import argparse
import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.markers import Marker

from kontor.cli.dora import components

ROOT = Path(__file__).parents[1]
INDEX = "https://pypi.org/pypi"
ENTRY = re.compile(
    r"^([\w.-]+)==([^\s;]+)(?: ; (.*?))? \\$((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+)", re.MULTILINE
)
ALLOWED = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Mozilla|MPL|LGPL|Lesser General|Unlicense|CC0")
# Why a licence that is not among the allowed ones may be used.
EXCEPTIONS = {"text-unidecode": "offered under the Artistic License as well"}


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    hashes: tuple[str, ...] = ()
    licence: str | None = None
    is_for_here: bool = True

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"


class UnreachableError(Exception):
    """Nobody answers at the index."""


def read_lock(lock: Path) -> list[Package]:
    text = lock.read_text(encoding="utf-8")
    found = []
    for name, version, marker, hashes in ENTRY.findall(text):
        is_for_here = not marker or Marker(marker).evaluate()
        licence = components.read_licence(name) if is_for_here else None
        found.append(Package(name, version, tuple(re.findall(r"[0-9a-f]{64}", hashes)), licence, is_for_here))
    if len(found) != len(re.findall(r"^[\w.-]+==", text, re.MULTILINE)):
        raise SystemExit(f"{lock} has lines that cannot be read.")
    return found


def list_vendored() -> list[Package]:
    return [Package(package.name, package.version, (), package.licence) for package in components.list_vendored()]


def make_bom(packages: Sequence[Package], vendored: Sequence[Package], at: datetime) -> dict[str, Any]:
    components = [_describe(package, "pypi") for package in packages]
    components += [_describe(package, "npm") for package in vendored]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": at.isoformat(timespec="seconds"),
            "component": {"type": "application", "name": "kontor", "bom-ref": "kontor", "version": _own_version()},
        },
        "components": components,
        "dependencies": [{"ref": "kontor", "dependsOn": [component["bom-ref"] for component in components]}],
    }


def _describe(package: Package, kind: str) -> dict[str, Any]:
    address = f"pkg:{kind}/{package.name}@{package.version}"
    described: dict[str, Any] = {
        "type": "library",
        "bom-ref": address,
        "name": package.name,
        "version": package.version,
        "purl": address,
    }
    if package.licence:
        described["licenses"] = [{"license": {"name": package.licence}}]
    if package.hashes:
        described["properties"] = [{"name": "kontor:sha256", "value": value} for value in package.hashes]
    return described


def _own_version() -> str:
    from kontor import __version__

    return __version__


def check_licences(packages: Sequence[Package]) -> list[str]:
    problems = []
    for package in packages:
        if not package.is_for_here or package.name in EXCEPTIONS:
            continue
        if package.licence is None:
            problems.append(f"{package.label}: no licence is known; is it installed?")
        elif not ALLOWED.search(package.licence):
            problems.append(f"{package.label}: {package.licence}")
    return problems


def check_vulnerabilities(packages: Sequence[Package], index: str) -> list[str]:
    problems = []
    for package in packages:
        reported = ask_index(package, index)
        if reported is None:
            problems.append(f"{package.label}: the index tells nothing about this version")
            continue
        for advisory in reported:
            if not advisory.get("withdrawn"):
                fixed = ", ".join(advisory.get("fixed_in") or []) or "none"
                problems.append(f"{package.label}: {advisory['id']}, fixed in: {fixed}")
    return problems


def ask_index(package: Package, index: str) -> list[dict[str, Any]] | None:
    """Advisories of this version; None if the index knows another version only, or does not say."""
    for path in (f"{package.name}/{package.version}", package.name):
        try:
            with urllib.request.urlopen(f"{index}/{path}/json", timeout=30) as answer:
                told = json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                continue
            raise UnreachableError(f"{index} answers {error.code}") from None
        except (OSError, ValueError) as error:
            raise UnreachableError(f"{index}: {error}") from None
        if told.get("info", {}).get("version") == package.version and isinstance(told.get("vulnerabilities"), list):
            return list(told["vulnerabilities"])
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Components, licences and known vulnerabilities of dependencies.")
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements/run.lock")
    parser.add_argument("--output", type=Path, default=ROOT / "dist/sbom.cdx.json")
    parser.add_argument("--index", default=INDEX)
    options = parser.parse_args(arguments)
    packages, vendored = read_lock(options.lock), list_vendored()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    bom = make_bom(packages, vendored, datetime.now(UTC))
    options.output.write_text(json.dumps(bom, indent=2) + "\n", encoding="utf-8")
    print(f"Components: {len(packages)} packages and {len(vendored)} vendored libraries, in {options.output}.")
    problems = check_licences([*packages, *vendored])
    print(f"Licences: {len(problems)} problems.", *problems, sep="\n  ")
    try:
        found = check_vulnerabilities(packages, options.index)
    except UnreachableError as error:
        print(f"Vulnerabilities: NOT CHECKED, the index cannot be asked. {error}")
        return 1
    print(f"Vulnerabilities: {len(found)} problems.", *found, sep="\n  ")
    return 1 if problems or found else 0


if __name__ == "__main__":
    sys.exit(main())
