"""Bad answers to payments, and the meaning of a bank's codes."""

from dataclasses import replace
from uuid import uuid4

import pytest
from bad_bank_talk import PATIENT, SMALL, connect
from fints_payer import PROVIDER, know_bank, order, tan
from scripted_bank_server import rewrite, send, serve_bytes

from fints_banks import TODAY
from kontor.connectors.base import (
    Context,
    FailureKind,
    NeedTan,
    Pay,
)
from kontor.connectors.fints.codes import Code, find_failure
from kontor.demobank.fints.segments import make_segment
from kontor.domain.secrets import Secret

# The parser warns of what it does not know and goes on, as in production.
pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")


# Payments


def pay(script, login=SMALL):
    credentials = {"userid": Secret(login), "pin": Secret("demo")}
    connector = connect(script, limits=PATIENT)
    products = script.bank._customers.find(login, TODAY).products
    job = Pay(uuid4(), products[0].iban, (order(),))
    context = Context(TODAY, customer_ip="93.184.216.34")
    script.handle = None
    question = connector.begin(PROVIDER, credentials, job, {"knowledge": know_bank(script)}, context)
    assert isinstance(question, NeedTan), question
    return lambda: connector.resume(PROVIDER, credentials, question.state, tan("24"), context)


def contradict(raw):
    """Taken, and refused."""
    both = make_segment("HIRMS", 2, ("0020", None, "ausgeführt"), ("9210", None, "abgelehnt"))
    return rewrite(raw, lambda inner: [inner[0], inner[1], replace(both, number=4, reference=4), inner[-1]])


def say_nothing(raw):
    """A remark, and no word that the order was taken."""
    remark = make_segment("HIRMS", 2, ("3050", None, "UPD nicht mehr aktuell"))
    return rewrite(raw, lambda inner: [inner[0], inner[1], replace(remark, number=4, reference=4), inner[-1]])


@pytest.mark.parametrize(
    "handle",
    [
        send(lambda raw: raw[:50]),
        serve_bytes(b"", 500),
        serve_bytes(b"no"),
        send(contradict, "HKTAN"),
        send(say_nothing, "HKTAN"),
    ],
    ids=["truncated", "500", "no Base64", "contradictory", "silent"],
)
def test_after_the_tan_has_left_a_bad_answer_is_an_unknown_outcome(script, handle):
    answer = pay(script)
    script.handle = handle
    step = answer()
    assert (step.kind, step.is_outcome_unknown) == (FailureKind.UNREACHABLE, True)


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        (["9050", "9391"], FailureKind.NO_FUNDS),
        (["9050", "9931"], FailureKind.LOCKED),
        (["3938", "9931"], FailureKind.LOCKED),
        (["9942", "3938"], FailureKind.LOCKED),
        (["9942"], FailureKind.WRONG_CREDENTIALS),
        (["9800"], FailureKind.UNREACHABLE),
        (["9050", "9999"], FailureKind.REJECTED),
        (["0010", "3060"], None),
    ],
)
def test_codes_have_one_meaning(codes, kind):
    failure = find_failure([Code(code, "words") for code in codes], is_login=False)
    assert (failure and failure[0]) == kind


def test_an_unknown_error_at_the_login_is_not_tried_again_and_again():
    assert find_failure([Code("9999", "?")], is_login=True)[0] is FailureKind.WRONG_CREDENTIALS
