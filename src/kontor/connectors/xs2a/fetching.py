"""Reading accounts: a consent, then accounts, balances and bookings, page by page."""

from datetime import date, timedelta
from typing import Any

from kontor.connectors.base import (
    Answer,
    Context,
    Done,
    FailureKind,
    Fetch,
    Fetched,
    Headers,
    Problem,
    ProblemKind,
    Progress,
    State,
    Step,
)
from kontor.connectors.job_state import deserialize_job
from kontor.connectors.json_values import read_day
from kontor.connectors.statement_lists import Bookings
from kontor.connectors.xs2a.accounts import AccountReader
from kontor.connectors.xs2a.authorising import Authoriser, deserialize_media, deserialize_methods
from kontor.connectors.xs2a.banks import ListForm, Xs2aBank, Xs2aSettings
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import CONSENT_CODES, BankError, NoResponseError, RefusedError, StoppedError
from kontor.connectors.xs2a.lists import SHORT_HISTORY_DAYS, Lists
from kontor.connectors.xs2a.messages import Authorising, ConsentFacts
from kontor.connectors.xs2a.oauth import LOST_CODES, OAuth
from kontor.domain.balances import BalanceSpan
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import Transaction

UNATTENDED_PER_DAY = 4
# Stages: the customer is at the bank's OAuth server, for a consent or before it.
CONSENT_BY_OAUTH = "consent by OAuth"
TOKEN_BY_OAUTH = "token by OAuth"  # noqa: S105 (no password)


