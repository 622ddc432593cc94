"""Payees that a user has paid, and the limits and holds that the user sets for them."""

import asyncio
from uuid import uuid4

import pytest
from paying import CALLBACK, CUSTOMER, DETAILS, IBAN, PRESENT
from test_payees import CLOSE

from kontor.domain.payees import name_payee
from kontor.domain.scopes import CUSTOMER_READ
from kontor.storage import payees, payments
from kontor.storage.migrate import read_migrations, split_statements

PAYEES = f"{CUSTOMER}/zahlungsempfaenger"
OTHER_IBAN = "DE02500105170137075030"
TOO_MUCH = "Der Betrag übersteigt das Limit, das Sie für diesen Empfänger gesetzt haben."


async def list_payees(payer):
    answer = await payer.get(PAYEES)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def change(payer, payee, **changes):
    return await payer.put(f"{PAYEES}/{payee['id']}", changes)


async def set_limit(environment, user_id, iban):
    """Of somebody who was never paid."""
    await environment.execute(
        "insert into payee_limits (user_id, id, iban, max_amount) values (%s, %s, %s, 5)",
        user_id,
        name_payee(user_id, iban),
        iban,
    )


async def pay(payer, **details):
    transfer = await payer.pay(**details)
    if transfer.codes in (["BA1120"], ["BA1121"]):
        await transfer.answer("confirm_vop")
    await transfer.tan()
    assert transfer.codes == ["BA1111"]
    return transfer


async def age_payments(payer, interval):
    await payer.environment.execute(
        "update payments set created_at = created_at - %s::interval where user_id = %s",
        interval,
        payer.principal.user_id,
    )


async def run_retention(environment):
    async with environment.services.database.transaction() as connection:
        return await payments.delete_old_payments(connection, 1000)


@pytest.fixture
async def known(payer):
    """The payee, after one executed order of 12.30."""
    await pay(payer)
    [payee] = await list_payees(payer)
    return payee


async def test_who_was_paid_is_known_with_the_latest_verification(environment):
    payer = await environment.new_payer(payees=(CLOSE,))
    assert await list_payees(payer) == []
    unfinished = await payer.pay()
    assert await list_payees(payer) == [], "nothing was executed yet"
    await unfinished.answer("confirm_vop")
    await unfinished.tan()
    [payee] = await list_payees(payer)
    assert payee.keys() == {"id", "name", "iban", "firstUsed", "lastUsed", "verification", "relations"}
    assert (payee["name"], payee["iban"]) == ("Erika Mustermann", IBAN)
    assert payee["verification"]["result"] == "CLOSE_MATCH"
    assert payee["firstUsed"] == payee["lastUsed"] <= payee["verification"]["at"]
    assert [relation["rel"] for relation in payee["relations"]] == ["self"]
    assert (await payer.get(payee["relations"][0]["href"])).json() == payee


async def test_a_later_warning_alone_does_not_hide_the_verification(environment):
    payer = await environment.new_payer(payees=(CLOSE,))
    await pay(payer)
    [before] = await list_payees(payer)
    payer.plan.payees = ()
    await pay(payer, recipient="Erik Muster")
    [payee] = await list_payees(payer)
    assert (payee["name"], payee["verification"]) == ("Erik Muster", before["verification"])


async def test_one_iban_is_one_payee(payer, known):
    await pay(payer, recipient="Erika M.")
    await pay(payer, iban=OTHER_IBAN)
    other, same = await list_payees(payer)
    assert (other["iban"], same["iban"], same["name"], same["id"]) == (OTHER_IBAN, IBAN, "Erika M.", known["id"])


async def test_an_order_above_the_limit_is_refused_before_the_bank_is_asked(environment, payer, known):
    assert (await change(payer, known, limit=100)).status_code == 200
    [payee] = await list_payees(payer)
    assert payee["limit"] == 100.00
    bank_calls = len(environment.bank.orders)
    answer = await payer.order(amount=100.01, purpose="zu viel")
    assert answer.status_code == 400
    assert answer.json()["message"] == (
        "transferDetails.amount: exceeds the limit of 100.00 a day for this payee; 87.70 are left today"
    )
    [message] = answer.json()["messages"]
    assert (message["level"], message["code"], message["message"]) == ("ERROR", "BA1104", TOO_MUCH)
    assert len(environment.bank.orders) == bank_calls
    assert (await payer.order(amount=87.70, purpose="genau")).status_code == 200
    assert (await payer.order(amount=0.01, purpose="mehr")).status_code == 400, "the day's orders count together"
    assert (await payer.order(amount=500, iban=OTHER_IBAN)).status_code == 200, "others have no limit"


async def test_an_order_that_failed_does_not_count(payer, known):
    await change(payer, known, limit=100)
    transfer = await payer.pay(amount=80)
    assert (await payer.order(amount=80, purpose="noch einmal")).status_code == 400
    await transfer.answer("cancel")
    assert (await payer.order(amount=80, purpose="noch einmal")).status_code == 200


