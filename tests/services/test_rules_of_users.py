"""Rules and own categories change stored tags at once: tags follow from corrections, rules and the tagger."""

import random
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest
from refresh_harness import make_user
from ruled_users import RuledUser, change_something

from kontor import bootstrap
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.tagging_rules import RuleConditions, Sign, TaggingRule
from kontor.services.analyses import decisions, own_categories
from kontor.wire.transactions import CUSTOMER_FIELDS


@pytest.fixture(scope="module")
async def services(own):
    async with bootstrap.open_services(replace(own, pool_size=4), "kontor tests") as services:
        yield services


@pytest.fixture
async def new_user(services, own):
    async def make(seed):
        with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
            principal = await make_user(services, owner)
        user = RuledUser(services, principal)
        await user.store(random.Random(seed))
        return user

    return make


@pytest.mark.parametrize("seed", range(5))
async def test_after_any_changes_tags_follow_from_corrections_rules_and_the_tagger(new_user, seed):
    user, chance = await new_user(seed), random.Random(1000 + seed)
    for _ in range(16):
        await change_something(user, chance)
        await user.check()
    await user.services.tagging_rules.delete_rules(user.principal)
    assert await user.list_rules() == []
    for row in await user.read():
        if row.id not in user.corrected:
            assert row.tags == user.tagger[row.id], "without rules the tagger's tags are back"


async def test_a_new_version_of_the_tagger_keeps_what_rules_decide(new_user, services, own):
    user = await new_user(7)
    rule = TaggingRule(uuid4(), "RECREATION_HOBBY", conditions=RuleConditions(text="Einkauf", sign=Sign.OUTGOING))
    await services.tagging_rules.add_rule(user.principal, rule)
    before = {row.id: row.tags for row in await user.read()}
    assert any(found.rule_id == rule.id for found in before.values())
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
        owner.execute("update transaction_tags set tagger_version = 'old' where user_id = %s", [user.user_id])
    assert await services.transaction_tagging.retag_step(user.user_id) is False
    assert {row.id: row.tags for row in await user.read()} == before


async def test_a_rule_that_an_earlier_program_applied_is_undone_too(new_user, services, own):
    user = await new_user(8)
    rule = await services.tagging_rules.add_rule(user.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "Kiosk"))
    assert await user.count_decided(rule.id)
    with psycopg.connect(own.migration_database_url.reveal(), autocommit=True) as owner:
        owner.execute("update transaction_tags set rule_id = null where user_id = %s", [user.user_id])
        owner.execute("update tagging_rules set is_for_all = false where user_id = %s", [user.user_id])
    await services.tagging_rules.delete_rule(user.principal, rule.id)
    assert {row.id: row.tags for row in await user.read()} == user.tagger


async def test_no_more_than_500_rules_and_replacing_one_is_no_further_one(new_user, services, monkeypatch):
    user = await new_user(9)
    monkeypatch.setattr(decisions, "MAX_RULES", 2)
    first = TaggingRule(uuid4(), "HOUSING_OTHER", "", "Kiosk")
    await services.tagging_rules.add_rule(user.principal, first)
    await services.tagging_rules.add_rule(user.principal, replace(first, id=uuid4(), counterparty_name="Verein"))
    with pytest.raises(InvalidError, match="at most 2 rules"):
        await services.tagging_rules.add_rule(user.principal, replace(first, id=uuid4(), counterparty_name="Aral"))
    row = next(row for row in await user.read() if row.transaction.counterparty_name == "ARAL AG")
    category = "RECREATION_SPORTS" if row.transaction.amount < 0 else "INCOME_RENTAL"
    with pytest.raises(InvalidError, match=r"createRule: .* at most 2 rules"):
        await services.transaction_tagging.correct(
            user.principal, "a", row.product_id, row.id, category, changes_existing=False, creates_rule=True
        )
    replaced = await services.tagging_rules.add_rule(
        user.principal, replace(first, id=uuid4(), category="LIVING_OTHER")
    )
    assert replaced.id == first.id
    assert len(await user.list_rules()) == 2


async def test_another_users_rules_are_not_found(new_user, services):
    user, stranger = await new_user(10), await new_user(11)
    rule = await services.tagging_rules.add_rule(user.principal, TaggingRule(uuid4(), "TRANSFER_OTHER", "", "Kiosk"))
    before = {row.id: row.tags for row in await user.read()}
    for attempt in (
        services.tagging_rules.read_rule(stranger.principal, rule.id),
        services.tagging_rules.change_rule(stranger.principal, rule),
        services.tagging_rules.delete_rule(stranger.principal, rule.id),
        services.tagging_rules.preview_rule(stranger.principal, rule, CUSTOMER_FIELDS, replaces=True),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    foreign = replace(rule, conditions=RuleConditions(product_id=stranger.products["giro"]))
    with pytest.raises(InvalidError, match="is no product of this user"):
        await services.tagging_rules.add_rule(user.principal, replace(foreign, id=uuid4()))
    assert {row.id: row.tags for row in await user.read()} == before
    assert {row.id: row.tags for row in await stranger.read()} == stranger.tagger


async def test_own_categories_are_200_at_most_and_nobody_elses(new_user, services, monkeypatch):
    user, stranger = await new_user(12), await new_user(13)
    monkeypatch.setattr(own_categories, "MAX_CATEGORIES", 1)
    category = await services.own_categories.add_category(user.principal, "Hund", "RECREATION_PETS", "")
    with pytest.raises(InvalidError, match="at most 1 own categories"):
        await services.own_categories.add_category(user.principal, "Katze", "RECREATION_PETS", "")
    assert await stranger.list_own() == []
    for attempt in (
        services.own_categories.require_own(stranger.principal, category.system_id),
        services.own_categories.change_category(stranger.principal, category),
        services.own_categories.delete_category(stranger.principal, category.system_id),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    rule = TaggingRule(uuid4(), category.system_name, "", "Kiosk")
    with pytest.raises(InvalidError, match="is no category that a transaction can have"):
        await services.tagging_rules.add_rule(stranger.principal, rule)
    assert await user.list_own() == [category]
