"""Rules and categories of a tenant: for all its users and nobody else's, in the background, below the user's own."""

import random
from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

import psycopg
import pytest
from ruled_users import BASES, RuledUser, change_something, make_rule

from kontor import bootstrap
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.own_categories import fits_basis, resolve_basis
from kontor.domain.principals import Principal
from kontor.domain.scopes import ALL_SCOPES, MANAGEMENT_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tagging_rules import RuleConditions, TaggingRule
from kontor.domain.tags import TagSource
from kontor.domain.tenants import ClientKind
from kontor.services.analyses import tenant_rules
from kontor.services.identity.tenants import new_tenant
from kontor.services.identity.users import NewUser
from kontor.storage import queue


@pytest.fixture(scope="module")
async def services(own):
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests") as services:
        yield services


@pytest.fixture
def owner(own):
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as connection:
        connection.execute("delete from pgqueuer")
        yield connection


class Tenant:
    def __init__(self, services, owner, name, principal):
        self.services, self.owner, self.name, self.principal = services, owner, name, principal

    async def add_user(self, seed):
        new = await self.services.users.create_user_by_operator(
            self.name, NewUser(f"user-{uuid4().hex[:12]}", Secret("password"))
        )
        user = RuledUser(self.services, replace(self.principal, user_id=new.id, user_pseudonym=new.pseudonym))
        await user.store(random.Random(seed))
        return user

    def queued(self, entrypoint):
        query = "select payload, status::text from pgqueuer where entrypoint = %s"
        return [(bytes(payload), status) for payload, status in self.owner.execute(query, [entrypoint]).fetchall()]

    async def work(self, *users):
        """What a worker does with the jobs of a change."""
        assert (self.principal.tenant_id.bytes, "queued") in self.queued(queue.RETAG_TENANT)
        self.owner.execute("delete from pgqueuer")
        await self.services.transaction_tagging.start_retagging(self.principal.tenant_id)
        assert {payload for payload, _ in self.queued(queue.RETAG)} == {user.user_id.bytes for user in users}
        self.owner.execute("delete from pgqueuer")
        for user in users:
            while await self.services.transaction_tagging.retag_step(user.user_id):
                pass


@pytest.fixture
async def new_tenant_with_rules(services, owner):
    async def make():
        name = f"t-{uuid4().hex[:12]}"
        administration = services.tenant_administration
        await administration.create_tenant(new_tenant(name, is_regulated=True, scopes=ALL_SCOPES))
        await administration.create_client(name, "app", ClientKind.USER, MANAGEMENT_SCOPES)
        query = "select c.tenant_id, c.id from clients c join tenants t on t.id = c.tenant_id where t.name = %s"
        tenant_id, client_id = owner.execute(query, [name]).fetchone()
        principal = Principal(tenant_id, name, True, client_id, "app", frozenset(ALL_SCOPES))
        return Tenant(services, owner, name, principal)

    return make


async def change_tenants_words(tenant, user, chance):
    """One change by the tenant; corrections with a category that is another now are followed in the model."""
    service, principal = tenant.services.tenant_rules, tenant.principal
    rules, categories = await service.list_rules(principal), await service.list_categories(principal)
    names = [category.system_name for category in categories]
    choice = chance.random()
    if choice < 0.35 or not rules:
        await service.add_rule(principal, make_rule(chance, (), names))
    elif choice < 0.5:
        await service.change_rule(principal, replace(make_rule(chance, (), names), id=chance.choice(rules).id))
    elif choice < 0.6:
        await service.delete_rule(principal, chance.choice(rules).id)
    elif choice < 0.75 or not categories:
        await service.add_category(principal, "Vom Haus", chance.choice(BASES), "")
    else:
        category = replace(chance.choice(categories), basis=chance.choice(BASES))
        if choice < 0.9:
            await service.change_category(principal, category)
        else:
            await service.delete_category(principal, category.system_id)
        amounts = {row.id: row.transaction.amount for row in await user.read()}
        for row_id, (said, own_category) in user.corrected.items():
            if own_category == category.system_name:
                is_kept = choice < 0.9 and fits_basis(category.basis, amounts[row_id])
                basis = resolve_basis(category.basis, amounts[row_id])
                user.corrected[row_id] = (basis, own_category) if is_kept else (said, "")
    user.tenants_rules = await service.list_rules(principal)


@pytest.mark.parametrize("seed", range(4))
async def test_corrections_win_over_the_users_rules_and_those_over_the_tenants(new_tenant_with_rules, seed):
    tenant, chance = await new_tenant_with_rules(), random.Random(2000 + seed)
    user = await tenant.add_user(seed)
    for _ in range(10):
        before = {row.id: row.tags for row in await user.read()}
        await change_tenants_words(tenant, user, chance)
        assert {row.id: row.tags for row in await user.read()} == before, "nothing is done in the request"
        await tenant.work(user)
        await user.check()
        await change_something(user, chance, can_change_categories=False)
        await user.check()
    for rule in await tenant.services.tenant_rules.list_rules(tenant.principal):
        await tenant.services.tenant_rules.delete_rule(tenant.principal, rule.id)
    user.tenants_rules = []
    await tenant.work(user)
    await user.services.tagging_rules.delete_rules(user.principal)
    assert {row.id: row.tags for row in await user.read() if row.id not in user.corrected} == {
        row_id: found for row_id, found in user.tagger.items() if row_id not in user.corrected
    }


