"""Commands at a prompt find the settings of the installation on this machine, or refuse."""

import os
import signal
from pathlib import Path
from uuid import uuid4

import pytest

from kontor import bootstrap
from kontor.bootstrap import with_database
from kontor.cli import commands, installations
from kontor.cli.installations import adopt_installation, read_environment_file
from kontor.config import SettingError, read_settings
from kontor.domain.secrets import Secret
from kontor.storage.erasure_log import ErasureLog
from kontor.storage.keys import generate_key

FILE = """
# of the installation
KONTOR_BASE_URL=https://kontor.example.com
KONTOR_DATABASE_URL="postgresql://kontor:pass\\"word@db/kontor?sslmode=verify-full"
  KONTOR_LOG_LEVEL='warning'
KONTOR_MASTER_KEY_COMMAND=cat /run/key
API_PORT=8080
nonsense
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kontor.env").write_text(FILE)
    monkeypatch.setattr(installations, "DEFAULT_FILE", tmp_path / "kontor.env")
    return tmp_path


def test_the_file_of_the_units_is_read_as_systemd_reads_it(folder):
    assert read_environment_file(folder / "kontor.env") == {
        "KONTOR_BASE_URL": "https://kontor.example.com",
        "KONTOR_DATABASE_URL": 'postgresql://kontor:pass"word@db/kontor?sslmode=verify-full',
        "KONTOR_LOG_LEVEL": "warning",
        "KONTOR_MASTER_KEY_COMMAND": "cat /run/key",
    }


def test_without_a_database_in_the_environment_the_installation_is_found(folder):
    environment = {"KONTOR_LOG_LEVEL": "debug"}
    assert adopt_installation("tenant", environment) == folder / "kontor.env"
    settings = read_settings(environment)
    assert settings.database_url == Secret('postgresql://kontor:pass"word@db/kontor?sslmode=verify-full')
    assert (settings.log_level, settings.data) == ("debug", Path("/var/lib/kontor"))


@pytest.mark.parametrize("name", ["KONTOR_DATABASE_URL", "KONTOR_DATA"])
def test_an_environment_that_names_a_database_or_a_folder_is_used_alone(folder, name):
    environment = {name: "here"}
    assert adopt_installation("tenant", environment) is None
    assert environment == {name: "here"}


def test_a_file_that_is_named_wins_over_the_usual_place(folder, tmp_path):
    other = tmp_path / "other.env"
    other.write_text("KONTOR_DATABASE_URL=host=other\n")
    environment = {"KONTOR_ENVIRONMENT": str(other)}
    assert adopt_installation("tenant", environment) == other
    assert environment["KONTOR_DATABASE_URL"] == "host=other"
    with pytest.raises(SettingError, match="cannot be read"):
        adopt_installation("tenant", {"KONTOR_ENVIRONMENT": str(tmp_path / "nothing")})


@pytest.mark.parametrize(("command", "has_owner"), [("migrate", True), ("backup", True), ("tenant", False)])
def test_the_owners_address_is_for_those_who_change_or_copy_tables(folder, command, has_owner):
    (folder / "migrate.env").write_text("KONTOR_MIGRATION_DATABASE_URL=host=db user=owner\n")
    environment: dict[str, str] = {}
    adopt_installation(command, environment)
    assert ("KONTOR_MIGRATION_DATABASE_URL" in environment) is has_owner


def test_the_master_key_beside_the_file_is_used_unless_another_is_named(folder):
    (folder / "master.key").write_text("secret")
    environment: dict[str, str] = {}
    adopt_installation("tenant", environment)
    assert environment["KONTOR_MASTER_KEY_COMMAND"] == "cat /run/key"
    (folder / "kontor.env").write_text("KONTOR_DATABASE_URL=host=db\n")
    environment = {}
    adopt_installation("tenant", environment)
    assert environment["KONTOR_MASTER_KEY_COMMAND"] == f"cat {folder / 'master.key'}"
    assert "secret" not in str(environment)


def test_the_demo_and_commands_without_a_database_look_for_no_installation(folder):
    for command in installations.WITHOUT_INSTALLATION:
        assert command in commands.COMMANDS
        assert adopt_installation(command, {}) is None


def test_settings_that_this_user_may_not_read_are_a_refusal(folder, monkeypatch, capsys):
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)
    for name in ("KONTOR_DATABASE_URL", "KONTOR_DATA", "KONTOR_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert commands.run(["tenant", "list"]) == commands.REFUSED
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "Run the command as root, or set KONTOR_DATABASE_URL." in capsys.readouterr().err


def test_no_embedded_database_is_made_at_the_default_place(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap, "default_data_dir", lambda: tmp_path / "data")
    settings = read_settings({"KONTOR_DATA": str(tmp_path / "data")})
    with pytest.raises(SettingError, match="No installation was found"), with_database(settings):
        pass
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave a file that the service cannot write")
def test_the_log_of_erasures_that_root_makes_belongs_to_who_owns_its_folder(tmp_path):
    os.chown(tmp_path, 65534, 65534)
    ErasureLog(tmp_path / "erasures.log", generate_key()).append(uuid4(), uuid4(), "erased")
    assert (tmp_path / "erasures.log").stat().st_uid == 65534
