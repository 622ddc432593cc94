"""Reading accounts: a consent, then accounts, balances and bookings, page by page."""

from datetime import date, timedelta
from typing import Any
from urllib.parse import quote

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
from kontor.connectors.xs2a.authorising import Authoriser, deserialize_methods
from kontor.connectors.xs2a.banks import Xs2aBank, Xs2aSettings
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import CONSENT_CODES, BankError, NoResponseError, RefusedError, StoppedError
from kontor.connectors.xs2a.lists import SHORT_HISTORY_DAYS, Lists
from kontor.connectors.xs2a.messages import (
    Account,
    AccountList,
    Authorising,
    Balance,
    BalanceList,
    ConsentFacts,
)
from kontor.connectors.xs2a.oauth import LOST_CODES, OAuth
from kontor.connectors.xs2a.rows import make_product, name_account, read_day
from kontor.domain.accesses import History
from kontor.domain.balances import BalanceSpan
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import Transaction

UNATTENDED_PER_DAY = 4
# Stages: the customer is at the bank's OAuth server, for a consent or before it.
CONSENT_BY_OAUTH = "consent by OAuth"
TOKEN_BY_OAUTH = "token by OAuth"  # noqa: S105 (no password)
EVERYTHING = {"allPsd2": "allAccounts"}
WHATEVER_THE_CUSTOMER_CHOOSES: dict[str, Any] = {"accounts": [], "balances": [], "transactions": []}


class Fetching:
    def __init__(self, client: Client, bank: Xs2aBank, settings: Xs2aSettings, context: Context) -> None:
        self._client = client
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
            return self.show_headers(kept) if tokens is None else self._use_tokens(kept, tokens)
        except RefusedError as error:
            is_gone = error.kind is FailureKind.EXPIRED or bool((CONSENT_CODES | LOST_CODES) & set(error.codes))
            if not is_gone and error.status not in (401, 403, 404):
                raise
            self._client.use_token(None)
            return None
        except StoppedError:
            self._client.use_token(None)
            return None

    def _use_tokens(self, kept: State, tokens: State) -> Step:
        """The bank may end a token before its time: it is renewed once."""
        used = self._oauth.use(tokens)
        try:
            return self.show_headers(kept | {"tokens": used})
        except RefusedError as error:
            if error.status != 401 or used is not tokens or used["refresh"] is None:
                raise
        return self.show_headers(kept | {"tokens": self._oauth.renew(tokens)})

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
            "access": WHATEVER_THE_CUSTOMER_CHOOSES if self._bank.consents_to_lists else EVERYTHING,
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

    def show_headers(self, state: State) -> Step:
        """The consent must be valid, whatever we were told before."""
        consent = state.get("resource")
        until = self._find_end(consent)
        listed = self._read(self._client.enter(self._bank.accounts_path), AccountList, consent).accounts
        groups: dict[str, list[Account]] = {}
        problems: list[State] = []
        for account in listed:
            key = name_account(account)
            if key is None:
                problems.append({"kind": str(ProblemKind.PRODUCT), "key": None})
            else:
                groups.setdefault(key, []).append(account)
        products = []
        for key, accounts in groups.items():
            balances = self._read_balances(accounts, consent)
            products.append(make_product(key, accounts, balances, self._bank, self._context.today))
        links = {
            key: [link for account in accounts if (link := self._find_link(account, "transactions")) is not None]
            for key, accounts in groups.items()
        }
        methods = deserialize_methods(state)
        active = next((method for method in methods if method.code == state.get("chosen")), None)
        kept = {
            "stage": "headers",
            "job": state["job"],
            "resource": consent,
            "methods": state.get("methods", []),
            "chosen": state.get("chosen"),
            "until": str(until),
            "links": links,
            "categories": {product.key: str(product.category) for product in products},
            "problems": problems,
        }
        if "tokens" in state:
            kept["tokens"] = state["tokens"]
        return Progress(Headers(tuple(products), methods, (), active), kept)

    def _find_end(self, consent: State | None) -> date:
        """Until when the consent holds."""
        usual = self._context.today + timedelta(days=self._bank.consent_days)
        if consent is None:
            return usual
        facts = self._client.get(consent["self"], ConsentFacts)
        if facts.consent_status != "valid":
            raise StoppedError(FailureKind.REJECTED, "the bank does not accept the consent")
        return read_day(facts.valid_until) or usual

    def _read_balances(self, accounts: list[Account], consent: State | None) -> list[Balance]:
        """What is missing shows as a product without a balance."""
        balances: list[Balance] = []
        for account in accounts:
            if account.balances is not None:
                balances += account.balances
            elif (link := self._find_link(account, "balances")) is not None:
                try:
                    balances += self._read(link, BalanceList, consent).balances
                except RefusedError as error:
                    if not error.is_final:
                        raise
        return balances

    def _find_link(self, account: Account, part: str) -> str | None:
        """Where a part of the account is. A link that is missing means that the consent does not cover it."""
        if part in account.links:
            return account.links[part].href
        if not self._bank.builds_addresses or account.resource_id is None:
            return None
        return self._client.enter(f"{self._bank.accounts_path}/{quote(account.resource_id, safe='')}/{part}")

    def fetch(self, state: State) -> Step:
        job = deserialize_job(state["job"])
        assert isinstance(job, Fetch)
        transactions: dict[str, tuple[Transaction, ...]] = {}
        spans: dict[str, tuple[BalanceSpan, ...]] = {}
        lists = Lists(self._client, self._bank, self._settings, self._context.today, _name_consent(state["resource"]))
        problems = [Problem(ProblemKind(problem["kind"]), problem["key"]) for problem in state["problems"]]
        for key, links in state["links"].items():
            if job.selected is not None and key not in job.selected:
                continue
            if not links:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key))
                continue
            try:
                since = self._find_first_day(job, key, ProductCategory(state["categories"][key]))
                bookings = lists.read(key, links, since)
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

    def _find_first_day(self, job: Fetch, key: str, category: ProductCategory) -> date:
        since = job.since.get(key)
        if since is not None:
            return since
        is_payment_account = category is ProductCategory.CHECKING
        is_short = job.history is History.RECENT or (job.history is History.PAYMENT_ACCOUNTS and not is_payment_account)
        days = SHORT_HISTORY_DAYS if is_short else self._bank.history_days
        return self._context.today - timedelta(days=days)

    def _read(self, link: str, shape: Any, consent: State | None) -> Any:
        return self._client.get(link, shape, _name_consent(consent))


def _name_consent(consent: State | None) -> dict[str, str]:
    return {} if consent is None else {"consent-id": consent["id"]}
