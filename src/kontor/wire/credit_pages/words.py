"""The German words of a credit file: what a figure means, what is not known, and what would change it."""

import tomllib
from calendar import monthrange
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from kontor.domain.credit_files import CreditFigures, FigureName

MONTHS = 12
COUNTED_IN_A_YEAR = (
    FigureName.RETURNED_DEBITS,
    FigureName.REMINDER_CHARGES,
    FigureName.DEBT_COLLECTIONS,
    FigureName.SEIZURES,
)


@cache
def read_texts() -> dict[str, Any]:
    return tomllib.loads((files("kontor.wire.credit_pages") / "de.toml").read_text(encoding="utf-8"))


def show_day(day: date) -> str:
    return day.strftime("%d.%m.%Y")


def show_amount(amount: Decimal) -> str:
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


def title_of(name: FigureName) -> str:
    title: str = read_texts()["figures"][name.value]["title"]
    return title


def explain_figure(name: FigureName, figures: CreditFigures, today: date) -> str:
    texts = read_texts()
    text: str = texts["figures"][name.value]["text"]
    if name in COUNTED_IN_A_YEAR:
        return f"{text} {texts['year'].format(today=show_day(today))}"
    if name in (FigureName.INCOME_STABILITY, FigureName.LOAN_PAYOUTS):
        return text
    assert figures.first_month is not None, "there are no figures without months"
    assert figures.last_month is not None
    counted = texts["one_month" if figures.months == 1 else "months"]
    span = counted.format(count=figures.months, first=show_day(figures.first_month), last=show_day(figures.last_month))
    return f"{text} {span}"


def list_barred() -> list[str]:
    return list(read_texts()["barred"].values())


def list_unknown(figures: CreditFigures) -> list[str]:
    """The same for everybody first: whether there were barred bookings is not told."""
    texts = read_texts()["unknown"]
    return [
        texts["barred"],
        texts["overdrafts"],
        texts["other_accounts"],
        texts["agencies"],
        texts["future"],
        *_list_missing(figures, texts),
    ]


def _list_missing(figures: CreditFigures, texts: dict[str, str]) -> Iterable[str]:
    if not figures.months:
        yield texts["no_month"]
    elif figures.months < MONTHS:
        yield texts["few_months"].format(count=figures.months)
    if figures.gaps:
        yield texts["gaps"]
    if figures.excluded_currencies:
        yield texts["currencies"].format(currencies=", ".join(figures.excluded_currencies))


def list_changes(figures: CreditFigures) -> list[str]:
    texts = read_texts()["changes"]
    changes = [texts["accounts"]]
    if figures.gaps:
        changes.append(texts["gaps"])
    if figures.first_month is None:
        return changes
    changes += [texts["tag"], texts["next_month"].format(first=f"{figures.first_month:%m/%Y}")]
    values = {figure.name: Decimal(figure.value) for figure in figures.figures}
    paid = values[FigureName.INSTALLMENTS]
    if paid:
        left = show_amount(values[FigureName.FREE_INCOME] + paid)
        changes.append(texts["installments"].format(amount=show_amount(paid), left=left))
    for event in figures.latest_events:
        until = show_day(_add_year(event.day))
        changes.append(texts["event"].format(title=title_of(event.name), day=show_day(event.day), until=until))
    return changes


def _add_year(day: date) -> date:
    """The last day on which it is within twelve months: the one before its anniversary."""
    last = monthrange(day.year + 1, day.month)[1]
    return date.fromordinal(date(day.year + 1, day.month, min(day.day, last)).toordinal() - 1)
