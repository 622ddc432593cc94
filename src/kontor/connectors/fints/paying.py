"""Paying: the order leaves with the payee's verification, the customer approves it, the bank says what became of it.

An order leaves twice: when it is submitted (a bank may execute it without a TAN) and when its TAN is sent. Before
either the caller writes down that it does (`may_send`); a challenge in between is the bank's word that nothing is
executed yet.
"""

import base64
import re
from collections.abc import Sequence
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
from kontor.connectors.fints.challenges import is_challenge, list_media
from kontor.connectors.fints.codes import (
    APPROVAL_WAIVED,
    CONFIRMATION_OPEN,
    METHOD_REFUSED,
    ORDER_HELD,
    PAYEE_WANTED,
)
from kontor.connectors.fints.dated_transfers import has_dated, list_dated
from kontor.connectors.fints.dialogues import Dialogue
from kontor.connectors.fints.direct_debits import has_debit, list_debits, make_debit_order
from kontor.connectors.fints.histories import History, Question, read_transactions
from kontor.connectors.fints.payments import (
    Verdict,
    is_contradictory,
    is_dated,
    is_taken,
    make_order,
    make_payee_approval,
    make_payee_check,
    read_outcome,
    read_verdict,
)
from kontor.connectors.fints.sessions import RefusedError, Reply
from kontor.connectors.fints.standing_orders import (
    find_standing_outcome,
    list_standing,
    make_standing_order,
    read_key,
)
from kontor.connectors.fints.transport import NoResponseError
from kontor.connectors.pain001 import Batch, name_order
from kontor.domain.payments import PayeeMatch, PayeeResult, PaymentOutcome
from kontor.domain.transactions import Transaction

MAX_POLLS = 20
MAX_WAIT_SECONDS = 5
LOOK_BACK_DAYS = 10


