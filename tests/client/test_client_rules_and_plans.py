"""Rules, own categories, budgets and savings goals through the client."""

from datetime import date
from decimal import Decimal

import msgspec
from comparing import find_lost

from kontor_client import (
    Batch,
    NewTransaction,
)
from kontor_client.models.tags import RuleConditions
from kontor_client.sessions import encode_json


async def test_a_category_is_corrected_and_a_rule_made(own, empty):
    new = NewTransaction(
        batch=Batch(id="b"), amount=Decimal("-5.00"), booked_at="2026-11-13", counterparty_name="Onkel Otto"
    )
    await own.push_transactions(*empty, [new])
    (found,) = await own.list_transactions(*empty, tag="categories")
    items = await own.list_tag_tree_items("CATEGORIES")
    other = next(item.system_name for item in items if item.system_name_parent and item.system_name != found.category)
    await own.correct_category(*empty, found.id, other, create_rule=True)
    (corrected,) = await own.list_transactions(*empty, tag="categories")
    assert corrected.category == other
    (rule,) = await own.list_tagging_rules()
    said = (await own.request("GET", "/customer/v2/ai/tagging-rules")).json()
    assert find_lost(said, msgspec.json.decode(encode_json([rule]))) == []
    assert (rule.name, rule.item.system_name) == ("Onkel Otto", other)
    await own.delete_tagging_rule(rule.id)
    made = await own.add_tagging_rule(other, name="Tante Erna")
    assert [made] == await own.list_tagging_rules()


async def test_rules_with_conditions_are_previewed_added_and_changed(own, empty):
    new = NewTransaction(
        batch=Batch(id="b"), amount=Decimal("-5.00"), booked_at="2026-11-13", counterparty_name="Onkel Otto"
    )
    await own.push_transactions(*empty, [new])
    conditions = RuleConditions(text="Otto", amount_from=Decimal("1.00"), sign="-")
    found = await own.preview_tagging_rule("RECREATION_HOBBY", conditions=conditions)
    assert (found.count, found.total) == (1, Decimal("-5.00"))
    assert [example.counterparty_name for example in found.examples] == ["Onkel Otto"]
    rule = await own.add_tagging_rule("RECREATION_HOBBY", conditions=conditions, label="Onkel")
    assert (rule.conditions, rule.label, rule.is_active) == (conditions, "Onkel", True)
    await own.change_tagging_rule(rule.id, "RECREATION_SPORTS", conditions=conditions, is_active=False)
    (changed,) = [known for known in await own.list_tagging_rules() if known.id == rule.id]
    assert (changed.item.system_name, changed.label, changed.is_active) == ("RECREATION_SPORTS", "", False)
    await own.delete_tagging_rule(rule.id)


async def test_own_categories_are_added_changed_and_deleted(own):
    item = await own.add_own_category("Onkel", "FAMILY", "Geschenke")
    assert (item.display_name, item.system_name_parent, item.description) == ("Onkel", "FAMILY", "Geschenke")
    said = (await own.request("GET", "/customer/v2/ai/categories")).json()
    assert find_lost(said, msgspec.json.decode(encode_json([item]))) == []
    await own.change_own_category(item.system_id, "Otto", "FAMILY_OTHER")
    (changed,) = await own.list_own_categories()
    assert (changed.display_name, changed.system_name_parent) == ("Otto", "FAMILY_OTHER")
    await own.delete_own_category(item.system_id)
    assert await own.list_own_categories() == []


async def test_budgets_are_added_read_changed_and_deleted(own):
    budget = await own.add_budget("Essen", ["LIVING_GROCERIES"], Decimal("300.50"), "2026-10", carries_over=True)
    said = (await own.request("GET", "/customer/v2/budgets")).json()
    assert find_lost(said, msgspec.json.decode(encode_json([budget]))) == []
    assert (budget.amount, budget.spent, budget.status) == (Decimal("300.50"), Decimal("0.00"), "IM_RAHMEN")
    await own.change_budget(budget.id, "Haus", ["HOUSING"], Decimal(900), "2026-11")
    changed = await own.read_budget(budget.id, "2026-11")
    assert (changed.name, changed.categories, changed.carries_over) == ("Haus", ["HOUSING"], False)
    assert await own.list_budgets("2026-11") == [changed]
    await own.delete_budget(budget.id)
    assert await own.list_budgets() == []


async def test_savings_goals_are_added_read_changed_and_deleted(own, empty):
    goal = await own.add_savings_goal("Rad", Decimal(900), target_date=date(2049, 5, 1), products=[empty[1]])
    said = (await own.request("GET", "/customer/v2/sparziele")).json()
    assert find_lost(said, msgspec.json.decode(encode_json([goal]))) == []
    assert (goal.products, goal.target_date, goal.status) == ([empty[1]], date(2049, 5, 1), "OFFEN")
    await own.change_savings_goal(goal.id, "Auto", Decimal(9000), saved=Decimal("4500.00"))
    changed = await own.read_savings_goal(goal.id)
    assert (changed.saved, changed.progress, changed.products, changed.rate) == (Decimal(4500), 50, [], None)
    assert await own.list_savings_goals() == [changed]
    await own.delete_savings_goal(goal.id)
    assert await own.list_savings_goals() == []
