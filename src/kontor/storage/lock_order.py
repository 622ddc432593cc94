"""The order in which a transaction locks rows that other transactions lock too (ADR 0036).

Transactions that keep it cannot deadlock. Rows taken with `skip locked` or `nowait` need no order: nobody waits for
them. Nor do open permissions: a transaction that locks one has locked its access. Tests switch the check on; in
production it does nothing.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum


class Lock(IntEnum):
    """From first to last. Rows of the same kind are locked in the order of their keys."""

    FORM_SESSION = 1
    PAYMENT = 2
    PAYEE = 3
    ACCESS = 4
    DIALOGUE = 5
    PRODUCT = 6
    DATA_VERSION = 7
    PROVIDER_OUTAGE = 8
    ALERT_STATE = 9
    WEBHOOK = 10
    AUDIT_HEAD = 11


class LockOrderError(AssertionError):
    """A lock was taken after one that comes later in the order."""


class _Check:
    is_on = False


_taken: ContextVar[list[tuple[Lock, tuple[Hashable, ...]]] | None] = ContextVar("taken_locks", default=None)


@contextmanager
def check_lock_order() -> Iterator[None]:
    """For tests: within the block every transaction of this process is checked."""
    _Check.is_on = True
    try:
        yield
    finally:
        _Check.is_on = False


@contextmanager
def begin_locks() -> Iterator[None]:
    """A transaction begins, without any locks."""
    if not _Check.is_on:
        yield
        return
    token = _taken.set([])
    try:
        yield
    finally:
        _taken.reset(token)


def note_lock(lock: Lock, *key: Hashable) -> None:
    """Directly before a row is locked, and other transactions may have to be waited for."""
    taken = _taken.get() if _Check.is_on else None
    if taken is None or (lock, key) in taken:
        return
    if taken and (lock, str(key)) < max((other, str(other_key)) for other, other_key in taken):
        raise LockOrderError(f"{lock.name} {key} is locked after {', '.join(other.name for other, _ in taken)}")
    taken.append((lock, key))
