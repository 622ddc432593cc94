"""`kontor backup` and `kontor restore`: PostgreSQL's own tools, and what Kontor alone knows about a restore."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from kontor.cli.context import AsJson, say
from kontor.cli.output import show_facts
from kontor.config import Settings, read_settings
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret

if TYPE_CHECKING:
    from kontor.storage.backups import Manifest
    from kontor.storage.keys import SealingKey

Log = Annotated[
    list[Path] | None, Parameter(help="Logs of erasures to apply, of several machines; else KONTOR_ERASURE_LOG.")
]


def backup(folder: Annotated[Path, Parameter(help="New folder to write.")], *, as_json: AsJson = False) -> None:
    """Back up the database into a new folder, while processes run.

    The folder has a dump (custom format) and a manifest. It does not have the master key and the log of erasures.
    """
    from kontor.bootstrap import load_master_key, with_database
    from kontor.logs import configure_logs
    from kontor.storage.backups import make_backup

    settings = read_settings()
    configure_logs("error", "text")
    with with_database(settings) as ready:
        made = make_backup(_find_owner(ready), load_master_key(ready), folder, ready.postgres_programs)
    show_facts({"folder": str(folder)} | _describe(made.manifest), as_json=as_json)
    say("Keep it apart from the master key. Copy the log of erasures elsewhere as well, outside of this backup:")
    say(f"{settings.erasure_log_file}")


def restore(
    folder: Annotated[Path, Parameter(help="Folder that `kontor backup` has written.")],
    *,
    log: Log = None,
    without_erasures: Annotated[
        bool, Parameter(negative="", help="There is no log of erasures: nobody was erased since the backup was made.")
    ] = False,
) -> None:
    """Restore a backup into an empty database, migrate it, and erase again who was erased since.

    Users must log in again, and payments that were open count as sent until their bank was asked.
    """
    from kontor.bootstrap import migrate_database, with_database
    from kontor.logs import configure_logs
    from kontor.storage.backups import read_backup, restore_backup

    settings = read_settings()
    configure_logs("error", "text")
    logs = [] if without_erasures else _find_logs(settings, log)
    found = read_backup(folder, _load_present_key(settings))
    with with_database(settings, is_restored=True) as ready:
        restore_backup(found, _find_owner(ready), ready.postgres_programs)
        say(f"Restored {sum(found.manifest.rows.values())} rows of {found.manifest.made_at:%Y-%m-%d %H:%M} UTC.")
        for migration in migrate_database(ready, is_alone=True):
            say(f"applied {migration.version:04} {migration.name}")
        if without_erasures:
            say("No log of erasures was applied.")
        else:
            count, foreign = asyncio.run(_erase_again(ready, logs))
            say(f"Erased again: {count}.")
            if foreign:
                say(f"Lines of another installation or key, which name nobody here: {foreign}.")
    say("Access tokens and open web forms were removed. Run `kontor audit verify`, then start the processes.")


def _find_owner(ready: Settings) -> Secret:
    owner = ready.migration_database_url or ready.database_url
    assert owner is not None
    return owner


def _find_logs(settings: Settings, log: list[Path] | None) -> list[Path]:
    """Before anything is restored: without them, erased users would be back."""
    logs = log or [settings.erasure_log_file]
    for path in logs:
        if not path.is_file():
            raise InvalidError(
                f"{path} is not there; name the log of erasures, or say --without-erasures if nobody was erased",
                "--log",
            )
    return logs


def _load_present_key(settings: Settings) -> "SealingKey":
    """A restore never makes a key: nothing of the backup could be opened with it."""
    from kontor.bootstrap import find_master_key
    from kontor.storage.keys import KeyUnusableError
    from kontor.storage.master_keys import KeyFile

    source = find_master_key(settings)
    if isinstance(source, KeyFile) and not source.file.exists():
        raise KeyUnusableError(f"Put the master key of the backup into {source.file} first, with mode 600.")
    return source.load()


async def _erase_again(ready: Settings, logs: list[Path]) -> tuple[int, int]:
    from kontor.bootstrap import open_services

    async with open_services(replace(ready, pool_size=2), "kontor restore") as services:
        return await services.users.erase_again(logs)


def _describe(manifest: "Manifest") -> dict[str, object]:
    return {
        "kontor": manifest.kontor_version,
        "schema": manifest.schema_version,
        "postgresql": manifest.postgresql_version,
        "key": manifest.key_fingerprint,
        "bytes": manifest.dump_bytes,
        "sha256": manifest.dump_sha256,
        "rows": sum(manifest.rows.values()),
    }
