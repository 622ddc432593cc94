"""Transactions that are new, changed or gone since a version, in the order of versions (ADR 0047).

A change is found by what a reader knew at version `$2` and what it is to know at version `$3`. Both follow from
versions alone, so that later changes do not move a row from one page to another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from psycopg import sql

from kontor.domain.deltas import Change, ChangeKind, Progress
from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.storage.database import Connection, fetch_row, fetch_rows
from kontor.storage.json_rows import object_expression

STATE = "select version, followed_version, first_version, paired_version from data_versions where user_id = $1"
# The version of each tree's tags, by the column of the tag.
TAG_VERSIONS = {
    "category": "category_version",
    "insurance_type": "insurance_version",
    "partner": "partner_version",
    "freelancer_category": "freelancer_version",
    "own_category": "own_category_version",
    "period": "period_version",
}


@dataclass(frozen=True, slots=True)
class DeltaState:
    """The user's version, the first one from which all changes are known, and the one whose bookings are paired."""

    version: int = 0
    first_version: int = 0
    paired_version: int = 0


async def read_state(connection: Connection, user_id: UUID) -> DeltaState:
    row = await fetch_row(connection, STATE, [user_id])
    if row is None:
        return DeltaState()
    version, followed_version, first_version, paired_version = row
    # A program of an earlier version wrote last: what it changed is not known.
    return DeltaState(version, first_version if followed_version == version else version, paired_version)


# Placeholders: user, known version, wanted version, limit; then version, product and id of the last change; product.
LIVE = "select * from transactions where user_id = $1 and (changed_version >= $5{})"
# Looked up in a table that is made once. Joins may be done row against row while statistics do not know the user.
BY_TAG = " or id in (select transaction_id from transaction_tags where user_id = $1 and {} >= $5)"
BY_PAIR = (
    " or id in (select transaction_id from repeated_transactions where user_id = $1"
    " and flips[cardinality(flips)] >= $5)"
)
# Of a row that is new to the reader its tag does not matter: the first reading looks up none.
TAG_VERSION = (
    "case when t.created_version > $2 then t.changed_version else greatest(t.changed_version, (select {}"
    " from transaction_tags where user_id = $1 and product_id = t.product_id and transaction_id = t.id)) end"
)
THEIR_FLIPS = (
    " left join lateral (select flips from repeated_transactions where user_id = $1"
    " and product_id = t.product_id and transaction_id = t.id limit 1) r on true"
)
CHANGES = """
    select kind, version, product_id, id from (
        select product_id, id,
            case when not was_known and is_wanted and removed is null then 'NEW'
                when was_known and not is_wanted then 'REMOVED'
                when was_known and is_wanted and removed is null and changed > $2 and changed <= $3 then 'CHANGED'
            end as kind,
            case when not was_known then greatest(created, flipped)
                when is_wanted then changed
                when removed <= $3 then removed
                else flipped end as version
        from (
            select product_id, id, created, changed, removed, {flipped} as flipped,
                created <= $2 and coalesce(removed > $2, true) and {known_by_pair} as was_known,
                created <= $3 and coalesce(removed > $3, true) and {wanted_by_pair} as is_wanted
            from (
                select t.product_id, t.id, t.created_version as created, {changed} as changed,
                    null::bigint as removed, {flips} as flips
                from ({live}) t{pairs}
                union all
                select t.product_id, t.transaction_id, t.created_version, t.version, t.version, {flips}
                from (select *, transaction_id as id from removed_transactions
                    where user_id = $1 and version >= $5) t{pairs}
            ) candidates{of_product}
        ) states
    ) changes
    where kind is not null and (version, product_id, id) > ($5, $6, $7) order by version, product_id, id limit $4
"""
IS_SHOWN = "(select count(*) from unnest(flips) flip where flip <= {}) % 2 = 0"


@lru_cache(maxsize=32)
def _changes_query(tag_version: str | None, *, of_product: bool, is_paired: bool) -> str:
    touched: list[sql.Composable] = []
    changed: sql.Composable = sql.SQL("t.changed_version")
    if tag_version is not None:
        touched.append(sql.SQL(BY_TAG).format(sql.Identifier(tag_version)))
        changed = sql.SQL(TAG_VERSION).format(sql.Identifier(tag_version))
    if is_paired:
        touched.append(sql.SQL(BY_PAIR))
    return (
        sql.SQL(CHANGES)
        .format(
            live=sql.SQL(LIVE).format(sql.Composed(touched)),
            changed=changed,
            flips=sql.SQL("r.flips" if is_paired else "null::bigint[]"),
            flipped=sql.SQL(
                "(select max(flip) from unnest(flips) flip where flip <= $3)" if is_paired else "null::bigint"
            ),
            known_by_pair=sql.SQL(IS_SHOWN).format(sql.SQL("$2")) if is_paired else sql.SQL("true"),
            wanted_by_pair=sql.SQL(IS_SHOWN).format(sql.SQL("$3")) if is_paired else sql.SQL("true"),
            pairs=sql.SQL(THEIR_FLIPS if is_paired else ""),
            of_product=sql.SQL(" where product_id = $8" if of_product else ""),
        )
        .as_string()
    )


async def list_changes(
    connection: Connection,
    user_id: UUID,
    known_version: int,
    progress: Progress,
    limit: int,
    *,
    product_id: UUID | None,
    tag_column: str | None,
    is_paired: bool,
) -> list[Change]:
    """Changes after `known_version` and behind `progress`. A pair of repeated bookings is one where `is_paired`."""
    tag_version = None if tag_column is None else TAG_VERSIONS[tag_column]
    query = _changes_query(tag_version, of_product=product_id is not None, is_paired=is_paired)
    values = [user_id, known_version, progress.until, limit]
    values += [progress.version, progress.product_id, progress.transaction_id]
    rows = await fetch_rows(connection, query, values if product_id is None else [*values, product_id])
    return [Change(ChangeKind(row[0]), row[1], row[2], row[3]) for row in rows]


@lru_cache(maxsize=64)
def _rows_query(fields: tuple[JsonField, ...], columns: tuple[TagColumns, ...]) -> str:
    asked = [sql.SQL(", ") + sql.Identifier("g", name) for pair in columns for name in pair]
    tags = sql.SQL(
        " left join lateral (select * from transaction_tags where user_id = $1 and product_id = page.product"
        " and transaction_id = page.id limit 1) g on true"
    )
    return (
        sql.SQL(
            "select convert_to(page.shown, 'UTF8'), page.id{} from (select {} as shown, id, product_id as product"
            " from (select t.*, p.access_id from transactions t join products p"
            " on p.user_id = t.user_id and p.id = t.product_id"
            " where t.user_id = $1 and t.product_id = any($2) and t.id = any($3)) placed) page{}"
        )
        .format(sql.Composed(asked), object_expression(fields), tags if columns else sql.SQL(""))
        .as_string()
    )


async def read_rows(
    connection: Connection,
    user_id: UUID,
    changes: Sequence[Change],
    fields: tuple[JsonField, ...],
    columns: tuple[TagColumns, ...],
) -> list[TagRow]:
    """The transactions of these changes in their order: JSON object, id, tag columns."""
    product_ids = {change.product_id for change in changes}
    ids = [change.transaction_id for change in changes]
    rows = await fetch_rows(connection, _rows_query(fields, columns), [user_id, list(product_ids), ids], binary=True)
    found = {row[1]: row for row in rows}
    return [found[transaction_id] for transaction_id in ids]
