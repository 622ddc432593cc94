"""Tags of transactions, and the state of tagging per user."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kontor.domain.tags import TagSource, TransactionTags
from kontor.domain.transactions import Transaction
from kontor.storage.data_versions import increment_version, lock_data, take_version
from kontor.storage.database import TURN_ROWS, Connection, execute_statement, fetch_row, fetch_rows, stream_rows
from kontor.storage.lock_order import Lock, note_lock
from kontor.storage.row_documents import split_columns, write_document
from kontor.storage.transactions import FIELDS

TAGS = (
    "category, insurance_type, partner, freelancer_category, category_confidence, insurance_confidence,"
    " partner_confidence, freelancer_confidence, source, rule_id, own_category, learnt_from"
)
TAG_COLUMNS = ", ".join(f"g.{name}" for name in TAGS.split(", "))
ROW_COLUMNS = ", ".join(f"t.{name}" for name in FIELDS.split(", "))
TAGS_FROM = 2 + len(FIELDS.split(", "))  # behind product, id and the fields of a transaction
VERSIONS = "category_version, insurance_version, partner_version, freelancer_version, own_category_version"
NEW_COLUMNS = """
    transaction_ids uuid[], product_id uuid, category text, insurance_type text, partner text, freelancer_category text,
    category_confidence real, insurance_confidence real, partner_confidence real, freelancer_confidence real,
    source text, rule_id uuid, own_category text, learnt_from uuid
"""
NEW_NAMES = split_columns(NEW_COLUMNS)
NEW_LIST = ", ".join(NEW_NAMES[1:])
NEW_VALUES = ", ".join(f"new.{name}" for name in NEW_NAMES[1:])
# With the user's data version for the same reason as in `transactions.INSERT`. Many transactions have the same tags,
# which are sent once with the ids of all.
INSERT_TAGS = f"""
    insert into transaction_tags (user_id, tagger_version, {VERSIONS}, transaction_id, {NEW_LIST})
    select d.user_id, $2, $3, $3, $3, $3, $3, unnest(new.transaction_ids), {NEW_VALUES}
    from data_versions d, json_to_recordset($4::json) as new ({NEW_COLUMNS}) where d.user_id = $1
"""


@dataclass(frozen=True, slots=True)
class TaggedRow:
    """A stored transaction; `tags` is None where it has none, or is to be read anew (`is_forgotten`)."""

    product_id: UUID
    id: UUID
    transaction: Transaction
    tags: TransactionTags | None = None
    is_forgotten: bool = False


def _tags(values: Sequence[Any]) -> TransactionTags | None:
    return (
        None
        if values[0] is None
        else TransactionTags(*[*values[:8], TagSource(values[8]), values[9], values[10] or "", values[11]])
    )


def make_row(values: Sequence[Any]) -> TaggedRow:
    return TaggedRow(values[0], values[1], Transaction(*values[2:TAGS_FROM]), _tags(values[TAGS_FROM:]))


# Tagging

# A full join is never done row against row. Statistics that do not know the user yet (10,000 rows, just stored) would
# have a left join compare every pair, for minutes. There are no tags without a transaction, so both find the same.
UNTAGGED = f"""
    select t.product_id, t.id, {ROW_COLUMNS}, g.transaction_id is not null
    from (select * from transactions where user_id = %s and (created_version < %s) is not false) t
        full join (select product_id, transaction_id, is_forgotten from transaction_tags where user_id = %s) g
        on g.product_id = t.product_id and g.transaction_id = t.id
    where g.transaction_id is null or g.is_forgotten
"""
# For the same reason, elsewhere each row looks up its other half by the whole key.
OUTDATED = f"""
    select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS}
    from transaction_tags g join lateral (
        select * from transactions
        where user_id = %(user)s and product_id = g.product_id and id = g.transaction_id limit 1
    ) t on true
    where g.user_id = %(user)s and g.tagger_version <> %(version)s
    limit %(limit)s for update of g
