"""What goes on meanwhile: accesses become due, their bank has new bookings, and somebody receives the webhooks."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from uuid import UUID

import psycopg

from kontor.config import Settings

NEW_BOOKINGS = 3  # of each refresh
# What the bank has told is forgotten again, so that it is new the next time.
FORGET = """
delete from transactions where user_id = %(user)s and id in
    (select id from transactions where user_id = %(user)s order by booked_on desc, ordinal desc limit %(count)s)
"""


class Receiver:
    """Counts the webhooks that it accepts."""

    def __init__(self) -> None:
        self.count = 0

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))
            writer.write(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
            await writer.drain()
            self.count += 1
        writer.close()


@contextmanager
def run_receiver() -> Iterator[tuple[Receiver, str]]:
    """In a thread of its own; with its address."""
    receiver, loop = Receiver(), asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(receiver.accept, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield receiver, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.close()


class Refreshes:
    """Counts by how the last one of each access has ended."""

    def __init__(self) -> None:
        self.ended: Counter[str] = Counter()

    def make_due(self, owner: psycopg.Connection, user: UUID) -> None:
        """As if a slot had begun, and no call had been made today."""
        with owner.transaction():
            ended = owner.execute(
                "delete from fetches where user_id = %s and finished_at is not null returning state", [user]
            )
            self.ended.update(state for (state,) in ended.fetchall())
            owner.execute("delete from unattended_calls where user_id = %s", [user])
            owner.execute(FORGET, {"user": user, "count": NEW_BOOKINGS})
            owner.execute(
                "update accesses set next_refresh_at = now(), scheduled_since = now() - interval '1 minute'"
                " where user_id = %s",
                [user],
            )


@contextmanager
def keep_due(settings: Settings, users: list[UUID], per_second: float) -> Iterator[Refreshes]:
    """The access of one user after the other becomes due."""
    refreshes, is_over = Refreshes(), threading.Event()

    def run() -> None:
        with connect_owner(settings) as owner:
            for user in cycle(users):
                if is_over.wait(1 / per_second):
                    return
                refreshes.make_due(owner, user)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield refreshes
    finally:
        is_over.set()
        thread.join()


def connect_owner(settings: Settings) -> psycopg.Connection:
    assert settings.migration_database_url is not None
    return psycopg.connect(settings.migration_database_url.reveal(), autocommit=True)
