"""Which connectors keep the contract, and in which scenarios. A new connector is registered here, and nothing else.

A scenario is a login and the answers a user gives, one for each time the bank leaves a choice. `ends` is how the
dialogue must end. Scenarios of payments are in `payment_scenarios`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from asgi_servers import serve_app
from enablebanking_talk import ENABLEBANKING_PROVIDER, RETURN_URL, make_enablebanking_connector, make_service
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
from kontor.connectors.catalogue.providers import FILES_PROVIDER
from kontor.connectors.demo import DemoConnector
from kontor.connectors.demo.people import PERSONAS, person_for
from kontor.connectors.files import FilesConnector
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.xs2a import Xs2aBank, Xs2aConnector
from kontor.demobank.certificates import ensure_certificates
from kontor.demobank.enablebanking import make_enablebanking_app
from kontor.demobank.fints import FintsBank as DemoFintsBank
from kontor.demobank.fints import FintsOptions, FintsServer
from kontor.demobank.statements import write_camt052, write_mt535, write_mt940
from kontor.demobank.xs2a import DemoAspsp, make_xs2a_app
from kontor.domain.payments import Order
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret
from kontor.storage.demo_bank_payments import DemoBankBooks

DOWNLOADS = Path(__file__).parents[1] / "statements" / "downloads"


@dataclass(frozen=True)
class VisitsBank:
    """The user goes to the bank's page, logs in there with the scenario's credentials, and comes back."""

    decision: str = "confirm"


@dataclass(frozen=True)
class Scenario:
    name: str
    credentials: Mapping[str, str]
    answers: tuple[Answer | VisitsBank, ...] = ()
    ends: FailureKind | None = None  # None: with everything fetched
    problems: tuple[ProblemKind, ...] = ()
    has_broken_rows: bool = False
    callback_url: str | None = None


@dataclass(frozen=True)
class Subject:
    """A connector under test: how any process makes it from the address of the bank, and a bank that it reaches.

    `draws_ids`: the bank numbers every dialogue anew. `sends_with_tan`: only the bank knows whether a TAN is right, and
    a right one executes the order. `checks_pins`: no job does anything without the PIN.
    `looks_up_by_number`: the bank is asked about an order by the number that it gave it.
    """

    name: str
    make: Callable[[str], Connector]
    provider: Callable[[], Provider]
    scenarios: tuple[Scenario, ...] = field(default=())
    draws_ids: bool = False
    sends_with_tan: bool = False
    looks_up_by_number: bool = False
    checks_pins: bool = True
    verifies_payees: bool = True
    has_media: bool = True


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
    return next(
        provider
        for provider in load_catalogue(frozenset(["demo"]), list_all=False).list()
        if provider.connector == "demo"
    )


def login(name: str, pin: str = "demo") -> dict[str, str]:
    return {"userid": name, "pin": pin}


def tan(text: str) -> Tan:
    return Tan(Secret(text))


def demo(
    name: str, *answers: Answer | VisitsBank, pin: str = "s3cret-pin", title: str | None = None, **facts: Any
) -> Scenario:
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

# The demo bank by XS2A. Every consent needs authentication; what PSD2 does not know (depots, cards) is not there.


class Xs2aForgetfulBank(ForgetfulBank):
    def is_page_confirmed(self, page_url: str) -> bool:
        return "user=confirms" in page_url


@contextmanager
def serve_xs2a(books: str) -> Iterator[str]:
    noon = datetime(2026, 11, 13, 12, tzinfo=UTC)
    aspsp = DemoAspsp(Xs2aForgetfulBank(Secret(books)), read_time=lambda: noon)
    with serve_app(make_xs2a_app(aspsp, draw_code=lambda: "4711")) as address:
        yield address


def make_xs2a(address: str) -> Connector:
    bank = Xs2aBank(address, history_days=3650, has_bulk=True, has_card_accounts=True)
    return Xs2aConnector(lambda provider: bank)


@cache
def find_xs2a_bank() -> Provider:
    return replace(find_demo_bank(), connector="xs2a")


BY_TAN = (tan("24"),)
XS2A_SCENARIOS = (
    *[demo(name, *BY_TAN, **RIGHT) for name in ("demo1", "leer", "test_slow")],
    demo("test_partial", *BY_TAN, **RIGHT, problems=(ProblemKind.TRANSACTIONS,)),
    demo("test_product_error", *BY_TAN, **RIGHT, problems=(ProblemKind.PRODUCT,)),
    demo("test_sca_method", ChooseMethod("901"), tan("24"), **RIGHT),
    demo("test_sca_method", ChooseMethod("900"), tan("12"), **RIGHT, title="list TAN"),
    demo("test_sca_method_media", ChooseMethod("901.1"), tan("0"), **RIGHT),
    demo("test_decoupled", Poll(), Poll(), **RIGHT),
    demo("test_phototan", tan("8534842"), **RIGHT),
    demo("test_chiptan", tan("936086"), **RIGHT),
    demo("test_redirect", Returned("any=thing"), **RIGHT, callback_url=CONFIRMS),
    # What goes wrong
    demo("test_locked", ends=FailureKind.LOCKED),
    demo("test_unreachable", ends=FailureKind.UNREACHABLE),
    demo("test_internal", ends=FailureKind.UNREACHABLE),
    demo("demo1", ends=FailureKind.WRONG_CREDENTIALS, title="wrong PIN"),
    demo("nobody", **RIGHT, ends=FailureKind.WRONG_CREDENTIALS),
    demo("n\u00f6body", **RIGHT, ends=FailureKind.WRONG_CREDENTIALS, title="login that fits no header"),
    demo("test_sca_method", ChooseMethod("777"), **RIGHT, ends=FailureKind.REJECTED, title="unknown method"),
    demo("test_phototan", tan("1"), **RIGHT, ends=FailureKind.WRONG_TAN, title="wrong TAN"),
    demo("test_phototan", tan("\u00b2"), **RIGHT, ends=FailureKind.WRONG_TAN, title="odd TAN"),
    demo("test_phototan", tan(""), **RIGHT, ends=FailureKind.WRONG_TAN, title="empty TAN"),
    demo("test_sca_method", tan("24"), **RIGHT, ends=FailureKind.REJECTED, title="TAN before method"),
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
    demo("test_redirect", **RIGHT, ends=FailureKind.INTERNAL, title="no way back from the bank"),
)

# The demo bank by FinTS: what its protocol does not say, such as which part of an account has failed, is not told.


@contextmanager
def serve_fints(books: str, folder: Path) -> Iterator[str]:
    """Yields address and authorities, as `make_fints` wants them."""
    files = ensure_certificates(folder, "127.0.0.1")
    server = FintsServer("127.0.0.1", 0, files.certificate, files.key)
    noon = datetime(2026, 11, 13, 11, tzinfo=UTC)
    options = FintsOptions(address=f"127.0.0.1:{server.port}/fints", slow_seconds=0)
    server.start(DemoFintsBank(ForgetfulBank(Secret(books)), options, lambda: noon))
    try:
        yield f"https://127.0.0.1:{server.port}/fints {files.authority}"
    finally:
        server.stop()


def make_fints(address: str) -> Connector:
    url, _, authorities = address.partition(" ")
    return FintsConnector(lambda provider: FintsBank("99999999", url), "9FA6681DEC0CF3046BFC2F8A6", Path(authorities))


@cache
def find_fints_bank() -> Provider:
    return replace(find_demo_bank(), connector="fints")


FINTS_SCENARIOS = (
    *[demo(name, **RIGHT) for name in ("demo1", "student", "leer", "test_slow")],
    demo("test_sca_method", ChooseMethod("901"), tan("24"), **RIGHT),
    demo("test_sca_method", ChooseMethod("900"), tan("12"), **RIGHT, title="list TAN"),
    demo("test_sca_method_media", ChooseMethod("901"), ChooseMedium("Mein Tablet"), tan("0"), **RIGHT),
    demo("test_decoupled", Poll(), Poll(), **RIGHT),
    demo("test_phototan", tan("8534842"), **RIGHT),
    demo("test_chiptan", tan("936086"), **RIGHT),
    # What goes wrong
    demo("test_locked", ends=FailureKind.LOCKED),
    demo("test_unreachable", ends=FailureKind.UNREACHABLE),
    demo("demo1", ends=FailureKind.WRONG_CREDENTIALS, title="wrong PIN"),
    demo("nobody", **RIGHT, ends=FailureKind.WRONG_CREDENTIALS),
    demo("test_sca_method", ChooseMethod("777"), **RIGHT, ends=FailureKind.REJECTED, title="unknown method"),
    demo("test_phototan", tan("1"), **RIGHT, ends=FailureKind.WRONG_TAN, title="wrong TAN"),
    demo("test_phototan", tan(""), **RIGHT, ends=FailureKind.WRONG_TAN, title="empty TAN"),
    demo("test_sca_method", tan("24"), **RIGHT, ends=FailureKind.REJECTED, title="TAN before method"),
    demo("test_sca_method", Cancel(), **RIGHT, ends=FailureKind.CANCELLED, title="cancelled at once"),
    demo("test_chiptan", Cancel(), **RIGHT, ends=FailureKind.CANCELLED, title="cancelled at the TAN"),
    demo("test_decoupled", tan("24"), **RIGHT, ends=FailureKind.REJECTED, title="TAN for an app"),
    demo("test_phototan", Poll(), **RIGHT, ends=FailureKind.REJECTED, title="poll for a TAN"),
)


# Statement files in folders: a login is a folder.


def write_folders(root: Path) -> str:
    """The accounts of some people as statement files; returns the root."""
    for name in ("student", "leer"):
        folder = root / name
        folder.mkdir(parents=True)
        (folder / ".pin").write_text("demo\n")
        person = person_for(name, date(2026, 11, 13))
        for number, account in enumerate(person.accounts):
            if account.product.iban:
                rows = [entry.transaction for entry in account.entries]
                text = write_mt940(account.product, rows, Decimal(0), day=date(2026, 11, 13))
                (folder / f"{number}.sta").write_bytes(text)
    _write_full_folder(root / "demo1")
    broken = root / "broken"
    broken.mkdir()
    (broken / ".pin").write_text("demo")
    (broken / "good.sta").write_bytes((root / "student" / "0.sta").read_bytes())
    (broken / "bad.xml").write_bytes(b"<html>404</html>")
    return str(root)


def _write_full_folder(folder: Path) -> None:
    """Everything that files tell: an account as camt, one as CSV with its bank's name, and a depot."""
    folder.mkdir()
    (folder / ".pin").write_text("demo")
    person = person_for("demo1", date(2026, 11, 13))
    giro = person.accounts[0]
    rows = [entry.transaction for entry in giro.entries]
    (folder / "giro.xml").write_bytes(write_camt052(giro.product, rows[-50:], Decimal(0), day=date(2026, 11, 13)))
    depot = next(account for account in person.accounts if account.positions)
    (folder / "depot.535").write_bytes(write_mt535(depot.product, depot.positions, day=date(2026, 11, 13)))
    (folder / "ing.csv").write_bytes((DOWNLOADS / "ing.csv").read_bytes())


