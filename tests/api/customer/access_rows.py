"""Stored rows of a user, for looking behind the scenes."""

TABLES = ("accesses", "products", "transactions", "positions", "push_batches", "fetches")


def count_rows(owner, reference):
    """How many rows each table has of a user."""
    return {
        table: owner.execute(f"select count(*) from {table} where user_id = %s", [reference]).fetchone()[0]
        for table in TABLES
    }


def stored(owner, customer, access_id, columns):
    return owner.execute(
        f"select {columns} from accesses where user_id = %s and id = %s", [customer.reference, access_id]
    ).fetchone()
