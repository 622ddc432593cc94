"""The contract of `kontor.connectors.base`, for every connector and scenario, with a process killed after each step."""

import json
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal

import pytest
from dialogue import QUESTIONS, drive, first_call, pack, replace, run_in_new_process, run_step, serialize
from scenarios import SUBJECTS

from kontor.connectors.base import (
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    Poll,
    ProblemKind,
    Progress,
    Returned,
    Tan,
)
from kontor.domain.secrets import Secret
from kontor.domain.transactions import clean_transaction, find_day

CASES = [(subject, scenario) for subject in SUBJECTS for scenario in subject.scenarios]
each_case = pytest.mark.parametrize(
    ("subject", "scenario"), CASES, ids=[f"{subject.name}-{scenario.name}" for subject, scenario in CASES]
)
# What holds for a few dialogues of a connector holds for the others: the long tier tries those.
each_few = pytest.mark.parametrize(
    ("subject", "scenario"),
    [
        pytest.param(
            subject, scenario, id=f"{subject.name}-{scenario.name}", marks=[] if place < 5 else pytest.mark.long
        )
        for subject in SUBJECTS
        for place, scenario in enumerate(subject.scenarios)
    ],
)
each_fetch = pytest.mark.parametrize(
    ("subject", "scenario"),
    [case for case in CASES if case[1].ends is None],
    ids=[f"{subject.name}-{scenario.name}" for subject, scenario in CASES if scenario.ends is None],
)
_known: dict[tuple[str, str], list] = {}


def steps_of(subject, scenario):
    """The dialogue, driven once for all tests."""
    key = (subject.name, scenario.name)
    if key not in _known:
        _known[key] = drive(subject, scenario, run_step)
    return _known[key]


