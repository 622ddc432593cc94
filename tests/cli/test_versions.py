"""Versions come from git: a checkout says which commit it is at, and a build keeps the version of its commit."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from banking import wait_for
from kontor import __version__
from kontor.versions import UNKNOWN, find_version

ROOT = Path(__file__).parents[2]
CONFIG = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *CONFIG, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "next")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a build needs, in a repository of its own."""
    folder = tmp_path / "checkout"
    (folder / "src/kontor").mkdir(parents=True)
    (folder / "client/src/kontor_client").mkdir(parents=True)
    for name in (
        "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src/kontor/__init__.py", "src/kontor/versions.py",
        "client/pyproject.toml", "client/README.md", "client/LICENSE", "client/src/kontor_client/__init__.py",
    ):  # fmt: skip
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    commit(folder)
    return folder


def test_a_checkout_names_its_tag_and_then_each_commit(checkout):
    git(checkout, "tag", "v1.4.0")
    assert find_version(checkout) == "1.4.0"
    second, third = commit(checkout), commit(checkout)
    assert find_version(checkout) == f"1.4.0.post2+g{third[:9]}"
    git(checkout, "checkout", "--quiet", second)
    assert find_version(checkout) == f"1.4.0.post1+g{second[:9]}"


def test_a_shallow_clone_and_one_without_tags_name_the_commit(checkout, tmp_path):
    head = commit(checkout)
    assert find_version(checkout) == f"0.0+g{head[:9]}"
    git(tmp_path, "clone", "--quiet", "--depth", "1", checkout.as_uri(), "shallow")
    assert find_version(tmp_path / "shallow") == f"0.0+g{head[:9]}"


def test_without_git_the_version_of_the_installed_package_is_told(checkout, monkeypatch):
    installed = find_version(Path("/nowhere"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_version(checkout) == installed


def build(folder: Path, target: str, **environment: str) -> Path:
    out = Path(tempfile.mkdtemp(dir=folder.parent))
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return next(out.iterdir())


def read_wheel_version(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return re.search(r"^Version: (.+)$", archive.read(name).decode(), re.MULTILINE)[1]


@pytest.mark.long
def test_a_wheel_has_the_version_of_its_commit_also_when_built_from_an_sdist_or_told(checkout, tmp_path):
    git(checkout, "tag", "v1.4.0")
    commit(checkout)
    version = find_version(checkout)
    assert read_wheel_version(build(checkout, "wheel")) == version
    with tarfile.open(build(checkout, "sdist")) as archive:
        archive.extractall(tmp_path / "sdist", filter="data")
    unpacked = next((tmp_path / "sdist").iterdir())
    assert not (unpacked / ".git").exists()
    assert read_wheel_version(build(unpacked, "wheel")) == version
    shutil.rmtree(checkout / ".git")
    assert read_wheel_version(build(checkout, "wheel", SETUPTOOLS_SCM_PRETEND_VERSION=version)) == version
    assert read_wheel_version(build(checkout, "wheel", SETUPTOOLS_SCM_PRETEND_VERSION="")) == UNKNOWN


@pytest.mark.long
def test_the_client_has_the_version_of_the_service(checkout, tmp_path):
    git(checkout, "tag", "v1.4.0")
    commit(checkout)
    version = find_version(checkout)
    assert read_wheel_version(build(checkout / "client", "wheel")) == version
    with tarfile.open(build(checkout / "client", "sdist")) as archive:
        archive.extractall(tmp_path / "sdist", filter="data")
    assert read_wheel_version(build(next((tmp_path / "sdist").iterdir()), "wheel")) == version


@pytest.mark.long
def test_a_build_of_a_shallow_clone_without_tags_names_the_commit(checkout, tmp_path):
    head = commit(checkout)
    git(tmp_path, "clone", "--quiet", "--depth", "1", checkout.as_uri(), "shallow")
    assert f"+g{head[:7]}" in read_wheel_version(build(tmp_path / "shallow", "wheel"))


def test_health_metrics_and_openapi_tell_the_version(http):
    assert http.get("/health/live").json()["version"] == __version__
    assert http.get("/health/ready").json()["version"] == __version__
    assert f'kontor_build_info{{version="{__version__}"}} 1.0' in http.get("/metrics").text


def test_metrics_count_the_workers_of_each_version(bank_server, http, owner):
    owner.execute(
        "insert into workers (id, host, pid, version) values (gen_random_uuid(), 'elsewhere', 1, '1.2.3'),"
        " (gen_random_uuid(), 'elsewhere', 2, '1.2.3')"
    )
    try:
        wanted = 'kontor_worker_versions{version="1.2.3"} 2.0'  # counted anew after some seconds
        wait_for(
            lambda: http.get("/metrics").text, lambda text: wanted in text and f'{{version="{__version__}"}}' in text
        )
    finally:
        owner.execute("delete from workers where host = 'elsewhere'")
