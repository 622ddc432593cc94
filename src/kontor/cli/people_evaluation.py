"""Scoring the analyses on the demo bank's people: contracts, forecasts, life events and sums of months."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, reduce

from kontor.analysis.calendars import find_day, number_month
from kontor.analysis.cashflow import find_cashflow
from kontor.analysis.contracts import Contract, find_contracts
from kontor.analysis.life_events import LifeEvent, find_life_events
from kontor.analysis.scoring.contract_scores import ContractScores, KnownContract, match_contracts, score_contracts
from kontor.analysis.scoring.event_scores import EventScores, KnownEvent, match_events, score_events
from kontor.analysis.scoring.forecast_scores import AGGREGATES, MAIN, PARTNERS, SUB, Comparison, backtest
from kontor.analysis.scoring.tag_scores import Share, name_main
from kontor.cli.demo_truths import DemoTruth, Tags, read_demo_person, read_demo_records

# Forecasts are made on days in the middle, beginning and end of months of the past year, each (months back, day).
FORECAST_DAYS = ((0, 15), (3, 3), (6, 25), (9, 18))
KIND_NAMES = {
    AGGREGATES: "sums of a month",
    MAIN: "main categories",
    SUB: "subcategories",
    PARTNERS: "business partners",
}


@dataclass(frozen=True, slots=True)
class PersonScores:
    """What was found of one person on a day. `wrong` says in words what was missed or found too much."""

    login: str
    today: date
    contracts: ContractScores
    events: EventScores
    events_by_name: Mapping[str, EventScores]
    forecasts: Mapping[str, Comparison]
    months: Share
    main: Share
    category: Share
    wrong: Sequence[str] = ()


@dataclass(frozen=True)
class PeopleScores:
    """Everybody's scores, added up where one asks for it."""

    tags: Tags
    people: Sequence[PersonScores]

    @cached_property
    def contracts(self) -> ContractScores:
        return sum((one.contracts for one in self.people), ContractScores())

    @cached_property
    def events(self) -> EventScores:
        return sum((one.events for one in self.people), EventScores())

    @cached_property
    def events_by_name(self) -> dict[str, EventScores]:
        names = sorted({name for one in self.people for name in one.events_by_name})
        nothing = EventScores()
        return {name: sum((one.events_by_name.get(name, nothing) for one in self.people), nothing) for name in names}

    @cached_property
    def forecasts(self) -> dict[str, Comparison]:
        return {kind: sum((one.forecasts[kind] for one in self.people), Comparison()) for kind in KIND_NAMES}

    @cached_property
    def months(self) -> Share:
        return _add(one.months for one in self.people)

    @cached_property
    def main(self) -> Share:
        return _add(one.main for one in self.people)

    @cached_property
    def category(self) -> Share:
        return _add(one.category for one in self.people)


def _add(shares: Iterator[Share]) -> Share:
    return reduce(lambda one, other: Share(one.hits + other.hits, one.count + other.count), shares, Share(0, 0))


def score_people(visits: Sequence[tuple[str, date]], tags: Tags) -> PeopleScores:
    """`visits` are pairs of a login and the day on which it is looked at."""
    return PeopleScores(tags, [score_person(login, today, tags) for login, today in visits])


def score_person(login: str, today: date, tags: Tags) -> PersonScores:
    person = read_demo_person(login, today, tags)
    contracts = find_contracts(person.records, person.accounts, today)
    events = find_life_events(person.records, contracts, person.accounts, today)
    wrong = [*_tell_wrong_contracts(contracts, person.contracts), *_tell_wrong_events(events, person.events)]
    return PersonScores(
        login,
        today,
        score_contracts(contracts, person.contracts, person.purchases),
        score_events(events, person.events),
        _score_by_name(events, person.events),
        score_forecasts(login, today, tags),
        count_exact_months(person),
        _share(name_main(truth) == name_main(found) for truth, found in person.categories),
        _share(truth == found for truth, found in person.categories),
        wrong,
    )


def score_forecasts(login: str, today: date, tags: Tags) -> dict[str, Comparison]:
    """What would have been said on some days of the past year, against what came: the bank's next months are known."""
    current = number_month(today)
    records, accounts = read_demo_records(login, find_day(current + 2, 1) - timedelta(days=1), tags)
    days = [min(find_day(current - back, day), today) for back, day in FORECAST_DAYS]
    return backtest(records, accounts, days)


