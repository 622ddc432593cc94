"""The newer transfer through every state, at a scripted bank."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from paying import BANK, CALLBACK, CUSTOMER, DETAILS
from scripted_bank import CHIP, LIST, MOCK, PHONE, PHOTO, TABLET

from kontor.connectors.base import Failed, FailureKind
from kontor.domain.clocks import BERLIN
from kontor.domain.payments import PaymentOutcome

TWO_METHODS = {"methods": (MOCK, LIST)}


async def test_a_single_method_is_chosen_alone_and_the_right_tan_pays(payer):
    transfer = await payer.pay()
    assert transfer.codes == ["BA3030"]
    assert transfer.rels == ["self", "authenticate", "cancel"]
    assert transfer.status["challenge"] == {
        "name": "mockTAN",
        "content": {"instructions": "Bitte geben Sie die TAN ein."},
        "decoupled": False,
        "redirect": False,
    }
    assert transfer.executions == 0
    await transfer.tan()
    assert transfer.codes == ["BA1111"]
    assert transfer.rels == ["self", "get_single_transfer"]
    assert set(transfer.status) == {"messages", "relations", "transfer"}
    assert transfer.executions == 1


async def test_method_then_medium_then_tan(environment):
    payer = await environment.new_payer(**TWO_METHODS, media=(PHONE, TABLET))
    transfer = await payer.pay()
    assert (transfer.codes, transfer.rels) == (["BA3010"], ["self", "set_method", "cancel"])
    assert transfer.status["scaMethods"] == [
        {"code": 901, "name": "mockTAN", "hint": ""},
        {"code": 900, "name": "iTAN", "hint": "Die TAN ist immer 12."},
    ]
    await transfer.answer("set_method", {"chosenScaMethodId": 900})
    assert (transfer.codes, transfer.rels) == (["BA3020"], ["self", "set_medium", "cancel"])
    assert transfer.status["scaMediums"] == [
        {"name": "Handy", "mediaClass": "MOBIL"},
        {"name": "Tablet", "mediaClass": "MOBIL"},
    ]
    await transfer.answer("set_medium", {"chosenScaMedia": "Tablet"})
    assert (transfer.codes, transfer.rels) == (["BA3030"], ["self", "authenticate", "cancel"])
    await transfer.tan()
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)


async def test_tan_settings_are_asked_for_when_the_caller_wants_it(environment):
    payer = await environment.new_payer(media=(PHONE,))
    assert (await payer.pay()).codes == ["BA3030"]
    asked = await payer.pay(query={"queryTanSettings": "true", "paymentId": str(uuid4())})
    assert asked.codes == ["BA3010"]
    await asked.answer("set_method", {"chosenScaMethodId": "901"})
    assert asked.codes == ["BA3020"]


async def test_method_and_medium_of_a_payment_are_kept_and_used_again(environment):
    payer = await environment.new_payer(**TWO_METHODS, media=(PHONE, TABLET))
    await environment.execute("update accesses set consent_until = '2100-01-01' where id = %s", payer.access_id)
    first = await payer.pay()
    await first.answer("set_method", {"chosenScaMethodId": "900"})
    await first.answer("set_medium", {"chosenScaMedia": "Tablet"})
    await first.tan()
    access = (await payer.get(f"{CUSTOMER}/bankzugaenge/{payer.access_id}")).json()
    assert access["aktivesSicherheitsverfahren"]["kodierung"] == "900"
    assert (await payer.pay()).codes == ["BA3030"]


async def test_confirmation_in_the_app_is_polled(environment):
    payer = await environment.new_payer(way="confirmation", polls=3)
    transfer = await payer.pay()
    assert transfer.codes == ["BA3030"]
    assert transfer.rels == ["self", "authenticate", "poll", "cancel"]
    assert transfer.status["challenge"]["decoupled"] is True
    await transfer.answer("poll")
    assert transfer.codes == ["BA3030"]
    await transfer.answer("authenticate", {})
    await transfer.answer("poll")
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)


@pytest.mark.parametrize("guards_challenge", [False, True])
async def test_polls_that_bring_nothing_new_are_not_in_the_audit_trail(environment, guards_challenge):
    payer = await environment.new_payer(way="confirmation", polls=9, guards_challenge=guards_challenge)
    transfer = await payer.pay()
    before = await payer.audit(transfer.id)
    for _ in range(8):
        await transfer.answer("poll")
    assert await payer.audit(transfer.id) == before
    await transfer.answer("poll")
    assert transfer.codes == ["BA1111"]
    trail = await payer.audit(transfer.id)
    assert (trail.count("payment.send"), trail[-1]) == (1, "payment.executed")


async def test_redirect_to_the_bank_comes_back_with_its_query(environment):
    payer = await environment.new_payer(way="redirect")
    transfer = await payer.pay()
    assert transfer.codes == ["BA3005"]
    assert transfer.rels == ["self", "redirect_url", "authenticate", "cancel"]
    assert transfer.href("redirect_url") == "https://bank.example/confirm"
    assert environment.bank.contexts[-1].callback_url == CALLBACK["callbackUrl"]
    await transfer.answer("authenticate", {"scaAuthenticationData": "code=1&state=1"})
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)


@pytest.mark.parametrize(("challenge", "field"), [(PHOTO, "photo"), (CHIP, "HHDUC")])
async def test_optical_challenges_are_shown(environment, challenge, field):
    payer = await environment.new_payer(challenge=challenge)
    assert (await payer.pay()).status["challenge"]["content"][field]


async def test_a_bank_that_asks_for_nothing_pays_at_once(environment):
    payer = await environment.new_payer(way="none")
    transfer = await payer.pay()
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)


async def test_accepted_is_not_yet_booked(environment):
    payer = await environment.new_payer(outcome=PaymentOutcome.ACCEPTED)
    transfer = await (await payer.pay()).tan()
    assert (transfer.codes, transfer.rels) == (["BA1112"], ["self", "get_single_transfer"])


async def test_the_transfer_is_shown_as_it_was_ordered(payer):
    day = (datetime.now(BERLIN).date() + timedelta(days=3)).isoformat()
    details = DETAILS | {
        "recipient": "Jörg Müßig & Söhne",
        "iban": "de89 3704 0044 0532 0130 00",
        "amount": 1234.5,
        "endToEndId": "RE-4711",
        "purposeCode": "SALA",
        "ultimateDebtor": "Änne",
        "ultimateCreditor": "Øystein",
    }
    transfer = await payer.pay(body={"instant": False, "requestedExecutionDate": day, "transferDetails": details})
    assert transfer.status["transfer"] == {
        "paymentId": transfer.id,
        "ebics": False,
        "instant": False,
        "transferDetails": details,
        "provider": str(BANK),
        "product": str(payer.product()),
        "requestedExecutionDate": day,
    }
    order = payer.environment.bank.orders[transfer.bank_id]
    assert (order.is_instant, str(order.execution_date), order.product_key) == (False, day, "giro")
    (given,) = order.orders
    assert (given.recipient, given.iban) == ("Joerg Muessig + Soehne", "DE89370400440532013000")
    assert (given.amount, given.ultimate_debtor, given.ultimate_creditor) == (Decimal("1234.50"), "Aenne", "Oystein")
    assert (given.end_to_end_id, given.purpose_code) == ("RE-4711", "SALA")


async def test_amounts_have_two_decimals_on_the_wire(payer):
    answer = await payer.order(amount=12)
    assert '"amount":12.00' in answer.text


@pytest.mark.parametrize(("value", "is_preferred"), [("true", True), ("false", False), (None, False)])
async def test_preference_for_rejection_reaches_the_bank(payer, value, is_preferred):
    transfer = await payer.pay(headers={} if value is None else {"Rejection-NoFunds-Preferred": value})
    assert payer.environment.bank.orders[transfer.bank_id].prefers_rejection is is_preferred


# What a bank refuses


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (FailureKind.WRONG_CREDENTIALS, "BA1011"),
        (FailureKind.LOCKED, "BA1010"),
        (FailureKind.INCOMPLETE_CREDENTIALS, "BA1012"),
        (FailureKind.UNREACHABLE, "BA1051"),
        (FailureKind.NO_SUPPORTED_METHOD, "BA3060"),
        (FailureKind.CANCELLED, "BA3040"),
        (FailureKind.EXPIRED, "BA3040"),
        (FailureKind.REJECTED, "BA1104"),
        (FailureKind.NO_FUNDS, "BA1104"),
        (FailureKind.NOT_SUPPORTED, "BA1104"),
        (FailureKind.INTERNAL, "BA999"),
        (FailureKind.WRONG_TAN, "BA1103"),
    ],
)
async def test_what_the_bank_refuses_at_first_is_an_error_without_relations(environment, failure, code):
    payer = await environment.new_payer(refusal=Failed(failure, "the bank's words"))
    transfer = await payer.pay()
    (message,) = transfer.status["messages"]
    assert (message["level"], message["code"], transfer.rels) == ("ERROR", code, ["self"])
    assert await transfer.read() == transfer.status
    assert transfer.executions == 0


@pytest.mark.parametrize(
    ("failure", "pause"),
    [(FailureKind.WRONG_CREDENTIALS, "CREDENTIALS"), (FailureKind.LOCKED, "CREDENTIALS"), (FailureKind.REJECTED, None)],
)
async def test_stored_credentials_that_are_refused_are_not_tried_again_in_the_background(environment, failure, pause):
    payer = await environment.new_payer(refusal=Failed(failure))
    await payer.pay()
    rows = await environment.execute("select refresh_pause from accesses where user_id = %s", payer.principal.user_id)
    assert rows == [(pause,)]


@pytest.mark.parametrize("failure", [FailureKind.REJECTED, FailureKind.NO_FUNDS, FailureKind.NOT_SUPPORTED])
async def test_what_the_bank_refuses_after_sending_is_a_known_failure(environment, failure):
    payer = await environment.new_payer(verdict=Failed(failure, "Kein Geld"))
    transfer = await (await payer.pay()).tan()
    assert (transfer.codes, transfer.rels) == (["BA1104"], ["self"])
    assert transfer.status["messages"][0]["details"] == "Kein Geld"


async def test_a_bank_without_any_method_is_not_supported(environment):
    payer = await environment.new_payer(methods=())
    assert (await payer.pay()).codes == ["BA3060"]


# Wrong TANs, cancelling, closed steps


async def test_a_wrong_tan_keeps_the_step_and_three_end_it(payer):
    transfer = await payer.pay()
    for _ in range(2):
        await transfer.tan("99")
        assert transfer.codes == ["BA1103", "BA3030"]
        assert transfer.rels == ["self", "authenticate", "cancel"]
    await transfer.tan("99")
    assert (transfer.codes, transfer.rels) == (["BA1103"], ["self"])
    late = await payer.post(transfer.href("self"), {"scaAuthenticationData": "12"})
    assert (late.status_code, late.json()) == (409, transfer.status)
    assert transfer.executions == 0


@pytest.mark.parametrize("guards_tan", [False, True])
async def test_a_right_tan_after_a_wrong_one_pays_once(environment, guards_tan):
    """Also where the send guard is passed with every TAN, as with FinTS."""
    payer = await environment.new_payer(guards_tan=guards_tan)
    transfer = await (await payer.pay()).tan("99")
    assert await transfer.state() == "OPEN"
    await transfer.tan()
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)


async def test_an_empty_tan_costs_no_attempt(payer):
    transfer = await payer.pay()
    answer = await payer.post(transfer.href("authenticate"), {"scaAuthenticationData": "  "})
    assert answer.status_code == 400
    assert (await transfer.read())["messages"][0]["code"] == "BA3030"


async def test_cancelling_ends_it_and_nothing_is_paid(payer):
    transfer = await payer.pay()
    await transfer.answer("cancel")
    assert (transfer.codes, transfer.rels, transfer.executions) == (["BA3040"], ["self"], 0)


async def test_what_is_paid_cannot_be_cancelled(payer):
    transfer = await (await payer.pay()).tan()
    answer = await payer.post(transfer.href("self") + "/cancel", {})
    assert (answer.status_code, answer.json()) == (409, transfer.status)


@pytest.mark.parametrize(
    "body", [{"chosenScaMethodId": "901"}, {"chosenScaMedia": "Handy"}, {}], ids=["method", "medium", "confirmed"]
)
async def test_an_answer_to_a_step_that_is_not_open_is_a_conflict_with_the_status(payer, body):
    transfer = await payer.pay()
    answer = await payer.post(transfer.href("self"), body)
    assert (answer.status_code, answer.json()) == (409, transfer.status)
    assert (await payer.get(transfer.href("self") + "/poll")).status_code == 409
    assert (await payer.post(transfer.href("self") + "/confirm-vop", {})).status_code == 409


async def test_unknown_method_and_medium_are_refused_and_cost_nothing(environment):
    payer = await environment.new_payer(**TWO_METHODS, media=(PHONE, TABLET))
    transfer = await payer.pay()
    answer = await payer.post(transfer.href("set_method"), {"chosenScaMethodId": "777"})
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1101")
    await transfer.answer("set_method", {"chosenScaMethodId": "900"})
    answer = await payer.post(transfer.href("set_medium"), {"chosenScaMedia": "Toaster"})
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100")
    assert "chosenScaMedia" in answer.json()["message"]
    await transfer.read()
    assert transfer.codes == ["BA3020"]


async def test_a_payment_that_took_too_long_is_over(payer):
    transfer = await payer.pay()
    await payer.environment.execute(
        "update payments set expires_at = now() - interval '1 second' where id = %s", transfer.id
    )
    answer = await payer.post(transfer.href("authenticate"), {"scaAuthenticationData": "12"})
    assert (answer.status_code, [message["code"] for message in answer.json()["messages"]]) == (409, ["BA3040"])
    assert (transfer.executions, await transfer.state()) == (0, "FAILED")


async def test_the_bank_may_give_less_time(environment):
    payer = await environment.new_payer(valid_until=datetime.now(UTC) - timedelta(seconds=1))
    transfer = await payer.pay()
    await transfer.read()
    assert transfer.codes == ["BA3040"]
