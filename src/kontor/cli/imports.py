"""Importing statement files: `kontor import`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_rows
from kontor.domain.errors import InvalidError
from kontor.services.auditing import OPERATOR
from kontor.services.bundle import Services
from kontor.services.imports import Import, Owner

HEAD = ("file", "kind", "account", "new", "changed", "known", "unreadable", "doubts")


def import_statements(
    tenant: Annotated[str, Parameter(help="The tenant.")],
    username: Annotated[str, Parameter(help="The user to whom the accounts belong.")],
    *files: Annotated[Path, Parameter(help="MT940, camt.052 to 054, CSV of a large bank, MT535, or zips of them.")],
    access: Annotated[str, Parameter(help="The access to import into; it is made when there is none.")] = "statements",
    preview: Annotated[bool, Parameter(help="Only show what would be stored.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import statement files. What is stored already is not added again, whichever file it came in.

    Accounts are found by their IBAN or number. An access that holds files only gets the accounts that it lacks.
    """
    if not files:
        raise InvalidError("name at least one file", "files")

    async def run(services: Services) -> list[tuple[str, Import]]:
        user = await services.users.find_user_by_operator(tenant, username)
        owner = Owner(user.id, user.pseudonym, user.tenant_id, OPERATOR)
        found = []
        for file in files:
            try:
                data = file.read_bytes()
                found.append((file.name, await services.imports.import_file(owner, access, data, is_preview=preview)))
            except InvalidError as error:
                raise InvalidError(str(error).removeprefix("body: "), file.name) from None
        return found

    imported = use_services(run)
    rows = [
        (
            name,
            one.kind,
            account.product.key,
            len(account.added),
            account.changed,
            account.known,
            account.unreadable,
            "; ".join(account.doubts),
        )
        for name, one in imported
        for account in one.accounts
    ]
    show_rows(HEAD, rows, as_json=as_json, keys=HEAD)
    if preview:
        say("Nothing was stored.")
