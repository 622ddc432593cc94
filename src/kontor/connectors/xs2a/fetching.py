"""Reading accounts: a consent, then accounts, balances and bookings, page by page."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec

from kontor.connectors.base import (
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
from kontor.connectors.xs2a.messages import (
    Account,
    AccountList,
    Authorising,
    Balance,
    BalanceList,
    Booking,
    ConsentFacts,
    TransactionPage,
)
from kontor.connectors.xs2a.rows import make_product, make_transaction, name_account, read_day
from kontor.domain.accesses import History
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import Transaction

SHORT_HISTORY_DAYS = 90
UNATTENDED_PER_DAY = 4
EVERYTHING = {"allPsd2": "allAccounts"}
WHATEVER_THE_CUSTOMER_CHOOSES: dict[str, Any] = {"accounts": [], "balances": [], "transactions": []}


class Fetching:
    def __init__(self, client: Client, bank: Xs2aBank, settings: Xs2aSettings, context: Context) -> None:
        self._client = client
        self._bank = bank
        self._settings = settings
        self._context = context

    def use_consent(self, state: State, connector_state: State) -> Step | None:
        """With the consent of last time, if it still holds; None if a new one is needed."""
        kept = state | {
            "resource": connector_state["consent"],
            "methods": connector_state["methods"],
            "chosen": connector_state["chosen"],
        }
        try:
            return self.show_headers(kept)
        except RefusedError as error:
            is_gone = error.kind is FailureKind.EXPIRED or bool(CONSENT_CODES & set(error.codes))
            if not is_gone and error.status not in (401, 403, 404):
                raise
            return None
        except StoppedError:
            return None

    def ask_consent(self, state: State) -> Step:
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
        authoriser = Authoriser(self._client, self._bank, state | {"resource": resource}, None)
        step = authoriser.open(opened, answer.approach)
        return self.show_headers(authoriser.state) if step is None else step

    def show_headers(self, state: State) -> Step:
        """The consent must be valid, whatever we were told before."""
        consent = state["resource"]
        facts = self._client.get(consent["self"], ConsentFacts)
        if facts.consent_status != "valid":
            raise StoppedError(FailureKind.REJECTED, "the bank does not accept the consent")
        until = read_day(facts.valid_until) or self._context.today + timedelta(days=self._bank.consent_days)
        listed = self._read(self._client.enter("v1/accounts"), AccountList, consent).accounts
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
            key: [account.links["transactions"].href for account in accounts if "transactions" in account.links]
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
        return Progress(Headers(tuple(products), methods, (), active), kept)

    def _read_balances(self, accounts: list[Account], consent: State) -> list[Balance]:
        """What is missing shows as a product without a balance."""
        balances: list[Balance] = []
        for account in accounts:
            if account.balances is not None:
                balances += account.balances
            elif "balances" in account.links:
                try:
                    balances += self._read(account.links["balances"].href, BalanceList, consent).balances
                except RefusedError as error:
                    if not error.is_final:
                        raise
        return balances

    def fetch(self, state: State) -> Step:
        job = deserialize_job(state["job"])
        assert isinstance(job, Fetch)
        transactions: dict[str, tuple[Transaction, ...]] = {}
        problems = [Problem(ProblemKind(problem["kind"]), problem["key"]) for problem in state["problems"]]
        for key, links in state["links"].items():
            if job.selected is not None and key not in job.selected:
                continue
            if not links:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key))
                continue
            rows: list[Transaction] = []
            try:
                since = self._find_first_day(job, key, ProductCategory(state["categories"][key]))
                unread = sum(self._read_rows(link, since, state["resource"], rows) for link in links)
            except BankError as error:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key, error.to_failed().detail))
                continue
            transactions[key] = tuple(rows)
            if unread:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key, count=unread))
        connector_state = {"consent": state["resource"], "methods": state["methods"], "chosen": state["chosen"]}
        return Done(Fetched(transactions, {}, tuple(problems), date.fromisoformat(state["until"])), connector_state)

    def _find_first_day(self, job: Fetch, key: str, category: ProductCategory) -> date:
        since = job.since.get(key)
        if since is not None:
            return since
        is_payment_account = category is ProductCategory.CHECKING
        is_short = job.history is History.RECENT or (job.history is History.PAYMENT_ACCOUNTS and not is_payment_account)
        days = SHORT_HISTORY_DAYS if is_short else self._bank.history_days
        return self._context.today - timedelta(days=days)

    def _read_rows(self, link: str, since: date, consent: State, rows: list[Transaction]) -> int:
        """Adds to `rows`; returns how many could not be read. Older bookings may need a fresh authentication."""
        try:
            page = self._read(_ask_rows(link, since), TransactionPage, consent)
        except RefusedError as error:
            recent = self._context.today - timedelta(days=SHORT_HISTORY_DAYS)
            if "PERIOD_INVALID" not in error.codes or since >= recent:
                raise
            page = self._read(_ask_rows(link, recent), TransactionPage, consent)
        seen: set[str] = set()
        named: set[Transaction] = set()
        unread = 0
        while True:
            report = page.transactions
            if report is None:
                raise NoResponseError("the bank sends no bookings")
            for raws, is_pending in ((report.booked, False), (report.pending, True)):
                for raw in raws:
                    row = _read_row(raw, self._bank, is_pending=is_pending)
                    if row is None:
                        unread += 1
                    elif row not in named:  # the bank's own id and all else: the same booking, sent twice
                        rows.append(row)
                    if row is not None and row.bank_id is not None:
                        named.add(row)
            if "next" not in report.links:
                return unread
            next_link = report.links["next"].href
            if next_link in seen or len(seen) >= self._settings.most_pages or len(rows) > self._settings.most_rows:
                raise NoResponseError("the bank's list does not end")
            seen.add(next_link)
            page = self._read(next_link, TransactionPage, consent)

    def _read(self, link: str, shape: Any, consent: Mapping[str, Any]) -> Any:
        return self._client.get(link, shape, {"consent-id": consent["id"]})


def _ask_rows(link: str, since: date) -> str:
    joint = "&" if "?" in link else "?"
    return f"{link}{joint}{urlencode({'bookingStatus': 'both', 'dateFrom': str(since)})}"


def _read_row(raw: Any, bank: Xs2aBank, *, is_pending: bool) -> Transaction | None:
    try:
        return make_transaction(msgspec.convert(raw, Booking), bank, is_pending=is_pending)
    except msgspec.ValidationError:
        return None
