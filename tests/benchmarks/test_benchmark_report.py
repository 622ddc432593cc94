"""The figures that are shown follow from the rounds."""

from types import SimpleNamespace

import pytest
from benchmarks.endpoints import Targets, list_endpoints
from benchmarks.fetching import Fetch, Fetches, describe_fetches, find_growth
from benchmarks.load import Measurement
from benchmarks.machine import describe_command, describe_processor
from benchmarks.measure import ORDER, Plan, Result, Round, rotate
from benchmarks.memory import Memory, describe_memory, read_status
from benchmarks.report import Report, describe_processor_time, describe_targets, make_rows, write_page
from benchmarks.servers import CONVENTIONAL, LIMIT, OURS

MEMORY = Memory(transactions=50_000, size=19.0, at_rest=96.0, peak=113.2, peak_at_once=150.0)
FETCHES = Fetches(
    Fetch("familie", 4500, [0.9, 0.8, 0.7], [0.5, 0.5, 0.5]),
    [
        Fetch("test_large+10000", 10_000, [1.0, 0.95, 1.05], [0.5, 0.5, 0.5]),
        Fetch("test_large+20000", 20_000, [2.0, 1.9, 2.1], [1.0, 1.0, 1.0]),
    ],
)


def make_result(**rates):
    endpoint = SimpleNamespace(name="single-read", title="One user", targets=Targets(4.0, 0.6))
    result = Result(endpoint, measured(20_000), 32)
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
    assert rows[CONVENTIONAL][7] == "4.00 × (3.00 – 5.00) as fast"


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
    write_page(page, Report([result], MEMORY, FETCHES, {"Python": "3.11.7"}, Plan(3, 2.0)))
    text = page.read_text()
    assert "| Python | 3.11.7 |" in text
    assert "| 3 | 900 | 1,000 | 300 | 3.00 | 0.90 |" in text
    assert "(single-read.svg)" in text
    assert "(fetch-curve.svg)" in text
    assert "| 20,000 | 2.00 | 1.90 – 2.10 | 100 | 1.00 | 50 |" in text
    assert "| peak, after 6 lists in a row | 113 MB |" in text


def test_growth_is_the_exponent():
    counts = [5_000, 10_000, 20_000, 40_000]
    assert find_growth(counts, [0.5, 1, 2, 4]) == pytest.approx(1)
    assert find_growth(counts, [0.5, 2, 8, 32]) == pytest.approx(2)
    assert "power of 1.00, the worker's processor time to the power of 1.00" in describe_fetches(FETCHES)[1]


def test_memory_is_read_from_the_kernel():
    assert read_status("Name:\tpython\nVmHWM:\t  110000 kB\nVmRSS:\t  100000 kB\n", "VmHWM") == 112.64
    assert describe_memory(MEMORY)[0].endswith("113 MB, reached.")


@pytest.mark.bench
def test_the_curve_is_drawn(tmp_path):
    from benchmarks.plot import draw_fetches

    draw_fetches(FETCHES, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


@pytest.mark.bench
def test_the_picture_is_drawn(result, tmp_path):
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
    assert {"single-read", "listing"} <= set(list_endpoints())
