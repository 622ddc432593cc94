"""Banks that mean harm, by every protocol over HTTP: every call ends, in bounds, and no other host hears of it."""

import re
import ssl
import time
import tracemalloc
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from fints_banks import TODAY
from hostile_banks import (
    COMPRESSED,
    ENDLESS_FAST,
    ENDLESS_SLOW,
    MALFORMED,
    REDIRECTS,
    Visit,
    answer,
    running_hostile_bank,
)
from kontor.connectors import bank_http
from kontor.connectors.aspsps import AspspBank
from kontor.connectors.bank_http import BankHttp, BankHttpError, HttpLimits
from kontor.connectors.base import Connector, Context, Failed, FailureKind, Fetch, Step
from kontor.connectors.enablebanking import Application, EnableBankingConnector, EnableBankingSettings
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.fints.transport import TransportLimits
from kontor.connectors.xs2a import Xs2aBank, Xs2aConnector, Xs2aSettings
from kontor.domain.providers import LoginField, Provider
from kontor.domain.secrets import Secret
from kontor.egress import Destination, Purpose
from many_examples import few_cases

pytestmark = pytest.mark.timeout(400)  # a call that is held for ever is a failure
LOGIN, PIN = "l0gin-of-somebody", "s3cret-pin"
FIELDS = (LoginField("userid", "Anmeldename", False, "X"), LoginField("pin", "PIN", True, "X"))
PROVIDER = Provider(UUID(int=7), "Bank", "any", FIELDS, ())
LARGEST = 1_000_000
SOCKET_BUFFERS = 16_000_000  # what a server can get rid of though nobody reads it
PROTOCOLS = ("fints", "xs2a", "enablebanking")


ASPSP = AspspBank("Bank", "DE", 86_400)


@cache
def make_application() -> Application:
    return Application(str(PROVIDER.id), generate_private_key(public_exponent=65537, key_size=2048))


def make_connector(protocol: str, url: str) -> Connector:
    """A read may take as long as the test: only the total can end it."""
    if protocol == "fints":
        bank = FintsBank("99999999", f"{url}/fints")
        limits = TransportLimits(read_seconds=90, answer_seconds=95, largest_bytes=LARGEST)
        return FintsConnector(lambda provider: bank, "PRODUCT", limits=limits)
    if protocol == "enablebanking":
        settings = EnableBankingSettings(url, read_seconds=90, answer_seconds=95, largest_answer_bytes=LARGEST)
        return EnableBankingConnector(lambda provider: ASPSP, make_application(), settings)
    known = Xs2aBank(url)
    limited = Xs2aSettings(read_seconds=90, answer_seconds=95, largest_answer_bytes=LARGEST)
    return Xs2aConnector(lambda provider: known, limited)


def fetch(protocol: str, url: str, seconds: float = 60) -> Step:
    context = Context(
        TODAY, "customer", "93.184.216.34", "https://caller.example/back", deadline=time.monotonic() + seconds
    )
    credentials = {"userid": Secret(LOGIN), "pin": Secret(PIN)}
    return make_connector(protocol, url).begin(PROVIDER, credentials, Fetch(), None, context)


def check_failure(step: Step, logged: str) -> None:
    assert isinstance(step, Failed), step
    assert step.kind is FailureKind.UNREACHABLE
    assert not step.is_outcome_unknown
    for secret in (LOGIN, PIN):
        assert secret not in repr(step)
        assert secret not in logged


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", few_cases(ENDLESS_SLOW, 2))
def test_a_bank_that_sends_byte_by_byte_is_left_at_the_deadline(protocol, case, caplog):
    with running_hostile_bank(ENDLESS_SLOW[case]) as bank:
        calls = 0
        while not bank.visits and calls < 5:  # a busy machine may take longer than a second to connect
            check_failure(fetch(protocol, bank.url, seconds=4**calls), caplog.text)
            calls += 1
        assert 1 <= len(bank.visits) <= calls, "no call is repeated"
        assert bank.visits[0].was_left.wait(60), "the connection is closed, not only forgotten"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", ENDLESS_FAST)
def test_a_bank_that_sends_without_end_is_left_at_the_largest_size(protocol, case, caplog):
    with running_hostile_bank(ENDLESS_FAST[case]) as bank:
        check_failure(fetch(protocol, bank.url), caplog.text)
        assert len(bank.visits) == 1
        assert bank.visits[0].was_left.wait(60)
        assert bank.sent_bytes < LARGEST + SOCKET_BUFFERS


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", COMPRESSED)
def test_a_compressed_answer_is_refused_and_not_decompressed(protocol, case, caplog):
    with running_hostile_bank(COMPRESSED[case]) as bank:
        tracemalloc.start()
        try:
            check_failure(fetch(protocol, bank.url), caplog.text)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 10 * LARGEST
        assert len(bank.visits) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", MALFORMED)
