"""Contracts, what is due, disposable money, budgets and life events."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import Meta

from kontor.assistants.bank_texts import mark_name
from kontor.assistants.errors import ToolError
from kontor.assistants.registry import Amount, BankText, CategoryName, Confidence, Cursor, Input, Output, ToolCall, tool
from kontor.assistants.tools.shapes import Category, read_category, sum_amounts
from kontor.assistants.tools.spending import Month

CONTRACTS = "/customer/v2/ai/contracts/"
PAGE = 25


class ContractsQuery(Input, kw_only=True):
    status: Literal["ACTIVE", "INACTIVE", "PROVISIONAL", "ALL"] = "ACTIVE"
    category: CategoryName | None = None
    cursor: Cursor | None = None


class Contract(Output, kw_only=True):
    id: str
    name: Annotated[BankText, Meta(description="as the user calls it, or the bank's text")] | None = None
    partner: Annotated[str, Meta(description="a company that Kontor knows")] | None = None
    category: Category
    period: Annotated[str, Meta(description="how often it is paid, in the caller's language")]
    amount: Annotated[Amount, Meta(description="the latest; negative: is paid, positive: is received")]
    next_date: date | None = None
    next_amount: Amount | None = None
    since: date
    status: str
    notice_date: Annotated[date, Meta(description="last day to give notice")] | None = None
    confidence: Confidence


class Contracts(Output, kw_only=True):
    contracts: list[Contract]
    count: Annotated[int, Meta(description="of all pages")]
    next: Annotated[str, Meta(description="`cursor` of the next page")] | None = None


@tool("Contracts", input=ContractsQuery, output=Contracts)
async def list_contracts(call: ToolCall, query: ContractsQuery) -> Contracts:
    """List contracts and other regular payments: rent, insurances, subscriptions, loans, salary."""
    found = [
        entry
        for entry in await call.api.get(CONTRACTS)
        if query.status in ("ALL", entry["details"]["status"]) and _fits(entry, query.category)
    ]
    start = _read_start(query.cursor)
    page = found[start : start + PAGE]
    return Contracts(
        contracts=list(map(_read_contract, page)),
        count=len(found),
        next=str(start + PAGE) if len(found) > start + PAGE else None,
    )


class DueQuery(Input, kw_only=True):
    days: Annotated[int, Meta(ge=1, le=92, description="from tomorrow on")] = 30


class Due(Output, kw_only=True):
    date: date
    amount: Amount
    contract: str
    name: BankText | None = None
    partner: str | None = None
    category: Category


class Dues(Output, kw_only=True):
    until: date
    payments: Annotated[list[Due], Meta(description="the next payment of each contract, in order of time")]
    expenses: Annotated[Amount, Meta(description="of these; negative")]
    income: Amount


@tool("What is due", input=DueQuery, output=Dues)
async def list_due_payments(call: ToolCall, query: DueQuery) -> Dues:
    """Show which payments of contracts are due, and what they add up to. Of each contract, the next one only."""
    until = call.today + timedelta(days=query.days)
    dues = []
    for entry in await call.api.get(CONTRACTS):
        contract = _read_contract(entry)
        if contract.next_date is None or contract.next_amount is None or contract.next_date > until:
            continue
        dues.append(
            Due(
                date=contract.next_date,
                amount=contract.next_amount,
                contract=contract.id,
                name=contract.name,
                partner=contract.partner,
                category=contract.category,
            )
        )
    dues.sort(key=lambda due: (due.date, due.amount))
    return Dues(
        until=until,
        payments=dues,
        expenses=sum_amounts([due.amount for due in dues if due.amount < 0]),
        income=sum_amounts([due.amount for due in dues if due.amount > 0]),
    )


def _fits(entry: dict[str, Any], category: str | None) -> bool:
    item = entry["tagTreeItemCategory"]
    return category is None or category in (item["systemName"], item.get("systemNameParent"))


def _read_start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 6:
        raise ToolError("errors.cursor")
    return int(cursor)


def _read_contract(entry: dict[str, Any]) -> Contract:
    details, partner = entry["details"], entry["tagTreeItemBusinessPartner"]
    day, notice = details.get("dateNext"), details.get("noticeDate")
    return Contract(
        id=entry["id"],
        name=mark_name(details.get("name") or details["counterpartyName"]),
        partner=None if partner["systemName"] == "UNKNOWN" else partner["displayName"],
        category=read_category(entry["tagTreeItemCategory"]),
        period=entry["tagTreeItemPeriod"]["displayName"],
        amount=details["amountLatest"],
        next_date=date.fromisoformat(day) if day else None,
        next_amount=details.get("amountNext"),
        since=date.fromisoformat(details["dateStart"]),
        status=details["status"],
        notice_date=date.fromisoformat(notice) if notice else None,
        confidence=details["confidenceLevel"],
    )


class Disposable(Output, kw_only=True):
    is_known: Annotated[bool, Meta(description="false: there is no active salary, and nothing else is answered")]
    disposable: Annotated[Amount, Meta(description="what can be spent until the next salary")] | None = None
    expected_left: Annotated[Amount, Meta(description="after the usual further spending too")] | None = None
    expected_left_daily: Amount | None = None
    currently_left: Amount | None = None
    due_contracts: Annotated[Amount, Meta(description="payments of contracts until then")] | None = None
    usual_spending: Amount | None = None
    salary: Amount | None = None
    salary_date: date | None = None
    next_salary_date: date | None = None
    days_until_salary: int | None = None
    confidence: Confidence | None = None


@tool("Disposable money", output=Disposable)
async def disposable_money(call: ToolCall, _: Input) -> Disposable:
    """Tell what can be spent until the next salary."""
    details = (await call.api.get("/customer/v2/ai/disposable-money")).get("details")
    if details is None:
        return Disposable(is_known=False)
    return Disposable(
        is_known=True,
        disposable=details["amountDisposableMoney"],
        expected_left=details["amountExpectedLeft"],
        expected_left_daily=details["amountExpectedLeftDaily"],
        currently_left=details["amountCurrentlyLeft"],
        due_contracts=details["amountExpectedFixedCashflow"],
        usual_spending=details["amountExpectedFlexCashflow"],
        salary=details["amountSalaryLatest"],
        salary_date=date.fromisoformat(details["dateSalaryLatest"]),
        next_salary_date=date.fromisoformat(details["dateSalaryNext"]),
        days_until_salary=details["daysUntilSalary"],
        confidence=details["confidenceLevel"],
    )


class BudgetsQuery(Input, kw_only=True):
    month: Annotated[Month, Meta(description="as yyyy-mm; left out: the current one")] | None = None


class Budget(Output, kw_only=True):
    id: str
    name: BankText | None = None
    categories: list[str]
    planned: Amount
    spent: Amount
    remaining: Annotated[Amount, Meta(description="negative: overspent")]
    forecast: Annotated[Amount, Meta(description="what will be spent in the whole month")]
    lower: Amount
    upper: Amount
    status: Literal["WITHIN", "TIGHT", "EXCEEDED"]


class Budgets(Output, kw_only=True):
    month: str
    budgets: list[Budget]


_STATUSES: dict[str, Literal["WITHIN", "TIGHT", "EXCEEDED"]] = {
    "IM_RAHMEN": "WITHIN", "KNAPP": "TIGHT", "UEBERSCHRITTEN": "EXCEEDED",
}  # fmt: skip


@tool("Budgets", input=BudgetsQuery, output=Budgets)
async def list_budgets(call: ToolCall, query: BudgetsQuery) -> Budgets:
    """Show how the user's budgets stand in a month: planned, spent, remaining, and what the month will come to."""
    month = query.month or f"{call.today:%Y-%m}"
    budgets = [
        Budget(
            id=found["id"],
            name=mark_name(found["name"]),
            categories=found["kategorien"],
            planned=found["betrag"],
            spent=found["ausgegeben"],
            remaining=found["verbleibend"],
            forecast=found["prognose"],
            lower=found["lower"],
            upper=found["upper"],
            status=_STATUSES[found["status"]],
        )
        for found in await call.api.get("/customer/v2/budgets", monat=month)
    ]
    return Budgets(month=month, budgets=budgets)


class LifeEvent(Output, kw_only=True):
    event: Category
    date: date
    confidence: Confidence
    amount: Annotated[Decimal, Meta(description="in euros, where there is one")] | None = None


class LifeEvents(Output, kw_only=True):
    events: list[LifeEvent]


@tool("Life events", output=LifeEvents)
async def list_life_events(call: ToolCall, _: Input) -> LifeEvents:
    """List changes in life that the transactions show, such as a new job, a move or a child; the newest first."""
    events = [
        LifeEvent(
            event=read_category(found["tagTreeItem"]),
            date=date.fromisoformat(found["details"]["eventDate"]),
            confidence=found["details"]["confidenceLevel"],
            amount=found["details"].get("amount"),
        )
        for found in await call.api.get("/customer/v2/ai/life-events/")
    ]
    return LifeEvents(events=sorted(events, key=lambda event: event.date, reverse=True)[:50])
