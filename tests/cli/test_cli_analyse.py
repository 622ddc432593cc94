"""`kontor analyse`: files in, a report out, without a server, a database or a network."""

import csv
import io
import json
import re
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from html.parser import HTMLParser
from importlib.resources import files

import duckdb
import pytest

from kontor.analysis.calendars import number_month
from kontor.analysis.cashflow import find_cashflow, name_month
from kontor.analysis.cashflow.bookings import EXPENSES, INCOME
from kontor.cli import commands
from kontor.cli.file_analyses import Words, analyse, read_files, write_page
from kontor.connectors.demo.people import PERSONAS, person_for
from kontor.domain.transactions import find_day
from many_examples import few_cases
from process_tree import clean_environment
from statement_files import DAY, find_account, pack, take, write, write_bank_csv

# No module may open a connection: an audit hook sees it whatever library tries.
WITHOUT_NETWORK = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
        raise SystemExit(f"{event} {arguments}")
sys.addaudithook(refuse)
from kontor.cli.commands import run
code = run(sys.argv[1:])
assert "psycopg" not in sys.modules
sys.exit(code)
"""


@pytest.fixture
def kontor(capsys):
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        capsys.readouterr()
        code = commands.run(["analyse", *(str(argument) for argument in arguments)])
        return code, *capsys.readouterr()

    yield run
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def folder(tmp_path):
    """A student's account as MT940."""
    product, rows = find_account()
    (tmp_path / "student.sta").write_bytes(write("mt940", product, rows))
    return tmp_path


