"""A known name with another IBAN, or a known IBAN with another name, is warned of before the bank is asked."""

import pytest
from paying import DETAILS, IBAN, Transfer
from test_legacy_transfers import start, submit
from test_payee_evidence import NO_MATCH, read_evidence
from test_payees import pay_verified, verify

OTHER_IBAN = "DE02500105170137075030"
GERMAN = (
    "Name oder IBAN des Empfängers sind anders als bei früheren Aufträgen."
    " Bitte prüfen Sie, ob Sie trotzdem überweisen möchten."
)
ENGLISH = "The payee's name or IBAN is not as in earlier orders. Please check whether you want to pay anyway."
KNOWN_IBAN = f"Empfänger 1: dieser Name hatte bisher die IBAN {IBAN}"
KNOWN_NAME = "Empfänger 1: diese IBAN hatte bisher den Namen Erika Mustermann"


async def pay_before(payer):
    await (await payer.pay()).tan()


@pytest.fixture
async def known(payer):
    """A user who has paid Erika Mustermann."""
    await pay_before(payer)
    return payer


def tell(transfer):
    return [(message["code"], message["message"], message["details"]) for message in transfer.status["messages"]]


@pytest.mark.parametrize(
    ("details", "told"),
    [({"iban": OTHER_IBAN}, KNOWN_IBAN), ({"recipient": "Erik Mustermann"}, KNOWN_NAME)],
)
async def test_a_change_is_warned_of_before_the_bank_is_asked(environment, known, details, told):
    transfer = await known.pay(**details)
    assert tell(transfer) == [("BA1121", GERMAN, told)]
    assert transfer.rels == ["self", "confirm_vop", "cancel"]
    assert transfer.bank_id not in environment.bank.orders
    await transfer.answer("confirm_vop")
    assert transfer.codes == ["BA3030"]
    await transfer.tan()
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)
    evidence = await read_evidence(known, transfer.id)
    assert (evidence["verification"]["result"], evidence["choice"]) == ("NOT_POSSIBLE", "CONFIRMED")
    assert evidence["shownText"] == f"{GERMAN}\n{told}"


async def test_the_user_may_cancel_and_no_bank_hears_of_it(environment, known):
    transfer = await known.pay(iban=OTHER_IBAN)
    await transfer.answer("cancel")
    assert transfer.codes == ["BA3040"]
    assert transfer.bank_id not in environment.bank.orders
    assert (await read_evidence(known, transfer.id))["choice"] == "CANCELLED"
    assert (await known.pay(iban=OTHER_IBAN, purpose="x")).codes == ["BA1121"], "what was not paid is not known"


async def test_once_it_was_paid_it_is_known(known):
    for details in ({"iban": OTHER_IBAN}, {"recipient": "Erik Mustermann"}):
        transfer = await known.pay(**details)
        await transfer.answer("confirm_vop")
        await transfer.tan()
        assert (await known.pay(**details, purpose="noch einmal")).codes == ["BA3030"]


@pytest.mark.parametrize("name", ["ERIKA MUSTERMANN", "Mustermann, Erika", "Frau Érika Mustermann"])
async def test_another_spelling_is_the_same_name(known, name):
    assert (await known.pay(recipient=name)).codes == ["BA3030"]


async def test_somebody_new_is_not_warned_of(environment, known):
    assert (await known.pay(recipient="Max Muster", iban=OTHER_IBAN)).codes == ["BA3030"]
    stranger = await environment.new_payer()
    assert (await stranger.pay(iban=OTHER_IBAN)).codes == ["BA3030"], "others' payees are not known"


async def test_the_text_is_in_the_language_of_the_caller(known):
    transfer = await known.pay(iban=OTHER_IBAN, headers={"Accept-Language": "en"})
    assert transfer.status["messages"][0]["message"] == ENGLISH
    evidence = await read_evidence(known, transfer.id)
    assert (evidence["shownText"].splitlines()[0], evidence["language"]) == (ENGLISH, "en")


