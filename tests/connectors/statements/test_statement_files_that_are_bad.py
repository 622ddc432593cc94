"""Bombs, giants, fragments and the wrong encoding: a `StatementError`, or what could be read. Never anything else."""

import ast
import tracemalloc
import zipfile
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import pytest
from statement_strategies import TODAY

import kontor.connectors.statements
from kontor.connectors.demo.people import person_for
from kontor.connectors.statements import (
    LIMITS,
    FileKind,
    StatementError,
    detect_kind,
    read_camt,
    read_mt940,
    read_statements,
)
from kontor.demobank.statements import write_camt052, write_camt053, write_mt535, write_mt940, write_mt942

HEADER = (
    "Auftragskonto;Buchungstag;Valutadatum;Buchungstext;Verwendungszweck;Beguenstigter/Zahlungspflichtiger;"
    "Kontonummer/IBAN;Betrag;Waehrung;Info\n"
)


@pytest.fixture(scope="module")
def shaped() -> dict[str, bytes]:
    """Real-shaped files of every kind, of one demo person."""
    person = person_for("vermoegend", TODAY)
    product = person.accounts[0].product
    rows = [entry.transaction for entry in person.accounts[0].entries]
    rows = [*rows[100:110], *rows[-2:]]
    depot = next(account for account in person.accounts if account.positions)
    csv = HEADER + "".join(
        f"DE1;0{day}.11.26;01.11.26;Kauf;Zweck {day};Laden;DE1;-{day},00;EUR;\n" for day in range(1, 9)
    )
    return {
        "mt940": write_mt940(product, rows, Decimal("1.00"), day=TODAY),
        "mt942": write_mt942(product, rows, day=TODAY),
        "camt052": write_camt052(product, rows, Decimal("1.00"), day=TODAY),
        "camt053": write_camt053(product, rows, Decimal("1.00"), day=TODAY, version="08"),
        "mt535": write_mt535(depot.product, depot.positions[:4], day=TODAY),
        "csv": csv.encode("cp1252"),
    }


def pack(files: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_every_kind_of_file_is_recognised_by_its_content(shaped):
    kinds = {name: detect_kind(content) for name, content in shaped.items()}
    assert kinds == {
        "mt940": FileKind.MT940,
        "mt942": FileKind.MT940,
        "camt052": FileKind.CAMT,
        "camt053": FileKind.CAMT,
        "mt535": FileKind.MT535,
        "csv": FileKind.CSV,
    }
    assert detect_kind(b"%PDF-1.7") is FileKind.PDF
    assert detect_kind(b"") is None


def test_a_zip_gives_what_all_its_files_give(shaped):
    read = read_statements(pack({"a/1.xml": shaped["camt053"], "a/2.sta": shaped["mt940"], "__MACOSX/x": b"?"}))
    alone = [*read_statements(shaped["camt053"]).statements, *read_statements(shaped["mt940"]).statements]
    assert list(read.statements) == alone


def test_a_file_without_a_name_is_read_from_a_zip(shaped):
    """As fuzzing found it (seed 1, number 364486): names end at their first NUL."""
    packed = pack({"1.xml": shaped["camt053"], "folder/": b"", "folder/.hidden": b"?"}).replace(b"1.xml", b"\0.xml")
    assert read_statements(packed).statements == read_statements(shaped["camt053"]).statements


@pytest.mark.parametrize(
    "make_content",
    [
        lambda: pack({"bomb.xml": b"<" + b"a" * 300_000_000}),  # packing takes seconds: not while tests are collected
        lambda: pack({"inner.zip": pack({"a.xml": b"<x/>"})}),
        lambda: pack({}),
        lambda: pack({"a.xml": b"<Document>camt.053</Document>"})[:-30],
        lambda: b"PK\x03\x04" + b"\x00" * 100,
    ],
    ids=["bomb", "zip in zip", "empty", "cut", "nothing"],
)
def test_a_bad_zip_is_refused_without_unpacking_it(make_content):
    content = make_content()
    tracemalloc.start()
    with pytest.raises(StatementError):
        read_statements(content)
    assert tracemalloc.get_traced_memory()[1] < 150_000_000
    tracemalloc.stop()


ENTITIES = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "content",
    [
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{ENTITIES}]><Document>camt.053 &a9;</Document>'.encode(),
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{ENTITIES}]><Document>camt.053 &a9;</Document>'.encode(
            "utf-16"
        ),
        b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><Document>camt.053<Stmt><Id>&f;</Id></Stmt></Document>',
        b'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><Document>camt.053</Document>',
        b"<Document><!-- camt.053 -->" + b"<a>" * 100_000,
        b"<Document><Stmt><Ntry>camt.053" + b"<a>" * 200 + b"</a>" * 200 + b"</Ntry></Stmt></Document>",
        b'<?xml version="1.0" encoding="UTF-7"?><Document>camt.053</Document>',
        b"<Document>camt.053 &undefined;</Document>",
        b"<Document " + b" ".join(b'a%d="camt.053"' % n for n in range(20_000)) + b"/>",
    ],
    ids=["laughs", "laughs in UTF-16", "file", "network", "depth", "deep entry", "encoding", "entity", "attributes"],
)
def test_an_xml_bomb_is_refused(content):
    with pytest.raises(StatementError):
        read_camt(content)
    with pytest.raises(StatementError):
        read_statements(content)


def test_a_statement_of_ten_megabytes_is_read(shaped):
    entry = shaped["mt940"][shaped["mt940"].index(b":61:") : shaped["mt940"].index(b":62F:")]
    count = 10_000_000 // len(entry)
    large = b":20:X\r\n:25:1/2\r\n:60F:C261101EUR0,\r\n" + entry * count + b":62F:C261101EUR1,\r\n-"
    (statement,) = read_mt940(large)
    assert len(statement.entries) == count * entry.count(b":61:")
    assert len(statement.issues) == 1


@pytest.mark.parametrize("name", ["mt940", "mt942", "camt052", "camt053", "mt535", "csv"])
def test_a_file_cut_anywhere_is_read_or_refused(shaped, name):
    content = shaped[name]
    for end in range(0, len(content), max(1, len(content) // 120)):
        try:
            read_statements(content[:end])
        except StatementError:
            continue


@pytest.mark.parametrize("name", ["mt940", "camt052", "mt535", "csv"])
def test_limits_are_kept(shaped, name):
    for limits in (replace(LIMITS, size=100), replace(LIMITS, entries=1), replace(LIMITS, line_length=3)):
        with pytest.raises(StatementError):
            read_statements(shaped[name], limits)


def test_camt_that_lies_about_its_encoding_is_read(shaped):
    text = shaped["camt052"].decode()
    latin = text.encode("latin-1", "replace")
    wrong = read_camt(latin)  # it says UTF-8
    right = read_camt(latin.replace(b'encoding="UTF-8"', b'encoding="ISO-8859-1"'))
    wide = read_camt(text.replace("UTF-8", "UTF-16").encode("utf-16"))
    assert wrong == right
    assert wide == read_camt(shaped["camt052"])


def test_no_parser_catches_everything():
    broad = {"Exception", "BaseException"}
    for file in Path(kontor.connectors.statements.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else broad
                assert not names & broad, f"{file.name}:{node.lineno}"
