"""Banks by XS2A as a connector. What a bank does wrong ends here as a `Failed`."""

from collections.abc import Callable

from kontor.connectors.base import (
    Answer,
    Cancel,
    ChooseMethod,
    Context,
    Continue,
    Credentials,
    Failed,
    FailureKind,
    Fetch,
    Job,
    LookUp,
    NeedMethod,
    Pay,
    State,
    Step,
    VerifyPayees,
)
from kontor.connectors.job_state import serialize_job
from kontor.connectors.revocations import Revoke
from kontor.connectors.xs2a.authorising import Authoriser
from kontor.connectors.xs2a.banks import Xs2aBank, Xs2aSettings
from kontor.connectors.xs2a.client import Client, open_client
from kontor.connectors.xs2a.failures import BankError
from kontor.connectors.xs2a.fetching import CONSENT_BY_OAUTH, TOKEN_BY_OAUTH, Fetching
from kontor.connectors.xs2a.paying import Paying
from kontor.connectors.xs2a.revoking import end_consent
from kontor.domain.providers import Provider
from kontor.domain.sca import ScaMethod
from kontor.domain.secrets import Secret

AT_THE_BANK = ScaMethod("XS2A", "Freigabe bei der Bank")


class Xs2aConnector:
    kind = "xs2a"

    def __init__(self, find_bank: Callable[[Provider], Xs2aBank | None], settings: Xs2aSettings | None = None) -> None:
        self._find_bank = find_bank
        self._settings = settings or Xs2aSettings()

    def begin(
        self, provider: Provider, credentials: Credentials, job: Job, connector_state: State | None, context: Context
    ) -> Step:
        bank = self._find_bank(provider)
        if bank is None:
            return Failed(FailureKind.UNREACHABLE, "this bank has no XS2A profile")
        try:
            with open_client(bank, self._settings, credentials, context) as client:
                return self._begin(client, bank, provider, job, connector_state, context)
        except BankError as error:
            return error.to_failed()

    def resume(
        self, provider: Provider, credentials: Credentials, state: State, answer: Answer, context: Context
    ) -> Step:
        bank = self._find_bank(provider)
        if bank is None:
            return Failed(FailureKind.UNREACHABLE, "this bank has no XS2A profile")
        try:
            with open_client(bank, self._settings, credentials, context) as client:
                return self._resume(client, bank, provider, state, answer, context)
        except BankError as error:
            return error.to_failed(is_outcome_unknown=bool(state.get("has_left")))

    def _begin(
        self,
        client: Client,
        bank: Xs2aBank,
        provider: Provider,
        job: Job,
        connector_state: State | None,
        context: Context,
    ) -> Step:
        match job:
            case Pay():
                return Paying(client, bank, context).begin(job)
            case LookUp():
                return Paying(client, bank, context).look_up(job.state or {})
            case VerifyPayees():
                return Failed(FailureKind.NOT_SUPPORTED, "XS2A 1.3 knows no verification of payees")
            case Revoke():
                return end_consent(client, bank, connector_state or {}, context)
        assert isinstance(job, Fetch)
        fetching = Fetching(client, bank, self._settings, context, provider.name)
        state: State = {"stage": "begin", "job": serialize_job(job)}
        if connector_state is not None and not job.is_renewal:
            step = fetching.use_consent(state, connector_state)
            if step is not None:
                return step
        if context.customer_ip is None:
            # Nobody is there to be asked: no bank is bothered, and no phone rings.
            return NeedMethod((AT_THE_BANK,), state)
        return fetching.ask_consent(state)

    def _resume(
        self, client: Client, bank: Xs2aBank, provider: Provider, state: State, answer: Answer, context: Context
    ) -> Step:
        if "tokens" in state:
            client.use_token(Secret(state["tokens"]["access"]))
        if isinstance(answer, Cancel):
            return _cancel(client, bank, state, context)
        if state.get("kind") == "pay":
            return Paying(client, bank, context).resume(state, answer)
        fetching = Fetching(client, bank, self._settings, context, provider.name)
        if state["stage"] == "begin":
            if not isinstance(answer, ChooseMethod | Continue):
                return Failed(FailureKind.REJECTED, "this answer does not fit the open step")
            return fetching.ask_consent(state)
        if state["stage"] == "headers":
            return fetching.fetch(state)
        if state["stage"] in (CONSENT_BY_OAUTH, TOKEN_BY_OAUTH):
            return fetching.return_from_page(state, answer)
        authoriser = Authoriser(client, bank, state, None)
        step = authoriser.answer(answer)
        return fetching.show_headers(authoriser.state) if step is None else step


def _cancel(client: Client, bank: Xs2aBank, state: State, context: Context) -> Step:
    """So that the bank does not wait for the customer."""
    if state.get("kind") == "pay":
        return Paying(client, bank, context).cancel(state)
    if "resource" in state:
        try:
            client.call("DELETE", state["resource"]["self"])
        except BankError:
            return Failed(FailureKind.CANCELLED)
    return Failed(FailureKind.CANCELLED)
