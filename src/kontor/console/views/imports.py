"""Files with bookings: looked at first, then imported. A CSV of an unknown form is described by pointing at columns."""

from collections.abc import Mapping
from typing import Any

from kontor.console.accesses import list_products
from kontor.console.gateway import segment, together
from kontor.console.imports import (
    DAY_FORMATS,
    DECIMAL_SIGNS,
    FIELDS,
    Column,
    Description,
    guess_description,
    read_account,
)
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

IMPORTS = "/customer/v2/imports"
FORMS = f"{IMPORTS}/forms"
PAGE = f"{BASE}/imports"
MAX_FILE = 16 * 1024 * 1024
MAX_COLUMNS = 300


async def show(visit: Visit) -> Facts:
    facts = await _gather(visit)
    result = visit.query.get("result")
    if result is not None:
        imported = await visit.api.get(f"{IMPORTS}/{segment(result)}")
        facts["result"] = [read_account(account, facts["products"]) for account in imported["konten"]]
    return facts


async def _gather(visit: Visit, **other: Any) -> Facts:
    accesses, forms = await together(visit.api.get("/customer/v2/bankzugaenge"), visit.api.get(FORMS))
    facts: Facts = {
        "products": list_products(accesses),
        "forms": forms,
        "target": "",
        "form_name": "",
        "description": None,
        "is_described": False,
        "preview": None,
        "result": None,
        "problem": None,
        "problem_details": None,
        "limit": MAX_FILE,
        "fields": FIELDS,
        "day_formats": DAY_FORMATS,
        "decimal_signs": DECIMAL_SIGNS,
    }
    return facts | other


async def preview(visit: Visit, form: Form) -> Facts | None:
    """What the file would bring, or which columns it has."""
    return await _preview(visit, form)


async def describe(visit: Visit, form: Form) -> Facts | None:
    """Keep how the columns are read, and look at the file with it."""
    description = _read_description(form)
    shown = {"target": field_of(form, "target"), "description": description}
    problem = await _find_problem(visit, form, description)
    if problem is not None:
        return await _gather(visit, **shown, problem=problem)
    try:
        await visit.api.send("POST", FORMS, json=description.body)
    except ApiError as error:
        return await _refuse(visit, error, "bad_form", shown)
    return await _preview(visit, form, description)


async def _find_problem(visit: Visit, form: Form, description: Description) -> str | None:
    fields = [column.field for column in description.columns]
    if not any(field in fields for field in ("buchungsdatum", "wertstellungsdatum")):
        return "no_day"
    if not any(field in fields for field in ("betrag", "soll", "haben")):
        return "no_amount"
    if not description.name:
        return "no_name"
    if description.name == field_of(form, "form"):  # described before, and now corrected
        return None
    stored = await visit.api.get(FORMS)
    return "name_taken" if any(known["name"] == description.name for known in stored) else None


async def _preview(visit: Visit, form: Form, description: Description | None = None) -> Facts:
    shown: Facts = {"target": field_of(form, "target"), "description": description}
    if not visit.file:
        return await _gather(visit, **shown, problem="no_file")
    wanted = None if description is None else description.name
    if wanted:
        shown |= {"form_name": wanted, "is_described": True}
    try:
        answer = await _send(visit, form, wanted, preview=True)
    except ApiError as error:
        return await _refuse(visit, error, "unreadable", shown)
    if "konten" not in answer:
        return await _gather(visit, **shown | {"description": guess_description(answer["spalten"])}, status=200)
    facts = await _gather(visit, **shown, status=200)
    facts["preview"] = [read_account(account, facts["products"]) for account in answer["konten"]]
    return facts


async def store(visit: Visit, form: Form) -> Facts | None:
    shown = {"target": field_of(form, "target")}
    if not visit.file:
        return await _gather(visit, **shown, problem="no_file")
    try:
        answer = await _send(visit, form, field_of(form, "form") or None)
    except ApiError as error:
        return await _refuse(visit, error, "unreadable", shown)
    raise RedirectTo(f"{PAGE}?result={answer['id']}", notice="file_imported")


async def delete_form(visit: Visit, form: Form) -> Facts | None:
    try:
        await visit.api.send("DELETE", f"{FORMS}/{segment(field_of(form, 'form'))}")
    except ApiError as error:
        if error.status != 404:  # gone already: another tab was faster
            raise
    raise RedirectTo(PAGE, notice="form_deleted")


async def _send(visit: Visit, form: Form, wanted: str | None, *, preview: bool = False) -> Mapping[str, Any]:
    target = field_of(form, "target") or None
    answer: Mapping[str, Any] = await visit.api.post_file(
        IMPORTS, visit.file or b"", produkt=target, form=wanted, preview=preview or None
    )
    return answer


async def _refuse(visit: Visit, error: ApiError, problem: str, shown: Mapping[str, Any]) -> Facts:
    """What the API says about a file is shown on the page; anything else is a refusal."""
    if error.status not in (400, 413):
        raise error
    return await _gather(visit, **shown, problem=problem, problem_details=error.text.removeprefix("body: "))


def _read_description(form: Form) -> Description:
    """From the fields of the page: each column brings its name, its example and its choice."""
    columns = []
    for number in range(MAX_COLUMNS):
        name = field_of(form, f"name-{number}")
        if not name:
            break
        field = field_of(form, f"field-{number}")
        if field and field not in FIELDS:
            raise BadRequestError
        columns.append(Column(name, field_of(form, f"example-{number}"), field))
    day_format, decimal_sign = field_of(form, "day_format"), field_of(form, "decimal_sign")
    if not columns or day_format not in DAY_FORMATS or decimal_sign not in DECIMAL_SIGNS:
        raise BadRequestError
    return Description(tuple(columns), day_format, decimal_sign, field_of(form, "name").strip())


ACTIONS = {"preview": preview, "describe": describe, "import": store, "delete_form": delete_form}
VIEWS = [View("imports", "/imports", show, group="money", actions=ACTIONS, largest_file=MAX_FILE)]
