"""Banks through Enable Banking as a connector. What goes wrong there ends here as a `Failed`."""

from collections.abc import Callable

from kontor.connectors.aspsps import AspspBank
from kontor.connectors.base import (
    Answer,
    Cancel,
    ChooseMethod,
    Context,
    Continue,
    Credentials,
    Done,
    Failed,
    FailureKind,
    Fetch,
    Job,
    NeedMethod,
    State,
    Step,
)
from kontor.connectors.enablebanking.client import KIND, Client, open_client
from kontor.connectors.enablebanking.failures import SESSION_CODES, CallError, RefusedError
from kontor.connectors.enablebanking.fetching import Fetching
from kontor.connectors.enablebanking.sessions import Sessions, list_keys
from kontor.connectors.enablebanking.settings import EnableBankingSettings
from kontor.connectors.enablebanking.tokens import Application
from kontor.connectors.job_state import serialize_job
from kontor.connectors.revocations import Revoke, Revoked
from kontor.domain.providers import Provider
from kontor.domain.sca import ScaMethod

AT_THE_BANK = ScaMethod("ENABLEBANKING", "Freigabe bei der Bank")


class EnableBankingConnector:
    """Needs no credentials: the customer logs in on the bank's own page. It reads accounts and pays nothing."""

    kind = KIND

    def __init__(
        self,
        find_bank: Callable[[Provider], AspspBank | None],
        application: Application,
        settings: EnableBankingSettings | None = None,
    ) -> None:
        self._find_bank = find_bank
        self._application = application
        self._settings = settings or EnableBankingSettings()

    def begin(
        self, provider: Provider, credentials: Credentials, job: Job, connector_state: State | None, context: Context
    ) -> Step:
        if isinstance(job, Revoke):
            return self._revoke(provider, connector_state, context)
        if not isinstance(job, Fetch):
            return Failed(FailureKind.NOT_SUPPORTED, "Enable Banking is used for reading accounts only")
        state: State = {
            "stage": "begin",
            "job": serialize_job(job),
            "former": None,
            "known": list_keys(connector_state),
        }
        if connector_state is not None:
            state["former"] = connector_state["session"]

        def run(client: Client, dialogue: "_Dialogue") -> Step:
            if connector_state is not None and not job.is_renewal:
                step = dialogue.use(state, connector_state)
                if step is not None:
                    return step
            if context.customer_ip is None:
                # Nobody is there to be asked.
                return NeedMethod((AT_THE_BANK,), state)
            return dialogue.sessions.ask(state)

        return self._run(provider, context, run)

    def resume(
        self, provider: Provider, credentials: Credentials, state: State, answer: Answer, context: Context
    ) -> Step:
        if isinstance(answer, Cancel):
            return Failed(FailureKind.CANCELLED)  # what was not authorised ends by itself

        def run(client: Client, dialogue: "_Dialogue") -> Step:
            if state["stage"] == "begin":
                if not isinstance(answer, ChooseMethod | Continue):
                    return Failed(FailureKind.REJECTED, "this answer does not fit the open step")
                return dialogue.sessions.ask(state)
            if state["stage"] == "headers":
                return dialogue.fetching.fetch(state)
            return dialogue.return_from_page(state, answer)

        return self._run(provider, context, run)

    def _revoke(self, provider: Provider, connector_state: State | None, context: Context) -> Step:
        if connector_state is None:
            return Failed(FailureKind.NOT_SUPPORTED, "there is no session that could be ended", was_called=False)

        def run(client: Client, dialogue: "_Dialogue") -> Step:
            try:
                dialogue.sessions.close(connector_state["session"])
            except RefusedError as error:
                if error.code not in SESSION_CODES:  # they say that it has ended before
                    raise
            return Done(Revoked())

        return self._run(provider, context, run)

    def _run(self, provider: Provider, context: Context, run: Callable[[Client, "_Dialogue"], Step]) -> Step:
        bank = self._find_bank(provider)
        if bank is None:
            return Failed(FailureKind.UNREACHABLE, "this bank is not on the list of banks", was_called=False)
        try:
            with open_client(self._application, self._settings, context) as client:
                return run(client, _Dialogue(client, bank, self._settings, context, provider.name))
        except CallError as error:
            return error.to_failed()


class _Dialogue:
    def __init__(
        self, client: Client, bank: AspspBank, settings: EnableBankingSettings, context: Context, institution: str
    ) -> None:
        self.sessions = Sessions(client, bank, context)
        self.fetching = Fetching(client, bank, settings, context, institution)
        self._context = context

    def use(self, state: State, connector_state: State) -> Step | None:
        """With the session of last time, if it still holds; None where the customer must authorise a new one."""
        try:
            kept = self.sessions.read(connector_state)
            return None if kept is None else self.fetching.show_headers(state["job"], kept)
        except CallError as error:
            if error.kind is not FailureKind.EXPIRED:
                raise
            return None

    def return_from_page(self, state: State, answer: Answer) -> Step:
        kept = self.sessions.return_from_page(state, answer)
        # The code is worth one session: without it the customer would have to go to the bank again.
        self._context.keep(kept)
        if state["former"] not in (None, kept["session"]):
            self._close(state["former"])
        return self.fetching.show_headers(state["job"], kept)

    def _close(self, former: str) -> None:
        """A session that a new one has replaced. If that fails, it ends by itself."""
        try:
            self.sessions.close(former)
        except CallError:
            return
