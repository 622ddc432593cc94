"""`kontor evaluate --compare`: labelled rows before and after a change, in a real git repository."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
KEYWORDS = "src/kontor/analysis/data/keywords/quorbel.txt"
FOLDER = "evaluation/transactions"


def make_row(number, category):
    row = {"id": f"q{number}", "betrag": -9.5, "buchungsdatum": "2026-03-02", "gegenkontoInhaber": "QUORBELLADEN MEIER"}
    return row | {"gold": {"category": [category]}}


REWE = {
    "id": "rewe",
    "betrag": -23.45,
    "buchungsdatum": "2026-03-02",
    "gegenkontoInhaber": "REWE SAGT DANKE",
    "gold": {"category": "LIVING_GROCERIES", "partner": "REWE"},
}
# The label is a short form of the partner's name.
TECHNIKER = {
    "id": "techniker",
    "betrag": -310.2,
    "buchungsdatum": "2026-03-02",
    "gegenkontoInhaber": "TECHNIKER KRANKENKASSE",
    "gold": {"category": "INSURANCE_HEALTH", "partner": "Techniker"},
}


class Repository:
    """A git repository with the source of Kontor; commands run with that source."""

    def __init__(self, root):
        self.root = root

    def git(self, *arguments):
        command = ["git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def write_rows(self, name, rows):
        self.write(f"{FOLDER}/{name}", "".join(json.dumps(row) + "\n" for row in rows))

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "state")
        return self.git("rev-parse", "HEAD")

    def evaluate(self, *arguments):
        """Returns (exit code, output, remarks)."""
        command = [sys.executable, "-c", "from kontor.cli import main; main()", "evaluate", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(self.root / "src")}
        done = subprocess.run(command, env=environment, cwd=self.root, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


def list_set(path, use, rows):
    return (
        f'[[sets]]\npath = "{path}"\nuse = "{use}"\nrows = {rows}\n'
        'date = 2026-11-16\nauthor = "me"\ndescription = "rows"\n\n'
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Commits: nothing of Kontor (tag `empty`), a tagger that cannot be loaded (`broken`), and one that takes a made-up
    word for groceries (`before`). The working tree takes it for a fine meal and has other labelled rows."""
    repository = Repository(tmp_path_factory.mktemp("repository"))
    repository.git("init", "--quiet")
    repository.write("README.md", "nothing")
    repository.commit()
    repository.git("tag", "empty")
    shutil.copytree(ROOT / "src/kontor", repository.root / "src/kontor", ignore=shutil.ignore_patterns("__pycache__"))
    package = "src/kontor/analysis/tagging/__init__.py"
    source = (repository.root / package).read_text()
    repository.write(package, "raise RuntimeError('half done')\n")
    repository.commit()
    repository.git("tag", "broken")
    repository.write(package, source)
    repository.write(KEYWORDS, "quorbelladen | LIVING_GROCERIES | strength=9\n")
    repository.write_rows("rows.jsonl", [make_row(9, "TAXES")])
    repository.commit()
    repository.git("tag", "before")
    repository.write(KEYWORDS, "quorbelladen | RECREATION_ENTERTAINMENTFOOD | strength=9\n")
    labels = ["LIVING_GROCERIES", "RECREATION_ENTERTAINMENTFOOD", "TAXES"]
    rows = [*(make_row(number, label) for number, label in enumerate(labels)), REWE, TECHNIKER]
    repository.write_rows("rows.jsonl", rows)
    repository.write_rows("judge.jsonl", [make_row(7, "RECREATION_ENTERTAINMENTFOOD")])
    manifest = list_set("rows.jsonl", "training", 5) + list_set("judge.jsonl", "evaluation", 1)
    repository.write(f"{FOLDER}/manifest.toml", manifest)
    return repository


def test_rows_of_the_working_tree_are_told_by_what_the_change_does_to_them(repository):
    code, out, err = repository.evaluate("--compare", "before", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["revision"] == repository.git("rev-parse", "before")
    changes = {
        (change["effect"], change["id"], change["before"], change["now"])
        for change in found["changes"]
        if change["tag"] == "category"
    }
    groceries, meal = "LIVING_GROCERIES", "RECREATION_ENTERTAINMENTFOOD"
    assert changes == {
        ("turned wrong", "q0", groceries, meal),
        ("turned right", "q1", groceries, meal),
        ("changed, still wrong", "q2", groceries, meal),
    }
    counts = {(count["tag"], count["rows"]): count for count in found["counts"]}
    shown = counts["category", "shown"]
    assert (shown["judged"], shown["turned wrong"], shown["turned right"], shown["changed, still wrong"]) == (
        5,
        1,
        1,
        1,
    )
    partner = counts["partner", "shown"]
    assert (partner["judged"], partner["turned wrong"], partner["turned right"]) == (2, 0, 0)


def test_rows_of_held_out_files_are_counted_but_not_shown(repository):
    code, out, _ = repository.evaluate("--compare", "before")
    assert code == 0
    assert re.search(r"^category +held out +1 +0 +1 +0 *$", out, re.MULTILINE)
    assert re.search(r"^turned right +rows\.jsonl +q1 +-9\.5\d? QUORBELLADEN MEIER", out, re.MULTILINE)
    assert "q7" not in out


def test_a_file_can_be_compared_alone_and_the_repository_stays_as_it_was(repository, tmp_path):
    state = (repository.git("status", "--porcelain"), repository.git("worktree", "list"))
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(REWE) + "\n\n")
    code, out, err = repository.evaluate(file, "--compare", "before")
    assert code == 0
    assert re.search(r"^category +shown +1 +0 +0 +0 *$", out, re.MULTILINE)
    assert "No tag of a row that may be shown has changed" in err
    assert (repository.git("status", "--porcelain"), repository.git("worktree", "list")) == state


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--compare", "never-was"), "--compare: never-was is no revision of this repository."),
        (("--compare=--help",), "--compare: --help is no revision of this repository."),
        (("--compare", "empty"), "--compare: the revision has no src/kontor."),
        (("--compare", "broken"), "--compare: the tagger of broken cannot be run (RuntimeError: half done)."),
        (
            ("--compare", "before", "--people"),
            "--compare: goes with labelled transactions, not with --people or --report.",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_reason(repository, arguments, reason):
    assert repository.evaluate(*arguments) == (1, "", f"Refused: {reason}\n")


def test_code_that_is_in_no_checkout_has_nothing_to_compare_with(repository):
    hidden = repository.root / "hidden"
    (repository.root / ".git").rename(hidden)
    try:
        code, out, err = repository.evaluate("--compare", "HEAD")
    finally:
        hidden.rename(repository.root / ".git")
    assert (code, out) == (1, "")
    assert err == "Refused: --compare: needs a git checkout of Kontor; the running code is not in one.\n"
