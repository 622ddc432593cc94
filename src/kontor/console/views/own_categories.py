"""The user's own categories: names for transactions over Kontor's categories."""

from kontor.console.categories import OWN_PATH, list_categories, list_own_categories, name_categories
from kontor.console.entry_filters import PAGE
from kontor.console.gateway import segment, together
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

CATEGORIES_PAGE = f"{PAGE}/categories"


async def show(visit: Visit) -> Facts:
    own, mains = await together(list_own_categories(visit.api), list_categories(visit.api))
    return {
        "own": own,
        "mains": mains,
        "names": name_categories(mains),
        "typed": {"name": "", "basis": ""},
        "error": None,
    }


async def add(visit: Visit, form: Form) -> Facts | None:
    name, basis = _read(form)
    try:
        await visit.api.send("POST", OWN_PATH, json={"displayName": name, "basis": basis})
    except ApiError as error:
        return await _refuse(visit, error, form)
    raise RedirectTo(CATEGORIES_PAGE, notice="category_added")


async def change(visit: Visit, form: Form) -> Facts | None:
    """The description is kept: this page does not ask for one."""
    name, basis = _read(form)
    number = field_of(form, "number")
    try:
        known = await visit.api.get(f"{OWN_PATH}/{segment(number)}")
        body = {"displayName": name, "basis": basis, "description": known.get("description")}
        await visit.api.send("PUT", f"{OWN_PATH}/{segment(number)}", json=body)
    except ApiError as error:
        return await _refuse(visit, error)
    raise RedirectTo(CATEGORIES_PAGE, notice="category_renamed")


async def delete(visit: Visit, form: Form) -> Facts | None:
    try:
        await visit.api.send("DELETE", f"{OWN_PATH}/{segment(field_of(form, 'number'))}")
    except ApiError as error:
        return await _refuse(visit, error)
    raise RedirectTo(CATEGORIES_PAGE, notice="category_deleted")


def _read(form: Form) -> tuple[str, str]:
    name, basis = field_of(form, "name").strip(), field_of(form, "basis")
    if not name or not basis:
        raise BadRequestError
    return name, basis


async def _refuse(visit: Visit, error: ApiError, typed: Form | None = None) -> Facts:
    """A category of the tenant is one that users cannot change: the API does not find it there."""
    if error.status not in (400, 404):
        raise error
    facts = await show(visit)
    if typed is not None:
        facts["typed"] = {"name": field_of(typed, "name"), "basis": field_of(typed, "basis")}
    text = visit.texts("own_categories.not_yours") if error.status == 404 else error.text
    return facts | {"error": text, "status": error.status}


VIEWS: list[View] = [
    View(
        "own_categories", "/transactions/categories", show, parent="transactions",
        actions={"add": add, "change": change, "delete": delete},
    ),
]  # fmt: skip
