"""After its user was erased, a payment's record leads to nobody, and says all that must be kept."""

import pytest

CALLBACK = "https://shop.example/back?customer=anna"


async def find_rows(environment, payment_id):
    [columns] = await environment.execute(
        "select array_agg(attname::text order by attnum) from pg_attribute where attrelid = 'payments'::regclass"
        " and attnum > 0 and not attisdropped"
    )
    rows = await environment.execute(f"select {', '.join(columns[0])} from payments where id = %s", payment_id)
    return [dict(zip(columns[0], row, strict=True)) for row in rows]


async def erase(environment, payer):
    [(username, tenant)] = await environment.execute(
        "select u.username, t.name from users u join tenants t on t.id = u.tenant_id where u.id = %s",
        payer.principal.user_id,
    )
    await environment.services.users.erase_user_by_operator(tenant, username)


async def mark(environment, payment_id):
    """What callers and banks may leave in a row."""
    await environment.execute(
        "update payments set customer_ip = '192.0.2.77', callback_url = %s, idempotency_key = 'anna-1',"
        """ dialogue = dialogue || '{"redirect_url": "https://bank.example/anna", "chosen_medium": "Annas Telefon"}'"""
        " where id = %s",
        CALLBACK,
        payment_id,
    )


@pytest.mark.parametrize("fault", [None, "unknown"])
async def test_neither_user_nor_address_nor_callback_is_left(environment, fault):
    payer = await environment.new_payer(**({} if fault is None else {"fault": fault}))
    transfer = await (await payer.pay()).tan()
    await mark(environment, transfer.id)
    [before] = await find_rows(environment, transfer.id)
    await erase(environment, payer)
    [after] = await find_rows(environment, transfer.id)
    assert after["user_id"] == before["pseudonym"] == after["pseudonym"]
    text = str(after)
    for hidden in (
        str(payer.principal.user_id),
        "192.0.2.77",
        "shop.example",
        "anna",
        "Annas",
        str(before["access_id"]),
    ):
        assert hidden not in text
    kept = (
        "tenant_id",
        "kind",
        "state",
        "orders",
        "given",
        "product",
        "execution_date",
        "created_at",
        "sent_at",
        "debit",
    )
    assert [after[name] for name in kept] == [before[name] for name in kept]
    assert str(after["kept_bank_id"]) == str(transfer.bank_id)
    assert (after["sealed"], after["credentials"], after["next_lookup_at"]) == (None, None, None)


async def test_records_that_were_left_with_the_users_id_are_found_by_housekeeping(environment):
    """Erased by the version before, or while the payment was at the bank."""
    payer = await environment.new_payer()
    transfer = await (await payer.pay()).tan()
    other = await environment.new_payer()
    kept = await (await other.pay()).tan()
    await mark(environment, transfer.id)
    await environment.execute("delete from users where id = %s", payer.principal.user_id)
    await environment.services.housekeeping.clean()
    [after] = await find_rows(environment, transfer.id)
    assert (after["user_id"], after["customer_ip"], after["callback_url"]) == (after["pseudonym"], None, None)
    [untouched] = await find_rows(environment, kept.id)
    assert untouched["user_id"] == other.principal.user_id


async def test_the_outcome_of_a_payment_at_the_bank_is_still_written_down(environment):
    payer = await environment.new_payer()
    transfer = await payer.pay()
    await environment.execute("update payments set state = 'SENDING', fence = 7 where id = %s", transfer.id)
    await erase(environment, payer)
    [during] = await find_rows(environment, transfer.id)
    assert (during["state"], during["user_id"]) == ("SENDING", payer.principal.user_id)
    await environment.services.payments.recovery.recover()
    await environment.services.housekeeping.clean()
    [after] = await find_rows(environment, transfer.id)
    assert (after["state"], after["user_id"], after["sealed"]) == ("UNKNOWN", after["pseudonym"], None)
