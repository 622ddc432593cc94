"""Bookings and holdings of an account: asked for page by page, kept as the bank sent them, read by our own parsers."""

import base64
import re
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any

from fints.formals import SupportedMessageTypes
from fints.segments.base import FinTS3Segment
from fints.segments.depot import HKWPD5, HKWPD6
from fints.segments.statement import DKKKU2, HKCAZ1, HKKAZ5, HKKAZ6, HKKAZ7

from kontor.connectors.base import Problem, ProblemKind, State
from kontor.connectors.fints.accounts import Account, name_account
from kontor.connectors.fints.cards import read_card_pages, write_page
from kontor.connectors.fints.codes import CONFIRMATION_WANTED, MORE_FOLLOWS, TAN_WANTED, Code
from kontor.connectors.fints.sessions import Reply, Session
from kontor.connectors.fints.transport import NoResponseError
from kontor.connectors.rejections import report_rejected
from kontor.connectors.statement_lists import NOTHING, Bookings, collect_bookings
from kontor.connectors.statements import StatementError, read_camt_pages, read_mt535, read_mt940
from kontor.connectors.statements.results import Holdings
from kontor.connectors.statements.values import find_midnight
from kontor.domain.positions import Position
from kontor.domain.products import BalanceSource, Product

STATEMENTS = {5: HKKAZ5, 6: HKKAZ6, 7: HKKAZ7}
HOLDINGS = {5: HKWPD5, 6: HKWPD6}
CARDS = {2: DKKKU2}
CARD = "card"
MAX_PAGES = 1000
MAX_BYTES = 128 * 1024 * 1024
CAMT_052 = re.compile(r"camt\.052(?:\.001\.([0-9]{2}))?")
BOOKED_ELEMENT = 2  # where the bookings stand in HICAZ: behind the account and the format
PENDING_ELEMENT = 3


@dataclass(slots=True)
class Raw:
    """What the bank sent about one account, in its own format."""

    form: str
    booked: list[bytes] = field(default_factory=list)
    pending: list[bytes] = field(default_factory=list)

    def serialize(self) -> State:
        return {
            "form": self.form,
            "booked": [base64.b64encode(page).decode() for page in self.booked],
            "pending": [base64.b64encode(page).decode() for page in self.pending],
        }

    @classmethod
    def deserialize(cls, values: State) -> "Raw":
        booked, pending = ([base64.b64decode(page) for page in values[name]] for name in ("booked", "pending"))
        return cls(values["form"], booked, pending)


@dataclass(frozen=True, slots=True)
class Question:
    """Instead of an answer the bank asks its customer, in this reply."""

    reply: Reply


class History:
    """How one account's bookings, or a depot's holdings, are asked for.

    Without `may_challenge` the order names no TAN method: a bank that wants a TAN for it refuses it, perhaps with the
    whole dialogue, and cannot challenge the customer.
    """

    def __init__(self, session: Session, account: Account, start: date | None, *, may_challenge: bool = True) -> None:
        self._session = session
        self._account = account
        self._start = start
        self._may_challenge = may_challenge
        self.form, self._segment = _choose_form(session, account)

    @property
    def is_offered(self) -> bool:
        return self._segment is not None

    def ask(self) -> Raw | Question:
        return self._read(*self._send(None))

    def go_on(self, reply: Reply) -> Raw | Question:
        """After the customer was asked: the bank's reply to that is the first page."""
        return self._read(reply, None)

    def _send(self, touchdown: str | None) -> tuple[Reply, int]:
        """The reply, and the number by which it speaks of the order."""
        segment = self._make(touchdown)
        command = segment.header.type
        session = self._session
        segments = [segment]
        is_covered = session.method is not None and session.parameters.needs_tan(command)
        if touchdown is None and self._may_challenge and is_covered:
            segments.append(session.make_tan_segment("4", command))
        return session.send(*segments), segment.header.number

    def _make(self, touchdown: str | None) -> FinTS3Segment:
        assert self._segment is not None
        account = name_account(self._segment, self._account)
        if self.form == "mt535":
            return self._segment(account=account, touchdown_point=touchdown)
        if self.form == CARD:
            return self._segment(
                account=account,
                credit_card_number=self._account.number,
                date_start=self._start if _takes_card_dates(self._session) else None,
                touchdown_point=touchdown,
            )
        common: dict[str, Any] = {
            "account": account,
            "all_accounts": False,
            "date_start": self._start,
            "touchdown_point": touchdown,
        }
        if self.form == "camt":
            # Some banks refuse a list that has a version which they do not know.
            common["supported_camt_messages"] = SupportedMessageTypes([_choose_camt_form(self._session)])
        return self._segment(**common)

    def _read(self, reply: Reply, number: int | None) -> Raw | Question:
        raw, seen, size = Raw(self.form), set[str](), 0
        for _ in range(MAX_PAGES):
            if reply.has(TAN_WANTED, CONFIRMATION_WANTED):
                return Question(reply)
            reply.refuse()
            size += _take(reply, raw)
            touchdown = next((code.parameters[0] for code in reply.codes if _has_more(code, number)), None)
            if touchdown is None:
                return raw
            if touchdown in seen or size > MAX_BYTES:
                break
            seen.add(touchdown)
            reply, number = self._send(touchdown)
        raise NoResponseError("a statement without an end")


def _has_more(code: Code, number: int | None) -> bool:
    """Does the bank say where the order with this number goes on? Without a place, 3040 says that something is left
    out, and of another segment it speaks of another list."""
    is_ours = number is None or code.segment in (None, number)
    return code.code == MORE_FOLLOWS and bool(code.parameters) and is_ours


