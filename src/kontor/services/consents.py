"""Consents: the user's part of a bank dialogue, one answer at a time.

The lease on the credentials is taken for each step and given back after it, so that the user may take minutes between
two steps. What a step leads to is stored in one fenced transaction; a process may die between any two.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import msgspec

from kontor.connectors.base import (
    Answer,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Context,
    Done,
    Failed,
    FailureKind,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Poll,
    Progress,
    Returned,
    Step,
    Tan,
)
from kontor.connectors.base import Fetch as FetchJob
from kontor.domain.accesses import Access, History, Notice, NoticeKind
from kontor.domain.dialogues import Dialogue, Secrets
from kontor.domain.errors import BusyError, InvalidError, NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.sca_machine import AnswerKind, Position, Reaction, ScaState, advance, count_tan, fits
from kontor.domain.secrets import Secret
from kontor.services import auditing
from kontor.services.accesses import Accesses, AccessRequest, user_of
from kontor.services.bank_calls import BankCalls
from kontor.services.clock import Clock
from kontor.services.fetch_results import FAILURES, FetchResults, LeaseLostError
from kontor.services.vault import Vault
from kontor.storage import accesses, dialogues, leases
from kontor.storage.database import Connection, Database
from kontor.storage.leases import Lease

DIALOGUE_LIFETIME = timedelta(minutes=15)
LEASE_WAIT_SECONDS = 30


class NotOpenError(Exception):
    """The answer does not fit the open step. Carries the dialogue as it stands."""

    def __init__(self, view: "ConsentView") -> None:
        super().__init__("the answer does not fit the open step")
        self.view = view


@dataclass(frozen=True, slots=True)
class ConsentView:
    dialogue: Dialogue
    secrets: Secrets


@dataclass(frozen=True, slots=True)
class ConsentOptions:
    """How a consent is to be asked for."""

    customer_ip: str | None
    callback_url: str | None = None
    asks_settings: bool = False
    history: History = History.ALL


class Consents:
    def __init__(
        self,
        database: Database,
        added: Accesses,
        calls: BankCalls,
        vault: Vault,
        clock: Clock,
        results: FetchResults,
    ) -> None:
        self._database = database
        self._accesses = added
        self._calls = calls
        self._vault = vault
        self._clock = clock
        self._results = results
        self._holder = uuid4()

    async def read_consent(self, principal: Principal, consent_id: UUID) -> ConsentView:
        async with self._database.connect() as connection:
            return await self._load(connection, user_of(principal), consent_id)

    async def start_consent(
        self, principal: Principal, access_id: str, request: AccessRequest | None, options: ConsentOptions
    ) -> ConsentView:
        """Ask the bank for consent: on first creation, or to renew it."""
        if request is not None:
            await self._accesses.store_access(principal, access_id, request)
        user_id = user_of(principal)
        async with self._database.transaction() as connection:
            access = await accesses.lock_access(connection, user_id, access_id)
            if access is None:
                raise NotFoundError
            secrets = await accesses.find_secrets(connection, user_id, access_id)
            if secrets is None or secrets.credentials is None or secrets.lease_key is None:
                raise InvalidError("the access has no stored credentials", f"{access_id}.credentials")
            await dialogues.end_open_dialogues(connection, user_id, access_id)
            dialogue = Dialogue(
                id=uuid4(),
                user_id=user_id,
                access_id=access_id,
                position=Position(ScaState.METHOD),
                is_renewal=access.consent_until is not None,
                asks_settings=options.asks_settings,
                history=options.history,
                lease_key=secrets.lease_key,
                expires_at=datetime.now(UTC) + DIALOGUE_LIFETIME,
                customer_ip=options.customer_ip,
                callback_url=options.callback_url,
            )
            await dialogues.upsert_dialogue(connection, dialogue, None)
            subject = f"user {principal.user_pseudonym} access {access_id} consent {dialogue.id}"
            actor = auditing.name_actor(principal)
            await auditing.record(connection, principal.tenant_id, actor, "consent.start", subject)
        async with self._leased(dialogue.lease_key) as lease:
            step = await self._begin(dialogue, access)
            return await self._settle(dialogue, access, step, lease)

    async def answer(self, principal: Principal, consent_id: UUID, kind: AnswerKind, answer: Answer) -> ConsentView:
        """Pass the user's answer on to the bank. Raises NotOpenError where it does not fit the open step."""
        view = await self.read_consent(principal, consent_id)
        async with self._leased(view.dialogue.lease_key) as lease:
            async with self._database.transaction() as connection:
                view, access = await self._check_answer(connection, user_of(principal), consent_id, kind, answer)
                if kind is AnswerKind.TAN:
                    counted = replace(view.dialogue, position=count_tan(view.dialogue.position))
                    view = replace(view, dialogue=counted)
                    await self._save(connection, view.dialogue, view.secrets)
                actor = auditing.name_actor(principal)
                subject = f"user {principal.user_pseudonym} consent {consent_id} {kind.lower()}"
                await auditing.record(connection, principal.tenant_id, actor, "consent.answer", subject)
            step = await self._resume(view, answer)
            return await self._settle(_note_choice(view.dialogue, answer), access, step, lease, view.secrets)

    # Parts

    async def _load(self, connection: Connection, user_id: UUID, consent_id: UUID) -> ConsentView:
        found = await dialogues.find_dialogue(connection, user_id, consent_id)
        if found is None:
            raise NotFoundError
        dialogue, sealed = found
        secrets = Secrets()
        if sealed is not None:
            plain = await self._vault.unseal(connection, user_id, dialogue.access_id, f"dialogue {dialogue.id}", sealed)
            secrets = msgspec.convert(plain, Secrets)
        if dialogue.position.state.is_open and dialogue.expires_at < datetime.now(UTC):
            dialogue = replace(dialogue, position=Position(ScaState.FAILED))
        return ConsentView(dialogue, secrets)

    async def _save(self, connection: Connection, dialogue: Dialogue, secrets: Secrets) -> None:
        sealed = None
        if dialogue.position.state.is_open:
            plain = msgspec.to_builtins(secrets)
            what = f"dialogue {dialogue.id}"
            sealed = await self._vault.seal(connection, dialogue.user_id, dialogue.access_id, what, plain)
        await dialogues.upsert_dialogue(connection, dialogue, sealed)

    async def _check_answer(
        self, connection: Connection, user_id: UUID, consent_id: UUID, kind: AnswerKind, answer: Answer
    ) -> tuple[ConsentView, Access]:
        if await dialogues.lock_dialogue(connection, user_id, consent_id) is None:
            raise NotFoundError
        view = await self._load(connection, user_id, consent_id)
        if not fits(view.dialogue.position.state, kind):
            raise NotOpenError(view)
        if isinstance(answer, ChooseMethod) and answer.code not in [one.code for one in view.dialogue.methods]:
            raise InvalidError("is not one of the offered methods", "chosenScaMethodId")
        if isinstance(answer, ChooseMedium) and answer.name not in [one.name for one in view.dialogue.media]:
            raise InvalidError("is not one of the offered media", "chosenScaMedia")
        access = await accesses.find_access(connection, user_id, view.dialogue.access_id)
        if access is None:
            raise NotFoundError
        return view, access

    async def _begin(self, dialogue: Dialogue, access: Access) -> Step:
        prepared = await self._calls.prepare(dialogue.user_id, access.id, self._context(dialogue))
        if prepared is None:
            return Failed(FailureKind.UNREACHABLE)
        job = FetchJob(history=dialogue.history, is_renewal=dialogue.is_renewal)
        step = await self._calls.begin(prepared, job)
        while (choice := _choose_alone(step, dialogue, access)) is not None:
            assert isinstance(step, NeedMethod | NeedMedium)
            step = await self._calls.resume(prepared, step.state, choice)
        return step

    async def _resume(self, view: ConsentView, answer: Answer) -> Step:
        dialogue = view.dialogue
        prepared = await self._calls.prepare(dialogue.user_id, dialogue.access_id, self._context(dialogue))
        if prepared is None:
            return Failed(FailureKind.UNREACHABLE)
        step = await self._calls.resume(prepared, view.secrets.state, answer)
        while (choice := _choose_alone(step, dialogue, None)) is not None:
            assert isinstance(step, NeedMethod | NeedMedium)
            step = await self._calls.resume(prepared, step.state, choice)
        return step

    def _context(self, dialogue: Dialogue) -> Context:
        return Context(
            self._clock.today(),
            self._vault.name_customer(dialogue.user_id),
            dialogue.customer_ip,
            dialogue.callback_url,
        )

    async def _settle(
        self, dialogue: Dialogue, access: Access, step: Step, lease: Lease, before: Secrets | None = None
    ) -> ConsentView:
        """Store where the dialogue stands now; when consent is given, the fetch goes on in the worker."""
        reaction = _classify(step)
        position = advance(dialogue.position, reaction)
        settled = _describe(replace(dialogue, position=position), step)
        settled = replace(settled, is_last_tan_wrong=reaction is Reaction.WRONG_TAN)
        secrets = _secrets_of(step) or before or Secrets()
        async with self._fenced(dialogue, lease) as connection:
            await self._save(connection, settled, secrets)
            await self._note_options(connection, settled, access)
            if isinstance(step, Progress):
                await self._results.begin_rest(connection, settled, access, step)
            elif isinstance(step, Failed) and step.kind in FAILURES:
                notice = Notice(FAILURES[step.kind], step.detail)
                messages = [notice] if notice.kind.is_for_the_user else list(access.messages)
                await accesses.store_notices(connection, dialogue.user_id, access.id, messages, [notice])
        return ConsentView(settled, secrets)

    @asynccontextmanager
    async def _fenced(self, dialogue: Dialogue, lease: Lease) -> AsyncIterator[Connection]:
        try:
            async with self._results.fenced(dialogue.user_id, dialogue.access_id, lease) as connection:
                yield connection
        except LeaseLostError:
            raise BusyError("The step took so long that another operation has taken over.") from None

    async def _note_options(self, connection: Connection, dialogue: Dialogue, access: Access) -> None:
        """What the bank offers, and what the user chose last, is shown with the access and used next time."""
        await accesses.store_sca_options(
            connection,
            dialogue.user_id,
            access.id,
            dialogue.methods or access.methods,
            dialogue.media or access.media,
            None,
        )
        if dialogue.position.state is ScaState.GIVEN:
            await accesses.store_choice(
                connection, dialogue.user_id, access.id, dialogue.chosen_method, dialogue.chosen_medium
            )
        elif dialogue.position.state.is_open:
            notice = Notice(NoticeKind.SCA_NEEDED)
            await accesses.store_notices(connection, dialogue.user_id, access.id, [notice], [notice])

    @asynccontextmanager
    async def _leased(self, key: bytes) -> AsyncIterator[Lease]:
        """Hold the credentials for one step; wait a while for whoever has them."""
        end = time.monotonic() + LEASE_WAIT_SECONDS
        while True:
            async with self._database.connect() as connection:
                lease = await leases.take_lease(connection, key, self._holder)
            if lease is not None:
                break
            if time.monotonic() > end:
                raise BusyError("Another operation is using these credentials.")
            await asyncio.sleep(0.1)
        try:
            async with self._calls.heartbeat(lease):
                yield lease
        finally:
            async with self._database.connect() as connection:
                await leases.release_lease(connection, lease)


