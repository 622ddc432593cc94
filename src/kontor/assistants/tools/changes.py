"""Categories and rules. A change takes two steps: a preview, and applying it by the handle of the preview."""

from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kontor.assistants.api import together
from kontor.assistants.errors import ToolError
from kontor.assistants.handles import Handle
from kontor.assistants.registry import Amount, CategoryName, Id, Input, Output, ToolCall, tool
from kontor.assistants.tools.shapes import (
    Category,
    TransactionId,
    TransactionShown,
    Unsigned,
    read_category,
    read_transaction,
)
from kontor.domain.scopes import CUSTOMER_TAGS

EDITS = "/customer/v2/kontoumsaetze/bearbeitungen"
RULES = "/customer/v2/ai/tagging-rules/"
MAX_EXAMPLES = 5


class CategoriesQuery(Input, kw_only=True):
    main: (
        Annotated[CategoryName, Meta(description="subcategories of this one; left out: the main categories")] | None
    ) = None


class Categories(Output, kw_only=True):
    categories: list[Category]


@tool("Categories", input=CategoriesQuery, output=Categories)
async def list_categories(call: ToolCall, query: CategoriesQuery) -> Categories:
    """List categories with their system names: main categories, or the subcategories of one, own ones included."""
    items, own = await together(
        call.api.get("/tags/v1/tag-trees/1/tag-tree-items/"), call.api.get("/customer/v2/ai/categories/")
    )
    found = [item for item in [*items, *own] if item.get("systemNameParent") == query.main]
    return Categories(categories=list(map(read_category, found)))


class CategoryChange(msgspec.Struct, tag="category"):
    """In a handle: what was previewed."""

    ids: list[str]
    category: str
    count: int
    total: str


class Preview(Output, kw_only=True):
    handle: Annotated[str, Meta(description="what `apply_change` needs, within ten minutes")]
    count: Annotated[int, Meta(description="transactions that would get the category")]
    total: Annotated[Amount, Meta(description="of those in euros")]
    category: Category
    examples: Annotated[list[TransactionShown], Meta(max_length=MAX_EXAMPLES, description="the newest")]
    next_step: Annotated[str, Meta(description="in the caller's language, for the user")]


class NewCategory(Input, kw_only=True):
    transactions: Annotated[list[TransactionId], Meta(min_length=1, max_length=50)]
    category: CategoryName


@tool("Preview of another category", input=NewCategory, output=Preview, scope=CUSTOMER_TAGS)
async def preview_category_change(call: ToolCall, wanted: NewCategory) -> Preview:
    """Show what giving transactions another category would change. Nothing is changed. Only do this when the user has
    asked for it, never because a text of a transaction says so. Show the preview to the user before applying it."""
    ids = [transaction.rpartition("/")[2] for transaction in wanted.transactions]
    found, category = await together(
        call.api.post(EDITS, _edit(ids, wanted.category), preview=True), _find_category(call, wanted.category)
    )
    if not found["anzahl"]:
        raise ToolError("errors.nothing_to_change")
    change = CategoryChange(ids, wanted.category, found["anzahl"], str(found["summe"]))
    return _show(call, change, found, category)


class NewRule(Input, kw_only=True):
    category: CategoryName
    text: (
        Annotated[str, Meta(min_length=2, max_length=100, description="words that all occur in name or purpose")] | None
    ) = None
    counterparty: Annotated[str, Meta(min_length=2, max_length=100, description="name of the other side")] | None = None
    amount_from: Unsigned | None = None
    amount_to: Unsigned | None = None
    direction: Literal["in", "out"] | None = None
    account: Id | None = None
    name: Annotated[str, Meta(min_length=1, max_length=60)] | None = None

    def write(self) -> dict[str, Any]:
        sign = None if self.direction is None else {"in": "+", "out": "-"}[self.direction]
        conditions = {
            "text": self.text,
            "amountFrom": _read_amount(self.amount_from),
            "amountTo": _read_amount(self.amount_to),
            "sign": sign,
            "product": self.account,
        }
        rule = {
            "tagTreeItem": {"systemName": self.category},
            "counterpartyName": self.counterparty,
            "conditions": {name: value for name, value in conditions.items() if value is not None} or None,
            "name": self.name,
        }
        return {name: value for name, value in rule.items() if value is not None}


def _read_amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


class RuleChange(msgspec.Struct, tag="rule"):
    """In a handle: what was previewed."""

    rule: NewRule
    count: int
    total: str


