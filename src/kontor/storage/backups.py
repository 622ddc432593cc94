"""Backups: a dump by PostgreSQL's own program and a manifest beside it (ADR 0061).

The manifest says what the dump contains and has a keyed digest under the master key, so that a damaged, exchanged or
foreign backup is noticed before anything is written.
"""

import hashlib
import hmac
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from kontor import __version__
from kontor.domain.secrets import Secret
from kontor.storage.connections import connect_blocking
from kontor.storage.keys import SealingKey
from kontor.storage.migrate import MIGRATION_OPTIONS, read_migrations
from kontor.storage.postgres_programs import find_program, list_contents, run_program

Connection = psycopg.Connection[TupleRow]

DUMP, MANIFEST = "database.dump", "manifest.json"
CHUNK_BYTES = 1024 * 1024
PURPOSE = "backup manifest"
EXTENSION = re.compile(r"^\d+; \d+ \d+ (COMMENT - )?EXTENSION ")  # in a list of contents

LIST_TABLES = """
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition order by relname
"""
FIND_ANYTHING = """
    select relname from pg_class where relnamespace = 'public'::regnamespace
        and not exists (select 1 from pg_depend where objid = pg_class.oid and deptype = 'e')
    union all select proname from pg_proc where pronamespace = 'public'::regnamespace
        and not exists (select 1 from pg_depend where objid = pg_proc.oid and deptype = 'e')
    limit 1
"""
IS_OWNER = """
    select coalesce(bool_and(pg_has_role(relowner, 'usage')), true)
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
"""
# What a restored database must not go on with. A payment that was open may have been sent after the backup was made:
# it counts as sent, and its bank is asked. Tokens may have been revoked since, pushes sent.
LEAVE_BEHIND = (
    "update payments set state = 'SENDING', sent_at = coalesce(sent_at, now()), fence = null, expires_at = now()"
    " where state = 'OPEN'",
    "delete from access_tokens",
    "delete from assistant_grants",
    "delete from redirect_sessions",
    "delete from push_messages",
)


class BackupError(Exception):
    """A backup that cannot be made or restored, in words for the operator."""


class Manifest(msgspec.Struct, frozen=True):
    """What a backup is. `digest` is keyed, and covers all the rest."""

    kontor_version: str
    schema_version: int
    postgresql_version: int
    made_at: datetime
    key_fingerprint: str
    dump_bytes: int
    dump_sha256: str
    rows: dict[str, int]
    digest: str = ""

    def sign(self, master: SealingKey) -> "Manifest":
        return msgspec.structs.replace(self, digest=self._compute_digest(master))

    def is_signed_by(self, master: SealingKey) -> bool:
        return hmac.compare_digest(self.digest.encode(), self._compute_digest(master).encode())

    def _compute_digest(self, master: SealingKey) -> str:
        content = msgspec.json.encode(msgspec.structs.replace(self, digest=""), order="sorted")
        return master.digest(PURPOSE, content.decode()).hex()


@dataclass(frozen=True, slots=True)
class Backup:
    """A folder that was checked."""

    folder: Path
    manifest: Manifest

    @property
    def dump(self) -> Path:
        return self.folder / DUMP


def make_backup(owner_url: Secret, master: SealingKey, folder: Path, programs: Path | None = None) -> Backup:
    """Of a database in use. Dump and numbers of rows are those of one moment."""
    if folder.exists():
        raise BackupError(f"{folder} exists. A backup is never overwritten: choose another name.")
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    try:
        unfinished.mkdir(mode=0o700)
    except FileExistsError:
        raise BackupError(f"{unfinished} is left from a backup that was ended, or is being written.") from None
    try:
        manifest = _dump(owner_url, master, unfinished / DUMP, programs)
        _write(unfinished / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        for place in (unfinished / DUMP, unfinished):
            _sync(place)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    _sync(folder.absolute().parent)
    return Backup(folder, manifest)


def _dump(owner_url: Secret, master: SealingKey, file: Path, programs: Path | None) -> Manifest:
    """All that is counted or dumped is seen by one snapshot."""
    with connect_blocking(owner_url, autocommit=True, options=MIGRATION_OPTIONS) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        version = connection.info.server_version // 10_000
        program = find_program("pg_dump", version, programs)
        with connection.transaction():
            _require_owner(connection)
            schema_version = _read_schema_version(connection)
            rows = _count_rows(connection)
            snapshot = connection.execute("select pg_export_snapshot()").fetchone()
            assert snapshot is not None
            file.touch(mode=0o600)
            arguments = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot[0]}"]
            run_program(program, owner_url, [*arguments, f"--file={file}"])
    size, digest = _measure(file)
    made_at, key = datetime.now(UTC), master.fingerprint
    return Manifest(__version__, schema_version, version, made_at, key, size, digest, rows).sign(master)


