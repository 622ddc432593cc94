"""Zips of statement files, as banks offer camt for download. What they hold is limited before it is unpacked."""

import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from kontor.connectors.statements.decoding import check_size
from kontor.connectors.statements.results import Limits, StatementError

CHUNK = 1 << 16
MAX_RATIO = 250  # camt packs to a twentieth; a bomb to a thousandth
FREE_BYTES = 1_000_000  # below this nobody asks for the ratio
METHODS = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
ENCRYPTED = 0x1


def read_zip(data: bytes, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files in it, in the archive's order. Folders and hidden files are left out."""
    check_size(data, limits)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not _is_hidden(member)]
            if len(members) > limits.files:
                raise StatementError(f"The zip holds more than {limits.files} files.")
            total = 0
            for member in members:
                content = _unpack(archive, member, limits.size - total, len(data))
                total += len(content)
                yield member.filename, content
    # What zipfile and zlib say of a damaged archive.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        raise StatementError(f"The zip cannot be read: {error}") from error


def _is_hidden(member: zipfile.ZipInfo) -> bool:
    """A folder's name ends with a slash. `is_dir` raises where a name is empty, as it is in damaged archives."""
    folder, slash, name = member.filename.rpartition("/")
    is_folder = bool(slash) and not name
    return is_folder or name.startswith(".") or f"{folder}/".startswith("__MACOSX/")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int, packed_size: int) -> bytes:
    """In pieces: a header may lie about the size."""
    if member.compress_type not in METHODS:
        raise StatementError("The zip is packed in a way that is not supported.", field=member.filename)
    if member.flag_bits & ENCRYPTED:
        raise StatementError("The zip is encrypted.", field=member.filename)
    pieces, size = [], 0
    with archive.open(member) as file:
        while piece := file.read(CHUNK):
            size += len(piece)
            if size > left or (size > FREE_BYTES and size > MAX_RATIO * packed_size):
                raise StatementError("The zip unpacks to more than it may.", field=member.filename)
            pieces.append(piece)
    return b"".join(pieces)
