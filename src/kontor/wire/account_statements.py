"""Account statements (Kontoauszüge) as the customer interface lists them, and names of their files."""

from typing import Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from kontor.domain.account_statements import StatementFormat, StatementState, StoredStatement

Format = Literal["PDF", "MT940", "CAMT", "ISO8583", "UNBEKANNT"]
State = Literal["VORHANDEN", "GELISTET", "ZU_GROSS"]
FORMATS: dict[StatementFormat, Format] = {
    StatementFormat.PDF: "PDF",
    StatementFormat.MT940: "MT940",
    StatementFormat.CAMT: "CAMT",
    StatementFormat.ISO_8583: "ISO8583",
    StatementFormat.OTHER: "UNBEKANNT",
}
STATES: dict[StatementState, State] = {
    StatementState.STORED: "VORHANDEN",
    StatementState.LISTED: "GELISTET",
    StatementState.TOO_LARGE: "ZU_GROSS",
}
PDF, OTHER_FILE = "application/pdf", "application/octet-stream"


class Kontoauszug(msgspec.Struct):
    id: UUID
    status: State
    nummer: int | UnsetType = UNSET
    jahr: int | UnsetType = UNSET
    format: Format | UnsetType = UNSET
    von: str | UnsetType = UNSET
    bis: str | UnsetType = UNSET
    erstellt: str | UnsetType = UNSET
    groesse: int | UnsetType = UNSET


def show_statement(statement: StoredStatement) -> Kontoauszug:
    days = (statement.starts_on, statement.ends_on, statement.created_on)
    starts_on, ends_on, created_on = (UNSET if day is None else day.isoformat() for day in days)
    return Kontoauszug(
        id=statement.id,
        status=STATES[statement.state],
        nummer=UNSET if statement.number is None else statement.number,
        jahr=UNSET if statement.year is None else statement.year,
        format=UNSET if statement.format is None else FORMATS[statement.format],
        von=starts_on,
        bis=ends_on,
        erstellt=created_on,
        groesse=UNSET if statement.size is None else statement.size,
    )


def find_media_type(statement: StoredStatement) -> str:
    """What is no PDF is not to be shown in a browser."""
    return PDF if statement.format is StatementFormat.PDF else OTHER_FILE


def name_file(statement: StoredStatement) -> str:
    """Of numbers and fixed words alone: nothing that a bank has written is in it."""
    numbers = [str(number) for number in (statement.year, statement.number) if number is not None]
    return "-".join(["kontoauszug", *(numbers or [statement.id.hex[:8]])]) + _find_extension(statement.format)


def _find_extension(format: StatementFormat | None) -> str:
    match format:
        case StatementFormat.PDF:
            return ".pdf"
        case StatementFormat.MT940:
            return ".sta"
        case StatementFormat.CAMT:
            return ".xml"
    return ".bin"
