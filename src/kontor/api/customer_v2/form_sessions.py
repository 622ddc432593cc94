"""Sessions of the web form: how far users are, and ending sessions."""

from datetime import UTC, datetime

from kontor.api.answers import Answer, empty_answer, json_answer
from kontor.api.customer_v2.accesses import CUSTOMER, MODIFY
from kontor.api.operations import Call, Success, operation
from kontor.wire.form_sessions import FormSessionStatus, show_session

SESSIONS = CUSTOMER + "/regprotect/sessions"
SESSION = SESSIONS + "/{session-id}"


@operation("GET", SESSIONS, success=Success(shape=list[FormSessionStatus]), **MODIFY)
async def list_redirect_sessions(call: Call) -> Answer:
    """List the redirect sessions of the user that are kept, the newest first. They are kept for 24 hours."""
    found = await call.services.redirects.list_sessions(call.principal)
    now = datetime.now(UTC)
    return json_answer([show_session(session, now, call.urls) for session in found])


@operation("GET", SESSION, success=Success(shape=FormSessionStatus), errors=(404,), **MODIFY)
async def read_redirect_session(call: Call) -> Answer:
    """Read how far the user is in a redirect session."""
    session = await call.services.redirects.read_session(call.principal, call.path_uuid("session-id"))
    return json_answer(show_session(session, datetime.now(UTC), call.urls))


@operation("DELETE", SESSIONS, success=Success(description="deleted"), **MODIFY)
async def delete_redirect_sessions(call: Call) -> Answer:
    """Invalidate all redirect sessions of the user."""
    await call.services.redirects.delete_sessions(call.principal)
    return empty_answer()


@operation("DELETE", SESSION, success=Success(description="deleted"), errors=(404,), **MODIFY)
async def delete_redirect_session(call: Call) -> Answer:
    """Invalidate a redirect session."""
    await call.services.redirects.delete_sessions(call.principal, call.path_uuid("session-id"))
    return empty_answer()
