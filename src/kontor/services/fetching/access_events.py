"""Which events follow from a fetch: not what somebody is there to see for himself, nor what was known before."""

from collections.abc import Iterable
from uuid import UUID

from kontor.domain.accesses import Access, AccessStatus, Notice, NoticeKind
from kontor.domain.webhooks import Event, EventType, NewTransactions

_NO_ERRORS = (NoticeKind.SCA_NEEDED, NoticeKind.BANK_MESSAGE)


def find_transaction_events(
    user_id: UUID, access: Access, counts: Iterable[NewTransactions], data_version: int
) -> list[Event]:
    """New transactions of a refresh. `access` is as it was before: its first fetch is no refresh."""
    new = tuple(product for product in counts if product.count)
    if not new or not access.is_synced or not access.is_confirmed or access.status is not AccessStatus.COMPLETE:
        return []
    return [Event(EventType.TRANSACTIONS_NEW, user_id, access.id, new, data_version=data_version)]


def find_notice_events(user_id: UUID, access: Access, notices: Iterable[Notice], *, is_attended: bool) -> list[Event]:
    """Notices that a fetch in the background leaves. `access` is as it was before: the same trouble is told once."""
    if is_attended or not access.is_synced or not access.is_confirmed:
        return []
    new = {notice.kind for notice in notices} - {notice.kind for notice in (*access.messages, *access.issues)}
    events = []
    if NoticeKind.SCA_NEEDED in new:
        events.append(Event(EventType.SCA_REQUIRED, user_id, access.id))
    if not new.issubset(_NO_ERRORS):
        events.append(Event(EventType.ACCESS_ERROR, user_id, access.id))
    return events
