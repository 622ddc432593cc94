"""How fetches of the last 24 hours ended: counted in spans of ten minutes, each of them once when it is over.

There may be millions of them in a day. What is over does not change any more, so that each look counts minutes only.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from kontor.domain.operators import RECENT
from kontor.storage import ops_refreshes
from kontor.storage.database import Database

SPAN = timedelta(minutes=10)
# A fetch ends when its transaction begins to commit; after so long everybody sees it.
SETTLED = timedelta(minutes=2)
BEGINNING = ops_refreshes.BEGINNING
MAX_KEPT = 1000

Spans = dict[datetime, Counter[str]]


class OutcomeTally:
    """Per process and tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._closed: dict[UUID | None, Spans] = {}

    async def count(self, tenant_id: UUID | None, now: datetime | None = None) -> dict[str, int]:
        """By state, since the beginning of the span that began 24 hours ago."""
        now = now or datetime.now(UTC)
        first = _begin_span(now - RECENT)
        closed = {at: counts for at, counts in self._closed.get(tenant_id, {}).items() if at >= first}
        since = max(closed) + SPAN if closed else first
        async with self._database.connect() as connection:
            rows = await ops_refreshes.count_outcomes(connection, tenant_id, since, SPAN)
        spans = closed | _collect(rows, since, now)
        if len(self._closed) >= MAX_KEPT:
            self._closed.clear()
        self._closed[tenant_id] = {at: counts for at, counts in spans.items() if at + SPAN <= now - SETTLED}
        return dict(sum(spans.values(), Counter()))


def _begin_span(at: datetime) -> datetime:
    return at - (at - BEGINNING) % SPAN


def _collect(rows: list[tuple[datetime, str, int]], since: datetime, now: datetime) -> Spans:
    """Spans in which nothing ended are known as well."""
    spans: Spans = {}
    while since <= now:
        spans[since] = Counter()
        since += SPAN
    for at, state, count in rows:
        spans.setdefault(at, Counter())[state] += count
    return spans
