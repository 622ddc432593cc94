"""Bank accesses of a user: adding, showing, deleting, and when each is refreshed."""

from kontor.services.accesses.accesses import Accesses, AccessRequest, delete_access_data
from kontor.services.accesses.fetch_requests import request_fetch
from kontor.services.accesses.refreshing import Refreshing, Start, is_consent_over, retry_when_locked
from kontor.services.accesses.views import AccessView, UnconfirmedAccess

__all__ = [
    "AccessRequest",
    "AccessView",
    "Accesses",
    "Refreshing",
    "Start",
    "UnconfirmedAccess",
    "delete_access_data",
    "is_consent_over",
    "request_fetch",
    "retry_when_locked",
]
