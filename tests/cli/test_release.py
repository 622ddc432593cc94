"""A release: complete, named by its tag, and the same bytes wherever it is built."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from guide_code import Guide

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.long
IDENTITY = {f"GIT_{who}_{what}": "t@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
VERSION = "1.4.0"


def git(folder: Path, *arguments: str, **environment: str) -> str:
    command = ["git", "-C", folder, *arguments]
    done = subprocess.run(command, env=os.environ | IDENTITY | environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def release(folder: Path, *arguments: str, umask: int = 0o022) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, folder / "scripts/release.py", *arguments]
    return subprocess.run(command, cwd=folder, umask=umask, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """What would be committed now, in a repository of its own."""
    folder = tmp_path_factory.mktemp("release") / "checkout"
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "all")
    return folder


@pytest.fixture(scope="module")
def released(checkout) -> Path:
    """Prepared, committed, tagged and built, as docs/releasing.md describes it."""
    *commands, publish = Guide("releasing.md").list_commands()
    assert publish[:2] == ["git", "push"], "the only command that is not run"
    for words in commands:
        if words[0] == "git":
            git(checkout, *words[1:], GIT_COMMITTER_DATE="2026-11-18T12:00:00Z")
        else:
            assert words[0] == "release"
            done = release(checkout, *words[1:])
            assert done.returncode == 0, done.stderr
    named = {file for pattern in publish if pattern.startswith("dist/") for file in checkout.glob(pattern)}
    assert len(named) == 4, "what would be published: both packages, each as wheel and source archive"
    return checkout / "dist"


def test_what_cannot_be_a_release_is_refused_with_the_reason(checkout):
    refused = release(checkout, "build")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "has no tag such as v1.4.0" in refused.stderr
    assert "is no version such as 1.4.0" in release(checkout, "prepare", "v1").stderr
    (checkout / "left").write_text("behind")
    assert "are not committed" in release(checkout, "build").stderr
    (checkout / "left").unlink()
    git(checkout, "tag", "v9.9.9")
    assert "CHANGELOG.md has no section 9.9.9" in release(checkout, "build").stderr
    git(checkout, "tag", "-d", "v9.9.9")


def test_a_release_has_both_packages_components_notes_and_sums(released):
    names = {file.name for file in released.iterdir()}
    packages = {
        f"{name}-{VERSION}{ending}"
        for name in ("kontor", "kontor_client")
        for ending in ("-py3-none-any.whl", ".tar.gz")
    }
    assert names == packages | {f"kontor-{VERSION}.cdx.json", f"kontor-{VERSION}.md", "SHA256SUMS"}
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=released, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    bom = json.loads((released / f"kontor-{VERSION}.cdx.json").read_text())
    assert bom["metadata"]["component"]["version"] == VERSION
    assert {"litestar", "psycopg", "chart.js"} <= {component["name"] for component in bom["components"]}
    changelog = (released.parent / "CHANGELOG.md").read_text()
    assert changelog.index("## Unreleased\n\n## 1.4.0 - 2") < changelog.index("### Security")
    assert "Nothing is released yet." not in changelog
    assert (released / f"kontor-{VERSION}.md").read_text().startswith("### Security")


def test_the_packages_hold_what_runs_and_nothing_else(released):
    with zipfile.ZipFile(released / f"kontor-{VERSION}-py3-none-any.whl") as wheel:
        tops = {name.split("/")[0] for name in wheel.namelist()}
        assert tops == {"kontor", f"kontor-{VERSION}.dist-info"}
        assert "kontor/py.typed" in wheel.namelist()
        metadata = wheel.read(f"kontor-{VERSION}.dist-info/METADATA").decode()
    assert "Provides-Extra: files" in metadata
    assert "Requires-Dist: kontor-client; extra == 'server'" in metadata
    with tarfile.open(released / f"kontor-{VERSION}.tar.gz") as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert tops <= {
        "src",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "PKG-INFO",
        "hatch_build.py",
        "pyproject.toml",
        ".gitignore",
    }


def test_the_same_commit_gives_the_same_bytes_elsewhere(released, tmp_path):
    git(tmp_path, "clone", "--quiet", released.parent.as_uri(), "another place")
    built = release(tmp_path / "another place", "build", umask=0o077)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "another place/dist/SHA256SUMS").read_text() == (released / "SHA256SUMS").read_text()


@pytest.mark.parametrize("package", ["kontor", "kontor_client"])
def test_a_wheel_made_from_the_source_archive_is_the_same(released, package, tmp_path):
    with tarfile.open(released / f"{package}-{VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    environment = os.environ | {"SOURCE_DATE_EPOCH": git(released.parent, "log", "-1", "--format=%ct")}
    source = tmp_path / f"{package}-{VERSION}"
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
    name = f"{package}-{VERSION}-py3-none-any.whl"
    assert (tmp_path / "dist" / name).read_bytes() == (released / name).read_bytes()
