"""The ledger of connections to other hosts: nothing about customers."""

from collections.abc import Mapping
from datetime import date, timedelta

from kontor.domain.egress import KEPT_DAYS, EgressRow, PurposeTotal
from kontor.egress import Counts, Key
from kontor.storage.database import Connection

# Rows are locked in one order, so that two processes do not wait for each other.
ADD = """
    insert into egress_days as known
        (day, host, purpose, connections, failures, refused, bytes_sent, bytes_received)
    select * from unnest(%s::date[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[],
        %s::bigint[]) as counted (day, host, purpose, connections, failures, refused, bytes_sent, bytes_received)
    order by day, host, purpose
    on conflict (day, host, purpose) do update set
        connections = known.connections + excluded.connections, failures = known.failures + excluded.failures,
        refused = known.refused + excluded.refused, bytes_sent = known.bytes_sent + excluded.bytes_sent,
        bytes_received = known.bytes_received + excluded.bytes_received
"""


async def add_counts(connection: Connection, counted: Mapping[Key, Counts]) -> None:
    rows = [
        (key.day, key.host, str(key.purpose), counts.connections, counts.failures, counts.refused,
         counts.bytes_sent, counts.bytes_received)
        for key, counts in counted.items()
    ]  # fmt: skip
    await connection.execute(ADD, [list(column) for column in zip(*rows, strict=True)])


async def list_hosts(
    connection: Connection, since: date, until: date, after: tuple[str, str], limit: int
) -> list[EgressRow]:
    """Both days included, by host and purpose."""
    cursor = await connection.execute(
        "select host, purpose, sum(connections)::bigint, sum(failures)::bigint, sum(refused)::bigint,"
        " sum(bytes_sent)::bigint, sum(bytes_received)::bigint, min(day), max(day) from egress_days"
        ' where day between %s and %s and (host collate "C", purpose collate "C") > (%s, %s)'
        ' group by host, purpose order by host collate "C", purpose collate "C" limit %s',
        [since, until, *after, limit],
    )
    return [EgressRow(*row) for row in await cursor.fetchall()]


async def sum_purposes(connection: Connection, day: date) -> list[PurposeTotal]:
    cursor = await connection.execute(
        "select purpose, count(*), sum(connections)::bigint, sum(failures)::bigint, sum(refused)::bigint,"
        " sum(bytes_sent)::bigint, sum(bytes_received)::bigint from egress_days where day = %s"
        " group by purpose order by purpose",
        [day],
    )
    return [PurposeTotal(*row) for row in await cursor.fetchall()]


async def delete_old_days(connection: Connection, today: date) -> int:
    cursor = await connection.execute("delete from egress_days where day < %s", [today - timedelta(days=KEPT_DAYS)])
    return cursor.rowcount
