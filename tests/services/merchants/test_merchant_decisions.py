"""Whose word counts: the user's, the tenant's, the tagger's, the own model's; and who may switch, approve and erase."""

from dataclasses import replace
from uuid import uuid4

import pytest

from known_merchants import CATEGORY, OTHER, SHOP, be_due_again, make_tenant, pay
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.tagging_rules import TaggingRule
from model_servers import ModelServer


async def test_corrections_and_rules_win_and_the_tagger_where_it_is_surer(services, tenant, ask_with):
    grocer = "REWE SAGT DANKE"
    payer = await tenant.add_payer(pay(SHOP), pay(OTHER), pay(grocer))
    sure = (await payer.categories())[grocer]
    with ModelServer({"zirbelglueck": CATEGORY, "nordwind atelier": CATEGORY}) as server:
        await ask_with(server).run()
    await payer.retag()
    row = (await payer.read())[SHOP]
    await services.transaction_tagging.correct(
        payer.principal, "a", payer.product_id, row.id, "LIVING_OTHER", changes_existing=False, creates_rule=False
    )
    await payer.store(pay(SHOP, "-3.00", prima_nota="2"))
    async with services.database.connect(payer.principal.user_id) as connection:
        cursor = await connection.execute(
            "select category, source from transaction_tags where user_id = %s and learnt_from is not null",
            [payer.principal.user_id],
        )
        assert await cursor.fetchall() == [("LIVING_OTHER", "TAGGER")], "the user's correction teaches more"
    rule = TaggingRule(uuid4(), "SHOPPING_OTHER", "", "")
    rule = replace(rule, conditions=replace(rule.conditions, text="nordwind"))
    await services.tenant_rules.add_rule(tenant.principal, rule)
    await payer.retag()
    found = await payer.categories()
    assert found[OTHER] == ("SHOPPING_OTHER", 1.0)
    assert found[grocer] == sure


async def test_a_correction_to_what_the_tagger_had_said_teaches_as_well(services, tenant, ask_with):
    payer = await tenant.add_payer(pay(SHOP))
    said, _ = (await payer.categories())[SHOP]
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        await ask_with(server).run()
    await payer.retag()
    row = (await payer.read())[SHOP]
    await services.transaction_tagging.correct(
        payer.principal, "a", payer.product_id, row.id, said, changes_existing=False, creates_rule=False
    )
    later = replace(pay(SHOP, "-3.00"), purpose=f"{SHOP} //Celle/DE")
    await payer.store(later)
    assert {tags[0] for tags in (await payer.categories()).values()} == {said}


async def test_the_tenant_approves_changes_rejects_and_deletes(services, tenant, owner, ask_with):
    service, principal = services.tenant_merchants, tenant.principal
    payer = await tenant.add_payer(pay(SHOP), pay(OTHER))
    with ModelServer({"zirbelglueck": CATEGORY, "nordwind atelier": CATEGORY}) as server:
        await ask_with(server).run()
        known = await tenant.list()
        await payer.retag()
        await service.approve(principal, known["zirbelglueck"].id, None)
        await service.approve(principal, known["nordwind atelier"].id, "SHOPPING_OTHER")
        await payer.retag()
        assert await payer.categories() == {SHOP: (CATEGORY, 1.0), OTHER: ("SHOPPING_OTHER", 1.0)}
        await service.reject(principal, known["zirbelglueck"].id)
        await service.delete(principal, known["nordwind atelier"].id)
        await payer.retag()
        assert CATEGORY not in [category for category, _ in (await payer.categories()).values()]
        be_due_again(owner)
        server.received.clear()
        await ask_with(server).run()
        assert server.merchants == ["nordwind atelier"], "what was rejected is not asked again"
    for wrong in ("INCOME_SALARY", "LIVING", "NOTHING", "X_ABCDEFGHIJKL"):
        with pytest.raises(InvalidError):
            await service.approve(principal, known["zirbelglueck"].id, wrong)
    actions = owner.execute(
        "select action from audit_entries where chain = %s and action like 'merchant.%%' order by serial",
        [principal.tenant_id],
    ).fetchall()
    assert actions == [("merchant.approve",), ("merchant.approve",), ("merchant.reject",), ("merchant.delete",)]


