"""The compiled tagger says what the plain one says. Compiled without optimising, which is several times quicker."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.understanding.compiled import build_site, can_compile

from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.wire.labelled_rows import read_labelled

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
ROWS = sorted((ROOT / "evaluation/transactions").glob("*.jsonl"))
COMPILED = """
import json, sys
from pathlib import Path
from kontor.analysis.tagging import NOBODY, load_tagger, taggers
from kontor.wire.labelled_rows import read_labelled
rows = [row.transaction for name in sys.argv[1:] for row in read_labelled(Path(name).read_bytes().splitlines())]
tagger = load_tagger()
tags, reasons = tagger.tag(rows, NOBODY), [tagger.explain(row, NOBODY)[1] for row in rows[:200]]
print(json.dumps([taggers.__file__, tags, [[reason.detail for reason in evidence] for evidence in reasons]]))
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with the wheel's files."""
    if not can_compile():
        pytest.skip("there is no C compiler here (package gcc)")
    folder = tmp_path_factory.mktemp("compiled")
    site = build_site(folder, MYPYC_OPT_LEVEL="0")
    assert not list(folder.glob("*none-any.whl"))
    return site


@pytest.mark.timeout(600)
def test_the_compiled_tagger_says_of_every_labelled_row_what_the_plain_one_says(compiled):
    rows = [row.transaction for file in ROWS for row in read_labelled(file.read_bytes().splitlines())]
    environment = os.environ | {"PYTHONPATH": str(compiled)}
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, *map(str, ROWS)],
        env=environment,
        cwd=compiled,
        capture_output=True,
        check=True,
    )
    file, tags, reasons = json.loads(done.stdout)
    assert file.endswith(".so")
    assert len(rows) > 4000
    tagger = load_tagger()
    assert [tuple(tagging) for tagging in tags] == [tuple(tagging) for tagging in tagger.tag(rows, NOBODY)]
    assert reasons == [[reason.detail for reason in tagger.explain(row, NOBODY)[1]] for row in rows[:200]]
