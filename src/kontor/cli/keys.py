"""Keys: the tenants' transport keys, and the master key above all."""

import sys
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import console, show_facts, show_rows
from kontor.config import read_settings
from kontor.domain.errors import ConflictError, InvalidError, NotFoundError
from kontor.services.security import Rotated
from kontor.storage.keys import SealingKey
from kontor.storage.master_keys import (
    KeyFile,
    WrappedKey,
    generate_master_key,
    keep_key_beside,
    read_key_file,
    read_key_text,
    replace_key_file,
    sync_key_file,
    write_key_file,
)

if TYPE_CHECKING:
    from kontor.services.bundle import Services

key = App(name="key", help="Keys of tenants, and the master key.")


@key.command(name="list")
def list_keys(tenant: str, *, as_json: AsJson = False) -> None:
    """List a tenant's transport keys, newest first. The first encrypts; the first two still decrypt."""
    keys = use_services(lambda services: services.tenant_administration.list_transport_keys(tenant))
    rows = [(str(key.id), f"{key.created_at:%Y-%m-%d %H:%M}", number < 2) for number, key in enumerate(keys)]
    show_rows(("id", "created", "decrypts"), rows, as_json=as_json, keys=("id", "created", "decrypts"))


@key.command(name="rotate")
def rotate_key(tenant: str, *, as_json: AsJson = False) -> None:
    """Give a tenant a new transport key and certificate. Values under the previous key still decrypt."""
    made = use_services(lambda services: services.tenant_administration.rotate_transport_key(tenant))
    show_facts({"id": str(made)}, as_json=as_json)


@key.command(name="rotate-data-keys")
def rotate_data_keys(
    tenant: Annotated[str | None, Parameter(help="Of this tenant alone.")] = None,
    *,
    made_before: Annotated[date | None, Parameter(help="Replace keys made before this day (UTC); else today.")] = None,
    as_json: AsJson = False,
) -> None:
    """Give users new data keys, and encrypt their credentials and files anew, while everything runs.

    If it is interrupted, run it again, on a later day with the same `--made-before`.
    """
    before = datetime.combine(made_before or datetime.now(UTC).date(), time(), UTC)

    async def rotate(services: "Services") -> Rotated:
        tenants = await services.tenant_administration.list_tenants()
        chosen = [found.id for found in tenants if tenant in (None, found.name)]
        if tenant is not None and not chosen:
            raise NotFoundError(f"There is no tenant named {tenant}.")
        rotated = Rotated()
        for tenant_id in chosen:
            rotated += await services.key_rotation.rotate(tenant_id, before)
        return rotated

    rotated = use_services(rotate)
    facts = {"users": rotated.users, "values": rotated.values, "unreadable": rotated.unreadable}
    show_facts(facts, as_json=as_json)
    if not as_json:
        say("Workers delete the keys before after a day.")
    if rotated.unreadable:
        raise ConflictError("Some values open with no key; they stay as they are. The log names users and columns.")


@key.command(name="rotate-signing")
def rotate_signing_key(*, as_json: AsJson = False) -> None:
    """Sign credit files with a new key from now on. Files signed before can still be checked."""
    made = use_services(lambda services: services.key_rotation.replace_signing_key())
    show_facts({"id": made}, as_json=as_json)


@key.command(name="certificate")
def show_certificate(tenant: str) -> None:
    """Print a tenant's certificate (PEM)."""
    pem = use_services(lambda services: services.tenants.read_certificate(tenant))
    console.print(pem, end="", markup=False, soft_wrap=True)


@key.command(name="generate")
def generate(*, out: Annotated[Path | None, Parameter(help="Write it to this new file instead.")] = None) -> None:
    """Make a new master key. It is printed, or written to a file that only its owner can read."""
    text = generate_master_key()
    if out is None:
        console.print(text.reveal(), markup=False)
        return
    try:
        write_key_file(out, text)
    except FileExistsError:
        raise ConflictError(f"{out} exists. A key is never overwritten: choose another name.") from None
    say(f"The new key is in {out}. Its fingerprint is {read_key_file(out).fingerprint}.")
    say("Copy the file to where you keep keys, apart from backups of the database, before you use it.")


@key.command(name="fingerprint")
def show_fingerprint(file: Path) -> None:
    """Print the fingerprint of the master key in a file."""
    console.print(read_key_file(file).fingerprint, markup=False)


@key.command(name="wrap")
def wrap_key(file: Annotated[Path, Parameter(help="File with a master key, made by `kontor key generate`.")]) -> None:
    """Have HashiCorp Vault wrap the master key in a file, and print what to put into KONTOR_MASTER_KEY_WRAPPED."""
    from kontor.bootstrap import find_transit_key

    transit = find_transit_key(read_settings())
    wrapped = transit.wrap(read_key_text(file))
    if transit.unwrap(wrapped).id != read_key_file(file).id:
        raise ConflictError("Vault does not give back the key that it has wrapped.")
    console.print(wrapped, markup=False, soft_wrap=True)


@key.command(name="rewrap")
def rewrap_keys(
    file: Annotated[Path, Parameter(help="File with the new key, made by `kontor key generate --out`.")],
    *,
    confirm: Annotated[
        str | None, Parameter(help="Fingerprint of your copy of the new key; else it is asked for.")
    ] = None,
) -> None:
    """Replace the master key by the one in a file.

    Stop all processes first; afterwards start them with the new key. If it is interrupted, run it again.
    """
    from kontor.bootstrap import find_master_key

    new = read_key_file(file)
    _require_copy(new, confirm)
    sync_key_file(file)
    settings = read_settings()
    source = find_master_key(settings)
    is_present = source.load().id == new.id
    key_file = source.file if isinstance(source, KeyFile) and not is_present else None
    if key_file is not None:
        # Whatever happens from here on, both keys are on the disk beside the database.
        old_copy, new_copy = keep_key_beside(key_file, key_file), keep_key_beside(key_file, file)
    count = use_services(lambda services: services.tenant_administration.rewrap_keys(new), skips_keys=True)
    if count:
        say(f"{count} tenant keys are now wrapped by the new master key.")
    else:
        say("All tenant keys were wrapped by this master key already.")
    if key_file is not None:
        replace_key_file(key_file, new_copy)
        say(f"It is in {key_file}; the one before stays in {old_copy}, for older backups.")
    elif not is_present:
        wrap = " (wrap it with `kontor key wrap`)" if isinstance(source, WrappedKey) else ""
        say(f"Put the new key into {source.name}{wrap} before you start a process.")
        say("Keep the one before for older backups.")


def _require_copy(new: SealingKey, confirmed: str | None) -> None:
    """A new key must not exist in one place only. The fingerprint is to be read off the copy that is kept elsewhere."""
    if confirmed is None and sys.stdin.isatty():
        say("Run `kontor key fingerprint` on your copy of the new key.")
        confirmed = input("Fingerprint: ")
    if confirmed is None:
        raise InvalidError("give the fingerprint of your copy of the new key", "--confirm")
    if confirmed.strip().lower() != new.fingerprint:
        raise InvalidError("is not the fingerprint of the key in this file", "--confirm")


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
    count = use_services(lambda services: services.tenant_administration.replace_lost_keys(), skips_keys=True)
    say(f"New keys for all tenants and users; {count} accesses wait for their credentials.")
