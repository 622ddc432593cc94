"""Importing statement files: `kontor import`."""

from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from cyclopts import Parameter

from kontor.cli.context import AsJson, say, use_services
from kontor.cli.output import show_json, show_rows
from kontor.domain.accesses import FILES_ACCESS
from kontor.domain.doubts import Doubt
from kontor.domain.errors import InvalidError
from kontor.services.bundle import Services
from kontor.services.security import OPERATOR
from kontor.services.statements import Import, ImportedAccount, Owner

HEAD = ("file", "form", "account", "read", "new", "changed", "known", "rejected", "doubts")


def import_statements(
    tenant: Annotated[str, Parameter(help="The tenant.")],
    username: Annotated[str, Parameter(help="The user to whom the accounts belong.")],
    *files: Annotated[Path, Parameter(help="MT940, camt.052 to 054, CSV of a large bank, MT535, or zips of them.")],
    access: Annotated[str, Parameter(help="The access to import into; it is made when there is none.")] = FILES_ACCESS,
    product: Annotated[
        UUID | None, Parameter(help="The product to import into. Files of other accounts are refused.")
    ] = None,
    form: Annotated[str | None, Parameter(help="The form of a CSV; without it, it is found by its columns.")] = None,
    preview: Annotated[bool, Parameter(help="Only show what would be stored.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import statement files. What is stored already is not added again, whichever file it came in.

    Accounts are found by their IBAN or number among those of the access, which gets the ones it lacks. A file without
    an account number makes an account of its own for its bank and kind. Into an account of a bank's access files go
    only with `--product`. Rows that cannot be read are named; the rest is stored.
    """
    if not files:
        raise InvalidError("name at least one file", "files")

    async def run(services: Services) -> list[tuple[str, Import]]:
        user = await services.users.find_user_by_operator(tenant, username)
        owner = Owner(user.id, user.pseudonym, user.tenant_id, OPERATOR)
        imports = []
        for file in files:
            try:
                data = file.read_bytes()
                imported = await services.imports.import_file(
                    owner, access, data, product_id=product, is_preview=preview, form=form
                )
            except InvalidError as error:
                raise InvalidError(str(error).removeprefix("body: "), file.name) from None
            imports.append((file.name, imported))
        return imports

    accounts = [(name, account) for name, imported in use_services(run) for account in imported.accounts]
    if as_json:
        show_json([_describe(name, account) for name, account in accounts])
    else:
        rows = [_summarise(name, account) for name, account in accounts]
        show_rows(HEAD, rows, as_json=False, keys=HEAD)
        for name, account in accounts:
            for row in account.rejected:
                say(f"{name}: {row}")
    if preview:
        say("Nothing was stored.")


def _summarise(name: str, account: ImportedAccount) -> tuple[Any, ...]:
    counts = (account.read, len(account.added), account.changed, account.known, len(account.rejected))
    return name, account.form, account.product.key, *counts, "; ".join(map(_name_doubt, account.doubts))


def _describe(name: str, account: ImportedAccount) -> dict[str, Any]:
    described = dict(zip(HEAD, _summarise(name, account), strict=True))
    rejected = [{"line": row.line, "reason": row.reason} for row in account.rejected]
    doubts = [
        {
            "kind": doubt.kind,
            "difference": None if doubt.difference is None else str(doubt.difference),
            "detail": doubt.detail,
        }
        for doubt in account.doubts
    ]
    return described | {"rejected": rejected, "doubts": doubts}


def _name_doubt(doubt: Doubt) -> str:
    words = [doubt.kind, *([str(doubt.difference)] if doubt.difference is not None else [])]
    return " ".join([*([f"{doubt.detail}:"] if doubt.detail else []), *words])
