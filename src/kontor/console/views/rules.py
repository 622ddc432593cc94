"""The user's own rules: which there are, what each would decide, and how to make, change, pause and delete them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from kontor.console.accesses import Product, list_products
from kontor.console.banks import ACCESSES
from kontor.console.categories import add_own, list_assignable, list_categories, list_own_categories
from kontor.console.entries import read_entries
from kontor.console.gateway import segment, together
from kontor.console.rules import FIELDS, PAGE, RULES, fill_form, preview_rule, read_form, read_rule, write_rule
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError


async def show_rules(visit: Visit) -> Facts:
    rules, accesses = await together(visit.api.get(RULES), visit.api.get(ACCESSES))
    products = list_products(accesses)
    shown = [read_rule(rule, products, visit.texts) for rule in rules]
    return {"rules": sorted(shown, key=lambda rule: (not rule.is_active, rule.name.casefold(), rule.conditions))}


async def delete_rule(visit: Visit, form: Form) -> Facts | None:
    await visit.api.send("DELETE", f"{RULES}/{segment(_read_id(form))}")
    raise RedirectTo(PAGE, notice="rule_deleted")


async def pause_rule(visit: Visit, form: Form) -> Facts | None:
    """Off, or on again: the rule as it is, with that changed."""
    path = f"{RULES}/{segment(_read_id(form))}"
    fields = fill_form(await visit.api.get(path))
    is_active = field_of(form, "active") == "yes"
    body, _ = write_rule(fields | {"active": "" if is_active else "no"})
    await visit.api.send("PUT", path, json=body)
    raise RedirectTo(PAGE, notice="rule_resumed" if is_active else "rule_paused")


def _read_id(form: Form) -> str:
    rule_id = field_of(form, "rule")
    if not rule_id:
        raise BadRequestError
    return rule_id


# One rule


async def show_new_rule(visit: Visit) -> Facts:
    """Filled in as the address says; with conditions, what the rule would decide is shown at once."""
    fields = {name: visit.query.get(name, "").strip() for name in FIELDS}
    return await _show_form(visit, fields, has_preview=any(fields.values()))


async def show_rule(visit: Visit) -> Facts:
    rule = await visit.api.get(f"{RULES}/{segment(visit.path('rule'))}")
    return await _show_form(visit, fill_form(rule), rule["id"])


async def _show_form(
    visit: Visit, fields: Mapping[str, str], rule_id: str | None = None, *, has_preview: bool = True
) -> Facts:
    accesses, categories, own = await together(
        visit.api.get(ACCESSES), list_categories(visit.api), list_own_categories(visit.api)
    )
    products = [product for product in list_products(accesses) if not product.is_depot]
    body, problem = write_rule(fields)
    preview, error = None, None
    if has_preview and problem is None:
        preview, error = await _preview(visit, body, rule_id, products)
    return {
        "fields": fields,
        "rule_id": rule_id,
        "form_url": PAGE + (f"/{segment(rule_id)}" if rule_id else "/new"),
        "entry_url": _read_entry_url(visit.query.get("entry", "")),
        "products": products,
        "choices": add_own(list_assignable(categories), own, visit.texts("transactions.own_categories")),
        "preview": preview,
        "problem": problem if has_preview else None,
        "error": error,
    }


def _read_entry_url(text: str) -> str:
    """Back to the transaction that the rule was thought of at; nothing but an address of ours."""
    parts = urlsplit(text)
    is_ours = not parts.scheme and not parts.netloc and parts.path.startswith("/console/transactions/")
    return text if is_ours and "\\" not in text else ""


async def _preview(
    visit: Visit, body: dict[str, Any], rule_id: str | None, products: list[Product]
) -> tuple[Facts | None, str | None]:
    """What it would decide, or the API's reason why there can be no such rule."""
    try:
        found = await preview_rule(visit.api, body | ({"id": rule_id} if rule_id else {}))
    except ApiError as error:
        if error.status != 400:
            raise
        return None, error.text
    names = {product.id: product.name for product in products}
    examples = [(entry, names.get(entry.facts["produktId"], "")) for entry in read_entries(found["beispiele"])]
    return {"count": found["anzahl"], "total": found["summe"], "examples": examples}, None


async def preview(visit: Visit, form: Form) -> Facts | None:
    return await _show_form(visit, read_form(form), _find_id(visit)) | {"status": 200}


async def save(visit: Visit, form: Form) -> Facts | None:
    fields, rule_id = read_form(form), _find_id(visit)
    body, problem = write_rule(fields)
    if problem is not None:
        return await _show_form(visit, fields, rule_id)
    try:
        if rule_id is None:
            await visit.api.send("POST", RULES, json=body)
        else:
            await visit.api.send("PUT", f"{RULES}/{segment(rule_id)}", json=body)
    except ApiError as error:
        if error.status != 400:
            raise
        return await _show_form(visit, fields, rule_id, has_preview=False) | {"error": error.text}
    raise RedirectTo(PAGE, notice="rule_added" if rule_id is None else "rule_changed")


def _find_id(visit: Visit) -> str | None:
    """None on the page of a new rule."""
    rule_id = visit.request.path_params.get("rule")
    return None if rule_id is None else str(rule_id)


VIEWS: list[View] = [
    View(
        "rules", "/transactions/rules", show_rules, parent="transactions",
        actions={"delete": delete_rule, "pause": pause_rule},
    ),
    View(
        "rule_new", "/transactions/rules/new", show_new_rule, parent="transactions",
        actions={"preview": preview, "save": save},
    ),
    View(
        "rule", "/transactions/rules/{rule:str}", show_rule, parent="transactions",
        actions={"preview": preview, "save": save},
    ),
]  # fmt: skip
