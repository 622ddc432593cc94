"""PostgreSQL clusters of one's own on loopback: a primary, and a standby that follows it synchronously."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from kontor.storage.embedded_host import choose_service_user, find_binaries, make_private_folder
from processes import free_port

SUPERUSER, STANDBY_NAME = "postgres", "standby"
START_SECONDS = 60


class Cluster:
    """One server with its folder. Everybody on loopback is trusted: it lives for a test only."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.settings = settings
        self.port = free_port()
        self.user = choose_service_user()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def initialise(self) -> None:
        self._run(
            "initdb", "--pgdata", str(self.data), "--username", SUPERUSER, "--auth", "trust", "--encoding", "UTF8",
            "--locale", "C", "--no-instructions", "--no-sync",
        )  # fmt: skip

    def copy_from(self, primary: "Cluster") -> None:
        address = f"host=127.0.0.1 port={primary.port} user={SUPERUSER} application_name={STANDBY_NAME}"
        self._run(
            "pg_basebackup", "--pgdata", str(self.data), "--dbname", address, "--write-recovery-conf",
            "--checkpoint", "fast", "--no-sync",
        )  # fmt: skip

    def start(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": "",
            "max_connections": "120", "shared_buffers": "32MB", "log_min_messages": "fatal",
        } | self.settings  # fmt: skip
        with (self.folder / "postgres.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    str(find_binaries(self.user) / "postgres"), "-D", str(self.data),
                    *(f"-c{name}={value}" for name, value in options.items()),
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._identity(),
            )  # fmt: skip
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                return self.connect().close()
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "postgres.log").read_text()
                assert time.monotonic() < end
                time.sleep(0.05)

    def end(self, number: int = signal.SIGINT) -> None:
        """SIGINT is a fast shutdown, SIGQUIT an immediate one, SIGKILL the loss of the machine."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(60)

    def promote(self) -> None:
        with self.connect() as connection:
            assert connection.execute("select pg_promote()").fetchone() == (True,)

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user=SUPERUSER, dbname=database, autocommit=True, connect_timeout=5
        )

    def _run(self, program: str, *arguments: str) -> None:
        result = subprocess.run(
            [str(find_binaries(self.user) / program), *arguments], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, **self._identity(),
        )  # fmt: skip
        assert result.returncode == 0, result.stderr

    def _identity(self) -> dict[str, Any]:
        common: dict[str, Any] = {
            "cwd": str(self.folder),
            "env": {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
            "start_new_session": True,
        }
        if self.user.is_other:
            common |= {"user": self.user.uid, "group": self.user.gid, "extra_groups": []}
        return common


@contextmanager
def replicated() -> Iterator[tuple[Cluster, Cluster]]:
    """A primary that acknowledges nothing its standby has not written down, and the standby."""
    base = Path(tempfile.mkdtemp(prefix="kontor-clusters-", dir="/tmp"))
    base.chmod(0o755)
    made: list[Cluster] = []
    try:
        for name in ("primary", "standby"):
            make_private_folder(base / name, choose_service_user())
        primary = Cluster(base / "primary", synchronous_standby_names="")
        made.append(primary)
        primary.initialise()
        primary.start()
        # The standby follows nobody once it is promoted, so that its own commits must not wait for anybody.
        standby = Cluster(base / "standby", synchronous_standby_names="", hot_standby="on")
        made.append(standby)
        standby.copy_from(primary)
        standby.start()
        with primary.connect() as connection:
            connection.execute(f"alter system set synchronous_standby_names = '{STANDBY_NAME}'")
        primary.settings.pop("synchronous_standby_names")
        primary.end()
        primary.start()
        wait_for_synchronous_standby(primary)
        yield primary, standby
    finally:
        for cluster in made:
            cluster.end(signal.SIGQUIT)
        shutil.rmtree(base, ignore_errors=True)


def wait_for_synchronous_standby(primary: Cluster) -> None:
    end = time.monotonic() + START_SECONDS
    with primary.connect() as connection:
        while connection.execute("select sync_state from pg_stat_replication").fetchall() != [("sync",)]:
            assert time.monotonic() < end, "the standby does not follow"
            time.sleep(0.05)
