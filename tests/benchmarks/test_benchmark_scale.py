"""What `./dev bench --jobs` and `--growth` measure with, and what they say about it. No timing is asserted."""

import json
from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.scale.due import DueResult, describe_due, make_due_rows, time_poll
from benchmarks.scale.growth import (
    LARGE,
    SMALL,
    GrowthResult,
    Timings,
    add_medians,
    describe_growth,
    make_growth_rows,
    prepare_due,
)
from benchmarks.scale.job_worker import BARE_ASYNCPG, BARE_PSYCOPG, PLAIN, WHOLE
from benchmarks.scale.jobs import (
    JobsResult,
    describe_jobs,
    drain,
    find_percentile,
    make_enqueue_rows,
    make_job_rows,
    measure_latencies,
)
from benchmarks.scale.pages import make_growth_page, make_jobs_page
from benchmarks.scale.population import LATER_PASSES, Life, Population, encode_field, make_life, make_lines, populate
from benchmarks.scale.refreshes import RefreshResult, describe_refreshes

from kontor.domain.searches import Window
from kontor.wire.transactions import FIELDS
from processes import beside

pytestmark = pytest.mark.long

TODAY = date(2026, 11, 15)
MACHINE = {"Date": "2026-11-15"}


def make_timings(name, few, many, **facts):
    timings = Timings(name, **facts)
    timings.rounds[SMALL], timings.rounds[LARGE] = few, many
    return timings


@pytest.fixture
def jobs():
    rates = {
        BARE_PSYCOPG: [500.0, 400.0, 450.0],
        BARE_ASYNCPG: [1000.0, 800.0, 900.0],
        PLAIN: [600.0, 400.0, 450.0],
        WHOLE: [300.0, 200.0, 250.0],
    }
    return JobsResult(rates, {"one": [200.0, 100.0, 150.0]}, [0.01] * 18 + [0.02, 0.2])


@pytest.fixture
def growth():
    populations = {SMALL: Population([], [], 10, 5620), LARGE: Population([], [], 10_000, 5_620_000)}
    timings = [
        make_timings("listing", [0.010, 0.020, 0.010], [0.011, 0.020, 0.012]),
        make_timings("scheduling", [0.001, 0.001, 0.001], [0.0011, 0.0012, 0.0010]),
        make_timings("others", [0.010], [0.030], is_judged=False),
    ]
    return GrowthResult(populations, {SMALL: "18 MB", LARGE: "5 GB"}, timings)


# The crowd


def test_fields_are_written_as_copy_reads_them():
    assert encode_field(None) == r"\N"
    assert encode_field("a\tb\nc\\d") == r"a\tb\nc\\d"
    assert encode_field(Decimal("-1.50")) == "-1.50"
    assert encode_field(date(2026, 1, 2)) == "2026-01-02"


def test_every_row_of_a_life_is_written_once_in_its_order():
    for count in (1, 7, 100):
        life = Life([f"\t{number}\n" for number in range(count)], [f"\t{number}\n" for number in range(count)])
        passes = [life.bookings[life.pick(number)] for number in range(LATER_PASSES + 1)]
        assert [row for rows in passes for row in rows] == list(life.bookings)
        assert len(passes[0]) == count // 2


def test_both_tables_get_the_same_ids():
    life = make_life(20, TODAY)
    people = [(UUID(int=number), UUID(int=number + 10), life) for number in range(3)]
    blocks = [block for number in range(LATER_PASSES + 1) for block in make_lines(people, number, seed=1)]
    bookings, tags = ([line.split("\t")[:3] for block in blocks for line in block[side]] for side in (0, 1))
    assert bookings == tags
    assert len(bookings) == len({tuple(booking) for booking in bookings}) == 60


@pytest.fixture(scope="module")
def own(settings):
    """A database that no worker looks into."""
    with beside(settings) as found:
        yield found


@pytest.fixture(scope="module")
async def crowd(own):
    """Six customers with two lives."""
    async with BenchmarkEnvironment(own, tenant="crowd") as environment:
        yield environment, await populate(environment, 6, 2, lambda _: None, sizes=(20, 30))


async def test_the_crowd_is_read_as_any_customer(crowd):
    environment, population = crowd
    assert (population.users, population.transactions) == (6, 150)
    assert [len(population.measured), len(population.strangers)] == [2, 2]
    for request, count in zip(population.measured, (20, 30), strict=True):
        principal = await environment.services.tokens.authenticate(request.token)
        access_id, product_id = request.path.split("/")[4:6]
        product = await environment.services.transactions.read_product(principal, access_id, UUID(product_id))
        page, _ = await environment.services.transactions.list_page(principal, product.id, Window(limit=100), FIELDS)
        listed = json.loads(b"[" + page + b"]")
        assert len({transaction["id"] for transaction in listed}) == count
        facts = await environment.services.analyses.load_facts_by_operator(principal.user_id)
        assert {record.id for record in facts.records} == {transaction["id"] for transaction in listed}
        assert len({record.category for record in facts.records}) > 3


