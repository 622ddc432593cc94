"""Tagging rules (AiConnectRule), and what a rule would decide."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kontor.analysis.trees import CATEGORIES, Tree
from kontor.domain.cleaning import clean_amount
from kontor.domain.errors import InvalidError
from kontor.domain.tagging_rules import RuleConditions as DomainConditions
from kontor.domain.tagging_rules import Sign, TaggingRule
from kontor.services.analyses import RulePreview as FoundPreview
from kontor.wire.encoding import encode_json
from kontor.wire.products import Amount
from kontor.wire.relations import Relation
from kontor.wire.tags import ItemInput, TagTreeItem, name_item, show_item
from kontor.wire.transactions import CustomerTransaction

Unsigned = Annotated[Decimal, Meta(description="without a sign, at most two decimals")]


class RuleConditions(msgspec.Struct, omit_defaults=True):
    """All that are given must hold."""

    text: (
        Annotated[str, Meta(max_length=256, description="words that all occur in name, purpose, booking text or IBAN")]
        | None
    ) = None
    partner: Annotated[str, Meta(max_length=256, description="system name of a business partner")] | None = None
    amountFrom: Unsigned | None = None  # noqa: N815
    amountTo: Unsigned | None = None  # noqa: N815
    sign: Literal["+", "-"] | None = None
    product: UUID | None = None

    def read(self) -> DomainConditions:
        return DomainConditions(
            text=self.text or "",
            partner=self.partner or "",
            amount_from=_read_amount(self.amountFrom, "conditions.amountFrom"),
            amount_to=_read_amount(self.amountTo, "conditions.amountTo"),
            sign=None if self.sign is None else Sign(self.sign),
            product_id=self.product,
        )


class AiConnectRule(msgspec.Struct):
    """`active`, `name` and `conditions` are there where somebody has set them."""

    id: str
    tagTreeItem: TagTreeItem  # noqa: N815
    counterpartyIban: str  # noqa: N815
    counterpartyName: str  # noqa: N815
    relations: list[Relation]
    conditions: RuleConditions | UnsetType = UNSET
    name: str | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class NewRule(msgspec.Struct):
    tagTreeItem: ItemInput  # noqa: N815
    counterpartyIban: Annotated[str, Meta(max_length=64)] | None = None  # noqa: N815
    counterpartyName: Annotated[str, Meta(max_length=256)] | None = None  # noqa: N815
    conditions: RuleConditions | None = None
    name: Annotated[str, Meta(max_length=100)] | None = None
    active: bool = True

    def read(self, rule_id: UUID, category: str) -> TaggingRule:
        return TaggingRule(
            id=rule_id,
            category=category,
            counterparty_iban=self.counterpartyIban or "",
            counterparty_name=self.counterpartyName or "",
            conditions=DomainConditions() if self.conditions is None else self.conditions.read(),
            name=self.name or "",
            is_active=self.active,
        )


class PreviewedRule(NewRule):
    id: Annotated[UUID, Meta(description="of the rule that would be changed to this")] | None = None


class RulePreview(msgspec.Struct):
    """Which transactions a rule would decide."""

    anzahl: int
    summe: Annotated[Amount, Meta(description="of those in euros")]
    beispiele: Annotated[list[CustomerTransaction], Meta(max_length=10, description="the newest")]


def show_rule(rule: TaggingRule, address: str, own_tree: Tree) -> AiConnectRule:
    own_item = own_tree.items.get(rule.own_category)
    shown = AiConnectRule(
        id=str(rule.id),
        tagTreeItem=show_item(*name_item(CATEGORIES, rule.category) if own_item is None else (own_tree, own_item)),
        counterpartyIban=rule.counterparty_iban,
        counterpartyName=rule.counterparty_name,
        relations=[Relation("self", address)],
        name=rule.name or UNSET,
    )
    if rule.conditions.count:
        shown.conditions = _show_conditions(rule.conditions)
    if not rule.is_active:
        shown.active = False
    return shown


def show_preview(found: FoundPreview) -> bytes:
    """The examples are JSON objects already."""
    examples = ",".join(found.examples)
    return encode_json({"anzahl": found.count, "summe": found.total})[:-1] + f',"beispiele":[{examples}]}}'.encode()


def _show_conditions(conditions: DomainConditions) -> RuleConditions:
    return RuleConditions(
        text=conditions.text or None,
        partner=conditions.partner or None,
        amountFrom=conditions.amount_from,
        amountTo=conditions.amount_to,
        sign=None if conditions.sign is None else conditions.sign.value,
        product=conditions.product_id,
    )


def _read_amount(amount: Decimal | None, field: str) -> Decimal | None:
    if amount is None:
        return None
    cleaned = clean_amount(amount)
    if cleaned is None or cleaned != amount or amount.is_signed():
        raise InvalidError("expected an amount without a sign, with at most two decimals", field)
    return cleaned
