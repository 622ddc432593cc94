"""`./dev bench --reads`: the load generator keeps its pace, and the figures are those of the server's histogram."""

import asyncio
import itertools
import math

import pytest
from benchmarks.reads.pace import Interval, Pace, keep_pace
from benchmarks.reads.page import describe_growth, make_rows
from benchmarks.reads.running import Counter, Minute, ReadPlan, ReadsResult, count_errors, judge

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


class Answering(asyncio.Protocol):
    def __init__(self, answer, delay):
        self.answer, self.delay = answer, delay

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        asyncio.get_running_loop().call_later(self.delay, self.finish)

    def finish(self):
        if self.answer:
            self.transport.write(self.answer)
        else:
            self.transport.close()


class Closing(Answering):
    def connection_made(self, transport):
        transport.close()


async def run(answer, *, delay=0.0, closed=0, connections=4, intervals=1):
    """The server closes the first `closed` connections before they are used."""
    numbers = itertools.count()

    def choose():
        return (Closing if next(numbers) < closed else Answering)(answer, delay)

    server = await asyncio.get_running_loop().create_server(choose, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    told = []
    try:
        requests = [{"path": "/", "token": "t"}]
        await keep_pace(Pace(port, 100.0, connections, intervals, 0.3, requests), told.append)
    finally:
        server.close()
    return told


async def test_each_request_is_counted_once_over_all_intervals():
    told = await run(ANSWER, intervals=2)
    assert sum(interval.answers for interval in told) == 60
    assert sum(interval.failures for interval in told) == 0


async def test_a_slow_server_does_not_lower_the_rate_and_waiting_counts():
    """Two connections that answer after 100 ms bear twenty requests a second; a hundred are due."""
    [interval] = await run(ANSWER, delay=0.1, connections=2)
    assert interval.answers == 30
    assert interval.waiting > 10
    assert interval.p99 > 0.5


async def test_connections_that_a_server_closes_for_want_of_use_are_no_failures():
    [interval] = await run(ANSWER, closed=20, connections=40)
    assert (interval.answers, interval.failures) == (30, 0)


@pytest.mark.parametrize("answer", [REFUSAL, b""], ids=["refused", "closed"])
async def test_what_is_not_200_has_failed(answer):
    [interval] = await run(answer, connections=40)
    assert interval.failures == 30


def test_percentiles_lie_between_the_bounds_of_the_histogram():
    before = {0.05: 10.0, 0.1: 10.0, 0.25: 10.0, math.inf: 10.0}
    after = {0.05: 990.0, 0.1: 1000.0, 0.25: 1010.0, math.inf: 1010.0}
    p99, within = judge(before, after)
    assert p99 == pytest.approx(0.1)
    assert within == pytest.approx(0.99)
    assert judge(before, {bound: count + 5 for bound, count in before.items()})[0] <= 0.05
    assert judge(before, before) == (0.0, 1.0)


def test_what_lies_beyond_the_last_bound_is_not_made_smaller():
    assert judge({}, {0.1: 0.0, 0.25: 0.0, math.inf: 100.0}) == (0.25, 0.0)


def make_minute(number):
    load = Interval(answers=100, failures=number == 7, waiting=0, p50=0.01, p99=number / 100)
    return Minute(load, number / 1000, 1.0, 2, 3, 100.0 + number, 80.0, 1.0)


def test_rows_sum_up_minutes_and_tell_the_longest_percentile():
    plan = ReadPlan(4, 100, 4, 12, 60, 1)
    rows = make_rows(ReadsResult(plan, [make_minute(number) for number in range(12)], 0, 1, Counter(), 0, 0))
    assert len(rows) == 6
    assert rows[3] == ("7 – 8", "200", "1", "7", "70", "4", "6", "106", "80", "1.0")


def test_growth_of_memory_is_told_from_where_the_server_is_warm():
    minutes = [make_minute(number) for number in range(12)]
    assert describe_growth(minutes) == "API 102 to 111 MB, worker 80 to 80 MB"


def test_errors_are_counted_in_the_log():
    log = (
        '{"level": "info", "event": "request"}\n{"level": "error", "event": "x"}\nTraceback (most recent call last):\n'
    )
    assert count_errors(log) == 2
