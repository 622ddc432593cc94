"""What `./dev bench --tagging` and `--analyses` measure with, and what they say about it. No timing is asserted."""

import math
from contextlib import ExitStack
from types import SimpleNamespace
from uuid import uuid4

import pytest
from benchmarks.endpoints import Request, Targets, list_endpoints, load_endpoint
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.load import Measurement
from benchmarks.measure import Plan, Result, Round, check_answers, strip_bases
from benchmarks.servers import LIMIT, OURS, ServerProcess
from benchmarks.understanding.analysing import (
    CURVE_HEADINGS,
    TODAY,
    URLS,
    AnalysesResult,
    Point,
    describe_analyses,
    find_excess,
    make_curve_rows,
    make_facts,
    time_analyses,
)
from benchmarks.understanding.pages import describe_pair, make_analyses_page, make_pair_rows, make_tagging_page
from benchmarks.understanding.rows import pick_rows
from benchmarks.understanding.tagging import (
    TEXTBOOK,
    Loading,
    Speeds,
    TaggingResult,
    count_right,
    describe_tagging,
    make_speed_rows,
    measure_loading,
)

from kontor.analysis.tagging import NOBODY, load_tagger
from kontor.connectors.demo.people import large_person
from kontor.wire.analyses import ANALYSES

pytestmark = pytest.mark.long

MACHINE = {"Date": "2026-11-15"}
PLAN = Plan(rounds=3, seconds=2)


def make_point(count, milliseconds):
    return Point(count, [{name: duration / 1000 / len(ANALYSES) for name in ANALYSES} for duration in milliseconds])


def make_pair(ours, limit):
    endpoint = SimpleNamespace(name="tag-view", title="With tags", targets=Targets(limit=0.6))
    result = Result(endpoint, measured(9_000), 4)
    for name, rates in ((OURS, ours), (LIMIT, limit)):
        result.rounds[name] = [Round(measured(rate), 1 / rate) for rate in rates]
    return result


def measured(rate):
    return Measurement(rate, 0.01, 0.02, 0, 100, 0.1)


@pytest.fixture
def tagging():
    speeds = Speeds(
        bulk={OURS: [9000.0, 10_000.0, 8000.0], TEXTBOOK: [1000.0, 2000.0, 2000.0]},
        single={OURS: [8000.0, 8000.0, 8000.0], TEXTBOOK: [200.0, 100.0, 160.0]},
        history={OURS: [30_000.0, 26_000.0, 20_000.0], TEXTBOOK: [2000.0, 2000.0, 2000.0]},
        compiled_history=[60_000.0, 52_000.0, 20_000.0],
    )
    loading = Loading([1.5, 1.2, 1.4], [1.0, 1.1, 1.2], [50.0, 60.0, 55.0])
    return TaggingResult(speeds, loading, 4000, 300, 12_000, {OURS: 0.95, TEXTBOOK: 0.9})


# Rows


def test_rows_to_measure_with_are_all_different_and_always_the_same():
    rows = pick_rows(("+few",), 3000)
    keys = {(row.transaction.amount, row.transaction.counterparty_name, row.transaction.purpose) for row in rows}
    assert len(keys) > 2900  # nearly all differ even without their booking text
    assert len({row.labels[0] for row in rows}) > 60
    assert pick_rows(("+few",), 3000) == rows
    with pytest.raises(ValueError, match="different rows"):
        pick_rows(("+few",), 10_000_000)


def test_right_categories_are_counted_the_same_way_for_both():
    rows = pick_rows(("+few",), 200)
    ours = load_tagger().tag([row.transaction for row in rows], NOBODY)
    theirs = [(tagging.category, "", "", "") for tagging in ours]
    assert count_right(OURS, ours, rows) == count_right(TEXTBOOK, theirs, rows) > 100


@pytest.mark.bench
def test_the_textbook_pipeline_learns_all_four_trees():
    from benchmarks.understanding.textbook import Textbook

    rows = pick_rows(("+few",), 1500)
    textbook = Textbook(rows[:1200])
    found = textbook.tag([row.transaction for row in rows[1200:]])
    assert len(found) == 300
    for tree in range(4):
        right = sum(said[tree] == row.labels[tree] for said, row in zip(found, rows[1200:], strict=True))
        assert right / 300 > 0.6, tree
    assert textbook.tag([rows[0].transaction])[0] == textbook.tag([row.transaction for row in rows[:2]])[0]


# Figures


def test_speeds_are_medians_of_rounds_and_ratios_are_within_a_round(tagging):
    bulk, single, history = make_speed_rows(tagging)
    assert history[:4] == ("a person's history at once", "26,000", "2,000", "13.0 × as fast")
    assert bulk == ("4,000 at once", "9,000", "2,000", "5.0 × as fast", "4.0 – 9.0")
    assert single == ("one at a time", "8,000", "160", "50.0 × as fast", "40.0 – 80.0")


