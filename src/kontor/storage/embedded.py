"""The embedded PostgreSQL: started from the binaries of a wheel, stopped by whoever uses it last.

The binaries are run directly and not through the wheel's own launcher, which, run as root, opens every parent folder
to the world. Several commands may use one data folder at once: each holds a shared lock while it does, and a server
is stopped by the one that ends last. Locks go with their process, so that `kill -9` leaves nothing to clean up.
"""

import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kontor.domain.secrets import Secret
from kontor.storage.embedded_host import (
    ROOT_HOME,
    EmbeddedError,
    choose_home,
    choose_service_user,
    choose_socket_folder,
    find_binaries,
    make_open_folder,
    make_private_folder,
)

FACTS_FILE = "postgres.json"
OWNER, APP, DATABASE = "kontor_owner", "kontor", "kontor"
START_SECONDS = 60
STOP_SECONDS = 60
LAUNCHES = 5  # after a crash, what is left of the old server may need a moment to go

# The roles' passwords are random, 192 bits each: nobody can guess them, however fast a guess is. Each further iteration
# would only slow down connecting; PostgreSQL's default of 4096 takes 6 ms of processor time per connection.
SCRAM_ITERATIONS = "1"
SERVER_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "120",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "scram_iterations": SCRAM_ITERATIONS,
}


@dataclass(frozen=True, slots=True)
class Addresses:
    """How to connect: as the owner (migrations) and as the application."""

    owner: Secret
    app: Secret


