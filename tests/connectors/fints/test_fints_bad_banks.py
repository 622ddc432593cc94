"""Whatever a bank sends: a `Failed` or a problem, soon, and the PIN nowhere."""

import json
from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

import pytest
from fints_payer import PROVIDER, know_bank, order, tan
from scripted_bank_server import dribble, hang, open_message, rewrite, running_scripted_bank, send, serve_bytes

from fints_banks import BANK_CODE, TODAY
from kontor.connectors.base import (
    Context,
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    NeedTan,
    Pay,
    ProblemKind,
    Progress,
)
from kontor.connectors.fints import FintsBank, FintsConnector, histories
from kontor.connectors.fints.codes import Code, find_failure
from kontor.connectors.fints.transport import TransportLimits
from kontor.demobank.certificates import ensure_certificates
from kontor.demobank.fints.segments import make_segment
from kontor.domain.balances import find_gap
from kontor.domain.secrets import Secret

# The parser warns of what it does not know and goes on, as in production.
pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")
LIMITS = TransportLimits(connect_seconds=5, read_seconds=1, answer_seconds=0.5, largest_bytes=20_000_000)
PIN = "s3cret-pin"
SMALL = "test_bank_message"
PATIENT = TransportLimits(read_seconds=60)


@pytest.fixture(scope="module")
def script(bank, tmp_path_factory):
    with running_scripted_bank(tmp_path_factory.mktemp("bad"), bank.bank) as script:
        know_bank(script)  # while it still behaves
        yield script


def connect(script, *, authority=None, limits=LIMITS, product="9FA6681DEC0CF3046BFC2F8A6"):
    known = FintsBank(BANK_CODE, script.url)
    return FintsConnector(lambda provider: known, product, authority or script.authority, limits)


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
    script.conduct, script.messages = FIRST[case], 0
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
    script.conduct = send(lambda raw: rewrite(raw, lambda inner: [*inner[:-1], words, inner[-1]]))
    step = begin(script)
    assert step.kind is FailureKind.WRONG_CREDENTIALS
    assert PIN not in repr(step)


def test_a_server_of_an_unknown_authority_hears_nothing(script, tmp_path):
    script.conduct, script.messages = None, 0
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
    script.conduct, script.messages = None, 0
    step = begin(script, connect(script, product=None))
    assert (step.kind, script.messages) == (FailureKind.INTERNAL, 0)
    assert "KONTOR_FINTS_PRODUCT_ID" in step.detail


def test_a_refused_registration_is_named(script):
    refusal = make_segment("HIRMG", 2, ("9050", None, "Fehler"), ("9078", None, "Produkt nicht registriert"))
    script.conduct = send(lambda raw: rewrite(raw, lambda inner: [inner[0], refusal, inner[-1]]))
    step = begin(script)
    assert (step.kind, "9078" in step.detail) == (FailureKind.INTERNAL, True)


# Later answers: the dialogue is open, and one kind of message goes wrong.


def fetch(script, login=SMALL, limits=PATIENT):
    """All steps of a fetch."""
    connector_state = {"knowledge": know_bank(script)}
    connector, credentials = connect(script, limits=limits), {"userid": Secret(login), "pin": Secret("demo")}
    steps = [connector.begin(PROVIDER, credentials, Fetch(), connector_state, Context(TODAY))]
    if isinstance(steps[-1], Progress):
        state = json.loads(json.dumps(steps[-1].state))
        steps.append(connector.resume(PROVIDER, credentials, state, Continue(), Context(TODAY)))
    return steps


def put(code, change):
    """Segments of this code changed."""
    return lambda raw: rewrite(
        raw, lambda inner: [change(segment) if segment.code == code else segment for segment in inner]
    )


def say_more(touchdown):
    """Each page is the first one, and says that there is another."""
    first = []

    def conduct(handler, question, right):
        if any(segment.code == "HKCAZ" for segment in open_message(question)):
            first.append(right)
            more = replace(make_segment("HIRMS", 2, ("3040", None, "mehr", touchdown())), number=3, reference=3)
            right = rewrite(first[0], lambda inner: [*inner[:2], more, *inner[2:]])
        send(lambda raw: raw)(handler, question, right)

    return conduct


def count():
    numbers = iter(range(10_000))
    return lambda: f"page{next(numbers)}"


