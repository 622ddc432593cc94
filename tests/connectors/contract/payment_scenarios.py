"""Payments that every connector must get right, as data. A new connector adds its own to `PAYMENTS`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any

from scenarios import CONFIRMS, login, tan

from kontor.connectors.base import AcceptPayees, Answer, Cancel, ChooseMedium, ChooseMethod, FailureKind, Poll, Returned
from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario
from kontor.connectors.demo.people import person_for
from kontor.domain.payments import Order, PayeeMatch, PaymentOutcome

TODAY = date(2026, 11, 13)


@dataclass(frozen=True)
class PaymentScenario:
    """`ends` is how the dialogue must end, `booked` what the bank says afterwards about the payment.

    `sends_first`: the order leaves before the user's last answer, because he confirms it elsewhere. `is_refused_early`:
    the bank takes the order in and refuses it, before any authentication.
    """

    name: str
    credentials: Mapping[str, str]
    product_key: str
    orders: tuple[Order, ...]
    answers: tuple[Answer, ...] = ()
    ends: PaymentOutcome | FailureKind = PaymentOutcome.EXECUTED
    booked: PaymentOutcome = PaymentOutcome.EXECUTED
    matches: tuple[PayeeMatch, ...] = (PayeeMatch.MATCH,)
    callback_url: str | None = None
    is_outcome_unknown: bool = False
    sends_first: bool = False
    is_refused_early: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def moves_money(self) -> bool:
        return self.booked is PaymentOutcome.EXECUTED


def order(amount: str = "12.34", iban: str = "DE89370400440532013000", **facts: Any) -> Order:
    return Order("Erika Muster", iban, Decimal(amount), purpose="Rechnung 4711", **facts)


def find_test_iban(scenario: PayeeScenario) -> str:
    return next(iban for iban, candidate in TEST_IBANS.items() if candidate is scenario)


def demo(name: str, *answers: Answer, title: str | None = None, **facts: Any) -> PaymentScenario:
    person = person_for(name, TODAY)
    assert person is not None
    facts.setdefault("orders", (order(),))
    return PaymentScenario(title or name, login(name), person.accounts[0].product.key, answers=answers, **facts)


def failing(name: str, *answers: Answer, title: str, ends: FailureKind, **facts: Any) -> PaymentScenario:
    return demo(name, *answers, title=title, ends=ends, **({"booked": PaymentOutcome.NEVER} | facts))


def xs2a(name: str, *answers: Answer, **facts: Any) -> PaymentScenario:
    person = person_for(name, TODAY)
    assert person is not None
    return replace(demo(name, *answers, **facts), product_key=person.accounts[0].product.iban or "")


SMALL = "test_bank_message"  # pays like anybody, and has few rows to fetch
MOCK = (tan("24"),)
ACCEPTED = (AcceptPayees(), *MOCK)
TO_NOBODY = (order(iban=find_test_iban(PayeeScenario.REFUSES)),)
REJECTED = {"booked": PaymentOutcome.REJECTED}
PAYMENTS = {
    "demo": (
        # Every kind of authentication
        demo("demo1", *MOCK),
        demo("student", *MOCK),
        demo("test_sca_method", ChooseMethod("901"), tan("24")),
        demo("test_sca_method", ChooseMethod("900"), tan("12"), title="list TAN"),
        demo("test_sca_method_media", ChooseMethod("901"), ChooseMedium("Mein Tablet"), tan("0")),
        demo("test_decoupled", Poll(), Poll()),
        demo("test_phototan", tan("8534842")),
        demo("test_chiptan", tan("936086")),
        demo("test_redirect", Returned("any=thing"), callback_url=CONFIRMS),
        # Every kind of order
        demo(SMALL, *MOCK, title="instant", facts={"is_instant": True}),
        demo(SMALL, *MOCK, title="today's date", facts={"execution_date": TODAY}),
        demo(
            SMALL,
            *MOCK,
            title="later",
            ends=PaymentOutcome.ACCEPTED,
            booked=PaymentOutcome.ACCEPTED,
            facts={"execution_date": date(2026, 12, 1)},
        ),
        demo(
            SMALL,
            *MOCK,
            title="bulk",
            orders=(order("1.00"), order("2.00"), order("0.01")),
            matches=(PayeeMatch.MATCH,) * 3,
            facts={"is_bulk": True},
        ),
        # Payees who do not match
        demo("test_vop_close", *ACCEPTED, matches=(PayeeMatch.CLOSE_MATCH,)),
        demo("test_vop_nomatch", *ACCEPTED, matches=(PayeeMatch.NO_MATCH,)),
        demo(
            SMALL,
            *ACCEPTED,
            title="payee cannot be verified",
            orders=(order(iban="BR1500000000000010932840814P2"),),
            matches=(PayeeMatch.NOT_POSSIBLE,),
        ),
        demo(
            "test_vop_close",
            *MOCK,
            title="accepted before",
            matches=(PayeeMatch.CLOSE_MATCH,),
            facts={"is_payee_accepted": True},
        ),
        # What goes wrong before the order is sent
        failing("test_chiptan", tan("1"), title="wrong TAN", ends=FailureKind.WRONG_TAN),
        failing(SMALL, Cancel(), title="cancelled", ends=FailureKind.CANCELLED),
        failing(SMALL, Poll(), title="wrong answer", ends=FailureKind.REJECTED),
        failing("test_sca_method", ChooseMethod("777"), title="unknown method", ends=FailureKind.REJECTED),
        failing(
            "test_vop_nomatch",
            Cancel(),
            title="payee refused",
            ends=FailureKind.CANCELLED,
            matches=(PayeeMatch.NO_MATCH,),
        ),
        failing(
            "test_redirect",
            Returned("result=ok"),
            title="refused at the bank",
            ends=FailureKind.CANCELLED,
            callback_url="https://caller.example/?user=refuses",
        ),
        failing(
            SMALL,
            title="no funds, told early",
            ends=FailureKind.NO_FUNDS,
            orders=(order("99999999.00"),),
            facts={"prefers_rejection": True},
        ),
        failing(
            SMALL,
            title="no instant",
            ends=FailureKind.NOT_SUPPORTED,
            orders=(order(iban=find_test_iban(PayeeScenario.HAS_NO_INSTANT)),),
            facts={"is_instant": True},
        ),
        failing("test_reference", title="reference account only", ends=FailureKind.REJECTED),
        # What goes wrong afterwards
        failing(SMALL, *MOCK, title="no funds", ends=FailureKind.NO_FUNDS, orders=(order("99999999.00"),), **REJECTED),
        failing(SMALL, *MOCK, title="rejected payee", ends=FailureKind.REJECTED, orders=TO_NOBODY, **REJECTED),
        failing("test_failing_payment", *MOCK, title="bank refuses", ends=FailureKind.REJECTED, **REJECTED),
        failing(
            SMALL,
            *MOCK,
            title="answer lost after booking",
            ends=FailureKind.UNREACHABLE,
            orders=(order(iban=find_test_iban(PayeeScenario.DIES_AFTER_BOOKING)),),
            booked=PaymentOutcome.EXECUTED,
            is_outcome_unknown=True,
        ),
        failing(
            SMALL,
            *MOCK,
            title="order lost",
            ends=FailureKind.UNREACHABLE,
            orders=(order(iban=find_test_iban(PayeeScenario.DIES_BEFORE_BOOKING)),),
            is_outcome_unknown=True,
        ),
    ),
    "xs2a": (
        xs2a(SMALL, *MOCK),
        xs2a("test_sca_method", ChooseMethod("900"), tan("12")),
        xs2a("test_sca_method_media", ChooseMethod("901.1"), tan("0")),
        xs2a("test_decoupled", Poll(), Poll(), sends_first=True),
        xs2a("test_phototan", tan("8534842")),
        xs2a("test_chiptan", tan("936086")),
        xs2a("test_redirect", Returned("code=4711"), callback_url=CONFIRMS),
        xs2a(SMALL, *MOCK, title="instant", facts={"is_instant": True}),
        xs2a(
            SMALL,
            *MOCK,
            title="later",
            ends=PaymentOutcome.ACCEPTED,
            booked=PaymentOutcome.ACCEPTED,
            facts={"execution_date": date(2026, 12, 1)},
        ),
        xs2a(SMALL, *MOCK, title="bulk", orders=(order("1.00"), order("2.00")), facts={"is_bulk": True}),
        # What goes wrong before the order is sent
        xs2a("test_chiptan", tan("1"), title="wrong TAN", ends=FailureKind.WRONG_TAN, booked=PaymentOutcome.NEVER),
        xs2a(SMALL, Cancel(), title="cancelled", ends=FailureKind.CANCELLED, booked=PaymentOutcome.NEVER),
        xs2a(SMALL, Poll(), title="wrong answer", ends=FailureKind.REJECTED, booked=PaymentOutcome.NEVER),
        xs2a(
            "test_redirect",
            Returned("code=4711"),
            title="refused at the bank",
            ends=FailureKind.CANCELLED,
            booked=PaymentOutcome.NEVER,
            callback_url="https://caller.example/?user=refuses",
        ),
        xs2a(
            SMALL,
            title="no funds, told early",
            ends=FailureKind.NO_FUNDS,
            orders=(order("99999999.00"),),
            facts={"prefers_rejection": True},
            is_refused_early=True,
            **REJECTED,
        ),
        xs2a(
            SMALL,
            title="no instant",
            ends=FailureKind.NOT_SUPPORTED,
            orders=(order(iban=find_test_iban(PayeeScenario.HAS_NO_INSTANT)),),
            facts={"is_instant": True},
            is_refused_early=True,
            **REJECTED,
        ),
        xs2a(
            "test_reference",
            title="reference account only",
            ends=FailureKind.REJECTED,
            is_refused_early=True,
            **REJECTED,
        ),
        # What goes wrong afterwards
        xs2a(SMALL, *MOCK, title="no funds", ends=FailureKind.NO_FUNDS, orders=(order("99999999.00"),), **REJECTED),
        xs2a(SMALL, *MOCK, title="rejected payee", ends=FailureKind.REJECTED, orders=TO_NOBODY, **REJECTED),
        xs2a("test_failing_payment", *MOCK, title="bank refuses", ends=FailureKind.REJECTED, **REJECTED),
        xs2a(
            SMALL,
            *MOCK,
            title="answer lost after booking",
            ends=FailureKind.UNREACHABLE,
            orders=(order(iban=find_test_iban(PayeeScenario.DIES_AFTER_BOOKING)),),
            is_outcome_unknown=True,
        ),
        xs2a(
            SMALL,
            *MOCK,
            title="order lost",
            ends=FailureKind.UNREACHABLE,
            orders=(order(iban=find_test_iban(PayeeScenario.DIES_BEFORE_BOOKING)),),
            booked=PaymentOutcome.NEVER,
            is_outcome_unknown=True,
        ),
    ),
}
