"""`kontor evaluate` and `kontor explain`: figures that can be checked by hand, refusals, and whole reports."""

import json
import re
import signal
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from evaluation_pages.tags import make_tags_page

from kontor.analysis.scoring.calibration import Bin
from kontor.analysis.scoring.tag_scores import score_tags
from kontor.analysis.tagging import load_tagger
from kontor.cli import commands
from kontor.cli.demo_truths import Tags, read_demo_person
from kontor.cli.evaluation import read_day
from kontor.cli.evaluation_plots import draw_coverage, draw_groups, draw_reliability
from kontor.cli.tag_evaluation import judge, read_files

REWE = {"betrag": -23.45, "buchungsdatum": "2026-03-02", "gvCode": "106", "gegenkontoInhaber": "REWE SAGT DANKE"}
RENT = {
    "betrag": -900,
    "buchungsdatum": "2026-03-02",
    "gvCode": "117",
    "gegenkontoInhaber": "Hausverwaltung Sommer",
    "verwendungszweck": "Miete März",
}
DAY = "2026-11-15"
PERSON = ("--people", "azubi+quick", "--today", DAY)
# Tags that end themselves.
VOID = {"meta", "rect", "line", "circle", "br"}


def label(row, category, **labels):
    return row | {"gold": {"category": category} | labels}


@pytest.fixture
def kontor(capsys):
    """Runs a command as the program would; these need no database. Returns (exit code, output, remarks)."""
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        capsys.readouterr()
        code = commands.run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    yield run
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def rows(tmp_path):
    """Four rows, two of them with labels that the tagger must miss."""
    file = tmp_path / "rows.jsonl"
    none = {"insuranceType": "UNRELATED_OTHER"}
    labelled = [
        label(REWE, ["LIVING_GROCERIES"], partner="REWE", **none),
        label(REWE, ["HOUSING_RENT", "LIVING_GROCERIES"], partner="Lidl", **none),
        label(RENT, "HOUSING_RENT", partner="UNKNOWN", **none),
        label(REWE | {"id": "wrong & <odd>"}, "INCOME_SALARY", insuranceType="HEALTH_PRIVATE"),
    ]
    file.write_text("\n".join(json.dumps(row) for row in labelled) + "\n\n")
    return file


