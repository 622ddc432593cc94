"""Whom the user has paid, with a limit and a hold for each."""

from decimal import Decimal
from typing import Any

from kontor.console.budgets import write_amount
from kontor.console.gateway import segment
from kontor.console.payments import read_amount
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

PAYEES = "/customer/v2/zahlungsempfaenger"
PAGE = "/console/payments/payees"
MAX_HOURS = 720


async def show_payees(visit: Visit) -> Facts:
    return await _describe(visit)


async def save(visit: Visit, form: Form) -> Facts | None:
    """Both rules of one payee; an empty field is none."""
    payee_id, entered = field_of(form, "payee"), field_of(form, "limit").strip()
    limit = read_amount(entered, visit.language) if entered else None
    hours = _read_hours(field_of(form, "hours").strip())
    if (entered and not limit) or hours is None:
        return await _describe(visit, wrong=payee_id)
    body = {"limit": None if limit is None else float(limit), "sperrfristStunden": hours or None}
    try:
        await visit.api.send("PUT", f"{PAYEES}/{segment(payee_id)}", json=body)
    except ApiError as error:
        if error.status == 404:
            raise RedirectTo(PAGE) from None
        if error.status not in (400, 403):
            raise
        return await _describe(visit, wrong=payee_id, is_forbidden=error.status == 403)
    raise RedirectTo(PAGE, notice="payees_saved")


async def _describe(visit: Visit, *, wrong: str | None = None, is_forbidden: bool = False) -> Facts:
    listed: list[dict[str, Any]] = await visit.api.get(PAYEES)
    payees = [payee | {"entered": _show_limit(payee.get("limit"), visit.language)} for payee in listed]
    return {"payees": payees, "wrong": wrong, "is_forbidden": is_forbidden, "most_hours": MAX_HOURS}


def _show_limit(limit: Decimal | None, language: str) -> str:
    return "" if limit is None else write_amount(Decimal(limit), language)


def _read_hours(text: str) -> int | None:
    """None for what is no number of hours."""
    if not text:
        return 0
    is_number = text.isascii() and text.isdigit() and len(text) <= 3
    return int(text) if is_number and int(text) <= MAX_HOURS else None


VIEWS: list[View] = [
    View("payees", "/payments/payees", show_payees, parent="payments", actions={"save": save}),
]