def make_files(address: str) -> Connector:
    return FilesConnector(Path(address))


FILES_SCENARIOS = (
    demo("student", **RIGHT),
    demo("demo1", **RIGHT),
    demo("broken", **RIGHT, problems=(ProblemKind.ACCESS_INCOMPLETE,)),
    demo("student", ends=FailureKind.WRONG_CREDENTIALS, title="wrong PIN"),
    demo("nobody", **RIGHT, ends=FailureKind.WRONG_CREDENTIALS),
    demo("../student", **RIGHT, ends=FailureKind.WRONG_CREDENTIALS, title="a path"),
    demo("", **RIGHT, ends=FailureKind.WRONG_CREDENTIALS, title="no folder"),
)

# The demo bank through a service such as Enable Banking: the customer logs in on the bank's page, and nowhere else.


@contextmanager
def serve_enablebanking(books: str, folder: Path) -> Iterator[str]:
    """Yields address, application and key, as `make_enablebanking` wants them."""
    noon = datetime(2026, 11, 13, 12, tzinfo=UTC)
    aspsp = DemoAspsp(ForgetfulBank(Secret(books)), read_time=lambda: noon)
    service, key_file = make_service(aspsp, folder)
    with serve_app(make_enablebanking_app(service)) as url:
        yield f"{url} {service.application.id} {key_file}"


