"""Every command: what it does, what it prints for people and for programs, and how it refuses.

Commands are run in this process against the session's database, which is what makes so many of them affordable; the
other files of this folder run the real program.
"""

import io
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest

from kontor.cli import commands
from kontor.config import Settings, export_settings
from kontor.domain.scopes import CUSTOMER_READ, MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import ClientKind
from kontor.services.bundle import Services
from kontor.services.identity.tenants import new_role, new_tenant
from kontor.services.identity.users import NewUser
from process_tree import KONTOR, clean_environment, own_database

Kontor = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def reason(self) -> str:
        """The one sentence of a refusal."""
        assert self.code == 1, (self.code, self.out, self.err)
        assert self.out == ""
        assert self.err.startswith("Refused: ")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        return self.err.removeprefix("Refused: ").strip()


@pytest.fixture
def kontor(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Kontor]:
    """Runs a command as the program would."""
    for name, value in export_settings(settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("kontor.logs.configure_logs", lambda *_: None)  # it would bind this test's standard error
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments: str, stdin: str = "") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = commands.run(list(arguments))
        return Outcome(code, *capsys.readouterr())

    yield run
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def name(kontor: Kontor) -> str:
    """A tenant made on the command line."""
    name = f"c-{uuid4().hex[:8]}"
    assert kontor("tenant", "create", name, "--regulated").code == 0
    return name


# Happy paths


def test_the_own_model_is_previewed_and_asked_only_where_one_is_set(kontor, name):
    assert kontor("model", "preview", name, "--json").json == {"address": None, "bodies": []}
    assert "No model is set" in kontor("model", "ask").reason
    assert "--limit" in kontor("model", "preview", name, "--limit", "0").reason
    assert "no tenant" in kontor("model", "preview", "nobody").reason


def test_tenants(kontor, name):
    assert name in kontor("tenant", "list").out
    [row] = [tenant for tenant in kontor("tenant", "list", "--json").json if tenant["name"] == name]
    assert row == {"name": name, "regulated": True, "scopes": 14, "description": None}
    changed = kontor(
        "tenant", "change", name, "--description", "Bäckerei [Nord]", "--min-password-length", "12",
        "--callback-base", "https://a.example/", "--callback-base", "https://b.example/", "--json",
    ).json  # fmt: skip
    assert changed == kontor("tenant", "show", name, "--json").json
    assert changed["description"] == "Bäckerei [Nord]"
    assert changed["callbackBases"] == ["https://a.example/", "https://b.example/"]
    assert (changed["regulated"], changed["minPasswordLength"]) == (True, 12)
    assert kontor("tenant", "change", name, "--own-model", "--json").json["asksOwnModel"] is True
    assert kontor("tenant", "change", name, "--no-own-model", "--json").json["asksOwnModel"] is False
    shown = kontor("tenant", "show", name).out
    assert "Bäckerei [Nord]" in shown
    assert "https://b.example/" in shown
    redirect = f"c-{uuid4().hex[:8]}"
    made = kontor("tenant", "create", redirect, "--redirect", "--any-callback", "--scope", CUSTOMER_READ, "--json").json
    assert made["scopes"] == [CUSTOMER_READ]
    assert (made["regulated"], made["anyCallback"]) == (False, True)


def test_a_tenants_users_need_12_characters_unless_the_operator_says_otherwise(kontor, name):
    assert kontor("tenant", "show", name, "--json").json["minPasswordLength"] == 12
    short = kontor("user", "create", name, "anna", stdin="x" * 11 + "\n")
    assert short.reason == "password: must have 12 to 1024 characters."
    assert kontor("user", "create", name, "anna", stdin="x" * 12 + "\n").code == 0
    other = f"c-{uuid4().hex[:8]}"
    assert kontor("tenant", "create", other, "--regulated", "--min-password-length", "1").code == 0
    assert kontor("user", "create", other, "anna", stdin="x\n").code == 0


def test_users_of_before_keep_their_passwords_when_the_minimum_grows(kontor, http):
    name = f"c-{uuid4().hex[:8]}"
    assert kontor("tenant", "create", name, "--regulated", "--min-password-length", "1").code == 0
    client = kontor("client", "create", name, "app", "--kind", "user", "--json").json
    kontor("role", "create", name, "app", "customer", "--default")
    assert kontor("user", "create", name, "anna", stdin="x\n").code == 0
    assert kontor("tenant", "change", name, "--min-password-length", "12").code == 0
    form = {"grant_type": "password", "username": "anna", "password": "x"}
    login = (client["username"], client["password"])
    assert http.post("/auth/oauth2/token", data=form, auth=login).status_code == 200


