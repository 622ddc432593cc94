"""Accounts, their balances and bookings, as far as a consent reaches."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5

from kontor.demobank.faults import Fault
from kontor.demobank.faults.rows import NOISE, distort_rows, disturb_list, find_first_day
from kontor.demobank.xs2a.aspsp import AccountSnapshot, DemoAspsp
from kontor.demobank.xs2a.bodies import make_link
from kontor.demobank.xs2a.bookings import list_balances, show_booking
from kontor.demobank.xs2a.consents import Consents, covers
from kontor.demobank.xs2a.dialects import JSON, STANDARD, Dialect, change_account, change_booking
from kontor.demobank.xs2a.exchanges import RefusedError, Request, Response
from kontor.demobank.xs2a.modes import Xs2aMode
from kontor.demobank.xs2a.resources import Consent
from kontor.demobank.xs2a.statement_lists import write_list
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import Transaction, find_day

LONG_AGO_DAYS = 90
FRESH_MINUTES = 15
# The currency of an account that has several.
SEVERAL = "XXX"
KINDS = {
    ProductCategory.CHECKING: "CACC",
    ProductCategory.SAVINGS: "SVGS",
    ProductCategory.CALL_MONEY: "MOMA",
    ProductCategory.FIXED_TERM: "LLSV",
    ProductCategory.LOAN: "LOAN",
}
AFTER_EMPTY = "afterEmptyPage"  # the page that an empty one was sent instead of


class Accounts:
    """Names of the standard's messages are attributes: those of card accounts differ."""

    list_name = "accounts"
    account_name = "account"
    rows_name = "transactions"

    def __init__(self, aspsp: DemoAspsp, consents: Consents, page_size: int, dialect: Dialect = STANDARD) -> None:
        self._aspsp = aspsp
        self._dialect = dialect
        self._consents = consents
        self._page_size = page_size

    def list_all(self, request: Request) -> Response:
        has_balances = request.read_flag("withBalance")
        consent = self._consents.use(request, self.list_name)
        self._aspsp.register(consent.login or "")
        accounts = [
            self.show_account(holding, consent, has_balances=has_balances)
            for holding in self._list_holdings(consent)
            if covers(consent, holding.product.iban, "accounts")
        ]
        return Response(200, {self.list_name: accounts})

    def read(self, request: Request, account_id: str) -> Response:
        has_balances = request.read_flag("withBalance")
        consent, holding = self._find(request, account_id, "accounts")
        shown = self.show_account(holding, consent, has_balances=has_balances)
        return Response(200, {self.account_name: shown})

    def read_balances(self, request: Request, account_id: str) -> Response:
        _, holding = self._find(request, account_id, "balances")
        return Response(200, {self.account_name: self.refer(holding), "balances": self._list_balances(holding)})

    def list_transactions(self, request: Request, account_id: str) -> Response:
        status = request.query.get("bookingStatus")
        if status not in STANDARD.statuses:
            raise RefusedError("FORMAT_ERROR", "bookingStatus is missing or unknown.")
        if status not in self._dialect.statuses:
            raise RefusedError("PARAMETER_NOT_SUPPORTED", "This bookingStatus is not supported.")
        if "entryReferenceFrom" in request.query or request.read_flag("deltaList"):
            raise RefusedError("PARAMETER_NOT_SUPPORTED", "There are no deltas here.")
        today = self._aspsp.today
        since = request.read_date("dateFrom") or today - timedelta(days=LONG_AGO_DAYS)
        until = request.read_date("dateTo")
        has_balances = request.read_flag("withBalance")
        page = request.read_number("pageIndex", 0)
        size = request.read_number("itemsPerPage", self._page_size)
        if page < 0 or size < 1:
            raise RefusedError("FORMAT_ERROR", "There is no such page.")
        size = min(size, self._page_size)
        consent, holding = self._find(request, account_id, "transactions", is_counted=page == 0)
        if until is not None and until < since:
            raise RefusedError("PERIOD_INVALID", "dateTo lies before dateFrom.")
        is_long_ago = since < today - timedelta(days=LONG_AGO_DAYS)
        is_fresh = self._consents.is_fresh(consent, FRESH_MINUTES) and Xs2aMode.RECENT_ONLY not in self._aspsp.modes
        if is_long_ago and status != "pending" and not is_fresh:
            raise RefusedError("PERIOD_INVALID", "Older bookings need a fresh authentication.")
        if not holding.has_rows:
            raise RefusedError("INTERNAL_SERVER_ERROR", "Die Umsätze sind zurzeit nicht lesbar.")
        # The newest come first, pending ones before all others.
        rows = [row for row in reversed(holding.list_rows()) if _is_wanted(row, status)]
        since = find_first_day(since, request.visit)
        if Xs2aMode.SINCE_IGNORED in self._aspsp.modes:
            since = date.min
        rows = [row for row in rows if row.is_pending or (since <= _day(row) and (until is None or _day(row) <= until))]
        if self._dialect.media != JSON and holding.product.iban is not None:
            content = write_list(self._dialect.media, holding, rows, min(until or today, today))
            return Response(200, content=content, headers={"Content-Type": self._dialect.media})
        report = _show_page(request, rows, page, size)
        shown: dict[str, Any] = {self.account_name: self.refer(holding), self.rows_name: report}
        listed = rows[page * size : (page + 1) * size]
        is_empty = request.visit.fault is Fault.EMPTY_PAGE or (Xs2aMode.EMPTY_PAGES in self._aspsp.modes and page == 0)
        if is_empty and AFTER_EMPTY not in request.query:
            query = urlencode({**request.query, AFTER_EMPTY: "true"})
            report["_links"]["next"] = make_link(f"{request.path}?{query}")
            listed = []
        listed = disturb_list(distort_rows(listed, request.visit.plan), request.visit)
        report |= self._split(listed, status, holding)
        if has_balances:
            shown["balances"] = self._list_balances(holding)
        return Response(200, shown)

    def read_transaction(self, request: Request, account_id: str, transaction_id: str) -> Response:
        _, holding = self._find(request, account_id, "transactions")
        row = next((row for row in holding.list_rows() if row.bank_id == transaction_id), None)
        if row is None:
            raise RefusedError("RESOURCE_UNKNOWN", "Diesen Umsatz gibt es nicht.")
        return Response(200, {"transactionsDetails": self.show_row(row, holding)})

    def _split(self, rows: list[Transaction], status: str, holding: AccountSnapshot) -> dict[str, Any]:
        """Each kind that was asked for is there, be it empty."""
        kinds: dict[str, list[Any]] = {}
        if status in ("booked", "both", "all"):
            kinds["booked"] = [self.show_row(row, holding) for row in rows if not row.is_pending]
        if status in ("pending", "both", "all"):
            kinds["pending"] = [self.show_row(row, holding) for row in rows if row.is_pending]
        if status in ("information", "all"):
            kinds["information"] = []  # there are no standing orders here
        return kinds

    def _list_balances(self, holding: AccountSnapshot) -> list[dict[str, Any]]:
        shown = list_balances(holding.product)
        if Xs2aMode.LONG_DECIMALS in self._aspsp.modes:
            for balance in shown:
                amount = balance["balanceAmount"]
                amount["amount"] = f"{Decimal(amount['amount']) + NOISE:f}"
        return shown

    def show_row(self, row: Transaction, holding: AccountSnapshot) -> dict[str, Any]:
        if Xs2aMode.LONG_DECIMALS in self._aspsp.modes:
            row = replace(row, amount=row.amount + NOISE)
        return change_booking(self._dialect, show_booking(row), row, holding)

    def refer(self, holding: AccountSnapshot) -> dict[str, Any]:
        return _refer(holding)

    def show_account(self, holding: AccountSnapshot, consent: Consent, *, has_balances: bool) -> dict[str, Any]:
        shown = _show_account(holding, consent)
        if has_balances and "balances" in shown.get("_links", {}):
            shown["balances"] = self._list_balances(holding)
        return change_account(self._dialect, shown, holding)

    def find_holdings(self, login: str) -> list[AccountSnapshot]:
        return self._aspsp.list_holdings(login)

    def _list_holdings(self, consent: Consent) -> list[AccountSnapshot]:
        assert consent.login is not None, "a valid consent was authorised by somebody"
        return self.find_holdings(consent.login)

    def _find(
        self, request: Request, account_id: str, part: str, *, is_counted: bool = True
    ) -> tuple[Consent, AccountSnapshot]:
        consent = self._consents.use(request, f"{account_id} {part}") if is_counted else self._look(request)
        for holding in self._list_holdings(consent):
            if number_account(holding) == account_id:
                if not covers(consent, holding.product.iban, part):
                    raise RefusedError("CONSENT_INVALID", "Die Einwilligung reicht nicht so weit.")
                return consent, holding
        raise RefusedError("RESOURCE_UNKNOWN", "Dieses Konto gibt es nicht.")

    def _look(self, request: Request) -> Consent:
        """The next page is no new question."""
        consent = self._consents.find(request.headers["consent-id"])
        if consent.status != "valid":
            raise RefusedError("CONSENT_INVALID", "Die Einwilligung gilt nicht.")
        return consent