"""


THEIR_TAGS = (
    "left join lateral (select * from transaction_tags where user_id = %(user)s and product_id = t.product_id"
    " and transaction_id = t.id limit 1) g on true"
)
THEIR_TAGS_NUMBERED = THEIR_TAGS.replace("%(user)s", "$1")


async def list_untagged(connection: Connection, user_id: UUID, before: int | None = None) -> list[TaggedRow]:
    """Of all that is stored, or of what was stored before this version."""
    cursor = await connection.execute(UNTAGGED, [user_id, before, user_id])
    return [
        TaggedRow(row[0], row[1], Transaction(*row[2:TAGS_FROM]), is_forgotten=row[TAGS_FROM])
        async for row in stream_rows(cursor)
    ]


async def list_outdated(connection: Connection, user_id: UUID, version: str, limit: int) -> list[TaggedRow]:
    """Rows that another version of the tagger has tagged."""
    cursor = await connection.execute(OUTDATED, {"user": user_id, "version": version, "limit": limit})
    return [make_row(row) for row in await cursor.fetchall()]


async def insert_tags(
    connection: Connection, user_id: UUID, version: str, tagged: Sequence[tuple[TaggedRow, TransactionTags]]
) -> None:
    """Tags of new rows, and of those that `list_untagged` found; the caller holds the user's tagging state."""
    note_lock(Lock.DATA_VERSION, user_id)
    if not tagged:
        return
    taken = await take_version(connection, user_id)
    new = [(row, tags) for row, tags in tagged if not row.is_forgotten]
    for first in range(0, len(new), TURN_ROWS):  # others have their turn in between
        # Tags that are the same are mostly one object, and equal ones may be sent apart.
        alike: dict[tuple[UUID, int], tuple[TransactionTags, list[UUID]]] = {}
        for row, tags in new[first : first + TURN_ROWS]:
            alike.setdefault((row.product_id, id(tags)), (tags, []))[1].append(row.id)
        values = [(ids, product_id, *make_values(tags)) for (product_id, _), (tags, ids) in alike.items()]
        await execute_statement(connection, INSERT_TAGS, [user_id, version, taken, write_document(NEW_NAMES, values)])
    await update_tags(connection, user_id, version, [(row, tags) for row, tags in tagged if row.is_forgotten])
    await increment_version(connection, user_id)


UPDATE_TAGS = """
    update transaction_tags g set category = n.category, insurance_type = n.insurance_type, partner = n.partner,
        freelancer_category = n.freelancer_category, category_confidence = n.category_confidence,
        insurance_confidence = n.insurance_confidence, partner_confidence = n.partner_confidence,
        freelancer_confidence = n.freelancer_confidence, source = n.source, rule_id = n.rule_id,
        own_category = n.own_category, learnt_from = n.learnt_from, is_forgotten = false,
        category_version = case when (g.category, g.category_confidence)
            is distinct from (n.category, n.category_confidence) then %s else g.category_version end,
        insurance_version = case when (g.insurance_type, g.insurance_confidence)
            is distinct from (n.insurance_type, n.insurance_confidence) then %s else g.insurance_version end,
        partner_version = case when (g.partner, g.partner_confidence)
            is distinct from (n.partner, n.partner_confidence) then %s else g.partner_version end,
        freelancer_version = case when (g.freelancer_category, g.freelancer_confidence)
            is distinct from (n.freelancer_category, n.freelancer_confidence) then %s else g.freelancer_version end,
        own_category_version = case when g.own_category is distinct from n.own_category then %s
            else g.own_category_version end,
        tagger_version = %s
    from unnest(%s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::text[], %s::text[], %s::real[], %s::real[],
        %s::real[], %s::real[], %s::text[], %s::uuid[], %s::text[], %s::uuid[]) as n (product_id, transaction_id,
        category, insurance_type, partner, freelancer_category, category_confidence, insurance_confidence,
        partner_confidence, freelancer_confidence, source, rule_id, own_category, learnt_from)
    where g.user_id = %s and g.product_id = n.product_id and g.transaction_id = n.transaction_id
"""


async def update_tags(
    connection: Connection, user_id: UUID, version: str, tagged: Sequence[tuple[TaggedRow, TransactionTags]]
) -> None:
    note_lock(Lock.DATA_VERSION, user_id)
    if not tagged:
        return
    values = [(row.product_id, row.id, *make_values(tags)) for row, tags in tagged]
    columns = [list(column) for column in zip(*values, strict=True)]
    versions = [await take_version(connection, user_id)] * len(VERSIONS.split(", "))
    cursor = await connection.execute(UPDATE_TAGS, [*versions, version, *columns, user_id])
    if cursor.rowcount:
        await increment_version(connection, user_id)


def make_values(tags: TransactionTags) -> tuple[object, ...]:
    """Of the columns of `TAGS`."""
    return (
        tags.category,
        tags.insurance_type,
        tags.partner,
        tags.freelancer_category,
        tags.category_confidence,
        tags.insurance_confidence,
        tags.partner_confidence,
        tags.freelancer_confidence,
        str(tags.source),
        tags.rule_id,
        tags.own_category or None,
        tags.learnt_from,
    )


