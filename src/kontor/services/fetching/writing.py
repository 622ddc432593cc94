"""Writing what a bank said about an access into customer data, in the transaction of the caller."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID, uuid4

from kontor.connectors.base import Done, Fetched, Headers, Problem, ProblemKind
from kontor.domain.accesses import DATA_LIFETIME, Access, AccessStatus, Notice, make_product_id
from kontor.domain.cleaning import clean_position, clean_product, clean_standing_order
from kontor.domain.positions import Position
from kontor.domain.standing_orders import StandingOrder, StoredStandingOrder, match_orders
from kontor.domain.webhooks import NewTransactions
from kontor.services.analyses import TransactionTagging
from kontor.services.fetching.account_statements import write_statements
from kontor.services.fetching.bookings import write_plan
from kontor.services.fetching.merges import FetchedMerges, Merges
from kontor.services.fetching.notices import make_notices
from kontor.services.runtime import Clock
from kontor.services.security import UserEncryption
from kontor.storage import accesses, positions, products, standing_orders
from kontor.storage.database import Connection
from kontor.storage.tags import TaggedRow


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of the transactions of one product: how many are new or others, and what could not be stored."""

    counts: NewTransactions
    new: list[TaggedRow]
    is_changed: bool
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class WrittenFetch:
    """What became of a fetch: how many transactions are new per product, notices, and which products were told of."""

    counts: list[NewTransactions]
    notices: list[Notice]
    complete: list[UUID]
    seen: list[UUID]


