"""The figures that are shown follow from the rounds."""

from types import SimpleNamespace

import pytest
from benchmarks.endpoints import Targets, list_endpoints
from benchmarks.load import Measurement
from benchmarks.machine import describe_command, describe_processor
from benchmarks.measure import ORDER, Plan, Result, Round, rotate
from benchmarks.report import describe_processor_time, describe_targets, make_rows, write_page
from benchmarks.servers import CONVENTIONAL, LIMIT, OURS


def make_result(**rates):
    endpoint = SimpleNamespace(name="single-read", title="One user", targets=Targets(4.0, 0.6))
    result = Result(endpoint, measured(20_000))
    for name in ORDER:
        result.rounds[name] = [Round(measured(rate), 0.001) for rate in rates[name]]
    return result


def measured(rate):
    return Measurement(rate=rate, p50=0.01, p99=0.02, failures=0, answers=1000, cpu=0.1)


@pytest.fixture
def result():
    return make_result(Kontor=[1000, 2000, 900], limit=[2000, 2500, 1000], conventional=[250, 400, 300])


def test_ratios_are_taken_within_a_round(result):
    assert result.ratios(CONVENTIONAL) == [4.0, 5.0, 3.0]
    assert result.ratios(LIMIT) == [0.5, 0.8, 0.9]


def test_rows_show_median_and_spread(result):
    rows = {row[0]: row for row in make_rows(result)}
    assert rows[OURS][1:3] == ("1,000", "900 – 2,000")
    assert rows[CONVENTIONAL][6] == "4.00 × (3.00 – 5.00) as fast"


def test_targets_are_judged_by_the_median_ratio(result):
    reached, also_reached = describe_targets(result)
    assert reached.endswith("4.00 ×, reached.")
    assert also_reached.endswith("0.80 ×, reached.")
    slow = make_result(Kontor=[1000], limit=[2000], conventional=[500])
    assert all(line.endswith("not reached.") for line in describe_targets(slow))


def test_processor_times_are_compared(result):
    result.rounds[CONVENTIONAL] = [Round(measured(1), 0.003)]
    result.rounds[LIMIT] = [Round(measured(1), 0.0005)]
    line = describe_processor_time(result)
    assert "3.00 × as fast as the conventional" in line
    assert "0.50 × as fast as the limit" in line


def test_the_page_has_everything(result, tmp_path):
    page = tmp_path / "results.md"
    write_page(page, [result], {"Python": "3.11.7"}, Plan(3, 2.0, 32))
    text = page.read_text()
    assert "| Python | 3.11.7 |" in text
    assert "| 3 | 900 | 1,000 | 300 | 3.00 | 0.90 |" in text
    assert "(single-read.svg)" in text


def test_the_picture_is_drawn(result, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the packages of ./dev bench")
    from benchmarks.plot import draw

    draw(result, tmp_path / "a.svg")
    draw(result, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_each_round_begins_with_another():
    assert [rotate(ORDER, number)[0] for number in range(4)] == [*ORDER, ORDER[0]]


def test_the_processor_is_named(tmp_path):
    arm, intel = tmp_path / "arm", tmp_path / "intel"
    arm.write_text("processor\t: 0\nCPU part\t: 0xd0c\n")
    intel.write_text("processor\t: 0\nmodel name\t: Some Xeon\n")
    assert describe_processor(arm).startswith("Arm Neoverse-N1 (")
    assert describe_processor(intel).startswith("Some Xeon (")


def test_the_command_is_shown_from_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert describe_command([f"{tmp_path}/bin/python", "-m", "benchmarks"]) == "bin/python -m benchmarks"


def test_endpoints_are_found_by_their_files():
    assert "single-read" in list_endpoints()
