"""Whether the bookings of each account are complete."""

from kontor.api.answers import Answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, READ
from kontor.api.operations import Call, Success, operation
from kontor.wire.completeness import Vollstaendigkeit, show_completeness


@operation("GET", CUSTOMER + "/vollstaendigkeit", success=Success(shape=list[Vollstaendigkeit]), **READ)
async def list_completeness(call: Call) -> Answer:
    """State for each account and month the opening balance, the bookings, the closing balance, and gaps.

    Balances are reckoned from the one that the bank tells. A gap names days about which something is not known: before
    the first booking, not read yet, or with bookings that do not give the bank's own balances.
    """
    found = await call.services.completeness.list_statements(call.principal)
    return json_answer([show_completeness(statement, call.urls) for statement in found])
