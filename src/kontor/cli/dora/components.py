"""The software that Kontor runs on: packages as they are installed here, files of others, runtimes."""

import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import kontor

PACKAGE_FOLDER = Path(kontor.__file__).parent
# Files of others that Kontor carries itself: where they are, how their version stands in them, and their licence.
VENDORED = {
    "chart.js": ("console/static/chart.js", r"Chart\.js v([\d.]+)", "MIT"),
}


@dataclass(frozen=True, slots=True)
class Component:
    kind: Literal["package", "file", "runtime"]
    name: str
    version: str
    licence: str | None = None
    home: str | None = None


def list_components() -> list[Component]:
    """Without the database's server, which only the database knows."""
    python = Component("runtime", sys.implementation.name, platform.python_version())
    system = Component("runtime", platform.system(), platform.release())
    return [*list_packages(), *list_vendored(), python, system]


def list_packages(root: str = "kontor") -> list[Component]:
    """What the package requires, directly or not, with all of its extras that are installed. By name."""
    found = {name: _describe(name) for name in _find_required(root) if name != root}
    return [found[name] for name in sorted(found)]


def list_vendored() -> list[Component]:
    found = []
    for name, (path, pattern, licence) in VENDORED.items():
        match = re.search(pattern, (PACKAGE_FOLDER / path).read_text(encoding="utf-8"))
        if match is None:
            raise ValueError(f"{path} does not say which version of {name} it is")
        found.append(Component("file", name, match[1], licence))
    return found


def read_licence(name: str) -> str | None:
    """As the installed package states it."""
    try:
        facts = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if expression := _read(facts, "License-Expression"):
        return expression
    classifiers = [text.rpartition(" :: ")[2] for text in facts.get_all("Classifier", []) if text.startswith("License")]
    return " | ".join(classifiers) or _read(facts, "License").partition("\n")[0].strip() or None


def _find_required(root: str) -> set[str]:
    """Names of installed packages."""
    reached: dict[str, set[str]] = {}
    waiting = [(root, set(metadata.metadata(root).get_all("Provides-Extra", [])))]
    while waiting:
        name, extras = waiting.pop()
        key = canonicalize_name(name)
        if key in reached and extras <= reached[key]:
            continue
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # an extra that is not installed, or another system's
        reached.setdefault(key, set()).update(extras)
        requirements = [Requirement(text) for text in required]
        waiting += [
            (requirement.name, set(requirement.extras))
            for requirement in requirements
            if _applies(requirement, reached[key])
        ]
    return set(reached)


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, ""))


def _describe(name: str) -> Component:
    facts = metadata.metadata(name)
    home = _find_home(facts.get_all("Project-URL", [])) or _read(facts, "Home-page") or None
    return Component("package", name, facts["Version"], read_licence(name), home)


def _read(facts: metadata.PackageMetadata, name: str) -> str:
    return str((facts.get_all(name) or [""])[0])


def _find_home(addresses: list[str]) -> str | None:
    """The source or the home page, which a package may name in many ways."""
    named = {
        label.strip().lower(): address.strip() for label, _, address in (text.partition(",") for text in addresses)
    }
    for label in ("source", "source code", "repository", "github", "homepage", "home"):
        if label in named:
            return named[label]
    return next(iter(named.values()), None)
