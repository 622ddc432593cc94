"""Budgets and savings goals of a user."""

from datetime import date
from decimal import Decimal

from kontor_client.models.shapes import Linked


class Budget(
    Linked,
    kw_only=True,
    rename={
        "categories": "kategorien",
        "amount": "betrag",
        "begin": "beginn",
        "carries_over": "uebertrag",
        "spent": "ausgegeben",
        "remaining": "verbleibend",
        "forecast": "prognose",
    },
):
    """A budget in one month. `status` is `IM_RAHMEN`, `KNAPP` or `UEBERSCHRITTEN`; `begin` is a month, as yyyy-mm."""

    id: str
    name: str
    categories: list[str]
    amount: Decimal
    begin: str
    carries_over: bool
    spent: Decimal
    remaining: Decimal
    forecast: Decimal
    lower: Decimal
    upper: Decimal
    status: str


class SavingsGoal(
    Linked,
    kw_only=True,
    rename={
        "target": "zielbetrag",
        "target_date": "zieldatum",
        "products": "produkte",
        "saved": "angespart",
        "progress": "fortschritt",
        "rate": "rateNoetig",
        "expected_on": "voraussichtlichAm",
    },
):
    """How far a goal is. `progress` is in percent, `rate` is a month; `status` is `OFFEN` or `ERREICHT`."""

    id: str
    name: str
    target: Decimal
    saved: Decimal
    progress: Decimal
    status: str
    target_date: date | None = None
    products: list[str] = []
    rate: Decimal | None = None
    expected_on: date | None = None
