"""`kontor sync actual` with a real server of Actual Budget. What it has is read by Actual's API from the server."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from synced_users import booking

from guide_code import Guide
from processes import free_port, run_kontor

pytestmark = pytest.mark.peers
PEERS = Path(sys.executable).parents[1] / "peers"
CONSOLE = Path(__file__).parent / "actual_console.mjs"
PROGRAM = PEERS / "node_modules" / "@actual-app" / "sync-server" / "build" / "bin" / "actual-server.js"
PASSWORD = "actual"


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """Runs a command of actual_console.mjs against a new server."""
    home = tmp_path_factory.mktemp("actual")
    (home / "node_modules").symlink_to(PEERS / "node_modules")
    port = free_port()
    server = f"http://127.0.0.1:{port}"
    environment = os.environ | {
        "ACTUAL_PORT": str(port),
        "ACTUAL_HOSTNAME": "127.0.0.1",
        "ACTUAL_DATA_DIR": str(home),
        "ACTUAL_LOGIN_METHOD": "password",
    }
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(["node", str(PROGRAM)], env=environment, cwd=home, stdout=log, stderr=log)
    try:
        wait_until_ready(server, process, home / "log")

        def run(command, **options):
            done = subprocess.run(
                ["node", str(CONSOLE), str(home), server, command, json.dumps(options)],
                capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout.strip().splitlines()[-1])

        run.server = server
        run("bootstrap")
        yield run
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_ready(server, process, log):
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(f"{server}/info").status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise AssertionError(log.read_text())


class Book:
    """A file of Actual, and the folder of the command."""

    def __init__(self, console, run_command, synced, folder, base, **options):
        self.console, self.run_command, self.synced, self.folder = console, run_command, synced, folder
        self.base = base
        self.file = console("make", name=folder.name + str(time.monotonic_ns()), **options)
        self.environment = {
            "KONTOR_SYNC_KEY": synced.key,
            "ACTUAL_SERVER": console.server,
            "ACTUAL_FILE": self.file,
            "ACTUAL_PASSWORD": PASSWORD,
        }
        folder.mkdir(exist_ok=True)
        (folder / "node_modules").symlink_to(PEERS / "node_modules")

    @property
    def arguments(self):
        return ("sync", "actual", "--kontor", self.base, "--folder", self.folder)

    def sync(self, *arguments, **environment):
        return self.run_command(*self.arguments, *arguments, **(self.environment | environment))

    def read(self, command="read", **options):
        return self.console(command, file=self.file, **options)

    def entries(self):
        """By purpose."""
        return {(row["notes"] or row["payee.name"]): row for row in self.read()["transactions"]}


@pytest.fixture
def book(console, run_command, synced, tmp_path, bank_server):
    return Book(console, run_command, synced, tmp_path / "sync", bank_server)


def test_the_first_run_fills_the_file_and_the_second_changes_nothing(book, synced):
    code, out, err = book.sync("--dry-run")
    assert (code, err) == (0, "")
    assert "Would be: 1 new account, 5 new." in out
    assert book.read() == {"accounts": [], "transactions": []}
    assert not (book.folder / "accounts.toml").exists()

    assert book.sync()[:2] == (0, "Done: 1 new account, 5 new.\n")
    read = book.read()
    assert [account["name"] for account in read["accounts"]] == [
        f"{synced.product['kreditinstitut']} {synced.product['bezeichnung']}"
    ]
    entries = book.entries()
    assert {row["imported_id"] for row in entries.values()} >= {f"kontor-{row['id']}" for row in synced.rows()}
    assert len(read["transactions"]) == 5
    salary, shopping, pending = entries["Lohn 01/2026"], entries["Einkauf ##1"], entries["offen"]
    assert (salary["amount"], salary["date"], salary["payee.name"]) == (250000, "2026-01-01", "Muster GmbH")
    assert (shopping["amount"], shopping["payee.name"], shopping["category.name"]) == (-2345, "REWE", "Lebensmittel")
    assert [row["cleared"] for row in (salary, shopping, pending)] == [True, True, False]
    saldo = synced.customer.products(synced.access_id)[0]["saldo"]
    assert sum(row["amount"] for row in read["transactions"] if row["cleared"]) == round(saldo * 100)

    assert book.sync() == (0, "Done: nothing to do.\n", "")
    assert book.read() == read


def test_what_changes_in_kontor_changes_there_and_what_was_edited_there_stays(book, synced):
    book.sync()
    before = book.entries()
    book.read("update", id=before["Lohn 01/2026"]["id"], fields={"notes": "my own words"})
    book.read("delete", id=before["Einkauf ##2"]["id"])
    synced.book("offen")
    synced.correct("Einkauf #1", "LIVING_DRUGSTORE")
    synced.push(booking(-5, 8, "Kiosk", "neu"), batch="b")
    code, _, err = book.sync()
    assert code == 0
    after = book.entries()
    assert after["offen"]["id"] == before["offen"]["id"]
    assert after["offen"]["cleared"]
    assert after["Einkauf ##1"]["category.name"] == "Drogerie"
    assert after["my own words"]["id"] == before["Lohn 01/2026"]["id"]
    assert "Einkauf ##2" not in after
    assert after["neu"]["amount"] == -500
    # What was deleted there is missing in the sum, and the command says so.
    assert "entries were changed, added or removed there" in err
    assert book.sync()[1] == "Done: nothing to do.\n"


def test_rows_that_kontor_removes_are_removed(book, synced):
    book.sync()
    assert synced.customer.delete(f"/customer/v2/bankzugaenge/{synced.access_id}").status_code == 200
    assert book.sync()[1] == "Done: 5 removed.\n"
    assert book.read()["transactions"] == []


def test_a_lost_state_doubles_nothing(book):
    book.sync()
    before = book.read()
    for file in ("state.sqlite", "accounts.toml", "categories.toml"):
        (book.folder / file).unlink()
    assert book.sync() == (0, "Done: nothing to do.\n", "")
    assert book.read() == before


@pytest.mark.parametrize("seconds", [0.4, 0.8, 1.2, 1.6, 2.0, 2.6])
def test_a_run_that_is_killed_is_finished_by_the_next_one(book, synced, seconds):
    """Wherever it is killed, each booking is there once."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kontor", *map(str, book.arguments)],
        env=os.environ | book.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for _ in range(600):
        if (book.folder / "accounts.toml").exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert book.sync()[0] == 0
    read = book.read()
    ids = [row["imported_id"] for row in read["transactions"]]
    assert len(ids) == len(set(ids)) == 5
    assert len(read["accounts"]) == 1