def _choose_form(session: Session, account: Account) -> tuple[str, type[Any] | None]:
    parameters = session.parameters
    if account.is_depot:
        version = parameters.find_newest("HKWPD", HOLDINGS) if account.can("HKWPD") else None
        return "mt535", None if version is None else HOLDINGS[version]
    if account.is_read_as_card and (version := parameters.find_newest("DKKKU", CARDS)) is not None:
        return CARD, CARDS[version]
    version = parameters.find_newest("HKKAZ", STATEMENTS) if account.can("HKKAZ") else None
    # Banks that have given up MT940 still list it for their accounts, and camt they do not.
    is_moved = "HKKAZ" in account.businesses and not parameters.offers("HKKAZ")
    has_camt = (account.can("HKCAZ") or is_moved) and account.iban and _choose_camt_form(session)
    if has_camt and (version is None or not session.bank.quirks.uses_mt940):
        return "camt", HKCAZ1
    return "mt940", None if version is None else STATEMENTS[version]


def _choose_camt_form(session: Session) -> str | None:
    """The newest camt.052 that the bank names, in its own words."""
    parameter = session.parameters.find_parameter("HKCAZ")
    if parameter is None:
        return None
    forms = [form for form in parameter.supported_camt_formats if form and CAMT_052.search(form)]
    return max(forms, key=_find_camt_version, default=None)


def _find_camt_version(form: str) -> int:
    match = CAMT_052.search(form)
    return int(match[1]) if match and match[1] else 0


def find_card_days(session: Session) -> int | None:
    """How many days back the bank knows bookings of cards, as far as it says so."""
    return getattr(session.parameters.find_parameter("DKKKU"), "cutoff_days", None)


def _takes_card_dates(session: Session) -> bool:
    return getattr(session.parameters.find_parameter("DKKKU"), "date_range_allowed", None) is not False


def _take(reply: Reply, raw: Raw) -> int:
    """Add a page; returns its size."""
    before = sum(map(len, raw.booked)) + sum(map(len, raw.pending))
    if raw.form == CARD:
        raw.booked += [write_page(segment._additional_data) for segment in reply.list("DIKKU")]
    for segment in (*reply.list("HIKAZ"), *reply.list("HICAZ"), *reply.list("HIWPD")):
        if raw.form == "camt":
            raw.booked += _list_documents(segment, BOOKED_ELEMENT)
            raw.pending += _list_documents(segment, PENDING_ELEMENT)
            continue
        if raw.form == "mt940":
            raw.booked.append(bytes(segment.statement_booked or b""))
        else:
            raw.booked.append(bytes(segment.holdings or b""))
        pending = getattr(segment, "statement_pending", None)
        if pending:
            raw.pending.append(bytes(pending))
    return sum(map(len, raw.booked)) + sum(map(len, raw.pending)) - before


def _list_documents(segment: Any, place: int) -> list[bytes]:
    """The camt documents of a page, booked or pending ones.

    Banks without bookings leave their element out, and others send several documents of pending ones: the library
    cannot read either, and hands out the elements as they came.
    """
    if hasattr(segment, "statement_booked"):
        pending = [segment.statement_pending]
        documents = segment.statement_booked.camt_statements if place == BOOKED_ELEMENT else pending
    else:
        elements = segment._additional_data
        found = elements[place] if len(elements) > place else None
        documents = found if isinstance(found, list) else [found]
    is_known = segment.header.version == HKCAZ1.VERSION
    if not is_known or not all(document is None or isinstance(document, bytes) for document in documents):
        raise NoResponseError("a statement in a form that is not known")
    return [bytes(document) for document in documents if document]


def read_transactions(key: str, raw: Raw) -> Bookings:
    if raw.form == CARD:
        card = read_card_pages(raw.booked)
        return Bookings(card.rows, problems=(report_rejected(key, card.rejected),) if card.rejected else ())
    try:
        if raw.form == "camt":
            pages = list(read_camt_pages((*raw.booked, *raw.pending)))
        else:
            # Banks cut MT940 anywhere: only all pages together are a statement.
            joined = (b"".join(raw.booked), b"".join(raw.pending))
            pages = [statement for page in joined if page.strip(NOTHING) for statement in read_mt940(page)]
    except StatementError as error:
        return Bookings(None, problems=(Problem(ProblemKind.TRANSACTIONS, key, str(error)),))
    return collect_bookings(key, pages)


def add_depot_balance(product: Product, raw: Raw) -> Product:
    """With the value that the statement tells, or that the positions add up to. As it is where neither is known."""
    try:
        held = _read_holdings(raw)
    except StatementError:
        return product  # the positions tell the reason
    currency = product.currency or "EUR"
    totals = [holdings.find_value(currency) for holdings in held]
    if not totals or None in totals:
        return product
    day = max((holdings.day for holdings in held if holdings.day is not None), default=None)
    return replace(
        product,
        balance=sum((total for total in totals if total is not None), Decimal(0)),
        balance_at=None if day is None else find_midnight(day),
        balance_source=BalanceSource.STATEMENT,
    )


def _read_holdings(raw: Raw) -> list[Holdings]:
    return [holdings for page in raw.booked if page.strip() for holdings in read_mt535(page)]


def read_positions(key: str, raw: Raw) -> tuple[tuple[Position, ...] | None, list[Problem]]:
    try:
        held = _read_holdings(raw)
    except StatementError as error:
        return None, [Problem(ProblemKind.POSITIONS, key, str(error))]
    return tuple(position for holdings in held for position in holdings.positions), []
