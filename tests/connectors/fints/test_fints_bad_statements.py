"""Statements that a bank should not send: empty, huge, contradictory, noisy, hostile."""

from dataclasses import replace
from decimal import Decimal

import pytest
from bad_bank_talk import fetch, put
from scripted_bank_server import open_message, rewrite, send

from kontor.connectors.base import (
    Done,
    ProblemKind,
    Progress,
)
from kontor.connectors.fints import histories
from kontor.demobank.fints.segments import make_segment
from kontor.domain.balances import find_gap

# The parser warns of what it does not know and goes on, as in production.
pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")


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
    script.handle = send(
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
    script.handle = send(put("HICAZ", lambda segment: replace(segment, elements=change(segment))), "HKCAZ")
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert done.result.problems == ()
    assert {len(rows) for rows in done.result.transactions.values()} == {0}


@pytest.mark.parametrize("page", [b"\r\n", b"\r\n-\r\n", b"@@-@@"])
def test_an_mt940_of_nothing_is_an_account_without_bookings(page):
    without = histories.read_transactions("key", histories.Raw("mt940"))
    assert histories.read_transactions("key", histories.Raw("mt940", [page], [page])) == without


def test_a_bad_entry_is_a_problem_and_the_others_are_there(script):
    script.handle = replace_statement(write_camt(3, "3.00").replace(b">1.00<", b">?<", 1))
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

    def handle(handler, question, right):
        if any(segment.code == "HKSAL" for segment in open_message(question)):
            right = put("HISAL", lambda segment: replace(segment, elements=(*segment.elements[:3], balance)))(right)
        camt(handler, question, right)

    script.handle = handle
    progress, done = fetch(script)
    assert {product.balance for product in progress.partial.products} == {Decimal("1234.01")}
    assert done.result.problems == ()
    amounts = {row.amount for rows in done.result.transactions.values() for row in rows}
    assert amounts == {Decimal("94.01")}


@pytest.mark.parametrize("amount", ["100,10", "94,010000000020", "0,00"])
def test_a_balance_that_ends_in_zeros_is_read(script, amount):
    balance = ("C", amount, "EUR", "20261113")
    script.handle = send(
        put("HISAL", lambda segment: replace(segment, elements=(*segment.elements[:3], balance))), "HKSAL"
    )
    progress = fetch(script)[0]
    assert isinstance(progress, Progress)
    assert {product.balance for product in progress.partial.products} == {round(Decimal(amount.replace(",", ".")), 2)}


def test_a_statement_that_contradicts_its_balance_is_kept_and_its_balances_are_handed_on(script):
    """Whether bookings are missing is judged by what is stored."""
    script.handle = replace_statement(write_camt(3, "77.00"))
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

    def handle(handler, question, right):
        """Once is enough."""
        if is_sent or not any(segment.code == "HKCAZ" for segment in open_message(question)):
            return send(lambda raw: raw)(handler, question, right)
        is_sent.append(True)
        return large(handler, question, right)

    script.handle = handle
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert max(map(len, done.result.transactions.values())) >= 12_000


def test_an_xml_bomb_is_a_problem(script):
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Document>&b;</Document>'
    script.handle = replace_statement(bomb.encode())
    done = fetch(script)[-1]
    assert isinstance(done, Done)
    assert {problem.kind for problem in done.result.problems} == {ProblemKind.TRANSACTIONS}


def test_a_restart_point_of_another_segment_is_not_followed(script):
    other = replace(make_segment("HIRMS", 2, ("3040", None, "Es liegen weitere TAN-Medien vor.", "other")), reference=4)
    script.handle = send(lambda raw: rewrite(raw, lambda inner: [*inner[:2], other, *inner[2:]]), when="HKCAZ")
    done = fetch(script)[-1]
    assert isinstance(done, Done), done
    assert {problem.kind for problem in done.result.problems} <= {ProblemKind.BANK_MESSAGE}
    assert all(done.result.transactions.values())