async def test_two_first_changes_at_once_are_both_kept(payer, known):
    for _ in range(5):
        await payer.environment.execute("delete from payee_limits where user_id = %s", payer.principal.user_id)
        answers = await asyncio.gather(change(payer, known, limit=50), change(payer, known, sperrfristStunden=24))
        assert [answer.status_code for answer in answers] == [200, 200]
        [payee] = await list_payees(payer)
        assert (payee["limit"], payee["sperrfristStunden"]) == (50.00, 24)


async def test_orders_at_once_do_not_get_round_the_limit(payer, known):
    await change(payer, known, limit=100)
    orders = [payer.order(amount=40, purpose=f"Teil {number}") for number in range(5)]
    answers = await asyncio.gather(*orders)
    assert sorted(answer.status_code for answer in answers) == [200, 200, 400, 400, 400]


async def test_the_same_request_twice_counts_once(payer, known):
    await change(payer, known, limit=50)
    query, body = (
        CALLBACK | {"paymentId": str(uuid4())},
        {"instant": False, "transferDetails": DETAILS | {"amount": 30}},
    )
    answers = await asyncio.gather(*[payer.post(payer.path(), body, params=query, headers=PRESENT) for _ in range(3)])
    keyed = {"headers": {"Idempotency-Key": "k"}, "query": {}, "amount": 7, "purpose": "k"}
    answers += await asyncio.gather(*[payer.order(**keyed) for _ in range(2)])
    assert [answer.status_code for answer in answers] == [200] * 5


async def test_an_order_given_twice_is_a_duplicate_although_the_limit_is_used_up(payer, known):
    await change(payer, known, limit=50)
    refused = {"query": {}, "amount": 60}
    assert (await payer.order(**refused)).status_code == 400
    answers = [await payer.order(query={}, amount=30) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 409]
    await change(payer, known, limit=150)
    assert (await payer.order(**refused)).status_code == 200, "what was refused was not given"


async def test_a_bulk_is_refused_whole_and_the_order_is_named(payer, known):
    await change(payer, known, limit=50)
    details = [DETAILS | {"iban": OTHER_IBAN, "amount": 90}, DETAILS | {"amount": 30}, DETAILS | {"amount": 30}]
    answer = await payer.order({"instant": False, "transferDetails": details}, what="bulk-transfer")
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("transferDetails[1].amount: exceeds the limit of 50.00")


async def test_the_rules_of_all_payees_are_read_at_once(payer, monkeypatch):
    ibans = [IBAN, OTHER_IBAN, "GB33BUKB20201555555555"]
    for iban in ibans:
        await set_limit(payer.environment, payer.principal.user_id, iban)
    statements = []
    for name in ("sum_ordered", "list_uses"):
        read = getattr(payees, name)

        async def count(connection, *values, read=read):
            statements.append(read.__name__)
            return await read(connection, *values)

        monkeypatch.setattr(payees, name, count)
    details = [DETAILS | {"iban": iban, "amount": 5} for iban in ibans]
    answer = await payer.order({"instant": False, "transferDetails": details}, what="bulk-transfer")
    assert answer.status_code == 200, answer.text
    assert statements == ["list_uses", "sum_ordered", "list_uses"], "the first is for warnings"


async def test_within_the_hold_an_order_is_refused_until_it_is_over(payer, known):
    assert (await change(payer, known, sperrfristStunden=24)).status_code == 200
    answer = await payer.order(amount=1, purpose="sofort")
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("transferDetails.iban: orders to this payee are refused until 20")
    assert answer.json()["messages"][0]["code"] == "BA1104"
    await payer.environment.execute(
        "update payments set created_at = created_at - interval '25 hours' where user_id = %s", payer.principal.user_id
    )
    assert (await payer.order(amount=1, purpose="sofort")).status_code == 200


async def test_a_rule_in_force_is_shown_after_the_last_payment_was_deleted(environment, payer, known):
    await change(payer, known, limit=50)
    await age_payments(payer, "10 years 1 day")
    assert await run_retention(environment) >= 1
    assert await payer.list_payments() == []
    [payee] = await list_payees(payer)
    facts = ("id", "name", "iban", "limit")
    assert [payee[name] for name in facts] == [known["id"], "Erika Mustermann", IBAN, 50.00]
    assert (payee["firstUsed"], payee["lastUsed"]) == (known["firstUsed"], known["lastUsed"])
    assert "verification" not in payee
    assert (await payer.get(f"{PAYEES}/{known['id']}")).json() == payee
    assert (await payer.order(amount=51)).status_code == 400
    assert (await change(payer, known, limit=60)).status_code == 200
    assert (await payer.order(amount=60)).status_code == 200
    assert (await change(payer, known, limit=None)).status_code == 200
    assert await list_payees(payer) == [], "no rule is in force, and nothing was paid"
    kept = "select name from payee_limits where user_id = %s"
    assert await environment.execute(kept, payer.principal.user_id) == [(None,)]


