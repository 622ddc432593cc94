"""Points on a payment's way where a test may kill or hold up the process. Without a hook they do nothing.

`KONTOR_FAULT_HOOK` names a function, `module:function`, that is called with the name of each point as it is reached,
in the thread that reaches it. `POINTS` lists them in the order in which a payment meets them.
"""

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module

VARIABLE = "KONTOR_FAULT_HOOK"

POINTS = (
    "payment.lease-taken",
    "payment.insert",  # before the commit
    "payment.inserted",
    "payment.call",  # before a bank is called
    "payment.send",  # before SENDING is committed
    "payment.sending",  # committed; the order leaves now
    "payment.called",  # the bank has answered
    "payment.settle",  # before the commit
    "payment.settled",
    "payment.refreshed",  # a look at the transactions is ordered
    "payment.answer",  # before the commit
    "payment.answered",
    "payment.lookup",  # before the commit that claims it
    "payment.lookup-claimed",
    "payment.looked-up",
    "payment.reconcile",  # before the commit
    "payment.reconciled",
)


@cache
def _find_hook() -> Callable[[str], object] | None:
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    module, _, function = name.partition(":")
    hook: Callable[[str], object] = getattr(import_module(module), function)
    return hook


def reach(point: str) -> None:
    """Say that this point is reached."""
    hook = _find_hook()
    if hook is not None:
        hook(point)
