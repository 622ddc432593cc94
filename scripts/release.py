"""Prepares and builds a release; docs/releasing.md describes the steps. Publishes nothing.

./dev release prepare 1.4.0    moves the changelog's unreleased part below a heading of that version
./dev release build            writes packages, list of components, notes and check sums into dist

The same commit gives the same bytes: all times in the files are that of the commit.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from audit import list_vendored, make_bom, read_lock

from kontor.versions import find_version

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
UNRELEASED = "## Unreleased\n"
NOT_YET = "Nothing is released yet."


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Prepare and build a release.")
    steps = parser.add_subparsers(dest="step", required=True)
    prepare = steps.add_parser("prepare", help="give the changelog's unreleased part a version")
    prepare.add_argument("version")
    build = steps.add_parser("build", help="build the tagged commit into dist")
    build.add_argument("--snapshot", action="store_true", help="also a commit without a tag; not for publishing")
    options = parser.parse_args(arguments)
    if options.step == "prepare":
        prepare_changelog(ROOT / "CHANGELOG.md", options.version, datetime.now(UTC).date().isoformat())
        print(f"CHANGELOG.md has a section {options.version}. Commit it, then: git tag -a v{options.version}")
    else:
        build_release(ROOT, is_snapshot=options.snapshot)
    return 0


def prepare_changelog(file: Path, version: str, day: str) -> None:
    if not VERSION.fullmatch(version):
        raise SystemExit(f"{version} is no version such as 1.4.0.")
    text = file.read_text(encoding="utf-8")
    if f"\n## {version} " in text:
        raise SystemExit(f"CHANGELOG.md already has a section {version}.")
    if not find_section(text, "Unreleased"):
        raise SystemExit("CHANGELOG.md has nothing unreleased.")
    text = text.replace(f" {NOT_YET}", "")
    file.write_text(text.replace(UNRELEASED, f"{UNRELEASED}\n## {version} - {day}\n", 1), encoding="utf-8")


def find_section(changelog: str, version: str) -> str:
    """What the changelog says of a version, without its heading."""
    match = re.search(rf"^## {re.escape(version)}(?: - [^\n]*)?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


def build_release(root: Path, *, is_snapshot: bool) -> None:
    if changed := ask_git(root, "status", "--porcelain"):
        raise SystemExit(f"These changes are not committed, and would not be in the release:\n{changed}")
    version = find_version(root)
    notes = find_section((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    if not is_snapshot and not VERSION.fullmatch(version):
        raise SystemExit(f"The commit has no tag such as v1.4.0; its version is {version}.")
    if not is_snapshot and not notes:
        raise SystemExit(f"CHANGELOG.md has no section {version}: prepare the release first.")
    committed_at = int(ask_git(root, "log", "-1", "--format=%ct"))
    dist = root / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    for folder in (root, root / "client"):
        build_packages(folder, dist, committed_at)
    bom = make_bom(
        read_lock(root / "requirements/run.lock"), list_vendored(), datetime.fromtimestamp(committed_at, UTC)
    )
    bom["metadata"]["component"]["version"] = version
    (dist / f"kontor-{version}.cdx.json").write_text(json.dumps(bom, indent=2) + "\n", encoding="utf-8")
    (dist / f"kontor-{version}.md").write_text((notes or "A snapshot.") + "\n", encoding="utf-8")
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(dist.iterdir())]
    (dist / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    print("".join(sums), end="")


def build_packages(folder: Path, dist: Path, committed_at: int) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(dist)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(committed_at)}
    environment.pop("KONTOR_COMPILE", None)  # compiled code differs from machine to machine
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)


def ask_git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
