"""A credit file as a page and as PDF: the same words, everything escaped, the same bytes each time."""

import io
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from uuid import UUID, uuid5

import msgspec
import pytest
from lxml import html
from msgspec import structs
from pdfminer.high_level import extract_text
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdfparser import PDFParser

from kontor.analysis.credit_files import compute_figures
from kontor.api.answers import HttpError
from kontor.api.media_types import choose_media_type
from kontor.cli.demo_truths import read_demo_person
from kontor.domain.completeness import Source
from kontor.domain.credit_files import CreditFileHead, CreditPurpose, Review, ReviewResult
from kontor.wire.canonical_json import canonicalize
from kontor.wire.credit_files import COUNTS, make_document, read_document
from kontor.wire.credit_pages.page import draw_page
from kontor.wire.credit_pages.pdf import draw_pdf

TODAY = date(2026, 11, 15)
AT = datetime(2026, 11, 15, 9, tzinfo=UTC)
HOSTILE = "</dd><script>alert(1)</script> & \"Größe\" 'x'"
REVIEW = Review(ReviewResult.CONFIRMED, HOSTILE, AT)
HEAD = CreditFileHead(UUID(int=5), 2, AT, CreditPurpose(HOSTILE), "rules", "model", UUID(int=4), REVIEW)
OFFERED = ("application/json", "text/html", "application/pdf")


@cache
def write_text():
    person = read_demo_person("schulden", TODAY)
    names = {account.id: str(uuid5(UUID(int=7), account.id)) for account in person.accounts}
    records = [structs.replace(record, account=names[record.account]) for record in person.records]
    accounts = [structs.replace(account, id=names[account.id]) for account in person.accounts]
    sources = {name: Source(None, TODAY, None) for name in names.values()}
    figures = compute_figures(records, accounts, [], {}, sources, TODAY)
    return canonicalize(msgspec.to_builtins(make_document(HEAD, figures, TODAY), builtin_types=(Decimal,))).decode()


def squeeze(text):
    return "".join(text.split())


@pytest.fixture(scope="module")
def page():
    return html.fromstring(draw_page(write_text(), "sig..nature").decode())


@pytest.fixture(scope="module")
def words():
    return squeeze(extract_text(io.BytesIO(draw_pdf(write_text(), "sig..nature"))))


def test_page_and_pdf_tell_every_figure_and_every_text(page, words):
    document, shown = read_document(write_text()), squeeze(page.text_content())
    assert len(document.luecken) > 0
    for text in (*document.nichtBekannt, *document.wuerdeAendern, *document.ausgeschlossen, "sig..nature"):
        assert squeeze(text) in shown
        assert squeeze(text) in words
    assert len(document.werte) == len(page.xpath("//tbody/tr")) == 15
    for value in document.werte:
        amount = str(value.wert) if value.name in COUNTS else f"{value.wert:,.2f}".translate(str.maketrans(",.", ".,"))
        assert amount in shown
        assert amount in words
        assert f"{len(value.umsaetze)}Ums" in shown or not value.umsaetze


def test_every_transaction_is_in_the_list_of_both(page, words):
    ids = {row for value in read_document(write_text()).werte for row in value.umsaetze}
    assert {item.text_content() for item in page.xpath("//ol/li")} == ids
    assert all(squeeze(name) in words for name in ids)


def test_what_somebody_has_written_is_text_and_nothing_else(page):
    assert page.xpath("//script") == []
    assert [value.text_content() for value in page.xpath("//dd")].count(HOSTILE) == 1
    assert HOSTILE in page.xpath("//dd")[-1].text_content()


def test_the_page_loads_nothing_and_says_so(page):
    assert page.xpath("//@src | //@href | //link | //img") == []
    assert "default-src 'none'" in page.xpath("//meta[@http-equiv]/@content")[0]


def test_the_same_file_gives_the_same_bytes():
    assert draw_pdf(write_text(), "s") == draw_pdf(write_text(), "s")
    assert draw_page(write_text(), "s") == draw_page(write_text(), "s")


def test_the_pdf_says_when_the_file_was_made_in_utc():
    [info] = PDFDocument(PDFParser(io.BytesIO(draw_pdf(write_text(), "s")))).info
    assert info["CreationDate"].startswith(b"D:20261115090000")


def test_another_signature_gives_other_bytes():
    assert draw_pdf(write_text(), "s") != draw_pdf(write_text(), "t")


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, OFFERED[0]),
        ("*/*", OFFERED[0]),
        ("application/*", OFFERED[0]),
        ("application/problem+json", OFFERED[0]),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", OFFERED[1]),
        ("text/*", OFFERED[1]),
        ("Application/PDF", OFFERED[2]),
        ("application/json;q=0.5, application/pdf;q=0.9", OFFERED[2]),
        ("application/json;q=0, */*", OFFERED[1]),
        ("text/html;q=x, application/pdf;q=0.1", OFFERED[2]),
    ],
)
def test_the_form_is_the_one_that_the_caller_prefers(accept, expected):
    assert choose_media_type(accept, OFFERED) == expected


@pytest.mark.parametrize("accept", ["image/png", "application/json;q=0", "text/plain, application/xml"])
def test_a_form_that_is_not_served_is_406(accept):
    with pytest.raises(HttpError, match="Only application/json, text/html, application/pdf") as caught:
        choose_media_type(accept, OFFERED)
    assert caught.value.status == 406
