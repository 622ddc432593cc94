"""What processes do with webhooks: the job, its limits, and the switch for loopback targets."""

from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest
from pgqueuer import RetryRequested

from kontor import bootstrap
from kontor.cli import demo
from kontor.cli import processes as commands
from kontor.config import read_settings
from kontor.jobs.tasks import register_jobs
from processes import free_port


class Queue:
    """Takes pgqueuer's place: notes what is registered."""

    def __init__(self):
        self.jobs, self.failures = {}, {}

    def entrypoint(self, name, *, on_failure="delete"):
        def register(task):
            self.jobs[name], self.failures[name] = task, on_failure
            return task

        return register

    def schedule(self, *_, **__):
        return lambda task: task


class Job:
    def __init__(self, payload):
        self.payload = payload


class Answers:
    """Deliveries that say when to look again."""

    def __init__(self, seconds):
        self.seconds, self.asked = seconds, []

    async def run(self, delivery_id):
        self.asked.append(delivery_id)
        return self.seconds


def test_deliveries_have_an_entrypoint_and_a_limit_of_their_own(office):
    queue = Queue()
    limits = register_jobs(queue, office.services)
    assert queue.failures["deliver"] == "hold"
    assert "fetch" not in limits  # what hangs at receivers takes no place from banks
    assert limits["deliver"] is not limits["refresh"]


@pytest.mark.parametrize("seconds", [None, 12.5])
async def test_a_job_that_is_not_done_comes_back_when_it_was_told(office, seconds):
    queue, answers, delivery_id = Queue(), Answers(seconds), uuid4()
    register_jobs(queue, replace(office.services, deliveries=answers))
    if seconds is None:
        await queue.jobs["deliver"](Job(delivery_id.bytes))
    else:
        with pytest.raises(RetryRequested) as asked:
            await queue.jobs["deliver"](Job(delivery_id.bytes))
        assert asked.value.delay.total_seconds() == seconds
    assert answers.asked == [delivery_id]


def test_loopback_is_off_unless_it_is_asked_for(settings):
    assert read_settings({}).allow_loopback is False
    assert settings.allow_loopback is False
    assert read_settings({"KONTOR_ALLOW_LOOPBACK": "true"}).allow_loopback is True


@pytest.mark.parametrize("is_allowed", [False, True])
def test_serve_passes_the_switch_on(monkeypatch, is_allowed):
    started = []

    @contextmanager
    def lend(settings):
        yield settings

    monkeypatch.setattr(bootstrap, "with_database", lend)
    monkeypatch.setattr(commands, "_refuse_unusable", lambda settings: None)
    monkeypatch.setattr(commands, "run_server", lambda settings, *_: started.append(settings.allow_loopback))
    commands.serve(port=free_port(), **({"allow_loopback": True} if is_allowed else {}))
    assert started == [is_allowed]


@pytest.mark.parametrize("is_allowed", [False, True])
def test_demo_passes_the_switch_on(monkeypatch, tmp_path, is_allowed):
    started = []
    monkeypatch.setattr(demo, "_run", lambda server, settings, *_: started.append(settings.allow_loopback))
    monkeypatch.setattr(demo, "Stopping", lambda: None)
    options = {"allow_loopback": True} if is_allowed else {}
    demo.demo(port=free_port(), data=tmp_path, **options)
    assert started == [is_allowed]
