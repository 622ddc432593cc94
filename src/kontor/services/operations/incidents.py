"""Incidents: recorded step by step, with the deadlines of their reports, and counts of their time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from kontor.analysis.calendars import is_working_day
from kontor.domain.errors import ConflictError, InvalidError
from kontor.domain.incident_figures import KEPT, IncidentFigures
from kontor.domain.incidents import MAX_CHARACTERS, Criterion, Deadline, Incident, Report, find_deadlines
from kontor.services.security import auditing
from kontor.storage import incidents, ops_jobs, outages, workers
from kontor.storage.database import Connection, Database

# Failures may have begun before somebody became aware of them.
BEFORE_AWARENESS = timedelta(hours=24)
RECURRING = timedelta(days=183)
BEFORE = {Report.INTERMEDIATE: Report.INITIAL, Report.FINAL: Report.INTERMEDIATE}


class Incidents:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_incident(self, title: str, aware_at: datetime | None, occurred_at: datetime | None) -> Incident:
        now = datetime.now(UTC)
        title, aware_at = title.strip(), aware_at or now
        if not title or len(title) > MAX_CHARACTERS or not title.isprintable():
            raise InvalidError(f"must have 1 to {MAX_CHARACTERS} characters, in one line", "title")
        _require_past(aware_at, now, "--aware")
        if occurred_at is not None and occurred_at > aware_at:
            raise InvalidError("must not be after --aware", "--occurred")
        async with self._database.transaction() as connection:
            number = await incidents.insert_incident(connection, title, aware_at, occurred_at)
            await _record(connection, "open", number)
            return await incidents.find_incident(connection, number)

    async def classify(
        self, number: int, at: datetime | None, criteria: Sequence[Criterion], *, is_major: bool
    ) -> Incident:
        """May be repeated: an incident that is found to be major later, or not to be any more."""
        now = datetime.now(UTC)
        at = at or now
        _require_past(at, now, "--at")
        if is_major and not criteria:
            raise InvalidError("name at least one criterion of a major incident", "--criterion")
        async with self._database.transaction() as connection:
            incident = await _lock_open(connection, number)
            _require_order(incident.aware_at, at, "becoming aware")
            if incident.classified_at is not None and is_major is not incident.is_major:
                former = "major" if incident.is_major else "not major"
                _require_order(incident.classified_at, at, f"the classification as {former}")
            if is_major and incident.is_major:
                at = incident.classified_at or at  # the clock runs from the first time
            await incidents.store_classification(connection, number, at, is_major, sorted(set(criteria)))
            if is_major and incident.was_major and not incident.is_major:
                await incidents.store_major_again(connection, number, at)
            await _record(connection, "classify-major" if is_major else "classify-not-major", number)
            return await incidents.find_incident(connection, number)

    async def note_submission(self, number: int, report: Report, at: datetime | None) -> Incident:
        """The operator has handed a report in. Only an updated intermediate report is noted again.

        What has become major again is reported anew.
        """
        now = datetime.now(UTC)
        at = at or now
        _require_past(at, now, "--at")
        async with self._database.transaction() as connection:
            incident = await _lock_open(connection, number)
            if not incident.was_major or incident.classified_at is None:
                raise ConflictError(f"{incident.reference} has not been classified as major.")
            if report is not Report.INTERMEDIATE and incident.find_submission(report) is not None:
                raise ConflictError(
                    f"The {report} report of {incident.reference} was submitted before: only the intermediate report"
                    " may be repeated."
                )
            before = BEFORE.get(report)
            if before is None:
                what = "becoming aware" if incident.major_again_at is None else "the classification as major"
                earlier = incident.major_again_at or incident.aware_at
            else:
                submitted, what = incident.find_submission(before), f"the {before} report"
                if submitted is None:
                    raise ConflictError(f"The {before} report of {incident.reference} has not been submitted.")
                earlier = submitted
            _require_order(earlier, at, what)
            await incidents.insert_report(connection, number, report, at)
            await _record(connection, f"submit-{report}", number)
            return await incidents.find_incident(connection, number)

    async def note_recovery(self, number: int, at: datetime | None) -> Incident:
        now = datetime.now(UTC)
        at = at or now
        _require_past(at, now, "--at")
        async with self._database.transaction() as connection:
            incident = await _lock_open(connection, number)
            _require_order(incident.occurred_at or incident.aware_at, at, "the incident")
            await incidents.store_recovery(connection, number, at)
            await _record(connection, "recover", number)
            return await incidents.find_incident(connection, number)

    async def close(self, number: int) -> Incident:
        async with self._database.transaction() as connection:
            incident = await _lock_open(connection, number)
            if incident.is_major is None:
                raise ConflictError(f"{incident.reference} has not been classified.")
            if incident.is_major and incident.final_at is None:
                raise ConflictError(f"The final report of {incident.reference} has not been submitted.")
            await incidents.store_end(connection, number, datetime.now(UTC))
            await _record(connection, "close", number)
            return await incidents.find_incident(connection, number)

    async def find(self, number: int) -> Incident:
        async with self._database.connect() as connection:
            return await incidents.find_incident(connection, number)

    async def list_incidents(self, *, are_closed_too: bool) -> list[Incident]:
        async with self._database.connect() as connection:
            return await incidents.list_incidents(connection, are_closed_too=are_closed_too)

    async def find_next_deadlines(self) -> dict[Report, datetime]:
        """The earliest of each report that has not been submitted, over all open incidents."""
        found: dict[Report, datetime] = {}
        for incident in await self.list_incidents(are_closed_too=False):
            for deadline in list_deadlines(incident):
                if deadline.due_at is not None and deadline.submitted_at is None:
                    found[deadline.report] = min(deadline.due_at, found.get(deadline.report, deadline.due_at))
        return found

    async def count_figures(self, incident: Incident) -> IncidentFigures:
        """From a day before somebody became aware, or from when it occurred, until it was over."""
        now = datetime.now(UTC)
        begin = min(incident.aware_at - BEFORE_AWARENESS, incident.occurred_at or incident.aware_at)
        span = (begin, incident.recovered_at or incident.closed_at or now)
        async with self._database.connect() as connection:
            fetches = await incidents.count_fetches(connection, span)
            jobs = await ops_jobs.count_jobs(connection)
            alive, dead = await workers.count_workers(connection)
            return IncidentFigures(
                span=span,
                is_complete=begin > now - KEPT,
                customers=await incidents.count_customers(connection),
                fetches=fetches[0],
                fetches_done=fetches[1],
                fetches_failed=fetches[2],
                affected_customers=fetches[3],
                customers_with_fetches=fetches[4],
                failures=tuple(await incidents.count_failures(connection, span)),
                providers=tuple(await incidents.list_failing_providers(connection, span)),
                hours=tuple(await incidents.list_failing_hours(connection, span)),
                payments=await incidents.count_payments(connection, span),
                discarded_deliveries=await incidents.count_discarded(connection, span),
                audit=tuple(await incidents.count_audit_entries(connection, span)),
                hosts=tuple(await incidents.list_failing_hosts(connection, span)),
                held_jobs={job.entrypoint: job.count for job in jobs if job.status == "failed"},
                workers_alive=alive,
                workers_dead=dead,
                down=tuple(await outages.list_down(connection)),
                earlier=tuple(await incidents.list_earlier(connection, incident, incident.aware_at - RECURRING)),
            )


def list_deadlines(incident: Incident) -> list[Deadline]:
    """With the working days of Germany: public holidays of all states alike."""
    return find_deadlines(incident, is_working_day)


async def _lock_open(connection: Connection, number: int) -> Incident:
    incident = await incidents.lock_incident(connection, number)
    if incident.closed_at is not None:
        raise ConflictError(f"{incident.reference} is closed.")
    return incident


def _require_past(at: datetime, now: datetime, option: str) -> None:
    if at > now:
        raise InvalidError("must not be in the future", option)


def _require_order(earlier: datetime, at: datetime, what: str) -> None:
    if at < earlier:
        raise InvalidError(f"must not be before {what}", "--at")


async def _record(connection: Connection, step: str, number: int) -> None:
    await auditing.record(connection, None, auditing.OPERATOR, f"incident.{step}", f"incident INC-{number}")
