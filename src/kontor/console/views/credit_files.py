"""The customer's own credit files: make one, read it with the bookings behind its figures, and ask for a review."""

from collections.abc import Mapping
from typing import Any

from kontor.console.categories import list_categories, name_categories
from kontor.console.credit_files import SELF, Booking, Figure, find_successor, read_booking, read_file
from kontor.console.disclosures import read_disclosure
from kontor.console.gateway import segment, together
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

FILES = "/customer/v2/ai/credit-files"
DISCLOSURES = "/customer/v2/freigaben"
SCOPE = "credit-check"
PAGE_ROWS, MAX_PAGES = 1000, 20  # of the customer's transactions, until those of a figure are found


async def show(visit: Visit) -> Facts:
    return await _show(visit)


async def _show(visit: Visit, problem: str | None = None, purpose: str = "", chosen: str = SELF) -> Facts:
    files, told = await together(visit.api.get(FILES), visit.api.get(DISCLOSURES))
    disclosures = [read_disclosure(each, visit.today) for each in told]
    return {
        "files": files,
        "replaced": {entry["vorgaenger"] for entry in files if "vorgaenger" in entry},
        "disclosures": [each for each in disclosures if each.is_valid and SCOPE in each.scopes],
        "problem": problem,
        "purpose": purpose,
        "chosen": chosen,
        "alone": SELF,
    }


async def make(visit: Visit, form: Form) -> Facts:
    purpose, chosen = field_of(form, "purpose").strip(), field_of(form, "disclosure", SELF)
    if not purpose:
        return await _show(visit, "purpose", purpose, chosen)
    try:
        answer = await visit.api.send("POST", FILES, json={"zweck": purpose, "freigabe": chosen})
    except ApiError as error:
        if error.status != 400:
            raise
        return await _show(visit, _name_problem(error.text), purpose, chosen)
    raise RedirectTo(f"{BASE}/credit-files/{segment(_name_made(answer.headers))}", notice="credit_file_made")


async def show_one(visit: Visit) -> Facts:
    return await _show_one(visit)


async def _show_one(visit: Visit, problem: str | None = None, comment: str = "") -> Facts:
    number = visit.path("file")
    told, files, mains = await together(
        visit.api.get(f"{FILES}/{segment(number)}"), visit.api.get(FILES), list_categories(visit.api)
    )
    file = read_file(told, name_categories(mains))
    figure = file.find_figure(visit.query.get("figure"))
    return {
        "file": file,
        "successor": find_successor(files, file.id),
        "figure": figure,
        "bookings": [] if figure is None else await _find_bookings(visit, figure),
        "problem": problem,
        "comment": comment,
    }


async def ask(visit: Visit, form: Form) -> Facts:
    """For a review by a person."""
    number, comment = segment(visit.path("file")), field_of(form, "comment").strip()
    if not comment:
        return await _show_one(visit, "comment")
    try:
        await visit.api.send("POST", f"{FILES}/{number}/review-requests", json={"kommentar": comment})
    except ApiError as error:
        if error.status not in (400, 409):
            raise
        return await _show_one(visit, "comment" if error.status == 400 else "asked", comment)
    raise RedirectTo(f"{BASE}/credit-files/{number}", notice="credit_review_asked")


async def delete(visit: Visit, form: Form) -> None:
    await visit.api.send("DELETE", f"{FILES}/{segment(visit.path('file'))}")
    raise RedirectTo(f"{BASE}/credit-files", notice="credit_file_deleted")


async def _find_bookings(visit: Visit, figure: Figure) -> list[Booking]:
    """The newest first. Those that are no longer there are left out."""
    missing, found = set(figure.rows), []
    cursor = None
    for _ in range(MAX_PAGES):
        rows, cursor = await visit.api.get_page("/customer/v2/kontoumsaetze", limit=PAGE_ROWS, cursor=cursor)
        for row in rows:
            if row["id"] in missing:
                missing.remove(row["id"])
                found.append(read_booking(row, {}, _address(row)))
        if cursor is None or not missing:
            break
    return found


def _address(row: Mapping[str, Any]) -> str:
    return f"{BASE}/transactions/{segment(row['zugangId'])}/{segment(row['produktId'])}/{segment(row['id'])}"


def _name_made(headers: Mapping[str, str]) -> str:
    return headers["location"].rpartition("/")[2]


def _name_problem(text: str) -> str:
    return next(
        (problem for problem, field in (("disclosure", "freigabe"), ("purpose", "zweck")) if field in text), "many"
    )


VIEWS = [
    View("credit_files", "/credit-files", show, group="data", actions={"make": make}),
    View(
        "credit_file",
        "/credit-files/{file:str}",
        show_one,
        parent="credit_files",
        actions={"ask": ask, "delete": delete},
    ),
]
