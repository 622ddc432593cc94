"""Driving a connector through a dialogue, each step in a process of its own that is killed after it."""

import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest
from scenarios import SUBJECTS, Scenario, Subject, VisitsBank

from bank_pages import visit_page
from kontor.connectors.base import (
    AcceptPayees,
    Answer,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Context,
    Continue,
    Done,
    Failed,
    Fetch,
    Job,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedPayeeDecision,
    NeedRedirect,
    NeedTan,
    Poll,
    Progress,
    Returned,
    State,
    Step,
    Tan,
)
from kontor.domain.secrets import Secret

TODAY = date(2026, 11, 13)
QUESTIONS = (NeedMethod, NeedMedium, NeedTan, NeedConfirmation, NeedRedirect, NeedPayeeDecision)
BANK_ADDRESS = "KONTOR_TEST_CONTRACT_BANK"  # the variable that says where each subject's bank is; set by conftest.py
FETCH = Fetch()


@dataclass(frozen=True)
class Call:
    """One step, as it can be sent to another process: plain data, the state as JSON text."""

    subject: str
    credentials: dict[str, str]
    job: Job = FETCH
    connector_state: str | None = None
    state: str | None = None
    answer: tuple[str, str | None] = ("Continue", None)
    context: Context = field(default_factory=lambda: Context(TODAY, "customer"))
    address: str = field(default_factory=lambda: os.environ[BANK_ADDRESS])


def run_step(call: Call) -> Step:
    subject = next(subject for subject in SUBJECTS if subject.name == call.subject)
    connector, provider = subject.make(json.loads(call.address)[subject.name]), subject.provider()
    credentials = {key: Secret(value) for key, value in call.credentials.items()}
    if call.state is None:
        connector_state = None if call.connector_state is None else json.loads(call.connector_state)
        return connector.begin(provider, credentials, call.job, connector_state, call.context)
    return connector.resume(provider, credentials, json.loads(call.state), unpack(call.answer), call.context)


def pack(answer: Answer) -> tuple[str, str | None]:
    """Secrets refuse to be serialised, so an answer travels as plain text."""
    match answer:
        case ChooseMethod(text) | ChooseMedium(text) | Returned(text):
            return type(answer).__name__, text
        case Tan(secret):
            return "Tan", secret.reveal()
    return type(answer).__name__, None


def unpack(packed: tuple[str, str | None]) -> Answer:
    kind, text = packed
    if text is None:
        return {"Continue": Continue, "Poll": Poll, "Cancel": Cancel, "AcceptPayees": AcceptPayees}[kind]()
    if kind == "Tan":
        return Tan(Secret(text))
    return {"ChooseMethod": ChooseMethod, "ChooseMedium": ChooseMedium, "Returned": Returned}[kind](text)


def _serve(call: Call, pipe: Any) -> None:
    try:
        pipe.send((os.getpid(), run_step(call)))
    except BaseException as error:
        pipe.send((os.getpid(), repr(error)))
    signal.pause()  # until killed: a process never ends by itself between two steps


def _start_fork_server() -> Any:
    """A process that has the modules loaded and nothing else; every step is a new fork of it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dialogue"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *sys.path]))
        forkserver.ensure_running()
    return context


for _subject in SUBJECTS:
    _subject.provider()  # into its cache, before any fork
_processes = None


def run_in_new_process(call: Call) -> Step:
    global _processes
    if _processes is None:
        _processes = _start_fork_server()
    here, there = _processes.Pipe()
    process = _processes.Process(target=_serve, args=(call, there))
    process.start()
    try:
        assert here.poll(120), "the step does not end"
        pid, step = here.recv()
        assert pid not in (os.getpid(), os.getppid())
    finally:
        process.kill()
        process.join()
    assert not isinstance(step, str), f"a connector must not raise: {step}"
    return step


Run = Callable[[Call], Step]


def first_call(subject: Subject, scenario: Scenario, **facts: Any) -> Call:
    context = Context(TODAY, "customer", "93.184.216.34", scenario.callback_url)
    return Call(subject.name, dict(scenario.credentials), context=context, **facts)


def drive(subject: Subject, scenario: Scenario, run: Run, **facts: Any) -> list[Step]:
    """Every step of the dialogue, the last one being its end."""
    return drive_call(first_call(subject, scenario, **facts), scenario.answers, run)


def drive_call(
    call: Call, given: Sequence[Answer | VisitsBank], run: Run, *, may_end_early: bool = False
) -> list[Step]:
    answers = list(given)
    steps = [run(call)]
    while not isinstance(steps[-1], Done | Failed):
        assert len(steps) < 20, "the dialogue does not end"
        step = steps[-1]
        call = replace(call, state=serialize(step.state), answer=pack(_choose(step, answers, call.credentials)))
        steps.append(run(call))
    assert answers == [] or may_end_early, "the bank did not ask for all that was answered"
    return steps


def _choose(step: Step, answers: list[Answer | VisitsBank], credentials: Mapping[str, str]) -> Answer:
    """Where there is nothing to choose the caller chooses alone, as Kontor does."""
    if isinstance(step, Progress):
        return Continue()
    if isinstance(step, NeedMethod) and len(step.methods) == 1:
        return ChooseMethod(step.methods[0].code)
    if isinstance(step, NeedMedium) and len(step.media) == 1:
        return ChooseMedium(step.media[0].name)
    answer = answers.pop(0)
    if isinstance(answer, VisitsBank):
        assert isinstance(step, NeedRedirect)
        return Returned(visit_page(step.url, credentials["userid"], credentials["pin"], answer.decision))
    return answer


def serialize(state: State) -> str:
    """As it lies in the database between two steps."""
    return json.dumps(state, allow_nan=False)