class Fetching:
    """`institution` is the bank's name: no message of the interface tells it."""

    def __init__(
        self, client: Client, bank: Xs2aBank, settings: Xs2aSettings, context: Context, institution: str | None
    ) -> None:
        self._client = client
        self._institution = institution
        self._bank = bank
        self._settings = settings
        self._context = context
        self._oauth = OAuth(client, bank, context)

    def use_consent(self, state: State, connector_state: State) -> Step | None:
        """With the consent and the tokens of last time, if they still hold; None if new ones are needed."""
        kept = state | {
            "resource": connector_state["consent"],
            "methods": connector_state["methods"],
            "chosen": connector_state["chosen"],
        }
        tokens = connector_state.get("tokens")
        try:
            return self.show_headers(kept) if tokens is None else self._use_tokens(kept, connector_state)
        except RefusedError as error:
            is_gone = error.kind is FailureKind.EXPIRED or bool((CONSENT_CODES | LOST_CODES) & set(error.codes))
            if not is_gone and error.status not in (401, 403, 404):
                raise
            self._client.use_token(None)
            return None
        except StoppedError:
            self._client.use_token(None)
            return None

    def _use_tokens(self, kept: State, connector_state: State) -> Step:
        """The bank may end a token before its time: it is renewed once."""
        tokens = connector_state["tokens"]
        if not self._oauth.is_ending(tokens):
            self._oauth.use(tokens)
            try:
                return self.show_headers(kept | {"tokens": tokens})
            except RefusedError as error:
                is_token = error.status == 401 and not CONSENT_CODES & set(error.codes)
                if not is_token or tokens["refresh"] is None:
                    raise
        renewed = self._oauth.renew(tokens)
        # Banks accept a refresh token once: the old one is of no use any more, even if this fetch fails.
        self._context.keep(connector_state | {"tokens": renewed})
        return self.show_headers(kept | {"tokens": renewed})

    def return_from_page(self, state: State, answer: Answer) -> Step:
        """After the page of the bank's OAuth server. A token that came first is followed by the consent."""
        granted = self._oauth.return_from_page(state, answer)
        self._oauth.use(granted["tokens"])
        is_consent = state["stage"] == CONSENT_BY_OAUTH or not self._bank.has_consents
        return self.show_headers(granted) if is_consent else self.ask_consent(granted)

    def ask_consent(self, state: State) -> Step:
        if self._bank.discovery_address is not None and "tokens" not in state:
            discovery = self._client.enter(self._bank.discovery_address)
            return self._oauth.ask(state | {"stage": TOKEN_BY_OAUTH}, discovery, self._bank.token_scope)
        if self._bank.needs_client_token:
            self._oauth.use_client_token()
        valid_until = self._context.today + timedelta(days=self._bank.consent_days)
        body = {
            "access": self._name_access(),
            "recurringIndicator": True,
            "validUntil": str(valid_until),
            "frequencyPerDay": UNATTENDED_PER_DAY,
            "combinedServiceIndicator": False,
        }
        headers = self._client.identify() | self._client.prefer()
        answer = self._client.call("POST", self._client.enter("v1/consents"), body, headers)
        opened = self._client.read(answer, Authorising)
        if not opened.consent_id or "self" not in opened.links:
            raise NoResponseError("the bank's consent has no number")
        resource = {"id": opened.consent_id, "self": opened.links["self"].href}
        state = state | {"resource": resource}
        if "scaOAuth" in opened.links:
            discovery = opened.links["scaOAuth"].href
            return self._oauth.ask(state | {"stage": CONSENT_BY_OAUTH}, discovery, f"AIS:{opened.consent_id}")
        authoriser = Authoriser(self._client, self._bank, state, None)
        step = authoriser.open(opened, answer.approach)
        return self.show_headers(authoriser.state) if step is None else step

    def _name_access(self) -> dict[str, Any]:
        if self._bank.consents_to_lists:
            return {"accounts": [], "balances": [], "transactions": []}  # the customer chooses at the bank
        return {"allPsd2": "allAccountsWithOwnerName" if self._bank.asks_for_holders else "allAccounts"}

    def show_headers(self, state: State) -> Step:
        """The consent must be valid, whatever we were told before."""
        consent = state.get("resource")
        until = self._find_end(consent)
        headers = _name_consent(consent)
        shown = AccountReader(self._client, self._bank, headers, self._institution, self._context.today).read()
        methods = deserialize_methods(state)
        active = next((method for method in methods if method.code == state.get("chosen")), None)
        kept = {
            "stage": "headers",
            "job": state["job"],
            "resource": consent,
            "methods": state.get("methods", []),
            "chosen": state.get("chosen"),
            "until": str(until),
            "links": shown.links,
            "cards": shown.cards,
            "categories": {product.key: str(product.category) for product in shown.products},
            "problems": shown.problems,
        }
        if "tokens" in state:
            kept["tokens"] = state["tokens"]
        return Progress(Headers(tuple(shown.products), methods, deserialize_media(state), active), kept)

    def _find_end(self, consent: State | None) -> date:
        """Until when the consent holds."""
        usual = self._context.today + timedelta(days=self._bank.consent_days)
        if consent is None:
            return usual
        facts = self._client.get(consent["self"], ConsentFacts)
        if facts.consent_status != "valid":
            raise StoppedError(FailureKind.REJECTED, "the bank does not accept the consent")
        return read_day(facts.valid_until) or usual

    def fetch(self, state: State) -> Step:
        job = deserialize_job(state["job"])
        assert isinstance(job, Fetch)
        transactions: dict[str, tuple[Transaction, ...]] = {}
        spans: dict[str, tuple[BalanceSpan, ...]] = {}
        problems = [
            Problem(ProblemKind(problem["kind"]), problem["key"], problem.get("detail"))
            for problem in state["problems"]
        ]
        for key, links in state["links"].items():
            if job.selected is not None and key not in job.selected:
                continue
            if not links:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key))
                continue
            try:
                since = self._find_first_day(job, key, ProductCategory(state["categories"][key]))
                bookings = self._read_bookings(state, key, links, since)
            except BankError as error:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key, error.to_failed().detail))
                continue
            problems += bookings.problems
            if bookings.rows is not None:
                transactions[key] = bookings.rows
                spans[key] = bookings.spans
        connector_state = {"consent": state["resource"], "methods": state["methods"], "chosen": state["chosen"]}
        if "tokens" in state:
            connector_state["tokens"] = state["tokens"]
        until = date.fromisoformat(state["until"])
        return Done(Fetched(transactions, {}, tuple(problems), until, spans), connector_state)

    def _read_bookings(self, state: State, key: str, links: list[str], since: date) -> Bookings:
        """Of a card they are JSON in every dialect."""
        cards = state.get("cards", {})
        is_card = key in cards
        form = ListForm.JSON if is_card else self._bank.list_form
        headers = _name_consent(state["resource"])
        lists = Lists(self._client, self._bank, self._settings, self._context.today, headers, form)
        if is_card:
            return lists.read_card(key, links, since, is_debt=cards[key])
        return lists.read(key, links, since)

    def _find_first_day(self, job: Fetch, key: str, category: ProductCategory) -> date:
        since = job.since.get(key)
        if since is not None:
            return since
        days = SHORT_HISTORY_DAYS if job.history.is_short_for(category) else self._bank.history_days
        return self._context.today - timedelta(days=days)


def _name_consent(consent: State | None) -> dict[str, str]:
    return {} if consent is None else {"consent-id": consent["id"]}
