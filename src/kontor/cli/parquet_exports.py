"""A tenant's transactions for data people: pseudonymised, as a Parquet file. `kontor tenant export-parquet`."""

import csv
import hashlib
import hmac
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterable
from datetime import date
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kontor.cli.context import say, use_services
from kontor.cli.parquet_files import load_duckdb
from kontor.domain.errors import InvalidError
from kontor.domain.exports import ExportRow
from kontor.domain.stored_products import StoredProduct
from kontor.services.bundle import Services
from kontor.services.security import OPERATOR
from kontor.services.statements import Owner, Span

# What the file has, and nothing else: docs/guides/parquet.md.
COLUMNS = {
    "user": "varchar",
    "account": "varchar",
    "account_kind": "varchar",
    "counterparty": "varchar",
    "booked_on": "date",
    "amount": "decimal(18, 2)",
    "currency": "varchar",
    "is_pending": "boolean",
    "category": "varchar",
    "category_confidence": "double",
    "decided_by": "varchar",
    "partner": "varchar",
    "insurance_type": "varchar",
}
KEY_BYTES = 32
PSEUDONYM_LETTERS = 32
MEMORY = "256MB"


class Pseudonyms:
    """Keyed for one export. The key is never stored: two exports cannot be joined, and nobody can try names."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(KEY_BYTES)

    def replace(self, kind: str, text: str) -> str:
        if not text:
            return ""
        mac = hmac.new(self._key, f"{kind}:{text}".encode(), hashlib.sha256)
        return mac.hexdigest()[:PSEUDONYM_LETTERS]


def export_parquet(
    tenant: str,
    /,
    *,
    output: Annotated[Path, Parameter(help="The Parquet file, which only you may read.")],
    since: Annotated[date | None, Parameter(name="--from", help="First day of the transactions.")] = None,
    until: Annotated[date | None, Parameter(name="--to", help="Last day of the transactions.")] = None,
) -> None:
    """Export the transactions of a tenant's users, pseudonymised, as Parquet. No names, IBANs, purposes or notes."""
    duckdb = load_duckdb("export-parquet")
    if output.is_dir() or not output.parent.is_dir():
        raise InvalidError("must be a file in an existing folder", "--output")
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".kontor-") as folder:
        rows, unfinished = Path(folder, "rows.csv"), Path(folder, "rows.parquet")
        count = use_services(lambda services: _write_rows(services, tenant, Span(since, until), rows))
        with duckdb.connect(config={"memory_limit": MEMORY, "threads": 1, "temp_directory": folder}) as database:
            source = database.read_csv(str(rows), header=True, dtype=COLUMNS, na_values="")
            source.write_parquet(str(unfinished), compression="zstd")
        unfinished.chmod(0o600)
        unfinished.replace(output)
    say(f"{count} transactions written to {output}. They are still personal data: see docs/guides/parquet.md.")


async def _write_rows(services: Services, tenant: str, span: Span, file: Path) -> int:
    pseudonyms, count = Pseudonyms(), 0
    with file.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(COLUMNS)
        for user in await services.users.list_users_by_operator(tenant):
            owner = Owner(user.id, user.pseudonym, user.tenant_id, OPERATOR)
            async for page in _page_user(services, owner, span, pseudonyms):
                writer.writerows(page)
                count += len(page)
    return count


async def _page_user(
    services: Services, owner: Owner, span: Span, pseudonyms: Pseudonyms
) -> AsyncIterator[list[Iterable[object]]]:
    """A page of one account at a time. Each user's audit trail tells of it."""
    held, _ = await services.exports.begin(owner)
    for product in held:
        async for page in services.exports.page_rows(owner, product.id, span):
            yield [_make_cells(row, owner, product, pseudonyms) for row in page]


def _make_cells(row: ExportRow, owner: Owner, product: StoredProduct, pseudonyms: Pseudonyms) -> list[object]:
    return [
        pseudonyms.replace("user", str(owner.user_id)),
        pseudonyms.replace("account", str(product.id)),
        product.product.category.value,
        pseudonyms.replace("counterparty", row.counterparty_iban or row.counterparty_name or ""),
        row.day,
        row.amount,
        row.currency,
        row.is_pending,
        row.category or "",
        "" if row.confidence is None else row.confidence,
        row.source or "",
        row.partner or "",
        row.insurance_type or "",
    ]
