"""Bytes of a statement file as text. Hardly a bank says which encoding it used, and some say it wrongly."""

import re

from kontor.connectors.statements.results import Limits, StatementError

BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
# Umlauts of the DOS code page between letters; in Windows' code page these bytes are quotation marks or nothing.
_DOS_UMLAUT = re.compile(rb"[A-Za-z][\x81\x84\x94\xe1\x8e\x99\x9a](?=[A-Za-z])")
_WINDOWS_UMLAUT = re.compile(rb"[\xe4\xf6\xfc\xdf\xc4\xd6\xdc]")
_SAMPLE = 200_000


def check_size(data: bytes, limits: Limits) -> None:
    if len(data) > limits.size:
        raise StatementError(f"The file is larger than {limits.size} bytes.")


def decode_text(data: bytes) -> str:
    return decode_named(data)[0]


def decode_named(data: bytes) -> tuple[str, str]:
    """The text and the name of its encoding. Every byte becomes something.

    UTF-8 if it is, UTF-16 if it looks so, otherwise Windows' or DOS' code page.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace"), encoding
    if data.isascii() and b"\x00" not in data[:100]:
        return data.decode("ascii"), "utf-8"
    head = data[:100]
    if head[1::2].count(0) > len(head) // 3:
        return data.decode("utf-16-le", "replace"), "utf-16-le"
    if head[0::2].count(0) > len(head) // 3:
        return data.decode("utf-16-be", "replace"), "utf-16-be"
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if error.start > len(data) - 4:  # cut within its last character
            return data[: error.start].decode("utf-8"), "utf-8"
        return _decode_code_page(data)


def cut_head(data: bytes, size: int) -> bytes:
    """The first lines: a cut within a character would make the rest look like another encoding."""
    if len(data) <= size:
        return data
    end = data.rfind(b"\n", 0, size)
    return data[: size if end < 0 else end + 1]


def _decode_code_page(data: bytes) -> tuple[str, str]:
    sample = data[:_SAMPLE]
    if len(_DOS_UMLAUT.findall(sample)) > len(_WINDOWS_UMLAUT.findall(sample)):
        return data.decode("cp850"), "cp850"
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:  # five bytes mean nothing there
        return data.decode("latin-1"), "latin-1"