class Page(HTMLParser):
    """Rows of tables as lists of texts, and everything that could load something."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.foots, self.sources, self._texts = [], [], [], None
        self._is_foot = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.sources += [value for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        if tag == "tfoot":
            self._is_foot = True
        if tag == "tr":
            self._row = []
        if tag in ("td", "th"):
            self._texts = []

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._row.append(" ".join("".join(self._texts).split()))
            self._texts = None
        if tag == "tr":
            (self.foots if self._is_foot else self.rows).append(self._row)
        if tag == "tfoot":
            self._is_foot = False

    def handle_data(self, data):
        if self._texts is not None:
            self._texts.append(data)


def read_money(text):
    plain = "".join(text.split()).removesuffix("€")
    return Decimal(plain.replace("−", "-").replace(".", "").replace(",", "."))


@pytest.mark.programs
def test_nothing_is_needed_but_the_file(folder):
    """No database, no installation, no network, and an empty environment."""
    report = folder / "out" / "report.html"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            WITHOUT_NETWORK,
            "analyse",
            folder / "student.sta",
            "--report",
            report,
            "--today",
            str(DAY),
        ],
        env=clean_environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Fällig in den nächsten 31 Tagen" in done.stdout
    assert str(report) in done.stderr
    assert sorted(file.name for file in folder.iterdir()) == ["out", "student.sta"]
    page = report.read_text(encoding="utf-8")
    assert Page(page).sources == []
    assert "<script" not in page


@pytest.mark.parametrize("persona", few_cases(PERSONAS, 2))
def test_months_are_what_the_cashflow_says(persona, tmp_path):
    person = person_for(f"{persona}+files", DAY)
    for account in person.accounts:
        rows = [entry.transaction for entry in account.entries if not entry.transaction.is_pending]
        if account.product.iban and rows:
            (tmp_path / f"{account.key}.xml").write_bytes(write("camt.053", account.product, rows))
    found = analyse(read_files([tmp_path]), DAY, is_fixed=True)
    flows = {
        flow.item: {statistic.item: statistic.amount for statistic in flow.statistics}
        for flow in find_cashflow(found.records, found.contracts, found.accounts, DAY)
        if flow.is_aggregate
    }
    assert found.months
    for month in found.months:
        name = name_month(number_month(month.first))
        assert month.sums.earned == flows[INCOME].get(name, 0), name
        assert month.sums.spent == flows[EXPENSES].get(name, 0), name
    assert sum(sums.net for sums in found.categories.values()) == found.span.net
    for main, sums in found.categories.items():
        assert sum(part.net for part in found.subcategories[main].values()) == sums.net


def test_the_page_shows_rows_that_add_up_to_their_totals(folder):
    page = Page(write_page(analyse(read_files([folder]), DAY, is_fixed=True), "de"))
    assert len(page.foots) >= 4
    months = [row for row in page.rows if re.match(r"\w+ 20\d\d", row[0]) and len(row) == 4]
    shown = [row for row in months if "Prognose" not in row[0] and "Wahrscheinlichkeit" not in row[0]]
    total = page.foots[0]
    for column in (1, 2, 3):
        assert sum(read_money(row[column]) for row in shown) == read_money(total[column])


def test_a_booking_of_two_files_counts_once(tmp_path):
    product, rows = find_account()
    early, late = take(rows, date.min, date(2026, 6, 30)), take(rows, date(2026, 5, 1), date.max)
    (tmp_path / "a.sta").write_bytes(write("mt940", product, early))
    (tmp_path / "b.zip").write_bytes(pack(**{"b.sta": write("mt940", product, late)}))
    found = analyse(read_files([tmp_path / "a.sta", tmp_path / "b.zip", tmp_path / "a.sta"]), DAY, is_fixed=True)
    assert len(found.rows) == len(rows)
    assert len(found.accounts) == 1


def test_bookings_that_end_long_ago_are_looked_at_on_their_last_day(folder, kontor):
    found = analyse(read_files([folder]), DAY + timedelta(days=400))
    last = max(find_day(row.transaction) for row in found.rows)
    assert (found.today, found.is_dated_back) == (last, True)
    assert found.contracts, "they would all be over"
    fixed = analyse(read_files([folder]), DAY + timedelta(days=400), is_fixed=True)
    assert (fixed.today, fixed.is_dated_back) == (DAY + timedelta(days=400), False)
    assert f"enden am {last:%d.%m.%Y}" in write_page(found, "de")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("letter.txt", b"Dear Sir or Madam", "letter.txt"),
        ("table.csv", b"When;Who;What;How much\n02.11.2026;Shop;Fruit;-12,50\n", "its columns are When, Who"),
        ("empty.csv", b"", "empty.csv"),
    ],
)
def test_a_named_file_that_is_no_statement_is_refused_and_no_report_written(folder, kontor, name, content, reason):
    (folder / name).write_bytes(content)
    report = folder / "report.html"
    code, out, remarks = kontor(folder / name, "--report", report)
    assert (code, out) == (1, "")
    assert reason in remarks
    assert not report.exists()


def test_a_missing_file_and_no_file_are_refused(folder, kontor):
    code, _, remarks = kontor(folder / "nowhere.csv")
    assert (code, "nowhere.csv: cannot be read" in remarks) == (1, True)
    code, _, remarks = kontor()
    assert (code, "at least one file" in remarks) == (1, True)


def test_other_files_of_a_folder_are_skipped_and_named(folder, kontor):
    (folder / "letter.txt").write_bytes(b"Dear Sir or Madam")
    (folder / ".hidden").write_bytes(b"?")
    report = folder.parent / "report.html"
    assert kontor(folder, "--report", report, "--today", DAY)[0] == 0
    page = report.read_text(encoding="utf-8")
    assert "Nicht gelesen: letter.txt" in page
    assert ".hidden" not in page


def test_rows_are_written_with_their_tags(folder, kontor):
    for ending in ("json", "csv"):
        code, _, remarks = kontor(
            folder / "student.sta", "--report", folder / "r.html", "--rows", folder / f"rows.{ending}", "--today", DAY
        )
        assert (code, f"rows.{ending}" in remarks) == (0, True)
    rows = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
    assert len(rows) == len(find_account()[1])
    assert sum(Decimal(row["amount"]) for row in rows) == sum(row.amount for row in find_account()[1])
    assert {"category", "category_name", "partner", "category_confidence"} <= rows[0].keys()
    written = list(csv.DictReader(io.StringIO((folder / "rows.csv").read_text(encoding="utf-8"))))
    assert [(row["id"], row["amount"], row["category"]) for row in written] == [
        (row["id"], row["amount"], row["category"]) for row in rows
    ]
    code, _, remarks = kontor(folder / "student.sta", "--rows", folder / "rows.xlsx", "--report", folder / "no.html")
    assert (code, ".json, .csv, .parquet" in remarks, (folder / "no.html").exists()) == (1, True, False)


def test_rows_as_parquet_are_those_of_json_with_types(tmp_path, kontor):
    """DuckDB reads them. Texts with separators and line breaks, and missing ones, stay what they are."""
    product, rows = find_account()
    odd = replace(rows[-1], purpose='a;"b",c\'d\\\n=1', counterparty_name=None)
    (tmp_path / "a.xml").write_bytes(write("camt.053", product, [*rows[:-1], odd]))
    for ending in ("json", "parquet"):
        assert kontor(tmp_path / "a.xml", "--report", tmp_path / "r.html", "--rows", tmp_path / f"r.{ending}")[0] == 0
    expected = [
        row | {"day": date.fromisoformat(row["day"]), "amount": Decimal(row["amount"])}
        for row in json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    ]
    assert any('b",c' in (row["purpose"] or "") for row in expected)
    with duckdb.connect() as database:
        found = database.execute(f"select * from '{tmp_path / 'r.parquet'}'")
        names = [column[0] for column in found.description]
        assert [dict(zip(names, row, strict=True)) for row in found.fetchall()] == expected


def test_without_duckdb_the_refusal_says_what_to_install_and_nothing_is_written(folder, kontor, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    code, _, remarks = kontor(folder / "student.sta", "--report", folder / "r.html", "--rows", folder / "r.parquet")
    assert (code, "kontor[parquet]" in remarks) == (1, True)
    assert sorted(file.name for file in folder.iterdir()) == ["student.sta"]


def test_texts_of_strangers_are_neither_markup_nor_formulas(tmp_path, kontor):
    product, rows = find_account()
    evil = replace(rows[-1], counterparty_name="<img src=x onerror=alert(1)>", purpose="=HYPERLINK(1)")
    regular = [replace(evil, booked_at=evil.booked_at - timedelta(days=30 * back)) for back in range(6)]
    (tmp_path / "evil.xml").write_bytes(write("camt.053", product, regular))
    code, *_ = kontor(tmp_path / "evil.xml", "--report", tmp_path / "r.html", "--rows", tmp_path / "r.csv")
    assert code == 0
    assert "<img" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    written = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text(encoding="utf-8"))))
    assert all(not row["purpose"].startswith("=") for row in written)


def test_a_file_without_an_account_number_is_analysed_too(tmp_path, kontor):
    (tmp_path / "n26.csv").write_bytes(write_bank_csv("n26", "REWE", "-12,50"))
    code, out, _ = kontor(tmp_path / "n26.csv", "--report", tmp_path / "r.html", "--language", "en", "--today", DAY)
    assert code == 0
    assert "1 transaction of" in out
    assert "−€12.50" in out.replace("\N{NO-BREAK SPACE}", " ")


def test_both_languages_have_the_same_texts_and_no_german_is_left_in_the_english_report(folder):
    texts = [
        tomllib.loads(
            files("kontor.cli.file_analyses").joinpath("texts", f"{language}.toml").read_text(encoding="utf-8")
        )
        for language in ("de", "en")
    ]
    assert texts[0].keys() == texts[1].keys()
    for key, german in texts[0].items():
        if key != "months":
            assert set(re.findall(r"{\w+}", german)) == set(re.findall(r"{\w+}", texts[1][key])), key
    page = write_page(analyse(read_files([folder]), DAY, is_fixed=True), "en")
    for word in ("Einnahmen", "Ausgaben", "Kategorie", "Monatlich", "Miete", "Lebensmittel", "Verträge"):
        assert word not in page
    assert Words("en").category("LIVING_GROCERIES") != Words("de").category("LIVING_GROCERIES")
