"""Which connectors keep the contract, and in which scenarios. A new connector is registered here, and nothing else.

A scenario is a login and the answers a user gives, one for each time the bank leaves a choice. `ends` is how the
dialogue must end. Scenarios of payments are in `payment_scenarios`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kontor.connectors.base import (
    Answer,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Connector,
    FailureKind,
    Poll,
    ProblemKind,
    Returned,
    Tan,
)
from kontor.connectors.catalogue import load_catalogue
from kontor.connectors.demo import DemoConnector
from kontor.connectors.demo.people import PERSONAS
from kontor.domain.payments import Order
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret
from kontor.storage.demo_bank_payments import DemoBankBooks


@dataclass(frozen=True)
class Scenario:
    name: str
    credentials: Mapping[str, str]
    answers: tuple[Answer, ...] = ()
    ends: FailureKind | None = None  # None: with everything fetched
    problems: tuple[ProblemKind, ...] = ()
    has_broken_rows: bool = False
    callback_url: str | None = None


@dataclass(frozen=True)
class Subject:
    """A connector under test: how any process makes it from the address of the bank, and a bank that it reaches."""

    name: str
    make: Callable[[str], Connector]
    provider: Callable[[], Provider]
    scenarios: tuple[Scenario, ...] = field(default=())


class ForgetfulBank(DemoBankBooks):
    """The demo bank with real books, but without a memory of wrong PINs, and with pages that decide by themselves."""

    def count_wrong_pin(self, login: str) -> int:
        return 1

    def read_wrong_pins(self, login: str) -> int:
        return 0

    def forget_wrong_pins(self, login: str) -> None:
        pass

    def open_page(self, return_url: str, orders: Sequence[Order] = ()) -> str:
        return f"http://bank.example/page?back={return_url}"

    def is_page_confirmed(self, page_url: str) -> bool:
        return page_url.endswith("confirms")


def make_demo(address: str) -> Connector:
    return DemoConnector(ForgetfulBank(Secret(address)), slow_seconds=0)


@cache
def find_demo_bank() -> Provider:
    return next(one for one in load_catalogue(frozenset(["demo"]), list_all=False).list() if one.connector == "demo")


def login(name: str, pin: str = "demo") -> dict[str, str]:
    return {"userid": name, "pin": pin}


def tan(text: str) -> Tan:
    return Tan(Secret(text))


def demo(name: str, *answers: Answer, pin: str = "s3cret-pin", title: str | None = None, **facts: Any) -> Scenario:
    """The PIN is the login's own name or `demo`; where it must be right, `demo` is the one that is searched for."""
    return Scenario(title or name, login(name, pin), answers, **facts)


RIGHT = {"pin": "demo"}
CONFIRMS = "https://caller.example/?user=confirms"
DEMO_SCENARIOS = (
    *[demo(name, **RIGHT) for name in (*PERSONAS, "leer", "test_slow", "test_failing_payment", "test_vop_close")],
    demo("test_partial", **RIGHT, problems=(ProblemKind.TRANSACTIONS,)),
    demo("test_transactions_error", **RIGHT, problems=(ProblemKind.TRANSACTIONS,)),
    demo("test_product_error", **RIGHT, problems=(ProblemKind.PRODUCT,)),
    demo("test_positions_error", **RIGHT, problems=(ProblemKind.POSITIONS,)),
    demo("test_bank_message", **RIGHT, problems=(ProblemKind.BANK_MESSAGE,)),
    demo("test_broken_rows", **RIGHT, has_broken_rows=True),
    demo("test_sca_method", ChooseMethod("901"), tan("24"), **RIGHT),
    demo("test_sca_method", ChooseMethod("900"), tan("12"), **RIGHT, title="list TAN"),
    demo("test_sca_method_media", ChooseMethod("901"), ChooseMedium("Mein Tablet"), tan("0"), **RIGHT),
    demo("test_decoupled", Poll(), Poll(), **RIGHT),
    demo("test_phototan", tan("8534842"), **RIGHT),
    demo("test_chiptan", tan("936086"), **RIGHT),
    demo("test_redirect", Returned("any=thing"), **RIGHT, callback_url=CONFIRMS),
    # What goes wrong
    demo("test_locked", ends=FailureKind.LOCKED),
    demo("test_unreachable", ends=FailureKind.UNREACHABLE),
    demo("test_internal", ends=FailureKind.INTERNAL),
    demo("demo1", ends=FailureKind.WRONG_CREDENTIALS, title="wrong PIN"),
    demo("nobody", **RIGHT, ends=FailureKind.WRONG_CREDENTIALS),
    demo("test_sca_method", ChooseMethod("777"), **RIGHT, ends=FailureKind.REJECTED, title="unknown method"),
    demo("test_sca_method", ChooseMethod(""), **RIGHT, ends=FailureKind.REJECTED, title="empty method"),
    demo("test_sca_method", ChooseMethod("901"), tan("7"), **RIGHT, ends=FailureKind.WRONG_TAN, title="wrong TAN"),
    demo("test_sca_method", ChooseMethod("901"), tan("²"), **RIGHT, ends=FailureKind.WRONG_TAN, title="odd TAN"),
    demo("test_sca_method", ChooseMethod("901"), tan(""), **RIGHT, ends=FailureKind.WRONG_TAN, title="empty TAN"),
    demo("test_sca_method", tan("24"), **RIGHT, ends=FailureKind.REJECTED, title="TAN before method"),
    demo("test_sca_method", Poll(), **RIGHT, ends=FailureKind.REJECTED, title="poll before method"),
    demo("test_sca_method", Cancel(), **RIGHT, ends=FailureKind.CANCELLED, title="cancelled at once"),
    demo("test_phototan", tan("1"), **RIGHT, ends=FailureKind.WRONG_TAN, title="wrong photoTAN"),
    demo("test_chiptan", Cancel(), **RIGHT, ends=FailureKind.CANCELLED, title="cancelled at the TAN"),
    demo("test_decoupled", tan("24"), **RIGHT, ends=FailureKind.REJECTED, title="TAN for an app"),
    demo(
        "test_redirect",
        Returned("result=ok"),
        **RIGHT,
        callback_url="https://caller.example/?user=refuses",
        ends=FailureKind.CANCELLED,
        title="refused at the bank",
    ),
    demo("test_redirect", **RIGHT, ends=FailureKind.REJECTED, title="no way back from the bank"),
    demo(
        "test_sca_method_media",
        ChooseMethod("901"),
        ChooseMedium("Kein Medium"),
        **RIGHT,
        ends=FailureKind.REJECTED,
        title="unknown medium",
    ),
)

SUBJECTS = (Subject("demo", make_demo, find_demo_bank, DEMO_SCENARIOS),)
