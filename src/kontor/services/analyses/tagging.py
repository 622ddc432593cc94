"""Tagging: every stored transaction gets its tags in the transaction that stores it; users' words win."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import attrgetter
from uuid import UUID

from kontor.analysis.tagging import NOBODY, Evidence, OwnAccounts, Tagging, derive_version, make_own_accounts
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.own_categories import fits_basis
from kontor.domain.principals import Principal, user_of
from kontor.domain.products import Product
from kontor.domain.tags import TAGGED_FIELDS, TagSource, TransactionTags
from kontor.domain.transactions import Transaction
from kontor.services.analyses.decisions import (
    add_counterparty_rule,
    choose_category,
    correct_row,
    decide_row,
    has_counterparty,
    learn_category,
    may_learn,
    read_categories,
    read_rule_set,
    store_bases,
)
from kontor.services.analyses.merchants import MerchantKnowledge
from kontor.services.compute import Compute, cut, explain_packed, learn_packed, pack, tag_packed
from kontor.services.security import auditing
from kontor.storage import products, queue, tags
from kontor.storage.data_versions import take_version
from kontor.storage.database import TURN_ROWS, Connection, Database
from kontor.storage.retries import retry_conflicts
from kontor.storage.tags import TaggedRow, TaggingState

USERS_PER_STEP = 1000
MAX_CORRECTIONS = 500  # the latest corrections of a user
RETAG_ROWS = 2000  # a step of retagging that a worker can lose without harm
_read_tagged = attrgetter(*TAGGED_FIELDS)


@dataclass(frozen=True, slots=True)
class PreparedTags:
    """What the tagger says about transactions of somebody with these accounts: found before a transaction is begun.

    By what it reads of a transaction.
    """

    own: OwnAccounts = NOBODY
    taggings: Mapping[Hashable, Tagging] = field(default_factory=dict)


NOTHING_PREPARED = PreparedTags()


class TransactionTagging:
    def __init__(self, database: Database, compute: Compute) -> None:
        self._database = database
        self._compute = compute
        self._merchants = MerchantKnowledge(compute)

    @property
    def version(self) -> str:
        """Of the tagger, which itself is loaded in compute processes only."""
        return _find_version()

    async def find_version(self, connection: Connection, user_id: UUID) -> str:
        """Of the tagger and of the tenant's rules. Read before the rules, tags are never older than their version."""
        return await tags.find_wanted_version(connection, user_id, self.version)

    async def lock(self, connection: Connection, user_id: UUID) -> None:
        """Before what a user says is changed: one changes it at a time."""
        await tags.lock_state(connection, user_id, await self.find_version(connection, user_id))

    # As data comes and goes

    async def prepare(self, user_id: UUID, own: OwnAccounts, transactions: Iterable[Transaction]) -> PreparedTags:
        """Tag what is to be stored, before the database transaction that stores it."""
        taggings: dict[Hashable, Tagging] = {}
        distinct = {_read_tagged(transaction): transaction for transaction in transactions}
        # The tagger decides alike ones once, if they come in one piece.
        for piece in cut(sorted(distinct.items(), key=_read_texts)):
            packed = pack([transaction for _, transaction in piece])
            found = await self._compute.run(tag_packed, *packed, own, owner=user_id)
            taggings.update(zip((read for read, _ in piece), found, strict=True))
        return PreparedTags(own, taggings)

    async def retag_changed(
        self,
        connection: Connection,
        user_id: UUID,
        prepared: PreparedTags = NOTHING_PREPARED,
        new: Sequence[TaggedRow] = (),
    ) -> None:
        """Tag what has no tags, after transactions or accounts of the user have changed.

        `new` are all rows that this transaction has inserted, so that they need not be read; or none of them.
        """
        version = await self.find_version(connection, user_id)
        state = await tags.lock_state(connection, user_id, version)
        own = await read_own_accounts(connection, user_id)
        ibans, holders = tuple(sorted(own.ibans)), tuple(sorted(own.holders))
        changed_ibans = set(state.own_ibans) ^ set(ibans)
        changed_holders = set(state.own_holders) ^ set(holders)
        if changed_ibans or changed_holders:
            await tags.forget_own_transfers(connection, user_id, sorted(changed_ibans), sorted(changed_holders))
        if changed_ibans or changed_holders or state.is_stale:
            await tags.store_state(connection, user_id, TaggingState(state.tagger_version, ibans, holders))
        before = await take_version(connection, user_id) if new else None
        rows = [*new, *await tags.list_untagged(connection, user_id, before)]
        if rows:
            tagged = await self.decide(connection, user_id, rows, own, prepared)
            await tags.insert_tags(connection, user_id, version, tagged)

    async def decide(
        self,
        connection: Connection,
        user_id: UUID,
        rows: Sequence[TaggedRow],
        own: OwnAccounts,
        prepared: PreparedTags = NOTHING_PREPARED,
    ) -> list[tuple[TaggedRow, TransactionTags]]:
        """The tags that rows are to have: the user's word wins over rules, and those over the tagger."""
        rule_set = await read_rule_set(connection, user_id)
        book = rule_set.make_book()
        taggings = await self._tag(user_id, rows, own, prepared)
        found = make_each_once(taggings)
        await self._merchants.apply(connection, user_id, rows, found, own)
        await self._learn(connection, user_id, rows, found, own)
        decided = []
        for number, (row, row_tags) in enumerate(zip(rows, found, strict=True)):
            if number % TURN_ROWS == 0:
                await asyncio.sleep(0)  # many rules and rows must not hold up others
            decided.append((row, decide_row(row, row_tags, book, rule_set.categories)))
        return decided

    async def _learn(
        self,
        connection: Connection,
        user_id: UUID,
        rows: Sequence[TaggedRow],
        found: list[TransactionTags],
        own: OwnAccounts,
    ) -> None:
        """Put what the user's corrections say in place of what the tagger and the tenant's merchants say."""
        places = [place for place, row in enumerate(rows) if may_learn(row)]
        corrected_rows = await tags.list_corrections(connection, user_id, MAX_CORRECTIONS) if places else []
        if not corrected_rows:
            return
        categories = [row.tags.own_category or row.tags.category for row in corrected_rows if row.tags is not None]
        [corrected] = pack([row.transaction for row in corrected_rows])
        for piece in cut(places):
            packed = pack([rows[place].transaction for place in piece])
            said = [found[place].category for place in piece]
            learnt = await self._compute.run(learn_packed, *packed, corrected, categories, own, said, owner=user_id)
            for place, lesson in zip(piece, learnt, strict=True):
                if lesson is not None:
                    corrected_row = corrected_rows[lesson.number]
                    found[place] = learn_category(rows[place], found[place], corrected_row, lesson.confidence)

    async def _tag(
        self, user_id: UUID, rows: Sequence[TaggedRow], own: OwnAccounts, prepared: PreparedTags
    ) -> list[Tagging]:
        """What was prepared, as far as it still holds; the rest is tagged now."""
        known = prepared.taggings if prepared.own == own else {}
        read = [_read_tagged(row.transaction) for row in rows]
        missing = [row.transaction for row, key in zip(rows, read, strict=True) if key not in known]
        taggings = (await self.prepare(user_id, own, missing)).taggings if missing else {}
        return [known.get(key) or taggings[key] for key in read]

    async def ensure_tagged(self, principal: Principal) -> None:
        """Data that was stored before there were tags is tagged when it is first read."""
        await self.ensure_user_tagged(user_of(principal))

    @retry_conflicts
    async def ensure_user_tagged(self, user_id: UUID) -> None:
        async with self._database.connect(user_id) as connection:
            if await tags.find_version(connection, user_id) is not None:
                return
            own = await read_own_accounts(connection, user_id)
            rows = await tags.list_untagged(connection, user_id)
        prepared = await self.prepare(user_id, own, (row.transaction for row in rows))
        async with self._database.transaction(user_id) as connection:
            await self.retag_changed(connection, user_id, prepared)

    async def explain(self, principal: Principal, product_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """Why transactions have the tags they have. A user's word needs no reason beside it."""
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            own = await read_own_accounts(connection, user_id)
            rows = await tags.list_tagged(connection, user_id, product_id, ids)
            explanations = await self._merchants.explain(connection, user_id, rows, own)
        tagged = []
        for row in rows:
            if row.tags is not None and row.tags.source is not TagSource.TAGGER:
                explanations[row.id] = [Evidence(row.tags.source.lower(), "", row.tags.category, 1.0)]
            elif row.tags is not None and row.tags.learnt_from is not None:
                learnt = str(row.tags.learnt_from), row.tags.category, row.tags.category_confidence
                explanations[row.id] = [Evidence("correction", *learnt)]
            elif row.id not in explanations:
                tagged.append(row)
        for piece in cut(tagged):
            packed = pack([row.transaction for row in piece])
            reasons = await self._compute.run(explain_packed, *packed, own, owner=user_id)
            explanations.update({row.id: list(evidence) for row, evidence in zip(piece, reasons, strict=True)})
        return explanations

    # What users say

    async def require_transaction(self, principal: Principal, product_id: UUID, transaction_id: UUID) -> None:
        async with self._database.connect(principal.user_id) as connection:
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
        also: Callable[[Connection, Sequence[TaggedRow], int], Awaitable[None]] | None = None,
    ) -> None:
        """`also` is done in the same transaction, with the rows before they are changed.

        Its number is that of further rows of the counterparty, which the category does not fit.
        """
        user_id = user_of(principal)
        await self.ensure_tagged(principal)
        async with self._database.transaction(principal.user_id) as connection:
            if not await products.has_product(connection, user_id, access_id, product_id):
                raise NotFoundError
            version = await self.find_version(connection, user_id)
            await tags.lock_state(connection, user_id, version)
            row = await tags.find_tagged(connection, user_id, product_id, transaction_id)
            if row is None or row.tags is None:
                raise NotFoundError
            choice = choose_category(category, "tags.systemName", await read_categories(connection, user_id))
            if not fits_basis(choice.basis, row.transaction.amount):
                raise InvalidError("this category does not fit the sign of the amount", "tags.systemName")
            rows, skipped = [row], 0
            if changes_existing and has_counterparty(row.transaction):
                same = await tags.list_of_counterparty(connection, user_id, row.transaction)
                rows += [
                    other for other in same if other.id != row.id and fits_basis(choice.basis, other.transaction.amount)
                ]
                skipped = len(same) - len(rows)
            if also is not None:
                await also(connection, rows, skipped)
            await tags.update_tags(
                connection, user_id, version, [correct_row(tagged_row, choice) for tagged_row in rows]
            )
            if creates_rule:
                await add_counterparty_rule(connection, user_id, row.transaction, choice)
            subject = f"user {principal.user_pseudonym} transaction {transaction_id}"
            actor = auditing.name_actor(principal)
            await auditing.record(connection, principal.tenant_id, actor, "transaction.categorize", subject)

    # A new version of the tagger

    @retry_conflicts
    async def retag_step(self, user_id: UUID) -> bool:
        """Some of a user's transactions, in a transaction of their own. True when there may be more.

        What the user has decided stays; the rest is decided anew, by rules and by the tagger.
        """
        async with self._database.connect(user_id) as connection:
            version = await self.find_version(connection, user_id)
            own = await read_own_accounts(connection, user_id)
            rows = await tags.list_outdated(connection, user_id, version, RETAG_ROWS)
        prepared = await self.prepare(user_id, own, (row.transaction for row in rows))
        async with self._database.transaction(user_id) as connection:
            version = await self.find_version(connection, user_id)
            state = await tags.lock_state(connection, user_id, version)
            await store_bases(connection, user_id)
            rows = await tags.list_outdated(connection, user_id, version, RETAG_ROWS)
            own = await read_own_accounts(connection, user_id)
            tagged = await self.decide(connection, user_id, rows, own, prepared)
            await tags.update_tags(connection, user_id, version, tagged)
            if len(rows) < RETAG_ROWS:
                await tags.store_state(connection, user_id, replace(state, tagger_version=version))
                return False
        return True

    async def start_retagging(self, tenant_id: UUID | None = None) -> int:
        """Queue every user whose tags another version made, of one tenant or of all; returns how many.

        Safe to repeat at any time.
        """
        count = 0
        user_ids = await self._queue_users(None, tenant_id)
        while user_ids:
            count += len(user_ids)
            user_ids = await self._queue_users(user_ids[-1], tenant_id)
        return count

    @retry_conflicts
    async def _queue_users(self, after: UUID | None, tenant_id: UUID | None) -> list[UUID]:
        """Some of those who are to be tagged anew, behind `after`."""
        async with self._database.transaction() as connection:
            user_ids = await tags.list_outdated_users(connection, self.version, USERS_PER_STEP, after, tenant_id)
            if user_ids:
                await queue.enqueue_retag(connection, user_ids)
        return user_ids

    async def count_users(self) -> tuple[int, int]:
        """How many users have tags of this version, and how many have tags at all."""
        async with self._database.connect() as connection:
            return await tags.count_users(connection, self.version)


def _read_texts(item: tuple[Hashable, Transaction]) -> tuple[str, str]:
    return item[1].counterparty_name or "", item[1].purpose or ""


@cache
def _find_version() -> str:
    return derive_version()


async def read_own_accounts(connection: Connection, user_id: UUID, coming: Iterable[Product] = ()) -> OwnAccounts:
    """With `coming`: as they will be when these products are stored too."""
    stored = [stored_product.product for stored_product in await products.list_products(connection, user_id)]
    return make_own_accounts((product.iban or "", product.holder, product.category) for product in (*stored, *coming))


def make_each_once(taggings: Sequence[Tagging]) -> list[TransactionTags]:
    """Equal tags are one object. Most taggings are one object too, and comparing these takes no time."""
    objects = {id(tagging): tagging for tagging in taggings}
    made: dict[Tagging, TransactionTags] = {}
    for tagging in objects.values():
        if tagging not in made:
            made[tagging] = make_tags(tagging)
    found = {number: made[tagging] for number, tagging in objects.items()}
    return [found[id(tagging)] for tagging in taggings]


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
