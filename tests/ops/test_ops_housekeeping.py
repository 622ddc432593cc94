"""Housekeeping of what dead workers leave: their jobs, their leases, their rows; and of what the queue remembers."""

from uuid import uuid4

import pytest

from kontor.services.operations import housekeeping

JOB = (
    "insert into pgqueuer (priority, status, entrypoint, queue_manager_id, heartbeat, updated, slot)"
    " values (0, %s, %s, %s, now() - %s::interval, now() - %s::interval, %s)"
)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(housekeeping, "BATCH", 2)


async def test_jobs_of_dead_workers_are_queued_again_and_running_ones_left_alone(operator, small_batches):
    for number in range(5):
        operator.owner.execute(JOB, ["picked", f"gone-{number}", uuid4(), "6 minutes", "6 minutes", number])
    operator.owner.execute(JOB, ["picked", "at work", uuid4(), "10 seconds", "1 hour", 1])
    await operator.services.housekeeping.clean()
    rows = operator.owner.execute(
        "select entrypoint, status::text, queue_manager_id is null, slot is null from pgqueuer order by entrypoint"
    ).fetchall()
    assert rows[0] == ("at work", "picked", False, False)
    assert rows[1:] == [(f"gone-{number}", "queued", True, True) for number in range(5)]


async def test_failed_jobs_are_held_for_30_days(operator, small_batches):
    for number in range(5):
        operator.owner.execute(JOB, ["failed", f"old-{number}", None, "31 days", "31 days", None])
    operator.owner.execute(JOB, ["failed", "new", None, "29 days", "29 days", None])
    await operator.services.housekeeping.clean()
    assert operator.owner.execute("select entrypoint from pgqueuer").fetchall() == [("new",)]


async def test_the_queues_log_keeps_a_day_of_everything_and_30_days_of_failures(operator, small_batches):
    def write(name, status, age):
        operator.owner.execute(
            "insert into pgqueuer_log (created, job_id, status, priority, entrypoint)"
            " values (now() - %s::interval, 1, %s, 0, %s)",
            [age, status, name],
        )

    for _ in range(5):
        write("done before", "successful", "25 hours")
    write("done today", "successful", "23 hours")
    write("failed before", "failed", "29 days")
    write("thrown before", "exception", "29 days")
    write("failed long ago", "failed", "31 days")
    await operator.services.housekeeping.clean()
    kept = {row[0] for row in operator.owner.execute("select entrypoint from pgqueuer_log").fetchall()}
    assert kept == {"done today", "failed before", "thrown before"}


async def test_rows_of_dead_workers_go_after_an_hour_and_their_leases_too(operator):
    alive, dead, long_dead = uuid4(), uuid4(), uuid4()
    for worker_id in (alive, dead, long_dead):
        await operator.services.workers.beat(worker_id)
    statement = "update workers set seen_at = now() - %s::interval where id = %s"
    operator.owner.execute(statement, ["59 minutes", dead])
    operator.owner.execute(statement, ["61 minutes", long_dead])
    for key, age in ((b"gone", "61 minutes"), (b"over", "1 minute")):
        operator.owner.execute(
            "insert into credential_leases values (%s, %s, 1, now() - %s::interval)", [key, uuid4(), age]
        )
    await operator.services.housekeeping.clean()
    kept = {row[0] for row in operator.owner.execute("select id from workers").fetchall()}
    assert kept == {alive, dead}
    assert operator.owner.execute("delete from credential_leases returning key").fetchall() == [(b"over",)]
