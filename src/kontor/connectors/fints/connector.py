"""FinTS as a connector: takes up a dialogue, lets it go one step on, puts it aside again."""

import ssl
from collections.abc import Callable
from pathlib import Path

import structlog

from kontor.connectors.base import (
    Answer,
    Cancel,
    Context,
    Credentials,
    Done,
    Failed,
    FailureKind,
    Job,
    LookUp,
    Pay,
    State,
    Step,
    Verified,
    VerifyPayees,
)
from kontor.connectors.fints.codes import NOT_REGISTERED_CODES
from kontor.connectors.fints.dialogues import Dialogue
from kontor.connectors.fints.fetching import FetchDialogue
from kontor.connectors.fints.parameters import BankParameters
from kontor.connectors.fints.paying import LookUpDialogue, PayDialogue
from kontor.connectors.fints.quirks import FintsBank
from kontor.connectors.fints.sessions import MALFORMED, RefusedError, Session
from kontor.connectors.fints.transport import LIMITS, HttpTransport, NoResponseError, TransportLimits, make_tls
from kontor.connectors.job_state import deserialize_job, serialize_job
from kontor.connectors.revocations import Revoke
from kontor.domain.payments import PayeeMatch, PayeeResult
from kontor.domain.providers import Provider

log = structlog.get_logger(__name__)

UNREADABLE = "Die Antwort der Bank ist nicht lesbar."
NO_PRODUCT = "Für FinTS fehlt die Produktregistrierung (KONTOR_FINTS_PRODUCT_ID)."


class FintsConnector:
    """`product_id` is the registration with the banks' association, without which they refuse every dialogue."""

    kind = "fints"

    def __init__(
        self,
        find_bank: Callable[[Provider], FintsBank | None],
        product_id: str | None,
        authorities: Path | None = None,
        limits: TransportLimits = LIMITS,
    ) -> None:
        self._limits = limits
        self._find_bank = find_bank
        self._product_id = product_id
        self._tls: ssl.SSLContext = make_tls(authorities)

    def begin(
        self, provider: Provider, credentials: Credentials, job: Job, connector_state: State | None, context: Context
    ) -> Step:
        if isinstance(job, VerifyPayees):
            # Over FinTS payees are verified within the order's own dialogue, and only there.
            return Done(Verified(tuple(PayeeResult(PayeeMatch.NOT_POSSIBLE) for _ in job.orders)))
        if isinstance(job, Revoke):
            return Failed(FailureKind.NOT_SUPPORTED, "FinTS knows no end of a consent", was_called=False)
        connector_state = connector_state or {}
        state: State = {
            "job": serialize_job(job.payment if isinstance(job, LookUp) else job),
            "is_look_up": isinstance(job, LookUp),
            "knowledge": connector_state.get("knowledge"),
            "method": connector_state.get("method"),
            "medium": connector_state.get("medium"),
            "consent_until": connector_state.get("consent_until"),
            "asks_again": connector_state.get("asks_again", False),
        }
        return self._step(provider, credentials, state, context, lambda dialogue: dialogue.begin())

    def resume(
        self, provider: Provider, credentials: Credentials, state: State, answer: Answer, context: Context
    ) -> Step:
        return self._step(provider, credentials, state, context, lambda dialogue: dialogue.resume(answer), answer)

    def _step(
        self,
        provider: Provider,
        credentials: Credentials,
        state: State,
        context: Context,
        go: Callable[[Dialogue], Step],
        answer: Answer | None = None,
    ) -> Step:
        bank = self._find_bank(provider)
        if bank is None:
            return Failed(FailureKind.UNREACHABLE, "Für diese Bank ist keine FinTS-Adresse bekannt.")
        if not self._product_id:
            return Failed(FailureKind.INTERNAL, NO_PRODUCT)
        with HttpTransport(bank.url, self._tls, self._limits, context.deadline, context.record) as transport:
            session = Session(
                transport,
                bank,
                credentials["userid"].reveal(),
                credentials["pin"],
                self._product_id,
                BankParameters.deserialize(state.get("knowledge")),
            )
            dialogue = _find_dialogue(state)(session, state, context)
            try:
                if isinstance(answer, Cancel):
                    session.end()
                    return Failed(FailureKind.CANCELLED)
                return go(dialogue)
            except NoResponseError as error:
                return Failed(FailureKind.UNREACHABLE, str(error), is_outcome_unknown=dialogue.has_left)
            except RefusedError as error:
                if refused := error.codes & NOT_REGISTERED_CODES:
                    code, setting = min(refused), "KONTOR_FINTS_PRODUCT_ID"
                    log.error("fints.not-registered", bank=bank.bank_code, code=code, setting=setting)
                session.end()
                return Failed(error.kind, error.detail)
            except MALFORMED as error:
                # The library hands out whatever a bank sent; what is missing in it shows when it is used.
                log.warning("fints.unreadable", bank=bank.bank_code, reason=type(error).__name__)
                return Failed(FailureKind.UNREACHABLE, UNREADABLE, is_outcome_unknown=dialogue.has_left)


def _find_dialogue(state: State) -> type[Dialogue]:
    if state.get("is_look_up"):
        return LookUpDialogue
    return PayDialogue if isinstance(deserialize_job(state["job"]), Pay) else FetchDialogue
