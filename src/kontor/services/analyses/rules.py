"""Users' tagging rules: a change of a rule changes at once what it has decided and what it decides now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from kontor.analysis.trees import BUSINESS_PARTNERS, TREES, find_item
from kontor.domain.cleaning import clean_text
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.json_fields import JsonField
from kontor.domain.own_categories import OwnCategories
from kontor.domain.principals import Principal, user_of
from kontor.domain.tagging_rules import RuleBook, TaggingRule, split_words
from kontor.domain.tags import TagSource
from kontor.services.analyses.decisions import (
    check_rule_count,
    choose_category,
    read_categories,
    read_rule_set,
    show_to_rules,
)
from kontor.services.analyses.tagging import PreparedTags, TransactionTagging, read_own_accounts
from kontor.services.security import auditing
from kontor.storage import products, tagging_rules, tags
from kontor.storage.database import Connection, Database
from kontor.storage.tags import TaggedRow

EXAMPLES = 10
CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class RulePreview:
    """What a rule would decide: how many transactions, their sum in euros, the newest as JSON objects."""

    count: int
    total: Decimal
    examples: list[str]


class TaggingRules:
    def __init__(self, database: Database, tagging: TransactionTagging) -> None:
        self._database = database
        self._tagging = tagging

    async def list_rules(self, principal: Principal) -> list[TaggingRule]:
        async with self._database.connect(principal.user_id) as connection:
            return list((await read_rule_set(connection, user_of(principal))).rules)

    async def read_rule(self, principal: Principal, rule_id: UUID) -> TaggingRule:
        return find_rule(await self.list_rules(principal), rule_id)

    async def add_rule(self, principal: Principal, rule: TaggingRule) -> TaggingRule:
        """For all transactions, stored and to come. A rule for the same counterparty is replaced."""
        user_id = user_of(principal)
        rule = await self._clean(user_id, rule)
        prepared = await self._prepare(principal, [], rule)
        async with self._database.transaction(principal.user_id) as connection:
            await self._tagging.lock(connection, user_id)
            await _check_product(connection, user_id, rule)
            rules = await tagging_rules.list_rules(connection, user_id)
            replaced = list_replaced(rules, rule)
            if replaced:
                rule = replace(rule, id=replaced[-1])
                await tagging_rules.delete_rules(connection, user_id, replaced[:-1])
                await tagging_rules.update_rule(connection, user_id, rule)
            else:
                check_rule_count(rules)
                await tagging_rules.insert_rule(connection, user_id, rule)
            await self._apply(connection, user_id, replaced, rule, prepared)
            await _record(connection, principal, "tagging-rule.add", rule.id)
        return rule

    async def change_rule(self, principal: Principal, rule: TaggingRule) -> None:
        """All of the rule with this id."""
        user_id = user_of(principal)
        rule = await self._clean(user_id, rule)
        prepared = await self._prepare(principal, [rule.id], rule)
        async with self._database.transaction(principal.user_id) as connection:
            await self._tagging.lock(connection, user_id)
            find_rule(await tagging_rules.list_rules(connection, user_id), rule.id)
            await _check_product(connection, user_id, rule)
            await tagging_rules.update_rule(connection, user_id, rule)
            await self._apply(connection, user_id, [rule.id], rule, prepared)
            await _record(connection, principal, "tagging-rule.change", rule.id)

    async def delete_rule(self, principal: Principal, rule_id: UUID) -> None:
        """What the rule has decided is decided anew."""
        await self.read_rule(principal, rule_id)
        await self._delete(principal, [rule_id], rule_id)

    async def delete_rules(self, principal: Principal) -> None:
        rule_ids = [rule.id for rule in await self.list_rules(principal)]
        if rule_ids:
            await self._delete(principal, rule_ids, None)

    async def _delete(self, principal: Principal, rule_ids: Sequence[UUID], named: UUID | None) -> None:
        user_id = user_of(principal)
        prepared = await self._prepare(principal, rule_ids, None)
        async with self._database.transaction(principal.user_id) as connection:
            await self._tagging.lock(connection, user_id)
            known = await tagging_rules.list_rules(connection, user_id)
            if named is not None:
                find_rule(known, named)
            await tagging_rules.delete_rules(connection, user_id, rule_ids)
            await self._apply(connection, user_id, rule_ids, None, prepared)
            await _record(connection, principal, "tagging-rule.delete", named)

    async def preview_rule(
        self, principal: Principal, rule: TaggingRule, fields: tuple[JsonField, ...], *, replaces: bool
    ) -> RulePreview:
        """What the rule would decide if it were stored; with `replaces`, in place of the rule with its id."""
        user_id = user_of(principal)
        rule = await self._clean(user_id, rule)
        await self._tagging.ensure_tagged(principal)
        async with self._database.connect(principal.user_id) as connection:
            rule_set = await read_rule_set(connection, user_id)
            rules = rule_set.rules
            if replaces:
                find_rule(rules, rule.id)
                rules = [rule if known.id == rule.id else known for known in rules]
            else:
                rules = _place_rule(rules, rule)
            await _check_product(connection, user_id, rule)
            book = rule_set.make_book(rules)
            rows = [
                row
                for row in await tagging_rules.list_affected(connection, user_id, [], rule)
                if _is_decided_by(rule, row, book)
            ]
            examples = await tagging_rules.list_examples(connection, user_id, rows, fields, EXAMPLES)
        total = sum((row.transaction.amount for row in rows if row.transaction.currency == CURRENCY), Decimal("0.00"))
        return RulePreview(len(rows), total, examples)

    async def _clean(self, user_id: UUID, rule: TaggingRule) -> TaggingRule:
        async with self._database.connect(user_id) as connection:
            return clean_rule(rule, await read_categories(connection, user_id))

    async def _prepare(self, principal: Principal, rule_ids: Sequence[UUID], rule: TaggingRule | None) -> PreparedTags:
        """What the tagger says about the transactions that a change affects, before anything is locked."""
        user_id = user_of(principal)
        await self._tagging.ensure_tagged(principal)
        async with self._database.connect(principal.user_id) as connection:
            own = await read_own_accounts(connection, user_id)
            rows = await list_affected(connection, user_id, rule_ids, rule)
        return await self._tagging.prepare(user_id, own, (row.transaction for row in rows))

    async def _apply(
        self,
        connection: Connection,
        user_id: UUID,
        rule_ids: Sequence[UUID],
        rule: TaggingRule | None,
        prepared: PreparedTags,
    ) -> None:
        version = await self._tagging.find_version(connection, user_id)
        rows = await list_affected(connection, user_id, rule_ids, rule)
        own = await read_own_accounts(connection, user_id)
        decided = await self._tagging.decide(connection, user_id, rows, own, prepared)
        changed = [(row, found) for row, found in decided if found != row.tags]
        await tags.update_tags(connection, user_id, version, changed)


def clean_rule(rule: TaggingRule, known: OwnCategories) -> TaggingRule:
    """As it can be stored. InvalidError for one that nothing could fit, or everything."""
    choice = choose_category(rule.category, "tagTreeItem.systemName", known)
    given = rule.conditions
    text = clean_text(given.text).strip()
    if text and not split_words(text):
        raise InvalidError("expected words of letters or digits", "conditions.text")
    partner = find_item(TREES[BUSINESS_PARTNERS], given.partner) if given.partner else None
    if given.partner and (partner is None or partner.system_name != given.partner):
        raise InvalidError("is no system name of a business partner", "conditions.partner")
    if given.amount_from is not None and given.amount_to is not None and given.amount_from > given.amount_to:
        raise InvalidError("is less than amountFrom", "conditions.amountTo")
    cleaned = replace(
        rule,
        category=choice.basis,
        own_category=choice.own_category,
        counterparty_iban=clean_text(rule.counterparty_iban),
        counterparty_name=clean_text(rule.counterparty_name),
        conditions=replace(given, text=text),
        name=clean_text(rule.name).strip(),
    )
    if not cleaned.count:
        raise InvalidError("give counterpartyIban, counterpartyName or a condition", "conditions")
    return cleaned


async def list_affected(
    connection: Connection, user_id: UUID, rule_ids: Sequence[UUID], rule: TaggingRule | None
) -> list[TaggedRow]:
    """What these rules have decided, and what `rule` fits; not what the user has decided."""
    searched = rule if rule is not None and rule.is_active else None
    rows = await tagging_rules.list_affected(connection, user_id, rule_ids, searched)
    if searched is None:
        return rows
    book = RuleBook([searched])
    return [row for row in rows if _was_ruled(row, rule_ids) or _is_decided_by(searched, row, book)]


def _was_ruled(row: TaggedRow, rule_ids: Sequence[UUID]) -> bool:
    """An earlier program did not note which rule it was."""
    assert row.tags is not None
    return row.tags.source is TagSource.RULE and (row.tags.rule_id is None or row.tags.rule_id in rule_ids)


def _is_decided_by(rule: TaggingRule, row: TaggedRow, book: RuleBook) -> bool:
    assert row.tags is not None
    found = book.find(show_to_rules(row, row.tags.partner))
    return found is not None and found.id == rule.id


def find_rule(rules: Sequence[TaggingRule], rule_id: UUID) -> TaggingRule:
    rule = next((rule for rule in rules if rule.id == rule_id), None)
    if rule is None:
        raise NotFoundError
    return rule


def list_replaced(rules: Sequence[TaggingRule], rule: TaggingRule) -> list[UUID]:
    """Ids of rules for the same counterparty, where both have no other condition; the newest last."""
    if rule.conditions.count:
        return []
    return [known.id for known in rules if known.keys == rule.keys and not known.conditions.count]


def _place_rule(rules: Sequence[TaggingRule], rule: TaggingRule) -> list[TaggingRule]:
    """The rules as they are after this one is added; its own id marks it."""
    replaced = list_replaced(rules, rule)
    if not replaced:
        return [*rules, rule]
    return [rule if known.id == replaced[-1] else known for known in rules if known.id not in replaced[:-1]]


async def _check_product(connection: Connection, user_id: UUID, rule: TaggingRule) -> None:
    product_id = rule.conditions.product_id
    if product_id is not None and not await products.is_product_of(connection, user_id, product_id):
        raise InvalidError("is no product of this user", "conditions.product")


async def _record(connection: Connection, principal: Principal, action: str, rule_id: UUID | None) -> None:
    subject = f"user {principal.user_pseudonym} " + ("all rules" if rule_id is None else f"rule {rule_id}")
    await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), action, subject)
