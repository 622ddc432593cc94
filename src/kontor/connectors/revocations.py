"""The job that ends a consent, and its result (see `base.py`)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Revoke:
    """End the consent that the connector state names. Answered by `Done(Revoked())`, also where it has ended already.

    Where there is none, or the protocol has no message for it, `Failed(NOT_SUPPORTED)` without a call.
    """


@dataclass(frozen=True, slots=True)
class Revoked:
    """The bank has confirmed it."""