def test_clients_and_their_secrets_are_shown_once(kontor, name, http):
    made = kontor("client", "create", name, "app", "--kind", "user", "--description", "the app", "--json")
    login = (made.json["username"], made.json["password"])
    assert "Keep it now" in made.err
    form = {"grant_type": "client_credentials"}
    assert http.post("/auth/oauth2/token", data=form, auth=login).status_code == 200
    [row] = kontor("client", "list", name, "--json").json
    assert row == {
        "username": f"{name}/app",
        "kind": "user",
        "scopes": list(USER_SCOPES),
        "directDebits": False,
        "requiresDpop": False,
        "description": "the app",
    }
    renewed = kontor("client", "renew-secret", name, "app", "--json")
    assert "Keep it now" in renewed.err
    assert http.post("/auth/oauth2/token", data=form, auth=login).status_code == 401
    assert http.post("/auth/oauth2/token", data=form, auth=tuple(renewed.json.values())).status_code == 200
    for secret in (login[1], renewed.json["password"]):
        for command in (("client", "list", name), ("tenant", "show", name), ("audit", "list", name)):
            assert secret not in kontor(*command).out
    kontor("client", "create", name, "collector", "--kind", "user", "--direct-debits")
    listed = {row["username"]: row["directDebits"] for row in kontor("client", "list", name, "--json").json}
    assert listed == {f"{name}/app": False, f"{name}/collector": True}
    kontor("client", "delete", name, "collector")
    plain = kontor("client", "create", name, "second", "--kind", "admin")
    assert [line.split()[0] for line in plain.out.splitlines()] == ["username", "password"]
    assert kontor("client", "delete", name, "app").err == f"Deleted {name}/app.\n"
    assert [client["username"] for client in kontor("client", "list", name, "--json").json] == [f"{name}/second"]


def test_a_client_is_told_to_use_dpop_and_released_again(kontor, name, http):
    made = kontor("client", "create", name, "strict", "--kind", "admin", "--require-dpop", "--json").json
    form, login = {"grant_type": "client_credentials"}, (made["username"], made["password"])
    refused = http.post("/auth/oauth2/token", data=form, auth=login)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_dpop_proof")
    for option, is_required, status in (("--no-require-dpop", False, 200), ("--require-dpop", True, 400)):
        assert kontor("client", "change", name, "strict", option).err == f"Changed {name}/strict.\n"
        assert kontor("client", "list", name, "--json").json[0]["requiresDpop"] is is_required
        assert http.post("/auth/oauth2/token", data=form, auth=login).status_code == status


def test_roles_users_and_api_keys(kontor, name, http):
    kontor("client", "create", name, "app", "--kind", "user")
    created = kontor("role", "create", name, "app", "reader", "--scope", CUSTOMER_READ, "--default")
    assert created.err == f"Created role {name}/app/reader.\n"
    [row] = kontor("role", "list", name, "app", "--json").json
    assert row == {"name": "reader", "defaultRole": True, "scopes": [CUSTOMER_READ], "description": None}
    user = kontor("user", "create", name, "anna", "--json", stdin="annas password\n").json
    assert user["username"] == "anna"
    assert kontor("user", "list", name, "--json").json == [
        {"userReference": user["userReference"], "username": "anna", "active": True}
    ]
    made = kontor("api-key", "create", name, "app", "anna", "--description", "robot", "--json")
    assert "Keep it now" in made.err
    key = made.json["apiKey"]
    [listed] = kontor("api-key", "list", name, "--json").json
    assert (listed["client"], listed["user"], listed["description"]) == (f"{name}/app", "anna", "robot")
    assert key not in kontor("api-key", "list", name).out
    assert kontor("api-key", "delete", name, listed["id"]).code == 0
    assert kontor("api-key", "list", name, "--json").json == []
    assert kontor("role", "delete", name, "app", "reader").code == 0
    assert kontor("role", "list", name, "app").err == "Nothing there yet.\n"


def test_transport_keys(kontor, name):
    [first] = kontor("key", "list", name, "--json").json
    assert kontor("key", "certificate", name).out.startswith("-----BEGIN CERTIFICATE-----\n")
    second = kontor("key", "rotate", name, "--json").json["id"]
    kontor("key", "rotate", name)
    listed = kontor("key", "list", name, "--json").json
    assert [key["decrypts"] for key in listed] == [True, True, False]
    assert (listed[1]["id"], listed[2]["id"]) == (second, first["id"])


