"""Random lives of a user with two logins: whatever is paid, books and statements agree."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

from demo_payer import OUTSIDE, TODAY, Payer, find_iban, make_order
from hypothesis import HealthCheck, given
from hypothesis import settings as sizes
from hypothesis import strategies as st

from kontor.connectors.base import Done, Failed, FailureKind
from kontor.connectors.demo.payees import PayeeScenario
from kontor.domain.payments import PaymentOutcome
from kontor.domain.transactions import find_day
from many_examples import count_examples

PAYEES = (
    "outside",
    "savings",
    "other",
    "self",
    PayeeScenario.REFUSES,
    PayeeScenario.DIES_AFTER_BOOKING,
    PayeeScenario.DIES_BEFORE_BOOKING,
)
CENTS = st.one_of(st.integers(1, 200_00), st.integers(1, 6_000_00))
ORDERS = st.lists(st.tuples(st.sampled_from(PAYEES), CENTS), min_size=1, max_size=3)
PAY = st.tuples(st.just("pay"), st.booleans(), ORDERS, st.integers(0, 4))
REPEAT = st.tuples(st.just("repeat"), st.integers(0, 20))
ASK = st.tuples(st.just("ask"), st.integers(0, 20))
WAIT = st.tuples(st.just("wait"), st.integers(1, 3))


class Life:
    """The bank, and beside it what must be true: payments that count, with the day on which they do."""

    def __init__(self, url):
        suffix = uuid4().hex
        self.payers = [Payer(url, f"{name}+{suffix}", customer=suffix) for name in ("test_partial", "test_slow")]
        for payer in self.payers:
            payer.fetch()
        self.today = TODAY
        self.known = []  # (payer number, payment id)
        self.moves = []  # (payer number, product key, day, amount)
        self.ends = {}  # per payment id: outcome, day

    def payer(self, number):
        return self.payers[number].on(self.today)

    def find_iban(self, number, payee):
        accounts = {
            "outside": OUTSIDE,
            "self": self.payers[number].main.iban,
            "savings": self.payers[number].accounts[1].product.iban,
            "other": self.payers[1 - number].main.iban,
        }
        return accounts[payee] if payee in accounts else find_iban(payee)

    def pay(self, is_second, orders, days):
        number, payment_id, day = int(is_second), uuid4(), self.today + timedelta(days=days)
        made = [make_order(Decimal(cents).scaleb(-2), self.find_iban(number, payee)) for payee, cents in orders]
        payer = self.payer(number)
        funds = self.find_funds(number)
        end = payer.pay(*made, payment_id=payment_id, execution_date=day if days else None)
        self.known.append((number, payment_id))
        payees, total = [payee for payee, _ in orders], sum(order.amount for order in made)
        if PayeeScenario.DIES_BEFORE_BOOKING in payees:
            assert end.is_outcome_unknown
            outcome = PaymentOutcome.NEVER
        elif PayeeScenario.REFUSES in payees or total > funds:
            outcome = PaymentOutcome.REJECTED
            if PayeeScenario.DIES_AFTER_BOOKING not in payees:
                assert end.kind is (FailureKind.REJECTED if PayeeScenario.REFUSES in payees else FailureKind.NO_FUNDS)
        else:
            outcome = PaymentOutcome.ACCEPTED if days else PaymentOutcome.EXECUTED
            assert (isinstance(end, Failed) and end.is_outcome_unknown) == (PayeeScenario.DIES_AFTER_BOOKING in payees)
            self.moves.append((number, payer.main.key, day, -total))
            for (payee, _), order in zip(orders, made, strict=True):
                if payee in ("savings", "self", "other"):
                    whose = 1 - number if payee == "other" else number
                    place = 1 if payee == "savings" else 0
                    self.moves.append((whose, self.payers[whose].accounts[place].product.key, day, order.amount))
        self.ends[payment_id] = (outcome, day)

    def find_funds(self, number):
        product = self.payer(number).main
        counted = [
            amount
            for whose, key, day, amount in self.moves
            if (whose, key) == (number, product.key) and (amount < 0 or day <= self.today)
        ]
        return product.balance + product.overdraft_limit + sum(counted)

    def outcome_of(self, payment_id):
        outcome, day = self.ends[payment_id]
        is_due = outcome is PaymentOutcome.ACCEPTED and day <= self.today
        return PaymentOutcome.EXECUTED if is_due else outcome

    def repeat(self, index):
        """The same id again, with more money: nothing new happens, whatever became of the first."""
        number, payment_id = self.known[index % len(self.known)]
        if self.ends[payment_id][0] is PaymentOutcome.NEVER:
            self.ask(index)  # it may arrive until somebody asks
        end = self.payer(number).pay(make_order("77.77"), payment_id=payment_id)
        outcome = self.outcome_of(payment_id)
        if isinstance(end, Done):
            assert end.result.outcome is outcome
        else:
            assert outcome in (PaymentOutcome.REJECTED, PaymentOutcome.NEVER)

    def ask(self, index):
        number, payment_id = self.known[index % len(self.known)]
        assert self.payer(number).look_up(payment_id)[0] is self.outcome_of(payment_id)

    def check(self):
        for number in range(2):
            payer = self.payer(number)
            expected = {}
            for whose, key, day, amount in self.moves:
                if whose == number and day <= self.today:
                    expected[key] = expected.get(key, 0) + amount
            shown, rows = payer.fetch()
            for account in payer.accounts:
                key, plain = account.product.key, account.product.balance
                assert shown[key].balance == plain + expected.get(key, 0)
                if key not in rows:
                    continue  # this login's savings account shows no transactions
                finals = [row for row in rows[key] if not row.is_pending]
                opening = account.opening["EUR"]
                assert shown[key].balance == opening + sum(row.amount for row in finals)
                assert all(find_day(row) <= self.today for row in finals)


@sizes(max_examples=count_examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(PAY, PAY, REPEAT, ASK, WAIT), min_size=4, max_size=12))
def test_the_balance_is_what_the_account_opened_with_and_all_that_was_booked(settings, moves):
    life = Life(settings.database_url)
    life.pay(False, [("other", 100)], 0)
    for kind, *facts in moves:
        if kind == "wait":
            life.today += timedelta(days=facts[0])
        else:
            getattr(life, kind)(*facts)
    life.check()
    life.today += timedelta(days=5)
    for index in range(len(life.known)):
        life.ask(index)
    life.check()
