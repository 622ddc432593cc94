"""Tagging: every stored transaction gets its tags in the transaction that stores it; users' words win."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from kontor.analysis.tagging import NOBODY, Evidence, OwnAccounts, Tagger, Tagging, load_tagger
from kontor.analysis.trees import CATEGORIES, TREES
from kontor.domain.cleaning import clean_text
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.products import ProductCategory
from kontor.domain.tags import (
    TaggingRule,
    TagSource,
    TransactionTags,
    fits_sign,
    fold_iban,
    fold_name,
    follow_category,
)
from kontor.domain.transactions import Transaction
from kontor.services import auditing
from kontor.services.accesses import user_of
from kontor.storage import products, queue, tags
from kontor.storage.database import Connection, Database
from kontor.storage.tags import TaggedRow, TaggingState

USERS_PER_STEP = 1000
RETAG_ROWS = 2000  # a step of retagging that a worker can lose without harm
_ITEMS = TREES[CATEGORIES].items
_PARENTS = {one.parent for one in _ITEMS.values()}
# Main categories without subcategories; the others without a parent are sums.
_ALONE = ("TAXES",)
_ASSIGNABLE = {name for name, one in _ITEMS.items() if name not in _PARENTS and (one.parent or name in _ALONE)}
SAVINGS = (ProductCategory.SAVINGS, ProductCategory.CALL_MONEY, ProductCategory.FIXED_TERM)


class TransactionTagging:
    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def tagger(self) -> Tagger:
        """Loaded when it is first needed: it takes about a second, and short commands do without."""
        return load_tagger()

    async def warm_up(self) -> None:
        """Load the tagger now, aside, so that nobody's request waits for it."""
        await asyncio.to_thread(load_tagger)

    # As data comes and goes

    async def follow(self, connection: Connection, user_id: UUID) -> None:
        """Tag what has no tags, after transactions or accounts of the user have changed."""
        state = await tags.lock_state(connection, user_id, self.tagger.version)
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
            rules = RuleBook(await tags.list_rules(connection, user_id))
            found = await asyncio.to_thread(self.tagger.tag, [one.transaction for one in rows], own)
            tagged = [(row, rules.apply(row.transaction, make_tags(one))) for row, one in zip(rows, found, strict=True)]
            await tags.insert_tags(connection, user_id, self.tagger.version, tagged)

    async def ensure_tagged(self, principal: Principal) -> None:
        """Data that was stored before there were tags is tagged when it is first read."""
        user_id = user_of(principal)
        async with self._database.connect() as connection:
            if await tags.find_version(connection, user_id) is not None:
                return
        async with self._database.transaction() as connection:
            await self.follow(connection, user_id)

    def tag_alone(self, transactions: Sequence[Transaction], own: OwnAccounts = NOBODY) -> list[TransactionTags]:
        """Tags of transactions that are nobody's here. Takes its time: call it in a thread."""
        return [make_tags(one) for one in self.tagger.tag(transactions, own)]

    async def explain(self, principal: Principal, product_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """Why transactions have the tags they have. A user's word needs no reason beside it."""
        user_id = user_of(principal)
        async with self._database.connect() as connection:
            own = await read_own_accounts(connection, user_id)
            rows = await tags.list_tagged(connection, user_id, product_id, ids)
        return {row.id: self._explain(row, own) for row in rows}

    def _explain(self, row: TaggedRow, own: OwnAccounts) -> list[Evidence]:
        if row.tags is not None and row.tags.source is not TagSource.TAGGER:
            return [Evidence(row.tags.source.lower(), "", row.tags.category, 1.0)]
        return list(self.tagger.explain(row.transaction, own)[1])

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
            await tags.lock_state(connection, user_id, self.tagger.version)
            row = await tags.find_tagged(connection, user_id, product_id, transaction_id)
            if row is None or row.tags is None:
                raise NotFoundError
            check_category(category, "tags.systemName")
            if not fits_sign(category, row.transaction.amount):
                raise InvalidError("this category does not fit the sign of the amount", "tags.systemName")
            rows = [row]
            if changes_existing and has_counterparty(row.transaction):
                same = await tags.list_of_counterparty(connection, user_id, row.transaction)
                rows += [one for one in same if one.id != row.id and fits_sign(category, one.transaction.amount)]
            await tags.update_tags(connection, user_id, self.tagger.version, [_correct(one, category) for one in rows])
            if creates_rule:
                await tags.upsert_rule(connection, user_id, _make_rule(row.transaction, category))
            subject = f"user {principal.user_pseudonym} transaction {transaction_id}"
            actor = auditing.name_actor(principal)
            await auditing.record(connection, principal.tenant_id, actor, "transaction.categorize", subject)

    async def list_rules(self, principal: Principal) -> list[TaggingRule]:
        async with self._database.connect() as connection:
            return await tags.list_rules(connection, user_of(principal))

    async def read_rule(self, principal: Principal, rule_id: UUID) -> TaggingRule:
        found = next((one for one in await self.list_rules(principal) if one.id == rule_id), None)
        if found is None:
            raise NotFoundError
        return found

    async def add_rule(self, principal: Principal, rule: TaggingRule) -> TaggingRule:
        """For transactions to come; a rule for the same counterparty is replaced."""
        check_category(rule.category, "tagTreeItem.systemName")
        iban, name = clean_text(rule.counterparty_iban), clean_text(rule.counterparty_name)
        rule = replace(rule, counterparty_iban=iban, counterparty_name=name)
        if not any(rule.keys):
            raise InvalidError("give counterpartyIban or counterpartyName", "counterpartyName")
        async with self._database.transaction() as connection:
            stored = await tags.upsert_rule(connection, user_of(principal), rule)
            await self._record(connection, principal, "tagging-rule.add", stored.id)
        return stored

    async def delete_rule(self, principal: Principal, rule_id: UUID) -> None:
        async with self._database.transaction() as connection:
            if not await tags.delete_rule(connection, user_of(principal), rule_id):
                raise NotFoundError
            await self._record(connection, principal, "tagging-rule.delete", rule_id)

    @staticmethod
    async def _record(connection: Connection, principal: Principal, action: str, rule_id: UUID) -> None:
        subject = f"user {principal.user_pseudonym} rule {rule_id}"
        await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), action, subject)

    # A new version of the tagger

    async def retag_step(self, user_id: UUID) -> bool:
        """Some of a user's transactions, in a transaction of their own. True when there may be more.

        What the user or a rule has decided stays; the rest is decided anew.
        """
        version = self.tagger.version
        async with self._database.transaction() as connection:
            state = await tags.lock_state(connection, user_id, version)
            rows = await tags.list_outdated(connection, user_id, version, RETAG_ROWS)
            own = await read_own_accounts(connection, user_id)
            found = await asyncio.to_thread(self.tagger.tag, [one.transaction for one in rows], own)
            await tags.update_tags(
                connection, user_id, version, [(row, _renew(row, one)) for row, one in zip(rows, found, strict=True)]
            )
            if len(rows) < RETAG_ROWS:
                await tags.store_state(connection, user_id, replace(state, tagger_version=version))
                return False
        return True

    async def start_retagging(self) -> int:
        """Queue every user whose tags another version made; returns how many. Safe to repeat at any time."""
        after, count = None, 0
        while True:
            async with self._database.transaction() as connection:
                found = await tags.list_outdated_users(connection, self.tagger.version, USERS_PER_STEP, after)
                if not found:
                    return count
                await queue.enqueue_retag(connection, found)
            after, count = found[-1], count + len(found)

    async def count_users(self) -> tuple[int, int]:
        """How many users have tags of this version, and how many have tags at all."""
        async with self._database.connect() as connection:
            return await tags.count_users(connection, self.tagger.version)


