"""Administration for what the interface has no call for: tenants, roles, users, API keys."""

import sys
from dataclasses import asdict
from getpass import getpass
from pathlib import Path
from typing import Annotated
from uuid import UUID

from cyclopts import App, Parameter

from kontor.cli.branding import list_branding_facts, split_colour
from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_facts, show_rows
from kontor.domain.errors import ConflictError, InvalidError
from kontor.domain.scopes import ALL_SCOPES, USER_SCOPES
from kontor.domain.secrets import Secret
from kontor.domain.tenants import DEFAULT_MIN_PASSWORD_LENGTH, Tenant
from kontor.services.identity import BrandingChange, NewUser, new_role, new_tenant

Scopes = Annotated[list[str] | None, Parameter(name="--scope", negative="", help="A scope; repeat for several.")]
Description = Annotated[str | None, Parameter(help="A text for people.")]
Bases = Annotated[
    list[str] | None,
    Parameter(name="--callback-base", negative="", help="Start of allowed callback URLs; repeat for several."),
]
KEEP_IT = "Keep it now: only its hash is stored."

tenant = App(name="tenant", help="Tenants: who uses this Kontor.")
role = App(name="role", help="Roles of a client: the scopes its users get.")
user = App(name="user", help="Users of a tenant.")
api_key = App(name="api-key", help="API keys: a classic token without a password.")


# Tenants

tenant.command("kontor.cli.parquet_exports:export_parquet", name="export-parquet")


@tenant.command(name="list")
def list_tenants(*, as_json: AsJson = False) -> None:
    """List all tenants."""
    tenants = use_services(lambda services: services.tenant_administration.list_tenants())
    rows = [(tenant.name, tenant.is_regulated, len(tenant.allowed_scopes), tenant.description) for tenant in tenants]
    show_rows(
        ("name", "regulated", "scopes", "description"),
        rows,
        as_json=as_json,
        keys=("name", "regulated", "scopes", "description"),
    )


@tenant.command(name="show")
def show_tenant(name: str, *, as_json: AsJson = False) -> None:
    """Show one tenant with all its settings."""
    show_facts(
        _tenant_facts(use_services(lambda services: services.tenant_administration.find_tenant(name))), as_json=as_json
    )


@tenant.command(name="create")
def create_tenant(
    name: str,
    *,
    regulated: Annotated[
        bool | None, Parameter(negative="--redirect", help="May it handle bank credentials itself?")
    ] = None,
    description: Description = None,
    scope: Scopes = None,
    callback_base: Bases = None,
    any_callback: Annotated[bool, Parameter(negative="", help="Allow every callback URL (redirect tenants).")] = False,
    min_password_length: Annotated[
        int, Parameter(help="Shortest password a user may have.")
    ] = DEFAULT_MIN_PASSWORD_LENGTH,
    as_json: AsJson = False,
) -> None:
    """Create a tenant with its keys.

    A redirect tenant never sees bank credentials; it needs --callback-base, or an explicit --any-callback.
    """
    if regulated is None:
        raise ConflictError("Say whether the tenant is --regulated or --redirect.")
    made = new_tenant(name, is_regulated=regulated, scopes=scope or ALL_SCOPES)
    changes = {
        "description": description,
        "callback_bases": tuple(callback_base or ()),
        "is_any_callback_allowed": any_callback,
        "min_password_length": _check_length(min_password_length),
    }
    made = Tenant(**(asdict(made) | changes))
    use_services(lambda services: services.tenant_administration.create_tenant(made))
    show_facts(_tenant_facts(made), as_json=as_json)