class Reader(HTMLParser):
    """Wants every element closed in the right order, and collects the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.texts, self.elements = [], [], []
        self.feed(page)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


# Tags


def test_figures_of_a_small_file_are_those_worked_out_by_hand(kontor, rows):
    code, out, _ = kontor("evaluate", rows, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["category"], found["main category"]) == (0.75, 0.75)
    assert (found["partner"], found["partner where there is none"]) == (0.5, 0.0)
    assert 0 <= found["wrong partner"] <= 1 - found["partner"]
    assert (found["insurance division"], found["insurance product"]) == (0.0, 0.0)
    assert found["other rows called insurance"] == 0.0
    assert found["rows per second of processor time"] > 0


def test_figures_are_a_table_for_people(kontor, rows):
    code, out, _ = kontor("evaluate", rows)
    assert code == 0
    assert re.search(r"^category +0\.75 +4 +0\.3006 to 0\.9544", out, re.MULTILINE)
    assert re.search(r"^other rows called insurance +0\.0 +3\b", out, re.MULTILINE)


def test_several_files_are_one_evaluation(kontor, rows):
    _, out, _ = kontor("evaluate", rows, rows)
    assert re.search(r"^category +0\.75 +8\b", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{nonsense", "line 2"),
        (json.dumps(REWE), "line 2"),
        (json.dumps(label(REWE, [])), "line 2.gold: has no category"),
        (json.dumps(label(REWE | {"buchungsdatum": "yesterday"}, "HOUSING_RENT")), "line 2.buchungsdatum"),
    ],
)
def test_a_wrong_line_is_named(kontor, tmp_path, line, named):
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps(label(REWE, "LIVING_GROCERIES")) + "\n" + line + "\n")
    code, out, err = kontor("evaluate", file)
    assert (code, out) == (1, "")
    assert err.startswith("Refused: ")
    assert named in err
    assert "Traceback" not in err


def test_a_missing_file_and_a_call_without_any_are_refused(kontor, tmp_path):
    assert "No such file" in kontor("evaluate", tmp_path / "none.jsonl")[2]
    assert kontor("evaluate")[2] == "Refused: Give files with labelled transactions, or --people.\n"
    assert kontor("evaluate", tmp_path / "none.jsonl", "--people")[0] == 1


def test_the_report_is_one_valid_page_and_texts_of_rows_cannot_break_it(kontor, rows, tmp_path):
    report = tmp_path / "new" / "report.html"
    code, _, err = kontor("evaluate", rows, "--report", report)
    assert code == 0
    assert str(report) in err
    page = report.read_text()
    read = Reader(page)
    assert read.elements.count("svg") == 2
    assert "wrong & <odd>" in read.texts
    assert "<odd>" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")  # nothing is loaded from elsewhere


def test_explain_says_what_a_row_is_taken_for_and_why(kontor, tmp_path):
    file = tmp_path / "one.json"
    file.write_text(json.dumps(REWE))
    code, out, _ = kontor("explain", file)
    assert code == 0
    assert "LIVING_GROCERIES" in out
    assert "REWE" in out
    assert re.search(r"^partner +\S*REWE", out, re.MULTILINE)


def test_explain_picks_one_of_many_by_its_id(kontor, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in (REWE | {"id": "a"}, RENT | {"id": "b"})))
    assert "HOUSING_RENT" in kontor("explain", file, "--id", "b")[1]
    assert "LIVING_GROCERIES" not in kontor("explain", file, "--id", "b")[1]
    assert kontor("explain", file, "--id", "c")[0] == 1


# People


@pytest.fixture(scope="module")
def azubi():
    return read_demo_person("azubi+quick", read_day(DAY))


def test_a_person_of_the_demo_bank_is_scored(kontor, azubi, tmp_path):
    report = tmp_path / "people.html"
    code, out, _ = kontor("evaluate", *PERSON, "--json", "--report", report)
    assert code == 0
    found = json.loads(out)
    assert found["contracts: F1"] > 0.9
    assert found["months: sums of income and expenses exact"] == 1.0
    assert 0 < found["forecasts, sums of a month: interval covers"] <= 1
    assert found["forecasts, subcategories: mean error, EUR"] > 0
    assert "tags: category" not in found
    read = Reader(report.read_text())
    assert read.elements.count("svg") >= 3
    assert "azubi+quick" in "".join(read.texts)
    assert len(azubi.contracts) > 5


def test_with_the_taggers_tags_those_are_scored_too(kontor):
    code, out, _ = kontor("evaluate", *PERSON, "--tags", "tagger", "--json")
    assert code == 0
    found = json.loads(out)
    assert 0.8 < found["tags: category"] <= found["tags: main category"] <= 1
    assert found["contracts: F1"] > 0.9


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--people", "nobody"), "The demo bank has no customer nobody."),
        (("--people", "azubi", "--today", "soon"), "--today: is no date such as 2026-11-15."),
    ],
)
def test_unknown_people_and_days_are_refused(kontor, arguments, reason):
    assert kontor("evaluate", *arguments) == (1, "", f"Refused: {reason}\n")


def test_other_tags_than_those_are_a_wrong_use(kontor):
    assert kontor("evaluate", "--people", "azubi", "--tags", "mine")[0] == 2


def test_records_of_a_person_have_the_truth_of_each_booking(azubi):
    assert len({record.id for record in azubi.records}) == len(azubi.records)
    assert all(truth == found for truth, found in azubi.categories)
    inside = frozenset().union(*(contract.transaction_ids for contract in azubi.contracts))
    assert inside <= {record.id for record in azubi.records}
    assert not inside & azubi.purchases
    assert all(contract.date_next is None or contract.date_next > azubi.today for contract in azubi.contracts)
    income = sum(
        record.amount
        for record in azubi.records
        if record.amount > 0 and record.category != "TRANSFER_OWN" and not record.is_pending
    )
    assert sum(amount for (side, _), amount in azubi.months.items() if side == "INCOME") == income


def test_the_taggers_records_differ_in_tags_alone(azubi):
    other = read_demo_person("azubi+quick", azubi.today, Tags.TAGGER)
    assert [(record.id, record.day, record.amount) for record in other.records] == [
        (record.id, record.day, record.amount) for record in azubi.records
    ]
    assert [truth for truth, _ in other.categories] == [truth for truth, _ in azubi.categories]
    assert other.contracts == azubi.contracts
    assert any(truth != found for truth, found in other.categories)


# Plots and published pages


def test_plots_are_valid_xml_whatever_names_they_show():
    pictures = [
        draw_reliability([Bin(3, 0.9, 1.0)], "A & B"),
        draw_coverage([("a <b>", 0.31, 12), ("c", 1.0, 3)], (0.75, 0.85), "C"),
        draw_groups([("a & b", (1.0, 0.0))], ("one <1>", "two"), "D", is_share=True),
        draw_groups([("nothing", (0.0, 0.0))], ("one", "two"), "E", " €"),
    ]
    for picture in pictures:
        assert ElementTree.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"


def test_coverage_is_drawn_where_it_lies():
    root = ElementTree.fromstring(draw_coverage([("low", 0.5, 1), ("high", 1.0, 1)], (0.75, 0.85), "C"))
    low, high = (float(circle.get("cx")) for circle in root.iter("{http://www.w3.org/2000/svg}circle"))
    band = next(
        rectangle for rectangle in root.iter("{http://www.w3.org/2000/svg}rect") if rectangle.get("class") == "band"
    )
    assert float(band.get("x")) == pytest.approx((low + high) / 2, abs=0.1)
    assert float(band.get("width")) == pytest.approx((high - low) / 5, abs=0.1)


def test_the_published_page_shows_figures_of_unread_rows_and_nothing_else_of_them(rows, tmp_path):
    published = tmp_path / "published.jsonl"
    published.write_text(json.dumps(label(REWE, "LIVING_GROCERIES", insuranceType="UNRELATED_OTHER")) + "\n")
    found = [score_tags(judge(read_files([file]), load_tagger())) for file in (published, rows, rows)]
    page = make_tags_page(*found, "1-test")
    assert "./dev evaluate" in page
    assert "| category right | 1.0000 | 1 | 0.7500 | 4 | 0.7500 | 4 | ≥ 0.93 | no | no |" in page
    assert "| other rows called insurance | 0.0000 | 1 | 0.0000 | 3 | 0.0000 | 3 | ≤ 0.01 | yes | yes |" in page
    assert "LIVING_GROCERIES" in page
    assert "INCOME_SALARY" not in page  # a label of the unread rows alone
