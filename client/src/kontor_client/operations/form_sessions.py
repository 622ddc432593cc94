"""Sessions of the web form, for tenants with the redirect frontend."""

from kontor_client.models.accesses import FormSession
from kontor_client.plans import Call, Plan, fetch, path_of, send

SESSIONS = "/customer/v2/regprotect/sessions"


def list_web_forms() -> Plan[list[FormSession]]:
    """The user's sessions of the last 24 hours: how far they are, and how they ended."""
    return fetch(list[FormSession], SESSIONS)


def read_web_form(session_id: str) -> Plan[FormSession]:
    return fetch(FormSession, SESSIONS + path_of(session_id))


def end_web_form(session_id: str) -> Plan[None]:
    """End one session; `end_web_forms` ends all."""
    yield from send(Call("DELETE", SESSIONS + path_of(session_id)))
