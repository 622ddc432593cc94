"""Several transactions at once: what would be changed, the change, and its undoing."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from kontor.console.accesses import list_products
from kontor.console.banks import ACCESSES, read_time
from kontor.console.categories import list_categories, list_own_categories, name_categories, write_tag
from kontor.console.entries import read_entries
from kontor.console.entry_filters import PAGE, EntryFilter, read_filter
from kontor.console.gateway import segment, together
from kontor.console.views.transactions import ENTRIES
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

EDITS = f"{ENTRIES}/bearbeitungen"
EDITS_PAGE = f"{PAGE}/edits"
ROW = "row."


async def show_edits(visit: Visit) -> Facts:
    edits, names = await together(visit.api.get(EDITS), _name_categories(visit))
    shown = [
        {
            "id": edit["id"],
            "made_at": read_time(edit["erstelltAm"]),
            "count": edit["anzahl"],
            "skipped": edit["uebersprungen"],
            "category": names.get(name, name) if (name := _read_category(edit)) else "",
            "keywords": edit.get("schlagworte"),
            "has_note": "notiz" in edit,
            "note": edit.get("notiz") or "",
            # What was set is deleted after 30 days, and with it the way back.
            "can_undo": any(key in edit for key in ("tags", "schlagworte", "notiz")),
        }
        for edit in edits
    ]
    return {"edits": shown, "preview": None, "error": None}


async def _name_categories(visit: Visit) -> dict[str, str]:
    mains, own = await together(list_categories(visit.api), list_own_categories(visit.api))
    return name_categories(mains) | {category.system_name: category.name for category in own}


def _read_category(edit: Mapping[str, Any]) -> str:
    tags = edit.get("tags") or {}
    return str((tags[0] if isinstance(tags, list) else tags).get("systemName", ""))


def read_body(form: Form) -> tuple[dict[str, Any], EntryFilter, str | None]:
    """The API's body, the filter of the list that the form was on, and the name of a text about what is missing."""
    asked = read_filter(dict(parse_qsl(field_of(form, "filter"))))
    body: dict[str, Any] = {}
    if field_of(form, "scope") == "all":
        body["filter"] = asked.for_api()
    else:
        body["ids"] = [name.removeprefix(ROW) for name in form if name.startswith(ROW)]
    if category := field_of(form, "category"):
        body["tags"] = write_tag(category)
    keywords = [word.strip() for word in field_of(form, "keywords").split(",") if word.strip()]
    if keywords or "no_keywords" in form:
        body["schlagworte"] = keywords
    note = field_of(form, "note").strip()
    if note or "no_note" in form:
        body["notiz"] = note or None
    problem = "nothing_chosen" if not body.get("ids", True) else None
    if not body.keys() & {"tags", "schlagworte", "notiz"}:
        problem = problem or "nothing_to_set"
    return body, asked, problem


async def preview(visit: Visit, form: Form) -> Facts | None:
    body, asked, problem = read_body(form)
    facts = await show_edits(visit) | {"back_url": asked.url()}
    if problem is not None:
        return facts | {"error": visit.texts(f"edits.problem.{problem}")}
    try:
        found, sums, accesses, names = await together(
            visit.api.post(EDITS, body, preview=True),
            visit.api.get(f"{ENTRIES}/summe", **body["filter"]) if "filter" in body else _get_nothing(),
            visit.api.get(ACCESSES),
            _name_categories(visit),
        )
    except ApiError as error:
        if error.status != 400:
            raise
        return facts | {"error": error.text}
    chosen = len(body["ids"]) if "ids" in body else sum(found_sum["anzahl"] for found_sum in sums)
    accounts = {product.id: product.name for product in list_products(accesses)}
    examples = [(entry, accounts.get(entry.facts["produktId"], "")) for entry in read_entries(found["beispiele"])]
    shown = {
        "count": found["anzahl"],
        "left": chosen - found["anzahl"],
        "total": found["summe"],
        "examples": examples,
        "category": names.get(category, category) if (category := field_of(form, "category")) else "",
        "keywords": body.get("schlagworte"),
        "has_note": "notiz" in body,
        "note": body.get("notiz") or "",
    }
    fields = [(name, values[0]) for name, values in form.items() if name not in ("token", "action")]
    return facts | {"preview": shown, "fields": fields, "status": 200}


async def _get_nothing() -> Sequence[Any]:
    return []


async def apply(visit: Visit, form: Form) -> Facts | None:
    body, _, problem = read_body(form)
    if problem is not None:
        raise BadRequestError
    await visit.api.send("POST", EDITS, json=body)
    raise RedirectTo(EDITS_PAGE, notice="edit_done")


async def undo(visit: Visit, form: Form) -> Facts | None:
    edit_id = field_of(form, "edit")
    if not edit_id:
        raise BadRequestError
    await visit.api.send("DELETE", f"{EDITS}/{segment(edit_id)}")
    raise RedirectTo(EDITS_PAGE, notice="edit_undone")


VIEWS: list[View] = [
    View(
        "edits", "/transactions/edits", show_edits, parent="transactions",
        actions={"preview": preview, "apply": apply, "undo": undo},
    ),
]  # fmt: skip