def test_the_audit_trail_of_a_tenant(kontor, name):
    kontor("client", "create", name, "app", "--kind", "user")
    rows = kontor("audit", "list", name, "--json").json
    assert [(row["actor"], row["action"], row["object"], row["result"]) for row in rows] == [
        ("operator", "tenant.create", f"tenant {name}", "done"),
        ("operator", "client.create", f"client {name}/app", "done"),
    ]
    assert [entry["serial"] for entry in kontor("audit", "list", name, "--after", "1", "--json").json] == [2]
    assert [entry["serial"] for entry in kontor("audit", "list", name, "--limit", "1", "--json").json] == [1]
    assert kontor("audit", "list").code == 0
    verified = kontor("audit", "verify")
    assert verified.code == 0
    assert verified.err == "All chains are whole.\n"
    assert {chain["finding"] for chain in kontor("audit", "verify", "--json").json} == {"whole"}


def test_commands_that_only_tell(kontor):
    assert kontor("settings", "--json").json[0]["variable"] == "KONTOR_BASE_URL"
    assert "KONTOR_MASTER_KEY" in kontor("settings").out
    assert kontor("openapi").json["openapi"].startswith("3.")
    assert kontor("--version").out.strip() == commands.__version__
    first, second = kontor("key", "generate").out, kontor("key", "generate").out
    assert first != second
    assert kontor("migrate").err == "The database is up to date.\n"


def test_help_names_every_command_with_a_summary(kontor):
    told = kontor("--help").out
    for name, (_, summary) in commands.COMMANDS.items():
        assert f"{name} " in told
        assert summary[:30] in told
        assert kontor(name, "--help").code == 0
    for line in told.splitlines():
        assert len(line) <= 120


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("tenant show nobody", "There is no tenant named nobody."),
        ("tenant create NAME --regulated", "already"),
        ("tenant create new", "Say whether the tenant is --regulated or --redirect."),
        ("tenant create new --redirect", "A redirect tenant needs callback bases, or an explicit --any-callback."),
        ("tenant create b!d --regulated", "name: use 1 to 64 characters"),
        ("tenant create new --regulated --scope everything", "scope: everything is not among the scopes of Kontor."),
        ("tenant create new --regulated --min-password-length 0", "--min-password-length: must be between 1 and 1024."),
        ("tenant change nobody --description x", "There is no tenant named nobody."),
        ("client list nobody", "There is no tenant named nobody."),
        ("client create NAME app --kind user", "already"),
        ("client create NAME b!d --kind user", "name: use 1 to 64 characters"),
        ("client create NAME other --kind user --scope none", "scope: none is not among the scopes of"),
        ("client delete NAME nobody", "The tenant NAME has no client named nobody."),
        ("client renew-secret NAME nobody", "The tenant NAME has no client named nobody."),
        ("role create NAME nobody reader", "The tenant NAME has no client named nobody."),
        ("role create NAME app reader", "already"),
        ("role create NAME app other --scope auth/tenants/read", "is not among the scopes of client NAME/app."),
        ("role delete NAME app nobody", "The client NAME/app has no role named nobody."),
        ("user list nobody", "There is no tenant named nobody."),
        ("user create NAME anna", "This username is taken."),
        ("user create NAME ", "username: must not be empty"),
        ("api-key create NAME app nobody", "The tenant NAME has no active user named nobody."),
        ("api-key create NAME nobody anna", "There is no client NAME/nobody."),
        ("api-key create NAME admin anna", "The client NAME/admin is not for users."),
        ("api-key delete NAME 00000000-0000-0000-0000-000000000000", "The tenant NAME has no such API key."),
        ("key list nobody", "There is no tenant named nobody."),
        ("key rotate nobody", "There is no tenant named nobody."),
        ("key rotate-data-keys nobody", "There is no tenant named nobody."),
        ("key certificate nobody", "There is no"),
        ("key rewrap /nowhere/new.key", "The system says: No such file or directory (/nowhere/new.key)."),
        ("audit list nobody", "There is no tenant named nobody."),
    ],
)
def test_mistakes_are_told_in_one_sentence(kontor, standing, arguments, reason):
    parts = [part.replace("NAME", standing) for part in arguments.split(" ")]
    assert reason.replace("NAME", standing) in kontor(*parts, stdin="a password\n").reason


@pytest.fixture(scope="module")
async def standing(standing_services: Services) -> str:
    """One tenant for all mistakes."""
    name = f"m-{uuid4().hex[:8]}"
    administration = standing_services.tenant_administration
    await administration.create_tenant(new_tenant(name, is_regulated=True))
    for client, kind, scopes in (("app", ClientKind.USER, USER_SCOPES), ("admin", ClientKind.ADMIN, MANAGEMENT_SCOPES)):
        await administration.create_client(name, client, kind, scopes)
    await administration.create_role(name, "app", new_role("reader", USER_SCOPES, is_default=False))
    await standing_services.users.create_user_by_operator(name, NewUser("anna", Secret("annas password")))
    return name


