"""Reading the accounts of a session: balances, then bookings page by page."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal

import msgspec

from kontor.connectors.aspsps import AspspBank
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
)
from kontor.connectors.enablebanking.client import Client, part
from kontor.connectors.enablebanking.failures import PERIOD, CallError, NoResponseError, RefusedError
from kontor.connectors.enablebanking.messages import Account, Balance, Balances, Booking, BookingPage
from kontor.connectors.enablebanking.rows import drop_shared_ids, is_wanted, make_product, make_transaction
from kontor.connectors.enablebanking.sessions import list_accounts
from kontor.connectors.enablebanking.settings import EnableBankingSettings
from kontor.connectors.job_state import deserialize_job
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction

RECENT_DAYS = 90  # of which every bank tells without another authentication
Query = dict[str, str]
SKIPPED = Transaction(Decimal(0), "XXX", None)


class Fetching:
    def __init__(
        self, client: Client, bank: AspspBank, settings: EnableBankingSettings, context: Context, institution: str
    ) -> None:
        self._client = client
        self._bank = bank
        self._settings = settings
        self._context = context
        self._institution = institution
        self._headers = client.name_customer(bank)

    def show_headers(self, job: State, kept: State) -> Progress:
        """The products of a session, with balances of those that are wanted."""
        wanted = _read_job(job).selected
        products: list[Product] = []
        problems: list[State] = []
        for key, accounts in list_accounts(kept).items():
            balances = []
            if wanted is None or key in wanted:
                balances = [balance for account in accounts for balance in self._read_balances(key, account, problems)]
            products.append(make_product(key, accounts, balances, self._institution, self._context.today))
        categories = {product.key: str(product.category) for product in products}
        state = {"stage": "headers", "job": job, "kept": kept, "problems": problems, "categories": categories}
        return Progress(Headers(tuple(products)), state)

    def _read_balances(self, key: str, account: Account, problems: list[State]) -> Sequence[Balance]:
        """An account without a balance is shown all the same; that it could not be read is said."""
        if account.uid is None:
            return ()
        try:
            return self._client.get(f"/accounts/{part(account.uid)}/balances", Balances, headers=self._headers).balances
        except RefusedError as error:
            if not error.is_of_the_bank:
                raise
            problems.append({"key": key, "detail": error.detail})
            return ()

    def fetch(self, state: State) -> Done:
        job, kept = _read_job(state["job"]), state["kept"]
        transactions: dict[str, tuple[Transaction, ...]] = {}
        problems = [Problem(ProblemKind.PRODUCT, told["key"], told["detail"]) for told in state["problems"]]
        limited: str | None = None
        for key, accounts in list_accounts(kept).items():
            if job.selected is not None and key not in job.selected:
                continue
            uids = [account.uid for account in accounts if account.uid is not None]
            if not uids or limited is not None:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key, limited))
                continue
            windows = self._list_windows(job, key, ProductCategory(state["categories"][key]))
            try:
                rows, unread = self._read_rows(uids, windows)
            except CallError as error:
                if error.kind in (FailureKind.EXPIRED, FailureKind.INTERNAL):
                    raise
                problems.append(Problem(ProblemKind.TRANSACTIONS, key, error.detail))
                if isinstance(error, RefusedError) and error.is_limit:
                    limited = error.detail or ""  # the bank is not asked about the others either
                continue
            transactions[key] = rows
            if unread:
                problems.append(Problem(ProblemKind.TRANSACTIONS, key, count=unread))
        return Done(Fetched(transactions, {}, tuple(problems), date.fromisoformat(kept["until"])), kept)

    def _list_windows(self, job: Fetch, key: str, category: ProductCategory) -> list[Query]:
        """What to ask for, and what instead where the bank does not tell as much: its own choice in the end."""
        recent = self._context.today - timedelta(days=RECENT_DAYS)
        since = job.since.get(key)
        if since is None and not job.history.is_short_for(category) and self._context.customer_ip is not None:
            return [{"strategy": "longest"}, _start_at(recent), {}]
        # Enable Banking's day ends with that of UTC, later than ours: a day that has not begun there is refused.
        first = min(since or recent, self._context.today - timedelta(days=1))
        return [_start_at(first), *([_start_at(recent)] if first < recent else []), {}]

    def _read_rows(self, uids: Sequence[str], windows: Sequence[Query]) -> tuple[tuple[Transaction, ...], int]:
        """The rows, and how many could not be read."""
        rows: list[Transaction] = []
        unread = 0
        for uid in uids:
            for window in windows:
                try:
                    unread += self._read_pages(uid, window, rows)
                except RefusedError as error:
                    if error.code != PERIOD or window is windows[-1]:
                        raise
                    continue
                break
        return drop_shared_ids(rows), unread

    def _read_pages(self, uid: str, window: Mapping[str, str], rows: list[Transaction]) -> int:
        """Adds to `rows`; returns how many could not be read. A page may be empty and not the last."""
        unread = 0
        seen: set[str] = set()
        named: set[Transaction] = set()
        query = dict(window)
        while True:
            path = f"/accounts/{part(uid)}/transactions"
            page = self._client.get(path, BookingPage, query, self._headers)
            for raw in page.transactions:
                row = self._read_row(raw)
                if row is None:
                    unread += 1
                elif row is not SKIPPED and row not in named:  # by its reference and all else: the same, sent twice
                    rows.append(row)
                    if row.bank_id is not None:
                        named.add(row)
            key = page.continuation_key
            if not key:
                return unread
            if key in seen or len(seen) >= self._settings.most_pages or len(rows) > self._settings.most_rows:
                raise NoResponseError("the bank's list does not end")
            seen.add(key)
            query = {**window, "continuation_key": key}

    def _read_row(self, raw: msgspec.Raw) -> Transaction | None:
        """None for a row that cannot be read, SKIPPED for one that is no booking."""
        try:
            booking = msgspec.json.decode(raw, type=Booking)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return make_transaction(booking, self._bank.country) if is_wanted(booking) else SKIPPED


def _read_job(values: State) -> Fetch:
    job = deserialize_job(values)
    assert isinstance(job, Fetch)
    return job


def _start_at(day: date) -> Query:
    return {"date_from": str(day)}
