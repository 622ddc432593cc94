"""What a connection to a Citus cluster needs beyond one to a single server (ADR 0062).

Workers do not know the settings of our session, only those that a transaction sets with `set local`. So every look at
a customer's rows is a transaction there, and row-level security works on the workers as well.
"""

from uuid import UUID
from weakref import WeakSet

from psycopg.errors import ForeignKeyViolation

from kontor.storage.user_binding import Connection, bind_transaction

HAS_CITUS = "select to_regclass('pg_catalog.pg_dist_partition') is not null"
IS_DISTRIBUTED = "select exists (select 1 from pg_dist_partition where logicalrelid = to_regclass('data_versions'))"
HOLD_USER = "select 1 from users where id = %s for key share"

_clustered: "WeakSet[Connection]" = WeakSet()


async def find_cluster(connection: Connection) -> bool:
    """Are tables of customers distributed? A cluster without distributed tables is used like a single server."""
    for question in (HAS_CITUS, IS_DISTRIBUTED):
        cursor = await connection.execute(question)
        if await cursor.fetchone() != (True,):
            return False
    return True


def note_clustered(connection: Connection) -> None:
    _clustered.add(connection)


def is_clustered(connection: Connection) -> bool:
    return connection in _clustered


async def begin_bound(connection: Connection, user_id: UUID) -> None:
    await connection.execute("begin")
    await bind_transaction(connection, user_id)


async def hold_user(connection: Connection, user_id: UUID) -> bool:
    """Where no foreign key does it: the user is not erased before the end of the transaction. False when it was."""
    if not is_clustered(connection):
        return True
    cursor = await connection.execute(HOLD_USER, [user_id])
    return await cursor.fetchone() is not None


async def require_user(connection: Connection, user_id: UUID) -> None:
    """As `hold_user`; raises what a foreign key would raise when the user is gone."""
    if not await hold_user(connection, user_id):
        raise ForeignKeyViolation("the user was erased meanwhile")
