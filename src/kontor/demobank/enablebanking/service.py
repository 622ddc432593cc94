"""What the service knows: authorisations, sessions and their accounts. Kept in memory: a restart forgets them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_address
from secrets import token_urlsafe
from typing import Any
from uuid import UUID, uuid4, uuid5

from kontor.demobank.enablebanking.applications import DemoApplication
from kontor.demobank.enablebanking.exchanges import AuthorizeSession, RefusedError, StartAuthorization
from kontor.demobank.enablebanking.messages import (
    ListedAccount,
    list_balances,
    list_currencies,
    show_account,
    show_booking,
)
from kontor.demobank.xs2a.aspsp import DemoAspsp
from kontor.demobank.xs2a.resources import BoundedStore
from kontor.domain.transactions import Transaction, find_day

BANK = {"name": "Demo-Bank", "country": "DE"}
CONSENT_SECONDS = 180 * 86_400
FRESH = timedelta(minutes=15)  # after an authorisation, in which everything is told
RECENT_DAYS = 90
UNATTENDED_PER_DAY = 4
CODE_SECONDS = 300
PAGE_SIZE = 200
STATUSES = ("BOOK", "CNCL", "HOLD", "OTHR", "PDNG", "RJCT", "SCHD")


@dataclass
class Authorisation:
    """What an application has asked a customer for, and the code that his answer leads to."""

    id: str
    wanted: StartAuthorization
    at: datetime
    login: str | None = None
    code: str | None = None
    is_decided: bool = False
    is_used: bool = False


@dataclass
class Session:
    id: str
    login: str
    wanted: StartAuthorization
    created: datetime
    status: str = "AUTHORIZED"
    uses: Counter[tuple[date, str]] = field(default_factory=Counter)


def read_now() -> datetime:
    return datetime.now(UTC)


class DemoService:
    """`now` is the clock of sessions; the bank has its own, of business days."""

    def __init__(
        self,
        aspsp: DemoAspsp,
        application: DemoApplication,
        *,
        now: Callable[[], datetime] = read_now,
        page_size: int = PAGE_SIZE,
        consent_seconds: int = CONSENT_SECONDS,
    ) -> None:
        self.aspsp = aspsp
        self.application = application
        self._now = now
        self._page_size = page_size
        self._consent_seconds = consent_seconds
        self._authorisations: BoundedStore[Authorisation] = BoundedStore()
        self._codes: BoundedStore[Authorisation] = BoundedStore()
        self._sessions: BoundedStore[Session] = BoundedStore()
        self._accounts: BoundedStore[str] = BoundedStore()  # ids of sessions by ids of accounts

    # About the service

    def show_application(self) -> dict[str, Any]:
        return {
            "name": "Kontor am Demo-Dienst",
            "kid": self.application.id,
            "environment": "SANDBOX",
            "redirect_urls": list(self.application.redirect_urls),
            "active": self.application.is_active,
            "countries": [BANK["country"]],
            "services": ["AIS"],
        }

    def list_banks(self, query: Mapping[str, str]) -> dict[str, Any]:
        wanted = (query.get("country", "DE"), query.get("service", "AIS"), query.get("psu_type", "personal"))
        bank: dict[str, Any] = BANK | {
            "logo": "https://bank.example/logo.svg",
            "psu_types": ["personal"],
            "auth_methods": [{"psu_type": "personal", "approach": "REDIRECT", "hidden_method": False}],
            "maximum_consent_validity": self._consent_seconds,
            "beta": False,
            "bic": "KONTDEFFXXX",
            "required_psu_headers": ["Psu-Ip-Address"],
        }
        return {"aspsps": [bank] if wanted == ("DE", "AIS", "personal") else []}

    # Authorising

    def start(self, wanted: StartAuthorization, base: str) -> dict[str, Any]:
        if {"name": wanted.aspsp.name, "country": wanted.aspsp.country} != BANK:
            raise RefusedError("WRONG_ASPSP_PROVIDED")
        if wanted.redirect_url not in self.application.redirect_urls:
            raise RefusedError("REDIRECT_URI_NOT_ALLOWED", wanted.redirect_url)
        until, now = wanted.access.valid_until, self._now()
        if until.tzinfo is None or not now < until <= now + timedelta(seconds=self._consent_seconds):
            raise RefusedError("WRONG_REQUEST_PARAMETERS", "access.valid_until")
        if wanted.psu_type != "personal" or not wanted.state:
            raise RefusedError("WRONG_REQUEST_PARAMETERS", "psu_type or state")
        opened = Authorisation(str(uuid4()), wanted, now)
        self._authorisations.put(opened.id, opened)
        return {
            "url": f"{base}/authorise/{opened.id}",
            "authorization_id": opened.id,
            "psu_id_hash": uuid5(UUID(int=1), wanted.psu_id or opened.id).hex,
        }

    def find_open(self, authorisation_id: str) -> Authorisation | None:
        found = self._authorisations.find(authorisation_id)
        return None if found is None or found.is_decided else found

    def grant(self, authorisation: Authorisation, login: str) -> str:
        """The customer has logged in and agreed: the code that is worth a session."""
        authorisation.is_decided, authorisation.login, authorisation.code = True, login, token_urlsafe(16)
        authorisation.at = self._now()
        self._codes.put(authorisation.code, authorisation)
        return authorisation.code

    def open_session(self, asked: AuthorizeSession) -> dict[str, Any]:
        granted = self._codes.find(asked.code)
        if granted is None or granted.login is None:
            raise RefusedError("WRONG_AUTHORIZATION_CODE")
        if granted.is_used:
            raise RefusedError("ALREADY_AUTHORIZED")
        if self._now() > granted.at + timedelta(seconds=CODE_SECONDS):
            raise RefusedError("EXPIRED_AUTHORIZATION_CODE")
        granted.is_used = True
        session = Session(str(uuid4()), granted.login, granted.wanted, self._now())
        self._sessions.put(session.id, session)
        accounts = self._list_accounts(session)
        for account in accounts:
            if account.uid is not None:
                self._accounts.put(account.uid, session.id)
        return {
            "session_id": session.id,
            "accounts": [show_account(account) for account in accounts],
            "aspsp": BANK,
            "psu_type": session.wanted.psu_type,
            "access": self._show_access(session),
        }

    # Sessions

    def show_session(self, session_id: str) -> dict[str, Any]:
        session = self._read_session(session_id)
        accounts = [account for account in self._list_accounts(session) if account.uid is not None]
        return {
            "status": self._find_status(session),
            "accounts": [account.uid for account in accounts],
            "accounts_data": [
                {"uid": account.uid, "identification_hash": account.hash, "identification_hashes": [account.hash]}
                for account in accounts
            ],
            "aspsp": BANK,
            "psu_type": session.wanted.psu_type,
            "psu_id_hash": uuid5(UUID(int=1), session.wanted.psu_id or session.id).hex,
            "access": self._show_access(session),
            "created": session.created.isoformat(),
            "authorized": session.created.isoformat(),
        }

    def close(self, session_id: str) -> dict[str, Any]:
        session = self._read_session(session_id)
        self._refuse_over(session)
        session.status = "CLOSED"
        return {"message": "OK"}

    def revoke(self, session_id: str) -> None:
        """The customer has done so at the bank."""
        self._read_session(session_id).status = "REVOKED"

    def list_statuses(self) -> list[str]:
        """Of all sessions, oldest first."""
        return [self._find_status(session) for session in self._sessions.list_all()]

    def _read_session(self, session_id: str) -> Session:
        session = self._sessions.find(session_id)
        if session is None:
            raise RefusedError("SESSION_DOES_NOT_EXIST")
        return session

    def _find_status(self, session: Session) -> str:
        is_over = session.wanted.access.valid_until <= self._now()
        return "EXPIRED" if is_over and session.status == "AUTHORIZED" else session.status

    def _refuse_over(self, session: Session) -> None:
        status = self._find_status(session)
        if status != "AUTHORIZED":
            raise RefusedError(f"{status}_SESSION")

    def _show_access(self, session: Session) -> dict[str, Any]:
        access = session.wanted.access
        return {
            "valid_until": access.valid_until.isoformat(),
            "balances": access.balances,
            "transactions": access.transactions,
        }

    def _list_accounts(self, session: Session) -> list[ListedAccount]:
        """Accounts, then cards. Pockets in other currencies are accounts of their own with the same number."""
        listed = []
        for is_card in (False, True):
            for holding in self.aspsp.list_holdings(session.login, is_card=is_card):
                for currency in list_currencies(holding.product):
                    uid = str(uuid5(UUID(session.id), f"{holding.product.key} {currency}"))
                    listed.append(ListedAccount(uid if holding.is_readable else None, holding, currency))
        return listed

    # Accounts

    def show_details(self, uid: str, headers: Mapping[str, str]) -> dict[str, Any]:
        return show_account(self._find_account(uid, headers, "details"))

    def show_balances(self, uid: str, headers: Mapping[str, str]) -> dict[str, Any]:
        return {"balances": list_balances(self._find_account(uid, headers, "balances"))}

    def list_transactions(self, uid: str, headers: Mapping[str, str], query: Mapping[str, str]) -> dict[str, Any]:
        start, is_next = self._read_page(query), "continuation_key" in query
        account = self._find_account(uid, headers, "transactions", is_counted=not is_next)
        since, until = self._read_period(account, query)
        if not account.holding.has_rows:
            raise RefusedError("ASPSP_ERROR", "Die Umsätze sind zurzeit nicht lesbar.")
        rows = [row for row in account.list_rows() if _is_in(row, since, until)]
        if start > len(rows):
            raise RefusedError("WRONG_CONTINUATION_KEY")
        status = query.get("transaction_status")
        listed = [show_booking(row) for row in rows[start : start + self._page_size]]
        shown: dict[str, Any] = {"transactions": [row for row in listed if status in (None, row["status"])]}
        if start + self._page_size < len(rows):
            shown["continuation_key"] = f"page-{start + self._page_size}"
        return shown

    def _find_account(
        self, uid: str, headers: Mapping[str, str], part: str, *, is_counted: bool = True
    ) -> ListedAccount:
        session_id = self._accounts.find(uid)
        session = None if session_id is None else self._sessions.find(session_id)
        if session is None:
            raise RefusedError("ACCOUNT_DOES_NOT_EXIST")
        self._refuse_over(session)
        if not _is_attended(headers) and is_counted:
            use = (self.aspsp.today, f"{uid} {part}")
            if session.uses[use] >= UNATTENDED_PER_DAY:
                raise RefusedError("ASPSP_RATE_LIMIT_EXCEEDED")
            session.uses[use] += 1
        return next(account for account in self._list_accounts(session) if account.uid == uid)

    def _read_page(self, query: Mapping[str, str]) -> int:
        text = query.get("continuation_key", "page-0")
        if not text.startswith("page-") or not text[5:].isascii() or not text[5:].isdigit():
            raise RefusedError("WRONG_CONTINUATION_KEY")
        return int(text[5:9])

    def _read_period(self, account: ListedAccount, query: Mapping[str, str]) -> tuple[date, date]:
        """What the bank tells: everything after an authorisation, ninety days otherwise."""
        today = self.aspsp.today
        recent = today - timedelta(days=RECENT_DAYS)
        if query.get("strategy", "default") not in ("default", "longest"):
            raise RefusedError("WRONG_REQUEST_PARAMETERS", "strategy")
        if query.get("transaction_status", "BOOK") not in STATUSES:
            raise RefusedError("WRONG_REQUEST_PARAMETERS", "transaction_status")
        since, until = _read_day(query, "date_from"), _read_day(query, "date_to")
        if until is not None and since is None:
            raise RefusedError("DATE_TO_WITHOUT_DATE_FROM")
        if since is not None and since > today:
            raise RefusedError("DATE_FROM_IN_FUTURE")
        if since is not None and until is not None and until < since:
            raise RefusedError("WRONG_DATE_INTERVAL")
        session = self._sessions.find(self._accounts.find(account.uid or "") or "")
        is_fresh = session is not None and self._now() <= session.created + FRESH
        if query.get("strategy") == "longest":
            return max(since or date.min, date.min if is_fresh else recent), today
        if since is not None and since < recent and not is_fresh:
            raise RefusedError("WRONG_TRANSACTIONS_PERIOD")
        return since or recent, until or today


def _is_attended(headers: Mapping[str, str]) -> bool:
    address = headers.get("psu-ip-address")
    if address is None:
        return False
    try:
        return bool(ip_address(address))
    except ValueError:
        raise RefusedError("PSU_HEADER_INVALID", "Psu-Ip-Address") from None


def _read_day(query: Mapping[str, str], name: str) -> date | None:
    try:
        return date.fromisoformat(query[name]) if name in query else None
    except ValueError:
        raise RefusedError("WRONG_REQUEST_PARAMETERS", name) from None


def _is_in(row: Transaction, since: date, until: date) -> bool:
    day = find_day(row)
    return row.is_pending or (day is not None and since <= day <= until)
