"""The manifest of labelled files: what teaches, what judges, and that nothing slips into training."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from training.samples import read_training_samples

from kontor.cli.data_sets import MANIFEST_NAME, count_rows, describe_use, load_manifest
from kontor.domain.errors import InvalidError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "evaluation/transactions"
ROW = {"betrag": -1, "buchungsdatum": "2026-03-02", "gold": {"category": "LIVING_GROCERIES"}}


def write_set(folder, path, use="training", rows=2, stated=None, **more):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(ROW | {"id": f"{path}{number}"}) + "\n" for number in range(rows)))
    list_set(folder, path, use, rows if stated is None else stated, **more)


def list_set(folder, path, use, rows, **more):
    values = {"path": path, "use": use, "rows": rows, "author": "me", "description": "rows"} | more
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    with (folder / MANIFEST_NAME).open("a") as manifest:
        manifest.write("\n".join(["[[sets]]", *lines, "date = 2026-11-16", "", ""]))


@pytest.fixture
def folder(tmp_path):
    write_set(tmp_path, "b.jsonl")
    write_set(tmp_path, "a.jsonl", fits_confidences=False)
    write_set(tmp_path, "judge.jsonl", "evaluation", rows=3)
    return tmp_path


# The committed files


def test_every_labelled_file_is_listed_with_its_row_count_and_one_use():
    manifest = load_manifest(FOLDER)
    assert {data_set.path for data_set in manifest.sets} == {file.name for file in FOLDER.glob("*.jsonl")}
    assert all(data_set.rows == count_rows(FOLDER / data_set.path) > 0 for data_set in manifest.sets)
    training = {data_set.path for data_set in manifest.list_sets("training")}
    evaluation = {data_set.path for data_set in manifest.list_sets("evaluation")}
    assert training
    assert evaluation
    assert not training & evaluation
    assert all(data_set.date <= datetime.now(UTC).date() for data_set in manifest.sets)


def test_no_labelled_row_both_teaches_and_judges():
    manifest = load_manifest(FOLDER)

    def list_rows(use):
        files = [FOLDER / data_set.path for data_set in manifest.list_sets(use)]
        lines = [line for file in files for line in file.read_bytes().splitlines()]
        rows = [json.loads(line) for line in lines if line.strip()]
        return [
            tuple(row.get(key) for key in ("betrag", "buchungsdatum", "gegenkontoInhaber", "verwendungszweck"))
            for row in rows
        ]

    assert not set(list_rows("training")) & set(list_rows("evaluation"))


def test_the_readme_describes_exactly_the_listed_files():
    text = (ROOT / "evaluation/README.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `([\w.]+)` \| (training|evaluation) \|", text, re.MULTILINE)
    found = {(name.removesuffix(".jsonl"), use) for name, use in described}
    assert found == {(data_set.id, data_set.use) for data_set in load_manifest(FOLDER).sets}


# Any folder


def test_sets_keep_the_order_of_the_manifest(folder):
    manifest = load_manifest(folder)
    assert [data_set.id for data_set in manifest.list_sets("training")] == ["b", "a"]
    assert [data_set.id for data_set in manifest.list_sets("evaluation")] == ["judge"]


def test_a_labelled_file_that_is_not_listed_is_refused(folder):
    (folder / "new").mkdir()
    (folder / "new/rows.jsonl").write_text(json.dumps(ROW))
    with pytest.raises(InvalidError, match=r"new/rows\.jsonl: is a labelled file that is not in manifest\.toml"):
        load_manifest(folder)


def test_a_listed_file_that_is_missing_is_refused(folder):
    (folder / "a.jsonl").unlink()
    with pytest.raises(InvalidError, match=r"a\.jsonl: is listed in manifest\.toml but does not exist"):
        load_manifest(folder)


def test_a_wrong_row_count_is_refused(folder):
    write_set(folder, "c.jsonl", rows=4, stated=5)
    with pytest.raises(InvalidError, match=r"c\.jsonl: has 4 rows, manifest\.toml says 5"):
        load_manifest(folder)


def test_a_file_that_teaches_and_judges_is_refused(folder):
    list_set(folder, "b.jsonl", "evaluation", 2)
    with pytest.raises(InvalidError, match=r"b\.jsonl: is listed more than once"):
        load_manifest(folder)


@pytest.mark.parametrize("more", [{"use": "both"}, {"teaches": True}, {"author": ""}, {"rows": "many"}])
def test_an_entry_with_an_unknown_use_or_field_is_refused(folder, more):
    write_set(folder, "c.jsonl")
    list_set(folder, "d.jsonl", **{"use": "training", "rows": 1} | more)
    with pytest.raises(InvalidError, match=r"manifest\.toml: "):
        load_manifest(folder)


def test_training_takes_what_teaches_and_nothing_else(folder):
    model_only, both = read_training_samples(folder)
    assert [sample.id for sample in model_only] == ["a.jsonl0", "a.jsonl1"]
    assert [sample.id for sample in both] == ["b.jsonl0", "b.jsonl1"]
    (folder / "held_out_later.jsonl").write_text(json.dumps(ROW))
    with pytest.raises(InvalidError, match="held_out_later"):
        read_training_samples(folder)


def test_scores_of_rows_that_taught_come_with_a_remark(folder, tmp_path):
    (folder / "new.jsonl").write_text(json.dumps(ROW))
    remarks = describe_use([folder / name for name in ("a.jsonl", "judge.jsonl", "new.jsonl")])
    assert remarks == [
        "a.jsonl has taught the category model: expect lower scores on new rows.",
        "new.jsonl is not in manifest.toml: training would refuse it.",
    ]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert describe_use([elsewhere / "rows.jsonl"]) == []
