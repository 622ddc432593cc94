"""Consents: the user's part of a bank dialogue, one answer at a time.

The lease on the credentials is taken for each step and given back after it, so that the user may take minutes between
two steps. What a step leads to is stored in one fenced transaction; a process may die between any two.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from kontor.connectors.base import Answer, Context, Failed, NeedRedirect, NeedTan, Progress, Step
from kontor.connectors.base import Fetch as FetchJob
from kontor.domain.accesses import Access, History, Notice, NoticeKind
from kontor.domain.consents import is_consent_over
from kontor.domain.dialogues import Dialogue, Secrets
from kontor.domain.errors import BusyError, InvalidError, NotFoundError
from kontor.domain.principals import Principal, user_of
from kontor.domain.sca_machine import AnswerKind, Reaction, ScaPosition, ScaState, advance, close_spent, count_tan, fits
from kontor.services.accesses import Accesses, AccessRequest
from kontor.services.banks import REFUSALS, BankDialogue, BankGateway, HeldLease, Leasing
from kontor.services.fetching import FAILURES, FetchResults, LeaseLostError, find_wanted_statements
from kontor.services.runtime import Clock
from kontor.services.sca.engine import DialogueEngine
from kontor.services.sca.steps import choose_alone, classify, describe, find_unoffered, keep_open_secrets, secrets_of
from kontor.services.security import UserEncryption, auditing
from kontor.storage import accesses, dialogues
from kontor.storage.database import Connection, Database
from kontor.storage.leases import Lease
from kontor.storage.retries import retry_conflicts, retry_when_locked

DIALOGUE_LIFETIME = timedelta(minutes=15)


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
    """How a consent is to be asked for. Under a given `consent_id` it begins once, however often it is started.

    `history` holds for this and all later fetches of the access; None: as before.
    """

    customer_ip: str | None
    callback_url: str | None = None
    asks_settings: bool = False
    history: History | None = None
    consent_id: UUID | None = None


class Consents:
    def __init__(
        self,
        database: Database,
        added: Accesses,
        gateway: BankGateway,
        user_encryption: UserEncryption,
        clock: Clock,
        results: FetchResults,
    ) -> None:
        self._database = database
        self._accesses = added
        self._gateway = gateway
        self._user_encryption = user_encryption
        self._clock = clock
        self._results = results
        self._leasing = Leasing(database)
        self._engine = DialogueEngine(describe_consent)

    async def read_consent(self, principal: Principal, consent_id: UUID) -> ConsentView:
        async with self._database.connect(principal.user_id) as connection:
            return await self._load(connection, user_of(principal), consent_id)

    async def start_consent(
        self, principal: Principal, access_id: str, request: AccessRequest | None, options: ConsentOptions
    ) -> ConsentView:
        """Ask the bank for consent: on first creation, or to renew it."""
        if request is not None:
            await self._accesses.store_access(principal, access_id, request)
        return await self._engine.run_shielded(self._start(principal, access_id, options))

    async def answer(
        self,
        principal: Principal,
        consent_id: UUID,
        kind: AnswerKind,
        answer: Answer,
        seen_wrong_tans: int | None = None,
    ) -> ConsentView:
        """Pass the user's answer on to the bank. Raises NotOpenError where it does not fit the open step.

        With `seen_wrong_tans`, also where a TAN was wrong since the user saw that many: the same page sent twice
        must not spend two attempts.
        """
        return await self._engine.run_shielded(self._answer(principal, consent_id, kind, answer, seen_wrong_tans))

    # Parts

    async def _start(self, principal: Principal, access_id: str, options: ConsentOptions) -> ConsentView:
        user_id = user_of(principal)
        async with self._database.connect(principal.user_id) as connection:
            lease_key = await self._find_lease_key(connection, user_id, access_id)
        async with self._leasing.hold(lease_key) as held:
            async with self._database.transaction(principal.user_id) as connection:
                access = await accesses.lock_access(connection, user_id, access_id)
                if access is None or await self._find_lease_key(connection, user_id, access_id) != lease_key:
                    raise BusyError("The access was changed meanwhile.")
                consent_id = options.consent_id or uuid4()
                if await dialogues.find_dialogue(connection, user_id, consent_id) is not None:
                    return await self._load(connection, user_id, consent_id)
                dialogue = Dialogue(
                    id=consent_id,
                    user_id=user_id,
                    access_id=access_id,
                    position=ScaPosition(ScaState.METHOD),
                    is_renewal=access.consent_until is not None,
                    asks_settings=options.asks_settings,
                    history=options.history or access.history,
                    lease_key=lease_key,
                    expires_at=datetime.now(UTC) + DIALOGUE_LIFETIME,
                    customer_ip=options.customer_ip,
                    callback_url=options.callback_url,
                )
                if options.history is not None:
                    await accesses.set_history(connection, user_id, access_id, options.history)
                await dialogues.end_open_dialogues(connection, user_id, access_id)
                await dialogues.upsert_dialogue(connection, dialogue, None)
                subject = f"user {principal.user_pseudonym} access {access_id} consent {dialogue.id}"
                actor = auditing.name_actor(principal)
                await auditing.record(connection, principal.tenant_id, actor, "consent.start", subject)
            dialogue, step = await self._begin(held, dialogue, access)
            try:
                return await self._settle(dialogue, step, held.lease)
            except NotOpenError as error:
                return error.view

    async def _find_lease_key(self, connection: Connection, user_id: UUID, access_id: str) -> bytes:
        secrets = await accesses.find_secrets(connection, user_id, access_id)
        if secrets is None:
            raise NotFoundError
        if secrets.credentials is None or secrets.lease_key is None:
            raise InvalidError("the access has no stored credentials", f"{access_id}.credentials")
        return secrets.lease_key

    async def _answer(
        self, principal: Principal, consent_id: UUID, kind: AnswerKind, answer: Answer, seen_wrong_tans: int | None
    ) -> ConsentView:
        view = await self.read_consent(principal, consent_id)
        async with self._leasing.hold(view.dialogue.lease_key) as held:
            async with self._database.transaction(principal.user_id) as connection:
                view, access = await self._lock(connection, user_of(principal), consent_id)
                position = view.dialogue.position
                is_fitting = fits(position.state, kind) and seen_wrong_tans in (None, position.wrong_tans)
                if is_fitting:
                    if (problem := find_unoffered(view.dialogue, answer)) is not None:
                        raise InvalidError(*problem)
                    if kind is AnswerKind.TAN:
                        counted = replace(view.dialogue, position=count_tan(position))
                        view = replace(view, dialogue=counted)
                        await self._save(connection, view.dialogue, view.secrets)
                    if kind is not AnswerKind.CONFIRMED:  # which decides nothing, and comes every few seconds
                        actor = auditing.name_actor(principal)
                        subject = f"user {principal.user_pseudonym} consent {consent_id} {kind.lower()}"
                        await auditing.record(connection, principal.tenant_id, actor, "consent.answer", subject)
            if not is_fitting:
                raise NotOpenError(view)
            dialogue, step = await self._resume(held, view, access, answer)
            return await self._settle(dialogue, step, held.lease, view.secrets)

    async def _load(self, connection: Connection, user_id: UUID, consent_id: UUID) -> ConsentView:
        found = await dialogues.find_dialogue(connection, user_id, consent_id)
        if found is None:
            raise NotFoundError
        dialogue, sealed = found
        secrets = Secrets()
        if sealed is not None:
            what = f"dialogue {dialogue.id}"
            secrets = await self._user_encryption.unseal(connection, user_id, dialogue.access_id, what, sealed, Secrets)
        if dialogue.position.state.is_open and dialogue.expires_at < datetime.now(UTC):
            dialogue = replace(dialogue, position=ScaPosition(ScaState.FAILED))
        return ConsentView(dialogue, secrets)

    async def _save(self, connection: Connection, dialogue: Dialogue, secrets: Secrets) -> None:
        sealed = None
        if dialogue.position.state.is_open:
            what = f"dialogue {dialogue.id}"
            sealed = await self._user_encryption.seal(connection, dialogue.user_id, dialogue.access_id, what, secrets)
        await dialogues.upsert_dialogue(connection, dialogue, sealed)

    async def _lock(self, connection: Connection, user_id: UUID, consent_id: UUID) -> tuple[ConsentView, Access]:
        """The dialogue as it stands, while we hold the lease: nobody else is at the bank with it."""
        if await dialogues.lock_dialogue(connection, user_id, consent_id) is None:
            raise NotFoundError
        view = await self._load(connection, user_id, consent_id)
        position = close_spent(view.dialogue.position)
        if position.state is ScaState.METHOD and not view.dialogue.methods:
            position = ScaPosition(ScaState.FAILED)  # the process died before the bank had offered anything
        if position != view.dialogue.position:
            view = replace(view, dialogue=replace(view.dialogue, position=position))
            await self._save(connection, view.dialogue, view.secrets)
        access = await accesses.find_access(connection, user_id, view.dialogue.access_id)
        assert access is not None, "a dialogue goes with its access"
        return view, access

    async def _begin(self, held: HeldLease, dialogue: Dialogue, access: Access) -> tuple[Dialogue, Step]:
        async with self._database.connect(dialogue.user_id) as connection:
            statements = await find_wanted_statements(connection, dialogue.user_id, access)
        bank = await self._open_bank(held, dialogue)
        job = FetchJob(history=dialogue.history, is_renewal=dialogue.is_renewal, statements=statements)
        return await self._engine.begin(bank, job, dialogue, _decide_for(access))

    async def _resume(
        self, held: HeldLease, view: ConsentView, access: Access, answer: Answer
    ) -> tuple[Dialogue, Step]:
        dialogue = view.dialogue
        bank = await self._open_bank(held, dialogue)
        return await self._engine.resume(bank, view.secrets.state, answer, dialogue, _decide_for(access))

    async def _open_bank(self, held: HeldLease, dialogue: Dialogue) -> BankDialogue | None:
        context = self._context(dialogue)
        return await self._gateway.open_attended(
            held, dialogue.user_id, dialogue.access_id, context, stores_refusals=False
        )

    def _context(self, dialogue: Dialogue) -> Context:
        return Context(
            self._clock.today(),
            self._user_encryption.name_customer(dialogue.user_id),
            dialogue.customer_ip,
            dialogue.callback_url,
        )

    async def _settle(self, dialogue: Dialogue, step: Step, lease: Lease, before: Secrets | None = None) -> ConsentView:
        """Store where the dialogue stands now; when consent is given, the fetch goes on in the worker.

        Raises NotOpenError where it was ended while the bank was asked: what is closed stays closed.
        """
        return await retry_when_locked(lambda: self._store(dialogue, step, lease, before))

    @retry_conflicts
    async def _store(self, dialogue: Dialogue, step: Step, lease: Lease, before: Secrets | None) -> ConsentView:
        reaction = classify(step)
        position = advance(dialogue.position, reaction)
        settled = describe_consent(replace(dialogue, position=position), step)
        settled = replace(settled, is_last_tan_wrong=reaction is Reaction.WRONG_TAN)
        secrets = secrets_of(step) or keep_open_secrets(before, step)
        async with self._fenced(dialogue, lease) as connection:
            found = await dialogues.lock_dialogue(connection, dialogue.user_id, dialogue.id)
            if found is None:
                raise NotFoundError
            if not found[0].position.state.is_open:
                raise NotOpenError(ConsentView(found[0], Secrets()))
            access = await accesses.find_access(connection, dialogue.user_id, dialogue.access_id)
            assert access is not None, "the fence holds it"
            await self._save(connection, settled, secrets)
            await self._note_options(connection, settled, access)
            if isinstance(step, Progress):
                await self._results.queue_continuation(connection, settled, access, step)
            elif position.state is not ScaState.GIVEN and not position.state.is_open:
                await self._note_failure(connection, access, dialogue, step)
        return ConsentView(settled, secrets)

    @asynccontextmanager
    async def _fenced(self, dialogue: Dialogue, lease: Lease) -> AsyncIterator[Connection]:
        try:
            async with self._results.fenced(dialogue.user_id, dialogue.access_id, lease) as connection:
                yield connection
        except LeaseLostError:
            async with self._database.connect(dialogue.user_id) as connection:
                if await dialogues.find_dialogue(connection, dialogue.user_id, dialogue.id) is None:
                    raise NotFoundError from None
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
            if not self._is_consent_valid(access):
                await self._results.refreshing.pause_for_sca(connection, dialogue.user_id, access.id)

    def _is_consent_valid(self, access: Access) -> bool:
        return access.consent_until is not None and not is_consent_over(access.consent_until, self._clock.today())

    async def _note_failure(self, connection: Connection, access: Access, dialogue: Dialogue, step: Step) -> None:
        """What there is to say, and nothing about SCA as long as the consent before still holds."""
        user_id = dialogue.user_id
        needed = [] if self._is_consent_valid(access) else [Notice(NoticeKind.SCA_NEEDED)]
        if isinstance(step, Failed) and step.kind in REFUSALS:
            await self._results.refreshing.pause_credentials(connection, dialogue.lease_key, user_id, access.id)
        if isinstance(step, Failed) and step.kind in FAILURES:
            notice = Notice(FAILURES[step.kind], step.detail)
            others = [message for message in access.messages if message.kind is not NoticeKind.SCA_NEEDED or needed]
            messages = [notice] if notice.kind.is_for_the_user else others
            await accesses.store_notices(connection, user_id, access.id, messages, [notice])
        else:
            await accesses.store_notices(connection, user_id, access.id, needed, needed)
        if not access.is_synced:
            await accesses.forget_credentials(connection, user_id, access.id)
            await self._results.refreshing.reschedule(connection, user_id, access.id)


def _decide_for(access: Access) -> Callable[[Dialogue, Step], Answer | None]:
    def decide(dialogue: Dialogue, step: Step) -> Answer | None:
        return choose_alone(step, dialogue, access, asks_settings=dialogue.asks_settings)

    return decide


def describe_consent(dialogue: Dialogue, step: Step) -> Dialogue:
    """What the step offers. It is open no longer than the bank keeps it so."""
    dialogue = describe(dialogue, step)
    if isinstance(step, Progress):
        dialogue = replace(dialogue, methods=step.partial.methods, media=step.partial.media)
    if isinstance(step, NeedTan | NeedRedirect) and step.valid_until is not None:
        dialogue = replace(dialogue, expires_at=min(dialogue.expires_at, step.valid_until))
    return dialogue
