"""One transaction: what it means and why, and all that its user can say about it."""

from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlencode

from kontor.console.banks import ACCESSES
from kontor.console.categories import (
    add_own,
    choose_fitting,
    choose_own_fitting,
    list_categories,
    list_own_categories,
    name_categories,
    write_tag,
)
from kontor.console.entries import Entry, find_decider, read_booking_day, read_entries, read_tag
from kontor.console.entry_filters import NAMES, PAGE
from kontor.console.entry_parts import PartsForm, read_parts_form, show_parts
from kontor.console.evidence import sort_out, tell_reasons
from kontor.console.gateway import Gateway, segment, together
from kontor.console.rules import find_rule_for, preview_rule
from kontor.console.views.transactions import TREES
from kontor.console.visits import Facts, Form, RedirectTo, View, Visit, field_of
from kontor.pages.browser import BadRequestError
from kontor_client import ApiError

# Of one day and one amount there are few; whoever has more than this reads on.
FOUND_ROWS = 200
SEARCHED_ROWS = 1000  # where the address does not tell the day
MAX_FOUND_PAGES = 10
MAX_AMOUNT = 10**15  # the API searches for amounts below


async def show_transaction(visit: Visit) -> Facts:
    access_id, product_id, entry_id = _read_place(visit)
    path = f"{ACCESSES}/{segment(access_id)}/{segment(product_id)}/kontoumsaetze"
    where = _read_where(visit)
    row, cursor = await _find_row(visit.api, path, where, entry_id)
    if "from" not in where and read_booking_day(row) is not None:
        raise RedirectTo(read_entries([row])[0].find_url(access_id, product_id, visit.query.get("back", "")))
    views = (visit.api.get(path, tag=tree, cursor=cursor, **where) for tree in TREES.values())
    categories, own, *others = await together(list_categories(visit.api), list_own_categories(visit.api), *views)
    tags = {name: _find_tag(rows, entry_id) for name, rows in zip(TREES, others, strict=True)}
    category, partner = read_tag(row), tags["partner"]
    known = partner if partner is not None and partner.is_meaningful else None
    entry = read_entries([row], *([_find_rows(others[at], entry_id) for at in (1, 0, 3)]))[0]
    reasons = [] if category is None else tell_reasons(category, known, name_categories(categories), visit.texts)
    decisive, outvoted = sort_out(reasons)
    choices = add_own(
        choose_fitting(categories, entry.amount),
        choose_own_fitting(own, entry.amount),
        visit.texts("transactions.own_categories"),
    )
    chosen = tags["own"] or category
    parts = show_parts(row, name_categories(choices))
    return {
        "entry": entry,
        "category": category,
        "tags": tags,
        "decisive": decisive,
        "outvoted": outvoted,
        "choices": choices,
        "chosen": "" if chosen is None else chosen.system_name,
        "decided_by": find_decider(category),
        "parts": parts,
        "parts_form": PartsForm.of(row, "" if chosen is None else chosen.system_name),
        "others": await _count_others(visit, entry),
        "form_url": entry.find_url(access_id, product_id, visit.query.get("back", "")),
        "back_url": f"{PAGE}?{_write_back(visit)}" if visit.query.get("back") else PAGE,
        "error": None,
    }


async def _count_others(visit: Visit, entry: Entry) -> Facts | None:
    """How many transactions a rule for the same partner would decide; nothing where the bank names nobody, or the user
    may not make rules."""
    rule = find_rule_for(entry)
    if rule is None or entry.category is None:
        return None
    try:
        found = await preview_rule(visit.api, rule | {"tagTreeItem": write_tag(entry.category.system_name)})
    except ApiError as error:
        if error.status not in (400, 403):
            raise
        return None
    return {"count": found["anzahl"], "name": entry.title}


def _read_place(visit: Visit) -> tuple[str, str, str]:
    return visit.path("access"), visit.path("product"), visit.path("transaction")


def _read_where(visit: Visit) -> dict[str, Any]:
    """Where the API finds it: it gives no single transactions, but those of a day and an amount."""
    if not visit.query.get("on"):
        return {"limit": SEARCHED_ROWS}
    try:
        day = date.fromisoformat(visit.query["on"]).isoformat()
    except ValueError:
        raise BadRequestError from None
    amount = read_amount(visit.query.get("amount"))
    narrow = {} if amount is None else {"minAmount": amount, "maxAmount": amount}
    return {"limit": FOUND_ROWS, "from": day, "to": day} | narrow


