"""The commands of docs/guides/analyse-a-file.md and of the README for one file, as typed in an empty folder."""

import re
import signal

import pytest

from guide_code import Guide
from kontor.cli import commands
from statement_files import find_account, write_csv

GUIDE = Guide("guides/analyse-a-file.md")
ROWS = [(f"02.{month:02}.2026", "Stadtwerke Musterstadt", "-54,00") for month in range(1, 11)]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command beside `umsaetze.csv`; what it prints."""
    before = signal.getsignal(signal.SIGTERM)
    (tmp_path / "umsaetze.csv").write_bytes(write_csv(find_account()[0], *ROWS))
    monkeypatch.chdir(tmp_path)

    def run_words(words):
        assert words[0] == "kontor"
        assert commands.run(words[1:]) == 0
        return capsys.readouterr().out

    yield run_words
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("page", [GUIDE, Guide("../README.md")], ids=["guide", "readme"])
def test_the_command_prints_a_summary_and_writes_the_report(page, run, tmp_path):
    [command] = [words for words in page.list_commands() if "analyse" in words]
    assert "Stadtwerke Musterstadt" in run(command)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kontor-report.html", "umsaetze.csv"]
    assert "`kontor-report.html`" in GUIDE.text


def test_every_option_of_the_table_works_as_it_stands_there(run, tmp_path):
    [command] = GUIDE.list_commands()
    options = re.findall(r"^\| `(--\w+) (\S+)` \|", GUIDE.text, re.MULTILINE)
    assert [name for name, _ in options] == ["--report", "--rows", "--today", "--language"]
    files = iter(["mine.html", "rows.csv"])
    given = [word for name, value in options for word in (name, next(files) if value == "FILE" else value)]
    assert "10 transactions" in run([*command, *given])
    assert "Stadtwerke" in (tmp_path / "rows.csv").read_text(encoding="utf-8")
    assert '<html lang="en"' in (tmp_path / "mine.html").read_text(encoding="utf-8")