class FetchWriting:
    def __init__(
        self, user_encryption: UserEncryption, clock: Clock, tagging: TransactionTagging, merges: Merges
    ) -> None:
        self._user_encryption = user_encryption
        self._clock = clock
        self._tagging = tagging
        self._merges = merges

    async def write_fetched(
        self,
        connection: Connection,
        user_id: UUID,
        access: Access,
        headers: Headers | None,
        step: Done,
        since: Mapping[str, date],
        prepared: FetchedMerges,
    ) -> WrittenFetch:
        """All but when the products were seen. `access` is as it was before."""
        result = step.result
        assert isinstance(result, Fetched), "a fetch was asked for"
        is_changed = access.status is not AccessStatus.COMPLETE
        if headers is not None:
            is_changed |= await self.write_headers(connection, user_id, access, headers)
        stored = await products.list_ids(connection, user_id, access.id)
        problems = [*result.problems, *_find_unknown_selection(access, stored.values())]
        counts: list[NewTransactions] = []
        new: list[TaggedRow] = []
        for key in result.transactions:
            if key in stored:
                written = await self._write_transactions(
                    connection, user_id, stored[key], key, prepared, since.get(key)
                )
                problems += written.problems
                counts.append(written.counts)
                new += written.new
                is_changed |= written.is_changed
        await self._write_positions(connection, user_id, stored, result.positions)
        await self._write_standing_orders(connection, user_id, stored, result.standing_orders)
        await write_statements(connection, self._user_encryption, user_id, access.id, stored, result.statements)
        told = [product.key for product in map(clean_product, headers.products)] if headers is not None else []
        complete = [stored[key] for key in (*result.transactions, *result.positions) if key in stored]
        seen = [stored[key] for key in told if key in stored]
        if is_changed:  # else there is nothing that tags could follow from
            await self._tagging.retag_changed(connection, user_id, prepared.tags, new)
        named = await products.list_names(connection, user_id, access.id) if problems else {}
        notices = make_notices(problems, named)
        await self._write_end(connection, user_id, access, step, notices)
        return WrittenFetch(counts, notices, complete, seen)

    async def write_headers(self, connection: Connection, user_id: UUID, access: Access, headers: Headers) -> bool:
        """Products of the bank that are selected. One that the bank no longer names keeps its history.

        True when there was anything to change.
        """
        is_changed = False
        named = [make_product_id(user_id, access.id, product.key) for product in map(clean_product, headers.products)]
        if access.known_products is None or not set(named) <= set(access.known_products):
            await accesses.add_known_products(connection, user_id, access.id, named)
        for number, product in enumerate(map(clean_product, headers.products)):
            product_id = named[number]
            if access.selected_products is None or product_id in access.selected_products:
                is_changed |= await products.upsert_product(connection, user_id, product_id, access.id, number, product)
        if access.selected_products is not None:
            is_changed |= await products.delete_other_products(connection, user_id, access.id, access.selected_products)
        # A fetch that tells no methods or media leaves those that a consent has stored.
        methods, media = headers.methods or access.methods, headers.media or access.media
        if (access.methods, access.media) != (tuple(methods), tuple(media)) or (
            access.active_method is None and headers.active_method is not None
        ):
            await accesses.store_sca_options(connection, user_id, access.id, methods, media, headers.active_method)
        return is_changed

    @staticmethod
    async def _write_positions(
        connection: Connection, user_id: UUID, stored: Mapping[str, UUID], fetched: Mapping[str, Sequence[Position]]
    ) -> None:
        for key, held in fetched.items():
            if key in stored:
                cleaned = [clean_position(position) for position in held]
                if cleaned != await positions.list_positions(connection, user_id, stored[key]):
                    await positions.replace_positions(connection, user_id, stored[key], cleaned)

    @staticmethod
    async def _write_standing_orders(
        connection: Connection,
        user_id: UUID,
        stored: Mapping[str, UUID],
        fetched: Mapping[str, Sequence[StandingOrder]],
    ) -> None:
        """As the bank lists them now. What it does not list any more stays, as ended."""
        for key, listed in fetched.items():
            if key not in stored:
                continue
            known = await standing_orders.list_orders(connection, user_id, stored[key])
            matched, new = match_orders(known, [clean_standing_order(order) for order in listed])
            for before, after in zip(known, matched, strict=True):
                if before != after:
                    await standing_orders.update_order(connection, user_id, after)
            for order in new:
                added = StoredStandingOrder(uuid4(), stored[key], order)
                await standing_orders.insert_order(connection, user_id, added)

    async def _write_transactions(
        self,
        connection: Connection,
        user_id: UUID,
        product_id: UUID,
        key: str,
        prepared: FetchedMerges,
        since: date | None,
    ) -> _Written:
        """What can be stored is; how many rows could not is a problem to be shown.

        A plan that was not prepared, or is out of date, is computed now.
        """
        delivered = prepared.rows[key]
        plan = prepared.plans.get(key)
        if plan is None:
            known = await self._merges.load(connection, user_id, product_id, delivered.first, delivered.spans, since)
            plan = await self._merges.plan_delivered(user_id, known, delivered)
        written = await write_plan(connection, user_id, product_id, plan, self._clock.today())
        merge, unreadable = plan.merge, delivered.unreadable
        problems = [Problem(ProblemKind.TRANSACTIONS, key, count=unreadable)] if unreadable else []
        counts = NewTransactions(product_id, len(merge.new), written.changed, len(merge.vanished))
        return _Written(counts, written.new, bool(merge.new or merge.changed or merge.vanished), problems)

    async def _write_end(
        self, connection: Connection, user_id: UUID, access: Access, step: Done, issues: Sequence[Notice]
    ) -> None:
        messages = [notice for notice in issues if notice.kind.is_for_the_user]
        connector_state = None
        if access.is_synced and step.connector_state is not None:
            connector_state = await self._user_encryption.seal(
                connection, user_id, access.id, "memory", step.connector_state
            )
        assert isinstance(step.result, Fetched), "a fetch was asked for"
        await accesses.store_success(
            connection,
            user_id,
            access.id,
            messages=messages,
            issues=issues,
            connector_state=connector_state,
            consent_until=step.result.consent_until,
            today=self._clock.today(),
            expires_at=None if access.is_synced else datetime.now(UTC) + DATA_LIFETIME,
        )
        if not access.is_synced:
            await accesses.forget_credentials(connection, user_id, access.id)


def _find_unknown_selection(access: Access, stored: Collection[UUID]) -> list[Problem]:
    """Products that were selected before the bank had named any, and that it does not name."""
    missing = [str(product_id) for product_id in access.selected_products or () if product_id not in stored]
    return [Problem(ProblemKind.PRODUCT, detail=f"Die Bank kennt kein solches Produkt: {id}") for id in missing]