def read_backup(folder: Path, master: SealingKey) -> Backup:
    """Raises BackupError for one that is damaged, of another key, or too new for this version."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise BackupError(f"{folder} is not a backup: it has no {MANIFEST}.") from None
    except msgspec.DecodeError:
        raise BackupError(f"{folder / MANIFEST} is damaged. Use another backup.") from None
    if manifest.key_fingerprint != master.fingerprint:
        raise BackupError(
            f"This backup was made under the master key {manifest.key_fingerprint}, and the present one is"
            f" {master.fingerprint}. Set the key of the backup; `kontor key rewrap` changes it afterwards."
        )
    if not manifest.is_signed_by(master):
        raise BackupError(f"{folder / MANIFEST} was changed. Use another backup.")
    own = read_migrations()[-1].version
    if manifest.schema_version > own:
        raise BackupError(
            f"This backup has schema version {manifest.schema_version}, and this Kontor knows {own}."
            f" Install Kontor {manifest.kontor_version} or newer."
        )
    dump = folder / DUMP
    if not dump.is_file() or _measure(dump) != (manifest.dump_bytes, manifest.dump_sha256):
        raise BackupError(f"{dump} is damaged or incomplete. Use another backup.")
    return Backup(folder, manifest)


def restore_backup(backup: Backup, owner_url: Secret, programs: Path | None = None) -> None:
    """Into an empty database: all of it or nothing."""
    with connect_blocking(owner_url, autocommit=True, options=MIGRATION_OPTIONS) as connection:
        if connection.execute(FIND_ANYTHING).fetchone() is not None:
            raise BackupError("The database is not empty. Restore into a new one: `create database … owner …`.")
        version = connection.info.server_version // 10_000
        if version < backup.manifest.postgresql_version:
            raise BackupError(
                f"The backup is of PostgreSQL {backup.manifest.postgresql_version}, and this server is {version}."
            )
        _load(backup, owner_url, find_program("pg_restore", version, programs))
        if _count_rows(connection) != backup.manifest.rows:
            raise BackupError("The restored database does not have the rows of the manifest. Do not use it.")
        with connection.transaction():
            for statement in LEAVE_BEHIND:
                connection.execute(statement)
        connection.execute("analyze")


# Parts


def _require_owner(connection: Connection) -> None:
    """Row-level security would hide rows from anybody else."""
    if connection.execute(IS_OWNER).fetchone() != (True,):
        raise BackupError(
            "A backup is made by the owner of the tables, who sees all rows. Set KONTOR_MIGRATION_DATABASE_URL."
        )


def _read_schema_version(connection: Connection) -> int:
    if connection.execute("select to_regclass('schema_migrations')").fetchone() == (None,):
        raise BackupError("The database was never migrated: there is nothing to back up.")
    row = connection.execute("select max(version) from schema_migrations").fetchone()
    assert row is not None
    return int(row[0])


def _load(backup: Backup, owner_url: Secret, program: Path) -> None:
    """Without extensions, such as those of monitoring: an owner may not create them, and Kontor needs none."""
    listed = list_contents(program, backup.dump)
    with tempfile.NamedTemporaryFile("w", suffix=".list") as file:
        file.write("".join(f"{line}\n" for line in listed if not EXTENSION.search(line)))
        file.flush()
        arguments = ["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]
        run_program(program, owner_url, [*arguments, f"--use-list={file.name}", str(backup.dump)])


def _count_rows(connection: Connection) -> dict[str, int]:
    counts = {}
    for (table,) in connection.execute(LIST_TABLES).fetchall():
        row = connection.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(table))).fetchone()
        assert row is not None
        counts[table] = int(row[0])
    return counts


def _measure(file: Path) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with file.open("rb") as handle:
        while chunk := handle.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def _write(file: Path, content: bytes) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