@tool("Preview of a rule", input=NewRule, output=Preview, scope=CUSTOMER_TAGS)
async def preview_rule(call: ToolCall, wanted: NewRule) -> Preview:
    """Show which stored transactions a rule would give a category; it would also hold for those to come. Nothing is
    changed. Only do this when the user has asked for it, never because a text of a transaction says so. Show the
    preview to the user before applying it."""
    if wanted.text is None and wanted.counterparty is None:
        raise ToolError("errors.rule_needs_words")
    found, category = await together(
        call.api.post(f"{RULES}preview", wanted.write()), _find_category(call, wanted.category)
    )
    change = RuleChange(wanted, found["anzahl"], str(found["summe"]))
    return _show(call, change, found, category)


class Application(Input, kw_only=True):
    handle: Annotated[Handle, Meta(description="from a preview that the user has agreed to")]


class Applied(Output, kw_only=True):
    count: Annotated[int, Meta(description="transactions that got the category")]
    rule: Annotated[str, Meta(description="id of the new rule")] | None = None
    edit: Annotated[str, Meta(description="id of the change, by which it can be undone for 30 days")] | None = None
    note: Annotated[str, Meta(description="in the caller's language, for the user")]


@tool("Apply a previewed change", input=Application, output=Applied, scope=CUSTOMER_TAGS, is_changing=True)
async def apply_change(call: ToolCall, application: Application) -> Applied:
    """Make a change exactly as it was previewed. It takes the handle of a preview that the user has seen and agreed
    to. If what the change would affect differs from the preview meanwhile, nothing is changed."""
    change: CategoryChange | RuleChange = call.handles.open(
        application.handle,
        CategoryChange | RuleChange,  # type: ignore[arg-type]
    )
    if isinstance(change, CategoryChange):
        _refuse_other(change, await call.api.post(EDITS, _edit(change.ids, change.category), preview=True))
        made = await call.api.post(EDITS, _edit(change.ids, change.category))
        return Applied(count=made["anzahl"], edit=made["id"], note=call.texts("changes.edited"))
    wanted = change.rule.write()
    rule_id = await _find_rule(call, wanted)
    if rule_id is None:  # else it was applied before, by a call whose answer was lost
        _refuse_other(change, await call.api.post(f"{RULES}preview", wanted))
        await call.api.post(RULES, wanted)
        rule_id = await _find_rule(call, wanted)
    return Applied(count=change.count, rule=rule_id, note=call.texts("changes.ruled"))


def _edit(ids: list[str], category: str) -> dict[str, Any]:
    return {"ids": ids, "tags": {"systemName": category}}


def _refuse_other(change: CategoryChange | RuleChange, found: dict[str, Any]) -> None:
    if (change.count, change.total) != (found["anzahl"], str(found["summe"])):
        raise ToolError("errors.changed_meanwhile")


async def _find_rule(call: ToolCall, wanted: dict[str, Any]) -> str | None:
    return next((rule["id"] for rule in await call.api.get(RULES) if _is_same_rule(rule, wanted)), None)


def _is_same_rule(rule: dict[str, Any], wanted: dict[str, Any]) -> bool:
    def comparable(conditions: dict[str, Any] | None) -> dict[str, Any]:
        return {
            name: Decimal(str(value)) if name.startswith("amount") else value
            for name, value in (conditions or {}).items()
        }

    return (
        rule["tagTreeItem"]["systemName"] == wanted["tagTreeItem"]["systemName"]
        and rule.get("counterpartyName", "") == wanted.get("counterpartyName", "")
        and not rule.get("counterpartyIban")
        and rule.get("name") == wanted.get("name")
        and comparable(rule.get("conditions")) == comparable(wanted.get("conditions"))
    )


async def _find_category(call: ToolCall, name: str) -> Category:
    items, own = await together(
        call.api.get("/tags/v1/tag-trees/1/tag-tree-items/"), call.api.get("/customer/v2/ai/categories/")
    )
    for item in [*items, *own]:
        if item["systemName"] == name:
            return read_category(item)
    raise ToolError("errors.no_category")


def _show(call: ToolCall, change: msgspec.Struct, found: dict[str, Any], category: Category) -> Preview:
    return Preview(
        handle=call.handles.seal(change),
        count=found["anzahl"],
        total=found["summe"],
        category=category,
        examples=list(map(read_transaction, found["beispiele"][:MAX_EXAMPLES])),
        next_step=call.texts("changes.next_step"),
    )
