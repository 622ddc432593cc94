"""Who decides the category of a transaction: the user, a rule of the user, a rule of the tenant, or the tagger."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from kontor.analysis.trees import CATEGORIES, TREES
from kontor.domain.annotations import Annotation
from kontor.domain.errors import InvalidError
from kontor.domain.own_categories import OwnCategories, fits_basis, is_own_name, resolve_basis
from kontor.domain.parts import Part
from kontor.domain.tagging_rules import MAX_RULES, RuleBook, RuledTransaction, TaggingRule, follow_categories
from kontor.domain.tags import TagSource, TransactionTags, derive_insurance_type, fits_sign, fold_iban, fold_name
from kontor.domain.transactions import Transaction
from kontor.storage import annotations, own_categories, tagging_rules, tenant_rules
from kontor.storage.database import Connection
from kontor.storage.tags import TaggedRow

_ITEMS = TREES[CATEGORIES].items
_PARENTS = {item.parent for item in _ITEMS.values()}
# Main categories without subcategories; the others without a parent are sums.
_ALONE = ("TAXES",)
ASSIGNABLE = {name: item for name, item in _ITEMS.items() if name not in _PARENTS and (item.parent or name in _ALONE)}


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of user and tenant for a user's transactions, and the own categories that the user can see."""

    rules: Sequence[TaggingRule]
    tenants_rules: Sequence[TaggingRule]
    categories: OwnCategories

    def make_book(self, rules: Sequence[TaggingRule] | None = None) -> RuleBook:
        """With these rules of the user instead of those that are stored, if they are given."""
        return RuleBook(self.rules if rules is None else rules, self.tenants_rules)


@dataclass(frozen=True, slots=True)
class CategoryChoice:
    """A category that somebody has chosen. `basis` is a category of our own tree."""

    basis: str
    own_category: str = ""


def has_counterparty(transaction: Transaction) -> bool:
    return bool(fold_iban(transaction.counterparty_iban) or fold_name(transaction.counterparty_name))


def set_category(
    transaction_tags: TransactionTags,
    category: str,
    source: TagSource,
    rule_id: UUID | None = None,
    own_category: str = "",
) -> TransactionTags:
    """Somebody has decided: that is certain, and the insurance type follows."""
    insurance_type = derive_insurance_type(category, transaction_tags.insurance_type)
    return replace(
        transaction_tags,
        category=category,
        insurance_type=insurance_type,
        category_confidence=1.0,
        insurance_confidence=1.0,
        source=source,
        rule_id=rule_id,
        own_category=own_category,
    )


def choose_category(system_name: str, field: str, known: OwnCategories) -> CategoryChoice:
    """Only what a transaction can have: no main category that has subcategories, and no aggregate."""
    if system_name in known:
        return CategoryChoice(known[system_name].basis, system_name)
    if is_own_name(system_name) or system_name not in ASSIGNABLE:
        raise InvalidError("is no category that a transaction can have", field)
    return CategoryChoice(system_name)


async def read_categories(connection: Connection, user_id: UUID) -> OwnCategories:
    """Of the user, then of the tenant."""
    found = await own_categories.list_categories(connection, user_id)
    found += await tenant_rules.list_users_categories(connection, user_id)
    return {category.system_name: category for category in found}


async def read_rule_set(connection: Connection, user_id: UUID) -> RuleSet:
    categories = await read_categories(connection, user_id)
    rules = await tagging_rules.list_rules(connection, user_id)
    tenants_rules = await tenant_rules.list_users_rules(connection, user_id)
    return RuleSet(
        [follow_categories(rule, categories) for rule in rules],
        [follow_categories(rule, categories) for rule in tenants_rules],
        categories,
    )


async def store_bases(connection: Connection, user_id: UUID) -> None:
    """The user's rules and parts of transactions note the basis of the tenant's categories as it is now."""
    categories = await read_categories(connection, user_id)
    await store_bases_of_parts(connection, user_id, categories)
    for rule in await tagging_rules.list_rules(connection, user_id):
        followed = follow_categories(rule, categories)
        if followed != rule:
            await tagging_rules.update_rule(connection, user_id, followed)