def count_exact_months(person: DemoTruth) -> Share:
    """Sums of income and expenses of each month that are exactly what the bank booked."""
    found = {
        (flow.item, one.item): one.amount
        for flow in find_cashflow(person.records, [], person.accounts, person.today)
        if flow.is_aggregate and flow.item in ("INCOME", "EXPENSES")
        for one in flow.statistics
        if "_M" in one.item
    }
    return _share(found.get(key) == person.months.get(key) for key in found.keys() | person.months.keys())


def _share(results: Iterator[bool]) -> Share:
    counts = Counter(results)
    return Share(counts[True], counts[True] + counts[False])


def _score_by_name(found: Sequence[LifeEvent], known: Sequence[KnownEvent]) -> dict[str, EventScores]:
    names = {one.name for one in found} | {one.name for one in known}
    scored = {
        name: score_events([one for one in found if one.name == name], [one for one in known if one.name == name])
        for name in sorted(names)
    }
    return {name: one for name, one in scored.items() if one.found or one.visible}


def _tell_wrong_contracts(found: Sequence[Contract], known: Sequence[KnownContract]) -> Iterator[str]:
    pairs, extra, missed = match_contracts(found, known)
    for one in extra:
        yield f"contract too much: {one.period}, {len(one.transaction_ids)} bookings, first {one.transaction_ids[0]}"
    for truth in missed:
        yield f"contract missed: {truth.id}, {truth.period}, {len(truth.transaction_ids)} bookings"
    for one, truth in pairs:
        if one.period != truth.period:
            yield f"contract {truth.id}: period {one.period} instead of {truth.period}"
        if one.status != truth.status:
            yield f"contract {truth.id}: status {one.status} instead of {truth.status}"
        if truth.date_next is not None and one.date_next != truth.date_next:
            yield f"contract {truth.id}: next on {one.date_next} instead of {truth.date_next}"


def _tell_wrong_events(found: Sequence[LifeEvent], known: Sequence[KnownEvent]) -> Iterator[str]:
    _, extra, missed = match_events(found, known)
    for one in extra:
        yield f"event too much: {one.name} on {one.day}"
    for truth in missed:
        yield f"event missed: {truth.name} on {truth.day}"


# Figures


def list_people_figures(scores: PeopleScores) -> list[tuple[str, float | int | None, int | str]]:
    """(name, value, of how many), as the figures of tags are listed."""
    one, events = scores.contracts, scores.events
    rows: list[tuple[str, float | int | None, int | str]] = [
        ("contracts: F1", one.f1, one.known),
        ("contracts: precision", one.precision, one.found),
        ("contracts: recall", one.recall, one.known),
        ("contracts: period right", one.period_accuracy, one.hits),
        ("contracts: status right", one.status_accuracy, one.hits),
        ("contracts: next date exact", one.next_exact, one.nexts),
        ("contracts: next date within 3 days", one.next_near, one.nexts),
        ("contracts: everyday purchases inside", one.purchases_share, one.purchases),
        ("months: sums of income and expenses exact", scores.months.value, scores.months.count),
        *list_forecast_figures(scores.forecasts),
        ("life events: precision", events.precision, events.found),
        ("life events: recall", events.recall, events.visible),
    ]
    if scores.tags is Tags.TAGGER:
        rows.append(("tags: main category", scores.main.value, scores.main.count))
        rows.append(("tags: category", scores.category.value, scores.category.count))
    return [
        (name, None if value is None else round(value, 2 if name.endswith("EUR") else 4), count)
        for name, value, count in rows
    ]


def list_forecast_figures(forecasts: Mapping[str, Comparison]) -> Iterator[tuple[str, float, int]]:
    for kind, name in KIND_NAMES.items():
        one = forecasts[kind]
        yield f"forecasts, {name}: interval covers", one.ours.coverage, one.ours.count
        yield f"forecasts, {name}: interval covers where it has a width", one.ours.stated_coverage, one.ours.stated
        yield f"forecasts, {name}: mean error, EUR", one.ours.mean_error, one.ours.count
        yield f"forecasts, {name}: mean error of last month, EUR", one.last.mean_error, one.last.count
        yield f"forecasts, {name}: mean error of 12 months, EUR", one.mean.mean_error, one.mean.count
        yield f"forecasts, {name}: interval score, EUR", one.ours.mean_interval_score, one.ours.count
        yield f"forecasts, {name}: interval score of last month, EUR", one.last.mean_interval_score, one.last.count
        yield f"forecasts, {name}: interval score of 12 months, EUR", one.mean.mean_interval_score, one.mean.count
