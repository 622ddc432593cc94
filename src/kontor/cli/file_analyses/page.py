"""The report: one HTML page, everything in it, nothing loaded from elsewhere."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kontor import __version__
from kontor.analysis.cashflow.bookings import CURRENCY
from kontor.analysis.contracts import Contract
from kontor.analysis.records import NO_PARTNER
from kontor.analysis.tagging import derive_version
from kontor.analysis.trees import (
    BUSINESS_PARTNERS,
    CATEGORIES,
    INSURANCE_TYPES,
    LIFE_EVENTS,
    PERIODS,
    TREES,
    find_item,
)
from kontor.cli.file_analyses.charts import AxisText, Bar, draw_months
from kontor.cli.file_analyses.figures import NOTHING, FileAnalysis
from kontor.pages.formatting import WORD_JOINER, format_amount, format_iban
from kontor.pages.plurals import ONE, choose_form
from kontor.wire.translations import load_texts as load_tag_texts

YEARLY = {
    "WEEK_ONE": 52, "WEEK_TWO": 26, "WEEK_FOUR": 13, "MONTH_ONE": 12, "MONTH_TWO": 6, "MONTH_THREE": 4,
    "MONTH_SIX": 2, "YEAR_ONE": 1,
}  # fmt: skip


@cache
def load_texts(language: str) -> Mapping[str, Any]:
    text = files("kontor.cli.file_analyses").joinpath("texts", f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


class Words:
    """Texts, names of tags, amounts and days in a language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts = load_texts(language)

    def __call__(self, key: str, **values: Any) -> str:
        """With a `count` in the form for it: `<key>_one`, else `<key>`."""
        if "count" in values and choose_form(values["count"], self.language) == ONE:
            key = f"{key}_one" if f"{key}_one" in self._texts else key
        text: str = self._texts[key]
        return text.format(**values)

    def money(self, amount: Decimal, currency: str | None = None) -> str:
        written = format_amount(amount, currency, self.language)
        return written.replace(" ", "\N{NO-BREAK SPACE}").replace(WORD_JOINER, "")

    def day(self, day: date) -> str:
        return day.strftime("%d.%m.%Y") if self.language == "de" else f"{day.day} {self._month(day)[:3]} {day.year}"

    def month(self, day: date) -> str:
        return f"{self._month(day)} {day.year}"

    def short_month(self, day: date) -> str:
        name = self._month(day)[:3]
        return f"{name} {day:%y}" if day.month == 1 else name

    def tag(self, tree: str, system_name: str) -> str:
        item = find_item(TREES[tree], system_name)
        if item is None:
            return system_name
        return item.name if self.language == "de" else load_tag_texts(self.language).get(item.name, item.name)

    def category(self, system_name: str) -> str:
        return self.tag(CATEGORIES, system_name)

    def partner(self, system_name: str) -> str:
        return self.tag(BUSINESS_PARTNERS, system_name)

    def event(self, system_name: str) -> str:
        return self.tag(LIFE_EVENTS, system_name)

    def insurance(self, system_name: str) -> str:
        return self.tag(INSURANCE_TYPES, system_name)

    def period(self, system_name: str) -> str:
        return self.tag(PERIODS, system_name)

    def contract(self, contract: Contract) -> str:
        """The partner's name, or the bank's, or what it is for."""
        if contract.partner != NO_PARTNER:
            return self.partner(contract.partner)
        return contract.counterparty_name_ultimate or contract.counterparty_name or self.category(contract.category)

    def _month(self, day: date) -> str:
        names: list[str] = self._texts["months"]
        return names[day.month - 1]


def write_page(analysis: FileAnalysis, language: str) -> str:
    words = Words(language)
    environment = Environment(
        loader=PackageLoader("kontor.cli", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    paid = [contract for contract in analysis.contracts if not contract.is_income]
    received = [contract for contract in analysis.contracts if contract.is_income]
    return environment.get_template("file_report.html").render(
        a=analysis,
        w=words,
        chart=draw_cashflow(analysis, words),
        largest=max((abs(sums.net) for sums in analysis.categories.values()), default=Decimal(1)) or Decimal(1),
        paid=paid,
        received=received,
        costs=sum_yearly(paid),
        earnings=sum_yearly(received),
        notes=list_notes(analysis, words),
        yearly=find_yearly,
        format_iban=format_iban,
        version=__version__,
        tagger=derive_version(),
    )


def find_yearly(contract: Contract) -> Decimal | None:
    """What a contract costs in a year; None where its period does not tell."""
    times = YEARLY.get(contract.period)
    return None if times is None else contract.amount_latest * times


def sum_yearly(contracts: Sequence[Contract]) -> Decimal:
    """Of those in euros whose period tells it."""
    return sum((find_yearly(contract) or NOTHING for contract in contracts if contract.currency == CURRENCY), NOTHING)


def list_notes(analysis: FileAnalysis, words: Words) -> list[str]:
    """What the figures do not contain, and what is doubtful about the files."""
    read = analysis.read
    notes = [words("note_currencies", count=count, currency=name) for name, count in analysis.left_out.items()]
    if read.unreadable:
        notes.append(words("note_unreadable", count=read.unreadable))
    notes += [words("note_doubts", account=account.product.name) for account in read.accounts if account.doubts]
    return notes + [words("note_skipped", name=name, reason=reason) for name, reason in read.skipped]


def draw_cashflow(analysis: FileAnalysis, words: Words) -> str:
    bars = [
        Bar(
            words.short_month(month.first),
            float(month.sums.earned),
            float(-month.sums.spent),
            f"{words.month(month.first)}: {words('income')} {words.money(month.sums.earned)}",
            f"{words.month(month.first)}: {words('spending')} {words.money(month.sums.spent)}",
        )
        for month in analysis.months
    ]
    for forecast in analysis.forecasts:
        name = f"{words.month(forecast.first)}, {words('forecast')}"
        if analysis.months and forecast.first <= analysis.months[-1].first:
            continue  # the month that runs is drawn as it is so far; the table tells its forecast
        bars.append(
            Bar(
                words.short_month(forecast.first),
                float(max(forecast.income.amount, Decimal(0))),
                float(max(-forecast.expenses.amount, Decimal(0))),
                f"{name}: {words('income')} {words.money(forecast.income.amount)}",
                f"{name}: {words('spending')} {words.money(forecast.expenses.amount)}",
                is_forecast=True,
            )
        )
    return draw_months(bars, words("cashflow"), AxisText(words.language))
