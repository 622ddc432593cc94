"""Contracts: what is agreed, what it costs, when it is due, how its price has developed, and what can be done."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from kontor.console.accesses import Product, list_products
from kontor.console.charts import Chart, Series
from kontor.console.contract_settings import MAX_NAME_LENGTH, list_periods, read_settings, word_period
from kontor.console.contracts import Contract, read_contract, read_contracts, read_development, sum_contracts
from kontor.console.debits import list_debits
from kontor.console.due_dates import make_calendar
from kontor.console.entry_filters import EntryFilter
from kontor.console.figure_links import find_checked_link
from kontor.console.gateway import segment, together
from kontor.console.plan_reasons import read_reasons
from kontor.console.rendering import write_day
from kontor.console.typed_days import UnreadableDayError
from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor_client import ApiError

CONTRACTS = "/customer/v2/ai/contracts"
CHOICES = ("all", "costs", "income", "insurance", "ended", "hidden")
SORTS = ("due", "amount", "name", "change")
RECENT_DAYS = 90  # after a price rise
SHOWN_BOOKINGS = 100
MAX_SEARCHED = 8  # accounts


async def show(visit: Visit) -> Facts:
    chosen, sorted_by = visit.choose("show", CHOICES), visit.choose("sort", SORTS)
    calls = [visit.api.get(CONTRACTS), visit.api.get(CONTRACTS, excluded=True)]
    if chosen == "insurance":
        calls.append(visit.api.get(CONTRACTS, insuranceOnly=True))
    answers = await together(*calls)
    contracts, hidden = read_contracts(answers[0]), read_contracts(answers[1])
    listed = (
        hidden if chosen == "hidden" else select_contracts(read_contracts(answers[2 if answers[2:] else 0]), chosen)
    )
    since = visit.today - timedelta(days=RECENT_DAYS)
    rises = {contract.id: contract.find_latest_rise() for contract in contracts if contract.is_running}
    return {
        "contracts": contracts,
        "hidden": hidden,
        "rises": {number: rise for number, rise in rises.items() if rise is not None and rise.day >= since},
        "totals": sum_contracts(contracts),
        "listed": sorted(listed, key=_KEYS[sorted_by]),
        "chosen": chosen,
        "choices": CHOICES,
        "sorted_by": sorted_by,
        "sorts": SORTS,
        "calendar": make_calendar([contract for contract in contracts if contract.is_running], visit.today),
    }


def select_contracts(contracts: list[Contract], chosen: str) -> list[Contract]:
    """Those that run, of the chosen kind, or those that have ended."""
    if chosen == "ended":
        return [contract for contract in contracts if not contract.is_running]
    running = [contract for contract in contracts if contract.is_running]
    if chosen in ("costs", "income"):
        return [contract for contract in running if contract.is_income == (chosen == "income")]
    return running


def _by_due_day(contract: Contract) -> tuple[Any, ...]:
    return (contract.next_day is None, contract.next_day or 0, contract.name.casefold())


def _by_yearly_amount(contract: Contract) -> tuple[Any, ...]:
    return (-abs(contract.yearly or Decimal(0)), contract.name.casefold())


def _by_name(contract: Contract) -> tuple[Any, ...]:
    return (not contract.name, contract.name.casefold(), contract.category)


def _by_price_change(contract: Contract) -> tuple[Any, ...]:
    return (-(contract.price_change_share or Decimal(0)), contract.name.casefold())


_KEYS: dict[str, Callable[[Contract], Any]] = {
    "due": _by_due_day,
    "amount": _by_yearly_amount,
    "name": _by_name,
    "change": _by_price_change,
}


async def restore(visit: Visit, form: Form) -> None:
    """A hidden contract, from the list of them."""
    await _change(visit, field_of(form, "contract"), {"isContract": None})
    raise RedirectTo(f"{BASE}/contracts", notice="contract_restored")


async def _change(visit: Visit, number: str, changes: dict[str, Any]) -> None:
    await visit.api.send("PUT", f"{CONTRACTS}/{segment(number)}", json=changes)


# One contract


async def show_one(visit: Visit) -> Facts:
    answer, accesses = await together(
        visit.api.get(CONTRACTS, explain=True), visit.api.get("/customer/v2/bankzugaenge")
    )
    number = visit.path("number")
    found = find_contract(answer, number)
    is_hidden = found is None
    if found is None:
        found = find_contract(await visit.api.get(CONTRACTS, excluded=True, explain=True), number)
    if found is None:
        raise ApiError(404, [], text=visit.texts("contract.unknown"))
    contract = read_contract(found)
    chosen = contract.facts.get("noticePeriod")
    bookings, total_url, debits = await together(
        find_bookings(visit, contract, list_products(accesses)),
        find_total(visit, contract),
        list_debits(visit, number),
    )
    return {
        "contract": contract,
        "is_hidden": is_hidden,
        "chart": draw_development(visit, contract),
        "changes": contract.list_price_changes(),
        "bookings": bookings,
        "total_url": total_url,
        "debits": debits,
        "payments": list_payments(contract),
        "reasons": read_reasons(contract.facts.get("evidence"), visit.texts),
        "periods": [(period, word_period(period, visit.texts)) for period in list_periods(chosen)],
        "longest_name": MAX_NAME_LENGTH,
        "typed": {name: contract.facts.get(name) or "" for name in ("name", "noticePeriod", "minimumTermEnd")},
        "problem": None,
    }


def find_contract(answer: Any, number: str) -> Any:
    return next((contract for contract in answer or () if contract["id"] == number), None)


async def save(visit: Visit, form: Form) -> Facts:
    """Name, period of notice and end of the minimum term; what is left empty is reset."""
    try:
        await _change(visit, visit.path("number"), read_settings(form))
    except UnreadableDayError:
        problem = "day"
    except ApiError as error:
        if error.status != 400:
            raise
        problem = "invalid"
    else:
        raise RedirectTo(_page_of(visit), notice="contract_saved")
    typed = {
        "name": field_of(form, "name"),
        "noticePeriod": field_of(form, "notice_period"),
        "minimumTermEnd": field_of(form, "minimum_term_end"),
    }
    return await show_one(visit) | {"problem": problem, "typed": typed}


async def hide(visit: Visit, form: Form) -> None:
    await _change(visit, visit.path("number"), {"isContract": False})
    raise RedirectTo(f"{BASE}/contracts?show=hidden", notice="contract_hidden")


async def restore_one(visit: Visit, form: Form) -> None:
    await _change(visit, visit.path("number"), {"isContract": None})
    raise RedirectTo(_page_of(visit), notice="contract_restored")


def _page_of(visit: Visit) -> str:
    return f"{BASE}/contracts/{segment(visit.path('number'))}"


async def find_bookings(visit: Visit, contract: Contract, products: list[Product]) -> list[Facts]:
    """The contract's own bookings among those that its partner's IBAN or name finds, the newest first."""
    words = contract.facts["counterpartyIban"] or contract.facts["counterpartyName"]
    if not words:
        return []
    searched: dict[str, Any] = {
        "search": words[:SHOWN_BOOKINGS],
        "from": contract.facts["dateFirst"],
        "to": contract.facts["dateLatest"],
        "limit": SHOWN_BOOKINGS,
    }
    accounts = [product for product in products if not product.is_depot][:MAX_SEARCHED]
    pages = await together(*(visit.api.get(f"{account.path}/kontoumsaetze", **searched) for account in accounts))
    ids, regular = set(contract.facts["transactionIds"]), set(contract.facts["transactionIdsRegular"])
    bookings = [
        {
            "day": booking["buchungsdatum"],
            "purpose": booking.get("verwendungszweck") or booking.get("buchungstext") or "",
            "amount": Decimal(booking["betrag"]),
            "currency": booking.get("waehrung") or "EUR",
            "account": account.name,
            "is_regular": booking["id"] in regular,
        }
        for account, page in zip(accounts, pages, strict=True)
        for booking in page or ()
        if booking["id"] in ids
    ]
    return sorted(bookings, key=lambda booking: str(booking["day"]), reverse=True)


async def find_total(visit: Visit, contract: Contract) -> str | None:
    """The list of the contract's own bookings, if its partner's IBAN or name finds these and no others."""
    facts = contract.facts
    words = facts["counterpartyIban"] or facts["counterpartyName"]
    if not words:
        return None
    asked = EntryFilter(
        search=words[:SHOWN_BOOKINGS],
        meaning="text",
        direction="in" if contract.is_income else "out",
        since=facts["dateFirst"],
        until=facts["dateLatest"],
    )
    total, count = Decimal(facts["amountTotal"]), len(facts["transactionIds"])
    return await find_checked_link(visit.api, asked, "EUR", total, count)


def list_payments(contract: Contract) -> list[Facts]:
    """What the contract itself tells of its payments, for where no booking is found; the newest first."""
    apart = read_development(contract.facts["costDevelopmentNonRegular"])
    paid = [{"day": day, "amount": amount, "is_regular": True} for day, amount in contract.development.items()]
    paid += [{"day": day, "amount": amount, "is_regular": False} for day, amount in apart.items()]
    return sorted(paid, key=lambda payment: str(payment["day"]), reverse=True)[:SHOWN_BOOKINGS]


def draw_development(visit: Visit, contract: Contract) -> Chart | None:
    """The price over time; of costs the size alone, so that dearer is higher."""
    paid = sorted(contract.development.items())
    if len(paid) < 2:
        return None
    labels = [write_day(day, visit.language) for day, _ in paid]
    colour = "income" if contract.is_income else contract.category.partition("_")[0].lower()
    series = Series(visit.texts("common.amount"), [abs(amount) for _, amount in paid], colour)
    caption = visit.texts("contract.development_caption", since=labels[0])
    return Chart("development", caption, labels, [series], "line", is_stepped=True,
                 label_heading=visit.texts("common.date"))  # fmt: skip


VIEWS = [
    View("contracts", "/contracts", show, group="money", actions={"restore": restore}),
    View(
        "contract",
        "/contracts/{number:str}",
        show_one,
        parent="contracts",
        actions={"save": save, "hide": hide, "restore": restore_one},
    ),
]
