"""Database connections of the demo bank in the process of the tests: kept for the next call instead of closed.

The demo bank connects for each call, up to sixty times in a test with a FinTS server. A new connection takes 5 ms of
PostgreSQL's processor time and 1 ms of ours; one that is used again takes nearly nothing. Servers and workers that
tests start are not changed.
"""

import select
import threading
from types import TracebackType
from typing import Any

import psycopg
from psycopg import OperationalError
from psycopg.rows import TupleRow

from kontor.domain.secrets import Secret
from kontor.storage.connections import SESSION_OPTIONS, address_writer, connect_blocking

MAX_CONNECTIONS = 8  # of all databases together; the oldest is closed

_kept: list["KeptConnection"] = []
_lock = threading.Lock()  # the bank is asked from several threads


class KeptConnection(psycopg.Connection[TupleRow]):
    """At the end of a `with` block it commits as any other, and is kept. After an error it is closed."""

    place: tuple[str, bool]  # address, and whether each statement commits

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self.closed:
            try:
                self.commit()
            except BaseException:
                self.close()
                raise
            with _lock:
                _kept.append(self)
                oldest = _kept.pop(0) if len(_kept) > MAX_CONNECTIONS else None
            if oldest is not None:
                oldest.close()
        else:
            super().__exit__(kind, error, trace)

    def is_usable(self) -> bool:
        """PostgreSQL says something to a connection at rest only when it ends it."""
        return not self.closed and not select.select([self], [], [], 0)[0]

    @staticmethod
    def take(place: tuple[str, bool]) -> "KeptConnection | None":
        while True:
            with _lock:
                number = next((n for n in reversed(range(len(_kept))) if _kept[n].place == place), None)
                connection = None if number is None else _kept.pop(number)
            if connection is None or connection.is_usable():
                return connection
            connection.close()


def connect_kept(url: Secret, *, autocommit: bool, **facts: Any) -> psycopg.Connection[TupleRow]:
    """In place of `connect_blocking`."""
    place = (address_writer(url), autocommit)
    connection = KeptConnection.take(place)
    if connection is None:
        try:
            connection = KeptConnection.connect(place[0], autocommit=autocommit, **SESSION_OPTIONS)
        except OperationalError:  # that it waits for a server which is not there is part of what is tested
            return connect_blocking(url, autocommit=autocommit, **facts)
        connection.place = place
    return connection


def close_kept() -> None:
    while _kept:
        _kept.pop().close()
