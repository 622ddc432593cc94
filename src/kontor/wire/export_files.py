"""An export as a file: its kind, its name, its bytes."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from kontor.domain.clocks import BERLIN
from kontor.domain.stored_products import StoredProduct
from kontor.services.statements import Exports, Owner, Span
from kontor.wire.beancount import Beancount
from kontor.wire.bookkeeping import BookFormat, write_book
from kontor.wire.csv_exports import Dialect, write_csv
from kontor.wire.exports import write_export
from kontor.wire.gnucash import GnuCash
from kontor.wire.hledger import Hledger

ExportFormat: TypeAlias = Annotated[
    Literal["json", "csv", "beancount", "hledger", "gnucash"], Meta(title="ExportFormat")
]
MEDIA_TYPES: dict[ExportFormat, str] = {
    "json": "application/json",
    "csv": "text/csv",
    "beancount": "text/plain",
    "hledger": "text/plain",
    "gnucash": "application/xml",
}
BOOKS: dict[ExportFormat, type[BookFormat]] = {"beancount": Beancount, "hledger": Hledger, "gnucash": GnuCash}
# Where the programs know their files by another ending than the name of the format.
ENDINGS: dict[ExportFormat, str] = {"hledger": "journal"}


def name_file(kind: ExportFormat, at: datetime, dialect: Dialect = "plain") -> str:
    """The German table has a name of its own, so that it can lie beside the other one."""
    name = "kontor-umsaetze" if (kind, dialect) == ("csv", "german") else "kontor"
    return f"{name}-{at.astimezone(BERLIN).date()}.{ENDINGS.get(kind, kind)}"


def write_file(
    exports: Exports,
    owner: Owner,
    held: list[StoredProduct],
    at: datetime,
    span: Span,
    kind: ExportFormat,
    dialect: Dialect = "plain",
) -> AsyncIterator[bytes]:
    if kind == "csv":
        pieces = write_csv(exports, owner, held, span, dialect)
    elif kind in BOOKS:
        pieces = write_book(BOOKS[kind](), exports, owner, held, at.astimezone(BERLIN).date(), span)
    else:
        pieces = write_export(exports, owner, held, at, span)
    return _end_if_whole(exports, owner, pieces)


async def _end_if_whole(exports: Exports, owner: Owner, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Erasing the user empties the rest of its export: that must break off, not look like all there was."""
    last = b""
    async for piece in pieces:
        if last:
            yield last
        last = piece
    await exports.read_user(owner)
    yield last