class PayDialogue(Dialogue):
    _is_admitted = False
    _judged: tuple[FinTS3Segment, ...] = ()  # of the last message: what the bank's words about them say of the order

    def proceed(self) -> Step:
        question = self._check_medium()
        if question is not None:
            return question
        account = find_account(self.session, self._pay.product_key)
        if account is None:
            raise RefusedError(FailureKind.NOT_SUPPORTED, "Die Bank kennt das Konto nicht.")
        day, now = self.context.today.isoformat(), datetime.now(UTC).isoformat()
        self.state |= {"account": account.serialize(), "created_at": now, "day": day}
        return self._submit(account, None)

    def go_on(self, stage: str, answer: Answer) -> Step:
        if stage == "payees" and isinstance(answer, AcceptPayees):
            return self._submit(Account.deserialize(self.state["account"]), base64.b64decode(self.state["verdict"]))
        return super().go_on(stage, answer)

    def confirm(self, stage: str, reply: Reply) -> Step:
        self.session.end()
        # Who has authenticated to be let in has renewed the consent, also on the way to a payment.
        day = self.state["consent_until"] if self.state.get("is_authenticated") else None
        consent_until = None if day is None else date.fromisoformat(day)
        outcome = read_outcome(reply, *self._judged)
        if is_dated(self._pay, self._day):
            outcome = PaymentOutcome.ACCEPTED  # what the bank calls executed is that it has noted the order
        key = None if self._pay.standing is None else read_key(reply)
        is_matched = self.state.get("is_payee_matched", False)
        payees = tuple(PayeeResult(PayeeMatch.MATCH) for _ in self._pay.orders) if is_matched else ()
        paid = Paid(outcome, consent_until=consent_until, standing_key=key, payees=payees)
        return Done(paid, self.remember())

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
        self._judged = (confirmation,)
        if stage != "login":
            _refuse_contradiction(reply, confirmation)
        reply.refuse()
        if stage != "login" and not reply.has(*CONFIRMATION_OPEN):
            _refuse_silence(reply, confirmation)

    # Parts

    @property
    def _pay(self) -> Pay:
        assert isinstance(self.job, Pay)
        return self.job

    @property
    def _day(self) -> date:
        """When the order was made."""
        return date.fromisoformat(self.state["day"]) if "day" in self.state else self.context.today

    def _check_medium(self) -> Step | None:
        """Is the stored device still one of the customer's? Asked before the order leaves, which is not sent twice."""
        method, medium = self.session.method, self.session.medium
        if method is None or not method.needs_medium or self.state.get("is_medium_chosen"):
            return None
        media = list_media(self.session)
        if not media or medium in [listed.name for listed in media]:
            return None
        if len(media) > 1:
            self.session.end()
            return self.ask_medium(media)
        self.session.medium = self.state["medium"] = media[0].name
        return None

    def _make_order(self, account: Account) -> FinTS3Segment:
        created_at = datetime.fromisoformat(self.state["created_at"])
        make = make_order
        if self._pay.standing is not None:
            make = make_standing_order
        elif self._pay.debit is not None:
            make = make_debit_order
        return make(self.session, account, self._pay, self._day, created_at)

    def _submit(self, account: Account, approved: bytes | None) -> Step:
        session = self.session
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
        if reply.has(*METHOD_REFUSED):
            return self._send_by_other_method(reply, order, *last)
        if check is not None:
            reply, verdict, was_polled = self._await_verdict(reply)
            step = self._ask_about_payees(reply, verdict, was_polled=was_polled)
            if step is not None:
                self.has_left = False
                return step
        if is_challenge(reply):
            self.has_left = False
            return self.ask_customer("order", reply)
        _refuse_contradiction(reply, order)
        reply.refuse()
        self._judged = (order, *last)
        _refuse_silence(reply, *self._judged)
        return self.confirm("order", reply)

    def _send_by_other_method(self, reply: Reply, *segments: FinTS3Segment) -> Step:
        """The bank has withdrawn the method, and refused the order with it: from the login on, by another one."""
        if is_challenge(reply):
            raise NoResponseError("the bank contradicts itself")
        for segment in segments:
            _refuse_contradiction(reply, segment)
        self.has_left, self._was_refused = False, True
        try:
            reply.refuse()
        except RefusedError as error:
            return self.change_method(error)
        raise NoResponseError("the bank contradicts itself")

    def _may_send(self) -> bool:
        """Asked once in a step: what leaves after that in the same step is the same order, still held by the bank."""
        self._is_admitted = self._is_admitted or self.context.may_send()
        return self._is_admitted

    def _await_verdict(self, reply: Reply) -> tuple[Reply, Verdict | None, bool]:
        """The bank's verdict on the payees, the message that it came with, and whether it had to be asked for again.

        What counts is the bank's last word.
        """
        verdict = read_verdict(reply, len(self._pay.orders))
        polls = 0
        while verdict is not None and verdict.is_pending:
            if reply.has(ORDER_HELD):
                self.has_left = False
            if polls == MAX_POLLS or not self.context.wait(min(verdict.wait_seconds, MAX_WAIT_SECONDS)):
                raise NoResponseError("the payees are not verified in time")
            order = self._make_order(Account.deserialize(self.state["account"]))
            again = make_payee_check(self.session, order, verdict)
            assert again is not None
            reply = self.session.send(again).refuse()
            verdict = read_verdict(reply, len(self._pay.orders))
            polls += 1
        if polls and verdict is None:
            raise NoResponseError("the bank has not said whether the payees match")
        return reply, verdict, polls > 0

    def _ask_about_payees(self, reply: Reply, verdict: Verdict | None, *, was_polled: bool) -> Step | None:
        """None where the order goes on by itself. One that was held for the check is sent again with its approval."""
        if verdict is None:
            reply.refuse()
            return None
        self.state |= {"verdict": base64.b64encode(verdict.id).decode(), "is_match": verdict.is_match}
        self.state["is_payee_matched"] = verdict.is_match
        is_asking = is_challenge(reply)
        if reply.has(APPROVAL_WAIVED):
            # The order is on its way, unless the customer has to release it.
            self.has_left, self.state["is_match"] = not is_asking, False
            if not verdict.is_match:
                raise NoResponseError("the bank contradicts itself")
            return None
        is_held = reply.has(*PAYEE_WANTED) or (was_polled and not is_asking)
        if verdict.is_match and not is_held:
            return None
        reply.refuse()
        if self._pay.is_payee_accepted or verdict.is_match:
            return self._submit(Account.deserialize(self.state["account"]), verdict.id)
        return NeedPayeeDecision(verdict.results, self.put_aside("payees"), is_held=True)


