"""What a session of the web form is about. `Redirects` treats every session alike; its flow knows the difference."""

from typing import Protocol

from kontor.domain.redirects import Branding, FormSession, RedirectOutcome
from kontor.domain.sca_machine import AnswerKind
from kontor.services.redirects.views import FormView
from kontor.storage.database import Connection


class FormFlow(Protocol):
    """An access to add or to renew (`AccessFlow`), or a payment (`PaymentFlow`)."""

    async def prepare(self, connection: Connection, session: FormSession) -> FormSession:
        """Before a new session is stored, in that transaction."""
        ...

    async def find_first_step(self, connection: Connection, session: FormSession) -> FormSession:
        """Where the session goes on once the legal text is accepted."""
        ...

    async def view(self, session: FormSession, branding: Branding) -> FormView:
        """What the page of the current step shows. Starts what can start without a click."""
        ...

    async def answer(self, session: FormSession, kind: AnswerKind, value: str, seen_wrong_tans: int | None) -> None:
        """An answer to the bank. One that comes too late or twice just shows where things stand."""
        ...

    async def retry(self, session: FormSession) -> None:
        """After a failure that may pass: ask the bank again."""
        ...

    async def leave(self, session: FormSession, reason: RedirectOutcome) -> None:
        """The user goes back to the tenant, for this reason unless the flow knows a better one."""
        ...

    async def expire(self, session: FormSession) -> FormSession:
        """The session's time is over."""
        ...
