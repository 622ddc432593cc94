"""Random answers, banks and faults. The books of the bank and what the caller was told must agree at every moment."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paying import DETAILS, Transfer
from scripted_bank import LIST, MOCK, PHONE, TABLET

from kontor.connectors.base import (
    ChooseMethod,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedPayeeDecision,
    NeedTan,
)
from kontor.domain.dialogues import Secrets
from kontor.domain.payments import PayeeMatch, PayeeResult, Payment, PaymentFailure, PaymentKind, PaymentState
from kontor.domain.sca import Challenge
from kontor.domain.sca_machine import ScaPosition, ScaState
from kontor.services.payments.steps import conclude, decide_for
from kontor.services.sca.steps import keep_open_secrets
from many_examples import count_examples

ANSWERS = {
    "method": {"chosenScaMethodId": "901"},
    "unknown method": {"chosenScaMethodId": "777"},
    "medium": {"chosenScaMedia": "Handy"},
    "unknown medium": {"chosenScaMedia": "Toaster"},
    "right": {"scaAuthenticationData": "12"},
    "wrong": {"scaAuthenticationData": "99"},
    "returned": {"scaAuthenticationData": "code=1"},
    "confirmed": {},
}
MOVES = [*ANSWERS, "poll", "cancel", "confirm_vop", "order again", "recover", "expire"]
FINAL = {"BA1111", "BA1112", "BA1104", "BA3040", "BA3060", "BA999", "BA1051"}
MOVED = {"BA1111", "BA1112"}

plans = st.fixed_dictionaries(
    {
        "methods": st.sampled_from([(MOCK,), (MOCK, LIST), ()]),
        "media": st.sampled_from([(), (PHONE,), (PHONE, TABLET)]),
        "way": st.sampled_from(["tan", "tan", "confirmation", "redirect", "none"]),
        "polls": st.integers(1, 3),
        "payees": st.sampled_from([(), (PayeeResult(PayeeMatch.NO_MATCH),), (PayeeResult(PayeeMatch.MATCH),)]),
        "fault": st.sampled_from(["", "", "", "before", "after-guard", "after-execution", "unknown"]),
        "verdict": st.sampled_from([None, None, None, Failed(FailureKind.REJECTED), Failed(FailureKind.NO_FUNDS)]),
        "guards_tan": st.booleans(),
    }
)


async def drive(environment, plan, moves):
    payer = await environment.new_payer(**plan)
    query = {"paymentId": str(uuid4())}
    transfer = Transfer(payer, (await payer.order(query=query)).json())
    ended = None
    await check(transfer, ended)
    for move in moves:
        await make_move(payer, transfer, query, move)
        await transfer.read()
        ended = await check(transfer, ended)
    if await transfer.state() == "UNKNOWN":
        await make_move(payer, transfer, query, "recover")
        await transfer.read()
        await check(transfer, None)
        assert transfer.codes[-1] in FINAL, "the bank has told"
    await follow_everything(payer, transfer)


async def make_move(payer, transfer, query, move):
    here = transfer.href("self")
    match move:
        case "poll":
            answer = await payer.get(f"{here}/poll")
        case "cancel" | "confirm_vop":
            answer = await payer.post(f"{here}/{move.replace('_', '-')}", {})
        case "order again":
            answer = await payer.order({"instant": False, "transferDetails": DETAILS}, query=query)
            assert answer.status_code == 200
        case "recover":
            due = "update payments set next_lookup_at = now() where id = %s and next_lookup_at is not null"
            await payer.environment.execute(due, transfer.id)
            await payer.environment.services.payments.recovery.recover()
            return
        case "expire":
            over = "update payments set expires_at = now() where id = %s and state = 'OPEN' and fence is null"
            await payer.environment.execute(over, transfer.id)
            return
        case _:
            answer = await payer.post(here, ANSWERS[move])
    assert answer.status_code in (200, 400, 409), answer.text


async def check(transfer, ended):
    """The invariants. Returns how it ended, if it has."""
    state, last = await transfer.state(), transfer.codes[-1]
    assert transfer.executions <= 1
    if last in MOVED:
        assert transfer.executions == 1, "told that money moved, and it did"
    if transfer.executions == 1:
        assert last in {*MOVED, "BA1113"}, "money moved: said so, or admitted not to know"
    assert (last == "BA1113") is (state == "UNKNOWN"), "unknown only while it truly is"
    if ended is not None and ended != "BA1113":
        assert last == ended, "what is final stays"
    is_open = state == "OPEN"
    assert ({"self"} < set(transfer.rels)) is (is_open or state in ("UNKNOWN", "EXECUTED", "ACCEPTED"))
    assert ("cancel" in transfer.rels) is is_open
    return None if is_open else last


async def follow_everything(payer, transfer):
    """Each relation that is offered works. The ones that end a payment come last."""
    bodies = {
        "set_method": ANSWERS["method"], "set_medium": ANSWERS["medium"],
        "authenticate": {"scaAuthenticationData": "12"}, "confirm_vop": {}, "cancel": {},
    }  # fmt: skip
    for _ in range(8):
        steps = [step for step in transfer.rels if step in bodies or step == "poll"]
        if not steps:
            break
        rel = steps[0]
        body = bodies.get(rel)
        if rel == "authenticate" and "poll" in transfer.rels:
            body = {}
        if rel == "authenticate" and "redirect_url" in transfer.rels:
            body = {"scaAuthenticationData": "code=1"}
        href = transfer.href(rel)
        answer = await (payer.get(href) if rel == "poll" else payer.post(href, body))
        assert answer.status_code == 200, f"{rel} was offered and answered {answer.text}"
        await transfer.read()
    for rel in ("self", "get_single_transfer"):
        if rel in transfer.rels:
            assert (await payer.get(transfer.href(rel))).status_code == 200


@settings(max_examples=count_examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(plans, st.lists(st.sampled_from(MOVES), max_size=8))
async def test_whatever_is_answered_the_books_agree(environment, plan, moves):
    await drive(environment, plan, moves)


NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
CHALLENGE = Challenge("mockTAN", "TAN, bitte")


def make_payment(state, **facts):
    ids = (uuid4(), uuid4(), uuid4(), uuid4())
    times = (NOW, NOW + timedelta(minutes=5))
    return Payment(*ids, PaymentKind.SINGLE, state, (), (), False, b"", *times, fence=7, **facts)


@pytest.mark.parametrize("is_held", [True, False])
@pytest.mark.parametrize(
    "question",
    [
        NeedTan(CHALLENGE, {}),
        NeedConfirmation(CHALLENGE, {}),
        NeedPayeeDecision((PayeeResult(PayeeMatch.NO_MATCH),), {}),
    ],
)
def test_an_order_that_the_bank_holds_has_not_left(question, is_held):
    """It may be cancelled, or be sent on with the next answer; any other that was sent stays sent."""
    asked = conclude(make_payment(PaymentState.SENDING), replace(question, is_held=is_held))
    assert asked.state is (PaymentState.OPEN if is_held else PaymentState.SENDING)
    assert asked.fence is None
    assert conclude(make_payment(PaymentState.OPEN), replace(question, is_held=is_held)).state is PaymentState.OPEN


@pytest.mark.parametrize("question", [NeedMethod((MOCK,), {}), NeedMedium((PHONE,), {})])
def test_an_order_that_the_bank_refused_because_of_its_method_has_not_left(question):
    asked = conclude(make_payment(PaymentState.SENDING), replace(question, is_held=True))
    assert asked.state is PaymentState.OPEN
    assert conclude(make_payment(PaymentState.SENDING), question).state is PaymentState.SENDING
    legacy = replace(make_payment(PaymentState.SENDING), kind=PaymentKind.LEGACY)
    assert conclude(legacy, replace(question, is_held=True)).state is PaymentState.FAILED
    assert conclude(legacy, question).state is PaymentState.UNKNOWN


def test_nobody_but_the_customer_chooses_again_after_an_order_was_sent():
    """With the one guard that a step has, the order would not leave a second time."""
    payment = make_payment(PaymentState.OPEN)
    question = NeedMethod((MOCK,), {})
    assert decide_for(payment, None)(payment.dialogue, question) == ChooseMethod(MOCK.code)
    assert decide_for(payment, None)(payment.dialogue, replace(question, is_held=True)) is None


def test_what_goes_wrong_after_a_held_order_was_asked_about_is_no_unknown_outcome():
    held = conclude(make_payment(PaymentState.SENDING), NeedTan(CHALLENGE, {}, is_held=True))
    assert conclude(held, Failed(FailureKind.UNREACHABLE)).state is PaymentState.FAILED
    sent = replace(held, state=PaymentState.SENDING)
    assert conclude(sent, Failed(FailureKind.UNREACHABLE)).state is PaymentState.UNKNOWN
    assert conclude(held, Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True)).state is PaymentState.UNKNOWN


def test_after_a_wrong_tan_the_dialogue_goes_on_where_the_bank_has_counted_to():
    payment = make_payment(PaymentState.SENDING)
    payment = replace(payment, dialogue=replace(payment.dialogue, position=ScaPosition(ScaState.TAN, 1)))
    wrong = Failed(FailureKind.WRONG_TAN, state={"number": 4})
    assert conclude(payment, wrong).state is PaymentState.OPEN
    before = Secrets({"number": 3}, CHALLENGE)
    assert keep_open_secrets(before, wrong) == Secrets({"number": 4}, CHALLENGE)
    assert keep_open_secrets(before, Failed(FailureKind.WRONG_TAN)) == before
    assert keep_open_secrets(None, Failed(FailureKind.REJECTED)) == Secrets()


@pytest.mark.parametrize(
    ("detail", "failure"),
    [
        ("Überweisungen sind nur auf das Referenzkonto möglich.", PaymentFailure.REFERENCE_ACCOUNT),
        ("Der Empfänger ist nicht Ihr Verrechnungskonto", PaymentFailure.REFERENCE_ACCOUNT),
        ("Payments to the reference account only", PaymentFailure.REFERENCE_ACCOUNT),
        ("Das Konto ist erloschen.", PaymentFailure.REJECTED),
        (None, PaymentFailure.REJECTED),
    ],
)
def test_a_bank_that_pays_to_the_reference_account_only_is_told_by_its_words(detail, failure):
    ended = conclude(make_payment(PaymentState.OPEN), Failed(FailureKind.REJECTED, detail))
    assert (ended.state, ended.failure) == (PaymentState.FAILED, failure)
