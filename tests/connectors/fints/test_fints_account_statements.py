"""Account statements over FinTS: asked for where they are wanted, listed, fetched, and never in the way of the rest."""

import base64
import json
from itertools import count

import pytest
from fints_payer import Payer, overheard, tan

from fints_banks import TODAY
from kontor.connectors.base import Continue, Done, Fetch, NeedTan, Progress
from kontor.connectors.demo.account_statements import list_new
from kontor.connectors.demo.people import person_for
from kontor.connectors.fints.account_statements import StatementFiles
from kontor.connectors.traces.fints_messages import mask_message
from kontor.connectors.traces.masking import Mask
from kontor.demobank.fints import account_statements as bank_statements
from kontor.demobank.fints import parameters
from kontor.demobank.fints.modes import Mode
from kontor.domain.accesses import History
from kontor.domain.account_statements import (
    MAX_PER_FETCH,
    StatementFormat,
    StatementState,
    decode_content,
    find_format,
)
from many_examples import few_cases

pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")
STATEMENTS = {"HKKAU", "HKEKA", "HKEKP", "HKQTG"}
WANTED = Fetch(statements={}, history=History.RECENT)


@pytest.fixture
def most_files():
    """Files of one fetch; each takes the bank and the connector some time. One test has as many as production."""
    return 2


@pytest.fixture
def reader_at(bank_with, monkeypatch, most_files):
    monkeypatch.setattr("kontor.connectors.fints.account_statements.MAX_PER_FETCH", most_files)
    numbers = count()
    return lambda *modes, login="student", **facts: Payer(
        bank_with(*modes), f"{login}+statements{next(numbers)}", **facts
    )


def fetch(payer, job=WANTED, state=None):
    progress = payer.begin(job, state)
    assert isinstance(progress, Progress), progress
    done = payer.resume(progress, Continue())
    assert isinstance(done, Done), done
    return progress.partial, done.result


def list_codes(sent):
    return [segment.code for message in sent for segment in message.segments if segment.code in STATEMENTS]


def test_without_the_wish_no_statement_is_asked_for(reader_at):
    with overheard() as sent:
        _, fetched = fetch(reader_at(), Fetch())
    assert list_codes(sent) == []
    assert fetched.statements == {}


@pytest.mark.parametrize("most_files", [MAX_PER_FETCH])
def test_the_newest_statements_come_as_files_and_the_rest_is_named(reader_at, most_files):
    payer = reader_at()
    with overheard() as sent:
        _, fetched = fetch(payer)
    statements = fetched.statements[payer.account]
    assert [statement.state for statement in statements[:most_files]] == [StatementState.STORED] * most_files
    assert {statement.state for statement in statements[most_files:]} <= {StatementState.LISTED}
    newest = statements[0]
    assert (newest.year, newest.number) == (2026, 10)
    assert newest.content.startswith(b"%PDF-")
    assert newest.size == len(newest.content)
    assert newest.format is StatementFormat.PDF
    assert (newest.starts_on.isoformat(), newest.ends_on.isoformat()) == ("2026-10-01", "2026-10-31")
    assert newest.created_on.isoformat() == "2026-11-01"
    assert "HKQTG" not in list_codes(sent), "nothing is acknowledged"
    assert fetched.transactions[payer.account]
    assert not fetched.problems


def test_what_is_known_is_not_fetched_again(reader_at):
    payer = reader_at()
    _, first = fetch(payer)
    stored = [statement for statement in first.statements[payer.account] if statement.content]
    known = tuple((statement.year, statement.number) for statement in stored)
    _, second = fetch(payer, Fetch(statements={payer.account: known}))
    again = {(statement.year, statement.number) for statement in second.statements[payer.account]}
    assert again.isdisjoint(known)
    assert len(again) == len(first.statements[payer.account]) - len(known)


@pytest.mark.parametrize("form", few_cases([("HKEKA", 5), ("HKEKP", 2), ("HKEKA", 3), ("HKEKA", 4), ("HKEKP", 1)], 2))
def test_every_version_of_the_segments_brings_the_same_file(reader_at, monkeypatch, form):
    code, version = form
    payer = reader_at()
    expected = fetch(payer)[1].statements[payer.account][0].content
    offered = {name: value for name, value in parameters.BUSINESSES.items() if name not in ("HKEKA", "HKEKP")}
    monkeypatch.setattr(parameters, "BUSINESSES", offered | {code: ((version,), False)})
    with overheard() as sent:
        statements = fetch(payer)[1].statements[payer.account]
    assert {(segment.code, segment.version) for message in sent for segment in message.segments
            if segment.code in ("HKEKA", "HKEKP")} == {(code, version)}  # fmt: skip
    assert statements[0].content == expected
    assert (statements[0].year, statements[0].number) == (2026, 10)


@pytest.mark.parametrize("most_files", [MAX_PER_FETCH])
def test_a_bank_without_a_list_hands_out_what_it_counts_as_not_received(reader_at, monkeypatch):
    """Every file again at every fetch, as nothing is acknowledged: those that are known are passed over."""
    payer = reader_at()
    expected = [(item.year, item.number) for item in fetch(payer)[1].statements[payer.account]][::-1]
    assert len(expected) > MAX_PER_FETCH
    offered = {name: value for name, value in parameters.BUSINESSES.items() if name != "HKKAU"}
    monkeypatch.setattr(parameters, "BUSINESSES", offered)
    with overheard() as sent:
        first = fetch(payer)[1].statements[payer.account]
    orders = [segment for message in sent for segment in message.segments if segment.code == "HKEKA"
              and segment.read(1) == payer.account]  # fmt: skip
    assert {(order.read(3), order.read(4)) for order in orders} == {("", "")}
    assert len(orders) == MAX_PER_FETCH, "no page is asked for that is not wanted"
    assert [(item.year, item.number) for item in first] == expected[:MAX_PER_FETCH]
    known = tuple((item.year, item.number) for item in first)
    second = fetch(payer, Fetch(statements={payer.account: known}))[1].statements[payer.account]
    assert [(item.year, item.number) for item in second] == expected[MAX_PER_FETCH:]
    assert all(item.content for item in (*first, *second))


