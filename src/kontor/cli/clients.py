"""Clients of tenants: `kontor client`."""

from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.administration import KEEP_IT, Description, Scopes
from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_facts, show_rows
from kontor.domain.scopes import MANAGEMENT_SCOPES, USER_SCOPES
from kontor.domain.tenants import ClientKind

client = App(name="client", help="Clients of a tenant: programs that obtain tokens.")


@client.command(name="list")
def list_clients(tenant: str, *, as_json: AsJson = False) -> None:
    """List the clients of a tenant."""
    clients = use_services(lambda services: services.tenant_administration.list_clients(tenant))
    rows = [
        (
            client.username,
            client.kind,
            client.granted_scopes,
            client.may_collect,
            client.requires_dpop,
            client.description,
        )
        for client in clients
    ]
    show_rows(
        ("username", "kind", "scopes", "direct debits", "DPoP", "description"),
        rows,
        as_json=as_json,
        keys=("username", "kind", "scopes", "directDebits", "requiresDpop", "description"),
    )


@client.command(name="create")
def create_client(
    tenant: str,
    name: str,
    *,
    kind: ClientKind,
    scope: Scopes = None,
    description: Description = None,
    direct_debits: Annotated[bool, Parameter(negative="", help="Its users may collect direct debits.")] = False,
    require_dpop: Annotated[bool, Parameter(negative="", help="It gets only tokens that are bound by DPoP.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a client. Its secret is shown now and never again.

    An admin client manages the tenant, a user client serves applications and their users. Without --scope it gets
    all scopes of its kind.
    """
    scopes = scope or (MANAGEMENT_SCOPES if kind is ClientKind.ADMIN else USER_SCOPES)
    made, secret = use_services(
        lambda services: services.tenant_administration.create_client(
            tenant, name, kind, scopes, description, may_collect=direct_debits, requires_dpop=require_dpop
        )
    )
    show_facts({"username": made.username, "password": secret}, as_json=as_json)
    say(KEEP_IT)


@client.command(name="create-assistant")
def create_assistant(
    tenant: str,
    name: str,
    *,
    redirect_address: Annotated[
        list[str], Parameter(negative="", help="Where users are sent back to, exactly; of a loopback address any port.")
    ],
    description: Description = None,
    as_json: AsJson = False,
) -> None:
    """Create a client for an assistant, through which users sign in. It has no secret.

    Users can grant it to read, and to change categories and rules.
    """
    made = use_services(
        lambda services: services.tenant_administration.create_assistant(tenant, name, redirect_address, description)
    )
    show_facts({"client_id": made.username}, as_json=as_json)


@client.command(name="renew-secret")
def renew_client_secret(tenant: str, name: str, *, as_json: AsJson = False) -> None:
    """Replace a client's secret. The old one stops working at once."""
    secret = use_services(lambda services: services.tenant_administration.renew_client_secret(tenant, name))
    show_facts({"username": f"{tenant}/{name}", "password": secret}, as_json=as_json)
    say(KEEP_IT)


@client.command(name="change")
def change_client(
    tenant: str,
    name: str,
    *,
    require_dpop: Annotated[bool, Parameter(help="It gets only tokens that are bound by DPoP; other tokens end now.")],
) -> None:
    """Change a client."""
    use_services(lambda services: services.tenant_administration.require_dpop(tenant, name, require_dpop))
    say(f"Changed {tenant}/{name}.")


@client.command(name="delete")
def delete_client(tenant: str, name: str) -> None:
    """Delete a client with its roles, tokens and API keys."""
    use_services(lambda services: services.tenant_administration.delete_client(tenant, name))
    say(f"Deleted {tenant}/{name}.")
