"""Newer transfers beyond the single one: bulk, with credentials in the body, and who may read them."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from paying import BANK, CALLBACK, CUSTOMER, DEBTOR_IBAN, DETAILS, LIMITED, PRESENT, SAVINGS, Transfer

from kontor.connectors.base import Done, Paid
from kontor.domain.clocks import BERLIN
from kontor.domain.payments import PaymentOutcome

# Bulk


async def test_bulk_transfer_is_one_payment_with_its_own_relations(payer):
    details = [DETAILS, DETAILS | {"recipient": "Max", "amount": 5}]
    body = {"instant": False, "transferDetails": details}
    answer = await payer.order(body, what="bulk-transfer")
    transfer = Transfer(payer, answer.json())
    assert "/payment/bulk-transfer/" in transfer.href("authenticate")
    await transfer.tan()
    assert (transfer.codes, transfer.rels) == (["BA1111"], ["self", "get_bulk_transfer"])
    assert transfer.status["transfer"]["transferDetails"] == details
    assert payer.environment.bank.orders[transfer.bank_id].is_bulk
    single = transfer.href("self").replace("bulk", "single")
    assert (await payer.get(single)).status_code == 404


async def test_bulk_needs_a_product_that_can(payer):
    body = {"instant": False, "transferDetails": [DETAILS]}
    url = payer.path("bulk-transfer", LIMITED)
    answer = await payer.post(url, body, params=CALLBACK, headers=PRESENT)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (400, "BA1104")


# With credentials in the body


@pytest.mark.parametrize("product", ["id", "iban", "key", "foreign"])
async def test_paying_with_credentials_in_the_body(payer, product):
    names = {"id": str(payer.product()), "iban": DEBTOR_IBAN, "key": "giro", "foreign": "DE91100000000123456789"}
    body = {
        "provider": str(BANK),
        "credentials": await payer.credentials(),
        "product": names[product],
        "instant": False,
        "transferDetails": DETAILS,
    }
    url = f"{CUSTOMER}/payment/single-transfer"
    answer = await payer.post(url, body, params=CALLBACK, headers=PRESENT)
    assert answer.status_code == 200, answer.text
    transfer = await Transfer(payer, answer.json()).tan()
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)
    assert transfer.status["transfer"]["product"] == names[product]
    key = payer.environment.bank.orders[transfer.bank_id].product_key
    assert key == (names["foreign"] if product == "foreign" else "giro")
    sealed = await payer.environment.execute("select sealed, credentials from payments where id = %s", transfer.id)
    assert sealed == [(None, None)], "credentials go with the end of the payment"


@pytest.mark.parametrize("missing", ["provider", "credentials", "product"])
async def test_the_body_must_say_from_where_to_pay(payer, missing):
    body = {"provider": str(BANK), "credentials": await payer.credentials(), "product": DEBTOR_IBAN}
    del body[missing]
    url = f"{CUSTOMER}/payment/single-transfer"
    answer = await payer.post(
        url, body | {"instant": False, "transferDetails": DETAILS}, params=CALLBACK, headers=PRESENT
    )
    assert answer.status_code == 400
    assert missing in answer.json()["message"]


# Reading, and whose it is


async def test_payments_are_listed_newest_first(payer):
    first, second = await payer.pay(), await payer.pay()
    await first.tan()
    listed = await payer.list_payments()
    assert [payment["transfer"]["paymentId"] for payment in listed] == [second.id, first.id]
    assert [payment["messages"][0]["code"] for payment in listed] == ["BA3030", "BA1111"]
    assert len((await payer.get(f"{CUSTOMER}/payments", params={"limit": 1})).json()) == 1


async def test_a_payment_is_read_below_its_product_too(payer):
    transfer = await payer.pay()
    assert (await payer.get(f"{payer.path()}/{transfer.id}")).json() == transfer.status
    assert (await payer.get(f"{payer.path(product=SAVINGS)}/{transfer.id}")).status_code == 404
    assert (await payer.get(f"{payer.path('bulk-transfer')}/{transfer.id}")).status_code == 404


async def test_somebody_elses_payment_does_not_exist(environment, payer):
    transfer = await payer.pay()
    stranger = await environment.new_payer()
    here = transfer.href("self")
    answers = [
        await stranger.get(here),
        await stranger.get(here + "/poll"),
        await stranger.post(here, {"scaAuthenticationData": "12"}),
        await stranger.post(here + "/cancel", {}),
        await stranger.post(here + "/confirm-vop", {}),
        await stranger.post(payer.path(), {"instant": "nonsense"}),
        await stranger.post(payer.path("vop"), {"instant": "nonsense"}),
        await stranger.get(here.rpartition("/")[0] + f"/{uuid4()}"),
    ]
    assert [answer.status_code for answer in answers] == [404] * len(answers)
    assert len({answer.json()["message"] for answer in answers}) == 1
    assert transfer.executions == 0


async def test_everything_about_payments_needs_its_scope(payer):
    transfer = await payer.pay()
    await payer.log_in("http://service/customer/read http://service/customer/modify")
    here = transfer.href("self")
    answers = [
        await payer.get(f"{CUSTOMER}/payments"),
        await payer.get(here),
        await payer.post(here, {}),
        await payer.post(here + "/cancel", {}),
        await payer.post(here + "/confirm-vop", {}),
        await payer.order(),
        await payer.post(payer.path("vop"), {}),
        await payer.post(f"{CUSTOMER}/payment/single-transfer", {}),
        await payer.post(f"{CUSTOMER}/ueberweisung/{BANK}/{payer.product()}", {}),
    ]
    assert [answer.status_code for answer in answers] == [403] * len(answers)


async def test_every_step_is_in_the_audit_trail(payer):
    transfer = await (await payer.pay()).tan("99")
    await transfer.tan()
    assert await payer.audit(transfer.id) == [
        "payment.order",
        "payment.step",
        "payment.answer",
        "payment.step",
        "payment.answer",
        "payment.send",
        "payment.executed",
    ]


async def test_what_a_payments_dialogue_teaches_about_the_access_is_kept(environment):
    """The customer has authenticated at the login: the bank's clock begins anew."""
    day = datetime.now(BERLIN).date() + timedelta(days=180)
    taught = Done(Paid(PaymentOutcome.EXECUTED, consent_until=day), {"method": "900"})
    payer = await environment.new_payer(verdict=taught)
    transfer = await (await payer.pay()).tan()
    assert transfer.codes == ["BA1111"]
    rows = await environment.execute(
        "select a.consent_until, a.memory is not null from accesses a join payments p"
        " on p.user_id = a.user_id and p.access_id = a.id where p.id = %s",
        transfer.id,
    )
    assert rows == [(day, True)]


async def test_an_executed_payment_has_its_access_refreshed(payer):
    transfer = await (await payer.pay()).tan()
    assert transfer.codes == ["BA1111"]
    # A worker that serves other tests may be at it already, so that its state says nothing.
    rows = await payer.environment.execute("select all_history from fetches where access_id = %s", payer.access_id)
    assert rows == [(False,)]