@pytest.mark.parametrize(
    "arguments",
    [
        "nonsense",
        "tenant nonsense",
        "tenant show",
        "tenant list --nonsense",
        "tenant create x --regulated --min-password-length long",
        "client create x y --kind both",
        "serve --port many",
        "demo --today tomorrow",
        "api-key delete x not-a-uuid",
        "audit list --limit many",
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_line(kontor, arguments):
    outcome = kontor(*arguments.split())
    assert outcome.code == 2
    assert outcome.err.strip().endswith("Try --help.")
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("KONTOR_LOG_LEVEL", "loud", "KONTOR_LOG_LEVEL must be debug, info, warning or error"),
        ("KONTOR_POOL_SIZE", "many", "KONTOR_POOL_SIZE must be a whole number"),
        ("KONTOR_DATABASE_URL", "postgresql://x@127.0.0.1:1/x", "The database cannot be reached: "),
        ("KONTOR_DATABASE_URL", "not an address", "KONTOR_DATABASE_URL cannot be understood: "),
        ("KONTOR_MASTER_KEY", "short", "The master key (KONTOR_MASTER_KEY) is not "),
        ("KONTOR_MASTER_KEY_COMMAND", "/no/such/program", "KONTOR_MASTER_KEY_COMMAND failed"),
    ],
)
def test_settings_that_cannot_be_used_are_told(kontor, monkeypatch, variable, value, reason):
    monkeypatch.setenv(variable, value)
    assert kontor("tenant", "list").reason.startswith(reason)


def test_a_data_folder_that_cannot_be_made_is_told(kontor, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("KONTOR_DATABASE_URL")
    monkeypatch.setenv("KONTOR_DATA", str(tmp_path / "file/data"))
    assert "Not a directory" in kontor("tenant", "list").reason


def test_a_defect_is_not_hidden(kontor, monkeypatch):
    """Only what is expected becomes a sentence; anything else must be seen with all that is known about it."""
    monkeypatch.setattr(commands, "make_app", lambda: lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        kontor("anything")


# The whole life of an embedded database, by single commands


def test_an_unmigrated_embedded_database_and_rewrapping_its_keys(kontor, settings, monkeypatch, tmp_path):
    """Each command starts the database and stops it again; the master key lies in a file and is replaced there."""
    with own_database(tmp_path / "data") as (database, own):
        for name in export_settings(own):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("KONTOR_DATA", str(own.data))
        monkeypatch.delenv("KONTOR_DATABASE_URL", raising=False)
        database.stop()
        assert kontor("tenant", "create", "one", "--regulated").code == 0
        assert not database.is_running()
        old = (own.data / "master.key").read_text()
        file = tmp_path / "new.key"
        file.write_text("weak")
        file.chmod(0o600)
        assert "is not 32 random bytes" in kontor("key", "rewrap", str(file)).reason
        file.unlink()
        assert kontor("key", "generate", "--out", str(file)).code == 0
        new, fingerprint = file.read_text(), kontor("key", "fingerprint", str(file)).out.strip()
        assert "--confirm" in kontor("key", "rewrap", str(file)).reason
        assert "--confirm" in kontor("key", "rewrap", str(file), "--confirm", "0" * 16).reason
        assert (own.data / "master.key").read_text() == old
        rewrapped = kontor("key", "rewrap", str(file), "--confirm", fingerprint)
        assert rewrapped.err.startswith("2 tenant keys are now wrapped by the new master key.")
        assert (own.data / "master.key").read_text() == new
        [previous] = own.data.glob("master-*.key")
        assert previous.read_text() == old
        for path in (own.data / "master.key", previous):
            assert path.stat().st_mode & 0o777 == 0o600
        again = kontor("key", "rewrap", str(file), "--confirm", fingerprint)
        assert again.err.startswith("All tenant keys were wrapped by this master key already.")
        assert (own.data / "master.key").read_text() == new
        assert [path.read_text() for path in own.data.glob("master-*.key")] == [old]
        assert kontor("key", "rotate", "one").code == 0
        (own.data / "master.key").write_text(old)
        assert kontor("tenant", "list").reason.startswith("The master key is not the one")
        assert new not in rewrapped.out + rewrapped.err
        assert not database.is_running()


@pytest.mark.long
def test_commands_refuse_a_database_that_is_not_migrated(settings, owner):
    owner.execute("create database unmigrated")
    try:
        address = settings.database_url.reveal().replace("dbname=kontor", "dbname=unmigrated")
        own = replace(settings, database_url=Secret(address))
        for command in (["tenant", "list"], ["serve"], ["worker"]):
            result = subprocess.run(
                [*KONTOR, *command], env=clean_environment(**export_settings(own)), capture_output=True, text=True,
                check=False,
            )  # fmt: skip
            assert result.returncode == 1
            assert result.stderr.startswith("Refused: The database is not migrated to this version. Run `kontor migr")
    finally:
        owner.execute("drop database unmigrated with (force)")
