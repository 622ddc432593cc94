"""Paying: the order leaves with the payee's verification, the customer approves it, the bank says what became of it.

An order leaves twice: when it is submitted (a bank may execute it without a TAN) and when its TAN is sent. Before
either the caller writes down that it does (`may_send`); a challenge in between is the bank's word that nothing is
executed yet.
"""

import base64
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from fints.segments.base import FinTS3Segment

from kontor.connectors.base import (
    AcceptPayees,
    Answer,
    Done,
    Failed,
    FailureKind,
    LookedUp,
    NeedPayeeDecision,
    Paid,
    Pay,
    Step,
)
from kontor.connectors.fints.accounts import Account, find_account
from kontor.connectors.fints.codes import CONFIRMATION_WANTED, PAYEE_WANTED, TAN_WANTED
from kontor.connectors.fints.dialogues import Dialogue
from kontor.connectors.fints.histories import History, Question, read_transactions
from kontor.connectors.fints.payments import (
    Verdict,
    is_contradictory,
    make_order,
    make_payee_approval,
    make_payee_check,
    read_outcome,
    read_verdict,
)
from kontor.connectors.fints.sessions import RefusedError, Reply
from kontor.connectors.fints.transport import NoResponseError
from kontor.connectors.pain001 import Batch, name_order
from kontor.domain.payments import PayeeMatch, PaymentOutcome
from kontor.domain.transactions import Transaction

MOST_POLLS = 20
LONGEST_WAIT_SECONDS = 5
LOOK_BACK_DAYS = 10


class PayDialogue(Dialogue):
    _is_admitted = False

    def proceed(self) -> Step:
        account = find_account(self.session, self._pay.product_key)
        if account is None:
            raise RefusedError(FailureKind.NOT_SUPPORTED, "Die Bank kennt das Konto nicht.")
        self.state |= {"account": account.serialize(), "created_at": datetime.now(UTC).isoformat()}
        return self._submit(account, None)

    def go_on(self, stage: str, answer: Answer) -> Step:
        if stage == "payees" and isinstance(answer, AcceptPayees):
            return self._submit(Account.deserialize(self.state["account"]), base64.b64decode(self.state["verdict"]))
        return super().go_on(stage, answer)

    def confirm(self, stage: str, reply: Reply) -> Step:
        self.session.end()
        return Done(Paid(read_outcome(reply)), self.remember())

    def may_confirm(self, stage: str) -> bool:
        if stage == "login":
            return True
        self.has_left = self._may_send()
        return self.has_left

    def add_to_confirmation(self, stage: str) -> tuple[object, ...]:
        """A full match is approved together with the TAN, or with the first question whether it was confirmed."""
        if stage == "login" or not self.state.pop("is_match", False):
            return ()
        return (make_payee_approval(base64.b64decode(self.state["verdict"])),)

    def check_confirmation(self, stage: str, reply: Reply, confirmation: FinTS3Segment) -> None:
        if stage != "login":
            _refuse_contradiction(reply, confirmation)
        reply.refuse()

    # Parts

    @property
    def _pay(self) -> Pay:
        assert isinstance(self.job, Pay)
        return self.job

    def _make_order(self, account: Account) -> FinTS3Segment:
        created_at = datetime.fromisoformat(self.state["created_at"])
        return make_order(self.session, account, self._pay, self.context.today, created_at)

    def _submit(self, account: Account, approved: bytes | None) -> Step:
        session, pay = self.session, self._pay
        order = self._make_order(account)
        check = None if approved is not None else make_payee_check(session, order)
        first = [check] if check is not None else []
        if approved is not None:
            first, self.state["is_match"] = [make_payee_approval(approved)], False  # approved here, and not again
        last = [] if session.method is None else [session.make_tan_segment("4", order.header.type)]
        if not self._may_send():
            return Failed(FailureKind.INTERNAL)
        self.has_left = True
        reply = session.send(*first, order, *last)
        if check is not None:
            self._read_verdict(reply)
            step = self._ask_about_payees(reply, pay)
            if step is not None:
                self.has_left = False
                return step
        if reply.has(TAN_WANTED, CONFIRMATION_WANTED):
            self.has_left = False
            return self.ask_customer("order", reply)
        _refuse_contradiction(reply, order)
        reply.refuse()
        return self.confirm("order", reply)

    def _may_send(self) -> bool:
        """Asked once in a step: what leaves after that in the same step is the same order, still held by the bank."""
        self._is_admitted = self._is_admitted or self.context.may_send()
        return self._is_admitted

    def _read_verdict(self, reply: Reply) -> None:
        verdict = read_verdict(reply, len(self._pay.orders))
        polls = 0
        while verdict is not None and verdict.polling_id is not None:
            self.has_left = False  # while the payees are being verified, the bank holds the order
            if polls == MOST_POLLS:
                raise NoResponseError("the payees are not verified in time")
            time.sleep(min(verdict.wait_seconds, LONGEST_WAIT_SECONDS))
            order = self._make_order(Account.deserialize(self.state["account"]))
            again = make_payee_check(self.session, order, verdict.polling_id)
            assert again is not None
            verdict = read_verdict(self.session.send(again).refuse(), len(self._pay.orders))
            polls += 1
        self._verdict: Verdict | None = verdict

    def _ask_about_payees(self, reply: Reply, pay: Pay) -> Step | None:
        verdict = self._verdict
        if verdict is None:
            reply.refuse()
            return None
        self.state["verdict"] = base64.b64encode(verdict.id).decode()
        is_match = all(one.match is PayeeMatch.MATCH for one in verdict.results)
        self.state["is_match"] = is_match
        if is_match and not reply.has(*PAYEE_WANTED):
            return None
        if pay.is_payee_accepted or is_match:
            return self._submit(Account.deserialize(self.state["account"]), verdict.id)
        return NeedPayeeDecision(verdict.results, self.put_aside("payees"), is_held=True)