class EmbeddedPostgres:
    """One cluster that belongs to one data folder."""

    def __init__(self, data: Path, *, is_restored: bool = False) -> None:
        """`is_restored`: a backup is about to be restored, so the master key is there before the database."""
        self.data = data.resolve()
        self._is_restored = is_restored
        self.data.mkdir(parents=True, exist_ok=True)
        self.user = choose_service_user()
        facts = self._read_facts()
        self.home = choose_home(self.data, self.user) if facts is None else self._find_home(facts)
        self.sockets = choose_socket_folder(self.data, self.user)
        self._process: subprocess.Popen[bytes] | None = None
        self._use: int | None = None

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    # Life

    def start(self) -> Addresses:
        """Start the server, or take over one that runs: another command's, or one that a crash left behind."""
        with self._alone():
            self._begin_use()
            try:
                return self._start()
            except BaseException:
                self._end_use()
                raise

    def stop(self) -> None:
        """Fast shutdown, unless somebody else still uses the server. Everything committed is on disk."""
        with self._alone():
            if self._end_use():
                self._shut_down()

    def is_running(self) -> bool:
        return self._running_pid() is not None

    # Who uses it

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Starting and stopping happen one after the other, across processes."""
        with self._open_lock("postgres.lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _open_lock(self, name: str) -> Iterator[int]:
        file = os.open(self.data / name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield file
        finally:
            os.close(file)

    def _begin_use(self) -> None:
        if self._use is None:
            self._use = os.open(self.data / "postgres.users", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._use, fcntl.LOCK_SH)

    def _end_use(self) -> bool:
        """Was this the last use?"""
        file, self._use = self._use, None
        if file is None:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(file)
        return True

    # Start

    def _start(self) -> Addresses:
        passwords = self._read_facts() or self._make_facts()
        self.home = self._find_home(passwords)
        self._make_folders()
        if not self.cluster.exists():
            self._make_cluster(passwords["owner"])
        for last in (False, False, False, True):
            self._reach_ready()
            addresses = self._addresses(passwords)
            try:
                self._make_database(addresses.owner, passwords["app"])
                break
            except psycopg.OperationalError:  # it was there, but is just going down: look again
                if last:
                    raise
                time.sleep(0.2)
        return addresses

    def _make_folders(self) -> None:
        if self.home.is_relative_to(ROOT_HOME / "clusters"):
            make_open_folder(self.home.parent)
        for folder in (self.home, self.sockets):
            make_private_folder(folder, self.user)

    def _read_facts(self) -> dict[str, str] | None:
        """What `postgres.json` keeps: the roles' passwords, and where the cluster is."""
        path = self.data / FACTS_FILE
        try:
            facts: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
            return {"owner": facts["owner"], "app": facts["app"], "home": facts.get("home", "")}
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EmbeddedError(f"{path} is damaged. Restore it, or remove the data folder to begin anew.") from None

    def _find_home(self, facts: dict[str, str]) -> Path:
        """What was chosen at first stays, also when some folder's permissions are changed later."""
        return Path(facts["home"]) if facts["home"] else self.data / "postgres"

    def _make_facts(self) -> dict[str, str]:
        path = self.data / FACTS_FILE
        if self.cluster.exists() or ((self.data / "master.key").exists() and not self._is_restored):
            raise EmbeddedError(f"{path} is missing, and without it the database cannot be opened. Restore it.")
        facts = {"owner": secrets.token_urlsafe(24), "app": secrets.token_urlsafe(24)}
        facts["home"] = "" if self.home.is_relative_to(self.data) else str(self.home)
        unfinished = path.with_suffix(".new")
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(facts, file)
        unfinished.replace(path)
        return facts

    def _make_cluster(self, owner_password: str) -> None:
        """Build beside and rename: a first start that was killed leaves nothing that looks like a cluster.

        Each attempt has a folder of its own, because an initdb whose parent was killed may still be at work.
        """
        for old in self.home.glob("cluster.new-*"):
            shutil.rmtree(old, ignore_errors=True)
        unfinished = self.home / f"cluster.new-{secrets.token_hex(4)}"
        password_file = self.home / f"initdb-{secrets.token_hex(4)}.password"
        handle = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            os.fchown(handle, self.user.uid, self.user.gid)
            file.write(owner_password)
        try:
            result = self._run(
                "initdb", "--pgdata", str(unfinished), "--username", OWNER, "--pwfile", str(password_file),
                "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale-provider", "builtin",
                "--builtin-locale", "C.UTF-8", "--locale", "C", "--set", f"scram_iterations={SCRAM_ITERATIONS}",
                "--no-instructions",
            )  # fmt: skip
        finally:
            for old in self.home.glob("initdb-*.password"):
                old.unlink(missing_ok=True)
        if result.returncode != 0:
            raise EmbeddedError(f"initdb failed: {_last_line(result.stderr)}")
        unfinished.rename(self.cluster)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 (our own binary, our own arguments)
            [str(find_binaries(self.user) / program), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **self._identity(),
        )  # fmt: skip

    def _identity(self) -> dict[str, Any]:
        """In a session of its own: Ctrl-C in the terminal must reach us alone, and we end things in order."""
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
        common: dict[str, Any] = {"cwd": str(self.home), "env": environment, "start_new_session": True}
        if self.user.is_other:
            common |= {"user": self.user.uid, "group": self.user.gid, "extra_groups": []}
        return common

    def _reach_ready(self) -> None:
        """Until the server accepts connections. One that is just going down is waited for, and then replaced."""
        end = time.monotonic() + START_SECONDS
        launches = 0
        while time.monotonic() < end:
            lines = self._postmaster_lines()
            if self.is_running():
                if len(lines) > 7 and lines[7].strip() == "ready":
                    self.sockets = Path(lines[4])
                    return
            elif self._process is None or self._process.poll() is not None:
                if launches == LAUNCHES:
                    raise EmbeddedError(f"PostgreSQL does not start: {_last_line(self._read_log())} (see {self.log})")
                if launches:
                    time.sleep(0.5)
                self._launch()
                launches += 1
            time.sleep(0.01)
        raise EmbeddedError(f"PostgreSQL did not start within {START_SECONDS} seconds; see {self.log}.")

    def _launch(self) -> None:
        options = [f"-c{name}={value}" for name, value in SERVER_SETTINGS.items()]
        identity = self._identity()
        stale = self._postmaster_pid()
        if stale is not None:
            # After a crash the number may belong to some other process by now. This keeps PostgreSQL from taking that
            # one for itself, and leaves its other check (is the shared memory in use?) in force.
            identity["env"]["PG_GRANDPARENT_PID"] = str(stale)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [
                    str(find_binaries(self.user) / "postgres"), "-D", str(self.cluster), "-k", str(self.sockets),
                    *options,
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **identity,
            )  # fmt: skip
        finally:
            os.close(log)

    def _make_database(self, owner: Secret, app_password: str) -> None:
        admin = make_conninfo(owner.reveal(), dbname="postgres")
        with psycopg.connect(admin, autocommit=True) as connection:
            statement = "create role {} login password {}"
            if not connection.execute("select 1 from pg_roles where rolname = %s", [APP]).fetchone():
                connection.execute(sql.SQL(statement).format(sql.Identifier(APP), sql.Literal(app_password)))
            if not connection.execute("select 1 from pg_database where datname = %s", [DATABASE]).fetchone():
                connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))

    def _addresses(self, passwords: dict[str, str]) -> Addresses:
        def address(role: str, password: str) -> Secret:
            return Secret(make_conninfo(host=str(self.sockets), user=role, password=password, dbname=DATABASE))

        return Addresses(owner=address(OWNER, passwords["owner"]), app=address(APP, passwords["app"]))

    # Stop

    def _shut_down(self) -> None:
        pid = self._running_pid()
        if pid is None:
            return
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
            if not self._wait_for_end():
                os.kill(pid, signal.SIGQUIT)
                self._wait_for_end()
        with suppress(OSError):
            self.sockets.rmdir()

    def _wait_for_end(self) -> bool:
        end = time.monotonic() + STOP_SECONDS
        while time.monotonic() < end:
            # A process of our own is over only when it was waited for: else it stays as a zombie.
            is_over = self._process is None or self._process.poll() is not None
            if is_over and not self.is_running():
                return True
            time.sleep(0.01)
        return False

    # What is there

    def _postmaster_lines(self) -> list[str]:
        try:
            return (self.cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []

    def _postmaster_pid(self) -> int | None:
        lines = self._postmaster_lines()
        return int(lines[0]) if lines and lines[0].isdigit() else None

    def _running_pid(self) -> int | None:
        pid = self._postmaster_pid()
        return pid if pid is not None and _serves(pid, self.cluster) else None

    def _read_log(self) -> str:
        try:
            return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]
        except OSError:
            return ""


def _serves(pid: int, cluster: Path) -> bool:
    """Is this process the server of this very cluster? Process numbers are used again, also by other servers."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return not Path("/proc/self").exists() and _exists(pid)
    return os.fsencode(cluster) in arguments


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it says nothing"