def test_an_answer_that_is_no_http_is_a_failure(protocol, case, caplog):
    with running_hostile_bank(MALFORMED[case]) as bank:
        check_failure(fetch(protocol, bank.url), caplog.text)
        assert len(bank.visits) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", REDIRECTS)
def test_no_redirect_is_followed(protocol, status, caplog):
    with running_hostile_bank(answer(b"{}")) as inside:
        redirect = answer(b"{}", status, Location=f"{inside.url}/fints", Refresh=f"0; url={inside.url}")
        with running_hostile_bank(redirect) as bank:
            check_failure(fetch(protocol, bank.url), caplog.text)
            assert len(bank.visits) == 1
        assert inside.visits == []


# The one place that talks HTTP to banks

LOCAL = Destination(Purpose.BANK, frozenset({"127.0.0.1"}))
LIMITS = HttpLimits(5, 90, 90, LARGEST, 3 * LARGEST)
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def call(http: BankHttp, url: str, content: bytes = b"", **headers: str) -> bytes:
    with http.stream("POST", url, headers, content) as told:
        return told.read()


def limit(seconds: float) -> HttpLimits:
    return HttpLimits(5, 90, 90, LARGEST, 3 * LARGEST, deadline=time.monotonic() + seconds)


def test_a_bank_that_does_not_read_is_left_at_the_deadline():
    def read_nothing(visit: Visit) -> None:
        visit.was_left.wait(90)

    with running_hostile_bank(read_nothing) as bank, pytest.raises(BankHttpError, match="WriteTimeout"):
        call(BankHttp(TLS, limit(1), LOCAL), bank.url, bytes(50_000_000))


def test_a_bank_that_draws_out_the_tls_handshake_is_left_at_the_deadline():
    with running_hostile_bank(lambda visit: visit.drip(b"\x16\x03\x03\x40\x00" + bytes(100_000))) as bank:
        address = bank.url.replace("http:", "https:")
        with pytest.raises(BankHttpError, match="ConnectTimeout"):
            call(BankHttp(ssl.create_default_context(), limit(1), LOCAL), address)
        assert bank.visits[0].was_left.wait(60)


def test_nothing_is_sent_after_the_deadline():
    with running_hostile_bank(answer(b"{}")) as bank, pytest.raises(BankHttpError, match="deadline"):
        call(BankHttp(TLS, limit(-1), LOCAL), bank.url)
    assert bank.visits == []


def test_a_bank_cannot_send_more_than_the_total_in_many_answers():
    with running_hostile_bank(answer(b" " * (LARGEST - 1))) as bank:
        http = BankHttp(TLS, LIMITS, LOCAL)
        assert [len(call(http, bank.url)) for _ in range(3)] == [LARGEST - 1] * 3
        with pytest.raises(BankHttpError, match="too large"):
            call(http, bank.url)
        http.close()


@pytest.mark.parametrize("value", ["ä", "a\r\nX-Other: b", "a\nb", "\u2028", "a\x00b"])
def test_a_banks_words_in_a_header_are_sent_as_they_are_or_not_at_all(value):
    """Such as the number of a consent."""
    with running_hostile_bank(answer(b"{}")) as bank:
        http = BankHttp(TLS, LIMITS, LOCAL)
        with pytest.raises(BankHttpError):
            call(http, bank.url, consent_id=value)
        http.close()
        assert b"X-Other" not in bank.received


@pytest.mark.parametrize("path", ["/a\x00b", "/\ud800", "/" + "a" * 100_000])
def test_an_address_that_cannot_be_asked_for_is_an_error_of_the_bank(path):
    with running_hostile_bank(answer(b"{}")) as bank:
        http = BankHttp(TLS, LIMITS, LOCAL)
        with pytest.raises(BankHttpError):
            call(http, bank.url + path)
        http.close()


def test_answers_come_one_after_another_on_one_connection():
    with running_hostile_bank(answer(b"{}")) as bank:
        http = BankHttp(TLS, LIMITS, LOCAL)
        assert [call(http, bank.url) for _ in range(3)] == [b"{}"] * 3
        http.close()
        assert len(bank.visits) == 1


def test_no_other_module_of_the_connectors_opens_connections():
    folder = Path(bank_http.__file__).parent
    opening = re.compile(
        r"httpx\.(Async)?Client|httpx\.(get|post|put|request|stream)\b"
        r"|^import (httpcore|socket|requests|http\.client)|urllib\.request",
        re.MULTILINE,
    )
    found = {path.name for path in folder.rglob("*.py") if opening.search(path.read_text())}
    assert found == {"bank_http.py"}
