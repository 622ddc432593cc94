"""Accounts: which banks are connected, what is on each account, and what to do about either."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from kontor.console import connecting
from kontor.console.accesses import Product, list_accounts, read_product
from kontor.console.accounts import describe_product, draw_balances, read_positions, summarise_balances
from kontor.console.alerts import ALERTS
from kontor.console.banks import (
    ACCESSES,
    PAGE,
    Bank,
    describe_outcome,
    find_form,
    find_or_none,
    is_about_address,
    list_banks,
    mark_ending,
    refresh_bank,
    send_present,
    sum_by_currency,
)
from kontor.console.connecting import Health, read_health
from kontor.console.entries import read_entries
from kontor.console.entry_filters import EntryFilter
from kontor.console.figure_links import find_checked_link
from kontor.console.gateway import segment, together
from kontor.console.views.connecting import begin_dialogue
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

RANGES = ("quarter", "year", "all")
RANGE_DAYS = {"quarter": 91, "year": 365, "all": None}
INTERVALS = {"quarter": "day", "year": "week", "all": "month"}
SHOWN_ENTRIES = 8


async def show_accounts(visit: Visit) -> Facts:
    return await _gather(visit)


async def _gather(visit: Visit) -> Facts:
    banks, alerts = await together(list_banks(visit.api), find_or_none(visit.api, ALERTS))
    banks = mark_ending(banks, alerts or [])
    health = await _find_health(visit, banks)
    products = list_accounts([product for bank in banks for product in bank.products])
    return describe_outcome(visit) | {
        "banks": banks,
        "health": {bank.id: health.get(bank.provider_id) for bank in banks},
        "products": products,
        "totals": sum_by_currency(products),
        "deleting": next((bank for bank in banks if bank.id == visit.query.get("delete")), None),
    }


async def _find_health(visit: Visit, banks: Sequence[Bank]) -> dict[str, Health | None]:
    """By provider; of no others than those the user has chosen."""
    ids = sorted({bank.provider_id for bank in banks if bank.provider_id})
    found = await together(*(find_or_none(visit.api, f"/providers/v2/{segment(id)}/statistics") for id in ids))
    return {id: read_health(statistics) for id, statistics in zip(ids, found, strict=True)}


async def connect(visit: Visit, form: Form) -> Facts | None:
    """To the web form, or to a page of our own where the tenant may handle credentials.

    Sessions that were left open are ended first, as the interface recommends.
    """
    await visit.api.send("DELETE", "/customer/v2/regprotect/sessions")
    try:
        answer = await send_present(visit, ACCESSES, json={str(uuid4()): {}})
    except ApiError as error:
        if error.status != 400:
            raise
        raise RedirectTo(connecting.PAGE) from None
    raise RedirectTo(find_form(visit, answer.headers))


async def renew(visit: Visit, form: Form) -> Facts | None:
    """Authentication that the bank wants, or an access that is not finished. Nothing else changes."""
    bank = await _find_bank(visit, form)
    if bank.renewal is None:
        raise RedirectTo(PAGE)  # another tab was faster
    if not await _open_form(visit, bank.renewal):
        try:
            await begin_dialogue(visit, bank.id)
        except ApiError as error:
            if error.status not in (400, 409):
                raise
            raise RedirectTo(PAGE, notice="bank_address" if is_about_address(error) else "bank_busy") from None
        raise RedirectTo(PAGE, notice="bank_not_renewed")
    return None


async def change(visit: Visit, form: Form) -> Facts | None:
    """Other credentials for an access: in the web form, or on a page of our own."""
    bank = await _find_bank(visit, form)
    await _open_form(visit, f"{ACCESSES}/{segment(bank.id)}/consent")
    raise RedirectTo(f"{connecting.PAGE}?{urlencode({'access': bank.id})}")


async def _find_bank(visit: Visit, form: Form) -> Bank:
    banks = await list_banks(visit.api)
    bank = next((bank for bank in banks if bank.id == field_of(form, "access")), None)
    if bank is None:
        raise RedirectTo(PAGE)  # another tab was faster
    return bank


async def _open_form(visit: Visit, path: str) -> bool:
    """Goes on to the web form; False where the tenant handles credentials itself."""
    try:
        answer = await send_present(visit, path)
    except ApiError as error:
        if error.status == 404:
            raise RedirectTo(PAGE, notice="bank_gone") from None  # deleted in another tab
        if error.status != 400:
            raise
        return False
    raise RedirectTo(find_form(visit, answer.headers))


async def refresh(visit: Visit, form: Form) -> Facts | None:
    access_id = _read_access_id(form)
    try:
        await visit.api.get(f"{ACCESSES}/{segment(access_id)}")  # the next call would begin a new one of this name
    except ApiError as error:
        if error.status != 404:
            raise
        raise RedirectTo(PAGE) from None  # deleted in another tab
    await refresh_bank(visit, access_id, {}, PAGE, "bank_refreshed")


async def delete(visit: Visit, form: Form) -> Facts | None:
    await visit.api.send("DELETE", f"{ACCESSES}/{segment(_read_access_id(form))}")
    raise RedirectTo(PAGE, notice="bank_deleted")


def _read_access_id(form: Form) -> str:
    access_id = field_of(form, "access")
    if not access_id:
        raise BadRequestError
    return access_id


# One account


async def show_account(visit: Visit) -> Facts:
    access_id, product_id = visit.path("access"), visit.path("product")
    span = visit.choose("range", RANGES)
    path = f"{ACCESSES}/{segment(access_id)}/{segment(product_id)}"
    product = read_product(access_id, await visit.api.get(path))
    shared: Facts = {"product": product, "facts": describe_product(product), "range": span, "ranges": RANGES}
    if product.is_depot:
        return shared | await _show_depot(visit, product)
    balances, rows = await together(
        visit.api.get(f"{path}/balances", **{"from": _begin(visit.today, span), "interval": INTERVALS[span]}),
        visit.api.get(f"{path}/kontoumsaetze", limit=SHOWN_ENTRIES, tag="categories"),
    )
    summary = summarise_balances(balances)
    return shared | {
        "change_url": None if summary is None else await _find_change(visit, product, balances, summary.change),
        "chart": draw_balances(balances, product, visit.texts) if len(balances) > 1 else None,
        "summary": summary,
        "entries": read_entries(rows),
        "positions": None,
    }


async def _find_change(
    visit: Visit, product: Product, balances: Sequence[Mapping[str, Any]], change: Decimal
) -> str | None:
    """The transactions after the first balance up to the last one, if they add up to the change."""
    since, until = (date.fromisoformat(balances[at]["date"]) for at in (0, -1))
    asked = EntryFilter((product.id,), since=(since + timedelta(days=1)).isoformat(), until=until.isoformat())
    return await find_checked_link(visit.api, asked, product.currency, change)


async def _show_depot(visit: Visit, product: Product) -> Facts:
    positions = read_positions(await visit.api.get(f"{product.path}/depotpositionen"))
    total = sum((position.value for position in positions if position.value is not None), Decimal(0))
    return {"chart": None, "summary": None, "entries": [], "positions": positions, "total": total}


def _begin(today: date, span: str) -> str | None:
    days = RANGE_DAYS[span]
    return None if days is None else (today - timedelta(days=days)).isoformat()


VIEWS: list[View] = [
    View(
        "accounts", "/accounts", show_accounts, group="money",
        actions={"connect": connect, "renew": renew, "change": change, "refresh": refresh, "delete": delete},
    ),
    View("account", "/accounts/{access:str}/{product:str}", show_account, parent="accounts"),
]  # fmt: skip
