"""Transactions and positions of a product."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Generic, TypeVar

from kontor_client.models.accesses import AccountStatement, Position, Product
from kontor_client.models.imports import ImportResult
from kontor_client.models.transactions import NewTransaction, PreviewedTransaction, Transaction
from kontor_client.operations.accesses import access_path
from kontor_client.plans import Call, Plan, fetch, send

T = TypeVar("T")


@dataclass(frozen=True)
class Pages(Generic[T]):
    """A list that comes in pages; the header Link leads from one to the next."""

    first: Call
    expected: type[list[T]]

    def read(self, call: Call) -> Plan[tuple[list[T], Call | None]]:
        """One page, and how the next one is got."""
        answer = yield from send(call)
        following = None if answer.next_url is None else Call("GET", answer.next_url)
        return answer.decode(self.expected), following


def read_product(access_id: str, product_id: str) -> Plan[Product]:
    """One product."""
    return fetch(Product, access_path(access_id, product_id))


def iterate_transactions(
    access_id: str,
    product_id: str,
    *,
    since: date | None = None,
    until: date | None = None,
    page_size: int = 1000,
    tag: str | None = None,
    explain: bool = False,
) -> Pages[Transaction]:
    """The transactions of a product, newest first, page by page.

    `since` and `until` are dates or times, both included. `tag` shows tags of one tree: categories, insurance-types,
    business-partners or freelancer-categories; `explain` shows what they were concluded from.
    """
    params = _show_window(since, until, tag, explain) | {"limit": page_size}
    return Pages(Call("GET", access_path(access_id, product_id, "kontoumsaetze"), params), list[Transaction])


def list_transactions(
    access_id: str,
    product_id: str,
    *,
    since: date | None = None,
    until: date | None = None,
    tag: str | None = None,
    explain: bool = False,
) -> Plan[list[Transaction]]:
    """All of them at once; see `iterate_transactions`."""
    path = access_path(access_id, product_id, "kontoumsaetze")
    return fetch(list[Transaction], path, params=_show_window(since, until, tag, explain))


def _show_window(since: date | None, until: date | None, tag: str | None, explain: bool) -> dict[str, Any]:
    return {"from": since, "to": until, "tag": tag, "explain": True if explain else None}


def list_positions(access_id: str, product_id: str) -> Plan[list[Position]]:
    """The securities of a depot."""
    return fetch(list[Position], access_path(access_id, product_id, "depotpositionen"))


def list_account_statements(access_id: str, product_id: str) -> Plan[list[AccountStatement]]:
    """Account statements as the bank has issued them, newest first."""
    return fetch(list[AccountStatement], access_path(access_id, product_id, "kontoauszuege"))


def read_account_statement(access_id: str, product_id: str, statement_id: str) -> Plan[bytes]:
    """The file of a statement whose status is `VORHANDEN`."""
    answer = yield from send(Call("GET", access_path(access_id, product_id, "kontoauszuege", statement_id)))
    return answer.content


def push_transactions(access_id: str, product_id: str, transactions: Sequence[NewTransaction]) -> Plan[None]:
    """Push transactions into a product, all or none; a batch that was pushed before adds nothing."""
    # A batch is added once, however often it is sent.
    path = access_path(access_id, product_id, "kontoumsaetze")
    yield from send(Call("POST", path, json=list(transactions)))


def push_statement(
    access_id: str, product_id: str, content: bytes, *, media_type: str = "application/octet-stream"
) -> Plan[ImportResult]:
    """Push a statement file (MT940, camt, CSV of a large bank, or a zip). What is stored already is not added again.

    The result tells what was added, and which rows could not be read.
    """
    answer = yield from send(_statement_call(access_id, product_id, content, media_type, is_preview=False))
    return answer.decode(ImportResult)


def preview_statement(
    access_id: str, product_id: str, content: bytes, *, media_type: str = "application/octet-stream"
) -> Plan[list[PreviewedTransaction]]:
    """What a statement file would add."""
    answer = yield from send(_statement_call(access_id, product_id, content, media_type, is_preview=True))
    return answer.decode(list[PreviewedTransaction])


def _statement_call(access_id: str, product_id: str, content: bytes, media_type: str, *, is_preview: bool) -> Call:
    path = access_path(access_id, product_id, "kontoumsaetze")
    params = {"preview": True} if is_preview else None
    return Call("POST", path, params, content=content, headers={"Content-Type": media_type})
