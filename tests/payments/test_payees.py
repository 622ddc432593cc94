"""Verification of payees: before a transfer, and inside it."""

import asyncio
from uuid import uuid4

import pytest
from paying import BANK, CUSTOMER, DETAILS, Transfer

from kontor.connectors.base import Failed, FailureKind
from kontor.domain.payments import PayeeMatch, PayeeResult

CLOSE = PayeeResult(PayeeMatch.CLOSE_MATCH, "Erika Musterfrau")
UNMATCHED = [CLOSE, PayeeResult(PayeeMatch.NO_MATCH), PayeeResult(PayeeMatch.NOT_POSSIBLE)]
MATCH = PayeeResult(PayeeMatch.MATCH)


async def verify(payer, details=DETAILS, payment_id=None):
    query = {} if payment_id is None else {"paymentId": payment_id}
    answer = await payer.post(payer.path("vop"), {"transferDetails": details}, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def pay_verified(payer, vop, payment_id, **details):
    body = {"instant": False, "vopId": vop["vopId"], "transferDetails": DETAILS | details}
    return await payer.order(body, query={} if payment_id is None else {"paymentId": payment_id})


@pytest.mark.parametrize("result", [MATCH, *UNMATCHED], ids=lambda result: str(result.match))
async def test_verification_tells_what_the_bank_says(environment, result):
    payer = await environment.new_payer(payees=(result,))
    payment_id = str(uuid4())
    vop = await verify(payer, payment_id=payment_id)
    assert set(vop) == {"vopId", "paymentId", "results", "expiresAt"}
    assert vop["paymentId"] == payment_id
    expected = {"result": str(result.match)}
    assert vop["results"] == [expected | ({"suggestedName": "Erika Musterfrau"} if result is CLOSE else {})]


async def test_verification_without_an_id_makes_one(payer):
    assert (await verify(payer))["paymentId"]


@pytest.mark.parametrize("result", UNMATCHED, ids=lambda result: str(result.match))
async def test_a_verified_transfer_pays_without_asking_again(environment, result):
    payer = await environment.new_payer(payees=(result,))
    vop = await verify(payer)
    answer = await pay_verified(payer, vop, vop["paymentId"])
    transfer = Transfer(payer, answer.json())
    assert transfer.codes == ["BA3030"]
    assert environment.bank.orders[transfer.bank_id].is_payee_accepted
    await transfer.tan()
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)


@pytest.mark.parametrize("result", UNMATCHED, ids=lambda result: str(result.match))
async def test_without_verification_an_unmatched_payee_stops_the_transfer(environment, result):
    payer = await environment.new_payer(payees=(result,))
    transfer = await payer.pay()
    assert (transfer.codes, transfer.rels) == (["BA1120"], ["self", "confirm_vop", "cancel"])
    (message,) = transfer.status["messages"]
    assert message["level"] == "INFO"
    assert ("Erika Musterfrau" in message["details"]) is (result is CLOSE)
    # Nothing else fits: neither a TAN nor a method.
    for body in ({"scaAuthenticationData": "12"}, {"chosenScaMethodId": "901"}, {}):
        assert (await payer.post(transfer.href("self"), body)).status_code == 409
    await transfer.answer("confirm_vop")
    assert transfer.codes == ["BA3030"]
    await transfer.tan()
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)


async def test_a_matching_payee_goes_on(environment):
    payer = await environment.new_payer(payees=(MATCH,))
    assert (await payer.pay()).codes == ["BA3030"]


async def test_the_user_may_cancel_instead(environment):
    payer = await environment.new_payer(payees=UNMATCHED[:1])
    transfer = await payer.pay()
    await transfer.answer("cancel")
    assert (transfer.codes, transfer.executions) == (["BA3040"], 0)
    assert (await payer.post(transfer.href("self") + "/confirm-vop", {})).status_code == 409


async def test_a_verification_is_good_once(payer):
    vop = await verify(payer)
    first = await pay_verified(payer, vop, vop["paymentId"])
    assert first.status_code == 200
    # The same request again is the same payment; another payment cannot have it.
    again = await pay_verified(payer, vop, vop["paymentId"])
    assert again.json() == first.json()
    await refused(payer, vop, str(uuid4()))


