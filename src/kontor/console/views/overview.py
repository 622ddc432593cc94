"""The first page: what needs attention, what there is, what is left, what comes next."""

from kontor.console.accesses import list_accounts, list_products
from kontor.console.alerts import ALERTS, OPEN, read_alert
from kontor.console.banks import sum_by_currency
from kontor.console.gateway import segment, together
from kontor.console.visits import BASE, Facts, Form, GoTo, View, Visit, field_of
from kontor_client import ApiError

SHOWN_CONTRACTS = 6


async def show(visit: Visit) -> Facts:
    api = visit.api
    accesses, alerts, disposable, contracts = await together(
        api.get("/customer/v2/bankzugaenge"),
        api.get(ALERTS),
        api.get("/customer/v2/ai/disposable-money"),
        api.get("/customer/v2/ai/contracts"),
    )
    products = list_accounts(list_products(accesses))
    coming = [
        contract for contract in contracts if (contract["details"].get("dateNext") or "") >= visit.today.isoformat()
    ]
    coming.sort(key=lambda contract: contract["details"]["dateNext"])
    return {
        "products": products,
        "totals": sum_by_currency(products),
        "alerts": [read_alert(alert) for alert in alerts if alert["status"] in OPEN],
        "disposable": disposable,
        "coming": coming[:SHOWN_CONTRACTS],
    }


async def dismiss(visit: Visit, form: Form) -> Facts | None:
    """A notice that is gone meanwhile, or was dismissed in another tab, is dismissed."""
    try:
        path = f"{ALERTS}/{segment(field_of(form, 'alert'))}"
        await visit.api.send("PUT", path, json={"status": "ERLEDIGT"})
    except ApiError as error:
        if error.status not in (400, 404):
            raise
    raise GoTo(BASE, notice="alert_dismissed")


VIEWS = [View("overview", "", show, group="money", actions={"dismiss": dismiss})]