@pytest.mark.parametrize("touchdown", [lambda: "same", count()], ids=["same", "growing"])
def test_a_statement_without_an_end_ends(script, monkeypatch, touchdown):
    monkeypatch.setattr(histories, "MOST_PAGES", 8)
    script.conduct, script.messages = say_more(touchdown), 0
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
    script.conduct = send(answer, when)
    steps = fetch(script)
    last = steps[-1]
    assert isinstance(last, Failed | Done), last
    if isinstance(last, Done):
        assert last.result.problems or case in TOLERATED
    else:
        assert last.kind is FailureKind.UNREACHABLE
    for step in steps:
        assert '"demo"' not in json.dumps(getattr(step, "state", {}))


def replace_statement(text):
    """As camt.052, in the form of the segment."""

    def change(segment):
        return replace(segment, elements=(*segment.elements[:2], (text,)))

    return send(put("HICAZ", change), "HKCAZ")


def write_camt(rows, closing):
    entries = "".join(
        f'<Ntry><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>'
        f"<BookgDt><Dt>2026-11-0{1 + number % 9}</Dt></BookgDt><ValDt><Dt>2026-11-01</Dt></ValDt>"
        f"<AcctSvcrRef>{number}</AcctSvcrRef><NtryDtls><TxDtls><RmtInf><Ustrd>{'x' * 600}</Ustrd></RmtInf></TxDtls>"
        "</NtryDtls></Ntry>"
        for number in range(rows)
    )
    balances = "".join(
        f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy='EUR'>{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>"
        f"<Dt><Dt>{day}</Dt></Dt></Bal>"
        for code, amount, day in (("OPBD", "0.00", "2026-11-01"), ("CLBD", closing, "2026-11-13"))
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08">'
        "<BkToCstmrAcctRpt><GrpHdr><MsgId>1</MsgId></GrpHdr><Rpt><Id>1</Id><Acct><Id><IBAN>DE89370400440532013000"
        f"</IBAN></Id><Ccy>EUR</Ccy></Acct>{balances}{entries}</Rpt></BkToCstmrAcctRpt></Document>"
    ).encode()


NOISY = write_camt(1, "94.01").replace(b">1.00<", b">94.010000000021<")
EMPTY_CAMT = (
    b'<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt><GrpHdr><MsgId>1</MsgId>'
    b"</GrpHdr></BkToCstmrAcctRpt></Document>"
)


@pytest.mark.parametrize(
    "documents",
    [(EMPTY_CAMT, "full"), ("full", EMPTY_CAMT), ("full", b"")],
    ids=["empty first", "empty last", "no bytes"],
)
def test_an_empty_document_among_the_pages_takes_no_bookings_away(script, documents):
    full = write_camt(3, "3.00")
    pages = tuple(full if document == "full" else document for document in documents)
    script.conduct = send(
        put("HICAZ", lambda segment: replace(segment, elements=(*segment.elements[:2], pages))), "HKCAZ"
    )
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert done.result.problems == ()
    assert done.result.transactions
    for rows in done.result.transactions.values():  # an account may come in several answers
        assert rows
        assert len(rows) % 3 == 0


@pytest.mark.parametrize(
    "change",
    [lambda segment: (*segment.elements[:2], (EMPTY_CAMT,)), lambda segment: segment.elements[:2]],
    ids=["empty document", "no document"],
)
def test_an_empty_answer_is_an_account_without_bookings(script, change):
    script.conduct = send(put("HICAZ", lambda segment: replace(segment, elements=change(segment))), "HKCAZ")
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert done.result.problems == ()
    assert {len(rows) for rows in done.result.transactions.values()} == {0}


@pytest.mark.parametrize("page", [b"\r\n", b"\r\n-\r\n", b"@@-@@"])
def test_an_mt940_of_nothing_is_an_account_without_bookings(page):
    without = histories.read_transactions("key", histories.Raw("mt940"))
    assert histories.read_transactions("key", histories.Raw("mt940", [page], [page])) == without


def test_a_bad_entry_is_a_problem_and_the_others_are_there(script):
    script.conduct = replace_statement(write_camt(3, "3.00").replace(b">1.00<", b">?<", 1))
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert done.result.transactions
    for rows in done.result.transactions.values():  # an account may come in several answers
        assert rows
        assert len(rows) % 2 == 0
    assert any(problem.count == 1 and "Entry 1" in (problem.detail or "") for problem in done.result.problems)


def test_amounts_with_noise_behind_the_cents_are_read_in_bookings_and_balances(script):
    """As comdirect sends them."""
    camt = send(put("HICAZ", lambda segment: replace(segment, elements=(*segment.elements[:2], (NOISY,)))), "HKCAZ")
    balance = ("C", "1234,010000000021", "EUR", "20261113")

    def conduct(handler, question, right):
        if any(segment.code == "HKSAL" for segment in open_message(question)):
            right = put("HISAL", lambda segment: replace(segment, elements=(*segment.elements[:3], balance)))(right)
        camt(handler, question, right)

    script.conduct = conduct
    progress, done = fetch(script)
    assert {product.balance for product in progress.partial.products} == {Decimal("1234.01")}
    assert done.result.problems == ()
    amounts = {row.amount for rows in done.result.transactions.values() for row in rows}
    assert amounts == {Decimal("94.01")}


@pytest.mark.parametrize("amount", ["100,10", "94,010000000020", "0,00"])
def test_a_balance_that_ends_in_zeros_is_read(script, amount):
    balance = ("C", amount, "EUR", "20261113")
    script.conduct = send(
        put("HISAL", lambda segment: replace(segment, elements=(*segment.elements[:3], balance))), "HKSAL"
    )
    progress = fetch(script)[0]
    assert isinstance(progress, Progress)
    assert {product.balance for product in progress.partial.products} == {round(Decimal(amount.replace(",", ".")), 2)}


def test_a_statement_that_contradicts_its_balance_is_kept_and_its_balances_are_handed_on(script):
    """Whether bookings are missing is judged by what is stored."""
    script.conduct = replace_statement(write_camt(3, "77.00"))
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert done.result.problems == ()
    rows = done.result.transactions
    assert all(rows.values())
    gaps = [find_gap(span, rows[key]) for key, spans in done.result.spans.items() for span in spans]
    assert gaps
    assert None not in gaps


def test_ten_megabytes_are_read(script):
    document = write_camt(12_000, "12000.00")
    assert len(document) > 10_000_000
    large, is_sent = replace_statement(document), []

    def conduct(handler, question, right):
        """Once is enough."""
        if is_sent or not any(segment.code == "HKCAZ" for segment in open_message(question)):
            return send(lambda raw: raw)(handler, question, right)
        is_sent.append(True)
        return large(handler, question, right)

    script.conduct = conduct
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert max(map(len, done.result.transactions.values())) >= 12_000


def test_an_xml_bomb_is_a_problem(script):
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Document>&b;</Document>'
    script.conduct = replace_statement(bomb.encode())
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert {problem.kind for problem in done.result.problems} == {ProblemKind.TRANSACTIONS}


# Payments


def pay(script, login=SMALL):
    credentials = {"userid": Secret(login), "pin": Secret("demo")}
    connector = connect(script, limits=PATIENT)
    products = script.bank._customers.find(login, TODAY).products
    job = Pay(uuid4(), products[0].iban, (order(),))
    context = Context(TODAY, customer_ip="93.184.216.34")
    script.conduct = None
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
    "conduct",
    [
        send(lambda raw: raw[:50]),
        serve_bytes(b"", 500),
        serve_bytes(b"no"),
        send(contradict, "HKTAN"),
        send(say_nothing, "HKTAN"),
    ],
    ids=["truncated", "500", "no Base64", "contradictory", "silent"],
)
def test_after_the_tan_has_left_a_bad_answer_is_an_unknown_outcome(script, conduct):
    answer = pay(script)
    script.conduct = conduct
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


def test_a_restart_point_of_another_segment_is_not_followed(script):
    other = replace(make_segment("HIRMS", 2, ("3040", None, "Es liegen weitere TAN-Medien vor.", "other")), reference=4)
    script.conduct = send(lambda raw: rewrite(raw, lambda inner: [*inner[:2], other, *inner[2:]]), when="HKCAZ")
    done = fetch(script)[-1]
    assert isinstance(done, Done), done
    assert {problem.kind for problem in done.result.problems} <= {ProblemKind.BANK_MESSAGE}
    assert all(done.result.transactions.values())
