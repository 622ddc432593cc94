"""The first page: what needs attention, whether the money lasts until payday, and what there is."""

from collections.abc import Mapping, Sequence
from typing import Any

from kontor.console.accesses import Product, group_by_use, list_accounts, list_products
from kontor.console.alerts import ALERTS, OPEN, read_alert
from kontor.console.balance_curves import draw_curve
from kontor.console.banks import is_still_fetched, sum_by_currency
from kontor.console.cashflows import read_flows
from kontor.console.contracts import read_contracts
from kontor.console.gateway import segment, together
from kontor.console.outlooks import CURRENCY, Outlook, make_outlook
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

# A wide picture and one for phones: width, height, days between two labels.
SIZES = {"wide": (860, 300, 7), "narrow": (358, 260, 14)}


async def show(visit: Visit) -> Facts:
    api = visit.api
    accesses, alerts, disposable, contracts, cashflow = await together(
        api.get("/customer/v2/bankzugaenge"),
        api.get(ALERTS),
        api.get("/customer/v2/ai/disposable-money"),
        api.get("/customer/v2/ai/contracts"),
        api.get("/customer/v2/ai/cashflow", catLevel="main", excludeSavings=True),
    )
    products = list_accounts(list_products(accesses))
    details = (disposable or {}).get("details")
    outlook = make_outlook(products, read_contracts(contracts), details, read_flows(cashflow), visit.today)
    return {
        "products": products,
        "groups_of_accounts": group_by_use(products),
        "totals": sum_by_currency(products),
        "sum_by_currency": sum_by_currency,
        "alerts": [read_alert(alert, visit.language) for alert in alerts if alert["status"] in OPEN],
        "outlook": outlook,
        "income": name_income(outlook, details),
        "curves": [draw_curve(outlook, name, *size) for name, size in SIZES.items() if outlook],
        "left_out": list_left_out(products),
        "is_still_fetched": is_still_fetched(accesses),
    }


def name_income(outlook: Outlook | None, disposable: Mapping[str, Any] | None) -> str:
    """What the payday brings, as a part of names of texts."""
    return "none" if outlook is None or outlook.payday is None else "income" if disposable is None else "salary"


def list_left_out(products: Sequence[Product]) -> list[str]:
    """Currencies that the outlook knows nothing about."""
    return sorted({product.currency for product in products} - {CURRENCY})


async def dismiss(visit: Visit, form: Form) -> Facts | None:
    """A notice that is gone meanwhile, or was dismissed in another tab, is dismissed."""
    try:
        path = f"{ALERTS}/{segment(field_of(form, 'alert'))}"
        await visit.api.send("PUT", path, json={"status": "ERLEDIGT"})
    except ApiError as error:
        if error.status not in (400, 404):
            raise
    raise RedirectTo(BASE, notice="alert_dismissed")


VIEWS = [View("overview", "", show, group="money", actions={"dismiss": dismiss})]