class LookUpDialogue(Dialogue):
    """FinTS has no question about an order that all banks answer; what was executed stands in the statement."""

    def log_in(self) -> Step:
        """Nobody is there who could answer a bank that asks."""
        step = super().log_in()
        self.session.end()
        return step if isinstance(step, Done) else Done(LookedUp(PaymentOutcome.UNKNOWN))

    def proceed(self) -> Step:
        assert isinstance(self.job, Pay)
        account = find_account(self.session, self.job.product_key)
        return Done(LookedUp(PaymentOutcome.UNKNOWN)) if account is None else self._search(account, self.job)

    def _search(self, account: Account, pay: Pay) -> Step:
        history = History(self.session, account, self.context.today - timedelta(days=LOOK_BACK_DAYS))
        raw = history.ask() if history.is_offered else None
        if raw is None or isinstance(raw, Question):
            return Done(LookedUp(PaymentOutcome.UNKNOWN))
        rows = read_transactions(account.key, raw).rows
        wanted = _list_wanted(pay, self.context.today)
        found = [one for one in rows or () if any(_is_of(one, *each) for each in wanted)]
        if any(not one.is_pending for one in found):
            return Done(LookedUp(PaymentOutcome.EXECUTED))
        return Done(LookedUp(PaymentOutcome.ACCEPTED if found else PaymentOutcome.UNKNOWN))


def _list_wanted(pay: Pay, day: date) -> list[tuple[str, Decimal]]:
    """End-to-end ids with their amounts: of each order, and of a bulk that is booked as one sum."""
    batch = Batch(pay.payment_id.hex, pay.orders, day)
    single = [(name_order(batch, number), one.amount) for number, one in enumerate(pay.orders)]
    return [*single, (batch.id, sum((one.amount for one in pay.orders), Decimal(0)))]


def _is_of(row: Transaction, name: str, amount: Decimal) -> bool:
    """Banks break the lines of a purpose anywhere."""
    wanted = f"EREF+{name}".replace(" ", "")
    return row.amount == -amount and wanted in (row.purpose or "").replace(" ", "")


def _refuse_contradiction(reply: Reply, segment: FinTS3Segment) -> None:
    if is_contradictory(reply, segment):
        raise NoResponseError("the bank contradicts itself")
