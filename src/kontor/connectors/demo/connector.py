"""The demo bank as a connector: serves its people, and misbehaves where a login asks for it."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from kontor.connectors.base import (
    Answer,
    Cancel,
    Context,
    Credentials,
    Done,
    Failed,
    FailureKind,
    Fetch,
    Fetched,
    Headers,
    Job,
    LookUp,
    Pay,
    Problem,
    ProblemKind,
    Progress,
    State,
    Step,
    VerifyPayees,
)
from kontor.connectors.demo import authentication
from kontor.connectors.demo.account_statements import list_new
from kontor.connectors.demo.memory import Bank, find_owner
from kontor.connectors.demo.paying import Payments
from kontor.connectors.demo.people import Account, Person, person_for
from kontor.connectors.demo.scenarios import Scenario, find_scenario
from kontor.connectors.demo.standing_orders import execute_due, list_standing_orders
from kontor.connectors.demo.statements import list_rows, move_balance
from kontor.connectors.job_state import deserialize_job, serialize_job
from kontor.connectors.revocations import Revoke
from kontor.domain.account_statements import AccountStatement
from kontor.domain.positions import Position
from kontor.domain.products import Product
from kontor.domain.providers import Provider
from kontor.domain.standing_orders import StandingOrder
from kontor.domain.transactions import Transaction, find_day, mark_channel

MAX_WRONG_PINS = 3
SHORT_HISTORY_DAYS = 90
CONSENT_DAYS = 180
CHANNEL = "DEMO"


class DemoConnector:
    kind = "demo"

    def __init__(self, bank: Bank, slow_seconds: float) -> None:
        self._bank = bank
        self._slow_seconds = slow_seconds
        self._payments = Payments(bank, slow_seconds)

    def begin(
        self, provider: Provider, credentials: Credentials, job: Job, connector_state: State | None, context: Context
    ) -> Step:
        if isinstance(job, Revoke):
            return Failed(FailureKind.NOT_SUPPORTED, "the demo bank keeps no consents", was_called=False)
        try:
            return self._begin(credentials, job, connector_state, context)
        except ConnectionError:
            return Failed(FailureKind.UNREACHABLE)

    def resume(
        self, provider: Provider, credentials: Credentials, state: State, answer: Answer, context: Context
    ) -> Step:
        if isinstance(answer, Cancel):
            return Failed(FailureKind.CANCELLED)
        try:
            return self._resume(state, answer, context)
        except ConnectionError:
            return Failed(FailureKind.UNREACHABLE)

    # Steps

    def _begin(
        self,
        credentials: Credentials,
        job: Fetch | Pay | VerifyPayees | LookUp,
        connector_state: State | None,
        context: Context,
    ) -> Step:
        login = credentials["userid"].reveal()
        failure = self._check_login(login, credentials["pin"].reveal(), context)
        if failure is not None:
            return Failed(failure)
        match job:
            case Pay():
                return self._payments.begin(login, job, context)
            case VerifyPayees():
                return self._payments.verify(login, job, context)
            case LookUp():
                return self._payments.look_up(login, job, context)
        return self._begin_fetch(login, job, connector_state, context)

    def _begin_fetch(self, login: str, job: Fetch, connector_state: State | None, context: Context) -> Step:
        consent_until = None if connector_state is None else date.fromisoformat(connector_state["consent_until"])
        has_consent = consent_until is not None and consent_until >= context.today and not job.is_renewal
        if not has_consent:
            consent_until = context.today + timedelta(days=CONSENT_DAYS)
        state: State = {"login": login, "job": serialize_job(job), "consent_until": str(consent_until)}
        scenario = find_scenario(login)
        if scenario.demands_sca and not has_consent:
            return authentication.begin(state, scenario)
        return self._show_headers(state, context)

    def _resume(self, state: State, answer: Answer, context: Context) -> Step:
        if state["job"].get("kind") == "pay":
            return self._payments.resume(state, answer, context)
        if state.get("stage") == "headers":
            return self._fetch(state, context)
        step = authentication.resume(state, find_scenario(state["login"]), answer, self._bank, context)
        return self._show_headers(state, context) if step is None else step

    def _check_login(self, login: str, pin: str, context: Context) -> FailureKind | None:
        scenario = find_scenario(login)
        if scenario.failure is not None:
            return scenario.failure
        if scenario.is_slow and not context.wait(self._slow_seconds):
            return FailureKind.UNREACHABLE
        # The lock is the customer's own: somebody else who tries the same demo login is not locked out.
        key = f"{context.customer} {login}"
        if self._bank.read_wrong_pins(key) >= MAX_WRONG_PINS:
            return FailureKind.LOCKED
        if pin not in ("demo", login.partition("+")[0]) or person_for(login, context.today) is None:
            wrong_pins = self._bank.count_wrong_pin(key)
            return FailureKind.LOCKED if wrong_pins >= MAX_WRONG_PINS else FailureKind.WRONG_CREDENTIALS
        self._bank.forget_wrong_pins(key)
        return None

    def _show_headers(self, state: State, context: Context) -> Step:
        person = _find_person(state["login"], context.today)
        scenario = find_scenario(state["login"])
        owner = find_owner(state["login"], context)
        self._bank.register_accounts(owner, [account.product for account in person.accounts])
        execute_due(self._bank, owner, person, context.today)
        bookings = self._bank.list_bookings(owner, context.today)
        products = _list_products(person, scenario)
        moved = tuple(move_balance(product, bookings.get(product.key, ())) for product in products)
        return Progress(
            Headers(moved, scenario.methods, scenario.media, scenario.methods[0]),
            {"login": state["login"], "job": state["job"], "consent_until": state["consent_until"], "stage": "headers"},
        )

    def _fetch(self, state: State, context: Context) -> Step:
        person = _find_person(state["login"], context.today)
        scenario = find_scenario(state["login"])
        job = deserialize_job(state["job"])
        assert isinstance(job, Fetch)
        owner = find_owner(state["login"], context)
        bookings = self._bank.list_bookings(owner, context.today)
        listed = list_standing_orders(self._bank, owner, context.today)
        transactions: dict[str, tuple[Transaction, ...]] = {}
        positions: dict[str, tuple[Position, ...]] = {}
        standing: dict[str, tuple[StandingOrder, ...]] = {}
        statements: dict[str, tuple[AccountStatement, ...]] = {}
        problems = [Problem(kind) for kind in scenario.problems if kind is ProblemKind.BANK_MESSAGE]
        for number, account in enumerate(person.accounts):
            key = account.product.key
            if job.selected is not None and key not in job.selected:
                continue
            failing = _failing_part(scenario, account, number)
            if failing is not None:
                problems.append(Problem(failing, key))
            if account.product.category.is_depot:
                if failing is None:
                    positions[key] = account.positions
            elif failing is not ProblemKind.TRANSACTIONS and failing is not ProblemKind.PRODUCT:
                listed_rows = list_rows(account, bookings.get(key, ()))
                rows = _select_rows(listed_rows, account, job, context.today)
                transactions[key] = _break_rows(rows) if scenario.broken_rows else rows
                if job.statements is not None and not account.product.category.is_card:
                    known = job.statements.get(key, ())
                    statements[key] = list_new(account.product, listed_rows, context.today, known)
            if account.product.standing_order_actions and failing is None:
                standing[key] = listed.get(key, ())
        connector_state = {"consent_until": state["consent_until"]}
        consent_until = date.fromisoformat(state["consent_until"])
        fetched = Fetched(
            transactions, positions, tuple(problems), consent_until, standing_orders=standing, statements=statements
        )
        return Done(fetched, connector_state)


def _find_person(login: str, today: date) -> Person:
    person = person_for(login, today)
    assert person is not None, "the login was checked when the dialogue began"
    return person


def _list_products(person: Person, scenario: Scenario) -> tuple[Product, ...]:
    """A product that cannot be read is missing from the list; the bank says so in a problem."""
    products = [account.product for account in person.accounts]
    if ProblemKind.PRODUCT in scenario.problems:
        del products[-1]
    return tuple(products)


def _failing_part(scenario: Scenario, account: Account, number: int) -> ProblemKind | None:
    """Which part of this account fails: transactions or product of every account but the first, a depot's positions."""
    if ProblemKind.POSITIONS in scenario.problems and account.product.category.is_depot:
        return ProblemKind.POSITIONS
    if number == 0:
        return None
    for kind in (ProblemKind.TRANSACTIONS, ProblemKind.PRODUCT):
        if kind in scenario.problems and not account.product.category.is_depot:
            return kind
    return None


def _select_rows(rows: list[Transaction], account: Account, job: Fetch, today: date) -> tuple[Transaction, ...]:
    since = job.since.get(account.product.key)
    if since is None and job.history.is_short_for(account.product.category):
        since = today - timedelta(days=SHORT_HISTORY_DAYS)
    wanted = (row for row in rows if since is None or row.is_pending or (find_day(row) or today) >= since)
    return mark_channel(wanted, CHANNEL)


def _break_rows(rows: tuple[Transaction, ...]) -> tuple[Transaction, ...]:
    """What a bad bank sends: no number as amount, control characters in texts, a row without any date."""
    broken = list(rows)
    if len(broken) >= 3:
        broken[0] = replace(broken[0], amount=Decimal("NaN"))
        broken[1] = replace(broken[1], purpose=f"\x00kaputt\ud800 {broken[1].purpose}")
        broken[2] = replace(broken[2], booked_at=None, value_at=None)
    return tuple(broken)