async def test_nothing_else_fits_and_the_order_expires(environment, known):
    transfer = await known.pay(iban=OTHER_IBAN)
    for body in ({"scaAuthenticationData": "12"}, {"chosenScaMethodId": "901"}, {}):
        assert (await known.post(transfer.href("self"), body)).status_code == 409
    await environment.execute("update payments set expires_at = now() where id = %s", transfer.id)
    assert (await known.get(transfer.href("self"))).json()["messages"][0]["code"] == "BA3040"
    assert (await known.post(transfer.href("self") + "/confirm-vop", {})).status_code == 409


async def test_a_bank_that_cannot_match_the_payee_asks_after_the_warning(environment):
    payer = await environment.new_payer()
    await pay_before(payer)
    payer.plan.payees = (NO_MATCH,)
    transfer = await payer.pay(iban=OTHER_IBAN)
    assert transfer.codes == ["BA1121"]
    await transfer.answer("confirm_vop")
    assert transfer.codes == ["BA1120"]
    assert (await read_evidence(payer, transfer.id))["choice"] == "NONE"
    await transfer.answer("confirm_vop")
    assert transfer.codes == ["BA3030"]
    evidence = await read_evidence(payer, transfer.id)
    assert (evidence["verification"]["result"], evidence["choice"]) == ("NO_MATCH", "CONFIRMED")
    assert evidence["shownText"].startswith(f"{GERMAN}\n{KNOWN_IBAN}\nDer Name des Empfängers konnte nicht")


async def test_a_verification_tells_it_and_the_order_then_asks_no_more(known):
    vop = await verify(known, DETAILS | {"iban": OTHER_IBAN})
    [message] = vop["messages"]
    assert (message["code"], message["message"], message["details"]) == ("BA1121", GERMAN, KNOWN_IBAN)
    transfer = Transfer(known, (await pay_verified(known, vop, vop["paymentId"], iban=OTHER_IBAN)).json())
    assert transfer.codes == ["BA3030"]
    evidence = await read_evidence(known, transfer.id)
    assert (evidence["choice"], evidence["shownText"]) == ("CONFIRMED", f"{GERMAN}\n{KNOWN_IBAN}")


async def test_what_was_paid_since_the_verification_is_warned_of(payer):
    vop = await verify(payer, DETAILS | {"iban": OTHER_IBAN})
    assert "messages" not in vop
    await pay_before(payer)
    transfer = Transfer(payer, (await pay_verified(payer, vop, vop["paymentId"], iban=OTHER_IBAN)).json())
    assert transfer.codes == ["BA1121"]


async def test_a_bulk_names_each_payee_that_differs(known):
    details = [DETAILS, DETAILS | {"iban": OTHER_IBAN}, DETAILS | {"recipient": "Erik"}]
    order = await known.order({"instant": False, "transferDetails": details}, what="bulk-transfer")
    [message] = order.json()["messages"]
    assert message["details"] == (
        f"Empfänger 2: dieser Name hatte bisher die IBAN {IBAN};"
        " Empfänger 3: diese IBAN hatte bisher den Namen Erika Mustermann"
    )


async def test_the_legacy_form_warns_with_the_question_for_the_tan(known):
    answer = await start(known, iban=OTHER_IBAN)
    status = answer.json()
    assert [message["code"] for message in status["messages"]] == ["BA1121", "BA1110"]
    assert (status["messages"][0]["message"], status["messages"][0]["details"]) == (GERMAN, KNOWN_IBAN)
    assert status["hinweis"].startswith(f"{GERMAN} {KNOWN_IBAN}. ")
    paid = await submit(known, status, "12")
    assert [message["code"] for message in paid.json()["messages"]] == ["BA1111"]
    [payment, _] = await known.list_payments()
    evidence = await read_evidence(known, payment["transfer"]["paymentId"])
    assert (evidence["shownText"], evidence["choice"]) == (f"{GERMAN}\n{KNOWN_IBAN}", "CONFIRMED")


async def test_the_same_order_twice_is_warned_of_once_and_paid_once(known):
    query = {"paymentId": "0b1f9a52-3f0c-4f36-9d36-0f3f5a1c2d3e"}
    first = await known.pay(iban=OTHER_IBAN, query=query)
    again = await known.pay(iban=OTHER_IBAN, query=query)
    assert (again.id, again.codes) == (first.id, ["BA1121"])
    await first.answer("confirm_vop")
    await first.tan()
    assert first.executions == 1
