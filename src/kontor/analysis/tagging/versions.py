"""The version of the tagger, which is kept with every tag."""

from collections.abc import Iterator
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

# Raised when the code decides differently on the same knowledge.
ENGINE_VERSION = 11


def _list_all_files(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _list_all_files(entry)
        else:
            yield entry


def derive_version() -> str:
    """Changes with the engine, and with every byte of knowledge."""
    digest = blake2b(str(ENGINE_VERSION).encode(), digest_size=6)
    for file in _list_all_files(files("kontor.analysis") / "data"):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return f"{ENGINE_VERSION}-{digest.hexdigest()}"
