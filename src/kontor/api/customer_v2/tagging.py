"""What users say about tags: categories they correct, and rules for counterparties."""

from typing import Annotated
from uuid import uuid4

import msgspec
from msgspec import Meta

from kontor.analysis.trees import CATEGORIES
from kontor.api.answers import Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ, TAGS
from kontor.api.customer_v2.transactions import TRANSACTIONS, find_product
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import InvalidError
from kontor.domain.tags import TaggingRule
from kontor.wire.tags import AiConnectRule, CategoryUpdate, ItemInput, NewRule, show_rule

RULES = CUSTOMER + "/ai/tagging-rules"
RULE = RULES + "/{rule-id}"


class UpdateQuery(msgspec.Struct):
    changeExisting: Annotated[bool, Meta(description="also existing transactions of the same counterparty")] = False  # noqa: N815
    createRule: Annotated[bool, Meta(description="also future transactions of the same counterparty")] = False  # noqa: N815


def _read_category(item: ItemInput, field: str) -> str:
    """The tree may be left out; another one than that of the categories is refused."""
    tree = item.tagTree
    if tree is not None and tree.systemName not in (None, CATEGORIES):
        raise InvalidError(f"expected {CATEGORIES}", f"{field}.tagTree.systemName")
    return item.systemName


@operation(
    "PUT",
    TRANSACTIONS + "/{transaction-id}",
    query=UpdateQuery,
    body=CategoryUpdate,
    success=Success(description="changed"),
    errors=(404,),
    **TAGS,
)
async def update_category(call: Call) -> Answer:
    """Correct the category of a transaction.

    With changeExisting also that of all existing transactions of the same counterparty, with createRule of all to come.
    """
    product = await find_product(call)
    transaction_id = call.path_uuid("transaction-id")
    await call.services.transaction_tagging.require_transaction(call.principal, product.id, transaction_id)
    query = call.query(UpdateQuery)
    body = await call.json(CategoryUpdate)
    await call.services.transaction_tagging.correct(
        call.principal,
        product.access_id,
        product.id,
        transaction_id,
        _read_category(body.item, "tags"),
        changes_existing=query.changeExisting,
        creates_rule=query.createRule,
    )
    return empty_answer()


@operation("GET", RULES, success=Success(shape=list[AiConnectRule]), **READ)
async def list_tagging_rules(call: Call) -> Answer:
    """List the user's tagging rules.

    A rule gives transactions of one counterparty a category.
    """
    rules = await call.services.transaction_tagging.list_rules(call.principal)
    return json_answer([show_rule(rule, call.urls) for rule in rules])


@operation("POST", RULES, body=NewRule, success=Success(201, headers={"Location": "the rule"}), **TAGS)
async def add_tagging_rule(call: Call) -> Answer:
    """Add a tagging rule for transactions to come.

    One for the same counterparty is replaced.
    """
    body = await call.json(NewRule)
    category = _read_category(body.tagTreeItem, "tagTreeItem")
    rule = TaggingRule(uuid4(), category, body.counterpartyIban or "", body.counterpartyName or "")
    stored = await call.services.transaction_tagging.add_rule(call.principal, rule)
    return created(call.urls.tagging_rule(stored.id))


@operation("DELETE", RULES, success=Success(description="deleted"), **TAGS)
async def delete_tagging_rules(call: Call) -> Answer:
    """Delete all tagging rules of the user.

    What they have tagged stays so.
    """
    await call.services.transaction_tagging.delete_rules(call.principal)
    return empty_answer()


@operation("GET", RULE, success=Success(shape=AiConnectRule), errors=(404,), **READ)
async def read_tagging_rule(call: Call) -> Answer:
    """Read one tagging rule.

    It names the category and the counterparty.
    """
    rule = await call.services.transaction_tagging.read_rule(call.principal, call.path_uuid("rule-id"))
    return json_answer(show_rule(rule, call.urls))


@operation("DELETE", RULE, success=Success(description="deleted"), errors=(404,), **TAGS)
async def delete_tagging_rule(call: Call) -> Answer:
    """Delete a tagging rule.

    What it has tagged stays so.
    """
    await call.services.transaction_tagging.delete_rule(call.principal, call.path_uuid("rule-id"))
    return empty_answer()