async def test_another_tenant_neither_sees_nor_feels_any_of_it(new_tenant_with_rules, services):
    tenant, other = await new_tenant_with_rules(), await new_tenant_with_rules()
    user, stranger = await tenant.add_user(1), await other.add_user(2)
    category = await services.tenant_rules.add_category(tenant.principal, "Vom Haus", "TRANSFER", "")
    rule = await services.tenant_rules.add_rule(
        tenant.principal, TaggingRule(uuid4(), category.system_name, "", "Kiosk")
    )
    await tenant.work(user)
    assert await user.list_own() == [category]
    decided = [row for row in await user.read() if row.transaction.counterparty_name == "Kiosk"]
    assert decided
    for row in decided:
        assert (row.tags.category, row.tags.own_category) == ("TRANSFER_OTHER", category.system_name)
        assert (row.tags.source, row.tags.rule_id) == (TagSource.RULE, rule.id)
    assert await stranger.list_own() == []
    assert {row.id: row.tags for row in await stranger.read()} == stranger.tagger
    assert await services.tenant_rules.list_rules(other.principal) == []
    for attempt in (
        services.tenant_rules.read_rule(other.principal, rule.id),
        services.tenant_rules.change_rule(other.principal, rule),
        services.tenant_rules.delete_rule(other.principal, rule.id),
        services.tenant_rules.read_category(other.principal, category.system_id),
        services.tenant_rules.change_category(other.principal, category),
        services.tenant_rules.delete_category(other.principal, category.system_id),
        services.own_categories.change_category(user.principal, category),
        services.own_categories.delete_category(user.principal, category.system_id),
        services.tagging_rules.read_rule(user.principal, rule.id),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    foreign = TaggingRule(uuid4(), category.system_name, "", "Kiosk")
    with pytest.raises(InvalidError, match="is no category"):
        await services.tagging_rules.add_rule(stranger.principal, foreign)


async def test_new_transactions_follow_the_tenants_rules_before_old_ones_are_retagged(new_tenant_with_rules, services):
    tenant = await new_tenant_with_rules()
    await services.tenant_rules.add_rule(tenant.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "Kiosk"))
    user = await tenant.add_user(3)
    kiosk = [row for row in await user.read() if row.transaction.counterparty_name == "Kiosk"]
    assert {row.tags.category for row in kiosk} == {"TRANSFER_OTHER"}
    assert await services.transaction_tagging.start_retagging(tenant.principal.tenant_id) == 0, "all is up to date"


async def test_a_users_rule_with_fewer_conditions_wins_over_the_tenants(new_tenant_with_rules, services):
    tenant = await new_tenant_with_rules()
    user = await tenant.add_user(4)
    narrow = RuleConditions(text="Kiosk", amount_to=Decimal("9999.00"))
    await services.tenant_rules.add_rule(tenant.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "Kiosk", narrow))
    await tenant.work(user)
    rule = await services.tagging_rules.add_rule(user.principal, TaggingRule(uuid4(), "TRANSFER_OWN", "", "Kiosk"))
    kiosk = [row for row in await user.read() if row.transaction.counterparty_name == "Kiosk"]
    assert {(row.tags.category, row.tags.rule_id) for row in kiosk} == {("TRANSFER_OWN", rule.id)}
    await services.tagging_rules.delete_rule(user.principal, rule.id)
    kiosk = [row for row in await user.read() if row.transaction.counterparty_name == "Kiosk"]
    assert {row.tags.category for row in kiosk} == {"TRANSFER_OTHER"}


async def test_limits_and_products_are_refused_and_nothing_is_queued(new_tenant_with_rules, services, monkeypatch):
    tenant = await new_tenant_with_rules()
    user = await tenant.add_user(5)
    service, principal = services.tenant_rules, tenant.principal
    product = RuleConditions(product_id=user.products["giro"])
    with pytest.raises(InvalidError, match=r"conditions\.product"):
        await service.add_rule(principal, TaggingRule(uuid4(), "TRANSFER_OTHER", conditions=product))
    monkeypatch.setattr(tenant_rules, "MAX_RULES", 0)
    monkeypatch.setattr(tenant_rules, "MAX_CATEGORIES", 0)
    with pytest.raises(InvalidError, match="at most 0 rules"):
        await service.add_rule(principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "Kiosk"))
    with pytest.raises(InvalidError, match="at most 0 categories"):
        await service.add_category(principal, "Vom Haus", "LIVING", "")
    assert tenant.queued(queue.RETAG_TENANT) == []
    assert await services.transaction_tagging.start_retagging(principal.tenant_id) == 0


async def test_a_job_that_is_being_run_does_not_swallow_the_next_change(new_tenant_with_rules, services):
    tenant = await new_tenant_with_rules()
    user = await tenant.add_user(6)
    service = services.tenant_rules
    for name in ("Kiosk", "Verein"):
        await service.add_rule(tenant.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", name))
        await services.transaction_tagging.start_retagging(tenant.principal.tenant_id)
    for entrypoint, payload in (
        (queue.RETAG_TENANT, tenant.principal.tenant_id.bytes),
        (queue.RETAG, user.user_id.bytes),
    ):
        assert tenant.queued(entrypoint) == [(payload, "queued")], "one that waits is enough"
    tenant.owner.execute("update pgqueuer set status = 'picked'")
    await service.add_rule(tenant.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "ARAL AG"))
    await services.transaction_tagging.start_retagging(tenant.principal.tenant_id)
    for entrypoint in (queue.RETAG_TENANT, queue.RETAG):
        assert sorted(status for _, status in tenant.queued(entrypoint)) == ["picked", "queued"]
