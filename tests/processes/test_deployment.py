"""The units, the image and the compose file, as far as can be told without the engines that run them."""

import base64
import configparser
import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import psycopg
import pytest
import yaml
from containerfiles import copied_files, read_containerfile
from fleets import DEPLOY

from kontor.cli.commands import make_app
from kontor.config import PREFIX, describe_settings, export_settings

pytestmark = pytest.mark.long

ROOT = DEPLOY.parent
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
SETTINGS = {name for name, _, _ in describe_settings()}
IMAGE = re.compile(r"[a-z][a-z0-9_-]*(:[0-9][0-9a-z.-]*)?")  # no host, no path, no `latest`

each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)


def assert_is_a_command(arguments):
    """Does the command line understand them?"""
    make_app().parse_args(arguments, exit_on_error=False, print_error=False)


# systemd


class Unit(dict):
    def __init__(self, file):
        super().__init__()
        for line in file.read_text().splitlines():
            if "=" in line and not line.startswith(("#", "[")):
                key, _, value = line.partition("=")
                self.setdefault(key, []).append(value)


@pytest.fixture(scope="module")
def installed_units(tmp_path_factory):
    """As installed, only that the program is where it is here."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (package systemd)")
    folder = tmp_path_factory.mktemp("units")
    program = f'"{Path(sysconfig.get_path("scripts")) / "kontor"}"'  # a path may have blanks
    for file in (DEPLOY / "systemd").glob("*.[st]*"):
        name = file.name.replace("@", "@1")
        (folder / name).write_text(file.read_text().replace("/opt/kontor/bin/kontor", program))
    return folder


def test_systemd_finds_no_fault_with_the_units(installed_units):
    files = [str(file) for file in sorted(installed_units.iterdir())]
    result = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    about_ours = [line for line in result.stderr.splitlines() if "kontor" in line]
    assert about_ours == []


@each_unit
def test_systemd_calls_the_units_well_protected(installed_units, unit):
    file = installed_units / unit.name.replace("@", "@1")
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout


def expand_filter(name):
    """The system calls of one of systemd's sets, which may name further sets."""
    shown = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
    lines = [line.strip() for line in shown.stdout.splitlines()[1:]]
    calls = {line for line in lines if line and not line.startswith(("#", "@"))}
    return calls.union(*(expand_filter(line) for line in lines if line.startswith("@")))


@pytest.mark.parametrize("name", ["kontor-api.service", "kontor-worker@.service"])
def test_units_allow_the_system_calls_of_compute_processes(installed_units, name):
    allowed = set()
    for value in Unit(DEPLOY / "systemd" / name)["SystemCallFilter"]:
        words = value.removeprefix("~").split()
        calls = set().union(*(expand_filter(word) if word.startswith("@") else {word} for word in words))
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    assert {"setpriority", "prlimit64", "clone3", "kill"} <= allowed  # nice, limits, children, deadlines
    assert not {"mount", "ptrace", "bpf"} & allowed


@each_unit
def test_units_run_kontor_without_rights_and_with_known_settings(unit):
    configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=False).read_string(unit.read_text())
    parts = Unit(unit)
    program, *arguments = shlex.split(parts["ExecStart"][0])
    assert program == "/opt/kontor/bin/kontor"
    assert_is_a_command(
        [re.sub(r"\$\{API_HOST\}", "::", re.sub(r"\$\{API_\w+\}$", "1", argument)) for argument in arguments]
    )
    wanted = {
        "DynamicUser": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "NoNewPrivileges": "yes",
        "PrivateTmp": "yes", "CapabilityBoundingSet": "", "UMask": "0077",
    }  # fmt: skip
    assert {key: parts[key][0] for key in wanted} == wanted
    for name in re.findall(rf"\b({PREFIX}\w+)=", unit.read_text()):
        assert name in SETTINGS
    if unit.name != "kontor-migrate.service":
        assert "migrate.env" not in unit.read_text()
        assert parts["Restart"] == ["always"]
        assert int(parts["TimeoutStopSec"][0]) > 40  # the program's own grace is shorter


