"""Keys: the tenants' transport keys, and the master key above all."""

import base64
import secrets

from cyclopts import App

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import console, show_facts, show_rows
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret
from kontor.storage.keys import read_master_key

key = App(name="key", help="Keys of tenants, and the master key.")


def add_commands(app: App) -> None:
    app.command(key)


@key.command(name="list")
def list_keys(tenant: str, *, as_json: AsJson = False) -> None:
    """List a tenant's transport keys, newest first. The first encrypts; the first two still decrypt."""
    found = use_services(lambda one: one.tenant_administration.list_transport_keys(tenant))
    rows = [(str(one.id), f"{one.created_at:%Y-%m-%d %H:%M}", number < 2) for number, one in enumerate(found)]
    show_rows(("id", "created", "decrypts"), rows, as_json=as_json, keys=("id", "created", "decrypts"))


@key.command(name="rotate")
def rotate_key(tenant: str, *, as_json: AsJson = False) -> None:
    """Give a tenant a new transport key and certificate. Values under the previous key still decrypt."""
    made = use_services(lambda one: one.tenant_administration.rotate_transport_key(tenant))
    show_facts({"id": str(made)}, as_json=as_json)


@key.command(name="certificate")
def show_certificate(tenant: str) -> None:
    """Print a tenant's certificate (PEM)."""
    pem = use_services(lambda one: one.tenants.read_certificate(tenant))
    console.print(pem, end="", markup=False, soft_wrap=True)


@key.command(name="generate")
def generate_master_key() -> None:
    """Print a new master key, for KONTOR_MASTER_KEY."""
    console.print(base64.b64encode(secrets.token_bytes(32)).decode(), markup=False)


@key.command(name="rewrap")
def rewrap_keys() -> None:
    """Replace the master key: the new one is read from KONTOR_NEW_MASTER_KEY.

    Stop all processes first; afterwards start them with the new key in KONTOR_MASTER_KEY.
    """
    import os

    text = os.environ.get("KONTOR_NEW_MASTER_KEY")
    if not text:
        raise InvalidError("is not set", "KONTOR_NEW_MASTER_KEY")
    new = read_master_key(Secret(text), None, None)
    count = use_services(lambda one: one.tenant_administration.rewrap_keys(new))
    say(f"{count} tenant keys are now wrapped by the new master key.")