def read_amount(text: str | None) -> str | None:
    """As an address of ours has it."""
    if not text:
        return None
    try:
        amount = Decimal(text)
    except ArithmeticError:
        raise BadRequestError from None
    if not amount.is_finite() or abs(amount) >= MAX_AMOUNT:
        raise BadRequestError
    return f"{amount:f}"


async def _find_row(api: Gateway, path: str, where: dict[str, Any], entry_id: str) -> tuple[Any, str | None]:
    """The transaction, and the cursor of the page it is on."""
    cursor = None
    for _ in range(MAX_FOUND_PAGES):
        rows, following = await api.get_page(path, tag="categories", explain="from" in where, cursor=cursor, **where)
        row = next((row for row in rows if row["id"] == entry_id), None)
        if row is not None:
            return row, cursor
        if following is None:
            break
        cursor = following
    raise ApiError(404, [], text="There is no such transaction.")


def _find_rows(rows: list[Any], entry_id: str) -> list[Any]:
    return [row for row in rows if row["id"] == entry_id]


def _find_tag(rows: list[Any], entry_id: str) -> Any:
    return next((read_tag(row) for row in _find_rows(rows, entry_id)), None)


def _write_back(visit: Visit, **more: str) -> str:
    """The query of the list that the user came from; only what the list knows is taken over."""
    given = dict(parse_qsl(visit.query.get("back", "")))
    return urlencode({name: given[name] for name in (*NAMES, "cursor") if given.get(name)} | more)


async def _change(visit: Visit, body: Any) -> None:
    access_id, product_id, entry_id = _read_place(visit)
    path = f"{ACCESSES}/{segment(access_id)}/{segment(product_id)}/kontoumsaetze/{segment(entry_id)}"
    await visit.api.send("PUT", path, json=body)


def _return(visit: Visit, notice: str) -> RedirectTo:
    """To the list that the user came from, where the transaction is marked; the notice stays in sight there."""
    query = _write_back(visit, notice=notice)
    return RedirectTo(f"{PAGE}?{query}#t-{segment(visit.path('transaction'))}")


async def correct(visit: Visit, form: Form) -> Facts | None:
    chosen = field_of(form, "category")
    if not chosen:
        raise BadRequestError
    if field_of(form, "scope") == "all":
        facts = await show_transaction(visit)
        rule = find_rule_for(facts["entry"])
        if rule is not None:
            query = {"entry": facts["form_url"], "category": chosen, "name": rule.get("name", "")}
            query |= {"partner": rule["conditions"]["partner"]} if "conditions" in rule else {}
            query |= {"counterparty": rule["counterpartyName"]} if "counterpartyName" in rule else {}
            query |= {"iban": rule["counterpartyIban"]} if "counterpartyIban" in rule else {}
            raise RedirectTo(f"{PAGE}/rules/new?{urlencode(query)}")
    await _change(visit, {"tags": write_tag(chosen)})
    raise _return(visit, "category_changed")


async def annotate(visit: Visit, form: Form) -> Facts | None:
    keywords = [word.strip() for word in field_of(form, "keywords").split(",") if word.strip()]
    await _change(visit, {"notiz": field_of(form, "note").strip() or None, "schlagworte": keywords})
    raise _return(visit, "note_saved")


async def split(visit: Visit, form: Form) -> Facts | None:
    """The same page again while parts are added and removed; what is wrong with them is said there."""
    facts = await show_transaction(visit)
    entry: Entry = facts["entry"]
    if entry.amount is None:
        raise BadRequestError
    parts, press = read_parts_form(form, entry.amount)
    if press == "unite":
        await _change(visit, {"teile": []})
        raise RedirectTo(f"{facts['form_url']}#split", notice="parts_removed")
    if press == "save":
        problem = parts.find_problem()
        if problem is None:
            await _change(visit, {"teile": parts.write()})
            raise RedirectTo(f"{facts['form_url']}#split", notice="parts_saved")
        return facts | {"parts_form": parts, "error": problem}
    return facts | {"parts_form": parts, "status": 200}


VIEWS: list[View] = [
    View(
        "transaction", "/transactions/{access:str}/{product:str}/{transaction:str}", show_transaction,
        parent="transactions", actions={"correct": correct, "annotate": annotate, "split": split},
    ),
]  # fmt: skip
