"""`kontor model evaluate`: how often a model is right about the merchants that it would be asked about."""

import json
import signal

import pytest

from kontor.analysis.tagging import load_tagger
from kontor.cli import commands
from kontor.cli.tag_evaluation import judge
from kontor.wire.labelled_rows import read_labelled
from model_servers import ModelServer
from receivers import Receiver

KNOWN = {"zirbelglueck": "SHOPPING_OTHER", "quendelhof": "LIVING_GROCERIES"}


def label(shop, category, amount=-12.3, booking_text="Kartenzahlung"):
    return {
        "betrag": amount,
        "buchungsdatum": "2026-11-02",
        "buchungstext": booking_text,
        "verwendungszweck": f"{shop}//Celle/DE",
        "gold": {"category": category},
    }


ROWS = (
    label("ZIRBELGLUECK", ["RECREATION_HOBBY", "SHOPPING_OTHER"]),
    label("ZIRBELGLUECK", "RECREATION_HOBBY"),  # asked about once, judged by the first row
    label("QUENDELHOF", "LIVING_DRUGSTORE"),  # wrong, but of the same main category
    label("SANDDORNHUS", "SHOPPING_OTHER"),  # the model does not know it
    label("Peter Canary", "SHOPPING_OTHER"),
    label("REWE SAGT DANKE", "LIVING_GROCERIES"),
    label("HOLUNDERKATE", "INCOME_OTHER", amount=12.3),
)


@pytest.fixture
def measure(capsys, monkeypatch, tmp_path):
    """Runs the command as the program would, without a database; exit code, output, remarks."""
    before = signal.getsignal(signal.SIGTERM)
    file = tmp_path / "rows.jsonl"

    def run(url, *options, rows=ROWS):
        file.write_text("\n".join(json.dumps(row) for row in rows))
        monkeypatch.setenv("KONTOR_MODEL_URL", url)
        monkeypatch.setenv("KONTOR_MODEL_NAME", "test")
        capsys.readouterr()
        code = commands.run(["model", "evaluate", str(file), *options])
        return code, *capsys.readouterr()

    yield run
    signal.signal(signal.SIGTERM, before)


def test_figures_are_those_that_can_be_counted_by_hand(measure):
    with ModelServer(KNOWN) as server:
        code, printed, _ = measure(server.base_url, "--json")
        assert code == 0
        assert server.merchants == ["zirbelglueck", "quendelhof", "sanddornhus"]
    figures = json.loads(printed)
    alone = figures.pop("category right by the tagger alone")
    assert figures == {"answered": 0.6667, "category right": 0.5, "main category right": 1.0}
    judged = judge(list(read_labelled(json.dumps(ROWS[place]).encode() for place in (0, 2))), load_tagger())
    assert alone == sum(row.is_category_right for row in judged) / 2


def test_the_table_has_counts_and_intervals(measure):
    with ModelServer(KNOWN) as server:
        _, printed, _ = measure(server.base_url, "--limit", "1")
        assert server.merchants == ["zirbelglueck"]
    assert "of merchants" in printed
    assert "95 % interval" in printed


def test_a_model_that_fails_is_told_with_the_reason(measure):
    with Receiver(answer=lambda number: (500, {}, b"")) as server:
        code, printed, remarks = measure(f"http://127.0.0.1:{server.server.server_address[1]}/v1")
    assert (code, printed) == (1, "")
    assert "The model failed after 0 answers: status." in remarks


def test_what_cannot_be_measured_is_refused(measure, monkeypatch):
    with ModelServer() as server:
        code, _, remarks = measure(server.base_url, rows=ROWS[4:])
        assert (code, "no labelled payment" in remarks) == (1, True)
        code, _, remarks = measure(server.base_url, "--limit", "0")
        assert (code, "--limit" in remarks) == (1, True)
        assert server.merchants == []
    code, _, remarks = measure("")
    assert (code, "No model is set" in remarks) == (1, True)
