"""Parts of a transaction: as they are, and as a form asks for them. People type amounts without a sign."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from kontor.console.categories import write_tag
from kontor.console.entry_filters import read_typed_amount
from kontor.console.visits import Form, field_of
from kontor.pages.browser import BadRequestError

MAX_PARTS = 20
_NOTHING = Decimal(0)
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class ShownPart:
    amount: Decimal
    category: str
    category_name: str
    note: str


@dataclass(frozen=True, slots=True)
class TypedPart:
    """A line of the form, as it was typed. Without an amount it takes what the others leave."""

    amount: str = ""
    category: str = ""
    note: str = ""

    @property
    def value(self) -> Decimal | None:
        return read_typed_amount(self.amount)

    @property
    def is_wrong(self) -> bool:
        return bool(self.amount.strip()) and not self.value


@dataclass(frozen=True, slots=True)
class PartsForm:
    """`amount` is the transaction's, with its sign."""

    amount: Decimal
    lines: Sequence[TypedPart]

    @classmethod
    def of(cls, row: Mapping[str, Any], category: str) -> "PartsForm":
        """The parts that there are, or two lines to begin with."""
        lines = [
            TypedPart(f"{abs(Decimal(part['betrag'])):.2f}", _read_category(part), part.get("notiz") or "")
            for part in row.get("teile") or ()
        ]
        amount = Decimal(row.get("betrag") or 0)
        return cls(amount, lines or [TypedPart(category=category), TypedPart(category=category)])

    @property
    def rest(self) -> Decimal:
        """What is not given to a part yet, without a sign; less than nothing where the parts are too much."""
        return abs(self.amount) - sum((line.value or _NOTHING for line in self.lines), _NOTHING)

    def fill(self) -> "PartsForm":
        """The only line without an amount takes the rest."""
        empty = [at for at, line in enumerate(self.lines) if not line.amount.strip()]
        if len(empty) != 1 or self.rest < _CENT:
            return self
        lines = list(self.lines)
        lines[empty[0]] = replace(lines[empty[0]], amount=f"{self.rest:.2f}")
        return replace(self, lines=lines)

    def find_problem(self) -> str | None:
        """The name of a text, or nothing where the parts can be saved."""
        filled = self.fill()
        if any(line.is_wrong for line in filled.lines):
            return "wrong_amount"
        if any(not line.category for line in filled.lines):
            return "no_category"
        if any(line.value is None for line in filled.lines):
            return "no_amount"
        return None if filled.rest == 0 else "rest_left" if filled.rest > 0 else "too_much"

    def write(self) -> list[dict[str, Any]]:
        """As the API takes them."""
        sign = -1 if self.amount < 0 else 1
        return [
            {"betrag": float(sign * (line.value or _NOTHING)), "tags": write_tag(line.category)}
            | ({"notiz": line.note} if line.note else {})
            for line in self.fill().lines
        ]


def show_parts(row: Mapping[str, Any], names: Mapping[str, str]) -> list[ShownPart]:
    return [
        ShownPart(
            Decimal(part["betrag"]),
            _read_category(part),
            names.get(_read_category(part), _read_category(part)),
            part.get("notiz") or "",
        )
        for part in row.get("teile") or ()
    ]


def _read_category(part: Mapping[str, Any]) -> str:
    """Tags of a part are as they were written: an item, or an array of one."""
    tags = part["tags"]
    return str((tags[0] if isinstance(tags, list) else tags)["systemName"])


def read_parts_form(form: Form, amount: Decimal) -> tuple[PartsForm, str]:
    """The lines after what was pressed was done to them, and what was pressed: add, save, unite, or remove a line."""
    numbers = [at for at in range(MAX_PARTS) if f"amount-{at}" in form]
    lines = [
        TypedPart(field_of(form, f"amount-{at}"), field_of(form, f"category-{at}"), field_of(form, f"note-{at}"))
        for at in numbers
    ]
    press = field_of(form, "press", "save")
    name, _, place = press.partition("-")
    if name == "remove" and place.isdecimal() and int(place) < len(lines):
        del lines[int(place)]
    elif press == "add":
        lines += [TypedPart(category=lines[-1].category if lines else "")] if len(lines) < MAX_PARTS else []
    elif press not in ("save", "unite"):
        raise BadRequestError
    while len(lines) < 2:
        lines.append(TypedPart(category=lines[-1].category if lines else ""))
    return PartsForm(amount, lines), name
