"""A letter as a PDF page: places after DIN 5008 (form B), text in a font that has all letters of European names."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fpdf import FPDF

FAMILY = "DejaVu"
FACES = {"": "DejaVuSansCondensed.ttf", "B": "DejaVuSansCondensed-Bold.ttf"}
LEFT, RIGHT, TOP, BOTTOM = 25.0, 20.0, 20.0, 20.0  # millimetres
RECIPIENT_TOP, RECIPIENT_WIDTH, BODY_TOP = 62.7, 85.0, 98.0
LABEL_WIDTH = 52.0
SIZE, SMALL, LINE = 10.5, 7.5, 5.2
GREY = 110
MAX_RECIPIENT_LINES = 4


@dataclass(frozen=True, slots=True)
class Letter:
    """What stands where. A value that is empty is to be filled in by hand, on a line of its own."""

    language: str
    sender: str
    sender_hint: str
    recipient: Sequence[str]
    recipient_hint: str
    day: date
    day_text: str
    subject: str
    facts: Sequence[tuple[str, str]]
    paragraphs: Sequence[str]
    closing: str
    signature_hint: str
    address_hint: str


def draw_letter(letter: Letter) -> bytes:
    from fpdf import FPDF  # takes half a second, which only processes that draw letters are to spend

    page = FPDF(format="A4")
    page.set_margins(LEFT, TOP, RIGHT)
    page.set_auto_page_break(True, BOTTOM)
    for style, name in FACES.items():
        with as_file(files("kontor.wire.letters") / "fonts" / name) as path:
            page.add_font(FAMILY, style, path)
    page.set_lang(letter.language)
    page.set_title(letter.subject)
    page.set_creation_date(datetime.combine(letter.day, time(12), UTC))
    page.add_page()
    _draw_sender(page, letter)
    _draw_recipient(page, letter)
    _draw_body(page, letter)
    return bytes(page.output())


def _write(page: "FPDF", text: str, *, style: str = "", width: float = 0, align: str = "L") -> None:
    page.set_font(FAMILY, style, SIZE)
    page.multi_cell(width, LINE, text, align=align, new_x="LMARGIN", new_y="NEXT")


def _draw_blank(page: "FPDF", hint: str, lines: int = 1) -> None:
    """Lines to write on, and below them what belongs there."""
    width = RECIPIENT_WIDTH
    page.set_draw_color(GREY)
    for _ in range(lines):
        page.ln(LINE + 2)
        page.line(page.get_x(), page.get_y(), page.get_x() + width, page.get_y())
    page.set_font(FAMILY, "", SMALL)
    page.set_text_color(GREY)
    page.cell(width, LINE - 1, hint, new_x="LMARGIN", new_y="NEXT")
    page.set_text_color(0)


def _draw_sender(page: "FPDF", letter: Letter) -> None:
    if letter.sender:
        _write(page, letter.sender, style="B", width=RECIPIENT_WIDTH)
    else:
        _draw_blank(page, letter.sender_hint)
    _draw_blank(page, letter.address_hint, 2)


def _draw_recipient(page: "FPDF", letter: Letter) -> None:
    page.set_y(max(page.get_y() + LINE, RECIPIENT_TOP))
    for line in letter.recipient[:MAX_RECIPIENT_LINES]:
        _write(page, line, width=RECIPIENT_WIDTH)
    if not letter.recipient:
        _draw_blank(page, letter.recipient_hint)
    if len(letter.recipient) < 2:  # the name alone
        _draw_blank(page, letter.address_hint, 2)


def _draw_body(page: "FPDF", letter: Letter) -> None:
    page.set_y(max(page.get_y() + LINE, BODY_TOP))
    _write(page, letter.day_text, align="R")
    page.ln(LINE)
    _write(page, letter.subject, style="B")
    page.ln(LINE / 2)
    for label, value in letter.facts:
        _draw_fact(page, label, value)
    page.ln(LINE)
    for paragraph in letter.paragraphs:
        _write(page, paragraph)
        page.ln(LINE / 2)
    page.ln(LINE / 2)
    _write(page, letter.closing)
    page.ln(3 * LINE)
    _draw_blank(page, letter.signature_hint)
    if letter.sender:
        _write(page, letter.sender)


def _draw_fact(page: "FPDF", label: str, value: str) -> None:
    page.set_font(FAMILY, "", SIZE)
    top = page.get_y()
    page.cell(LABEL_WIDTH, LINE, f"{label}:")
    if value:
        page.multi_cell(0, LINE, value, align="L", new_x="LMARGIN", new_y="NEXT")
        return
    page.set_draw_color(GREY)
    page.line(LEFT + LABEL_WIDTH, top + LINE, LEFT + LABEL_WIDTH + 60, top + LINE)
    page.ln(LINE + 1)
