"""Named points of a payment at which a test may kill or hold up the process.

`reach` does nothing, and no setting and no environment variable changes that. Tests that inject faults start Kontor
through a program of their own, which replaces `reach` before anything runs (`tests/faults/fault_hooks.py`).
Callers therefore look the function up in this module: `fault_points.reach(…)`. `POINTS` lists the points in the order
in which a payment meets them.
"""

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
    "payment.show",  # before the commit of what the user is about to read about the payees
    "payment.shown",
    "payment.refreshed",  # a look at the transactions is ordered
    "payment.answer",  # before the commit
    "payment.answered",
    "payment.lookup",  # before the commit that claims it
    "payment.lookup-claimed",
    "payment.looked-up",
    "payment.reconcile",  # before the commit
    "payment.reconciled",
)


def reach(point: str) -> None:
    """Mark that this point is reached."""