def test_two_folders_add_the_same_entries(book, console, run_command, synced, bank_server, tmp_path):
    """A second state, as on another machine, which knows nothing of the first."""
    book.sync()
    other = tmp_path / "other"
    other.mkdir()
    (other / "node_modules").symlink_to(PEERS / "node_modules")
    arguments = [other if argument == book.folder else argument for argument in book.arguments]
    assert run_command(*arguments, **book.environment)[:2] == (0, "Done: nothing to do.\n")


def test_names_and_categories_are_the_users(book, synced):
    book.sync("--dry-run")
    book.folder.joinpath("accounts.toml").write_text(f'"{synced.product["id"]}" = "unused"\n')
    book.folder.joinpath("categories.toml").write_text('LIVING_GROCERIES = "Alltag: Essen"\n')
    book.sync()
    assert book.entries()["Einkauf ##1"]["category.name"] == "Essen"
    text = book.folder.joinpath("categories.toml").read_text()
    assert text.startswith('LIVING_GROCERIES = "Alltag: Essen"\n')
    book.folder.joinpath("categories.toml").write_text(text.replace("Alltag: Essen", "Alltag: Supermarkt"))
    assert "2 changed" in book.sync()[1]
    assert book.entries()["Einkauf ##1"]["category.name"] == "Supermarkt"


def test_what_is_wrong_is_said(book, console, run_command, synced, bank_server, tmp_path):
    assert "The password of the Actual server is wrong" in book.sync(ACTUAL_PASSWORD="nope")[2]
    assert "There is no Actual server at" in book.sync(ACTUAL_SERVER="http://127.0.0.1:9")[2]
    assert "not found" in book.sync(ACTUAL_FILE="no-such-file")[2]
    assert "Set ACTUAL_PASSWORD" in book.sync(ACTUAL_PASSWORD="")[2]
    assert "Kontor says: 401" in book.sync(KONTOR_SYNC_KEY="wrong")[2]
    (book.folder / "node_modules").unlink()
    assert "npm install --prefix" in book.sync()[2]


def test_an_encrypted_file_needs_its_password(console, run_command, synced, bank_server, tmp_path):
    book = Book(console, run_command, synced, tmp_path / "secret", bank_server, filePassword="hush")
    code, _, err = book.sync()
    assert code == 1
    assert "ACTUAL_FILE_PASSWORD" in err
    code, _, err = book.sync(ACTUAL_FILE_PASSWORD="wrong")
    assert code == 1
    assert "password of the encrypted file is wrong" in err
    assert book.sync(ACTUAL_FILE_PASSWORD="hush")[1] == "Done: 1 new account, 5 new.\n"
    assert len(book.read(filePassword="hush")["transactions"]) == 5


def test_a_second_run_at_the_same_time_is_refused(book):
    book.folder.mkdir(exist_ok=True)
    other = sqlite3.connect(book.folder / "state.sqlite")
    other.execute("begin exclusive")
    assert "Another run uses" in book.sync()[2]
    other.close()


def test_the_guide_leads_to_the_first_entries(
    console, run_command, synced, bank_server, shared, settings, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    values = {
        "KONTOR_SYNC_URL": bank_server,
        "ACTUAL_SERVER": console.server,
        "ACTUAL_FILE": console("make", name="guide"),
        "ACTUAL_PASSWORD": PASSWORD,
    }
    names = {"bank": shared.name, "anna": synced.customer.username}
    told = []
    for words in Guide("guides/actual.md").list_commands():
        if words[:2] == ["kontor", "api-key"]:
            made = run_kontor(settings, *(names.get(word, word) for word in words[1:]))
            values["KONTOR_SYNC_KEY"] = made.stdout.split()[-1]
        elif words[0] == "npm":
            assert words[:4] == ["npm", "install", "--prefix", "kontor-actual"]
            version = json.loads((PEERS / "node_modules/@actual-app/api/package.json").read_text())["version"]
            assert words[4] == f"@actual-app/api@{version}"
            Path("kontor-actual").mkdir()
            Path("kontor-actual/node_modules").symlink_to(PEERS / "node_modules")
        elif words[0] == "export":
            name = words[1].partition("=")[0]
            monkeypatch.setenv(name, values.pop(name))
        else:
            told.append(run_command(*words[1:])[:2])
    assert values == {}
    assert told[1] == (0, "Done: 1 new account, 5 new.\n")
