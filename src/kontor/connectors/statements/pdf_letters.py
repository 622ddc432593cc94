"""The letters of a PDF and where they stand, by pdfminer.six. Importing it takes a quarter of a second."""

import io
import logging
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import LTChar, LTContainer, LTItem
from pdfminer.pdfdocument import PDFPasswordIncorrect, PDFTextExtractionNotAllowed
from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
from pdfminer.pdfpage import PDFPage
from pdfminer.psexceptions import PSException

from kontor.connectors.statements.results import StatementError

MAX_PAGES = 200
MAX_CHARACTERS = 2_000_000
# How the library fails on files that are damaged.
DAMAGES = (
    PSException,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)

logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # its warnings quote the file


@dataclass(frozen=True, slots=True)
class Letter:
    text: str
    left: float
    right: float
    bottom: float
    size: float


def list_pages(data: bytes) -> Iterator[list[Letter]]:
    """The letters of one page after the other. Raises StatementError."""
    try:
        yield from _list_pages(data)
    except (PDFPasswordIncorrect, PDFTextExtractionNotAllowed) as error:
        raise StatementError("The PDF is protected by a password.") from error
    except DAMAGES as error:
        raise StatementError("The PDF cannot be read.") from error


def _list_pages(data: bytes) -> Iterator[list[Letter]]:
    resources = PDFResourceManager()
    # Without layout analysis: it guesses at columns of prose, and tables are none.
    device = PDFPageAggregator(resources, laparams=None)
    interpreter = PDFPageInterpreter(resources, device)
    count = 0
    for number, page in enumerate(PDFPage.get_pages(io.BytesIO(data)), 1):
        if number > MAX_PAGES:
            raise StatementError(f"The PDF has more than {MAX_PAGES} pages.")
        interpreter.process_page(page)
        letters = list(_list_letters(device.get_result()))
        count += len(letters)
        if count > MAX_CHARACTERS:
            raise StatementError(f"The PDF has more than {MAX_CHARACTERS} characters.")
        yield letters


def _list_letters(item: LTItem) -> Iterator[Letter]:
    """Those that stand upright: banks print numbers for their own machines along the edge."""
    if isinstance(item, LTChar):
        if item.upright and item.height > 0:
            yield Letter(item.get_text(), item.x0, item.x1, item.matrix[5], item.height)
    elif isinstance(item, LTContainer):
        for part in item:
            yield from _list_letters(part)
