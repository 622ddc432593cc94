"""Everything a user has as one JSON document, written piece by piece.

Its keys are the names under which the data is stored. `version` grows when a name goes or changes its meaning.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.domain.stored_products import StoredProduct
from kontor.services.statements import Exports, Owner, Span
from kontor.wire.completeness import export_completeness
from kontor.wire.encoding import encode_json

SCHEMA, VERSION = "kontor-export", 1
Objects = list[dict[str, Any]]


class Export(msgspec.Struct):
    """Data portability: what is stored about a user. Times are UTC, amounts numbers with their decimals."""

    schema: Annotated[str, Meta(examples=[SCHEMA])]
    version: int
    exported_at: str
    since: str | None
    until: str | None
    user: dict[str, Any]
    roles: Objects
    tokens: Objects
    assistant_grants: Objects
    api_keys: Objects
    legal_acceptances: Objects
    accesses: Objects
    products: Objects
    positions: Objects
    pushed_batches: Objects
    tagging_rules: Objects
    own_categories: Objects
    budgets: Objects
    savings_goals: Objects
    transaction_edits: Objects
    values_before_edits: Objects
    contracts: Objects
    alerts: Objects
    push_subscriptions: Objects
    standing_orders: Objects
    import_forms: Objects
    disclosures: Objects
    permissions: Objects
    credit_files: Objects
    credit_review_requests: Objects
    file_imports: Objects
    account_statements: Objects
    payments: Objects
    payee_verifications: Objects
    payee_limits: Objects
    consents: Objects
    redirect_sessions: Objects
    fetches: Objects
    calls_without_the_user: Objects
    notifications: Objects
    transactions: Objects
    completeness: Annotated[Objects, Meta(description="a month of an account: balances, bookings, gaps")]
    audit_entries: Annotated[Objects, Meta(description="of the audit trail; `self` is the user")]


async def write_export(
    exports: Exports, owner: Owner, held: list[StoredProduct], at: datetime, span: Span
) -> AsyncIterator[bytes]:
    head = {
        "schema": SCHEMA,
        "version": VERSION,
        "exported_at": at.isoformat(timespec="seconds"),
        "since": None if span.since is None else span.since.isoformat(),
        "until": None if span.until is None else span.until.isoformat(),
    }
    user = await exports.read_user(owner)
    yield encode_json(head)[:-1] + b',"user":' + user.encode()
    for name in exports.section_names:
        async for piece in _write_list(name, [exports.page_section(owner, name)]):
            yield piece
    pages = [exports.page_transactions(owner, stored_product.id, span) for stored_product in held]
    async for piece in _write_list("transactions", pages):
        yield piece
    async for piece in _write_list("completeness", [_page_completeness(exports, owner, held)]):
        yield piece
    async for piece in _write_list("audit_entries", [exports.page_audit(owner)]):
        yield piece
    yield b"}\n"


async def _page_completeness(exports: Exports, owner: Owner, held: list[StoredProduct]) -> AsyncIterator[list[str]]:
    for stored in held:
        months = export_completeness(await exports.state_completeness(owner, stored))
        if months:
            yield [encode_json(month).decode() for month in months]


async def _write_list(name: str, sources: list[AsyncIterator[list[str]]]) -> AsyncIterator[bytes]:
    yield f',\n"{name}":['.encode()
    separator = "\n"
    for pages in sources:
        async for page in pages:
            yield (separator + ",\n".join(page)).encode()
            separator = ",\n"
    yield b"]"
