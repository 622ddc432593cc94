"""The web form's part in a dialogue with a bank: begin it, pass answers on, and see what came of it.

A bank may take its time. The dialogue is begun in a task of its own, so that the user sees a page meanwhile, may
reload it or open a second tab, and the bank is still asked only once: a second login with a wrong PIN would count.
"""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import structlog

from kontor.domain.accesses import NoticeKind
from kontor.domain.errors import BusyError, InvalidError, NotFoundError
from kontor.domain.redirects import Failure, FormSession, FormStep, RedirectOutcome
from kontor.domain.sca_machine import MAX_WRONG_TANS, AnswerKind, ScaState
from kontor.services.accesses import Accesses
from kontor.services.redirects.sessions import FormSessions, SessionGoneError
from kontor.services.sca import ConsentOptions, Consents, ConsentView, NotOpenError, make_answer
from kontor.storage import redirects

log = structlog.get_logger(__name__)

MAX_WRONG_LOGINS = 3
WAIT_TIMEOUT_SECONDS = 1.5  # most banks answer within; for the others there is a page to wait on


class FormDialogues:
    def __init__(self, sessions: FormSessions, accesses: Accesses, consents: Consents, return_url: str) -> None:
        self._sessions = sessions
        self._accesses = accesses
        self._consents = consents
        self._return_url = return_url
        self._running: dict[UUID, asyncio.Task[None]] = {}

    async def advance(self, session: FormSession) -> tuple[FormSession, ConsentView | None]:
        """The session and its dialogue, begun where it was not yet; no dialogue where it has come to an end."""
        if session.dialogue_id is None:
            session = await self._name_dialogue(session)
        consent = await self._find(session)
        if consent is None or is_beginning(consent):
            await self._begin(session, has_begun=consent is not None)
            session = await self._sessions.reload(session)
            consent = await self._find(session)
        if consent is not None and session.step is FormStep.SCA and not consent.dialogue.position.state.is_open:
            session = await self._advance(session, consent)
        return session, consent if session.step is FormStep.SCA else None

    async def answer(
        self, session: FormSession, kind: AnswerKind, value: str, seen_wrong_tans: int | None = None
    ) -> None:
        """An answer from the page. One that comes too late or twice just shows where things stand."""
        if session.step is not FormStep.SCA or session.dialogue_id is None:
            return
        try:
            view = await self._consents.answer(
                session.principal, session.dialogue_id, kind, make_answer(kind, value), seen_wrong_tans
            )
        except NotOpenError as error:
            view = error.view
        except (InvalidError, BusyError):
            return
        except NotFoundError:
            await self._sessions.finish(session, RedirectOutcome.ERROR)
            return
        await self._advance(session, view)

    async def cancel(self, session: FormSession) -> None:
        """Tell the bank, unless it has not answered yet: nobody waits for a bank in order to leave."""
        consent = await self._find(session)
        if consent is not None and not is_beginning(consent):
            await self.answer(session, AnswerKind.CANCEL, "")

    # Parts

    async def _name_dialogue(self, session: FormSession) -> FormSession:
        """For a renewal: the first dialogue of the session, whichever of two tabs comes first."""
        async with self._sessions.change(session, FormStep.SCA) as (connection, current):
            if current.dialogue_id is None:
                current = replace(current, dialogue_id=uuid4())
                await redirects.save_session(connection, current)
        return current

    async def _find(self, session: FormSession) -> ConsentView | None:
        if session.step is not FormStep.SCA or session.dialogue_id is None:
            return None
        try:
            return await self._consents.read_consent(session.principal, session.dialogue_id)
        except NotFoundError:
            return None

    async def _begin(self, session: FormSession, *, has_begun: bool) -> None:
        """Begin the dialogue unless it has begun, here or in another process, and wait for it a little."""
        if session.step is not FormStep.SCA or session.dialogue_id is None:
            return
        task = self._running.get(session.dialogue_id)
        if task is None:
            if has_begun:
                return
            key = session.dialogue_id
            task = self._running[key] = asyncio.create_task(self._run(session, key))
            task.add_done_callback(lambda _: self._running.pop(key, None))
        await asyncio.wait({task}, timeout=WAIT_TIMEOUT_SECONDS)

    async def _run(self, session: FormSession, dialogue_id: UUID) -> None:
        wanted = session.options
        options = ConsentOptions(
            session.customer_ip, self._return_url, wanted.asks_settings, wanted.history, consent_id=dialogue_id
        )
        try:
            view = await self._consents.start_consent(session.principal, session.access_id, None, options)
            await self._advance(session, view)
        except SessionGoneError:
            return
        except (NotFoundError, InvalidError):
            await self._sessions.finish(session, RedirectOutcome.ERROR)
        except BusyError:
            await self._sessions.fail(session, dialogue_id, Failure.BUSY)
        except Exception:
            log.exception("form.dialogue-failed")
            await self._sessions.fail(session, dialogue_id, Failure.UNREACHABLE)

    async def _advance(self, session: FormSession, view: ConsentView) -> FormSession:
        """From the dialogue's state to the form's step."""
        state = view.dialogue.position.state
        if state.is_open:
            return session
        if state is ScaState.GIVEN:
            return await self._sessions.advance(session, view.dialogue.id, step=FormStep.FETCHING, notice=None)
        failure = await self._explain(session, view)
        if failure is not Failure.WRONG_CREDENTIALS:
            return await self._sessions.fail(session, view.dialogue.id, failure)
        wrong = session.wrong_logins + 1
        return await self._sessions.advance(
            session,
            view.dialogue.id,
            step=FormStep.FAILED if wrong >= MAX_WRONG_LOGINS else FormStep.CREDENTIALS,
            wrong_logins=wrong,
            notice=failure,
            provider_id=session.provider_id or await self._find_provider(session),
        )

    async def _explain(self, session: FormSession, view: ConsentView) -> Failure:
        dialogue = view.dialogue
        if dialogue.position.state is ScaState.NO_METHOD:
            return Failure.NO_METHOD
        if dialogue.is_last_tan_wrong and dialogue.position.wrong_tans >= MAX_WRONG_TANS:
            return Failure.WRONG_TAN
        if dialogue.expires_at < datetime.now(UTC):
            return Failure.TOO_LATE
        access = await self._accesses.find_for_form(session.principal, session.access_id)
        kinds = {issue.kind for issue in access.access.issues} if access is not None else set()
        if NoticeKind.LOCKED in kinds:
            return Failure.LOCKED
        if kinds & {NoticeKind.WRONG_CREDENTIALS, NoticeKind.INCOMPLETE_CREDENTIALS}:
            return Failure.WRONG_CREDENTIALS
        if kinds & {NoticeKind.UNREACHABLE, NoticeKind.INTERNAL}:
            return Failure.UNREACHABLE
        return Failure.REFUSED

    async def _find_provider(self, session: FormSession) -> UUID | None:
        access = await self._accesses.find_for_form(session.principal, session.access_id)
        return None if access is None else access.access.provider_id


def is_beginning(view: ConsentView) -> bool:
    """The bank has been called and has not answered yet."""
    return view.dialogue.position.state is ScaState.METHOD and not view.dialogue.methods
