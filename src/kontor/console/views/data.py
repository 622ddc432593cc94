"""What belongs to the user: take it along, or have it erased."""

from kontor.console.accesses import list_products
from kontor.console.gateway import together
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of

# By the key of their texts: the query of the API's export.
EXPORTS = {
    "json": {"format": "json"},
    "spreadsheet": {"format": "csv", "dialect": "german"},
    "csv": {"format": "csv"},
    "beancount": {"format": "beancount"},
    "hledger": {"format": "hledger"},
    "gnucash": {"format": "gnucash"},
}


async def show(visit: Visit) -> Facts:
    accesses, rules = await together(
        visit.api.get("/customer/v2/bankzugaenge"), visit.api.get("/customer/v2/ai/tagging-rules")
    )
    return {
        "exports": EXPORTS,
        "accesses": accesses,
        "products": list_products(accesses),
        "rules": rules,
        "problem": None,
    }


async def erase(visit: Visit, form: Form) -> Facts | None:
    """For good, once the own name was typed. The session ends with the user."""
    typed = field_of(form, "username").strip()
    if typed != visit.session.name:
        return await show(visit) | {"problem": "wrong_name"}
    await visit.api.send("DELETE", "/customer/v2", params={"confirm": typed})
    raise RedirectTo(f"{BASE}/sign-in", notice="erased", ends_session=True)


VIEWS = [View("data", "/data", show, group="data", actions={"erase": erase})]