def test_targets_of_the_tagger_are_judged(tagging):
    found = describe_tagging(tagging)
    assert found[0].endswith("5.0 ×, reached.")
    assert found[1].endswith("50.0 ×, reached.")
    assert "9,000, the best round 10,000: not reached" in found[2]
    assert "8,000, the best round 8,000: not reached" in found[3]
    assert "26,000, the best round 30,000: reached" in found[4]
    assert "50,000 rows per second of one core of whole histories. Measured: 52,000" in found[5]
    assert "That is 2.0 × the plain one (1.0 – 2.0)." in found[5]
    assert "1.10 s of processor time" in found[6]
    assert "55 MB more" in found[7]


def test_loading_is_measured_in_processes_of_its_own():
    found = measure_loading(times=1)
    assert found.cpu[0] > 0
    assert found.megabytes[0] > 10


def test_growth_is_compared_with_n_log_n():
    def linear(count):
        return make_point(count, [count / 100] * 3)

    usual, last = linear(10_000), linear(200_000)
    assert find_excess([usual, last]) == pytest.approx(math.log(10_000) / math.log(200_000))
    quadratic = make_point(200_000, [100 * 400.0])
    assert find_excess([usual, quadratic]) > 10
    result = AnalysesResult([usual, last], 0.05, 10_000)
    rows = make_curve_rows(result)
    assert all(len(row) == len(CURVE_HEADINGS) for row in rows)
    assert rows[0][:5] == ("10,000", "100", "100 – 100", "10.0", "1.00")
    said = describe_analyses(result)
    assert said[0].startswith("Target: 150 ms")
    assert said[0].endswith("100 ms: reached.")
    assert "10,000: reached" in said[1]
    assert "power of 1.00" in said[1]
    said = describe_analyses(AnalysesResult([usual, quadratic], 0.05, 10_000))
    assert "10,000: not reached" in said[1]


def test_every_analysis_is_timed_on_all_rows_of_the_person():
    facts = make_facts(large_person(300, TODAY), TODAY)
    assert len([record for record in facts.records if not record.is_pending and record.account == "main"]) == 300
    assert facts.records == sorted(facts.records, key=lambda record: (record.day, record.id))
    assert list(time_analyses(facts)) == list(ANALYSES)
    assert ANALYSES["contracts"](facts, URLS, False)


def test_the_pair_is_shown_with_its_verdict():
    result = make_pair([60, 66, 54], [100, 100, 100])
    assert [row[1] for row in make_pair_rows(result)] == ["60", "100"]
    assert describe_pair(result)[0].endswith("0.60 ×, reached.")
    assert describe_pair(make_pair([50], [100]))[0].endswith("0.50 ×, not reached.")


def test_pages_name_their_command_and_the_noise(tagging):
    pair = make_pair([60, 66, 54], [100, 100, 100])
    curve = AnalysesResult([make_point(10_000, [100] * 3), make_point(20_000, [220] * 3)], 0.05, 10_000)
    for command, lines in (
        ("--tagging", make_tagging_page(tagging, pair, PLAN, MACHINE)),
        ("--analyses", make_analyses_page(curve, pair, PLAN, MACHINE)),
    ):
        page = "\n".join(lines)
        assert f"Written by `./dev bench {command}`" in page
        assert "depend on the machine and its load" in page.replace("\n", " ")
        assert "| Date | 2026-11-15 |" in page
        assert "| 1 | 60 | 100 | 0.60 |" in page
        assert all(len(line) <= 120 for line in lines if not line.startswith(("|", "*", "!")))


@pytest.mark.bench
def test_the_curve_of_analyses_is_drawn(tmp_path):
    from benchmarks.understanding.plots import draw_curve

    draw_curve([make_point(1_000, [20, 22]), make_point(10_000, [100, 120])], tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


# The two endpoints answer as Kontor does


def test_they_are_no_part_of_the_plain_run():
    assert not {"tag-view", "kept-answer"} & set(list_endpoints())
    assert load_endpoint("tag-view").router is None
    assert load_endpoint("kept-answer").name == "kept-answer"


@pytest.mark.bench
@pytest.mark.parametrize("name", ["tag-view", "kept-answer"])
async def test_the_limit_sends_what_kontor_sends(name, settings, data_dir):
    async with BenchmarkEnvironment(settings, tenant=f"view-{uuid4().hex[:8]}") as environment:
        requests = (await load_endpoint(name).prepare(environment))[:2]
    with ExitStack() as exits:
        servers = {
            server: exits.enter_context(ServerProcess(server, settings, name, data_dir / f"{name}-{server}.log", set()))
            for server in (OURS, LIMIT)
        }
        for request in requests:
            bodies = {
                server: strip_bases(servers[server].wait_for(request), servers.values()) for server in (OURS, LIMIT)
            }
            check_answers(bodies)
            assert len(bodies[OURS]) > 200
        with pytest.raises(RuntimeError):
            servers[LIMIT].ask(Request(requests[0].path, "kontor_at_unknown"))
