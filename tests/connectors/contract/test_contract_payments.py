"""Payments of every connector: asked before they are sent, sent once, and known afterwards."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from dialogue import Call, drive_call, pack, run_in_new_process, run_step, serialize
from payment_scenarios import PAYMENTS, TODAY
from scenarios import SUBJECTS

from kontor.connectors.base import (
    AcceptPayees,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Context,
    Continue,
    Done,
    Failed,
    FailureKind,
    LookedUp,
    LookUp,
    NeedConfirmation,
    NeedPayeeDecision,
    NeedRedirect,
    NeedTan,
    Paid,
    Pay,
    Poll,
    Progress,
    Returned,
    Tan,
    Verified,
    VerifyPayees,
)
from kontor.domain.payments import PayeeMatch, PaymentOutcome
from kontor.domain.secrets import Secret

CASES = [(subject, scenario) for subject in SUBJECTS for scenario in PAYMENTS.get(subject.name, ())]


def each(is_wanted=lambda scenario: True):
    cases = [case for case in CASES if is_wanted(case[1])]
    return pytest.mark.parametrize(
        ("subject", "scenario"), cases, ids=[f"{subject.name}-{scenario.name}" for subject, scenario in cases]
    )


each_payment = each()
each_that_moves_money = each(lambda scenario: scenario.moves_money and not scenario.is_outcome_unknown)
each_that_sends_last = each(
    lambda scenario: scenario.moves_money and not scenario.is_outcome_unknown and not scenario.sends_first
)


def start(subject, scenario):
    """The first call of a payment with an id of its own, by a customer of its own."""
    job = Pay(uuid4(), scenario.product_key, scenario.orders, **scenario.facts)
    context = Context(TODAY, f"payer {uuid4()}", "93.184.216.34", scenario.callback_url)
    return Call(subject.name, dict(scenario.credentials), job=job, context=context)


def look_up(call, steps=(), run=run_step):
    """By the last state of a dialogue, where one is given."""
    states = [step.state for step in steps if getattr(step, "state", None) is not None]
    done = run(replace(call, job=LookUp(call.job, states[-1] if states else None), state=None))
    assert isinstance(done, Done), done
    assert isinstance(done.result, LookedUp)
    return done.result.outcome


def what_may_be_told(subject, outcome, steps):
    """A bank that is asked by its own number of the order needs one, and tells only what it has decided."""
    has_number = any(getattr(step, "state", None) is not None for step in steps)
    if subject.looks_up_by_number and (outcome is PaymentOutcome.NEVER or not has_number):
        return {outcome, PaymentOutcome.UNKNOWN} if has_number else {PaymentOutcome.UNKNOWN}
    return {outcome}


def read_balance(call, scenario):
    """As a fetch of the same customer shows it, and the sum of what is new on the statement."""
    answers = [answer for answer in scenario.answers if not isinstance(answer, AcceptPayees)]
    fetch = Call(call.subject, call.credentials, context=call.context)
    steps = [run_step(fetch)]
    while not isinstance(steps[-1], Done):
        answer = Continue() if isinstance(steps[-1], Progress) else None
        if answer is None:
            only = [*getattr(steps[-1], "methods", ()), *getattr(steps[-1], "media", ())]
            answer = answers.pop(0) if len(only) != 1 else None
            if answer is None:
                answer = ChooseMethod(only[0].code) if hasattr(only[0], "code") else ChooseMedium(only[0].name)
        steps.append(run_step(replace(fetch, state=serialize(steps[-1].state), answer=pack(answer))))
        assert not isinstance(steps[-1], Failed)
    product = next(product for product in steps[-2].partial.products if product.key == scenario.product_key)
    return product.balance, steps[-1].result.transactions[scenario.product_key]


def check_end(step, scenario):
    if isinstance(scenario.ends, PaymentOutcome):
        assert step == Done(Paid(scenario.ends))
    else:
        assert isinstance(step, Failed), step
        assert (step.kind, step.is_outcome_unknown) == (scenario.ends, scenario.is_outcome_unknown)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(run_step, id="one process"),
        pytest.param(run_in_new_process, id="a process for every step", marks=pytest.mark.long),
    ],
)
@each_payment
def test_payment_ends_as_it_should(subject, scenario, run):
    call = start(subject, scenario)
    steps = drive_call(call, scenario.answers, run)
    check_end(steps[-1], scenario)
    booked = look_up(call, steps, run)
    assert booked in what_may_be_told(subject, scenario.booked, steps)
    assert look_up(call, steps) is booked, "an answer about a payment is the last word"


@each_payment
def test_state_is_json_without_secrets(subject, scenario):
    pins = {
        scenario.credentials[field.key]
        for field in subject.provider().login_fields
        if field.is_secret and field.key in scenario.credentials
    }
    tans = {answer.value.reveal() for answer in scenario.answers if isinstance(answer, Tan)}
    for step in drive_call(start(subject, scenario), scenario.answers, run_step):
        kept = getattr(step, "state", None)
        if kept is not None:
            assert json.loads(serialize(kept)) == kept
            words = serialize(kept).replace(scenario.credentials["userid"], "")
            assert not [secret for secret in pins | tans if f'"{secret}"' in words]


@each_payment
def test_the_order_leaves_once_and_only_after_asking(subject, scenario):
    """Asked as often as the bank got something: once, or never where it ends before."""
    asked = []
    call = start(subject, scenario)
    context = replace(call.context, may_send=lambda: asked.append(True) or True)
    steps = drive_call(replace(call, context=context), scenario.answers, run_step)
    check_end(steps[-1], scenario)
    is_sent = scenario.booked is not PaymentOutcome.NEVER or scenario.is_outcome_unknown
    is_sent = is_sent or (subject.sends_with_tan and scenario.ends is FailureKind.WRONG_TAN)
    assert len(asked) == (1 if is_sent and not scenario.is_refused_early else 0)


@each_payment
def test_nothing_is_sent_without_permission(subject, scenario):
    call = start(subject, scenario)
    context = replace(call.context, may_send=lambda: False)
    call_without = replace(call, context=context)
    steps = drive_call(call_without, scenario.answers, run_step, may_end_early=scenario.sends_first)
    last = steps[-1]
    assert isinstance(last, Failed)
    assert not last.is_outcome_unknown
    if scenario.is_refused_early:
        assert look_up(call, steps) in what_may_be_told(subject, scenario.booked, steps)
        return
    if scenario.booked is not PaymentOutcome.NEVER:
        assert last.kind is FailureKind.INTERNAL
    assert look_up(call, steps) in what_may_be_told(subject, PaymentOutcome.NEVER, steps)


@each_that_moves_money
def test_the_same_id_pays_once(subject, scenario):
    """Begun anew, answered anew from every open step, by other processes: the first result, and no more money."""
    call = start(subject, scenario)
    before, rows_before = read_balance(call, scenario)
    steps = drive_call(call, scenario.answers, run_step)
    after, rows_after = read_balance(call, scenario)
    assert before - after == sum(order.amount for order in scenario.orders)
    new = [row for row in rows_after if row not in rows_before]
    assert sum(row.amount for row in new) == after - before
    assert all(row.bank_id for row in new)

    check_end(drive_call(call, scenario.answers, run_step, may_end_early=True)[-1], scenario)
    last_question = steps[-2]
    for _ in range(2):
        answered = replace(call, state=serialize(last_question.state), answer=pack(scenario.answers[-1]))
        check_end(run_in_new_process(answered), scenario)
    assert read_balance(call, scenario) == (after, rows_after)
    assert look_up(call, steps) is scenario.booked


@each_that_sends_last
def test_what_was_asked_about_before_it_arrived_is_never_paid(subject, scenario):
    """Also when the order was on its way already: the last answer comes after the question."""
    if subject.looks_up_by_number:
        pytest.skip("it promises nothing about an order that the bank has not decided about")
    call = start(subject, scenario)
    steps = drive_call(replace(call, context=replace(call.context, may_send=lambda: False)), scenario.answers, run_step)
    balance = read_balance(call, scenario)
    assert look_up(call, steps, run_in_new_process) is PaymentOutcome.NEVER
    late = replace(call, state=serialize(steps[-2].state), answer=pack(scenario.answers[-1]))
    anew = drive_call(call, scenario.answers, run_step, may_end_early=True)
    for step in (run_in_new_process(late), run_step(late), anew[-1]):
        assert isinstance(step, Failed)
        assert (step.kind, step.is_outcome_unknown) == (FailureKind.REJECTED, False)
    assert look_up(call, steps) is PaymentOutcome.NEVER
    assert read_balance(call, scenario) == balance


@each_that_sends_last
def test_every_question_can_be_cancelled_and_nothing_is_paid(subject, scenario):
    call = start(subject, scenario)
    asking = replace(call, context=replace(call.context, may_send=lambda: False))
    questions = drive_call(asking, scenario.answers, run_step)[:-1]
    assert questions
    for question in questions:
        cancelled = replace(call, state=serialize(question.state), answer=pack(Cancel()))
        assert run_step(cancelled) == Failed(FailureKind.CANCELLED)
    assert look_up(call, questions) is PaymentOutcome.NEVER


@each_that_sends_last
def test_nonsense_neither_raises_nor_pays(subject, scenario):
    nonsense = "💥 ' -- \x00"
    call = start(subject, scenario)
    sent = []
    asking = replace(call, context=replace(call.context, may_send=lambda: False))
    questions = drive_call(asking, scenario.answers, run_step)[:-1]
    asking = replace(call, context=replace(call.context, may_send=lambda: sent.append(1) or False))
    answers = [Continue(), ChooseMethod(nonsense), ChooseMedium(nonsense), Tan(Secret(""))]
    if not subject.sends_with_tan:
        answers.append(Tan(Secret(nonsense)))
    for question in questions:
        for answer in answers:
            step = run_step(replace(asking, state=serialize(question.state), answer=pack(answer)))
            assert isinstance(step, Failed), step
    assert sent == []


@each(lambda scenario: isinstance(scenario.answers[-1] if scenario.answers else None, Tan) and scenario.moves_money)
def test_a_wrong_tan_may_be_followed_by_the_right_one(subject, scenario):
    call = start(subject, scenario)
    asking = replace(call, context=replace(call.context, may_send=lambda: False))
    question = drive_call(asking, scenario.answers, run_step)[-2]
    assert isinstance(question, NeedTan)
    wrong = replace(call, state=serialize(question.state), answer=pack(Tan(Secret("7"))))
    for _ in range(2):
        assert run_in_new_process(wrong) == Failed(FailureKind.WRONG_TAN)
    check_end(run_in_new_process(replace(wrong, answer=pack(scenario.answers[-1]))), scenario)


@each(lambda scenario: bool(scenario.answers))
def test_what_is_confirmed_names_amount_and_payee(subject, scenario):
    """A challenge is tied to its order."""
    asking = start(subject, scenario)
    if not scenario.sends_first:
        asking = replace(asking, context=replace(asking.context, may_send=lambda: False))
    for step in drive_call(asking, scenario.answers, run_step):
        if isinstance(step, NeedTan | NeedConfirmation):
            total = f"{sum(order.amount for order in scenario.orders):.2f}"
            assert total.replace(".", "") in step.challenge.instructions.replace(".", "").replace(",", "")
            if len(scenario.orders) == 1:
                assert scenario.orders[0].iban in step.challenge.instructions
        assert not isinstance(step, NeedRedirect) or step.url.startswith("http")


@each_payment
def test_payees_are_verified_alike_alone_and_within_a_payment(subject, scenario):
    call = start(subject, scenario)
    if not subject.verifies_payees:
        verification = run_step(replace(call, job=VerifyPayees(scenario.product_key, scenario.orders)))
        assert (type(verification), verification.kind) == (Failed, FailureKind.NOT_SUPPORTED)
        return
    done = run_step(replace(call, job=VerifyPayees(scenario.product_key, scenario.orders)))
    assert isinstance(done.result, Verified)
    if len(done.result.results) == len(scenario.matches):
        assert tuple(result.match for result in done.result.results) == scenario.matches
    first = run_step(call)
    if isinstance(first, NeedPayeeDecision):
        assert first.results == done.result.results
        assert any(result.match is not PayeeMatch.MATCH for result in first.results)
    elif not isinstance(first, Failed) and not call.job.is_payee_accepted:
        assert {result.match for result in done.result.results} == {PayeeMatch.MATCH}
    for result in done.result.results:
        assert (result.match is PayeeMatch.CLOSE_MATCH) == (result.suggested_name is not None)


@each_payment
def test_a_wrong_pin_neither_pays_nor_tells(subject, scenario):
    call = start(subject, scenario)
    secret = next(field.key for field in subject.provider().login_fields if field.is_secret)
    stranger = replace(call, credentials=call.credentials | {secret: "not the PIN"})
    jobs = (call.job, VerifyPayees(scenario.product_key, scenario.orders), LookUp(call.job))
    if not subject.checks_pins:
        if not isinstance(run_step(replace(call, context=replace(call.context, may_send=lambda: False))), NeedTan):
            return  # confirmed elsewhere, or refused whoever asks: the PIN is not asked for
        call = start(subject, scenario)
        stranger, jobs = replace(stranger, job=call.job), (call.job,)
    for job in jobs:
        assert run_step(replace(stranger, job=job)) == Failed(FailureKind.WRONG_CREDENTIALS)


def test_scenarios_cover_every_kind_of_answer_and_end():
    for subject in [subject for subject in SUBJECTS if subject.name in PAYMENTS]:
        scenarios = PAYMENTS[subject.name]
        kinds = {type(answer) for scenario in scenarios for answer in scenario.answers}
        expected = {Tan, Poll, Returned, ChooseMethod, ChooseMedium, AcceptPayees, Cancel}
        expected -= set() if subject.has_media else {ChooseMedium}
        expected -= set() if subject.verifies_payees else {AcceptPayees}
        assert kinds >= expected
        assert {scenario.booked for scenario in scenarios} == set(PaymentOutcome) - {PaymentOutcome.UNKNOWN}
