"""What came in and went out by category and month, and what is expected: figures of the cashflow analysis."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kontor.assistants.errors import ToolError
from kontor.assistants.registry import Amount, CategoryName, Confidence, Input, Output, ToolCall, tool
from kontor.assistants.tools.shapes import Category, read_category

CASHFLOW = "/customer/v2/ai/cashflow"
AGGREGATES = ("INCOME", "EXPENSES", "NET")
_MONTH = re.compile("([0-9]{4})_M([0-9]{2})")
NOTHING = Decimal("0.00")
Month = Annotated[str, Meta(pattern="^20[0-9]{2}-(0[1-9]|1[0-2])$", examples=["2026-11"])]


class SpendingQuery(Input, kw_only=True):
    month: Annotated[Month, Meta(description="as yyyy-mm; left out: the current one")] | None = None
    subcategories: Annotated[bool, Meta(description="subcategories instead of main categories")] = False


class CategoryAmount(Output, kw_only=True):
    category: Category
    amount: Annotated[Amount, Meta(description="negative: more went out than came in")]


class Spending(Output, kw_only=True):
    month: str
    income: Amount
    expenses: Annotated[Amount, Meta(description="negative")]
    net: Amount
    categories: Annotated[list[CategoryAmount], Meta(description="the largest expenses first")]
    is_complete: Annotated[bool, Meta(description="false: the month has not ended")]
    excluded_currencies: Annotated[list[str], Meta(description="amounts are in euros; these are left out")] = (
        msgspec.field(default_factory=list)
    )


@tool("Spending by category", input=SpendingQuery, output=Spending)
async def spending_by_category(call: ToolCall, query: SpendingQuery) -> Spending:
    """Show what came in and went out in one month, by category. Transfers between own accounts are neither. Money put
    into savings has lines of its own (SAVINGS), and is part of neither income nor expenses."""
    current = f"{call.today:%Y-%m}"
    month = query.month or current
    found = await call.api.get(CASHFLOW, catLevel="sub" if query.subcategories else "main")
    totals = {name: amount for name, amount, _ in _list_amounts(found, month, are_aggregates=True)}
    if not totals and not any(True for _ in _list_amounts(found, month)):
        raise ToolError("errors.no_data", month=month)
    amounts = sorted(_list_amounts(found, month), key=lambda entry: entry[1])
    return Spending(
        month=month,
        income=totals.get("INCOME", NOTHING),
        expenses=totals.get("EXPENSES", NOTHING),
        net=totals.get("NET", NOTHING),
        categories=[CategoryAmount(category=read_category(item), amount=amount) for _, amount, item in amounts],
        is_complete=month < current,
        excluded_currencies=_list_excluded(found),
    )


class MonthsQuery(Input, kw_only=True):
    category: Annotated[CategoryName, Meta(description="left out: income, expenses and net")] | None = None
    months: Annotated[int, Meta(ge=1, le=36, description="how many, up to the current one")] = 12


class MonthAmounts(Output, kw_only=True):
    month: str
    amount: Annotated[Amount, Meta(description="of the category")] | None = None
    income: Amount | None = None
    expenses: Amount | None = None
    net: Amount | None = None


class Months(Output, kw_only=True):
    months: Annotated[list[MonthAmounts], Meta(description="the newest first; the current one has not ended")]
    category: Category | None = None
    excluded_currencies: list[str] = msgspec.field(default_factory=list)


@tool("Spending by month", input=MonthsQuery, output=Months)
async def spending_by_month(call: ToolCall, query: MonthsQuery) -> Months:
    """Show months side by side: income, expenses and net, or the amounts of one category."""
    is_sub = query.category is not None and "_" in query.category
    tag = "CUSTOM_CATEGORIES" if query.category and query.category.startswith("X_") else None
    found = await call.api.get(CASHFLOW, catLevel="sub" if is_sub else "main", tag=tag)
    wanted = AGGREGATES if query.category is None else (query.category,)
    chosen = {
        entry["tagTreeItem"]["systemName"]: entry
        for entry in found
        if entry["tagTreeItem"]["systemName"] in wanted and _is_aggregate(entry) == (query.category is None)
    }
    if not chosen:
        raise ToolError("errors.no_category")
    amounts = {name: _amounts_by_month(entry) for name, entry in chosen.items()}
    names = sorted({month for by_month in amounts.values() for month in by_month}, reverse=True)[: query.months]
    if query.category is None:
        shown = [
            MonthAmounts(
                month=name,
                income=amounts.get("INCOME", {}).get(name, NOTHING),
                expenses=amounts.get("EXPENSES", {}).get(name, NOTHING),
                net=amounts.get("NET", {}).get(name, NOTHING),
            )
            for name in names
        ]
        return Months(months=shown, excluded_currencies=_list_excluded(found))
    [entry] = chosen.values()
    own = amounts[query.category]
    return Months(
        months=[MonthAmounts(month=name, amount=own[name]) for name in names],
        category=read_category(entry["tagTreeItem"]),
        excluded_currencies=_list_excluded(found),
    )


class Range(Output, kw_only=True):
    expected: Amount
    lower: Annotated[Amount, Meta(description="80 % of outcomes lie from lower to upper")]
    upper: Amount
    confidence: Confidence


class CategoryRange(Output, kw_only=True):
    category: Category
    range: Range


class MonthForecast(Output, kw_only=True):
    month: str
    income: Range | None = None
    expenses: Range | None = None
    net: Range | None = None
    categories: list[CategoryRange]


class Forecast(Output, kw_only=True):
    months: Annotated[list[MonthForecast], Meta(description="whole months: the current one and the next")]


@tool("Forecast", output=Forecast)
async def forecast(call: ToolCall, _: Input) -> Forecast:
    """Show what this month and the next will bring in total: expected amounts with the range of 80 % of outcomes."""
    found = await call.api.get(CASHFLOW, catLevel="main")
    months: dict[str, dict[str, Range]] = {}
    ranges: dict[str, list[CategoryRange]] = {}
    for entry in found:
        for prediction in entry["details"]["predictions"]:
            month = _read_month(prediction["tagTreeItem"]["systemName"])
            if month is None:
                continue
            made = Range(
                expected=prediction["cashflow"],
                lower=prediction["lower"],
                upper=prediction["upper"],
                confidence=prediction["confidenceLevel"],
            )
            item = entry["tagTreeItem"]
            if _is_aggregate(entry):
                months.setdefault(month, {})[item["systemName"].lower()] = made
            else:
                ranges.setdefault(month, []).append(CategoryRange(category=read_category(item), range=made))
    shown = [
        MonthForecast(
            month=month,
            **months.get(month, {}),
            categories=sorted(ranges.get(month, []), key=lambda entry: entry.range.expected),
        )
        for month in sorted(months.keys() | ranges.keys())
    ]
    return Forecast(months=shown)


def _is_aggregate(entry: dict[str, Any]) -> bool:
    return bool(entry["tagTreeItem"].get("systemNameParent") == "AGGREGATE")


def _read_month(name: str) -> str | None:
    match = _MONTH.fullmatch(name)
    return None if match is None else f"{match[1]}-{match[2]}"


def _amounts_by_month(entry: dict[str, Any]) -> dict[str, Decimal]:
    return {
        month: statistic["cashflow"]
        for statistic in entry["details"]["statistics"]
        if (month := _read_month(statistic["tagTreeItem"]["systemName"])) is not None
    }


def _list_amounts(
    found: list[dict[str, Any]], month: str, *, are_aggregates: bool = False
) -> Iterator[tuple[str, Decimal, dict[str, Any]]]:
    for entry in found:
        amount = _amounts_by_month(entry).get(month)
        if amount is not None and _is_aggregate(entry) == are_aggregates:
            yield entry["tagTreeItem"]["systemName"], amount, entry["tagTreeItem"]


def _list_excluded(found: list[dict[str, Any]]) -> list[str]:
    return sorted({name for entry in found for name in entry["details"].get("excludedCurrencies", ())})