def test_a_bank_without_a_list_and_without_numbers_hands_out_all_files(reader_at, monkeypatch):
    payer = reader_at()
    expected = len(fetch(payer)[1].statements[payer.account])
    offered = {name: value for name, value in parameters.BUSINESSES.items() if name not in ("HKKAU", "HKEKA")}
    monkeypatch.setattr(parameters, "BUSINESSES", offered | {"HKEKP": ((1,), False)})
    statements = fetch(payer)[1].statements[payer.account]
    assert {item.number for item in statements} == {None}
    assert len({item.content for item in statements}) == expected > MAX_PER_FETCH


def test_without_an_authentication_nothing_is_asked_that_needs_a_tan(reader_at):
    payer = reader_at(Mode.STATEMENTS_ASK, is_present=False)
    with overheard() as sent:
        _, fetched = fetch(payer)
    assert list_codes(sent) == []
    assert fetched.statements == {}
    assert fetched.transactions[payer.account]
    assert not fetched.problems


def test_after_a_tan_at_login_statements_come_without_another_one(reader_at):
    payer = reader_at(Mode.STATEMENTS_ASK, login="test_phototan")
    steps = payer.drive(WANTED, (tan("8534842"),))
    assert sum(isinstance(step, NeedTan) for step in steps) == 1, steps
    done = payer.resume(steps[-1], Continue()) if isinstance(steps[-1], Progress) else steps[-1]
    assert isinstance(done, Done), done
    assert any(statement.content for statement in done.result.statements[payer.account])


@pytest.mark.parametrize("trouble", ["refused", "aborted", "unreadable", "huge"])
def test_trouble_with_statements_leaves_the_rest_of_the_fetch_whole(reader_at, monkeypatch, trouble, most_files):
    payer = reader_at()
    show = bank_statements.show_statement

    def fail(turn, customers, customer, order, receipts):
        if trouble == "refused":
            turn.reply(order, "9210")
        elif trouble == "aborted":
            turn.abort(order, "9075")
        elif trouble == "unreadable":
            turn.reply(order, "0020")
            turn.add(bank_statements.make_segment("HIEKA", 5, "3", "nonsense"), order)
        else:
            show(turn, customers, customer, order, receipts)

    monkeypatch.setattr(bank_statements, "show_statement", fail)
    if trouble == "huge":
        monkeypatch.setattr("kontor.connectors.fints.account_statements.MAX_BYTES", 100)
    _, fetched = fetch(payer)
    assert fetched.transactions[payer.account]
    assert not fetched.problems
    state = StatementState.TOO_LARGE if trouble == "huge" else StatementState.LISTED
    statements = fetched.statements[payer.account]
    assert [statement.state for statement in statements[:most_files]] == [state] * most_files
    assert not any(statement.content for statement in statements)


def test_a_step_that_is_nearly_over_fetches_no_statements(reader_at, monkeypatch):
    payer = reader_at()
    monkeypatch.setattr(StatementFiles, "_has_time", property(lambda _: False))
    with overheard() as sent:
        _, fetched = fetch(payer)
    assert list_codes(sent) == []
    assert fetched.transactions[payer.account]


def test_the_demo_connector_makes_the_files_that_its_fints_server_sends(reader_at):
    payer = reader_at()
    account = person_for(payer.login, TODAY).accounts[0]
    rows = [entry.transaction for entry in account.entries]
    made = list_new(account.product, rows, TODAY, ())
    fetched = fetch(payer)[1].statements[payer.account]
    assert [item.number for item in made] == [item.number for item in fetched]
    assert made[0].content.startswith(b"%PDF-")
    assert made[0] == list_new(account.product, rows, TODAY, ())[0], "the same month makes the same file"


def test_a_pdf_in_base64_is_decoded_and_a_format_is_found_in_the_file():
    pdf = b"%PDF-1.7 content"
    assert decode_content(base64.encodebytes(pdf)) == pdf
    assert decode_content(pdf) == pdf
    assert decode_content(b":20:STARTUMS") == b":20:STARTUMS"
    assert find_format(pdf) is StatementFormat.PDF
    assert find_format(b"\r\n:20:STARTUMS") is StatementFormat.MT940
    assert find_format(b'<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">') is (
        StatementFormat.CAMT
    )
    assert find_format(b"whatever") is StatementFormat.OTHER


def test_a_trace_has_nothing_of_a_file():
    message = b"HNHBK:1:3+000000000100+300+1+2'HIEKA:2:5:3+3+20261001:20261031+20261101+2026+10+@15@%PDF-Erika 4711"
    message += b"++++DE89370400440532013000+BIC+Erika Muster+++@3@abc'HIEKP:3:2:3+@15@%PDF-Erika 4711'HNHBS:4:1+2'"
    shown = json.dumps(mask_message(Mask(b"key"), message))
    assert not any(text in shown for text in ("Erika", "4711", "%PDF", "DE89370400440532013000", "abc"))
    assert "20261001" in shown
