"""Bookings into a product: what a merge found is written down, and what changed loses the tags it had."""

from datetime import date
from uuid import UUID

from kontor.domain.merging import Merge
from kontor.storage import tags, transactions
from kontor.storage.database import Connection


async def write_merge(connection: Connection, user_id: UUID, product_id: UUID, merge: Merge, today: date) -> None:
    """In the caller's transaction; what has no tags afterwards is tagged by `TransactionTagging.follow`."""
    if merge.vanished:
        await transactions.delete_transactions(connection, user_id, product_id, merge.vanished)
    if merge.changed:
        await transactions.update_transactions(connection, user_id, product_id, merge.changed, today)
        await tags.forget_tags(connection, user_id, product_id, [one.id for one in merge.changed])
    if merge.new:
        await transactions.insert_transactions(connection, user_id, product_id, merge.new, today)
