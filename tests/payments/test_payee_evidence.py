"""What is kept about the verification of a payee: verdict, text shown, language, choice and times."""

from uuid import uuid4

import pytest
from paying import CUSTOMER, DETAILS, Transfer
from test_payees import CLOSE, MATCH, pay_verified, verify

from kontor.domain.payments import PayeeMatch, PayeeResult

NO_MATCH = PayeeResult(PayeeMatch.NO_MATCH)
GERMAN = "Der Name des Empfängers konnte nicht bestätigt werden. Bitte prüfen Sie, ob Sie trotzdem überweisen möchten."
ENGLISH = "The payee's name could not be confirmed. Please check whether you want to pay anyway."


async def read_evidence(payer, payment_id):
    answer = await payer.get(f"{CUSTOMER}/payment/{payment_id}/evidence")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_confirmed_payee_is_kept_with_verdict_text_choice_and_times(environment):
    payer = await environment.new_payer(payees=(CLOSE,))
    transfer = await payer.pay()
    asked = await read_evidence(payer, transfer.id)
    details = "Empfänger 1: der Name passt fast zur IBAN (gemeint ist vielleicht: Erika Musterfrau)"
    assert asked.keys() == {"verification", "shownText", "language", "choice", "paymentId"}
    assert asked["verification"].keys() == {"result", "suggestedName", "at"}
    assert (asked["verification"]["result"], asked["verification"]["suggestedName"]) == (
        "CLOSE_MATCH",
        "Erika Musterfrau",
    )
    assert (asked["shownText"], asked["language"]) == (f"{GERMAN}\n{details}", "de")
    assert (asked["choice"], asked["paymentId"]) == ("NONE", transfer.id)
    await transfer.answer("confirm_vop")
    await transfer.tan()
    told = await read_evidence(payer, transfer.id)
    assert told == asked | {"choice": "CONFIRMED", "choiceAt": told["choiceAt"]}
    assert told["choiceAt"] >= told["verification"]["at"]


async def test_a_refused_payee_is_kept_as_cancelled(environment):
    payer = await environment.new_payer(payees=(NO_MATCH,))
    transfer = await payer.pay()
    await transfer.answer("cancel")
    told = await read_evidence(payer, transfer.id)
    assert (told["verification"]["result"], told["choice"]) == ("NO_MATCH", "CANCELLED")


async def test_the_text_is_kept_in_the_language_in_which_it_was_sent(environment):
    payer = await environment.new_payer(payees=(NO_MATCH,))
    transfer = await payer.pay(headers={"Accept-Language": "en"})
    assert transfer.status["messages"][0]["message"] == ENGLISH
    told = await read_evidence(payer, transfer.id)
    assert (told["shownText"].splitlines()[0], told["language"]) == (ENGLISH, "en")
    assert (await payer.get(transfer.href("self"), headers={"Accept-Language": "de"})).status_code == 200
    assert (await read_evidence(payer, transfer.id))["language"] == "de"
    await transfer.answer("confirm_vop")
    await payer.get(transfer.href("self"), headers={"Accept-Language": "en"})
    assert (await read_evidence(payer, transfer.id))["language"] == "de", (
        "what is read after the choice changes nothing"
    )


@pytest.mark.parametrize(("result", "choice"), [(MATCH, "NONE"), (NO_MATCH, "CONFIRMED")])
async def test_a_verification_before_the_order_is_the_orders_evidence(environment, result, choice):
    payer = await environment.new_payer(payees=(result,))
    vop = await verify(payer)
    transfer = Transfer(payer, (await pay_verified(payer, vop, vop["paymentId"])).json())
    told = await read_evidence(payer, transfer.id)
    assert (told["verification"]["result"], told["choice"], told["shownText"]) == (str(result.match), choice, "")
    assert ("choiceAt" in told) is (choice == "CONFIRMED")


async def test_of_several_payees_the_worst_verdict_counts_and_the_text_names_each(environment):
    payer = await environment.new_payer(payees=(CLOSE, NO_MATCH, MATCH))
    details = [DETAILS | {"recipient": name} for name in ("Erika", "Erik", "Anna")]
    order = await payer.order({"instant": False, "transferDetails": details}, what="bulk-transfer")
    told = await read_evidence(payer, Transfer(payer, order.json()).id)
    assert told["verification"].keys() == {"result", "at"}
    assert told["verification"]["result"] == "NO_MATCH"
    assert "Empfänger 1: " in told["shownText"]
    assert "Empfänger 2: " in told["shownText"]
    assert "Empfänger 3: " not in told["shownText"]


async def test_there_is_no_evidence_of_an_unverified_a_strange_or_somebody_elses_payment(environment, payer):
    unverified = await payer.pay()
    stranger = await environment.new_payer(payees=(CLOSE,))
    verified = await stranger.pay()
    for payment_id in (unverified.id, verified.id, str(uuid4())):
        answer = await payer.get(f"{CUSTOMER}/payment/{payment_id}/evidence")
        assert answer.status_code == 404
    assert (await payer.get(f"{CUSTOMER}/payment/x/evidence")).status_code == 404


async def test_the_export_contains_the_evidence(environment):
    payer = await environment.new_payer(payees=(CLOSE,))
    transfer = await payer.pay()
    await transfer.answer("confirm_vop")
    [row] = [row for row in (await payer.get(f"{CUSTOMER}/export")).json()["payments"] if row["id"] == transfer.id]
    assert row["evidence"]["choice"] == "CONFIRMED"
    assert row["evidence"]["shown_text"].startswith(GERMAN)