def walk(value):
    """Everything inside, down to the plain values."""
    yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from walk(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from walk(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from walk(inner)


@each_case
def test_dialogue_ends_as_it_should(subject, scenario):
    check_end(steps_of(subject, scenario)[-1], scenario)


@pytest.mark.long
@each_case
def test_dialogue_ends_as_it_should_though_every_step_has_a_process_of_its_own(subject, scenario):
    steps = drive(subject, scenario, run_in_new_process)
    check_end(steps[-1], scenario)
    assert [show(subject, step) for step in steps] == [show(subject, step) for step in steps_of(subject, scenario)]


def check_end(last, scenario):
    if scenario.ends is None:
        assert isinstance(last, Done)
    else:
        assert isinstance(last, Failed)
        assert last.kind is scenario.ends


@each_case
def test_state_and_memory_are_json_without_secrets(subject, scenario):
    secrets = {
        answer.value.reveal() for answer in scenario.answers if isinstance(answer, Tan) and answer.value.reveal()
    }
    keys = {field.key for field in subject.provider().login_fields if field.is_secret}
    secrets |= {value for key, value in scenario.credentials.items() if key in keys}
    for step in steps_of(subject, scenario):
        for kept in (getattr(step, "state", None), getattr(step, "connector_state", None)):
            if kept is not None:
                assert json.loads(serialize(kept)) == kept
                assert not secrets & {value for value in walk(kept) if isinstance(value, str)}
                assert not any(len(secret) > 4 and secret in serialize(kept) for secret in secrets)


def show(subject, step):
    """What a user sees of a step. A bank that draws ids shows others every time, in what is kept and in addresses."""
    hidden = {"state", "connector_state", "url"} if subject.draws_ids else set()
    return repr([getattr(step, field.name) for field in fields(step) if field.name not in hidden])


@each_few
def test_the_same_dialogue_gives_the_same_again(subject, scenario):
    again = [show(subject, step) for step in drive(subject, scenario, run_step)]
    assert again == [show(subject, step) for step in steps_of(subject, scenario)]


@each_fetch
def test_header_data_comes_once_and_before_the_rest(subject, scenario):
    steps = steps_of(subject, scenario)
    assert [isinstance(step, Progress) for step in steps[-2:]] == [True, False]
    assert sum(isinstance(step, Progress) for step in steps) == 1
    headers = steps[-2].partial
    keys = [product.key for product in headers.products]
    assert keys
    assert len(keys) == len(set(keys))
    assert headers.active_method is None or headers.active_method in headers.methods


@each_fetch
def test_everything_fetched_belongs_to_a_product_of_the_header_data(subject, scenario):
    *_, progress, done = steps_of(subject, scenario)
    kinds = {product.key: product.category for product in progress.partial.products}
    missing = {problem.product_key for problem in done.result.problems if problem.kind is ProblemKind.PRODUCT}
    assert set(done.result.transactions) | set(done.result.positions) <= set(kinds)
    assert all(kinds[key].is_depot for key in done.result.positions)
    failed = {problem.product_key for problem in done.result.problems} - {None}
    assert failed - missing <= set(kinds)
    fetched = set(done.result.transactions) | set(done.result.positions)
    assert fetched | failed >= set(kinds), "a product is fetched, or there is a problem that says why not"


@each_fetch
def test_problems_are_those_of_the_scenario(subject, scenario):
    result = steps_of(subject, scenario)[-1].result
    assert {problem.kind for problem in result.problems} == set(scenario.problems)


@each_fetch
def test_amounts_are_decimals_and_times_know_their_zone(subject, scenario):
    for value in walk(tuple(steps_of(subject, scenario)[-2:])):
        assert not isinstance(value, float)
        if isinstance(value, datetime):
            assert value.tzinfo is not None
        if isinstance(value, Decimal) and not scenario.has_broken_rows:
            assert value.is_finite()


@each_fetch
def test_rows_can_be_stored_as_they_are(subject, scenario):
    if scenario.has_broken_rows:
        pytest.skip("that is what it is for")
    for rows in steps_of(subject, scenario)[-1].result.transactions.values():
        for row in rows:
            assert clean_transaction(row) == row
            assert find_day(row) is not None


@each_fetch
def test_what_is_remembered_spares_the_user_the_next_authentication(subject, scenario):
    done = steps_of(subject, scenario)[-1]
    if done.connector_state is None:
        pytest.skip("the connector remembers nothing")
    call = first_call(subject, scenario, connector_state=serialize(done.connector_state))
    assert isinstance(run_step(call), Progress)


@each_fetch
def test_only_selected_products_and_days_are_fetched(subject, scenario):
    done = steps_of(subject, scenario)[-1]
    if not done.result.transactions or scenario.has_broken_rows:
        pytest.skip("nothing to select from")
    key = min(done.result.transactions)
    since = date(2026, 11, 1)
    job = Fetch(selected=(key,), since={key: since})
    part = drive(subject, scenario, run_step, job=job)[-1].result
    assert set(part.transactions) == {key}
    assert part.positions == {}
    everything = done.result.transactions[key]
    wanted = [transaction for transaction in everything if transaction.is_pending or find_day(transaction) >= since]
    assert set(wanted) <= set(part.transactions[key]) <= set(everything)


@each_few
def test_no_answer_makes_it_raise(subject, scenario):
    """Whatever is answered to whatever was asked: the result is a step."""
    nonsense = "💥 ' -- \x00"
    answers = [Continue(), Poll(), Cancel(), ChooseMethod(nonsense), ChooseMedium(nonsense), Returned(nonsense)]
    for step in steps_of(subject, scenario):
        if isinstance(step, QUESTIONS):
            for answer in (*answers, Tan(Secret(nonsense)), Tan(Secret(""))):
                call = replace(first_call(subject, scenario), state=serialize(step.state), answer=pack(answer))
                result = run_step(call)
                assert isinstance(result, (*QUESTIONS, Progress, Done, Failed)), result
            call = replace(first_call(subject, scenario), state=serialize(step.state), answer=pack(Cancel()))
            assert run_step(call) == Failed(FailureKind.CANCELLED)