class RuleBook:
    """A user's rules, looked up by IBAN and name."""

    def __init__(self, rules: Sequence[TaggingRule]) -> None:
        self._rules = {rule.keys: rule for rule in rules}

    def apply(self, transaction: Transaction, found: TransactionTags) -> TransactionTags:
        """The most precise rule wins: IBAN and name, then the IBAN, then the name."""
        if not self._rules:
            return found
        iban, name = fold_iban(transaction.counterparty_iban), fold_name(transaction.counterparty_name)
        for keys in ((iban, name), (iban, ""), ("", name)):
            rule = self._rules.get(keys)
            if rule is not None and any(keys) and fits_sign(rule.category, transaction.amount):
                return set_category(found, rule.category, TagSource.RULE)
        return found


async def read_own_accounts(connection: Connection, user_id: UUID) -> OwnAccounts:
    stored = [one.product for one in await products.list_products(connection, user_id)]
    return make_own_accounts((one.iban or "", one.holder, one.category) for one in stored)


def make_own_accounts(accounts: Iterable[tuple[str, str, ProductCategory]]) -> OwnAccounts:
    """From (IBAN, holder, category) of each account; what is not known is empty."""
    known = [(fold_iban(iban), holder, category) for iban, holder, category in accounts]
    ibans = frozenset(iban for iban, _, _ in known if iban)
    savings = frozenset(iban for iban, _, category in known if iban and category in SAVINGS)
    return OwnAccounts(ibans, savings, tuple(sorted({holder for _, holder, _ in known if holder})))


def make_tags(found: Tagging) -> TransactionTags:
    return TransactionTags(
        found.category,
        found.insurance_type,
        found.partner,
        found.freelancer_category,
        found.category_confidence,
        found.insurance_confidence,
        found.partner_confidence,
        found.freelancer_confidence,
    )


def set_category(found: TransactionTags, category: str, source: TagSource) -> TransactionTags:
    """Somebody has decided: that is certain, and the insurance type follows."""
    insurance_type = follow_category(category, found.insurance_type)
    return replace(
        found,
        category=category,
        insurance_type=insurance_type,
        category_confidence=1.0,
        insurance_confidence=1.0,
        source=source,
    )


def check_category(category: str, field: str) -> None:
    """Only what a transaction can have: no main category that has subcategories, and no aggregate."""
    if category not in _ASSIGNABLE:
        raise InvalidError("is no category that a transaction can have", field)


def has_counterparty(transaction: Transaction) -> bool:
    return bool(fold_iban(transaction.counterparty_iban) or fold_name(transaction.counterparty_name))


def _make_rule(transaction: Transaction, category: str) -> TaggingRule:
    if not has_counterparty(transaction):
        raise InvalidError("a rule needs a counterparty, and this transaction names none", "createRule")
    return TaggingRule(uuid4(), category, transaction.counterparty_iban or "", transaction.counterparty_name or "")


def _correct(row: TaggedRow, category: str) -> tuple[TaggedRow, TransactionTags]:
    assert row.tags is not None
    return row, set_category(row.tags, category, TagSource.USER)


def _renew(row: TaggedRow, found: Tagging) -> TransactionTags:
    renewed = make_tags(found)
    if row.tags is None or row.tags.source is TagSource.TAGGER:
        return renewed
    kept = set_category(renewed, row.tags.category, row.tags.source)
    return replace(kept, insurance_type=row.tags.insurance_type)
