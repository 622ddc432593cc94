"""A customer who pays over FinTS: every step by a connector of its own, from state that was JSON in between."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

from fints_banks import BANK_CODE, TODAY, FintsBankUnderTest
from kontor.connectors.base import (
    Answer,
    ChooseMedium,
    ChooseMethod,
    Context,
    Done,
    Failed,
    Fetch,
    Job,
    LookedUp,
    LookUp,
    NeedMedium,
    NeedMethod,
    Pay,
    Progress,
    State,
    Step,
    Tan,
)
from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario
from kontor.connectors.demo.people import person_for
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.fints.transport import HttpTransport
from kontor.demobank.fints.segments import Segment, parse_segments
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.providers import LoginField, Provider
from kontor.domain.secrets import Secret

PIN = "demo"
FIELDS = (LoginField("userid", "Anmeldename", False, "X"), LoginField("pin", "PIN", True, "X"))
PROVIDER = Provider(UUID(int=7), "FinTS-Bank", "fints", FIELDS, ())
FRIEND = "DE89370400440532013000"
ADDRESS = "93.184.216.34"


def tan(text: str) -> Tan:
    return Tan(Secret(text))


def order(amount: str = "12.34", iban: str = FRIEND, **facts: Any) -> Order:
    return Order("Erika Muster", iban, Decimal(amount), purpose="Rechnung 4711", **facts)


def to(scenario: PayeeScenario, **facts: Any) -> Order:
    return order(iban=next(iban for iban, candidate in TEST_IBANS.items() if candidate is scenario), **facts)


@dataclass
class Payer:
    """`asked` counts what the connector asked permission for; `is_allowed` is what it is told."""

    bank: FintsBankUnderTest
    login: str
    product_id: str = "9FA6681DEC0CF3046BFC2F8A6"
    is_allowed: bool = True
    is_present: bool = True
    pin: str = PIN
    asked: int = 0
    states: list[str] = field(default_factory=list)

    @property
    def account(self) -> str:
        person = person_for(self.login, TODAY)
        assert person is not None
        return person.accounts[0].product.iban or ""

    def connect(self) -> FintsConnector:
        bank = FintsBank(BANK_CODE, self.bank.url)
        return FintsConnector(lambda provider: bank, self.product_id, self.bank.authority)

    @property
    def credentials(self) -> dict[str, Secret]:
        return {"userid": Secret(self.login), "pin": Secret(self.pin)}

    @property
    def context(self) -> Context:
        def ask() -> bool:
            self.asked += 1
            return self.is_allowed

        return Context(TODAY, "customer", ADDRESS if self.is_present else None, may_send=ask)

    def make(self, *orders: Order, **facts: Any) -> Pay:
        return Pay(uuid4(), self.account, orders or (order(),), **facts)

    def begin(self, job: Job, connector_state: State | None = None) -> Step:
        """With what everybody knows about the bank: reading it is dear."""
        connector_state = connector_state or {"knowledge": know_bank(self.bank)}
        return self._keep(self.connect().begin(PROVIDER, self.credentials, job, connector_state, self.context))

    def resume(self, step: Any, answer: Answer) -> Step:
        state = json.loads(json.dumps(step.state, allow_nan=False))
        return self._keep(self.connect().resume(PROVIDER, self.credentials, state, answer, self.context))

    def drive(self, job: Job, answers: Sequence[Answer] = ()) -> list[Step]:
        """To the end, or to the question for which no answer is left."""
        left = list(answers)
        steps = [self.begin(job)]
        while not isinstance(steps[-1], Done | Failed):
            step = steps[-1]
            if isinstance(step, NeedMethod) and len(step.methods) == 1:
                answer: Answer = ChooseMethod(step.methods[0].code)
            elif isinstance(step, NeedMedium) and len(step.media) == 1:
                answer = ChooseMedium(step.media[0].name)
            elif left:
                answer = left.pop(0)
            else:
                return steps
            steps.append(self.resume(step, answer))
        assert not left, f"not asked for {left}"
        return steps

    def look_up(self, job: Pay) -> PaymentOutcome:
        done = self.begin(LookUp(job))
        assert isinstance(done, Done), done
        assert isinstance(done.result, LookedUp)
        return done.result.outcome

    def read_balance(self) -> Decimal:
        return Decimal(self.bank.bank._customers.find(self.login, TODAY).products[0].balance)

    def _keep(self, step: Step) -> Step:
        if getattr(step, "state", None) is not None:
            self.states.append(json.dumps(step.state, allow_nan=False))  # type: ignore[union-attr]
        return step


_known: dict[str, State] = {}


def know_bank(bank: FintsBankUnderTest) -> State:
    """The bank's parameters, but nothing about any customer."""
    if bank.url not in _known:
        _known[bank.url] = {}
        progress = Payer(bank, "leer").begin(Fetch())
        assert isinstance(progress, Progress), progress
        _known[bank.url] = progress.state["knowledge"] | {"system_id": "0", "user_version": 0, "user": ""}
    return _known[bank.url]


@dataclass(frozen=True)
class Sent:
    """A message as it left: its segments' codes, and the signature's TAN. `answer` are the bank's return codes."""

    codes: tuple[str, ...]
    tan: str
    segments: tuple[Segment, ...] = ()
    answer: tuple[str, ...] = ()

    def find(self, code: str) -> Segment:
        return next(segment for segment in self.segments if segment.code == code)


def _list_codes(answer: bytes) -> tuple[str, ...]:
    outer = parse_segments(answer)
    inner = parse_segments(outer[2].read_binary(1)) if outer[1].code == "HNVSK" else outer
    replies = [segment for segment in inner if segment.code in ("HIRMG", "HIRMS")]
    return tuple(str(group[0]) for segment in replies for group in segment.elements)


@contextmanager
def overheard() -> Iterator[list[Sent]]:
    """What leaves for banks meanwhile."""
    sent: list[Sent] = []
    exchange: Callable[[HttpTransport, bytes], bytes] = HttpTransport.exchange

    def listen(transport: HttpTransport, message: bytes) -> bytes:
        shell = parse_segments(message)[2]
        inner = parse_segments(shell.read_binary(1))
        sent.append(Sent(tuple(segment.code for segment in inner[1:-1]), inner[-1].read(3, 1), tuple(inner)))
        answer = exchange(transport, message)
        sent[-1] = replace(sent[-1], answer=_list_codes(answer))
        return answer

    with patch.object(HttpTransport, "exchange", listen):
        yield sent