async def store_bases_of_parts(connection: Connection, user_id: UUID, categories: OwnCategories) -> None:
    """A part whose own category is gone, or no longer fits the sign, keeps its category."""
    for product_id, transaction_id, parts in await annotations.list_split_by_own(connection, user_id):
        followed = tuple(_follow_category(part, categories) for part in parts)
        if followed != tuple(parts):
            annotation = Annotation(parts=followed)
            await annotations.annotate(connection, user_id, [(product_id, transaction_id)], annotation)


def _follow_category(part: Part, categories: OwnCategories) -> Part:
    own = categories.get(part.own_category)
    if own is None or not fits_basis(own.basis, part.amount):
        return replace(part, own_category="")
    return replace(part, category=resolve_basis(own.basis, part.amount))


def check_rule_count(rules: Sequence[TaggingRule], field: str | None = None) -> None:
    if len(rules) >= MAX_RULES:
        raise InvalidError(f"a user can have at most {MAX_RULES} rules", field)


async def add_counterparty_rule(
    connection: Connection, user_id: UUID, transaction: Transaction, choice: CategoryChoice
) -> None:
    """For transactions to come of this counterparty; what earlier rules have decided stays."""
    if not has_counterparty(transaction):
        raise InvalidError("a rule needs a counterparty, and this transaction names none", "createRule")
    iban, name = transaction.counterparty_iban or "", transaction.counterparty_name or ""
    rule = TaggingRule(uuid4(), choice.basis, iban, name, is_for_all=False, own_category=choice.own_category)
    rules = await tagging_rules.list_rules(connection, user_id)
    same = [known for known in rules if known.is_active and known.keys == rule.keys and not known.conditions.count]
    if not same or (same[-1].category, same[-1].own_category) != (rule.category, rule.own_category):
        check_rule_count(rules, "createRule")
        await tagging_rules.insert_rule(connection, user_id, rule)


def correct_row(row: TaggedRow, choice: CategoryChoice) -> tuple[TaggedRow, TransactionTags]:
    assert row.tags is not None
    category = resolve_basis(choice.basis, row.transaction.amount)
    return row, set_category(row.tags, category, TagSource.USER, own_category=choice.own_category)


def show_to_rules(row: TaggedRow, partner: str) -> RuledTransaction:
    """A row that an earlier program has decided by a rule counts as new: it is not known by which rule."""
    if row.tags is None or (row.tags.source is TagSource.RULE and row.tags.rule_id is None):
        return RuledTransaction(row.product_id, row.transaction, partner)
    return RuledTransaction(row.product_id, row.transaction, partner, is_settled=True, rule_id=row.tags.rule_id)


def decide_row(row: TaggedRow, found: TransactionTags, book: RuleBook, known: OwnCategories) -> TransactionTags:
    """`found` is what the tagger says, and what it has learnt from corrections."""
    if row.tags is not None and row.tags.source is TagSource.USER:
        return _keep(row.tags, row.transaction, found, known)
    rule = book.find(show_to_rules(row, found.partner))
    if rule is None:
        return found
    category = resolve_basis(rule.category, row.transaction.amount)
    return set_category(found, category, TagSource.RULE, rule.id, rule.own_category)


def learn_category(
    row: TaggedRow, found: TransactionTags, corrected_row: TaggedRow, confidence: float
) -> TransactionTags:
    """The category of a corrected transaction for another one of the same kind."""
    said = corrected_row.tags
    if said is None or not fits_sign(said.category, row.transaction.amount):
        return found
    return replace(
        found,
        category=said.category,
        insurance_type=derive_insurance_type(said.category, found.insurance_type),
        category_confidence=confidence,
        insurance_confidence=confidence,
        own_category=said.own_category,
        learnt_from=corrected_row.id,
    )


def may_learn(row: TaggedRow) -> bool:
    """Corrections concern later transactions: those without tags, and those whose tags were learnt."""
    return row.tags is None or row.tags.learnt_from is not None


def _keep(
    said: TransactionTags, transaction: Transaction, found: TransactionTags, known: OwnCategories
) -> TransactionTags:
    """The user's word. An own category that is gone, or no longer fits the sign, leaves its basis behind."""
    own = known.get(said.own_category)
    if own is not None and fits_basis(own.basis, transaction.amount):
        category, own_category = resolve_basis(own.basis, transaction.amount), own.system_name
    else:
        category, own_category = said.category, ""
    kept = set_category(found, category, TagSource.USER, own_category=own_category)
    return replace(kept, insurance_type=derive_insurance_type(category, said.insurance_type))