@pytest.mark.parametrize("name", ["kontor.env", "migrate.env"])
def test_sample_environments_have_known_settings_and_addresses_that_can_be_read(name):
    lines = [line for line in (DEPLOY / "systemd" / name).read_text().splitlines() if line and not line.startswith("#")]
    values = dict(line.split("=", 1) for line in lines)
    assert {variable for variable in values if not variable.startswith("API_")} <= SETTINGS
    for key, value in values.items():
        if key.endswith("DATABASE_URL"):
            parts = psycopg.conninfo.conninfo_to_dict(value.strip('"'))
            assert len(parts["host"].split(",")) == 2
            assert parts["target_session_attrs"] == "read-write"
    assert ("KONTOR_MIGRATION_DATABASE_URL" in values) is (name == "migrate.env")
    assert "KONTOR_MASTER_KEY" not in values


# The image


def test_the_image_is_built_from_plain_images_and_runs_without_rights():
    stages = read_containerfile()
    for stage in stages:
        image = dict(stage)["FROM"].split()[0]
        assert IMAGE.fullmatch(image)
        assert ":" in image
        assert not {"ADD", "VOLUME", "ONBUILD", "MAINTAINER"} & {word for word, _ in stage}
    assert len({dict(stage)["FROM"].split()[0] for stage in stages}) == 1  # else the copied Python would not fit
    runs = [rest for stage in stages for word, rest in stage if word == "RUN"]
    assert not [run for run in runs if re.search(r"\bcurl\b|\bwget\b|\bsudo\b|\bapt(-get)?\b|://|--index", run)]
    installs = [run for run in runs if "pip install" in run]
    assert all(
        "--no-deps" in install and ("--require-hashes" in install or install.endswith(" . ./client"))
        for install in installs
    )
    last = dict(stages[-1])
    assert "RUN" not in last
    user, group = last["USER"].split(":")
    assert int(user) > 0
    assert int(group) > 0
    for word in ("ENTRYPOINT", "CMD"):
        assert last[word].startswith('["'), "else a shell stands between us and the signals"
    assert_is_a_command(yaml.safe_load(last["CMD"]))


def test_every_file_the_image_takes_is_there_and_not_ignored():
    ignored = (DEPLOY / "container/Containerfile.dockerignore").read_text().split("\n")
    kept = [line[1:] for line in ignored if line.startswith("!")]
    assert "*" in ignored
    sources = {source for stage in read_containerfile() for source, _ in copied_files(stage)}
    for source in sources:
        assert (ROOT / source).exists()
        assert any(fnmatch.fnmatch(source, pattern) for pattern in kept)
    assert set(kept) == sources


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """What the build stage makes, in an empty folder. Packages are borrowed from here: they are the lock file's."""
    folder = Path(tmp_path_factory.mktemp("image"))
    work, prefix = folder / "build", folder / "opt"
    work.mkdir()
    environment = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "PREFIX": str(prefix), "LC_ALL": "C",
        "PYTHONPATH": sysconfig.get_path("purelib"), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "VERSION": "1.4.0",
    }  # fmt: skip
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(Path(sys.base_prefix) / "bin/python3")
    build = read_containerfile()[0]
    for word, rest in build:
        if word == "COPY":
            *sources, target = rest.split()
            for source in sources:
                place = work / target / Path(source).name if target == "./" else work / target
                place.parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / source, place)
        elif word == "RUN":
            result = subprocess.run(
                ["sh", "-euc", rest], cwd=work, env=environment, capture_output=True, text=True, check=False
            )
            assert result.returncode == 0, f"{rest}\n{result.stdout}\n{result.stderr}"
    return prefix


def enter(image, settings, folder, *arguments):
    """As the container does it: settings that are secret lie in files."""
    environment = {"PATH": f"{image / 'bin'}:/usr/bin:/bin", "PYTHONPATH": sysconfig.get_path("purelib")}
    for name, value in export_settings(settings).items():
        file = folder / name.lower()
        file.write_text(value + "\n")
        environment[f"{name}_FILE"] = str(file)
    script = ["sh", DEPLOY / "container/entrypoint.sh", *arguments]
    return subprocess.run(script, env=environment, cwd=folder, capture_output=True, text=True, check=False)


