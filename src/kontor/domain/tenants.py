"""Tenants, their clients, roles and users: the values, and the rules for their names."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from kontor.domain.errors import InvalidError

MAX_PASSWORD_LENGTH = 1024
# Of tenants that are made on the command line without another. The demo's tenants accept any password.
DEFAULT_MIN_PASSWORD_LENGTH = 12
MAX_USERNAME_LENGTH = 255
MAX_TEXT_LENGTH = 1000

_TECHNICAL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,63}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class ClientKind(StrEnum):
    ADMIN = "admin"
    USER = "user"


class Grant(StrEnum):
    CLIENT_CREDENTIALS = "client_credentials"
    PASSWORD = "password"  # noqa: S105 (the name of a grant)


@dataclass(frozen=True, slots=True)
class Tenant:
    id: UUID
    name: str
    is_regulated: bool
    description: str | None = None
    allowed_scopes: tuple[str, ...] = ()
    callback_bases: tuple[str, ...] = ()
    is_any_callback_allowed: bool = False
    min_password_length: int = 1
    payment_retention_days: int = 3650
    learns_from_corrections: bool = True
    asks_model: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    id: UUID
    tenant_id: UUID
    tenant_name: str
    name: str
    kind: ClientKind
    granted_scopes: tuple[str, ...]
    grants: tuple[Grant, ...]
    description: str | None = None
    may_collect: bool = False
    requires_dpop: bool = False
    redirect_addresses: tuple[str, ...] = ()  # of an assistant, which has no secret

    @property
    def username(self) -> str:
        """What Basic authentication takes."""
        return f"{self.tenant_name}/{self.name}"


@dataclass(frozen=True, slots=True)
class Role:
    id: UUID
    name: str
    is_default: bool
    granted_scopes: tuple[str, ...]
    description: str | None = None


@dataclass(frozen=True, slots=True)
class User:
    """`id` is the userReference of the interface. `pseudonym` stands for the user in the audit trail."""

    id: UUID
    tenant_id: UUID
    username: str
    is_active: bool
    pseudonym: UUID
    created_at: datetime


def check_technical_name(name: str, field: str = "name") -> str:
    """A name that becomes a URL segment."""
    if not _TECHNICAL_NAME.fullmatch(name):
        raise InvalidError("use 1 to 64 characters of A-Z a-z 0-9 . _ ~ -, beginning with a letter or digit", field)
    return name


def check_text(text: str, field: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    if len(text) > max_length:
        raise InvalidError(f"at most {max_length} characters are allowed", field)
    if _CONTROL.search(text):
        raise InvalidError("control characters and lone surrogates are not allowed", field)
    return text


def check_username(username: str) -> str:
    if not username or username != username.strip():
        raise InvalidError("must not be empty, nor begin or end with a blank", "username")
    return check_text(username, "username", MAX_USERNAME_LENGTH)


def check_password(password: str, min_length: int) -> str:
    """Any characters are welcome in a password except those that no keyboard or encoding can carry."""
    if not max(1, min_length) <= len(password) <= MAX_PASSWORD_LENGTH:
        raise InvalidError(f"must have {max(1, min_length)} to {MAX_PASSWORD_LENGTH} characters", "password")
    if "\x00" in password or re.search("[\ud800-\udfff]", password):
        raise InvalidError("NUL characters and lone surrogates are not allowed", "password")
    return password
