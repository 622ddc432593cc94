"""For operators: the hosts that the installation has connected to. They belong to no tenant."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta

from kontor.api.answers import Answer
from kontor.api.operations import Call, operation
from kontor.api.ops_v1 import ALONE, OPS, page
from kontor.api.paging import DEFAULT_PAGE, CursorText, Limit, page_answer, read_cursor
from kontor.domain.errors import InvalidError
from kontor.wire.ops_egress import OpsEgress, show_egress

DEFAULT_DAYS = 30


class EgressQuery(msgspec.Struct):
    since: Annotated[date, Meta(description="first day, in UTC; 30 days without it")] | None = None
    until: Annotated[date, Meta(description="last day, in UTC; today without it")] | None = None
    limit: Limit = DEFAULT_PAGE
    cursor: CursorText | None = None


@operation("GET", OPS + "/egress", query=EgressQuery, success=page(OpsEgress), **ALONE)
async def list_egress(call: Call) -> Answer:
    """List the hosts that the installation has connected to, by host and purpose.

    The counts of each process are added once a minute. They are kept for two years.
    """
    query = call.query(EgressQuery)
    today = datetime.now(UTC).date()
    since, until = query.since or today - timedelta(days=DEFAULT_DAYS - 1), query.until or today
    if since > until:
        raise InvalidError("must not be after until", "since")
    after = read_cursor(query.cursor, tuple[str, str]) or ("", "")
    rows = await call.services.ops.egress.list_hosts(since, until, after, query.limit)
    following = (rows[-1].host, rows[-1].purpose) if len(rows) == query.limit else None
    return page_answer(call, [show_egress(row) for row in rows], following)
