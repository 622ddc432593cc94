"""Fetching: accounts and balances first, then bookings and holdings of each."""

from dataclasses import replace
from datetime import date, timedelta

from kontor.connectors.base import (
    Answer,
    Continue,
    Done,
    FailureKind,
    Fetch,
    Fetched,
    Headers,
    Problem,
    ProblemKind,
    Progress,
    Step,
)
from kontor.connectors.fints.account_statements import StatementFiles
from kontor.connectors.fints.accounts import Account, add_balance, list_accounts, make_product
from kontor.connectors.fints.cards import add_card_balance, read_card_pages
from kontor.connectors.fints.challenges import list_media
from kontor.connectors.fints.dialogues import Dialogue
from kontor.connectors.fints.direct_debits import list_debit_forms
from kontor.connectors.fints.histories import (
    CARD,
    History,
    Question,
    Raw,
    add_depot_balance,
    find_card_days,
    read_positions,
    read_transactions,
)
from kontor.connectors.fints.sessions import MALFORMED, RefusedError, Reply
from kontor.connectors.fints.standing_orders import list_actions, list_standing
from kontor.connectors.fints.transport import NoResponseError
from kontor.domain.accesses import History as Depth
from kontor.domain.account_statements import AccountStatement
from kontor.domain.balances import BalanceSpan
from kontor.domain.positions import Position
from kontor.domain.products import Product
from kontor.domain.standing_orders import StandingOrder
from kontor.domain.transactions import Transaction

# Older bookings need a TAN, which nobody can type in while no customer is there.
FREE_DAYS = 89
# A card's balance comes with its bookings only: the time contains at least one monthly settlement.
CARD_DAYS = 60


