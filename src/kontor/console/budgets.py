"""Budgets of the API, read for pages, and proposals of new ones from what was spent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import Any
from urllib.parse import urlencode

from kontor.console.cashflows import Flow, Span, list_spans
from kontor.console.categories import MainCategory
from kontor.console.due_dates import find_month
from kontor.console.gateway import segment
from kontor.console.rendering import read_day

BUDGETS = "/customer/v2/budgets"
OWN_CATEGORIES = "/customer/v2/ai/categories"
PAGE = "/console/budgets"
# Main categories that nothing is spent on, or nothing that a month's budget could change.
NOT_BUDGETED = ("INCOME", "TRANSFER")
NOT_PROPOSED = (*NOT_BUDGETED, "SAVINGS", "TAXES", "OTHER", "HOUSING", "BILLS", "INSURANCE", "BANKFINANCE")
PROPOSED_MONTHS = 3
MAX_PROPOSED = 8
TONES = {"IM_RAHMEN": "good", "KNAPP": "", "UEBERSCHRITTEN": "bad"}
_ROUND_TO = Decimal(10)
_CENT = Decimal("0.01")
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Part:
    """A category of a budget. `spent` is None where the parts do not add up to the budget, since they overlap."""

    system_name: str
    name: str
    spent: Decimal | None
    url: str


@dataclass(frozen=True, slots=True)
class Budget:
    """Amounts are positive; `left` is not where too much was spent."""

    id: str
    name: str
    categories: Sequence[str]
    amount: Decimal
    begin: date
    carries_over: bool
    spent: Decimal
    left: Decimal
    forecast: Decimal
    lower: Decimal
    upper: Decimal
    status: str
    parts: Sequence[Part] = ()

    @property
    def url(self) -> str:
        return f"{PAGE}/{segment(self.id)}"

    @property
    def available(self) -> Decimal:
        return self.spent + self.left

    @property
    def carried(self) -> Decimal:
        return self.available - self.amount

    @property
    def tone(self) -> str:
        return TONES.get(self.status, "")

    @property
    def share(self) -> Decimal:
        """Of what is available; whoever has nothing left has used all of it."""
        return self.spent / self.available if self.available > 0 else Decimal(1 if self.spent > 0 else 0)

    @property
    def forecast_share(self) -> Decimal:
        return self.forecast / self.available if self.available > 0 else Decimal(1 if self.forecast > 0 else 0)


@dataclass(frozen=True, slots=True)
class Proposal:
    """`amounts` were spent in the months, `average` a month; the budget is that, rounded up."""

    category: str
    name: str
    amounts: Sequence[Decimal]
    average: Decimal
    amount: Decimal


def read_budget(budget: Mapping[str, Any], names: Mapping[str, str], flows: Sequence[Flow], month: date) -> Budget:
    spent = Decimal(budget["ausgegeben"])
    return Budget(
        budget["id"],
        budget["name"],
        budget["kategorien"],
        Decimal(budget["betrag"]),
        read_day(budget["beginn"]) or month,
        budget["uebertrag"],
        spent,
        Decimal(budget["verbleibend"]),
        Decimal(budget["prognose"]),
        Decimal(budget["lower"]),
        Decimal(budget["upper"]),
        budget["status"],
        list_parts(budget["kategorien"], spent, names, flows, month),
    )


def list_parts(
    categories: Sequence[str], spent: Decimal, names: Mapping[str, str], flows: Sequence[Flow], month: date
) -> list[Part]:
    span = f"{month.year}_M{month.month:02}"
    amounts = [_sum_spent(category, flows, span) for category in categories]
    do_add_up = sum(amounts, _NOTHING) == spent
    return [
        Part(category, names.get(category, category), amount if do_add_up else None, find_transactions(category, month))
        for category, amount in zip(categories, amounts, strict=True)
    ]


def _sum_spent(category: str, flows: Sequence[Flow], span: str) -> Decimal:
    """Of a main category all that is below it."""
    chosen = [flow for flow in flows if not flow.is_aggregate and category in (flow.name, flow.parent)]
    return -sum((flow.booked.get(span, _NOTHING) for flow in chosen), _NOTHING)


def find_transactions(category: str, month: date) -> str:
    """The page with what was booked in a month."""
    last = find_month(month, 1).toordinal() - 1
    asked = {"category": category, "from": month.isoformat(), "to": date.fromordinal(last).isoformat()}
    return f"/console/transactions?{urlencode(asked)}"


def propose_budgets(flows: Sequence[Flow], today: date, language: str) -> tuple[list[Span], list[Proposal]]:
    """From the last whole months: what was spent in at least two of them, the most first."""
    months = list_spans("month", PROPOSED_MONTHS + 1, today, language)[:-1]
    proposals = []
    for flow in flows:
        amounts = [-amount for amount in flow.amounts(months)]
        if flow.is_aggregate or flow.name in NOT_PROPOSED or sum(amount > 0 for amount in amounts) < 2:
            continue
        average = sum(amounts, _NOTHING) / len(amounts)
        amount = (average / _ROUND_TO).quantize(Decimal(1), ROUND_CEILING) * _ROUND_TO
        if amount > 0:
            proposals.append(Proposal(flow.name, flow.shown_name, amounts, average.quantize(_CENT), amount))
    proposals.sort(key=lambda proposal: -proposal.average)
    return months, proposals[:MAX_PROPOSED]


def write_amount(amount: Decimal, language: str) -> str:
    """As a person types it: `12,50`, in English `12.50`."""
    text = f"{amount:.2f}"
    return text.replace(".", ",") if language == "de" else text


def choose_budgeted(mains: Sequence[MainCategory]) -> list[MainCategory]:
    return [main for main in mains if main.system_name not in NOT_BUDGETED]


def name_overlaps(
    chosen: Sequence[str], budgets: Sequence[Mapping[str, Any]], own_id: str | None
) -> list[tuple[str, str]]:
    """Chosen categories that another budget has, as they are or by their main category, with that budget's name."""
    found = []
    for category in chosen:
        for budget in budgets:
            if budget["id"] != own_id and any(_do_overlap(category, other) for other in budget["kategorien"]):
                found.append((category, budget["name"]))
                break
    return found


def _do_overlap(one: str, other: str) -> bool:
    return one == other or one.partition("_")[0] == other or one == other.partition("_")[0]
