"""Bank accesses of a user: adding, showing, deleting, and when each is refreshed."""

from kontor.services.accesses.accesses import Accesses
from kontor.services.accesses.deletion import delete_access_data
from kontor.services.accesses.fetch_requests import request_fetch
from kontor.services.accesses.permissions import PermissionView
from kontor.services.accesses.refreshing import Refreshing
from kontor.services.accesses.requests import AccessRequest, IncompleteCredentialsError
from kontor.services.accesses.views import AccessView, UnconfirmedAccess

__all__ = [
    "AccessRequest",
    "AccessView",
    "Accesses",
    "IncompleteCredentialsError",
    "PermissionView",
    "Refreshing",
    "UnconfirmedAccess",
    "delete_access_data",
    "request_fetch",
]
