"""A limit for the time that a caller may take to send a body, whoever reads it."""

import asyncio
from typing import Any

IDLE_SECONDS = 10  # without a single byte
BYTES_PER_SECOND = 64 * 1024  # whoever sends as fast as this may go on beyond the limit
# The rest of such a body is never read, so the connection cannot carry another request.
LAST_ANSWER = {"Connection": "close"}


class SlowBodyError(TimeoutError):
    """The body did not arrive in time."""


class BodyLimit:
    """Receives the events of one request, until its body arrives too slowly.

    Only the time that is spent waiting for the caller counts.
    """

    __slots__ = ("_is_complete", "_receive", "_remaining_seconds", "is_exceeded")

    def __init__(self, receive: Any, body_seconds: float) -> None:
        self._receive = receive
        self._remaining_seconds = body_seconds
        self._is_complete = False
        self.is_exceeded = False

    async def receive(self) -> Any:
        if self._is_complete:  # what comes now is the end of the connection, and may take its time
            return await self._receive()
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(min(IDLE_SECONDS, self._remaining_seconds)):
                event = await self._receive()
        except TimeoutError:
            self.is_exceeded = True
            raise SlowBodyError from None
        self._remaining_seconds -= loop.time() - started
        self._remaining_seconds += len(event.get("body", b"")) / BYTES_PER_SECOND
        self._is_complete = not event.get("more_body", False)
        return event