def test_the_commands_of_the_image_make_a_kontor_that_works_by_itself(image, settings, tmp_path):
    installed = image / "bin/kontor"
    assert installed.exists()
    where = [image / "bin/python", "-c", "import kontor, pathlib; print(pathlib.Path(kontor.__file__).parent)"]
    bare = {"PATH": os.environ["PATH"]}
    found = subprocess.run(where, cwd=tmp_path, env=bare, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(found).is_relative_to(image)
    theirs = {path.relative_to(found) for path in Path(found).rglob("*") if path.is_file() and path.suffix != ".pyc"}
    ours = {path.relative_to(ROOT / "src/kontor") for path in (ROOT / "src/kontor").rglob("*") if path.is_file()}
    assert {path for path in ours if path.suffix != ".pyc"} - theirs == set()
    version = [image / "bin/python", "-c", "import kontor; print(kontor.__version__)"]
    assert subprocess.run(version, cwd=tmp_path, env=bare, capture_output=True, text=True).stdout.strip() == "1.4.0"
    ran = enter(image, settings, tmp_path, "migrate")
    assert (ran.returncode, ran.stderr.strip()) == (0, "The database is up to date.")


def test_a_secret_that_cannot_be_read_stops_the_container_with_a_word(image, tmp_path):
    environment = {"PATH": f"{image / 'bin'}:/usr/bin:/bin", "KONTOR_DATABASE_URL_FILE": str(tmp_path / "nothing")}
    script = ["sh", DEPLOY / "container/entrypoint.sh", "migrate"]
    refused = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "(KONTOR_DATABASE_URL_FILE) cannot be read" in refused.stderr


# Compose


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())


SERVICE_KEYS = {
    "build", "cap_drop", "command", "depends_on", "deploy", "environment", "healthcheck", "image", "logging", "ports",
    "read_only", "restart", "secrets", "security_opt", "shm_size", "stop_grace_period", "tmpfs", "volumes",
}  # fmt: skip


def test_compose_knows_every_word_and_every_name(compose):
    assert {key for key in compose if not key.startswith("x-")} == {"name", "services", "secrets", "volumes"}
    used = set()
    for name, service in compose["services"].items():
        assert set(service) <= SERVICE_KEYS, name
        assert IMAGE.fullmatch(service["image"])
        used |= set(service.get("secrets", []))
        for other, facts in service.get("depends_on", {}).items():
            needed = compose["services"][other]
            if facts["condition"] == "service_healthy":
                assert "healthcheck" in needed
            else:
                assert facts["condition"] == "service_completed_successfully"
                assert needed["restart"] == "no"
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (DEPLOY / "compose" / source).exists()
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), "what terminates TLS decides who else gets in"
    assert used == set(compose["secrets"])
    build = compose["services"]["migrate"]["build"]
    context = (DEPLOY / "compose" / build["context"]).resolve()
    assert (context / build["dockerfile"]).resolve() == DEPLOY / "container/Containerfile"


@pytest.mark.parametrize("name", ["migrate", "api", "worker"])
def test_services_of_kontor_are_given_what_they_need_and_no_more(compose, name):
    service = compose["services"][name]
    assert_is_a_command(service["command"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    for variable, value in service["environment"].items():
        assert variable.removesuffix("_FILE") in SETTINGS
        for secret in re.findall(r"/run/secrets/(\w+)", value):
            assert secret in service["secrets"] or (name, secret) == ("migrate", "master_key")
    assert ("migration_database_url" in service["secrets"]) is (name == "migrate")
    assert int(service["stop_grace_period"].removesuffix("s")) > 40


def test_secrets_are_made_once_and_fit_together(compose, tmp_path):
    make = ["sh", DEPLOY / "compose/make-secrets.sh", tmp_path]
    subprocess.run(make, check=True)
    folder = tmp_path / "secrets"
    assert {file.name for file in folder.iterdir()} == {
        Path(secret["file"]).name for secret in compose["secrets"].values()
    }
    assert folder.stat().st_mode & 0o777 == 0o700
    values = {file.name: file.read_text() for file in folder.iterdir()}
    assert len(set(values.values())) == len(values)
    assert len(base64.b64decode(values["master_key"].strip(), validate=True)) == 32
    for url, password, role in (
        ("database_url", "app_password", "kontor"), ("migration_database_url", "owner_password", "kontor_owner"),
    ):  # fmt: skip
        parts = psycopg.conninfo.conninfo_to_dict(values[url])
        assert (parts["user"], parts["password"]) == (role, values[password])
        assert parts["host"] in compose["services"]
    again = subprocess.run(make, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert {file.name: file.read_text() for file in folder.iterdir()} == values


def test_the_health_check_of_the_api_tells_ready_from_not(compose, fleet):
    _, program, option, code = compose["services"]["api"]["healthcheck"]["test"]
    assert (program, option) == ("python", "-c")
    port = next(iter(fleet.servers)).rpartition(":")[2]
    for number, expected in ((port, True), ("1", False)):
        ran = subprocess.run([sys.executable, "-c", code.replace("8080", number)], capture_output=True, check=False)
        assert (ran.returncode == 0) is expected
