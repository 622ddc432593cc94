"""What users say about tags: categories they correct, and rules."""

from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec
from msgspec import Meta

from kontor.analysis.trees import CATEGORIES, CUSTOM_CATEGORIES
from kontor.api.answers import JSON, Answer, created, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ, TAGS
from kontor.api.customer_v2.own_trees import read_own_tree
from kontor.api.customer_v2.transactions import TRANSACTIONS, find_product
from kontor.api.operations import Call, Success, operation
from kontor.domain.errors import InvalidError
from kontor.domain.own_categories import is_own_name
from kontor.domain.tagging_rules import TaggingRule
from kontor.services.transactions import Correction
from kontor.wire.tagging_rules import AiConnectRule, NewRule, PreviewedRule, RulePreview, show_preview, show_rule
from kontor.wire.tags import ItemInput
from kontor.wire.transaction_updates import TransactionUpdate
from kontor.wire.transactions import CUSTOMER_FIELDS

RULES = CUSTOMER + "/ai/tagging-rules"
RULE = RULES + "/{rule-id}"
# Changes of rules tag transactions anew.
CHANGE: dict[str, Any] = TAGS | {"is_heavy": True}


class UpdateQuery(msgspec.Struct):
    changeExisting: Annotated[bool, Meta(description="also existing transactions of the same counterparty")] = False  # noqa: N815
    createRule: Annotated[bool, Meta(description="also future transactions of the same counterparty")] = False  # noqa: N815


def read_category(item: ItemInput, field: str) -> str:
    """The tree may be left out; another one than that of the category is refused."""
    tree, expected = item.tagTree, CUSTOM_CATEGORIES if is_own_name(item.systemName) else CATEGORIES
    if tree is not None and tree.systemName not in (None, expected):
        raise InvalidError(f"expected {expected}", f"{field}.tagTree.systemName")
    return item.systemName


@operation(
    "PUT",
    TRANSACTIONS + "/{transaction-id}",
    query=UpdateQuery,
    body=TransactionUpdate,
    success=Success(description="changed"),
    errors=(404,),
    **TAGS,
)
async def update_category(call: Call) -> Answer:
    """Correct the category of a transaction, write a note and keywords beside it, or split it into parts.

    With changeExisting the category also of all existing transactions of the same counterparty, with createRule of all
    to come. The rest is for this transaction alone. Parts have the sign of the transaction and add up to its amount.
    """
    product = await find_product(call)
    transaction_id = call.path_uuid("transaction-id")
    await call.services.transaction_tagging.require_transaction(call.principal, product.id, transaction_id)
    query = call.query(UpdateQuery)
    body = await call.json(TransactionUpdate)
    annotation, item = body.read_annotation(read_category), body.read_item()
    correction = None
    if item is not None:
        written = msgspec.to_builtins(body.tags)
        correction = Correction(read_category(item, "tags"), written, query.changeExisting, query.createRule)
    await call.services.transaction_updates.update(
        call.principal, product.access_id, product.id, transaction_id, annotation, correction
    )
    return empty_answer()


def read_rule(body: NewRule, rule_id: UUID) -> TaggingRule:
    return body.read(rule_id, read_category(body.tagTreeItem, "tagTreeItem"))


@operation("GET", RULES, success=Success(shape=list[AiConnectRule]), **READ)
async def list_tagging_rules(call: Call) -> Answer:
    """List the user's tagging rules.

    A rule gives the transactions that fit it a category. Of several, that with more conditions decides, then the newer.
    What the user has corrected stays.
    """
    rules = await call.services.tagging_rules.list_rules(call.principal)
    tree = await read_own_tree(call)
    return json_answer([show_rule(rule, call.urls.tagging_rule(rule.id), tree) for rule in rules])


@operation("POST", RULES, body=NewRule, success=Success(201, headers={"Location": "the rule"}), **CHANGE)
async def add_tagging_rule(call: Call) -> Answer:
    """Add a tagging rule, for stored transactions and those to come.

    It needs a counterparty or a condition. A rule for the same counterparty without conditions is replaced.
    """
    body = await call.json(NewRule)
    stored = await call.services.tagging_rules.add_rule(call.principal, read_rule(body, uuid4()))
    return created(call.urls.tagging_rule(stored.id))


@operation("DELETE", RULES, success=Success(description="deleted"), **CHANGE)
async def delete_tagging_rules(call: Call) -> Answer:
    """Delete all tagging rules of the user.

    What they have tagged gets the category that it has without them.
    """
    await call.services.tagging_rules.delete_rules(call.principal)
    return empty_answer()


@operation("POST", RULES + "/preview", body=PreviewedRule, success=Success(shape=RulePreview), errors=(404,), **CHANGE)
async def preview_tagging_rule(call: Call) -> Answer:
    """Show which stored transactions a tagging rule would decide; nothing is stored.

    With `id`, as if that rule were changed.
    """
    body = await call.json(PreviewedRule)
    found = await call.services.tagging_rules.preview_rule(
        call.principal, read_rule(body, body.id or uuid4()), CUSTOMER_FIELDS, replaces=body.id is not None
    )
    return Answer(200, show_preview(found), JSON)


@operation("GET", RULE, success=Success(shape=AiConnectRule), errors=(404,), **READ)
async def read_tagging_rule(call: Call) -> Answer:
    """Read one tagging rule.

    It names the category, the counterparty and the conditions.
    """
    rule = await call.services.tagging_rules.read_rule(call.principal, call.path_uuid("rule-id"))
    return json_answer(show_rule(rule, call.urls.tagging_rule(rule.id), await read_own_tree(call)))


@operation("PUT", RULE, body=NewRule, success=Success(description="changed"), errors=(404,), **CHANGE)
async def change_tagging_rule(call: Call) -> Answer:
    """Change a tagging rule; what is left out is reset.

    What it has tagged is tagged anew. `active` false switches it off.
    """
    rule_id = call.path_uuid("rule-id")
    await call.services.tagging_rules.read_rule(call.principal, rule_id)
    body = await call.json(NewRule)
    await call.services.tagging_rules.change_rule(call.principal, read_rule(body, rule_id))
    return empty_answer()


@operation("DELETE", RULE, success=Success(description="deleted"), errors=(404,), **CHANGE)
async def delete_tagging_rule(call: Call) -> Answer:
    """Delete a tagging rule.

    What it has tagged gets the category that it has without the rule.
    """
    await call.services.tagging_rules.delete_rule(call.principal, call.path_uuid("rule-id"))
    return empty_answer()