async def test_nobody_reaches_another_tenants_merchants(services, owner, tenant, ask_with):
    other = await make_tenant(services, owner)
    mine, theirs = await tenant.add_payer(pay(SHOP)), await other.add_payer(pay(SHOP))
    await other.switch(False)
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        await ask_with(server).run()
    [entry] = (await tenant.list()).values()
    assert await other.list() == {}
    await mine.retag()
    await theirs.retag()
    assert (await mine.categories())[SHOP][0] == CATEGORY != (await theirs.categories())[SHOP][0]
    for call in (
        services.tenant_merchants.read_merchant(other.principal, entry.id),
        services.tenant_merchants.approve(other.principal, entry.id, None),
        services.tenant_merchants.reject(other.principal, entry.id),
        services.tenant_merchants.delete(other.principal, entry.id),
    ):
        with pytest.raises(NotFoundError):
            await call


async def test_switched_off_nothing_is_asked_and_what_is_known_counts_no_longer(tenant, owner, ask_with):
    payer = await tenant.add_payer(pay(SHOP))
    before = await payer.categories()
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        await ask_with(server).run()
        await payer.retag()
        await tenant.switch(False)
        await payer.retag()
        assert await payer.categories() == before
        await payer.store(pay(OTHER))
        be_due_again(owner)
        assert await ask_with(server).run() == 0
        await tenant.switch(True)
        await payer.retag()
        assert (await payer.categories())[SHOP] == (CATEGORY, 0.6)


async def test_switched_off_between_collecting_and_asking_nothing_goes_out(tenant, owner, ask_with, monkeypatch):
    await tenant.add_payer(pay(SHOP))
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        made = ask_with(server)
        await made.collect()
        assert list(await tenant.list()) == ["zirbelglueck"]
        # Whatever the service does beside it: the claim itself looks at the switch.
        owner.execute("update tenants set asks_model = false where id = %s", [tenant.principal.tenant_id])
        assert not await made._ask_once(made._calls, tenant.principal.tenant_id)
        owner.execute("update tenants set asks_model = true where id = %s", [tenant.principal.tenant_id])
        await tenant.switch(False)
        assert await tenant.list() == {}
        await tenant.switch(True)
        assert await made.run() == 1
        find_unknown = made._find_unknown

        async def switch_meanwhile(*arguments):
            found = await find_unknown(*arguments)
            await tenant.switch(False)
            return found

        monkeypatch.setattr(made, "_find_unknown", switch_meanwhile)
        await tenant.add_payer(pay(OTHER))
        await made.collect()
        assert list(await tenant.list()) == ["zirbelglueck"], "nothing is added for who was switched off meanwhile"
        assert server.merchants == ["zirbelglueck"]


async def test_after_an_erasure_only_merchants_of_the_others_are_asked_about(services, tenant, owner, ask_with):
    erased = await tenant.add_payer(pay(SHOP))
    await tenant.add_payer(pay(OTHER))
    username = owner.execute("select username from users where id = %s", [erased.principal.user_id]).fetchone()[0]
    with ModelServer({"nordwind atelier": CATEGORY}) as server:
        made = ask_with(server)
        await made.collect()
        assert sorted(await tenant.list()) == ["nordwind atelier", "zirbelglueck"]
        await services.users.erase_user_by_operator(tenant.name, username)
        assert await tenant.list() == {}
        assert await made.run() == 1
        assert server.merchants == ["nordwind atelier"]


async def test_erasing_a_user_leaves_no_more_than_words_of_merchants(services, tenant, owner, ask_with):
    payer = await tenant.add_payer(pay(SHOP), pay("Peter Canary"))
    username = owner.execute("select username from users where id = %s", [payer.principal.user_id]).fetchone()[0]
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        await ask_with(server).run()
    await services.users.erase_user_by_operator(tenant.name, username)
    rows = owner.execute(
        "select to_jsonb(m)::text from tenant_merchants m where tenant_id = %s", [tenant.principal.tenant_id]
    ).fetchall()
    assert len(rows) == 1
    assert "canar" not in rows[0][0].lower()
    assert str(payer.principal.user_id) not in rows[0][0]