async def test_the_migration_keeps_the_payees_of_rules_that_were_set_before_it(environment, payer, known):
    await change(payer, known, limit=50)
    await environment.execute("update payee_limits set name = null, first_at = null, last_at = null")
    [migration] = [each for each in read_migrations() if each.name == "payees_with_rules"]
    [update] = [each for each in split_statements(migration.sql) if each.lstrip().startswith("update")]
    await environment.execute(update)
    await age_payments(payer, "10 years 1 day")
    await run_retention(environment)
    [payee] = await list_payees(payer)
    assert (payee["name"], payee["firstUsed"]) == (known["name"], known["firstUsed"])


async def test_what_is_left_of_a_hold_counts_after_the_last_payment_was_deleted(environment, payer, known):
    await change(payer, known, sperrfristStunden=24)
    await change(payer, known, sperrfristStunden=None)
    await age_payments(payer, "10 years 1 day")
    await run_retention(environment)
    assert [payee["id"] for payee in await list_payees(payer)] == [known["id"]]
    assert (await payer.order(amount=1)).status_code == 400
    await environment.execute("update payee_limits set held_until = now() where id = %s", known["id"])
    assert await list_payees(payer) == []
    assert (await payer.order(amount=1)).status_code == 200


async def test_a_hold_that_is_switched_off_goes_on_for_its_hours(payer, known):
    await payer.environment.execute(
        "update payments set created_at = created_at - interval '25 hours' where user_id = %s", payer.principal.user_id
    )
    await change(payer, known, sperrfristStunden=24, limit=50)
    assert (await payer.order(amount=1, purpose="eins")).status_code == 200
    assert (await change(payer, known, sperrfristStunden=None)).status_code == 200
    [payee] = await list_payees(payer)
    assert (payee["limit"], "sperrfristStunden" in payee) == (50.00, False)
    assert (await payer.order(amount=1, purpose="zwei")).status_code == 400


async def test_a_redirect_tenants_order_is_refused_as_well(environment):
    visitor = await environment.new_payer(environment.redirecting)
    body = {"instant": False, "transferDetails": DETAILS}
    assert (await visitor.post(visitor.path(), body, headers=PRESENT)).status_code == 451
    await set_limit(environment, visitor.principal.user_id, IBAN)
    answer = await visitor.post(visitor.path(), body, headers=PRESENT)
    assert (answer.status_code, answer.json()["messages"][0]["message"]) == (400, TOO_MUCH)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "give one of limit, sperrfristStunden"),
        ({"limit": 0}, "limit: "),
        ({"limit": -1}, "limit: "),
        ({"limit": 1.005}, "limit: "),
        ({"limit": []}, "limit"),
        ({"sperrfristStunden": 721}, "sperrfristStunden"),
        ({"sperrfristStunden": 1.5}, "sperrfristStunden"),
    ],
)
async def test_bad_rules_are_refused(payer, known, body, problem):
    answer = await payer.put(f"{PAYEES}/{known['id']}", body)
    assert answer.status_code == 400
    assert problem in answer.json()["message"]


async def test_payees_and_their_rules_are_the_users_own(environment, payer, known):
    stranger = await environment.new_payer()
    assert await list_payees(stranger) == []
    assert (await stranger.get(f"{PAYEES}/{known['id']}")).status_code == 404
    assert (await change(stranger, known, limit=5)).status_code == 404
    await pay(stranger, amount=500)
    assert (await change(payer, known, limit=5)).status_code == 200
    assert (await stranger.order(amount=600, purpose="andere")).status_code == 200


async def test_a_token_that_only_reads_changes_nothing(payer, known):
    await payer.log_in(CUSTOMER_READ)
    assert [payee["id"] for payee in await list_payees(payer)] == [known["id"]]
    assert (await change(payer, known, limit=5)).status_code == 403


async def test_a_change_is_in_the_audit_trail(payer, known):
    await change(payer, known, limit=5)
    rows = await payer.environment.execute(
        "select actor from audit_entries where chain = %s and action = 'payee.change' and object like %s",
        payer.principal.tenant_id,
        f"%payee {known['id']}",
    )
    assert len(rows) == 1


async def test_what_was_set_is_exported_and_goes_with_the_user(environment, payer, known):
    await change(payer, known, limit=5, sperrfristStunden=2)
    [row] = (await payer.get(f"{CUSTOMER}/export")).json()["payee_limits"]
    assert (row["iban"], row["max_amount"], row["hold_hours"]) == (IBAN, 5.00, 2)
    [(username, tenant)] = await environment.execute(
        "select u.username, t.name from users u join tenants t on t.id = u.tenant_id where u.id = %s",
        payer.principal.user_id,
    )
    await environment.services.users.erase_user_by_operator(tenant, username)
    assert await environment.execute("select 1 from payee_limits where id = %s", known["id"]) == []
