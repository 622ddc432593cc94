"""Whatever a bank sends: a `Failed` or a problem, soon, and the PIN nowhere."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from bad_bank_talk import LIMITS, connect, fetch, put
from fints_payer import PROVIDER
from scripted_bank_server import dribble, hang, open_message, rewrite, send, serve_bytes

from fints_banks import BANK_CODE, TODAY
from kontor.connectors.base import (
    Context,
    Done,
    Failed,
    FailureKind,
    Fetch,
)
from kontor.connectors.fints import FintsBank, FintsConnector, histories
from kontor.demobank.certificates import ensure_certificates
from kontor.demobank.fints.segments import make_segment
from kontor.domain.secrets import Secret

# The parser warns of what it does not know and goes on, as in production.
pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")
PIN = "s3cret-pin"


def begin(script, connector=None):
    """By somebody else each time: the bank counts wrong PINs."""
    credentials = {"userid": Secret(f"nobody{uuid4().hex[:12]}"), "pin": Secret(PIN)}
    return (connector or connect(script)).begin(PROVIDER, credentials, Fetch(), None, Context(TODAY))


def renumber(raw):
    return rewrite(raw, lambda inner: [replace(segment, version=segment.version + 90) for segment in inner])


def disorder(raw):
    return rewrite(raw, lambda inner: inner[::-1])


FIRST = {
    "truncated by one": send(lambda raw: raw[:-1]),
    "half": send(lambda raw: raw[: len(raw) // 2]),
    "head only": send(lambda raw: raw[:40]),
    "UTF-16": send(lambda raw: raw.decode("latin-1").encode("utf-16")),
    "UTF-8 twice": send(lambda raw: raw.replace(b"e", "ä".encode())),
    "unknown versions": send(renumber),
    "wrong order": send(disorder),
    "endless binary": send(lambda raw: raw[:60] + b"@99999999999999@" + raw[60:]),
    "nested": send(lambda raw: b"HNHBK:1:3" + b":+'" * 20_000),
    "zeroes": send(lambda raw: bytes(5000)),
    "other people's answer": send(lambda raw: rewrite(raw, lambda inner: [])),
    "empty message": send(lambda raw: b""),
    "empty": serve_bytes(b""),
    "no Base64": serve_bytes(b"<html>Wartung</html>"),
    "too large": serve_bytes(b"A" * 21_000_000),
    "500": serve_bytes(b"boom", 500),
    "503": serve_bytes(b"", 503),
    "redirect to another host": serve_bytes(b"", 302, Location="https://169.254.169.254/fints"),
    "redirect with the message": serve_bytes(b"", 307, Location="/elsewhere"),
    "packed": serve_bytes(b"\x1f\x8b" + bytes(100), **{"Content-Encoding": "gzip"}),
    "hanging": hang,
    "dribbling": dribble,
}


@pytest.mark.parametrize("case", FIRST)
def test_a_bad_first_answer_is_a_failure_without_the_pin(script, caplog, case):
    script.handle, script.messages = FIRST[case], 0
    step = begin(script)
    assert isinstance(step, Failed), step
    # The demo bank does not know this customer, and where that can still be read, it counts.
    assert step.kind in (FailureKind.UNREACHABLE, FailureKind.WRONG_CREDENTIALS)
    assert not step.is_outcome_unknown
    assert PIN not in repr(step)
    assert PIN not in caplog.text
    assert script.messages <= 2, "nothing is tried again and again"


def test_a_bank_that_repeats_the_pin_is_not_quoted(script):
    words = make_segment("HIRMS", 2, ("9942", None, f"Die PIN {PIN} ist falsch"))
    script.handle = send(lambda raw: rewrite(raw, lambda inner: [*inner[:-1], words, inner[-1]]))
    step = begin(script)
    assert step.kind is FailureKind.WRONG_CREDENTIALS
    assert PIN not in repr(step)


def test_a_server_of_an_unknown_authority_hears_nothing(script, tmp_path):
    script.handle, script.messages = None, 0
    stranger = ensure_certificates(tmp_path, "127.0.0.1").authority
    step = begin(script, connect(script, authority=stranger))
    assert (step.kind, script.messages) == (FailureKind.UNREACHABLE, 0)


def test_nobody_listens_or_nobody_is_known(script):
    known = FintsBank(BANK_CODE, "https://127.0.0.1:1/fints")
    nobody = FintsConnector(lambda provider: known, "x", script.authority, LIMITS)
    assert begin(script, nobody).kind is FailureKind.UNREACHABLE
    unknown = FintsConnector(lambda provider: None, "x", script.authority, LIMITS)
    assert begin(script, unknown).kind is FailureKind.UNREACHABLE


def test_without_a_registration_nothing_is_sent(script):
    script.handle, script.messages = None, 0
    step = begin(script, connect(script, product=None))
    assert (step.kind, script.messages) == (FailureKind.INTERNAL, 0)
    assert "KONTOR_FINTS_PRODUCT_ID" in step.detail


def test_a_refused_registration_is_named(script):
    refusal = make_segment("HIRMG", 2, ("9050", None, "Fehler"), ("9078", None, "Produkt nicht registriert"))
    script.handle = send(lambda raw: rewrite(raw, lambda inner: [inner[0], refusal, inner[-1]]))
    step = begin(script)
    assert (step.kind, "9078" in step.detail) == (FailureKind.INTERNAL, True)


def say_more(touchdown):
    """Each page is the first one, and says that there is another."""
    first = []

    def handle(handler, question, right):
        if any(segment.code == "HKCAZ" for segment in open_message(question)):
            first.append(right)
            more = replace(make_segment("HIRMS", 2, ("3040", None, "mehr", touchdown())), number=3, reference=3)
            right = rewrite(first[0], lambda inner: [*inner[:2], more, *inner[2:]])
        send(lambda raw: raw)(handler, question, right)

    return handle


def count():
    numbers = iter(range(10_000))
    return lambda: f"page{next(numbers)}"


@pytest.mark.parametrize("touchdown", [lambda: "same", count()], ids=["same", "growing"])
def test_a_statement_without_an_end_ends(script, monkeypatch, touchdown):
    monkeypatch.setattr(histories, "MAX_PAGES", 8)
    script.handle, script.messages = say_more(touchdown), 0
    last = fetch(script)[-1]
    assert isinstance(last, Failed)
    assert last.kind is FailureKind.UNREACHABLE
    assert script.messages < 25


BROKEN = {
    "no statement": ("HKCAZ", put("HICAZ", lambda segment: replace(segment, elements=(*segment.elements[:2], ("x",))))),
    "unknown version of the statement": ("HKCAZ", put("HICAZ", lambda segment: replace(segment, version=99))),
    "accounts of an unknown version": ("HKSPA", put("HISPA", lambda segment: replace(segment, version=99))),
    "accounts without numbers": ("HKSPA", put("HISPA", lambda segment: replace(segment, elements=(("N",),)))),
    "balance of an unknown version": ("HKSAL", put("HISAL", lambda segment: replace(segment, version=99))),
    "balance without an amount": (
        "HKSAL",
        put("HISAL", lambda segment: replace(segment, elements=segment.elements[:2])),
    ),
    "balance that is no number": (
        "HKSAL",
        put("HISAL", lambda segment: replace(segment, elements=(*segment.elements[:3], ("C", "x", "EUR", "20261113")))),
    ),
    "truncated statement": ("HKCAZ", lambda raw: raw[: len(raw) // 2]),
    "error while reading": (
        "HKCAZ",
        lambda raw: rewrite(raw, lambda inner: [inner[0], make_segment("HIRMG", 2, ("9010", None, "?")), inner[-1]]),
    ),
}


# Account numbers and IBANs stand in the user parameters as well.
TOLERATED = ("accounts without numbers", "accounts of an unknown version", "balance of an unknown version")


@pytest.mark.parametrize("case", BROKEN)
def test_a_bad_part_is_a_problem_or_a_failure_and_never_raises(script, caplog, case):
    when, answer = BROKEN[case]
    script.handle = send(answer, when)
    steps = fetch(script)
    last = steps[-1]
    assert isinstance(last, Failed | Done), last
    if isinstance(last, Done):
        assert last.result.problems or case in TOLERATED
    else:
        assert last.kind is FailureKind.UNREACHABLE
    for step in steps:
        assert '"demo"' not in json.dumps(getattr(step, "state", {}))
