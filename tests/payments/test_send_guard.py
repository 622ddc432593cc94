"""The send guard: who may not send, what remains of a payment, and orders that lie at the bank."""

from uuid import uuid4

import pytest
from paying import CUSTOMER, SOON, recover, start_held

# The send guard


async def test_the_gate_is_closed_to_a_user_who_was_deactivated(environment):
    payer = await environment.new_payer(way="none")
    task, payment_id = await start_held(payer, "before-guard")
    await environment.execute("update users set is_active = false where id = %s", payer.principal.user_id)
    payer.plan.door.set()
    transfer = await task
    assert (transfer.codes, transfer.executions) == (["BA999"], 0)
    assert "payment.send" not in await payer.audit(payment_id)


async def test_the_gate_is_closed_when_the_access_was_deleted(environment):
    payer = await environment.new_payer(way="none")
    task, _ = await start_held(payer, "before-guard")
    await environment.http.delete(f"{CUSTOMER}/bankzugaenge/{payer.access_id}", headers=payer.headers)
    payer.plan.door.set()
    transfer = await task
    assert (transfer.codes, transfer.executions) == (["BA999"], 0)


async def test_the_gate_is_closed_to_who_has_lost_the_lease(environment):
    payer = await environment.new_payer(way="none")
    task, payment_id = await start_held(payer, "before-guard")
    await environment.execute(
        "update credential_leases set fence = nextval('lease_fences'), holder = %s"
        " where key = (select lease_key from payments where id = %s)",
        uuid4(),
        payment_id,
    )
    payer.plan.door.set()
    transfer = await task
    assert transfer.executions == 0
    await transfer.read()
    assert transfer.codes in (["BA999"], ["BA3040"])


async def test_records_of_payments_outlive_the_access(environment, payer):
    transfer = await (await payer.pay()).tan()
    await environment.http.delete(f"{CUSTOMER}/bankzugaenge/{payer.access_id}", headers=payer.headers)
    await transfer.read()
    assert transfer.codes == ["BA1111"]


async def test_old_records_go_when_the_tenant_need_not_keep_them(environment, payer):
    transfer = await (await payer.pay()).tan()
    await environment.execute("update payments set created_at = now() - interval '100 days' where id = %s", transfer.id)
    await environment.services.housekeeping.clean()
    assert (await transfer.read())["messages"]
    await environment.execute("update tenants set payment_retention_days = 99 where id = %s", payer.principal.tenant_id)
    await environment.services.housekeeping.clean()
    assert (await payer.get(transfer.href("self"))).status_code == 404
    await environment.execute(
        "update tenants set payment_retention_days = 3650 where id = %s", payer.principal.tenant_id
    )


# Orders that lie at the bank while the user confirms them


@pytest.fixture
async def unconfirmed_payment(environment):
    """A transfer that has left for the bank, which executes it as soon as the user confirms in the app."""
    payer = await environment.new_payer(way="confirmation", polls=2, guards_challenge=True)
    return await payer.pay()


async def test_what_lies_at_the_bank_is_confirmed_but_not_cancelled(unconfirmed_payment):
    assert (unconfirmed_payment.codes, unconfirmed_payment.rels) == (["BA3030"], ["self", "authenticate", "poll"])
    assert await unconfirmed_payment.state() == "SENDING"
    answer = await unconfirmed_payment.payer.post(unconfirmed_payment.href("self") + "/cancel", {})
    assert (answer.status_code, answer.json()) == (409, unconfirmed_payment.status)
    await unconfirmed_payment.answer("poll")
    await unconfirmed_payment.answer("poll")
    assert (unconfirmed_payment.codes, unconfirmed_payment.executions) == (["BA1111"], 1)


async def test_what_lies_at_the_bank_is_unknown_when_nobody_confirms_in_time(unconfirmed_payment):
    await unconfirmed_payment.payer.environment.execute(
        "update payments set expires_at = now() where id = %s", unconfirmed_payment.id
    )
    await unconfirmed_payment.read()
    assert unconfirmed_payment.codes == ["BA1113"]
    await recover(unconfirmed_payment)
    assert (unconfirmed_payment.codes, unconfirmed_payment.executions) == (["BA1104"], 0)


async def test_an_erased_users_unknown_payment_is_left_alone(environment):
    payer = await environment.new_payer(fault="unknown")
    transfer = await (await payer.pay()).tan()
    await environment.execute("delete from users where id = %s", payer.principal.user_id)
    await environment.execute(SOON, transfer.id)
    await environment.services.payments.recovery.recover()
    rows = await environment.execute(
        "select state, sealed, next_lookup_at is null from payments where id = %s", transfer.id
    )
    assert rows == [("UNKNOWN", None, False)]
    assert transfer.bank_id not in environment.bank.lookups