async def forget_tags(connection: Connection, user_id: UUID, product_id: UUID, ids: Sequence[UUID]) -> None:
    """Bookings whose words have changed are read anew; what the user said about them stays.

    The rows are marked, and tagged again in the same transaction: only then it is known whether tags are others.
    """
    note_lock(Lock.DATA_VERSION, user_id)
    cursor = await connection.execute(
        "update transaction_tags set is_forgotten = true"
        " where user_id = %s and product_id = %s and transaction_id = any(%s)"
        " and source <> 'USER'",
        [user_id, product_id, list(ids)],
    )
    if cursor.rowcount:
        await increment_version(connection, user_id)


async def forget_own_transfers(
    connection: Connection, user_id: UUID, ibans: Sequence[str], holders: Sequence[str]
) -> None:
    """Tags that depend on which accounts are the user's own: of bookings with these IBANs or holders.

    The bookings are found first. A join with the tags may have a plan that compares each row with each, as long as the
    statistics do not know that the user has many.
    """
    note_lock(Lock.DATA_VERSION, user_id)
    cursor = await connection.execute(
        "select product_id, array_agg(id) from transactions where user_id = %s and"
        " (replace(counterparty_iban, ' ', '') = any(%s) or lower(counterparty_name) = any(%s)) group by product_id",
        [user_id, list(ibans), [holder.lower() for holder in holders]],
    )
    for product_id, ids in await cursor.fetchall():
        cursor = await connection.execute(
            "update transaction_tags set is_forgotten = true"
            " where user_id = %s and product_id = %s and transaction_id = any(%s) and source = 'TAGGER'",
            [user_id, product_id, ids],
        )
        if cursor.rowcount:
            await increment_version(connection, user_id)


# State


@dataclass(frozen=True, slots=True)
class TaggingState:
    tagger_version: str
    own_ibans: tuple[str, ...]
    own_holders: tuple[str, ...]
    is_stale: bool = False


FIND_VERSION = "select tagger_version from tagging_states where user_id = $1 and not is_stale"


async def find_version(connection: Connection, user_id: UUID) -> str | None:
    """By which version the user's transactions are tagged; None when they are not, or not as they should be."""
    row = await fetch_row(connection, FIND_VERSION, [user_id])
    return None if row is None else row[0]


READ_STATE = "select tagger_version, own_ibans, own_holders, is_stale from tagging_states where user_id = $1"


async def lock_state(connection: Connection, user_id: UUID, version: str) -> TaggingState:
    """One tags a user's transactions at a time. `version` is for a user who has no state yet."""
    await lock_data(connection, user_id)
    row = await fetch_row(connection, READ_STATE, [user_id])
    if row is None:
        await connection.execute(
            "insert into tagging_states (user_id, tagger_version) values (%s, %s) on conflict do nothing",
            [user_id, version],
        )
        row = await fetch_row(connection, READ_STATE, [user_id])
    assert row is not None
    return TaggingState(row[0], tuple(row[1]), tuple(row[2]), row[3])


async def store_state(connection: Connection, user_id: UUID, state: TaggingState) -> None:
    note_lock(Lock.DATA_VERSION, user_id)
    await connection.execute(
        "update tagging_states set tagger_version = %s, own_ibans = %s, own_holders = %s, is_stale = false"
        " where user_id = %s",
        [state.tagger_version, list(state.own_ibans), list(state.own_holders), user_id],
    )


async def forget_own_accounts(connection: Connection, user_id: UUID) -> None:
    """Accounts of the user are gone: no copy of their IBANs and holders stays.

    Whoever reads next sees to the tags that depended on them, and notes the accounts that are left.
    """
    await lock_data(connection, user_id)
    row = await fetch_row(connection, READ_STATE, [user_id])
    if row is None:
        return
    await forget_own_transfers(connection, user_id, row[1], row[2])
    await connection.execute(
        "update tagging_states set own_ibans = '{}', own_holders = '{}', is_stale = true where user_id = %s", [user_id]
    )


# The version that a user's tags should have: the tagger's, and that of the tenant's rules where there have been any.
WANTED_VERSION = "%(version)s || case when t.rules_version = 0 then '' else '+' || t.rules_version end"
STATES = "all_tagging_states s join users u on u.id = s.user_id join tenants t on t.id = u.tenant_id"


async def find_wanted_version(connection: Connection, user_id: UUID, version: str) -> str:
    cursor = await connection.execute(
        f"select {WANTED_VERSION} from users u join tenants t on t.id = u.tenant_id where u.id = %(user)s",
        {"version": version, "user": user_id},
    )
    row = await cursor.fetchone()
    return version if row is None else row[0]


