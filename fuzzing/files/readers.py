"""What reads each kind of file, and the errors that it declares. A dialogue with a bank is read by its connector."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import cache
from random import Random
from typing import Any
from unittest.mock import patch
from uuid import UUID

import httpx
from fints.message import FinTSInstituteMessage

from fuzzing.files.samples import list_samples, load_trace
from kontor.connectors.bank_http import BankHttp
from kontor.connectors.base import (
    Answer,
    ChooseMedium,
    ChooseMethod,
    Connector,
    Context,
    Continue,
    Done,
    Failed,
    Fetch,
    NeedMedium,
    NeedMethod,
    Poll,
    Progress,
    Returned,
    Step,
    Tan,
)
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.fints.parameters import BankParameters
from kontor.connectors.fints.sessions import MALFORMED, Reply
from kontor.connectors.fints.transport import HttpTransport, NoResponseError
from kontor.connectors.pain001_files import read_payment_file
from kontor.connectors.pain008_files import read_debit_file
from kontor.connectors.statements import (
    StatementError,
    read_camt,
    read_csv,
    read_mt535,
    read_mt940,
    read_ofx,
    read_pdf,
    read_qif,
    read_statements,
)
from kontor.connectors.xs2a import Xs2aBank, Xs2aConnector
from kontor.domain.providers import Provider
from kontor.domain.secrets import Secret

URL = "http://127.0.0.1:1"
MAX_CALLS, MAX_STEPS = 60, 12
CREDENTIALS = {"userid": Secret("somebody"), "pin": Secret("s3cret-pin")}
DIRECT = {
    "MT940": read_mt940,
    "camt": read_camt,
    "MT535": read_mt535,
    "CSV": read_csv,
    "OFX": read_ofx,
    "QIF": read_qif,
    "PDF": read_pdf,
}


class UndeclaredError(Exception):
    """A connector returned something else than a step, or told a secret."""


def read(parser: str, data: bytes, random: Random) -> bool:
    """Was it read? False for a declared error; everything else is raised."""
    if parser == "FinTS" and random.random() < 0.9:
        return _read_message(data)  # a whole dialogue takes a hundred times as long
    if parser in ("FinTS", "XS2A"):
        return _talk(parser, data, random)
    try:
        if parser == "pain.001":
            read_payment_file(data)
        elif parser == "pain.008":
            read_debit_file(data)
        elif parser in DIRECT and random.random() < 0.5:
            DIRECT[parser](data)
        else:
            read_statements(data)
    except StatementError:
        return False
    return True


def _read_message(data: bytes) -> bool:
    """As a session reads an answer."""
    try:
        reply = Reply(FinTSInstituteMessage(segments=data), "s3cret-pin")
        BankParameters.deserialize(None).update_from(reply.message, reply.codes)
    except MALFORMED:
        return False
    return True


def _talk(parser: str, data: bytes, random: Random) -> bool:
    """A recorded dialogue in which one answer is the damaged one, or every answer from there on."""
    answers = list_samples()[parser]
    place, is_persistent = random.randrange(len(answers)), random.random() < 0.3
    calls = 0

    def choose() -> bytes:
        nonlocal calls
        number, calls = calls, calls + 1
        if calls > MAX_CALLS:
            raise UndeclaredError("the bank is asked without end")
        if number == place or (is_persistent and number > place):
            return data
        return answers[min(number, len(answers) - 1)]

    trace = load_trace("demo-fints" if parser == "FinTS" else "demo-xs2a")
    with _answering(parser, choose, trace):
        step = _walk(_make_connector(parser), date.fromisoformat(trace["today"]))
    if "s3cret-pin" in repr(step):
        raise UndeclaredError("the step tells the PIN")
    return isinstance(step, Done)


@cache
def _make_connector(parser: str) -> Connector:
    if parser == "FinTS":
        bank = FintsBank("99999999", f"{URL}/fints")
        return FintsConnector(lambda provider: bank, "PRODUCT")
    known = Xs2aBank(URL)
    return Xs2aConnector(lambda provider: known)


def _walk(connector: Connector, today: date) -> Step:
    provider = Provider(UUID(int=9), "Bank", "any", (), ())
    context = Context(today, "customer", "93.184.216.34", "https://caller.example/back")
    step = connector.begin(provider, CREDENTIALS, Fetch(), None, context)
    for _ in range(MAX_STEPS):
        if isinstance(step, Done | Failed):
            break
        json.dumps(step.state)  # it is stored
        step = connector.resume(provider, CREDENTIALS, step.state, _answer(step), context)
    if not isinstance(step, Step):
        raise UndeclaredError(f"no step: {type(step).__name__}")
    return step


def _answer(step: Step) -> Answer:
    match step:
        case Progress():
            return Continue()
        case NeedMethod(methods=methods):
            return ChooseMethod(methods[0].code if methods else "")
        case NeedMedium(media=media):
            return ChooseMedium(media[-1].name if media else "")
    if type(step).__name__ == "NeedTan":
        return Tan(Secret("123456"))
    return Returned("code=1") if type(step).__name__ == "NeedRedirect" else Poll()


class _Told:
    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self._body = status, httpx.Headers(dict(headers)), body

    def read(self) -> bytes:
        return self._body


@contextmanager
def _answering(parser: str, choose: Callable[[], bytes], trace: dict[str, Any]) -> Iterator[None]:
    """In the place of HTTP."""
    if parser == "FinTS":

        def exchange(transport: HttpTransport, message: bytes) -> bytes:
            answer = choose()
            if not answer:
                raise NoResponseError("nothing")
            return answer

        with patch.object(HttpTransport, "exchange", exchange):
            yield
        return
    facts = iter(trace["exchanges"])

    @contextmanager
    def stream(http: BankHttp, *_: Any) -> Iterator[_Told]:
        noted = next(facts, {"answer": {"status": 200, "headers": {}}})["answer"]
        body = choose().replace(b"https://bank.example", URL.encode())
        yield _Told(noted["status"], noted["headers"], body)

    with patch.object(BankHttp, "stream", stream):
        yield
