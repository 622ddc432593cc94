"""Events: published in the transaction of the fact itself, so that what a receiver is told is true when it reads."""

from uuid import UUID, uuid4

from kontor.domain.webhooks import Event
from kontor.storage import deliveries, queue, webhooks
from kontor.storage.database import Connection


class Events:
    async def publish(self, connection: Connection, *events: Event) -> int:
        """Serial, delivery and job for each active webhook that wants it. Returns how many deliveries there are.

        All events of a transaction at once, towards its end, and before its audit entry: the webhook's row is held
        until the commit, and whoever locks several of these takes them in the same order.
        """
        by_user: dict[UUID, list[Event]] = {}
        for event in events:
            if event.user_id is not None:
                by_user.setdefault(event.user_id, []).append(event)
        if not by_user:
            return 0
        wanting = await webhooks.lock_subscribed_webhooks(
            connection, list(by_user), sorted({str(event.type) for event in events})
        )
        made: list[UUID] = []
        serials: dict[UUID, int] = {}
        for webhook_id, user_id, types, last_serial in wanting:
            for event in by_user[user_id]:
                if event.type in types:
                    serials[webhook_id] = serials.get(webhook_id, last_serial) + 1
                    made.append(uuid4())
                    await deliveries.insert_delivery(connection, webhook_id, serials[webhook_id], made[-1], event)
        for webhook_id, serial in serials.items():
            await webhooks.set_last_serial(connection, webhook_id, serial)
        if made:
            await queue.enqueue_deliveries(connection, made)
        return len(made)