def make_answer(kind: AnswerKind, value: str) -> Answer:
    """The answer of a kind with what the user typed or chose."""
    match kind:
        case AnswerKind.METHOD:
            return ChooseMethod(value)
        case AnswerKind.MEDIUM:
            return ChooseMedium(value)
        case AnswerKind.TAN:
            return Tan(Secret(value))
        case AnswerKind.CONFIRMED:
            return Poll()
        case AnswerKind.RETURNED:
            return Returned(value)
        case AnswerKind.CANCEL:
            return Cancel()


def _choose_alone(step: Step, dialogue: Dialogue, access: Access | None) -> ChooseMethod | ChooseMedium | None:
    """A single method or medium, or the one used last time, is chosen without asking, unless asked not to."""
    if dialogue.asks_settings:
        return None
    if isinstance(step, NeedMethod):
        codes = [one.code for one in step.methods]
        last = access.active_method.code if access and access.consent_until and access.active_method else None
        if len(codes) == 1 or last in codes:
            return ChooseMethod(codes[0] if len(codes) == 1 else str(last))
    if isinstance(step, NeedMedium):
        names = [one.name for one in step.media]
        last = access.active_medium if access and access.consent_until else None
        if len(names) == 1 or last in names:
            return ChooseMedium(names[0] if len(names) == 1 else str(last))
    return None


