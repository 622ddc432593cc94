"""A time line: what happened when, by year for reading and by place for a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kontor.console.findings import Finding

# Of what an event speaks, by the beginning of its system name. What is new to us is about money.
_THEMES = {
    "EMPLOYMENT": "work", "SALARY": "work", "UNEMPLOYMENT": "work", "STUDY": "work", "RETIREMENT": "work",
    "TENANCY": "home", "RELOCATION": "home", "PROPERTY": "home",
    "CHILD": "family", "CHILDCARE": "family", "PARENTALLEAVE": "family",
}  # fmt: skip
THEMES = ("work", "home", "family", "money")
MARGIN_DAYS = 45


@dataclass(frozen=True, slots=True)
class Event:
    finding: Finding
    theme: str
    percent: float  # from the left


@dataclass(frozen=True, slots=True)
class Timeline:
    """Events newest first. `ticks` are the beginnings of years with their places."""

    events: list[Event]
    ticks: list[tuple[int, float]]
    first: date
    last: date

    @property
    def years(self) -> list[tuple[int, list[Event]]]:
        by_year: dict[int, list[Event]] = {}
        for event in self.events:
            if event.finding.day is not None:
                by_year.setdefault(event.finding.day.year, []).append(event)
        return list(by_year.items())

    @property
    def lanes(self) -> list[tuple[str, list[Event]]]:
        """Themes that anything happened in."""
        lanes = [(theme, [event for event in self.events if event.theme == theme]) for theme in THEMES]
        return [(theme, events) for theme, events in lanes if events]


def name_theme(system_name: str) -> str:
    return _THEMES.get(system_name.partition("_")[0], "money")


def make_timeline(findings: Sequence[Finding], today: date) -> Timeline | None:
    dated = sorted(
        ((finding.day, at, finding) for at, finding in enumerate(findings) if finding.day is not None), reverse=True
    )
    if not dated:
        return None
    first, last = dated[-1][0] - timedelta(MARGIN_DAYS), max(today, dated[0][0])
    span = max((last - first).days, 1)

    def place(day: date) -> float:
        return round((day - first).days / span * 100, 2)

    events = [Event(finding, name_theme(finding.system_name), place(day)) for day, _, finding in dated]
    ticks = [(year, place(date(year, 1, 1))) for year in range(first.year + 1, last.year + 1)]
    return Timeline(events, ticks, first, last)
