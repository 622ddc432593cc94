"""Tagging: every stored transaction gets its tags in the transaction that stores it; users' words win."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from uuid import UUID, uuid4

from kontor.analysis.tagging import NOBODY, Evidence, OwnAccounts, Tagging, derive_version
from kontor.analysis.trees import CATEGORIES, TREES
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.own_categories import OwnCategories, fits_basis, is_own_name, resolve_basis
from kontor.domain.principals import Principal, user_of
from kontor.domain.products import Product, ProductCategory
from kontor.domain.tagging_rules import MOST_RULES, RuleBook, RuledTransaction, TaggingRule, follow_categories
from kontor.domain.tags import (
    TagSource,
    TransactionTags,
    derive_insurance_type,
    fold_iban,
    fold_name,
)
from kontor.domain.transactions import Transaction
from kontor.services.compute import Compute, cut, explain_packed, pack, read_taggings, tag_packed
from kontor.services.security import auditing
from kontor.storage import own_categories, products, queue, tagging_rules, tags
from kontor.storage.database import TURN_ROWS, Connection, Database
from kontor.storage.retries import retry_conflicts
from kontor.storage.tags import TaggedRow, TaggingState

USERS_PER_STEP = 1000
RETAG_ROWS = 2000  # a step of retagging that a worker can lose without harm
_ITEMS = TREES[CATEGORIES].items
_PARENTS = {item.parent for item in _ITEMS.values()}
# Main categories without subcategories; the others without a parent are sums.
_ALONE = ("TAXES",)
_ASSIGNABLE = {name for name, item in _ITEMS.items() if name not in _PARENTS and (item.parent or name in _ALONE)}
SAVINGS = (ProductCategory.SAVINGS, ProductCategory.CALL_MONEY, ProductCategory.FIXED_TERM)


@dataclass(frozen=True, slots=True)
class PreparedTags:
    """What the tagger says about transactions of somebody with these accounts: found before a transaction is begun."""

    own: OwnAccounts = NOBODY
    taggings: Mapping[Transaction, Tagging] = field(default_factory=dict)


NOTHING_PREPARED = PreparedTags()


@dataclass(frozen=True, slots=True)
class Words:
    """What a user can say about transactions: rules, and the categories that the user can see."""

    rules: Sequence[TaggingRule]
    categories: OwnCategories


@dataclass(frozen=True, slots=True)
class CategoryChoice:
    """A category that somebody has chosen. `basis` is a category of our own tree."""

    basis: str
    own_category: str = ""


class TransactionTagging:
    def __init__(self, database: Database, compute: Compute) -> None:
        self._database = database
        self._compute = compute

    @property
    def version(self) -> str:
        """Of the tagger, which itself is loaded in compute processes only."""
        return _find_version()

    # As data comes and goes

    async def prepare(self, user_id: UUID, own: OwnAccounts, transactions: Iterable[Transaction]) -> PreparedTags:
        """Tag what is to be stored, before the database transaction that stores it."""
        taggings: dict[Transaction, Tagging] = {}
        for piece in cut(dict.fromkeys(transactions)):
            values = await self._compute.run(tag_packed, *pack(piece), own, owner=user_id)
            taggings.update(zip(piece, read_taggings(values), strict=True))
        return PreparedTags(own, taggings)

    async def retag_changed(
        self, connection: Connection, user_id: UUID, prepared: PreparedTags = NOTHING_PREPARED
    ) -> None:
        """Tag what has no tags, after transactions or accounts of the user have changed."""
        state = await tags.lock_state(connection, user_id, self.version)
        own = await read_own_accounts(connection, user_id)
        ibans, holders = tuple(sorted(own.ibans)), tuple(sorted(own.holders))
        changed_ibans = set(state.own_ibans) ^ set(ibans)
        changed_holders = set(state.own_holders) ^ set(holders)
        if changed_ibans or changed_holders:
            await tags.forget_own_transfers(connection, user_id, sorted(changed_ibans), sorted(changed_holders))
        if changed_ibans or changed_holders or state.is_stale:
            await tags.store_state(connection, user_id, TaggingState(state.tagger_version, ibans, holders))
        rows = await tags.list_untagged(connection, user_id)
        if rows:
            tagged = await self.decide(connection, user_id, rows, own, prepared)
            await tags.insert_tags(connection, user_id, self.version, tagged)

    async def decide(
        self,
        connection: Connection,
        user_id: UUID,
        rows: Sequence[TaggedRow],
        own: OwnAccounts,
        prepared: PreparedTags = NOTHING_PREPARED,
    ) -> list[tuple[TaggedRow, TransactionTags]]:
        """The tags that rows are to have: the user's word wins over rules, and those over the tagger."""
        words = await read_words(connection, user_id)
        book = RuleBook(words.rules)
        taggings = await self._tag(user_id, rows, own, prepared)
        decided = []
        for number, (row, tagging) in enumerate(zip(rows, taggings, strict=True)):
            if number % TURN_ROWS == 0:
                await asyncio.sleep(0)  # many rules and rows must not hold up others
            decided.append((row, _decide(row, make_tags(tagging), book, words.categories)))
        return decided

    async def _tag(
        self, user_id: UUID, rows: Sequence[TaggedRow], own: OwnAccounts, prepared: PreparedTags
    ) -> list[Tagging]:
        """What was prepared, as far as it still holds; the rest is tagged now."""
        known = prepared.taggings if prepared.own == own else {}
        missing = [row.transaction for row in rows if row.transaction not in known]
        taggings = (await self.prepare(user_id, own, missing)).taggings
        return [known.get(row.transaction) or taggings[row.transaction] for row in rows]

    async def ensure_tagged(self, principal: Principal) -> None:
        """Data that was stored before there were tags is tagged when it is first read."""
        await self.ensure_user_tagged(user_of(principal))

    @retry_conflicts
    async def ensure_user_tagged(self, user_id: UUID) -> None:
        async with self._database.connect() as connection:
            if await tags.find_version(connection, user_id) is not None:
                return
            own = await read_own_accounts(connection, user_id)
            rows = await tags.list_untagged(connection, user_id)
        prepared = await self.prepare(user_id, own, (row.transaction for row in rows))
        async with self._database.transaction() as connection:
            await self.retag_changed(connection, user_id, prepared)

    async def explain(self, principal: Principal, product_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """Why transactions have the tags they have. A user's word needs no reason beside it."""
        user_id = user_of(principal)
        async with self._database.connect() as connection:
            own = await read_own_accounts(connection, user_id)
            rows = await tags.list_tagged(connection, user_id, product_id, ids)
        explanations: dict[UUID, list[Evidence]] = {}
        tagged = []
        for row in rows:
            if row.tags is not None and row.tags.source is not TagSource.TAGGER:
                explanations[row.id] = [Evidence(row.tags.source.lower(), "", row.tags.category, 1.0)]
            else:
                tagged.append(row)
        for piece in cut(tagged):
            packed = pack([row.transaction for row in piece])
            reasons = await self._compute.run(explain_packed, *packed, own, owner=user_id)
            explanations.update({row.id: list(evidence) for row, evidence in zip(piece, reasons, strict=True)})
        return explanations

    # What users say

    async def require_transaction(self, principal: Principal, product_id: UUID, transaction_id: UUID) -> None:
        async with self._database.connect() as connection:
            if await tags.find_tagged(connection, user_of(principal), product_id, transaction_id) is None:
                raise NotFoundError

    async def correct(
        self,
        principal: Principal,
        access_id: str,
        product_id: UUID,
        transaction_id: UUID,
        category: str,
        *,
        changes_existing: bool,
        creates_rule: bool,
    ) -> None:
        user_id = user_of(principal)
        await self.ensure_tagged(principal)
        async with self._database.transaction() as connection:
            if not await products.has_product(connection, user_id, access_id, product_id):
                raise NotFoundError
            await tags.lock_state(connection, user_id, self.version)
            row = await tags.find_tagged(connection, user_id, product_id, transaction_id)
            if row is None or row.tags is None:
                raise NotFoundError
            choice = choose_category(category, "tags.systemName", await read_categories(connection, user_id))
            if not fits_basis(choice.basis, row.transaction.amount):
                raise InvalidError("this category does not fit the sign of the amount", "tags.systemName")
            rows = [row]
            if changes_existing and has_counterparty(row.transaction):
                same = await tags.list_of_counterparty(connection, user_id, row.transaction)
                rows += [
                    other for other in same if other.id != row.id and fits_basis(choice.basis, other.transaction.amount)
                ]
            await tags.update_tags(
                connection, user_id, self.version, [_correct(tagged_row, choice) for tagged_row in rows]
            )
            if creates_rule:
                await _add_rule(connection, user_id, row.transaction, choice)
            subject = f"user {principal.user_pseudonym} transaction {transaction_id}"
            actor = auditing.name_actor(principal)
            await auditing.record(connection, principal.tenant_id, actor, "transaction.categorize", subject)

    # A new version of the tagger

    @retry_conflicts
    async def retag_step(self, user_id: UUID) -> bool:
        """Some of a user's transactions, in a transaction of their own. True when there may be more.

        What the user has decided stays; the rest is decided anew, by rules and by the tagger.
        """
        version = self.version
        async with self._database.connect() as connection:
            own = await read_own_accounts(connection, user_id)
            rows = await tags.list_outdated(connection, user_id, version, RETAG_ROWS)
        prepared = await self.prepare(user_id, own, (row.transaction for row in rows))
        async with self._database.transaction() as connection:
            state = await tags.lock_state(connection, user_id, version)
            rows = await tags.list_outdated(connection, user_id, version, RETAG_ROWS)
            own = await read_own_accounts(connection, user_id)
            tagged = await self.decide(connection, user_id, rows, own, prepared)
            await tags.update_tags(connection, user_id, version, tagged)
            if len(rows) < RETAG_ROWS:
                await tags.store_state(connection, user_id, replace(state, tagger_version=version))
                return False
        return True

    async def start_retagging(self) -> int:
        """Queue every user whose tags another version made; returns how many. Safe to repeat at any time."""
        after, count = None, 0
        while True:
            async with self._database.transaction() as connection:
                user_ids = await tags.list_outdated_users(connection, self.version, USERS_PER_STEP, after)
                if not user_ids:
                    return count
                await queue.enqueue_retag(connection, user_ids)
            after, count = user_ids[-1], count + len(user_ids)

    async def count_users(self) -> tuple[int, int]:
        """How many users have tags of this version, and how many have tags at all."""
        async with self._database.connect() as connection:
            return await tags.count_users(connection, self.version)


@cache
def _find_version() -> str:
    return derive_version()


async def read_own_accounts(connection: Connection, user_id: UUID, coming: Iterable[Product] = ()) -> OwnAccounts:
    """With `coming`: as they will be when these products are stored too."""
    stored = [stored_product.product for stored_product in await products.list_products(connection, user_id)]
    return make_own_accounts((product.iban or "", product.holder, product.category) for product in (*stored, *coming))


def make_own_accounts(accounts: Iterable[tuple[str, str, ProductCategory]]) -> OwnAccounts:
    """From (IBAN, holder, category) of each account; what is not known is empty."""
    known = [(fold_iban(iban), holder, category) for iban, holder, category in accounts]
    ibans = frozenset(iban for iban, _, _ in known if iban)
    savings = frozenset(iban for iban, _, category in known if iban and category in SAVINGS)
    return OwnAccounts(ibans, savings, tuple(sorted({holder for _, holder, _ in known if holder})))


def make_tags(tagging: Tagging) -> TransactionTags:
    return TransactionTags(
        tagging.category,
        tagging.insurance_type,
        tagging.partner,
        tagging.freelancer_category,
        tagging.category_confidence,
        tagging.insurance_confidence,
        tagging.partner_confidence,
        tagging.freelancer_confidence,
    )


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
    if is_own_name(system_name) or system_name not in _ASSIGNABLE:
        raise InvalidError("is no category that a transaction can have", field)
    return CategoryChoice(system_name)


def has_counterparty(transaction: Transaction) -> bool:
    return bool(fold_iban(transaction.counterparty_iban) or fold_name(transaction.counterparty_name))


async def read_categories(connection: Connection, user_id: UUID) -> OwnCategories:
    found = await own_categories.list_categories(connection, user_id)
    return {category.system_name: category for category in found}


async def read_words(connection: Connection, user_id: UUID) -> Words:
    categories = await read_categories(connection, user_id)
    rules = await tagging_rules.list_rules(connection, user_id)
    return Words([follow_categories(rule, categories) for rule in rules], categories)


def check_rule_count(rules: Sequence[TaggingRule], field: str | None = None) -> None:
    if len(rules) >= MOST_RULES:
        raise InvalidError(f"a user can have at most {MOST_RULES} rules", field)


async def _add_rule(connection: Connection, user_id: UUID, transaction: Transaction, choice: CategoryChoice) -> None:
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


def _correct(row: TaggedRow, choice: CategoryChoice) -> tuple[TaggedRow, TransactionTags]:
    assert row.tags is not None
    category = resolve_basis(choice.basis, row.transaction.amount)
    return row, set_category(row.tags, category, TagSource.USER, own_category=choice.own_category)


def show_to_rules(row: TaggedRow, partner: str) -> RuledTransaction:
    """A row that an earlier program has decided by a rule counts as new: it is not known by which rule."""
    if row.tags is None or (row.tags.source is TagSource.RULE and row.tags.rule_id is None):
        return RuledTransaction(row.product_id, row.transaction, partner)
    return RuledTransaction(row.product_id, row.transaction, partner, is_settled=True, rule_id=row.tags.rule_id)


def _decide(row: TaggedRow, found: TransactionTags, book: RuleBook, known: OwnCategories) -> TransactionTags:
    """`found` is what the tagger says."""
    if row.tags is not None and row.tags.source is TagSource.USER:
        return _keep(row.tags, row.transaction, found, known)
    rule = book.find(show_to_rules(row, found.partner))
    if rule is None:
        return found
    category = resolve_basis(rule.category, row.transaction.amount)
    return set_category(found, category, TagSource.RULE, rule.id, rule.own_category)


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
