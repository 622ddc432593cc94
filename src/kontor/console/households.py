"""A household's month: income, what is needed, what is wished for, and what is left. Read from affordability."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the account. `kind` is `income`, `expense`, or `sum` for what the lines above come to."""

    key: str
    kind: str
    amount: Decimal
    share: float  # of the income, for its bar


@dataclass(frozen=True, slots=True)
class CategoryLine:
    system_name: str
    name: str
    regular: Decimal
    irregular: Decimal
    share: float  # of the largest

    @property
    def total(self) -> Decimal:
        return self.regular + self.irregular


@dataclass(frozen=True, slots=True)
class Sign:
    """Something a lender looks for. `count` and `amount` where the facts have them."""

    key: str
    is_seen: bool
    count: int | None = None
    amount: Decimal | None = None


def list_lines(details: Mapping[str, Any]) -> list[Line]:
    """Every sum is that of the lines above it, to the cent."""
    income, expenses = details["income"], details["expenses"]
    needed, wished = expenses["necessities"], expenses["luxuries"]
    total = Decimal(income["amount"])
    discretionary = total - needed["amount"]
    left = discretionary - wished["amount"]
    rows = (
        ("income_regular", "income", income["regular"]["amount"]),
        ("income_irregular", "income", income["irregular"]["amount"]),
        ("income", "sum", total),
        ("necessities_regular", "expense", -needed["regular"]["amount"]),
        ("necessities_irregular", "expense", -needed["irregular"]["amount"]),
        ("discretionary", "sum", discretionary),
        ("luxuries_regular", "expense", -wished["regular"]["amount"]),
        ("luxuries_irregular", "expense", -wished["irregular"]["amount"]),
        ("left", "sum", left),
        ("savings", "expense", -details["savings"]),
        ("rest", "sum", left - details["savings"]),
    )
    base = total if total > 0 else max(Decimal(expenses["amount"]), Decimal(1))
    return [Line(key, kind, Decimal(amount), float(abs(amount) / base)) for key, kind, amount in rows]


def list_categories(split: Mapping[str, Any]) -> list[CategoryLine]:
    """Regular and irregular parts of each category side by side, the largest first."""
    names: dict[str, str] = {}
    amounts: dict[str, dict[str, Decimal]] = {}
    for part in ("regular", "irregular"):
        for entry in split[part]["amountsPerTagTreeItem"]:
            item = entry["tagTreeItem"]
            names[item["systemName"]] = item["displayName"]
            amounts.setdefault(item["systemName"], {})[part] = Decimal(entry["amount"])
    largest = max((sum(parts.values(), ZERO) for parts in amounts.values()), default=ZERO)
    lines = [
        CategoryLine(
            key,
            names[key],
            parts.get("regular", ZERO),
            parts.get("irregular", ZERO),
            float(sum(parts.values(), ZERO) / largest) if largest > 0 else 0.0,
        )
        for key, parts in amounts.items()
    ]
    return sorted(lines, key=lambda line: line.total, reverse=True)


def list_signs(affordability: Mapping[str, Any], check: Mapping[str, Any]) -> list[Sign]:
    """`affordability` says whether, `check` how often and how much."""
    amounts = {finding["type"]: Decimal(finding["amount"]) for finding in check.get("findings", [])}
    counted = (
        ("return_debits", "returnDebits", "returnDebitsCount", "RETURNED_DEBITS"),
        ("reminders", "reminderCharges", "reminderChargesCount", "REMINDER_CHARGES"),
        ("collections", "debtCollectionPayments", "debtCollectionsCount", "DEBT_COLLECTIONS"),
        ("seizures", "seizurePayments", "seizuresCount", "SEIZURES"),
    )
    signs = [
        Sign(key, affordability[flag], check.get(count), amounts.get(finding)) for key, flag, count, finding in counted
    ]
    gambling = Decimal(affordability["gambling"])
    signs.append(Sign("gambling", gambling > 0 or "GAMBLING" in amounts, None, amounts.get("GAMBLING")))
    if check:
        overdrawn = int(check["overdraftDays"])
        signs.append(Sign("overdrafts", overdrawn > 0, overdrawn))
    return signs