def _note_choice(dialogue: Dialogue, answer: Answer) -> Dialogue:
    if isinstance(answer, ChooseMethod):
        chosen = next(one for one in dialogue.methods if one.code == answer.code)
        return replace(dialogue, chosen_method=chosen)
    if isinstance(answer, ChooseMedium):
        return replace(dialogue, chosen_medium=answer.name)
    return dialogue


def _classify(step: Step) -> Reaction:
    match step:
        case NeedMethod(methods=methods):
            return Reaction.ASKS_METHOD if methods else Reaction.NO_METHOD
        case NeedMedium():
            return Reaction.ASKS_MEDIUM
        case NeedTan():
            return Reaction.ASKS_TAN
        case NeedConfirmation():
            return Reaction.ASKS_CONFIRMATION
        case NeedRedirect():
            return Reaction.ASKS_REDIRECT
        case Progress() | Done():
            return Reaction.ACCEPTED
        case Failed(kind=FailureKind.WRONG_TAN):
            return Reaction.WRONG_TAN
        case Failed(kind=FailureKind.NO_SUPPORTED_METHOD):
            return Reaction.NO_METHOD
    return Reaction.REFUSED


def _describe(dialogue: Dialogue, step: Step) -> Dialogue:
    """What the step offers, kept with the dialogue for whoever reads it."""
    match step:
        case NeedMethod(methods=methods):
            return replace(dialogue, methods=methods)
        case NeedMedium(media=media):
            return replace(dialogue, media=media)
        case NeedRedirect(url=url):
            return replace(dialogue, redirect_url=url)
        case NeedTan(valid_until=valid_until) if valid_until is not None:
            return replace(dialogue, expires_at=min(dialogue.expires_at, valid_until))
        case Progress(partial=headers):
            return replace(dialogue, methods=headers.methods, media=headers.media)
    return dialogue


def _secrets_of(step: Step) -> Secrets | None:
    match step:
        case NeedTan(challenge=challenge, state=state) | NeedConfirmation(challenge=challenge, state=state):
            return Secrets(state, challenge)
        case NeedMethod(state=state) | NeedMedium(state=state) | NeedRedirect(state=state):
            return Secrets(state)
    return None
