"""A short run of `./dev fuzz`: whatever is done to a file, its parser reads it or refuses it by its declared error."""

import re
import warnings
from random import Random

import pytest
from fuzzing.files import readers, running
from fuzzing.files.command import main
from fuzzing.files.results import load_results
from fuzzing.files.running import draw, run_batch
from fuzzing.files.samples import list_samples

pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")
SEED, MUTANTS = 4, 400


@pytest.fixture(scope="module", autouse=True)
def samples():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list_samples()


def test_every_sample_is_read_as_it_is(samples):
    """Else its mutants would prove nothing."""
    for parser, files in samples.items():
        if parser not in ("FinTS", "XS2A"):
            assert all(readers.read(parser, data, Random(1)) for data in files), parser


def test_damaged_files_are_read_or_refused():
    batch = run_batch(SEED, range(MUTANTS))
    assert batch.findings == []
    assert batch.count == MUTANTS
    assert set(batch.read | batch.refused) == set(list_samples())


def test_a_mutant_is_the_same_in_every_run():
    assert draw(SEED, 17)[:2] == draw(SEED, 17)[:2]
    assert len({draw(SEED, number)[1] for number in range(50)}) > 45


def hang(*_):
    while True:
        pass


def fill_memory(*_):
    return [bytes(10_000_000) for _ in range(1000)]


def crash(*_):
    raise KeyError("not declared")


@pytest.mark.parametrize(
    ("reader", "problem"), [(hang, "processor time"), (fill_memory, "MemoryError"), (crash, "KeyError: 'not declared'")]
)
def test_a_parser_that_hangs_fills_the_memory_or_raises_something_else_is_a_finding(monkeypatch, reader, problem):
    monkeypatch.setattr(running, "read", reader)
    if reader is hang:  # nobody waits for the others, and a busy machine takes longer for them
        monkeypatch.setattr(running, "CPU_SECONDS", 0.3)
    batch = run_batch(SEED, range(2))
    assert [finding.number for finding in batch.findings] == [0, 1]
    assert all(finding.problem.startswith(problem) for finding in batch.findings)


def test_runs_add_up_and_findings_that_are_fixed_are_counted_anew(tmp_path, monkeypatch):
    results, page = tmp_path / "fuzzing.json", tmp_path / "fuzzing.md"
    options = ["--seed", "5", "--count", "20", "--results", str(results), "--page", str(page)]
    assert main(options) == 0
    with monkeypatch.context() as patch:
        patch.setattr(running, "read", crash)
        assert main(options) == 1
    found = load_results(results)
    assert (found.next_numbers, len(found.findings)) == ({5: 40}, 20)
    assert "40 mutants, 20 findings" in page.read_text()
    assert main([*options, "--again"]) == 0
    healed = load_results(results)
    assert (healed.findings, healed.read.total() + healed.refused.total()) == ([], 40)
    assert re.search(r"\| 5 \(40\) \|", page.read_text())
