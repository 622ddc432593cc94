"""What a connection is for, and which hosts it may reach."""

from dataclasses import dataclass
from enum import StrEnum

import httpx


class Purpose(StrEnum):
    """All there are. OTHER is what nobody has asked for: the guard has refused it."""

    BANK = "bank"
    ENABLE_BANKING = "enable-banking"
    WEBHOOK = "webhook"
    PUSH = "push"
    VAULT = "vault"
    TRACING = "tracing"
    MODEL = "model"
    OTHER = "other"


class EgressRefusedError(PermissionError):
    """A connection to a host that is not named. It was not opened."""


@dataclass(frozen=True, slots=True)
class Destination:
    """`hosts` as they are connected to; `name` is the host that the counters show, where they are its addresses."""

    purpose: Purpose
    hosts: frozenset[str]
    name: str | None = None


def find_host(url: str) -> str:
    """The host as it is connected to: lower case, international names in ASCII. "" where there is none."""
    try:
        return httpx.URL(url).raw_host.decode("ascii").lower()
    except httpx.InvalidURL:
        return ""
