"""Which kind of file is it? And then: read it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kontor.connectors.statements.camt import read_camt
from kontor.connectors.statements.csv_descriptions import describe_table
from kontor.connectors.statements.csv_files import read_csv
from kontor.connectors.statements.csv_profiles import Profile, load_profiles
from kontor.connectors.statements.csv_tables import find_layout
from kontor.connectors.statements.decoding import cut_head, decode_text
from kontor.connectors.statements.mt535 import read_mt535
from kontor.connectors.statements.mt940 import read_mt940
from kontor.connectors.statements.ofx import is_ofx, read_ofx
from kontor.connectors.statements.pdf_files import is_pdf, read_pdf
from kontor.connectors.statements.qif import is_qif, read_qif
from kontor.connectors.statements.results import (
    LIMITS,
    Holdings,
    Limits,
    Statement,
    StatementError,
    TooManyEntriesError,
    UnknownTable,
)
from kontor.connectors.statements.zips import read_zip

HEAD_BYTES = 65_536
_CAMT = re.compile(r"camt\.05[234]|<(?:\w+:)?BkToCstmr(?:AcctRpt|Stmt|DbtCdtNtfctn)\b")
_MT535 = re.compile(r"(?:^|\n|@@):(?:16R:(?:GENL|FIN)|28E:)")
_MT940 = re.compile(r"(?:^|\n|@@):(?:20|25|28C?|60[FM]|61|34F|13D?):")


class FileKind(StrEnum):
    MT940 = "MT940"
    MT535 = "MT535"
    CAMT = "camt"
    CSV = "CSV"
    OFX = "OFX"
    QIF = "QIF"
    PDF = "PDF"
    ZIP = "zip"


@dataclass(frozen=True, slots=True)
class Readings:
    """All that a file holds."""

    kind: FileKind
    statements: tuple[Statement, ...] = ()
    holdings: tuple[Holdings, ...] = ()


class UnknownFormError(StatementError):
    """A CSV whose columns are those of no form that was tried."""

    def __init__(self, table: UnknownTable) -> None:
        super().__init__("The columns of this CSV are those of no form that Kontor knows.")
        self.table = table


def detect_kind(data: bytes, profiles: Sequence[Profile] | None = None) -> FileKind | None:
    """By the first bytes alone, never by a name. None for what is none of ours."""
    if data.startswith(b"PK\x03\x04"):
        return FileKind.ZIP
    if is_pdf(data):
        return FileKind.PDF
    head = cut_head(data, HEAD_BYTES)
    text = decode_text(head).lstrip("\ufeff\x00\r\n\t ").replace("\r", "\n")
    if is_ofx(text):
        return FileKind.OFX
    if is_qif(text):
        return FileKind.QIF
    if text.startswith("<"):
        return FileKind.CAMT if _CAMT.search(text) else None
    if _MT535.search(text):
        return FileKind.MT535
    if _MT940.search(text):
        return FileKind.MT940
    tried = load_profiles() if profiles is None else profiles
    return FileKind.CSV if find_layout(head, tried) is not None else None


def read_statements(data: bytes, limits: Limits = LIMITS, profiles: Sequence[Profile] | None = None) -> Readings:
    """The file as what it is. A zip may hold files of any kind but zips.

    `profiles` are the CSV layouts that are tried: ours unless others are given.
    """
    kind = detect_kind(data, profiles)
    if kind is FileKind.ZIP:
        return _read_archive(data, limits, profiles)
    if kind is None:
        table = describe_table(data)
        if table is not None:
            raise UnknownFormError(table)
        raise StatementError("This is no statement file that Kontor knows.")
    read = _read_single(kind, data, limits, profiles)
    if not read.statements and not read.holdings:
        raise StatementError("There is no statement in the file.")
    return read


def _read_single(kind: FileKind, data: bytes, limits: Limits, profiles: Sequence[Profile] | None) -> Readings:
    match kind:
        case FileKind.CAMT:
            return Readings(kind, read_camt(data, limits))
        case FileKind.MT535:
            return Readings(kind, holdings=read_mt535(data, limits))
        case FileKind.OFX:
            return Readings(kind, read_ofx(data, limits))
        case FileKind.QIF:
            return Readings(kind, read_qif(data, limits))
        case FileKind.PDF:
            return Readings(kind, read_pdf(data, limits))
        case FileKind.CSV:
            return Readings(kind, read_csv(data, limits, profiles))
        case _:
            return Readings(FileKind.MT940, read_mt940(data, limits))


def _read_archive(data: bytes, limits: Limits, profiles: Sequence[Profile] | None) -> Readings:
    statements: list[Statement] = []
    holdings: list[Holdings] = []
    count = 0
    for name, content in read_zip(data, limits):
        kind = detect_kind(content, profiles)
        if kind is None or kind is FileKind.ZIP:
            raise StatementError("This is no statement file that Kontor knows.", field=name)
        read = _read_single(kind, content, limits, profiles)
        statements += [_name_file(statement, name) for statement in read.statements]
        holdings += read.holdings
        count += sum(len(statement.entries) for statement in read.statements)
        if count > limits.entries:
            raise TooManyEntriesError(f"There are more than {limits.entries} bookings.")
    if not statements and not holdings:
        raise StatementError("There is no statement in the zip.")
    return Readings(FileKind.ZIP, tuple(statements), tuple(holdings))


def _name_file(statement: Statement, name: str) -> Statement:
    """In a zip a line alone does not say where a rejected row stands."""
    if not statement.rejected:
        return statement
    return replace(
        statement, rejected=tuple(replace(row, reason=f"{name}: {row.reason}") for row in statement.rejected)
    )
