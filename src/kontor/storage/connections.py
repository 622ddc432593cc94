"""How every connection is made: to the server that takes writes, with limits, so that none hangs on a dead peer.

An address may name several hosts (`postgresql://a,b/kontor`). The first that takes writes is used, so that everybody
finds a promoted standby by connecting anew.
"""

import time
from typing import Any

import psycopg
from psycopg import AsyncConnection, OperationalError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from kontor.domain.secrets import Secret

# A dead peer or a forgotten transaction must not hold a connection for ever. A host that vanished without a word is
# noticed after 8 seconds and passed over after 5 more: together less than the 15 seconds a failover may take.
SESSION_OPTIONS: dict[str, Any] = {
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 8_000,
    "connect_timeout": 5,
    # The last one is for Citus, and means nothing elsewhere: its workers learn whose rows a transaction may see.
    "options": "-c statement_timeout=60s -c idle_in_transaction_session_timeout=60s -c timezone=UTC -c datestyle=ISO"
    " -c citus.propagate_set_commands=local",
}

# Somebody in a thread who needs the database for a moment waits so long for one that is just moving.
WAIT_TIMEOUT_SECONDS = 10
PAUSE_SECONDS = 0.3


def address_writer(url: Secret) -> str:
    """The address, completed: among several hosts only one that takes writes will do."""
    parts = conninfo_to_dict(url.reveal())
    hosts = str(parts.get("host") or parts.get("hostaddr") or "")
    if "," in hosts and "target_session_attrs" not in parts:
        parts["target_session_attrs"] = "read-write"
    return make_conninfo("", **parts)


def connect_blocking(
    url: Secret, *, autocommit: bool, patience_seconds: float = 0, options: dict[str, Any] | None = None
) -> psycopg.Connection[TupleRow]:
    """For threads and short commands. Only connecting is tried again: nothing is ever done twice."""
    address = address_writer(url)
    end = time.monotonic() + patience_seconds
    while True:
        try:
            return psycopg.connect(address, autocommit=autocommit, **SESSION_OPTIONS | (options or {}))
        except OperationalError:
            if time.monotonic() >= end:
                raise
            time.sleep(PAUSE_SECONDS)


async def connect_alone(url: Secret, application_name: str) -> AsyncConnection[TupleRow]:
    """A connection of its own beside the pool: for who listens, or keeps it."""
    return await AsyncConnection.connect(
        address_writer(url), autocommit=True, application_name=application_name, **SESSION_OPTIONS
    )


def is_read_only(connection: "AsyncConnection[Any] | psycopg.Connection[Any]") -> bool | None:
    """Has this server become one that only reads? PostgreSQL tells by itself; None when nothing was told."""
    told = [connection.pgconn.parameter_status(name) for name in (b"in_hot_standby", b"default_transaction_read_only")]
    if None in told:
        return None
    return b"on" in told