class FetchDialogue(Dialogue):
    def proceed(self) -> Step:
        """Logged in: which accounts are there? A present customer is also asked what old bookings need, now."""
        job = self._job
        accounts = [
            account for account in list_accounts(self.session) if job.selected is None or account.key in job.selected
        ]
        self.state |= {"accounts": [account.serialize() for account in accounts], "raw": {}, "problems": []}
        return self._ask_for_old_bookings() if self._wants_old_bookings else self._show_headers()

    def go_on(self, stage: str, answer: Answer) -> Step:
        if stage == "headers" and isinstance(answer, Continue):
            return self._fetch_rest()
        return super().go_on(stage, answer)

    def confirm(self, stage: str, reply: Reply) -> Step:
        key = self.state["asked"]
        account = next(account for account in self._accounts if account.key == key)
        result = self._make_history(account).go_on(reply)
        if isinstance(result, Question):
            return self.ask_customer("history", result.reply)
        self.state |= {"raw": {**self.state["raw"], key: result.serialize()}, "has_answered": True}
        return self._show_headers()

    # Parts

    @property
    def _job(self) -> Fetch:
        assert isinstance(self.job, Fetch)
        return self.job

    @property
    def _wants_old_bookings(self) -> bool:
        """While a customer is there who has to authenticate anyway, or is new; not at every later look.

        Not after the customer's phone has rung: a bank that wants a TAN for each order would make it ring again. At
        such a bank they come with a renewal whose login needs no TAN.
        """
        if not self._may_fetch_history or self._has_rung:
            return False
        is_owed = self._job.is_renewal and self.state.get("asks_again", False)
        return is_owed or self.state.get("is_authenticated", False) or self.state.get("consent_until") is None

    @property
    def _may_fetch_history(self) -> bool:
        return self.context.customer_ip is not None and self._job.history is not Depth.RECENT

    def _is_short(self, account: Account) -> bool:
        return self._job.history.is_short_for(account.category)

    @property
    def _has_rung(self) -> bool:
        """Has the customer authenticated in this fetch by a method that reaches the phone?"""
        method = self.session.method
        return self._has_answered and method is not None and not method.is_silent

    @property
    def _has_answered(self) -> bool:
        """At the login, or for old bookings."""
        return bool(self.state.get("is_authenticated") or self.state.get("has_answered"))

    @property
    def _accounts(self) -> list[Account]:
        return [Account.deserialize(values) for values in self.state["accounts"]]

    def _find_start(self, account: Account) -> date | None:
        """The first day to ask for; None is as far back as the bank goes."""
        since = self._job.since.get(account.key)
        if since is not None and since > self._first_free_day:
            return since
        if not self._wants_old_bookings or self._is_short(account) or self.state.get("is_old_refused"):
            return self._first_free_day
        return self._find_oldest_day(account)

    def _find_oldest_day(self, account: Account) -> date | None:
        since = self._job.since.get(account.key)
        if since is not None:
            return since
        days = self.session.bank.quirks.history_days
        return None if days is None else self.context.today - timedelta(days=days)

    @property
    def _first_free_day(self) -> date:
        return self.context.today - timedelta(days=FREE_DAYS)

    def _make_history(self, account: Account) -> History:
        return self._open_history(account, self._find_start(account))

    def _open_history(self, account: Account, start: date | None, *, may_challenge: bool = True) -> History:
        if account.is_read_as_card and start is not None:
            today, known = self.context.today, find_card_days(self.session)
            start = min(start, today - timedelta(days=CARD_DAYS))
            start = start if known is None else max(start, today - timedelta(days=known))
        return History(self.session, account, start, may_challenge=may_challenge)

    def _ask_for_old_bookings(self) -> Step:
        """Of the first account that has any: with its TAN many banks open all the others."""
        for account in self._accounts:
            history = self._make_history(account)
            if account.is_depot or self._is_short(account) or history.form == CARD or not history.is_offered:
                continue
            try:
                result = self._ask(account)
            except RefusedError as error:
                if error.kind is not FailureKind.REJECTED:
                    return self.change_method(error)
                break
            self.state["asked"] = account.key
            if isinstance(result, Question):
                return self.ask_customer("history", result.reply)
            self.state["raw"] = {account.key: result.serialize()}
            break
        return self._show_headers()

    def _show_headers(self) -> Step:
        parameters = self.session.parameters
        can_pay = parameters.offers("HKCCS") and self.session.method is not None
        can_pay_in_bulk = parameters.offers("HKCCM") and self.session.method is not None
        products, problems = [], []
        for account in self._accounts:
            product = make_product(
                account, institution=parameters.bank_name, can_pay=can_pay, can_pay_in_bulk=can_pay_in_bulk
            )
            product = replace(
                product,
                standing_order_actions=list_actions(self.session, account),
                debit_forms=list_debit_forms(self.session, account),
            )
            result = self._complete(account, product)
            if isinstance(result, Question):
                return self._ask_late(account, result)
            if isinstance(result, Problem):
                problems.append([account.key, result.detail])
                result = product
            products.append(result)
        self.state["problems"] = problems
        methods = tuple(method.shown for method in parameters.list_methods())
        active = next((method for method in methods if method.code == self.state["method"]), None)
        has_media = any(method.needs_medium for method in parameters.list_methods())
        media = list_media(self.session) if has_media else ()
        headers = Headers(tuple(products), methods, media, active, parameters.capabilities)
        return Progress(headers, self.put_aside("headers"))

    def _complete(self, account: Account, product: Product) -> Product | Problem | Question:
        """The product with its balance. Those of cards and depots come with bookings and positions, which are kept."""
        if self._make_history(account).form != CARD and not account.is_depot:
            return add_balance(self.session, account, product, self.context.today)
        try:
            raw = self._find_raw(account)
        except RefusedError as error:
            if error.is_about_pin:
                raise
            # Of a depot the positions are missing, which is told when they are asked for.
            return product if account.is_depot else Problem(ProblemKind.PRODUCT, account.key, error.detail)
        if not isinstance(raw, Raw):
            return product if raw is None else raw
        self.state["raw"] = {**self.state["raw"], account.key: raw.serialize()}
        if account.is_depot:
            return add_depot_balance(product, raw)
        return add_card_balance(product, read_card_pages(raw.booked))

    def _fetch_rest(self) -> Step:
        transactions: dict[str, tuple[Transaction, ...]] = {}
        positions: dict[str, tuple[Position, ...]] = {}
        spans: dict[str, tuple[BalanceSpan, ...]] = {}
        problems = [Problem(ProblemKind.PRODUCT, key, detail) for key, detail in self.state["problems"]]
        for account in self._accounts:
            try:
                raw = self._find_raw(account)
            except RefusedError as error:
                if error.is_about_pin:
                    raise
                kind = ProblemKind.POSITIONS if account.is_depot else ProblemKind.TRANSACTIONS
                problems.append(Problem(kind, account.key, error.detail))
                continue
            if isinstance(raw, Question):
                return self._ask_late(account, raw)
            if raw is None:
                continue
            if account.is_depot:
                held, more = read_positions(account.key, raw)
                if held is not None:
                    positions[account.key] = held
            else:
                bookings = read_transactions(account.key, raw)
                more = list(bookings.problems)
                if bookings.rows is not None:
                    transactions[account.key] = bookings.rows
                    spans[account.key] = bookings.spans
            problems += more
        standing = self._list_standing_orders()
        self._add_old_bookings(transactions, spans, problems)
        statements = self._list_statements()
        self.session.end()
        until = self.state.get("consent_until")
        consent_until = None if until is None else date.fromisoformat(until)
        if consent_until is not None and consent_until < self.context.today:
            consent_until = None  # the bank has let us in, so it was wrong
        fetched = Fetched(transactions, positions, tuple(problems), consent_until, spans, standing, statements)
        return Done(fetched, self.remember())

    def _add_old_bookings(
        self,
        transactions: dict[str, tuple[Transaction, ...]],
        spans: dict[str, tuple[BalanceSpan, ...]],
        problems: list[Problem],
    ) -> None:
        """After the customer's phone has rung: what the bank gives for that TAN, asked so that it cannot ring again.

        It comes last, because a bank that wants another TAN may end the dialogue. Then the young bookings count.
        """
        if not self._may_fetch_history or not self._has_rung or self.state.get("asks_again"):
            return
        for account in self._accounts:
            start = self._find_oldest_day(account)
            is_complete = account.key == self.state.get("asked") or account.key not in transactions
            if is_complete or self._is_short(account) or (start is not None and start >= self._first_free_day):
                continue
            try:
                raw: Raw | Question | None = self._open_history(account, start, may_challenge=False).ask()
            except RefusedError as error:
                if error.is_about_pin:
                    raise
                raw = None
            except (NoResponseError, *MALFORMED):
                break
            if not isinstance(raw, Raw):
                self.state["asks_again"] = True
                break
            bookings = read_transactions(account.key, raw)
            if bookings.rows is not None:
                transactions[account.key], spans[account.key] = bookings.rows, bookings.spans
                told_before = (ProblemKind.TRANSACTIONS, account.key)
                problems[:] = [problem for problem in problems if (problem.kind, problem.product_key) != told_before]
                problems += bookings.problems

    def _list_standing_orders(self) -> dict[str, tuple[StandingOrder, ...]]:
        """Of every account of which the bank has a list that can be read; what is stored of the others stays.

        They come last: a bank that fails here has told everything else, which counts.
        """
        found = {}
        for account in self._accounts:
            try:
                listed = list_standing(self.session, account)
            except RefusedError as error:
                if error.is_about_pin:
                    raise
                continue
            except (NoResponseError, *MALFORMED):
                break
            if listed is not None and listed.is_complete:
                found[account.key] = listed.orders
        return found

    def _list_statements(self) -> dict[str, tuple[AccountStatement, ...]]:
        """After everything else: a bank that wants a TAN for them may end the dialogue."""
        if self._job.statements is None:
            return {}
        files = StatementFiles(self.session, self.context, is_authenticated=self._has_answered)
        found = {}
        for account in self._accounts:
            listed = files.list_new(account, self._job.statements.get(account.key, ()))
            if listed is not None:
                found[account.key] = listed
        return found

    def _find_raw(self, account: Account) -> Raw | Question | None:
        known = self.state["raw"].get(account.key)
        if known is not None:
            return Raw.deserialize(known)
        if not self._make_history(account).is_offered:
            return None
        result = self._ask(account)
        if isinstance(result, Question) and self._has_answered:
            # The bank wants a TAN for each account. One is enough: of the others only young bookings are fetched.
            self.state["asks_again"] = True
            result = History(self.session, account, self._first_free_day).ask()
        return result

    def _ask(self, account: Account) -> Raw | Question:
        """What the bank has. Where it refuses bookings of long ago, those of which it tells anybody."""
        try:
            return self._make_history(account).ask()
        except RefusedError as error:
            start = self._find_start(account)
            is_old = start is None or start < self._first_free_day
            if error.kind is not FailureKind.REJECTED or account.is_depot or not is_old or not self.session.is_open:
                raise
        self.state["is_old_refused"] = True
        return self._make_history(account).ask()

    def _ask_late(self, account: Account, question: Question) -> Step:
        """The bank asks although only young bookings were wanted: whoever drives the dialogue has to know."""
        self.state["asked"] = account.key
        return self.ask_customer("history", question.reply)
