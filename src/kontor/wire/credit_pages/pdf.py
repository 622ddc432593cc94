"""A credit file as PDF: the same words as its page. The same file gives the same bytes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from kontor.domain.clocks import BERLIN
from kontor.wire.credit_pages.contents import Contents, Line, make_contents

if TYPE_CHECKING:
    from fpdf import FPDF

FAMILY = "DejaVu"
FACES = {"": "DejaVuSansCondensed.ttf", "B": "DejaVuSansCondensed-Bold.ttf"}
MARGIN, LABEL_WIDTH, VALUE_WIDTH = 20.0, 36.0, 34.0  # millimetres
SIZE, SMALL, TINY, LINE = 10.0, 8.5, 6.5, 5.0
GREY, BLACK = 90, 20
COLUMNS = 3  # of the list of transactions


def draw_pdf(text: str, signature: str) -> bytes:
    contents = make_contents(text, signature)
    page = _make_pages(contents)
    _write(page, contents.title, size=17, style="B")
    _write(page, contents.texts["lead"], grey=True)
    page.ln(3)
    for label, value in contents.facts:
        _draw_fact(page, label, value)
    _draw_heading(page, contents.texts["figures"])
    for line in contents.lines:
        _draw_line(page, line)
    if not contents.lines:
        _write(page, contents.texts["no_figures"])
    for heading, entries in contents.lists:
        _draw_heading(page, heading)
        for entry in entries:
            _write(page, f"•  {entry}")
            page.ln(1)
    if contents.transactions:
        _draw_heading(page, contents.texts["transactions"])
        _write(page, contents.texts["transactions_hint"], grey=True)
        _draw_ids(page, contents.transactions)
    _draw_heading(page, contents.texts["signature"])
    _write(page, contents.texts["signature_hint"], grey=True)
    _write(page, contents.signature, size=SMALL)
    _write(page, f"{contents.texts['digest']}: {contents.digest}", size=SMALL)
    return bytes(page.output())


def _make_pages(contents: Contents) -> "FPDF":
    from fpdf import FPDF  # takes half a second, which only processes that draw are to spend

    class Pages(FPDF):
        def footer(self) -> None:
            self.set_y(-14)
            self.set_font(FAMILY, "", SMALL)
            self.set_text_color(GREY)
            number = contents.texts["page_number"].format(page=self.page_no())
            self.cell(0, LINE, f"{contents.document.id}   {number}", align="R")

    page = Pages(format="A4")
    page.set_margins(MARGIN, MARGIN, MARGIN)
    page.set_auto_page_break(True, MARGIN)
    for style, name in FACES.items():
        with as_file(files("kontor.wire.letters") / "fonts" / name) as path:
            page.add_font(FAMILY, style, path)
    page.set_lang("de")
    page.set_title(contents.title)
    page.set_creation_date(datetime.fromisoformat(contents.document.erstelltAm).replace(tzinfo=BERLIN).astimezone(UTC))
    page.add_page()
    return page


def _write(
    page: "FPDF", text: str, *, size: float = SIZE, style: str = "", grey: bool = False, width: float = 0
) -> None:
    page.set_font(FAMILY, style, size)
    page.set_text_color(GREY if grey else BLACK)
    page.multi_cell(width, LINE * max(1.0, size / SIZE * 0.9), text, align="L", new_x="LMARGIN", new_y="NEXT")


def _draw_heading(page: "FPDF", text: str) -> None:
    page.ln(4)
    if page.will_page_break(4 * LINE):
        page.add_page()
    _write(page, text, size=13, style="B")
    page.ln(1)


def _draw_fact(page: "FPDF", label: str, value: str) -> None:
    if page.will_page_break(2 * LINE):
        page.add_page()
    page.set_font(FAMILY, "", SIZE)
    page.set_text_color(GREY)
    page.cell(LABEL_WIDTH, LINE, label)
    page.set_text_color(BLACK)
    page.multi_cell(0, LINE, value, align="L", new_x="LMARGIN", new_y="NEXT")


def _draw_line(page: "FPDF", line: Line) -> None:
    if page.will_page_break(5 * LINE):
        page.add_page()
    width = page.epw - VALUE_WIDTH
    page.set_draw_color(220)
    page.line(page.l_margin, page.get_y(), page.l_margin + page.epw, page.get_y())
    page.ln(1.5)
    page.set_text_color(BLACK)
    page.set_font(FAMILY, "B", SIZE)
    page.cell(width, LINE, line.title)
    page.cell(VALUE_WIDTH, LINE, line.value, align="R", new_x="LMARGIN", new_y="NEXT")
    _write(page, line.text, size=SMALL, grey=True, width=width)
    if line.count:
        _write(page, f"{line.count}: {line.places}", size=SMALL, grey=True, width=width)
    page.ln(1.5)


def _draw_ids(page: "FPDF", ids: Sequence[str]) -> None:
    width = page.epw / COLUMNS
    page.set_font(FAMILY, "", TINY)
    page.set_text_color(BLACK)
    for number, name in enumerate(ids, 1):
        is_last = number % COLUMNS == 0 or number == len(ids)
        page.cell(
            width, 3.4, f"{number}  {name}", new_x="LMARGIN" if is_last else "RIGHT", new_y="NEXT" if is_last else "TOP"
        )
