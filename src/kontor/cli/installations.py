"""Commands at a prompt use the settings of the installation on this machine, as its systemd units do.

In this order: the environment, where it names a database or a data folder; the file that KONTOR_ENVIRONMENT names;
/etc/kontor/kontor.env. What the environment says wins over a file.
"""

import os
import shlex
from collections.abc import MutableMapping
from pathlib import Path

from kontor.config import PREFIX, SettingError

VARIABLE = "KONTOR_ENVIRONMENT"
DEFAULT_FILE = Path("/etc/kontor/kontor.env")
STATE_FOLDER = "/var/lib/kontor"
OWNERS_COMMANDS = ("migrate", "backup", "restore")  # they alone get the owner's address
WITHOUT_INSTALLATION = ("demo", "demobank", "settings", "openapi", "analyse", "mcp", "evaluate", "explain")
KEYS = ("KONTOR_MASTER_KEY", "KONTOR_MASTER_KEY_COMMAND", "KONTOR_MASTER_KEY_WRAPPED")


def adopt_installation(command: str, environment: MutableMapping[str, str] | None = None) -> Path | None:
    """Complete the environment. Returns the file that was used, if any."""
    environment = os.environ if environment is None else environment
    if command in WITHOUT_INSTALLATION:
        return None
    named = environment.get(VARIABLE)
    if named is None and ("KONTOR_DATABASE_URL" in environment or "KONTOR_DATA" in environment):
        return None
    file = Path(named) if named else DEFAULT_FILE
    if named is None and not _exists(file):
        return None
    found = read_environment_file(file)
    if command in OWNERS_COMMANDS and _exists(file.with_name("migrate.env")):
        found |= read_environment_file(file.with_name("migrate.env"))
    key = file.with_name("master.key")
    if not any(name in found or name in environment for name in KEYS) and _exists(key):
        found["KONTOR_MASTER_KEY_COMMAND"] = f"cat {shlex.quote(str(key))}"
    found.setdefault("KONTOR_DATA", STATE_FOLDER)
    for name, value in found.items():
        environment.setdefault(name, value)
    return file


def read_environment_file(file: Path) -> dict[str, str]:
    """The settings in a file as systemd reads it: a variable per line, whose value may be in quotation marks."""
    try:
        lines = file.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    except PermissionError:
        raise SettingError(
            f"{file} has the settings of the installation on this machine, and this user may not read it."
            " Run the command as root, or set KONTOR_DATABASE_URL."
        ) from None
    except OSError as error:
        raise SettingError(f"{file} cannot be read: {error.strerror}.") from None
    values = {}
    for line in lines:
        name, equals, value = line.strip().partition("=")
        if equals and name.startswith(PREFIX):
            values[name] = _unquote(value.strip())
    return values


def _unquote(value: str) -> str:
    mark = value[:1]
    if mark not in ("'", '"') or len(value) < 2 or value[-1] != mark:
        return value
    inner = value[1:-1]
    return inner if mark == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")


def _exists(file: Path) -> bool:
    """A folder that is closed to this user hides whether the file is there: then it counts as there."""
    try:
        return file.exists()
    except PermissionError:
        return True
