"""A PIN that the bank has refused is not sent again, by whatever call, until the customer has entered it anew."""

import asyncio

import pytest
from paying import BANK, DETAILS

from kontor.connectors.base import Failed, FailureKind
from kontor.services.accesses import AccessRequest

REFUSALS = [FailureKind.WRONG_CREDENTIALS, FailureKind.LOCKED]


def count_calls(payer):
    return len(payer.environment.bank.contexts)


async def enter_again(payer):
    request = AccessRequest(BANK, await payer.credentials(), True)
    await payer.environment.services.accesses.store_access(payer.principal, payer.access_id, request)


async def verify(payer):
    return await payer.post(payer.path("vop"), {"transferDetails": DETAILS})


@pytest.mark.parametrize("kind", REFUSALS)
async def test_a_payment_is_refused_without_a_call(environment, kind):
    payer = await environment.new_payer(way="none", refusal=Failed(kind))
    first = await payer.pay()
    payer.plan.refusal = None
    calls = count_calls(payer)
    assert (await payer.pay()).codes == first.codes
    assert count_calls(payer) == calls
    await enter_again(payer)
    assert (await payer.pay()).codes == ["BA1111"]


async def test_what_a_verification_of_payees_was_refused_for_is_not_sent_again(environment):
    payer = await environment.new_payer(way="none", refusal=Failed(FailureKind.WRONG_CREDENTIALS))
    assert (await verify(payer)).status_code >= 400
    payer.plan.refusal = None
    calls = count_calls(payer)
    await verify(payer)
    await payer.pay()
    assert count_calls(payer) == calls
    await enter_again(payer)
    assert (await payer.pay()).codes == ["BA1111"]
    assert count_calls(payer) > calls


async def pause(payer):
    """As if a fetch with the same credentials had been refused meanwhile."""
    await payer.environment.execute(
        "update accesses set refresh_pause = 'CREDENTIALS' where user_id = %s and id = %s returning 1",
        payer.principal.user_id,
        payer.access_id,
    )


async def test_an_order_that_has_left_stays_unknown_when_its_credentials_are_refused_meanwhile(environment):
    """The bank was not asked: what it made of the order nobody knows, until new credentials are there."""
    payer = await environment.new_payer(way="confirmation", guards_challenge=True)
    transfer = await payer.pay()
    assert await transfer.state() == "SENDING"
    await pause(payer)
    environment.bank.executed[str(transfer.bank_id)] += 1  # the customer confirms in the app, and the bank executes
    await transfer.answer("poll")
    assert (transfer.codes, await transfer.state()) == (["BA1113"], "UNKNOWN")
    for _ in range(2):
        await look_up(transfer)
    assert transfer.codes == ["BA1113"]
    await enter_again(payer)
    await look_up(transfer)
    assert transfer.codes == ["BA1111"]


async def look_up(transfer):
    await transfer.payer.environment.execute(
        "update payments set next_lookup_at = now() where id = %s and next_lookup_at is not null returning 1",
        transfer.id,
    )
    await transfer.payer.environment.services.payments.recovery.recover()
    await transfer.read()


async def test_credentials_that_were_entered_during_the_call_are_not_refused(environment):
    """What the bank refused were the old ones."""
    payer = await environment.new_payer(way="none", held_at="begin", verdict=Failed(FailureKind.WRONG_CREDENTIALS))
    task = asyncio.create_task(payer.pay())
    assert await asyncio.to_thread(payer.plan.at_the_door.wait, 60)
    credentials = {"userid": await payer.encrypt(payer.login), "pin": await payer.encrypt("another")}
    request = AccessRequest(BANK, credentials, True)
    await payer.environment.services.accesses.store_access(payer.principal, payer.access_id, request)
    payer.plan.door.set()
    await task
    rows = await environment.execute(
        "select refresh_pause, messages from accesses where user_id = %s", payer.principal.user_id
    )
    assert rows == [(None, [])]
