"""Scoring the analyses on the demo bank's people: contracts, forecasts, life events and sums of months."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
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
        return sum((person.contracts for person in self.people), ContractScores())

    @cached_property
    def events(self) -> EventScores:
        return sum((person.events for person in self.people), EventScores())

    @cached_property
    def events_by_name(self) -> dict[str, EventScores]:
        names = sorted({name for person in self.people for name in person.events_by_name})
        nothing = EventScores()
        return {
            name: sum((person.events_by_name.get(name, nothing) for person in self.people), nothing) for name in names
        }

    @cached_property
    def forecasts(self) -> dict[str, Comparison]:
        return {kind: sum((person.forecasts[kind] for person in self.people), Comparison()) for kind in KIND_NAMES}

    @cached_property
    def months(self) -> Share:
        return _add(person.months for person in self.people)

    @cached_property
    def main(self) -> Share:
        return _add(person.main for person in self.people)

    @cached_property
    def category(self) -> Share:
        return _add(person.category for person in self.people)


def _add(shares: Iterator[Share]) -> Share:
    return reduce(lambda total, share: Share(total.hits + share.hits, total.count + share.count), shares, Share(0, 0))


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
    sums = {
        (flow.item, statistic.item): statistic.amount
        for flow in find_cashflow(person.records, [], person.accounts, person.today)
        if flow.is_aggregate and flow.item in ("INCOME", "EXPENSES")
        for statistic in flow.statistics
        if "_M" in statistic.item
    }
    return _share(
        sums.get(key, Decimal(0)) == person.months.get(key, Decimal(0))
        for key in sums.keys() | person.months.keys()
        if sums.get(key) or person.months.get(key)
    )


def _share(results: Iterator[bool]) -> Share:
    counts = Counter(results)
    return Share(counts[True], counts[True] + counts[False])


def _score_by_name(found: Sequence[LifeEvent], known: Sequence[KnownEvent]) -> dict[str, EventScores]:
    names = {event.name for event in found} | {event.name for event in known}
    scored = {
        name: score_events(
            [event for event in found if event.name == name], [event for event in known if event.name == name]
        )
        for name in sorted(names)
    }
    return {name: scores for name, scores in scored.items() if scores.found or scores.visible}


def _tell_wrong_contracts(found: Sequence[Contract], known: Sequence[KnownContract]) -> Iterator[str]:
    pairs, extra, missed = match_contracts(found, known)
    for contract in extra:
        yield (
            f"contract too much: {contract.period}, {len(contract.transaction_ids)} bookings,"
            f" first {contract.transaction_ids[0]}"
        )
    for truth in missed:
        yield f"contract missed: {truth.id}, {truth.period}, {len(truth.transaction_ids)} bookings"
    for contract, truth in pairs:
        if contract.period != truth.period:
            yield f"contract {truth.id}: period {contract.period} instead of {truth.period}"
        if contract.status != truth.status:
            yield f"contract {truth.id}: status {contract.status} instead of {truth.status}"
        if truth.date_next is not None and contract.date_next != truth.date_next:
            yield f"contract {truth.id}: next on {contract.date_next} instead of {truth.date_next}"


def _tell_wrong_events(found: Sequence[LifeEvent], known: Sequence[KnownEvent]) -> Iterator[str]:
    _, extra, missed = match_events(found, known)
    for event in extra:
        yield f"event too much: {event.name} on {event.day}"
    for truth in missed:
        yield f"event missed: {truth.name} on {truth.day}"


# Figures


def list_people_figures(scores: PeopleScores) -> list[tuple[str, float | int | None, int | str]]:
    """(name, value, of how many), as the figures of tags are listed."""
    contracts, events = scores.contracts, scores.events
    rows: list[tuple[str, float | int | None, int | str]] = [
        ("contracts: F1", contracts.f1, contracts.known),
        ("contracts: precision", contracts.precision, contracts.found),
        ("contracts: recall", contracts.recall, contracts.known),
        ("contracts: period right", contracts.period_accuracy, contracts.hits),
        ("contracts: status right", contracts.status_accuracy, contracts.hits),
        ("contracts: next date exact", contracts.next_exact, contracts.nexts),
        ("contracts: next date within 3 days", contracts.next_near, contracts.nexts),
        ("contracts: everyday purchases inside", contracts.purchases_share, contracts.purchases),
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
        forecast = forecasts[kind]
        yield f"forecasts, {name}: interval covers", forecast.ours.coverage, forecast.ours.count
        yield (
            f"forecasts, {name}: interval covers where it has a width",
            forecast.ours.stated_coverage,
            forecast.ours.stated,
        )
        yield f"forecasts, {name}: mean error, EUR", forecast.ours.mean_error, forecast.ours.count
        yield f"forecasts, {name}: mean error of last month, EUR", forecast.last.mean_error, forecast.last.count
        yield f"forecasts, {name}: mean error of 12 months, EUR", forecast.mean.mean_error, forecast.mean.count
        yield f"forecasts, {name}: interval score, EUR", forecast.ours.mean_interval_score, forecast.ours.count
        yield (
            f"forecasts, {name}: interval score of last month, EUR",
            forecast.last.mean_interval_score,
            forecast.last.count,
        )
        yield (
            f"forecasts, {name}: interval score of 12 months, EUR",
            forecast.mean.mean_interval_score,
            forecast.mean.count,
        )
