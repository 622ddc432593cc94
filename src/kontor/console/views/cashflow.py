"""Cashflow: what came in and went out, what it was for, and what is to be expected."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from kontor.console.cashflows import (
    INCOME,
    Aggregates,
    Flow,
    Span,
    add_coming_month,
    drop_empty_start,
    find_aggregates,
    find_month,
    list_spans,
    read_flows,
)
from kontor.console.charts import Chart, Series
from kontor.console.entry_filters import link_entries, step_month
from kontor.console.figure_links import CategoryLinks, find_days, list_pending
from kontor.console.gateway import together
from kontor.console.visits import Facts, View, Visit
from kontor.pages.browser import BadRequestError
from kontor.pages.texts import Texts

CASHFLOW = "/customer/v2/ai/cashflow"
UNITS = ("month", "quarter", "year")
COUNTS = {"quarter": 8, "year": 5}
TAGS = ("categories", "partners")
SHOWN_IN_CHART = 8
SHOWN_PARTNERS = 30
AVERAGED_MONTHS = 12
# For what has no colour of its own.
COLOURS = ("housing", "living", "insurance", "recreation", "mobility", "shopping", "health", "education")
_CENT = Decimal("0.01")
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the address asks for; `month` is `2026-11` and alone on its page, empty for all."""

    unit: str
    count: str
    tag: str
    savings: str
    main: str | None
    month: str = ""

    @property
    def first_day(self) -> date | None:
        return date.fromisoformat(f"{self.month}-01") if self.month else None

    def keep(self, **changes: str | None) -> dict[str, str]:
        """The query of a link that changes only this."""
        time = {"month": self.month} if self.month else {"by": self.unit, "span": self.count}
        values = time | {"tag": self.tag, "savings": self.savings, "of": self.main}
        return {name: value for name, value in (values | changes).items() if value is not None}

    def find_spans(self, visit: Visit, net: Flow) -> list[Span]:
        if self.first_day is not None:
            return [find_month(self.first_day, visit.today, visit.language)]
        count = COUNTS.get(self.unit, int(self.count))
        return drop_empty_start(list_spans(self.unit, count, visit.today, visit.language), net)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table; `amounts` has one for each span, `urls` the address of its transactions, if there is one."""

    name: str
    shown_name: str
    colour: str
    amounts: Sequence[Decimal]
    link: dict[str, str] | None = None
    urls: Sequence[str | None] = ()
    total_url: str | None = None

    @property
    def total(self) -> Decimal:
        return sum(self.amounts, Decimal(0))

    @property
    def cells(self) -> list[tuple[Decimal, str | None]]:
        """The newest first."""
        urls = self.urls or [None] * len(self.amounts)
        return list(zip(reversed(self.amounts), reversed(urls), strict=True))


async def show(visit: Visit) -> Facts:
    choice = read_choice(visit)
    without = True if choice.savings == "without" else None
    calls = [list_pending(visit.api, visit.today), visit.api.get(CASHFLOW, catLevel="main", excludeSavings=without)]
    if choice.tag == "partners":
        calls.append(visit.api.get(CASHFLOW, tag="BUSINESS_PARTNERS", excludeSavings=without))
    elif choice.main is not None:
        calls.append(visit.api.get(CASHFLOW, catLevel="sub", excludeSavings=without))
    pending, *answers = await together(*calls)
    mains = read_flows(answers[0])
    aggregates = find_aggregates(mains)
    facts: Facts = {"choice": choice, "units": UNITS, "tags": TAGS, "aggregates": aggregates}
    if aggregates is None:
        return facts
    spans = choice.find_spans(visit, aggregates.net)
    parent = find_parent(mains, choice)
    details = mains if parent is None and choice.tag == "categories" else read_flows(answers[-1])
    lines = list_lines(details, spans, choice, visit.texts)
    if choice.tag == "categories":
        links = CategoryLinks(visit.today, pending, without is not None)
        lines = [_add_links(line, spans, links) for line in lines]
    whole = None if choice.tag == "partners" else find_sum(parent or aggregates.net, spans, visit.texts)
    own = None if whole is None else find_own_transfers(lines, whole, visit.texts)
    if whole is not None:
        whole = _add_links(whole, spans, links) if parent else link_net(whole, spans, visit.today)
    return facts | {
        "spans": spans,
        "headings": [(span.label, link_span(span)) for span in reversed(spans)],
        "parent": parent,
        "switch": list_months(visit.today, choice, aggregates.net),
        "chart": None if choice.month else draw_totals(visit, aggregates, spans, choice),
        "parts": None if choice.month else draw_parts(visit.texts, lines, spans),
        "lines": lines if own is None else [*lines, own],
        "sum": whole,
        "averages": average_months(aggregates, visit),
        "months": add_coming_month(list_spans("month", 1, visit.today, visit.language), visit.today, visit.language),
        "excluded": aggregates.net.excluded_currencies,
    }


def list_months(today: date, choice: Choice, net: Flow) -> Facts:
    """Addresses of the month before and after, between the first with a booking and the current one, and of all."""
    current = step_month(today, 0)
    names = [name.replace("_M", "-") for name in net.booked if "_M" in name]
    first = choice.first_day
    before = step_month(first, -1) if first and names and min(names) < choice.month else None
    after = step_month(first, 1) if first and choice.month < current else None
    urls = {month: choice.keep(month=month) for month in (before, after, current) if month}
    return {"first": first, "before": before, "after": after, "current": current, "urls": urls,
            "all": replace(choice, month="").keep()}  # fmt: skip


def link_span(span: Span) -> str:
    """All transactions of a span of time."""
    since, until = find_days(span)
    return link_entries(since=since, until=until)


def read_choice(visit: Visit) -> Choice:
    main = visit.query.get("of") or None
    tag = visit.choose("tag", TAGS)
    month = visit.query.get("month") or ""
    if month and not (_MONTH.fullmatch(month) and "1970-01" <= month <= step_month(visit.today, 0)):
        raise BadRequestError
    return Choice(
        visit.choose("by", UNITS),
        visit.choose("span", ("12", "24")),
        tag,
        visit.choose("savings", ("with", "without")),
        main if tag == "categories" else None,
        month,
    )


def find_parent(mains: Sequence[Flow], choice: Choice) -> Flow | None:
    """The main category whose parts are asked for."""
    if choice.main is None:
        return None
    parent = next((main for main in mains if main.name == choice.main and not main.is_aggregate), None)
    if parent is None:
        raise BadRequestError
    return parent


def average_months(aggregates: Aggregates, visit: Visit) -> Facts | None:
    """Of whole months, up to a year; nothing where there is none yet."""
    months = list_spans("month", AVERAGED_MONTHS + 1, visit.today, visit.language)[:-1]
    months = [
        month for month in drop_empty_start(months, aggregates.net) if aggregates.net.booked.get(month.name) is not None
    ]
    if not months:
        return None
    income, expenses, net = (
        (flow.total(months) / len(months)).quantize(_CENT)
        for flow in (aggregates.income, aggregates.expenses, aggregates.net)
    )
    return {"count": len(months), "income": income, "expenses": expenses, "net": net,
            "share": net / income if income > 0 else None}  # fmt: skip


def list_lines(flows: Sequence[Flow], spans: Sequence[Span], choice: Choice, texts: Texts) -> list[Line]:
    """Income first, then what costs most."""
    chosen = [flow for flow in flows if not flow.is_aggregate and any(flow.amounts(spans))]
    if choice.main is not None:
        chosen = [flow for flow in chosen if flow.main_category == choice.main]
    if choice.tag == "partners":
        chosen.sort(key=lambda flow: -abs(flow.total(spans)))
    else:
        chosen.sort(key=lambda flow: (flow.main_category != INCOME, flow.total(spans)))
    can_open = choice.tag == "categories" and choice.main is None
    lines = [
        Line(
            flow.name,
            flow.shown_name,
            flow.main_category.lower() if can_open else COLOURS[place % len(COLOURS)],
            flow.amounts(spans),
            choice.keep(of=flow.name) if can_open else None,
        )
        for place, flow in enumerate(chosen)
    ]
    if choice.tag == "partners" and len(lines) > SHOWN_PARTNERS:
        rest = lines[SHOWN_PARTNERS:]
        name = texts("cashflow.other_partners", count=len(rest))
        lines = [*lines[:SHOWN_PARTNERS], Line("", name, "muted", _add_up(rest))]
    return lines


def _add_links(line: Line, spans: Sequence[Span], links: CategoryLinks) -> Line:
    urls = [links.find(line.name, [span], amount) for span, amount in zip(spans, line.amounts, strict=True)]
    return replace(line, urls=urls, total_url=links.find(line.name, spans, line.total))


def find_sum(flow: Flow, spans: Sequence[Span], texts: Texts) -> Line:
    """What the rows above add up to. In them a refund is part of its category, so they have no sum by sign."""
    key = "net" if flow.is_aggregate else "total"
    return Line(flow.name, texts(f"cashflow.{key}"), "muted", flow.amounts(spans))


def link_net(line: Line, spans: Sequence[Span], today: date) -> Line:
    """The lists of all transactions say themselves where own transfers or pending ones make their total another one."""
    if not spans:
        return line

    def link(first: Span, last: Span, figure: Decimal) -> str:
        since, until = find_days(first)[0], min(find_days(last)[1], today)
        return link_entries(since=since, until=until, figure=figure)

    urls = [link(span, span, amount) for span, amount in zip(spans, line.amounts, strict=True)]
    return replace(line, urls=urls, total_url=link(spans[0], spans[-1], line.total))


def find_own_transfers(lines: Sequence[Line], whole: Line, texts: Texts) -> Line | None:
    """What is saved on an own account is a category, and no expense: the row that leads from the one to the other."""
    if not lines:
        return None
    rest = [total - parts for total, parts in zip(whole.amounts, _add_up(lines), strict=True)]
    return Line("", texts("cashflow.own_transfers"), "muted", rest) if any(rest) else None


def _add_up(lines: Sequence[Line]) -> list[Decimal]:
    return [sum(amounts, Decimal(0)) for amounts in zip(*(line.amounts for line in lines), strict=True)]


def draw_totals(visit: Visit, aggregates: Aggregates, spans: Sequence[Span], choice: Choice) -> Chart:
    """Income upwards, expenses downwards, and what remains as a line; what is expected stands on what is booked."""
    texts = visit.texts
    caption = texts(f"cashflow.chart_{choice.unit}")
    if choice.unit != "month":
        labels = [texts("cashflow.so_far", span=span.label) if span.is_current else span.label for span in spans]
        return Chart("totals", caption, labels, [
            Series(texts("cashflow.income"), aggregates.income.amounts(spans), "income"),
            Series(texts("cashflow.expenses"), aggregates.expenses.amounts(spans), "expense"),
            Series(texts("cashflow.net"), aggregates.net.amounts(spans), "net", "line"),
        ], is_stacked=True, label_heading=texts(f"cashflow.by_{choice.unit}"))  # fmt: skip
    months = add_coming_month(spans, visit.today, visit.language)
    net = aggregates.net
    expected = [net.expected.get(month.name) for month in months]
    return Chart("totals", caption, [month.label for month in months], [
        Series(texts("cashflow.income"), _list_booked(aggregates.income, months), "income"),
        Series(texts("cashflow.expenses"), _list_booked(aggregates.expenses, months), "expense"),
        Series(texts("cashflow.income_to_come"), _list_to_come(aggregates.income, months, 1), "income", is_dashed=True),
        Series(texts("cashflow.expenses_to_come"), _list_to_come(aggregates.expenses, months, -1), "expense",
               is_dashed=True),
        Series(texts("cashflow.net"),
               [None if month.is_current or month.is_future else net.amount(month) for month in months], "net", "line"),
        Series(texts("cashflow.net_expected"),
               [None if expectation is None else expectation.amount for expectation in expected], "net", "line",
               is_dashed=True, low=[None if expectation is None else expectation.low for expectation in expected],
               high=[None if expectation is None else expectation.high for expectation in expected]),
    ], is_stacked=True, label_heading=texts("common.month"))  # fmt: skip


def _list_booked(flow: Flow, months: Sequence[Span]) -> list[Decimal | None]:
    return [None if month.is_future else flow.amount(month) for month in months]


def _list_to_come(flow: Flow, months: Sequence[Span], sign: int) -> list[Decimal | None]:
    """What is still missing from what is expected; nothing where more is booked already."""
    missing: list[Decimal | None] = []
    for month in months:
        expected = flow.expected.get(month.name)
        rest = None if expected is None else expected.amount - flow.amount(month)
        missing.append(rest if rest is not None and rest * sign > 0 else None)
    return missing


def draw_parts(texts: Texts, lines: Sequence[Line], spans: Sequence[Span]) -> Chart | None:
    """Where the money went, stacked: the largest by name, all others as one."""
    costs = sorted((line for line in lines if line.total < 0), key=lambda line: line.total)
    if not costs:
        return None
    named = [cost for cost in costs if cost.name][:SHOWN_IN_CHART]
    series = [Series(line.shown_name, [-amount for amount in line.amounts], line.colour) for line in named]
    if rest := [cost for cost in costs if cost not in named]:
        series.append(Series(texts("cashflow.rest"), [-amount for amount in _add_up(rest)], "muted"))
    return Chart("parts", texts("cashflow.parts_caption"), [span.label for span in spans], series, is_stacked=True,
                 label_heading=texts("cashflow.span"))  # fmt: skip


VIEWS = [View("cashflow", "/cashflow", show, group="money")]
