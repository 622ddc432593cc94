"""The first page: what there is, what is left, what comes next."""

from decimal import Decimal

from kontor.console.accesses import list_accounts, list_products
from kontor.console.gateway import together
from kontor.console.visits import Facts, View, Visit

SHOWN_CONTRACTS = 6


async def show(visit: Visit) -> Facts:
    api = visit.api
    accesses, disposable, contracts = await together(
        api.get("/customer/v2/bankzugaenge"),
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
        "total": sum((product.balance or Decimal(0) for product in products if product.currency == "EUR"), Decimal(0)),
        "disposable": disposable,
        "coming": coming[:SHOWN_CONTRACTS],
    }


VIEWS = [View("overview", "", show, group="money")]
