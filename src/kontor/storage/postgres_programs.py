"""PostgreSQL's own programs, of the version that a server has: pg_dump and pg_restore."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kontor.domain.secrets import Secret
from kontor.storage.connections import address_writer
from kontor.storage.embedded_host import find_shipped_binaries

VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
DEBIAN = Path("/usr/lib/postgresql")


class ProgramError(Exception):
    """A program of PostgreSQL is missing or has failed, in words for the operator."""


def find_program(name: str, major_version: int, folder: Path | None = None) -> Path:
    """In `folder` if it is given; else on the PATH, where Debian has them, and beside the embedded database."""
    found: dict[int, Path] = {}
    for program in _list_candidates(name) if folder is None else [folder / name]:
        version = _read_version(program)
        if version == major_version:
            return program
        if version is not None:
            found.setdefault(version, program)
    others = ", ".join(f"{version} ({program})" for version, program in sorted(found.items())) or "none"
    raise ProgramError(
        f"The server is PostgreSQL {major_version}, and {name} of that version is needed; found: {others}."
        f" Install it (Debian: postgresql-client-{major_version}), or name its folder in KONTOR_POSTGRES_PROGRAMS."
    )


def list_contents(program: Path, dump: Path) -> list[str]:
    """The lines of `pg_restore --list`, from which those can be chosen that are to be restored."""
    done = subprocess.run(  # noqa: S603 (PostgreSQL's own program, our own arguments)
        [str(program), "--list", str(dump)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ProgramError(f"{program.name} cannot read {dump}: {_first_line(done.stderr) or done.returncode}")
    return done.stdout.splitlines()


def run_program(program: Path, url: Secret, arguments: Iterable[str]) -> None:
    """With the address of a database. Its password is passed in the environment, which no other user can read."""
    parts = conninfo_to_dict(address_writer(url))
    password = parts.pop("password", None)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KONTOR_")}
    if password is not None:
        environment["PGPASSWORD"] = str(password)
    try:
        done = subprocess.run(  # noqa: S603 (PostgreSQL's own program, our own arguments)
            [str(program), "--no-password", "--dbname", make_conninfo("", **parts), *arguments],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError as error:
        raise ProgramError(f"{program} cannot be run: {error.strerror}.") from None
    if done.returncode != 0:
        reason = _first_line(done.stderr) or f"exit code {done.returncode}"
        raise ProgramError(f"{program.name} failed: {reason}")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _list_candidates(name: str) -> Iterator[Path]:
    on_path = shutil.which(name)
    if on_path is not None:
        yield Path(on_path)
    yield from sorted(DEBIAN.glob(f"*/bin/{name}"), reverse=True)
    shipped = find_shipped_binaries()
    if shipped is not None:
        yield shipped / name


def _read_version(program: Path) -> int | None:
    try:
        said = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return None
    match = VERSION.search(said.stdout)
    return int(match[1]) if match else None
