"""Keys: the tenants' transport keys, and the master key above all."""

import base64
import os
import secrets
from typing import Annotated

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import console, show_facts, show_rows
from kontor.config import read_settings
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret
from kontor.storage.keys import decode_master_key, replace_key_file

key = App(name="key", help="Keys of tenants, and the master key.")


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

    Stop all processes first; afterwards start them with the new key. The key file of an embedded database is replaced.
    """
    from kontor.bootstrap import EMBEDDED_KEY_FILE

    text = Secret(os.environ.get("KONTOR_NEW_MASTER_KEY", ""))
    if not text.reveal():
        raise InvalidError("is not set", "KONTOR_NEW_MASTER_KEY")
    new = decode_master_key(text, "KONTOR_NEW_MASTER_KEY")
    count = use_services(lambda one: one.tenant_administration.rewrap_keys(new))
    say(f"{count} tenant keys are now wrapped by the new master key.")
    settings = read_settings()
    if settings.master_key is not None:
        say("Start all processes with the new key in KONTOR_MASTER_KEY.")
    elif settings.master_key_command is not None:
        say("Let KONTOR_MASTER_KEY_COMMAND print the new key before you start a process.")
    else:
        file = settings.data / EMBEDDED_KEY_FILE
        replace_key_file(file, text)
        say(f"It is in {file}; the old one stays beside it as {file.stem}.previous, for older backups.")


@key.command(name="replace-lost")
def replace_lost_keys(
    *, forget_credentials: Annotated[bool, Parameter(negative="", help="Yes, all stored credentials may go.")] = False
) -> None:
    """The master key is lost: make new keys for everything under the present one.

    Stored bank credentials cannot be opened any more and are deleted; customers enter them again. All other data stays.
    Stop all processes first.
    """
    if not forget_credentials:
        raise InvalidError("say so with this flag: all stored credentials will be deleted", "--forget-credentials")
    count = use_services(lambda one: one.tenant_administration.replace_lost_keys(), is_key_lost=True)
    say(f"New keys for all tenants and users; {count} accesses wait for their credentials.")
