"""The same order never pays twice: keys, duplicates, and requests at the same time."""

import asyncio
from uuid import uuid4

import pytest
from paying import BANK, CALLBACK, CUSTOMER, DETAILS, PRESENT, Transfer

OTHER = {"instant": False, "transferDetails": DETAILS | {"amount": 99}}


def keys(name):
    """Facts that give an order a key of its own: as parameter, as header, or both."""
    query, headers = {}, {}
    if name in ("paymentId", "both"):
        query = {"paymentId": str(uuid4())}
    if name in ("Idempotency-Key", "both"):
        headers = {"Idempotency-Key": uuid4().hex}
    return {"query": query, "headers": headers}


each_key = pytest.mark.parametrize("name", ["paymentId", "Idempotency-Key", "both"])


@each_key
async def test_the_same_key_answers_the_first_result_again(payer, name):
    facts = keys(name)
    first = await payer.pay(**facts)
    again = await payer.pay(**facts)
    assert again.status == first.status
    await first.tan()
    after = await payer.pay(**facts)
    assert (after.codes, after.id) == (["BA1111"], first.id)
    assert first.executions == 1
    assert len(await payer.list_payments()) == 1


@each_key
async def test_the_same_key_with_another_body_is_a_conflict(payer, name):
    facts = keys(name)
    first = await payer.pay(**facts)
    answer = await payer.order(OTHER, **facts)
    assert answer.status_code == 409
    assert answer.json()["code"] == "409"
    assert len(await payer.list_payments()) == 1
    assert await first.read() == first.status


async def test_keys_are_the_users_own(environment, payer):
    facts = keys("both")
    first = await payer.pay(**facts)
    stranger = await environment.new_payer()
    second = await stranger.pay(**facts)
    assert first.id == second.id
    await second.tan()
    await first.tan()
    assert (first.executions, second.executions) == (1, 1)


async def test_a_key_may_be_used_again_after_thirty_days(payer):
    facts = keys("Idempotency-Key")
    first = await payer.pay(**facts)
    for days, is_same in ((29, True), (31, False)):
        await payer.environment.execute(
            "update payments set created_at = now() - make_interval(days => %s) where id = %s", days, first.id
        )
        await payer.environment.services.housekeeping.clean()
        await payer.environment.execute("delete from payment_fingerprints where user_id = %s", payer.principal.user_id)
        assert ((await payer.pay(**facts)).id == first.id) is is_same


async def test_an_order_without_a_key_is_refused_when_given_again(payer):
    first = await payer.pay(query={})
    again = await payer.order(query={})
    assert (again.status_code, again.json()["messages"][0]["code"]) == (409, "BA1104")
    assert (await payer.order(query={}, purpose="Rechnung 4712")).status_code == 200
    assert (await payer.order(query={}, amount=12.31)).status_code == 200
    assert (await payer.order(query={}, iban="GB33BUKB20201555555555")).status_code == 200
    # A key says that it is meant.
    assert (await payer.order()).status_code == 200
    user_id = payer.principal.user_id
    earlier = "update payment_fingerprints set given_at = now() - interval '61 seconds' where user_id = %s"
    await payer.environment.execute(earlier, user_id)
    later = await payer.pay(query={})
    assert later.id != first.id


async def test_an_order_with_a_key_is_remembered_against_one_without(payer):
    await payer.pay()
    assert (await payer.order(query={})).status_code == 409


async def test_the_same_debtor_is_recognised_on_every_way(payer):
    await payer.pay(query={})
    body = {
        "provider": str(BANK), "credentials": await payer.credentials(), "product": "giro", "instant": False,
        "transferDetails": DETAILS,
    }  # fmt: skip
    answer = await payer.post(f"{CUSTOMER}/payment/single-transfer", body, params=CALLBACK, headers=PRESENT)
    assert (answer.status_code, answer.json()["messages"][0]["code"]) == (409, "BA1104")


async def test_refused_orders_use_up_no_key(payer):
    facts = keys("both")
    assert (await payer.order(OTHER | {"transferDetails": DETAILS | {"iban": "DE00"}}, **facts)).status_code == 400
    assert (await payer.order(**facts)).status_code == 200


@each_key
async def test_of_many_at_once_with_one_key_there_is_one_payment(environment, name):
    payer = await environment.new_payer(way="none")
    facts = keys(name)
    answers = await asyncio.gather(*[payer.order(**facts) for _ in range(6)])
    assert [answer.status_code for answer in answers] == [200] * 6, [answer.text for answer in answers]
    assert len({answer.text for answer in answers}) == 1
    transfer = Transfer(payer, answers[0].json())
    assert (transfer.codes, transfer.executions) == (["BA1111"], 1)
    assert len(await payer.list_payments()) == 1


async def test_of_many_at_once_without_a_key_one_is_paid(environment):
    payer = await environment.new_payer(way="none")
    answers = await asyncio.gather(*[payer.order(query={}) for _ in range(6)])
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 5]
    assert len(await payer.list_payments()) == 1
    paid = [answer for answer in answers if answer.status_code == 200]
    assert Transfer(payer, paid[0].json()).executions == 1


async def test_a_second_request_waits_for_what_the_bank_says_to_the_first(environment):
    payer = await environment.new_payer(way="none", held_at="before-guard")
    facts = keys("paymentId")
    first = asyncio.create_task(payer.pay(**facts))
    assert await asyncio.to_thread(payer.plan.at_the_door.wait, 60)
    second = asyncio.create_task(payer.pay(**facts))
    await asyncio.sleep(0.2)
    assert not second.done()
    payer.plan.door.set()
    assert (await first).status == (await second).status
    assert (await first).executions == 1


async def test_of_many_right_tans_at_once_one_reaches_the_bank(payer):
    transfer = await payer.pay()
    body = {"scaAuthenticationData": "12"}
    answers = await asyncio.gather(*[payer.post(transfer.href("authenticate"), body) for _ in range(5)])
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 4]
    assert transfer.executions == 1


async def test_many_wrong_tans_at_once_get_no_fourth_try(payer):
    transfer = await payer.pay()
    body = {"scaAuthenticationData": "99"}
    before = len(payer.environment.bank.answers)
    answers = await asyncio.gather(*[payer.post(transfer.href("authenticate"), body) for _ in range(7)])
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [409] * 4
    assert len(payer.environment.bank.answers) - before == 3


async def test_two_payments_with_one_login_never_meet_at_the_bank(environment):
    payer = await environment.new_payer(way="none")
    answers = await asyncio.gather(*[payer.order(amount=number) for number in (1, 2, 3, 4)])
    assert [answer.json()["messages"][0]["code"] for answer in answers] == ["BA1111"] * 4
