"""The steps of the container file in a bare Debian, and what a linter says of it. No container engine is needed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from containerfiles import copied_files, read_containerfile
from fleets import DEPLOY

ROOT = DEPLOY.parent
PEERS = Path(sys.executable).parents[1] / "peers"
USER = "10001:10001"
SUITE = "bookworm"  # its Python is the one of the container file's image

pytestmark = [pytest.mark.peers, pytest.mark.timeout(2400)]  # it installs a Debian


def run(*command: object, **options: Any) -> str:
    parts = [str(part) for part in command]
    done = subprocess.run(parts, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{' '.join(parts)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def enter(root: Path, user: str, *command: object, folder: str = "/", **environment: str) -> str:
    """Run a command in a root, with processes, mounts and an environment of its own."""
    inside = ["chroot", f"--userspec={user}", ".", "env", "-C", folder, "-i"]
    inside += [f"{name}={value}" for name, value in environment.items()]
    script = 'mount -t proc proc proc && mount --rbind /dev dev && exec "$@"'
    return run("unshare", "-mpf", "sh", "-c", script, "sh", *inside, *command, cwd=root)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> Path:
    """All packages of the lock file: the root below has no network."""
    folder = tmp_path_factory.mktemp("wheels")
    run(
        sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-d", folder,
        "-r", ROOT / "requirements/run.lock",
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def image(tmp_path_factory, wheels) -> Path:
    """The second stage, with what the first has made."""
    if os.geteuid() != 0:
        pytest.fail("debootstrap needs root")
    bare = tmp_path_factory.mktemp("debian") / "root"
    run("debootstrap", "--variant=minbase", "--include=python3-venv", SUITE, bare)
    (bare / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    build = bare.with_name("build")
    run("cp", "-a", bare, build)
    shutil.copytree(wheels, build / "wheels")
    work = build / "build"
    first, second = read_containerfile()
    for source, target in copied_files(first):
        place = work / target / Path(source).name if target == "./" else work / target
        place.parent.mkdir(parents=True, exist_ok=True)
        run("cp", "-R", ROOT / source, place)
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "PREFIX": "/opt/kontor", "VERSION": "1.4.0", "HOME": "/root",
        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }  # fmt: skip
    for word, rest in first:
        if word == "RUN":
            enter(build, "0:0", "sh", "-euc", rest, folder="/build", **environment)
    for word, rest in second:
        if word == "COPY":
            *options, source, target = rest.split()
            run("cp", "-R", (build if "--from=build" in options else ROOT) / source.lstrip("/"), bare / target[1:])
    run("chown", USER, bare / "var/lib/kontor")
    return bare


def call(image: Path, *arguments: str) -> str:
    """As the image runs: its user, its environment, its entrypoint."""
    stage = read_containerfile()[1]
    environment = dict(pair.split("=", 1) for word, rest in stage if word == "ENV" for pair in rest.split())
    script = "/opt/kontor/bin/entrypoint.sh"
    return enter(image, dict(stage)["USER"], "sh", script, *arguments, folder="/tmp", **environment)


def test_the_image_runs_in_a_bare_debian_as_a_user_without_a_name(image):
    assert call(image, "--version").strip() == "1.4.0"
    assert json.loads(call(image, "openapi"))["openapi"].startswith("3.1")  # everything of the API can be imported


def test_the_image_analyses_a_statement(image):
    (image / "tmp/umsaetze.csv").write_text(
        "Bezeichnung Auftragskonto;IBAN Auftragskonto;BIC Auftragskonto;Bankname Auftragskonto;Buchungstag;Valutadatum;"
        "Name Zahlungsbeteiligter;IBAN Zahlungsbeteiligter;BIC (SWIFT-Code) Zahlungsbeteiligter;Buchungstext;"
        "Verwendungszweck;Betrag;Waehrung;Saldo nach Buchung\n"
        "Giro;DE02120300000000202051;;Bank;02.11.2026;02.11.2026;Wohnbau eG;;;Dauerauftrag;Miete;-840,00;EUR;1000,00\n"
    )
    printed = call(image, "analyse", "umsaetze.csv", "--today", "2026-11-18")
    assert "1 Umsatz vom 02.11.2026, betrachtet am 18.11.2026." in printed
    assert re.search("Wohnen +−840,00", printed)
    assert "Wohnen" in (image / "tmp/kontor-report.html").read_text()


def test_a_linter_has_nothing_to_say_about_the_container_file():
    folder = DEPLOY / "container"
    run(PEERS / "python/bin/hadolint", "--config", folder / ".hadolint.yaml", folder / "Containerfile")