def number_account(holding: AccountSnapshot) -> str:
    return str(uuid5(NAMESPACE_URL, f"xs2a account {holding.product.key}"))


def _day(transaction: Transaction) -> Any:
    return find_day(transaction)


def _is_wanted(transaction: Transaction, status: str) -> bool:
    return status in ("both", "all") or (status == "pending" if transaction.is_pending else status == "booked")


def _show_page(request: Request, rows: list[Transaction], page: int, size: int) -> dict[str, Any]:
    last = max(0, (len(rows) - 1) // size)
    links = {"account": make_link(request.path.removesuffix("/transactions"))}
    pages = {"first": 0, "previous": page - 1, "next": page + 1, "last": last}
    if last > 0:
        for name, number in pages.items():
            if 0 <= number <= last:
                query = urlencode({**request.query, "pageIndex": number})
                links[name] = make_link(f"{request.path}?{query}")
    return {"_links": links}


def _refer(holding: AccountSnapshot) -> dict[str, Any]:
    currency = SEVERAL if holding.product.balances else holding.product.currency
    return {"iban": holding.product.iban, "currency": currency}


def _show_account(holding: AccountSnapshot, consent: Consent) -> dict[str, Any]:
    product = holding.product
    if not holding.is_readable:
        return {"currency": product.currency, "name": product.name}
    path = f"/v1/accounts/{number_account(holding)}"
    links = {}
    if covers(consent, product.iban, "balances"):
        links["balances"] = make_link(f"{path}/balances")
    if covers(consent, product.iban, "transactions"):
        links["transactions"] = make_link(f"{path}/transactions")
    shown: dict[str, Any] = {
        "resourceId": number_account(holding),
        **_refer(holding),
        "name": product.name,
        "product": product.name[:35],
        "cashAccountType": KINDS.get(product.category, "OTHR"),
        "ownerName": product.holder,
        "status": "enabled",
        "_links": links,
    }
    if product.bic is not None:
        shown["bic"] = product.bic
    return shown