async def test_a_look_finds_what_was_made_due_and_can_be_repeated(crowd):
    environment, _ = crowd
    with environment.owner() as owner:
        for _ in range(3):
            prepare_due(owner, 4)
            assert await environment.services.refreshing.schedule_due() == 4
            row = owner.execute("select count(*) from fetches where state = 'QUEUED' and slot_at is not null")
            assert row.fetchone() == (4,)
        prepare_due(owner, 4)
        for _ in range(2):  # it lets go of them
            assert await time_poll(environment.services.database, 4) > 0
        prepare_due(owner, 0)
        assert await environment.services.refreshing.schedule_due() == 0
        assert await time_poll(environment.services.database, 0) > 0


# Jobs


def test_a_worker_drains_the_queue_and_says_when_jobs_began(own):
    for kind in (BARE_PSYCOPG, PLAIN, WHOLE):
        assert drain(own, kind, 20) > 0, kind


async def test_every_start_is_timed(own):
    found = await measure_latencies(own, 3)
    assert len(found) == 3
    assert min(found) > 0


# Figures


def test_jobs_are_compared_with_the_faster_driver_within_a_round(jobs):
    assert jobs.bare == BARE_ASYNCPG
    assert jobs.ratios(PLAIN) == [0.6, 0.5, 0.5]
    rows = {row[0]: row[1:] for row in make_job_rows(jobs)}
    assert rows["Kontor's worker, a job that does nothing"] == ("450", "400 – 600", "0.50 ×")
    assert rows["pgqueuer alone, psycopg"][2] == ""
    assert make_enqueue_rows(jobs) == [("one", "150", "100 – 200")]


def test_jobs_are_judged(jobs):
    throughput, latency = describe_jobs(jobs)
    assert throughput.endswith("0.50 ×, reached.")
    assert "median 10 ms, p95 200 ms, by the median" in latency
    jobs.latencies = [0.3] * 20
    assert describe_jobs(jobs)[1].endswith("not reached.")
    jobs.rates[PLAIN] = [100.0] * 3
    assert describe_jobs(jobs)[0].endswith("not reached.")
    assert find_percentile([3, 1, 2], 0.95) == 3


def test_growth_is_judged_by_the_worst_that_has_a_target(growth):
    rows = make_growth_rows(growth)
    assert rows[0] == ("listing", "10.00", "12.00", "1.10", "1.00 – 1.20")
    said = describe_growth(growth)
    assert "5,620,000 transactions, 5 GB" in said[0]
    assert "at most 1.10 ×" in said[1]
    assert said[1].endswith("reached.")
    growth.timings.append(make_timings("analysis", [0.1], [0.2]))
    assert describe_growth(growth)[1].endswith("2.00 × (analysis), not reached.")


def test_a_customer_with_a_long_list_counts_as_much_as_one_with_a_short_one():
    # Two customers in turn, three times; one slow answer does not matter.
    assert add_medians([1.0, 10.0, 1.0, 10.0, 50.0, 10.0], 2) == 5.5


def test_pages_name_their_command_and_the_noise(jobs, growth):
    due = DueResult({SMALL: 1000, LARGE: 1_000_000}, [make_timings("100 due", [0.01], [0.0105])], {0.2: (0.02, 0.01)})
    assert make_due_rows(due) == [("100 due", "10.00", "10.50", "1.05", "1.05 – 1.05")]
    assert describe_due(due)[1].endswith("1.05 ×, reached.")
    assert "When 20% of the many" in describe_due(due)[2]
    refreshes = RefreshResult(200, 300, [10.0, 20.0, 15.0])
    assert "324,000 accesses" in describe_refreshes(refreshes)[1]
    for command, lines in (
        ("--jobs", make_jobs_page(jobs, refreshes, due, MACHINE)),
        ("--growth", make_growth_page(growth, MACHINE)),
    ):
        page = "\n".join(lines)
        assert f"Written by `./dev bench {command}`" in page
        assert "depend on the machine and its load" in page.replace("\n", " ")
        assert "| Date | 2026-11-15 |" in page
        assert all(len(line) <= 120 for line in lines if not line.startswith(("|", "*", "!")))
