"""The picture of a photoTAN: a coloured mosaic, as such apps scan it."""

import struct
import zlib
from hashlib import sha256

CELLS = 24
CELL_PIXELS = 10
PALETTE = (b"\xff\xff\xff", b"\x00\x33\x99", b"\xcc\x00\x33", b"\x00\x88\x33", b"\x11\x11\x11")


def draw_photo(seed: str = "kontor demo") -> bytes:
    """A PNG, always the same for the same seed."""
    rows = []
    for row in range(CELLS):
        colours = sha256(f"{seed} {row}".encode()).digest()
        line = b"\x00" + b"".join(PALETTE[colours[cell] % len(PALETTE)] * CELL_PIXELS for cell in range(CELLS))
        rows += [line] * CELL_PIXELS
    size = CELLS * CELL_PIXELS
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(b"".join(rows))) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
