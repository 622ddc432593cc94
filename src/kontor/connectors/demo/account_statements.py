"""Account statements of the demo bank: one for each full month, as PDF. The same month makes the same file."""

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from kontor.connectors.demo.people.numbers import DEMO_BANK
from kontor.domain.account_statements import MAX_PER_FETCH, AccountStatement, StatementFormat, StatementNumber
from kontor.domain.products import Product
from kontor.domain.transactions import Transaction, find_day

MAX_MONTHS = 24
MARGIN, LINE, SIZE = 20.0, 5.0, 9.0  # millimetres, millimetres, points
WIDTHS = (22.0, 118.0, 30.0)
MAX_CHARACTERS = 70


def list_statements(rows: Sequence[Transaction], today: date) -> list[AccountStatement]:
    """Newest first, without their files."""
    days = [day for row in rows if not row.is_pending and (day := find_day(row)) is not None]
    found: list[AccountStatement] = []
    first = today.replace(day=1)
    while days and first > min(days) and len(found) < MAX_MONTHS:
        created, last = first, first - timedelta(days=1)
        first = last.replace(day=1)
        found.append(AccountStatement(last.month, last.year, None, None, first, last, created))
    return found


def draw_statement(product: Product, rows: Sequence[Transaction], statement: AccountStatement) -> AccountStatement:
    """With its file."""
    content = _draw(product, rows, statement)
    return AccountStatement(
        statement.number,
        statement.year,
        StatementFormat.PDF,
        content,
        statement.starts_on,
        statement.ends_on,
        statement.created_on,
        len(content),
    )


def list_new(
    product: Product, rows: Sequence[Transaction], today: date, known: Collection[StatementNumber]
) -> tuple[AccountStatement, ...]:
    """Those that are not known, newest first; as many with their files as one fetch takes."""
    missing = [
        statement for statement in list_statements(rows, today) if (statement.year, statement.number) not in known
    ]
    drawn = [draw_statement(product, rows, statement) for statement in missing[:MAX_PER_FETCH]]
    return (*drawn, *missing[MAX_PER_FETCH:])


def _draw(product: Product, rows: Sequence[Transaction], statement: AccountStatement) -> bytes:
    from fpdf import FPDF  # takes half a second, which only processes that draw statements are to spend

    first, last, created = statement.starts_on, statement.ends_on, statement.created_on
    assert first is not None
    assert last is not None
    assert created is not None
    page = FPDF(format="A4")
    page.set_margins(MARGIN, MARGIN, MARGIN)
    page.set_title(f"Kontoauszug {statement.number}/{statement.year}")
    page.set_creation_date(datetime.combine(created, time(6), UTC))
    page.add_page()
    page.set_font("Helvetica", "B", SIZE + 4)
    page.cell(0, 2 * LINE, f"Kontoauszug {statement.number}/{statement.year}", new_x="LMARGIN", new_y="NEXT")
    page.set_font("Helvetica", "", SIZE)
    for line in (DEMO_BANK, product.holder, f"{product.name} {product.iban or product.account_number or ''}"):
        page.cell(0, LINE, _fit(line), new_x="LMARGIN", new_y="NEXT")
    page.cell(0, LINE, f"{first:%d.%m.%Y} bis {last:%d.%m.%Y}", new_x="LMARGIN", new_y="NEXT")
    page.ln(LINE)
    for row in rows:
        day = None if row.is_pending or not row.amount.is_finite() else find_day(row)
        if day is not None and first <= day <= last:
            text = " ".join(part for part in (row.counterparty_name, row.purpose or row.booking_text) if part)
            cells = (f"{day:%d.%m.%Y}", _fit(text), _show(row.amount, row.currency))
            for width, cell, align in zip(WIDTHS, cells, "LLR", strict=True):
                page.cell(width, LINE, cell, align=align)
            page.ln(LINE)
    return bytes(page.output())


def _fit(text: str) -> str:
    """In the characters of the fonts that every reader has."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable[:MAX_CHARACTERS].encode("latin-1", "replace").decode("latin-1")


def _show(amount: Decimal, currency: str) -> str:
    return f"{amount:,.2f} {currency}".translate(str.maketrans(",.", ".,"))
