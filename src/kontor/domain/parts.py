"""Parts of a transaction's amount, each with a category of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kontor.domain.errors import InvalidError

MIN_PARTS, MAX_PARTS = 2, 20


@dataclass(frozen=True, slots=True)
class Part:
    """`tags` is what the caller wrote, `category` what it means, under `own_category` where the user has named one."""

    amount: Decimal
    category: str
    tags: Any
    note: str | None = None
    own_category: str = ""


def check_parts(parts: Sequence[Part], amount: Decimal, field: str) -> None:
    """Two or more of the transaction's sign that add up to its amount; none remove what is there."""
    if not parts:
        return
    if not MIN_PARTS <= len(parts) <= MAX_PARTS:
        raise InvalidError(f"expected {MIN_PARTS} to {MAX_PARTS} parts, or none", field)
    problems = [
        f"{field}[{number}]: expected an amount of the transaction's sign"
        for number, part in enumerate(parts)
        if not part.amount * amount > 0
    ]
    if problems:
        raise InvalidError("; ".join(problems))
    total = sum((part.amount for part in parts), Decimal(0))
    if total != amount:
        raise InvalidError(f"the parts add up to {total}, the transaction is {amount}", field)