async def refused(payer, vop, payment_id, **details):
    answer = await pay_verified(payer, vop, payment_id, **details)
    assert answer.status_code == 400, answer.text
    assert answer.json()["message"].startswith("vopId: ")
    assert answer.json()["messages"][0]["code"] == "BA1100"


@pytest.mark.parametrize("details", [{"recipient": "Max"}, {"iban": "GB33BUKB20201555555555"}])
async def test_a_verification_is_bound_to_its_payees(payer, details):
    vop = await verify(payer)
    await refused(payer, vop, vop["paymentId"], **details)
    # The amount and the purpose are not what was verified.
    assert (await pay_verified(payer, vop, vop["paymentId"], amount=99, purpose="x")).status_code == 200


async def test_a_verification_is_bound_to_its_payment(payer):
    vop = await verify(payer)
    await refused(payer, vop, str(uuid4()))
    await refused(payer, vop, None)
    await refused(payer, {"vopId": str(uuid4())}, vop["paymentId"])


async def test_a_verification_expires(payer):
    vop = await verify(payer)
    await payer.environment.execute(
        "update payee_verifications set expires_at = now() - interval '1 second' where id = %s", vop["vopId"]
    )
    await refused(payer, vop, vop["paymentId"])


async def test_somebody_elses_verification_does_not_exist(environment, payer):
    vop = await verify(payer)
    stranger = await environment.new_payer()
    await refused(stranger, vop, vop["paymentId"])


async def test_of_two_transfers_at_once_one_gets_the_verification(payer):
    vop = await verify(payer)
    answers = await asyncio.gather(*[pay_verified(payer, vop, vop["paymentId"]) for _ in range(3)])
    assert {answer.status_code for answer in answers} == {200}
    assert len(await payer.list_payments()) == 1


async def test_bulk_is_verified_payee_by_payee(environment):
    payer = await environment.new_payer(payees=(MATCH, CLOSE))
    details = [DETAILS, DETAILS | {"recipient": "Erika"}]
    vop = await verify(payer, details)
    assert [result["result"] for result in vop["results"]] == ["MATCH", "CLOSE_MATCH"]
    body = {"instant": False, "transferDetails": details}
    stopped = Transfer(payer, (await payer.order(body, what="bulk-transfer")).json())
    assert stopped.codes == ["BA1120"]
    assert stopped.status["messages"][0]["details"].startswith("Empfänger 2:")
    await stopped.answer("confirm_vop")
    verified = body | {"vopId": vop["vopId"]}
    answer = await payer.order(verified, what="bulk-transfer", query={"paymentId": vop["paymentId"]})
    assert Transfer(payer, answer.json()).codes == ["BA3030"]


async def test_verification_with_credentials_in_the_body(environment):
    payer = await environment.new_payer(payees=(CLOSE,))
    body = {"provider": str(BANK), "credentials": await payer.credentials(), "product": "giro"}
    answer = await payer.post(f"{CUSTOMER}/payment/vop", body | {"transferDetails": DETAILS})
    assert answer.status_code == 200, answer.text
    assert answer.json()["results"][0]["result"] == "CLOSE_MATCH"


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (FailureKind.NOT_SUPPORTED, 200),
        (FailureKind.UNREACHABLE, 200),
        (FailureKind.WRONG_CREDENTIALS, 400),
        (FailureKind.LOCKED, 400),
    ],
)
async def test_a_bank_that_cannot_verify(environment, failure, status):
    payer = await environment.new_payer(refusal=Failed(failure))
    answer = await payer.post(payer.path("vop"), {"transferDetails": DETAILS})
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["results"] == [{"result": "NOT_POSSIBLE"}]
    else:
        assert answer.json()["messages"][0]["code"] in ("BA1010", "BA1011")


async def test_verification_checks_its_details(payer):
    answer = await payer.post(payer.path("vop"), {"transferDetails": DETAILS | {"iban": "DE00"}})
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1100")
    answer = await payer.post(payer.path("vop"), {"transferDetails": DETAILS}, params={"paymentId": "x"})
    assert answer.status_code == 400