async def list_outdated_users(
    connection: Connection, version: str, limit: int, after: UUID | None, tenant_id: UUID | None
) -> list[UUID]:
    """Users whose transactions another version has tagged, in the order of their ids; of one tenant or of all."""
    cursor = await connection.execute(
        f"select s.user_id from {STATES} where s.tagger_version <> {WANTED_VERSION}"
        " and (u.tenant_id = %(tenant)s or %(tenant)s::uuid is null)"
        " and (s.user_id > %(after)s or %(after)s::uuid is null) order by s.user_id limit %(limit)s",
        {"version": version, "after": after, "limit": limit, "tenant": tenant_id},
    )
    return [row[0] for row in await cursor.fetchall()]


async def count_users(connection: Connection, version: str) -> tuple[int, int]:
    """How many users are tagged by this version, and how many at all."""
    cursor = await connection.execute(
        f"select count(*) filter (where s.tagger_version = {WANTED_VERSION}), count(*) from {STATES}",
        {"version": version},
    )
    row = await cursor.fetchone()
    assert row is not None
    return row[0], row[1]


# What users say


async def list_tagged(connection: Connection, user_id: UUID, product_id: UUID, ids: Sequence[UUID]) -> list[TaggedRow]:
    cursor = await connection.execute(
        f"select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS} from transactions t {THEIR_TAGS}"
        " where t.user_id = %(user)s and t.product_id = %(product)s and t.id = any(%(ids)s)",
        {"user": user_id, "product": product_id, "ids": list(ids)},
    )
    return [make_row(row) for row in await cursor.fetchall()]


# Found by an index of its own. The version is that of the correction, so that the latest come first.
CORRECTIONS = f"""
    select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS}
    from (
        select * from transaction_tags where user_id = %(user)s and source = 'USER'
            and (select t.learns_from_corrections from users u join tenants t on t.id = u.tenant_id
                where u.id = %(user)s)
        order by category_version desc, transaction_id limit %(limit)s
    ) g join lateral (
        select * from transactions
        where user_id = %(user)s and product_id = g.product_id and id = g.transaction_id limit 1
    ) t on true
    order by g.category_version desc, g.transaction_id
"""


async def list_corrections(connection: Connection, user_id: UUID, limit: int) -> list[TaggedRow]:
    """The latest transactions whose category the user has set; none where the tenant wants nothing to be learnt."""
    cursor = await connection.execute(CORRECTIONS, {"user": user_id, "limit": limit})
    return [make_row(row) for row in await cursor.fetchall()]


TAGGED_ROWS = f"""
    select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS} from transactions t {THEIR_TAGS_NUMBERED}
    where t.user_id = $1 and case when t.id in (select unnest($2::uuid[])) then true else false end
"""


async def list_tagged_rows(connection: Connection, user_id: UUID, ids: Sequence[UUID]) -> list[TaggedRow]:
    """Transactions of several products."""
    return [make_row(row) for row in await fetch_rows(connection, TAGGED_ROWS, [user_id, list(ids)], binary=True)]


CORRECTED = """
    select transaction_id::text from transaction_tags where user_id = $1 and product_id = any($2) and source = 'USER'
"""


async def list_corrected(connection: Connection, user_id: UUID, product_ids: Sequence[UUID]) -> list[str]:
    """Ids of the transactions of these products whose category the user has set."""
    return [row[0] for row in await fetch_rows(connection, CORRECTED, [user_id, list(product_ids)])]


async def find_tagged(
    connection: Connection, user_id: UUID, product_id: UUID, transaction_id: UUID
) -> TaggedRow | None:
    rows = await list_tagged(connection, user_id, product_id, [transaction_id])
    return rows[0] if rows else None


async def list_of_counterparty(connection: Connection, user_id: UUID, like: Transaction) -> list[TaggedRow]:
    """Tagged bookings with the same counterparty, by name and IBAN, on any of the user's accounts."""
    cursor = await connection.execute(
        f"select t.product_id, t.id, {ROW_COLUMNS}, {TAG_COLUMNS} from transactions t {THEIR_TAGS}"
        " where t.user_id = %(user)s and g.category is not null"
        " and coalesce(lower(t.counterparty_name), '') = coalesce(lower(%(name)s), '')"
        " and coalesce(t.counterparty_iban, '') = coalesce(%(iban)s, '')",
        {"user": user_id, "name": like.counterparty_name, "iban": like.counterparty_iban},
    )
    return [make_row(row) for row in await cursor.fetchall()]