@tenant.command(name="change")
def change_tenant(
    name: str,
    *,
    description: Description = None,
    scope: Scopes = None,
    callback_base: Bases = None,
    any_callback: Annotated[bool | None, Parameter(help="Allow every callback URL, or not.")] = None,
    min_password_length: int | None = None,
    payment_retention_days: Annotated[int | None, Parameter(help="How long records of payments are kept.")] = None,
    learning: Annotated[bool | None, Parameter(help="Do a user's corrections teach, or not.")] = None,
    own_model: Annotated[bool | None, Parameter(help="Is the own model asked about unknown merchants, or not.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change a tenant's settings; what is not given stays."""
    given = {
        "description": description,
        "allowed_scopes": None if scope is None else tuple(scope),
        "callback_bases": None if callback_base is None else tuple(callback_base),
        "is_any_callback_allowed": any_callback,
        "min_password_length": None if min_password_length is None else _check_length(min_password_length),
        "payment_retention_days": None if payment_retention_days is None else _check_days(payment_retention_days),
        "learns_from_corrections": learning,
        "asks_model": own_model,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    changed = use_services(lambda services: services.tenant_administration.change_tenant(name, **changes))
    show_facts(_tenant_facts(changed), as_json=as_json)


@tenant.command(name=("branding", "look"))
def change_branding(
    name: str,
    *,
    display_name: Annotated[str | None, Parameter(help="Name that users see.")] = None,
    logo: Annotated[Path | None, Parameter(help="SVG or PNG file.")] = None,
    colour: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="primary, background, surface or text, each also as dark-…: primary=#005ea8; repeat for several.",
        ),
    ] = None,
    legal_text: Annotated[Path | None, Parameter(help="Text file that users agree to; blank lines part it.")] = None,
    legal_version: Annotated[str | None, Parameter(help="Users are asked again for each new version.")] = None,
    frame_origin: Annotated[
        list[str] | None,
        Parameter(negative="", help="Origin of a page that may embed the form; repeat for several."),
    ] = None,
    imprint_url: Annotated[str | None, Parameter(help="Address of the imprint, at the foot of every page.")] = None,
    privacy_url: Annotated[
        str | None, Parameter(help="Address of the privacy notice; without one, Kontor's own.")
    ] = None,
    licence: Annotated[str | None, Parameter(help="Line that names the licence or registration.")] = None,
    reset: Annotated[bool, Parameter(negative="", help="Begin from Kontor's own design.")] = False,
    as_json: AsJson = False,
) -> None:
    """Change how the web form looks for a tenant's users; what is not given stays. Without options: show it."""
    change = BrandingChange(
        display_name=display_name,
        logo=None if logo is None else _read_file(logo, "--logo"),
        colours=None if colour is None else dict(split_colour(entry) for entry in colour),
        legal_text=None if legal_text is None else _read_text(legal_text),
        legal_version=legal_version,
        frame_origins=None if frame_origin is None else tuple(frame_origin),
        imprint_url=imprint_url,
        privacy_url=privacy_url,
        licence=licence,
        is_reset=reset,
    )
    if change == BrandingChange():
        branding = use_services(lambda services: services.tenant_administration.read_branding(name))
    else:
        branding = use_services(lambda services: services.tenant_administration.change_branding(name, change))
    show_facts(list_branding_facts(branding), as_json=as_json)


# Roles


@role.command(name="list")
def list_roles(tenant: str, client: str, *, as_json: AsJson = False) -> None:
    """List the roles of a client."""
    roles = use_services(lambda services: services.tenant_administration.list_roles(tenant, client))
    rows = [(role.name, role.is_default, role.granted_scopes, role.description) for role in roles]
    show_rows(
        ("name", "default", "scopes", "description"),
        rows,
        as_json=as_json,
        keys=("name", "defaultRole", "scopes", "description"),
    )


@role.command(name="create")
def create_role(
    tenant: str,
    client: str,
    name: str,
    *,
    scope: Scopes = None,
    default: Annotated[bool, Parameter(negative="", help="Assign it to users newly created.")] = False,
    description: Description = None,
) -> None:
    """Create a role. Without --scope it grants all scopes a user can have."""
    made = new_role(name, scope or USER_SCOPES, is_default=default, description=description)
    use_services(lambda services: services.tenant_administration.create_role(tenant, client, made))
    say(f"Created role {tenant}/{client}/{name}.")


@role.command(name="delete")
def delete_role(tenant: str, client: str, name: str) -> None:
    """Delete a role; users lose its scopes with their next token."""
    use_services(lambda services: services.tenant_administration.delete_role(tenant, client, name))
    say(f"Deleted role {tenant}/{client}/{name}.")


# Users


@user.command(name="list")
def list_users(tenant: str, *, as_json: AsJson = False) -> None:
    """List a tenant's users, deactivated ones too."""
    users = use_services(lambda services: services.users.list_users_by_operator(tenant))
    rows = [(str(user.id), user.username, user.is_active) for user in users]
    show_rows(("reference", "username", "active"), rows, as_json=as_json, keys=("userReference", "username", "active"))


@user.command(name="create")
def create_user(tenant: str, username: str, *, as_json: AsJson = False) -> None:
    """Create a user. The password is asked for, or read from standard input."""
    password = getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    made = use_services(
        lambda services: services.users.create_user_by_operator(tenant, NewUser(username, Secret(password)))
    )
    show_facts({"userReference": str(made.id), "username": made.username}, as_json=as_json)


# API keys


@user.command(name="erase")
def erase_user(
    tenant: str,
    username: str,
    *,
    confirm: Annotated[str, Parameter(help="The username once more, as a sign of being sure.")] = "",
) -> None:
    """Erase a user and everything that is stored about it, for good. Active or not."""
    if confirm != username:
        raise ConflictError(f"This cannot be undone. Repeat with --confirm {username}.")
    use_services(lambda services: services.users.erase_user_by_operator(tenant, username))
    say(f"{username} is erased.")


@api_key.command(name="list")
def list_api_keys(tenant: str, *, as_json: AsJson = False) -> None:
    """List a tenant's API keys (not the keys themselves: only their hashes are stored)."""
    keys = use_services(lambda services: services.tokens.list_api_keys(tenant))
    rows = [(str(key.id), key.client_username, key.username, key.created_at.date(), key.description) for key in keys]
    names = ("id", "client", "user", "created", "description")
    show_rows(names, rows, as_json=as_json, keys=names)


@api_key.command(name="create")
def create_api_key(
    tenant: str, client: str, username: str, *, description: Description = None, as_json: AsJson = False
) -> None:
    """Create an API key for a user at a client. It is shown now and never again."""
    key = use_services(lambda services: services.tokens.create_api_key(tenant, client, username, description))
    show_facts({"apiKey": key.reveal()}, as_json=as_json)
    say(KEEP_IT)


@api_key.command(name="delete")
def delete_api_key(tenant: str, key_id: UUID) -> None:
    """Delete an API key; it stops working at once."""
    use_services(lambda services: services.tokens.delete_api_key(tenant, key_id))
    say("Deleted.")


def _tenant_facts(tenant: Tenant) -> dict[str, object]:
    return {
        "name": tenant.name,
        "regulated": tenant.is_regulated,
        "description": tenant.description,
        "scopes": list(tenant.allowed_scopes),
        "callbackBases": list(tenant.callback_bases),
        "anyCallback": tenant.is_any_callback_allowed,
        "minPasswordLength": tenant.min_password_length,
        "paymentRetentionDays": tenant.payment_retention_days,
        "learnsFromCorrections": tenant.learns_from_corrections,
        "asksOwnModel": tenant.asks_model,
    }


def _read_file(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidError(f"cannot read {path}: {error.strerror}", option) from None


def _read_text(path: Path) -> str:
    try:
        return _read_file(path, "--legal-text").decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidError(f"{path} is not UTF-8 text", "--legal-text") from None


def _check_days(days: int) -> int:
    if not 0 <= days <= 36_500:
        raise InvalidError("must be between 0 and 36500", "--payment-retention-days")
    return days


def _check_length(length: int) -> int:
    if not 1 <= length <= 1024:
        raise InvalidError("must be between 1 and 1024", "--min-password-length")
    return length