def make_enablebanking(address: str) -> Connector:
    url, application_id, key_file = address.split(" ", 2)
    return make_enablebanking_connector(url, application_id, Path(key_file))


AT_THE_BANK = {**RIGHT, "callback_url": RETURN_URL}
WRONG_AT_THE_BANK = {"pin": "s3cret-pin", "callback_url": RETURN_URL}
ENABLEBANKING_SCENARIOS = (
    *[demo(name, VisitsBank(), **AT_THE_BANK) for name in ("demo1", "student", "leer")],
    demo("test_partial", VisitsBank(), **AT_THE_BANK, problems=(ProblemKind.TRANSACTIONS,)),
    demo("test_product_error", VisitsBank(), **AT_THE_BANK, problems=(ProblemKind.TRANSACTIONS,)),
    # What goes wrong
    demo("demo1", VisitsBank("cancel"), **AT_THE_BANK, ends=FailureKind.CANCELLED, title="refused at the bank"),
    demo("demo1", VisitsBank(), **WRONG_AT_THE_BANK, ends=FailureKind.CANCELLED, title="wrong PIN"),
    demo("test_unreachable", VisitsBank(), **AT_THE_BANK, ends=FailureKind.UNREACHABLE),
    demo("demo1", Returned("code=stolen"), **AT_THE_BANK, ends=FailureKind.REJECTED, title="foreign way back"),
    demo("demo1", tan("24"), **AT_THE_BANK, ends=FailureKind.REJECTED, title="TAN for a page"),
    demo("demo1", Cancel(), **AT_THE_BANK, ends=FailureKind.CANCELLED, title="cancelled at once"),
    demo("demo1", **RIGHT, ends=FailureKind.REJECTED, title="no way back from the bank"),
)

SUBJECTS = (
    Subject("demo", make_demo, find_demo_bank, DEMO_SCENARIOS),
    Subject("fints", make_fints, find_fints_bank, FINTS_SCENARIOS, draws_ids=True),
    Subject("files", make_files, lambda: FILES_PROVIDER, FILES_SCENARIOS),
    Subject(
        "xs2a",
        make_xs2a,
        find_xs2a_bank,
        XS2A_SCENARIOS,
        draws_ids=True,
        sends_with_tan=True,
        looks_up_by_number=True,
        checks_pins=False,
        verifies_payees=False,
        has_media=False,
    ),
    Subject(
        "enablebanking",
        make_enablebanking,
        lambda: ENABLEBANKING_PROVIDER,
        ENABLEBANKING_SCENARIOS,
        draws_ids=True,
        checks_pins=False,
        verifies_payees=False,
        has_media=False,
    ),
)
