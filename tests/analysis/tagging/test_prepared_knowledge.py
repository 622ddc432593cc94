"""The prepared file says what the lexicon says, and whatever is wrong with the file, the lexicon is read instead."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from kontor.analysis.tagging import prepared_knowledge
from kontor.analysis.tagging.knowledge import Knowledge, build_knowledge
from kontor.analysis.tagging.lexicons import load_keywords, load_rules
from kontor.analysis.tagging.partners import read_partners
from kontor.analysis.tagging.prepared_knowledge import load_knowledge, open_knowledge, pack_knowledge


@pytest.fixture(scope="module")
def built() -> Knowledge:
    return build_knowledge(read_partners(), load_keywords(), load_rules())


@pytest.fixture(scope="module")
def packed(built: Knowledge) -> bytes:
    return pack_knowledge(built)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the file would be looked for; nothing is there."""
    file = tmp_path / "__pycache__" / "knowledge.new.bin"
    monkeypatch.setattr(prepared_knowledge, "_name_file", lambda: file)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return file


def load(monkeypatch: pytest.MonkeyPatch, built: Knowledge) -> tuple[Knowledge, int]:
    """As a new process would; also, how often it had to build."""
    builds = []
    monkeypatch.setattr(prepared_knowledge, "build_knowledge", lambda *_: builds.append(1) or built)
    return load_knowledge.__wrapped__(), len(builds)


def test_every_pattern_and_partner_of_the_file_is_what_the_lexicon_gives(built, packed, tmp_path):
    (tmp_path / "knowledge.bin").write_bytes(packed)
    opened = open_knowledge(tmp_path / "knowledge.bin")
    for number, pattern in built.patterns.items():
        assert opened.patterns[number] == pattern
    for number, partner in built.partners.items():
        assert opened.partners[number] == partner
    for field in fields(Knowledge):
        assert getattr(opened, field.name) == getattr(built, field.name), field.name


def test_the_first_process_prepares_the_file_and_the_next_opens_it(file, monkeypatch, built):
    file.parent.mkdir()
    earlier = file.with_name("knowledge.earlier.bin")
    earlier.write_bytes(b"of another lexicon")
    assert load(monkeypatch, built)[1] == 1
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name]
    opened, builds = load(monkeypatch, built)
    assert builds == 0
    assert opened.find_partner("REWE") == built.find_partner("REWE") is not None


@pytest.mark.parametrize("share", [0, 0.00001, 0.3, 0.999])
def test_a_file_that_is_not_whole_is_replaced(share, file, monkeypatch, built, packed):
    file.parent.mkdir()
    file.write_bytes(packed[: int(len(packed) * share)])
    assert load(monkeypatch, built) == (built, 1)
    assert file.read_bytes() == packed


def test_nothing_is_written_where_python_may_not_write_either(file, monkeypatch, built):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert load(monkeypatch, built) == (built, 1)
    assert not file.parent.exists()


def test_a_folder_that_cannot_be_written_is_no_failure(file, monkeypatch, built):
    file.parent.write_text("a file where the folder should be")
    assert load(monkeypatch, built) == (built, 1)


def test_its_name_changes_with_the_code_and_the_knowledge(tmp_path):
    """In a copy of the package, as an upgrade or an edit leaves it."""
    package = Path(prepared_knowledge.__file__).parents[2]
    script = "from kontor.analysis.tagging.prepared_knowledge import _name_file; print(_name_file().name)"
    names = []
    (tmp_path / "kontor").mkdir()
    for part in ("__init__.py", "versions.py", "analysis", "domain"):
        subprocess.run(["cp", "-r", package / part, tmp_path / "kontor" / part], check=True)
    for changed in (None, "tagging/knowledge.py", "data/rules.txt"):
        if changed:
            with (tmp_path / "kontor" / "analysis" / changed).open("a") as opened:
                opened.write("# changed\n")
        command = [sys.executable, "-c", script]
        ended = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        names.append(ended.stdout)
    assert len(set(names)) == 3
