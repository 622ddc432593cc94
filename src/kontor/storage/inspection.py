"""What a database server and our role in it are like, for `kontor check`."""

from dataclasses import dataclass
from datetime import UTC, datetime

from kontor.domain.secrets import Secret
from kontor.storage.connections import connect_blocking

ROLE = """
    select current_user, current_setting('is_superuser') = 'on',
           coalesce((select relowner = (select oid from pg_roles where rolname = current_user)
                     from pg_class where oid = to_regclass('schema_migrations')), false)
"""


@dataclass(frozen=True, slots=True)
class Server:
    """`clock_seconds` is the least difference between the server's clock and ours."""

    major_version: int
    clock_seconds: float
    role: str
    is_superuser: bool
    is_owner: bool


def inspect_server(url: Secret) -> Server:
    with connect_blocking(url, autocommit=True) as connection:
        before = datetime.now(UTC)
        clock = connection.execute("select clock_timestamp()").fetchone()
        after = datetime.now(UTC)
        role = connection.execute(ROLE).fetchone()
        assert clock is not None
        assert role is not None
        difference = max((before - clock[0]).total_seconds(), (clock[0] - after).total_seconds(), 0.0)
        return Server(connection.info.server_version // 10_000, difference, *role)
