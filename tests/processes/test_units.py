"""The units' commands, run as systemd runs them: their user, their environment, their copy of the master key."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from fleets import DEPLOY

from kontor.bootstrap import load_master_key
from kontor.cli.installations import read_environment_file
from kontor.config import Settings
from kontor.storage.embedded_host import can_reach, choose_service_user
from process_tree import Running, find_port
from processes import beside

pytestmark = pytest.mark.long

ROOT = DEPLOY.parent
PACKAGES = f"{ROOT / 'src'}:{ROOT / 'client/src'}:{sysconfig.get_path('purelib')}"
USER = choose_service_user()
SCRIPT = "from kontor.cli import main; main()"


def find_interpreter() -> str:
    """One that the units' user can run: root's own may lie in a home that is closed."""
    for program in (Path(sys.executable), Path("/usr/bin/python3")):
        said = subprocess.run(
            [program, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True
        )
        if said.stdout.strip() == str(sys.version_info[:2]) and can_reach(program.resolve(), USER):
            return str(program)
    pytest.skip("there is no Python that the units' user can run")


@dataclass
class Host:
    """A machine with /etc/kontor, as the documentation sets it up."""

    etc: Path
    state: Path
    interpreter: str

    def environment(self, unit: str) -> dict[str, str]:
        """What systemd gives to a unit's process, and nothing else."""
        values = {"PATH": "/usr/bin:/bin", "PYTHONPATH": PACKAGES}
        for line in (DEPLOY / "systemd" / unit).read_text().splitlines():
            key, _, value = line.partition("=")
            if key == "Environment":
                values |= dict(part.split("=", 1) for part in shlex.split(value))
            elif key == "EnvironmentFile":
                values |= read_environment_file(self.etc / Path(value).name)
            elif key == "LoadCredential":
                shutil.copy(self.etc / "master.key", self.state / "master-key")
                os.chown(self.state / "master-key", USER.uid, USER.gid)
        values["KONTOR_DATA"] = str(self.state)
        return {name: value.replace("%d", str(self.state)) for name, value in values.items()}

    def command(self, unit: str, **values: str) -> list[str]:
        line = next(
            line.removeprefix("ExecStart=")
            for line in (DEPLOY / "systemd" / unit).read_text().splitlines()
            if line.startswith("ExecStart=")
        )
        for name, value in values.items():
            line = line.replace(f"${{{name}}}", value)
        return [self.interpreter, "-P", "-c", SCRIPT, *shlex.split(line)[1:]]

    def run(self, command: list[str], environment: dict[str, str], **identity: int) -> str:
        done = subprocess.run(
            command, env=environment, cwd="/", capture_output=True, text=True, check=False, umask=0o077, **identity
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def host(settings: Settings) -> Iterator[Host]:
    with beside(settings) as own:
        place = Path(tempfile.mkdtemp(prefix="kontor-units-"))
        place.chmod(0o755)
        etc, state = place / "etc", place / "state"
        etc.mkdir(mode=0o750)
        state.mkdir(mode=0o700)
        os.chown(etc, os.geteuid(), USER.gid)
        os.chown(state, USER.uid, USER.gid)
        write(etc / "kontor.env", KONTOR_BASE_URL=own.base_url, KONTOR_DATABASE_URL=own.database_url.reveal())
        write(etc / "migrate.env", KONTOR_MIGRATION_DATABASE_URL=own.migration_database_url.reveal())
        load_master_key(own)  # made at first use
        shutil.copy(own.data / "master.key", etc / "master.key")
        (etc / "master.key").chmod(0o600)
        try:
            yield Host(etc, state, find_interpreter())
        finally:
            shutil.rmtree(place)


def write(file: Path, **values: str) -> None:
    file.write_text("".join(f'{name}="{value}"\n' for name, value in values.items()))
    file.chmod(0o600)


def test_units_migrate_and_serve_and_a_command_of_root_reaches_their_database(host, tmp_path):
    identity = {"user": USER.uid, "group": USER.gid, "extra_groups": []} if USER.is_other else {}
    migrated = host.run(host.command("kontor-migrate.service"), host.environment("kontor-migrate.service"), **identity)
    assert "The database is up to date." in migrated
    port = str(find_port())
    command = host.command("kontor-api.service", API_HOST="127.0.0.1", API_PORT=port, API_PROCESSES="1")
    small = {"KONTOR_COMPUTE_PROCESSES": "1", "KONTOR_COMPUTE_PRELOAD": "false"}
    with (tmp_path / "api.log").open("wb") as log:
        server = subprocess.Popen(
            command, env=host.environment("kontor-api.service") | small, cwd="/", umask=0o077, stdout=log, stderr=log,
            start_new_session=True, **identity,
        )  # fmt: skip
    try:
        watched = Running.__new__(Running)
        watched.process, watched.output = server, tmp_path / "api.log"
        watched.wait_until_ready(f"http://127.0.0.1:{port}")
        prompt = {"PATH": "/usr/bin:/bin", "KONTOR_ENVIRONMENT": str(host.etc / "kontor.env")}
        prompt["PYTHONPATH"] = PACKAGES
        prompt["KONTOR_DATA"] = str(host.state)
        kontor = [sys.executable, "-P", "-c", SCRIPT]
        host.run([*kontor, "tenant", "create", "acme", "--regulated"], prompt)
        assert httpx.get(f"http://127.0.0.1:{port}/auth/mgmt/v1/tenants/acme/certificate").status_code == 200
        assert not (host.state / "postgres.json").exists(), "a database of its own"
        checked = host.run([*kontor, "check"], prompt)
        assert "Problems: 0, warnings: 1." in checked
    finally:
        server.terminate()
        assert server.wait(60) == 0, (tmp_path / "api.log").read_text()


def test_the_units_user_can_be_made_by_systemd(tmp_path):
    if shutil.which("systemd-sysusers") is None:
        pytest.skip("systemd-sysusers is not installed (package systemd)")
    (tmp_path / "etc").mkdir()
    subprocess.run(
        ["systemd-sysusers", f"--root={tmp_path}", DEPLOY / "systemd/sysusers-kontor.conf"],
        check=True,
        capture_output=True,
    )
    assert "kontor:" in (tmp_path / "etc/passwd").read_text()
    assert "kontor:" in (tmp_path / "etc/group").read_text()