class LookUpDialogue(Dialogue):
    """FinTS has no question about an order that all banks answer; what was executed stands in the statement."""

    def log_in(self) -> Step:
        """Nobody is there who could answer a bank that asks: the question is the answer, and the dialogue is over."""
        step = super().log_in()
        self.session.end()
        return step

    def proceed(self) -> Step:
        assert isinstance(self.job, Pay)
        account = find_account(self.session, self.job.product_key)
        if account is None:
            return Done(LookedUp(PaymentOutcome.UNKNOWN))
        return self._search(account, self.job) if self.job.standing is None else self._search_list(account, self.job)

    def _search_list(self, account: Account, pay: Pay) -> Step:
        """A standing order moves no money yet: only the bank's list tells about it."""
        listed = list_standing(self.session, account)
        if listed is None:
            return Done(LookedUp(PaymentOutcome.UNKNOWN))
        outcome, key = find_standing_outcome(listed, pay)
        return Done(LookedUp(outcome, standing_key=key))

    def _search(self, account: Account, pay: Pay) -> Step:
        history = History(self.session, account, self.context.today - timedelta(days=LOOK_BACK_DAYS))
        raw = history.ask() if history.is_offered else None
        if isinstance(raw, Question):
            return self.ask_customer("history", raw.reply)
        if raw is None:
            return Done(LookedUp(PaymentOutcome.UNKNOWN))
        rows = read_transactions(account.key, raw).rows
        outcome = find_outcome(rows or (), pay, self.context.today)
        if outcome is PaymentOutcome.UNKNOWN and is_dated(pay, self.context.today):
            outcome = self._search_dated(account, pay)
        return Done(LookedUp(outcome))

    def _search_dated(self, account: Account, pay: Pay) -> PaymentOutcome:
        """A dated order stands in the bank's list until its day. One that is missing there proves nothing."""
        if pay.debit is not None:
            debits = [] if pay.is_bulk else list_debits(self.session, account, pay.debit.scheme)
            return PaymentOutcome.ACCEPTED if has_debit(debits, pay) else PaymentOutcome.UNKNOWN
        blocks = list_dated(self.session, account)
        return PaymentOutcome.ACCEPTED if has_dated(blocks, pay) else PaymentOutcome.UNKNOWN


def find_outcome(rows: Sequence[Transaction], pay: Pay, day: date) -> PaymentOutcome:
    """What a statement says of a payment: executed where every order stands in it under a reference of our own.

    An end-to-end id that the caller chose may have been used before and proves nothing, nor does a part of a bulk.
    """
    batch = Batch(pay.payment_id.hex, pay.orders, day)
    sign = -1 if pay.debit is None else 1  # what is collected comes in
    total = sum((order.amount for order in pay.orders), Decimal(0))
    found = [row for row in rows if row.amount == sign * total and _has_reference(row, batch.id)][:1]
    if not found:
        for number, order in enumerate(pay.orders):
            name = batch.id if order.end_to_end_id else name_order(batch, number)
            fitting = [
                row
                for row in rows
                if row.amount == sign * order.amount and not any(row is found_row for found_row in found)
            ]
            row = next((row for row in fitting if _has_reference(row, name) or _has_reference(row, batch.id)), None)
            if row is None:
                return PaymentOutcome.UNKNOWN
            found.append(row)
    is_booked = not any(row.is_pending for row in found)
    return PaymentOutcome.EXECUTED if is_booked else PaymentOutcome.ACCEPTED


def _has_reference(row: Transaction, name: str) -> bool:
    """As the customer's or the end-to-end reference. Banks break the lines of a purpose anywhere."""
    return re.search(rf"[EK]REF\+{re.escape(name)}(?!\d)", (row.purpose or "").replace(" ", "")) is not None


def _refuse_silence(reply: Reply, *segments: FinTS3Segment) -> None:
    if not is_taken(reply, *segments):
        raise NoResponseError("the bank has not said that it took the order")


def _refuse_contradiction(reply: Reply, segment: FinTS3Segment) -> None:
    if is_contradictory(reply, segment):
        raise NoResponseError("the bank contradicts itself")
