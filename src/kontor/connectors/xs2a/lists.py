"""Lists of bookings, in the form that a bank sends: JSON page by page, a camt.052 document, or MT940 text."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from urllib.parse import urlencode

import msgspec

from kontor.connectors.base import Problem, ProblemKind
from kontor.connectors.statement_lists import NOTHING, Bookings, collect_bookings
from kontor.connectors.statements import Statement, StatementError, read_camt, read_mt940
from kontor.connectors.xs2a.banks import ListForm, Xs2aBank, Xs2aSettings
from kontor.connectors.xs2a.cards import make_card_transaction
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import NoResponseError, RefusedError
from kontor.connectors.xs2a.messages import Booking, CardBooking, TransactionPage
from kontor.connectors.xs2a.rows import make_transaction
from kontor.domain.transactions import Transaction

SHORT_HISTORY_DAYS = 90
RowReader = Callable[[msgspec.Raw, bool], Transaction | None]
MEDIA = {ListForm.JSON: "application/json", ListForm.CAMT: "application/xml", ListForm.MT940: "text/plain"}


class Lists:
    """`headers` are those of every request for account data."""

    def __init__(
        self,
        client: Client,
        bank: Xs2aBank,
        settings: Xs2aSettings,
        today: date,
        headers: Mapping[str, str],
        form: ListForm,
    ) -> None:
        self._client = client
        self._bank = bank
        self._settings = settings
        self._today = today
        self._form = form
        self._headers = {**headers, "accept": MEDIA[form]}

    def read(self, key: str, links: Sequence[str], since: date) -> Bookings:
        """Bookings of the account with this number. Raises BankError where the bank sends no list."""
        if self._form is ListForm.JSON:
            return self._read_fields(key, links, since)
        statements: list[Statement] = []
        for link in links:
            statements += self._parse(self._ask(link, since), key)
        return collect_bookings(key, statements)

    def _ask(self, link: str, since: date) -> bytes:
        """Older bookings may need a fresh authentication."""
        try:
            return self._call(self._address(link, since))
        except RefusedError as error:
            recent = self._today - timedelta(days=SHORT_HISTORY_DAYS)
            if "PERIOD_INVALID" not in error.codes or since >= recent:
                raise
            return self._call(self._address(link, recent))

    def _call(self, link: str) -> bytes:
        return self._client.call("GET", link, headers=self._headers).body

    def _address(self, link: str, since: date) -> str:
        joint = "&" if "?" in link else "?"
        return f"{link}{joint}{urlencode({'bookingStatus': self._bank.booking_status, 'dateFrom': str(since)})}"

    def _parse(self, body: bytes, key: str) -> tuple[Statement, ...]:
        """Statements, as far as there are any. One that names another account voids the list."""
        if not body.strip(NOTHING):
            return ()
        try:
            statements = read_camt(body) if self._form is ListForm.CAMT else read_mt940(body)
        except StatementError as error:
            raise NoResponseError(f"the bank's list cannot be read: {error}") from None
        if any(statement.account.iban not in (None, key) for statement in statements):
            raise NoResponseError("the bank's list is of another account")
        return statements

    def _read_fields(self, key: str, links: Sequence[str], since: date) -> Bookings:
        def read_row(raw: msgspec.Raw, is_pending: bool) -> Transaction | None:
            booking = msgspec.json.decode(raw, type=Booking)
            return make_transaction(booking, self._bank, key, is_pending=is_pending)

        return self._read_all(key, links, since, read_row)

    def read_card(self, key: str, links: Sequence[str], since: date, *, is_debt: bool) -> Bookings:
        """Bookings of a card account."""

        def read_row(raw: msgspec.Raw, is_pending: bool) -> Transaction | None:
            booking = msgspec.json.decode(raw, type=CardBooking)
            return make_card_transaction(booking, self._bank, is_debt=is_debt, is_pending=is_pending)

        return self._read_all(key, links, since, read_row)

    def _read_all(self, key: str, links: Sequence[str], since: date, read_row: RowReader) -> Bookings:
        rows: list[Transaction] = []
        unread = sum(self._read_pages(link, since, read_row, rows) for link in links)
        problems = (Problem(ProblemKind.TRANSACTIONS, key, count=unread),) if unread else ()
        return Bookings(tuple(rows), problems=problems)

    def _read_pages(self, link: str, since: date, read_row: RowReader, rows: list[Transaction]) -> int:
        """Adds to `rows`; returns how many could not be read."""
        page = _decode(self._ask(link, since))
        seen: set[str] = set()
        named: set[Transaction] = set()
        unread = 0
        while True:
            report = page.transactions or page.card_transactions
            if report is None:
                raise NoResponseError("the bank sends no bookings")
            for raws, is_pending in ((report.booked, False), (report.pending, True)):
                for raw in raws:
                    row = _read_row(raw, read_row, is_pending)
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
            page = _decode(self._call(next_link))


def _read_row(raw: msgspec.Raw, read_row: RowReader, is_pending: bool) -> Transaction | None:
    try:
        return read_row(raw, is_pending)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _decode(body: bytes) -> TransactionPage:
    try:
        return msgspec.json.decode(body, type=TransactionPage)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NoResponseError("the bank's answer cannot be read") from None
