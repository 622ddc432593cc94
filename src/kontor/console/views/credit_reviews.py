"""For advisers: credit files that customers disclose, and their reviews. Opening a file is a recorded read."""

from collections.abc import Mapping
from typing import Any

from kontor.console.banks import find_or_none
from kontor.console.categories import list_assignable, list_categories, name_categories
from kontor.console.credit_files import read_bookings, read_file
from kontor.console.gateway import segment, together
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

FILES = "/adviser/v2/credit-files"
STATUSES = {"asked": "ANGEFORDERT", "open": "UNGEPRUEFT", "done": "GEPRUEFT"}
NAMES = {status: name for name, status in STATUSES.items()}
PAGE_ROWS, MAX_PAGES = 500, 20  # the API gives as many in one page


async def show(visit: Visit) -> Facts:
    """What is asked for comes first; a filter shows one kind alone."""
    wanted = visit.choose("status", ("", *STATUSES))
    found = await _list_entries(visit, STATUSES.get(wanted))
    order = list(NAMES)
    found.sort(key=lambda entry: entry["erstelltAm"], reverse=True)
    found.sort(key=lambda entry: order.index(entry["status"]))
    return {"entries": found, "names": NAMES, "statuses": list(STATUSES), "chosen": wanted}


async def show_one(visit: Visit) -> Facts:
    return await _show_one(visit)


async def _show_one(visit: Visit, problem: str | None = None, form: Form | None = None) -> Facts:
    number = visit.path("file")
    here = f"{FILES}/{segment(number)}"
    told, mains, entries = await together(visit.api.get(here), list_categories(visit.api), _list_entries(visit, None))
    file, names = read_file(told, name_categories(mains)), name_categories(mains)
    entry: Mapping[str, Any] = next((entry for entry in entries if entry["id"] == number), {})
    figure, shows_bookings = file.find_figure(visit.query.get("figure")), _offers(entry, "get_transactions")
    bookings = await visit.api.get(f"{here}/transactions") if figure is not None and shows_bookings else []
    given = form or {}
    return {
        "file": file,
        "entry": entry,
        "state": NAMES.get(entry.get("status", "")),
        "wish": await find_or_none(visit.api, f"{here}/review-request") if "angefordertAm" in entry else None,
        "figure": figure,
        "shows_bookings": shows_bookings,
        "bookings": [] if figure is None else read_bookings(bookings, figure, names),
        "choices": list_assignable(mains),
        "problem": problem,
        "comment": field_of(given, "comment"),
        "category": field_of(given, "category"),
        "ticked": given.get("booking", []),
    }


def _offers(entry: Mapping[str, Any], name: str) -> bool:
    return any(relation["rel"] == name for relation in entry.get("relations", ()))


async def _list_entries(visit: Visit, status: str | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page, cursor = await visit.api.get_page(FILES, status=status, limit=PAGE_ROWS, cursor=cursor)
        found += page
        if cursor is None:
            break
    return found


async def confirm(visit: Visit, form: Form) -> Facts:
    return await _review(visit, form, {"ergebnis": "BESTAETIGT"})


async def recompute(visit: Visit, form: Form) -> Facts:
    return await _review(visit, form, {"ergebnis": "NEU_BERECHNET"})


async def correct(visit: Visit, form: Form) -> Facts:
    """All bookings that are ticked get the category that is chosen."""
    rows, category = form.get("booking", []), field_of(form, "category")
    if not rows or not category:
        return await _show_one(visit, "choice", form)
    corrections = [{"umsatz": row, "systemName": category} for row in rows]
    return await _review(visit, form, {"ergebnis": "NEU_BERECHNET", "korrekturen": corrections})


async def _review(visit: Visit, form: Form, body: dict[str, Any]) -> Facts:
    comment = field_of(form, "comment").strip()
    if not comment:
        return await _show_one(visit, "comment", form)
    path = f"/customer/v2/ai/credit-files/{segment(visit.path('file'))}/reviews"
    try:
        answer = await visit.api.send("POST", path, json={"kommentar": comment} | body)
    except ApiError as error:
        if error.status not in (400, 409):
            raise
        return await _show_one(visit, _name_problem(error), form)
    made = answer.headers["location"].rpartition("/")[2]
    raise RedirectTo(f"{BASE}/credit-reviews/{segment(made)}", notice="credit_file_reviewed")


def _name_problem(error: ApiError) -> str:
    if error.status == 409:
        return "newer" if "newer" in error.text else "versions"
    return "category" if "korrekturen" in error.text else "comment"


VIEWS = [
    View("credit_reviews", "/credit-reviews", show, group="advice", is_adviser=True),
    View(
        "credit_review",
        "/credit-reviews/{file:str}",
        show_one,
        parent="credit_reviews",
        actions={"confirm": confirm, "recompute": recompute, "correct": correct},
        is_adviser=True,
        repeatable=("booking",),
    ),
]
