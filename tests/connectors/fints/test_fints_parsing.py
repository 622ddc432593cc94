"""Reading a bank's messages: the shortened steps of the library find what the library finds."""

import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor

import fints.parser
import pytest
from fints.segments.base import FinTS3Segment
from fints.types import SegmentSequence
from fints_payer import PROVIDER, know_bank
from hypothesis import given
from hypothesis import strategies as st
from scripted_bank_server import running_scripted_bank, send

from fints_banks import BANK_CODE, TODAY
from kontor.connectors.base import Context, FailureKind, Fetch
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.fints.parameters import BankParameters
from kontor.connectors.fints.parsing import (
    find_class,
    list_values,
    measure_structure,
    split_segments,
    write_segment,
)
from kontor.domain.secrets import Secret


@pytest.fixture(scope="module")
def script(bank, tmp_path_factory):
    with running_scripted_bank(tmp_path_factory.mktemp("parts"), bank.bank) as script:
        yield script


def test_each_segment_is_read_by_the_class_of_its_name_and_version():
    named = [each for each in FinTS3Segment._all_subclasses() if each.TYPE and each.VERSION]
    newest = {(each.TYPE, each.VERSION): each for each in named}  # of two with one name the library takes the last
    assert len(newest) > 100
    assert {key: find_class([[key[0], "3", str(key[1])]]) for key in newest} == newest


def test_a_segment_that_nobody_knows_is_read_in_its_general_form():
    assert find_class([["HIXYZ", "3", "9"]]) is FinTS3Segment
    [segment] = SegmentSequence(b"HIXYZ:3:9+a+b'").segments
    assert (segment.header.type, segment._additional_data) == ("HIXYZ", ["a", "b"])


def load_library_parser():
    """The parser as its authors have written it; the one in use is patched."""
    spec = importlib.util.spec_from_file_location("fints.unpatched_parser", fints.parser.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FinTS3Parser


LIBRARY = load_library_parser()
PIECES = [
    b"'",
    b"+",
    b":",
    b"?",
    b"??",
    b"?'",
    b"@",
    b"@0@",
    b"@2@",
    b"@2@ab",
    b"@9@",
    b"@x@",
    b"a",
    b"HIRMS:3:2",
    b"\xe4",
]


def split_or_refuse(split, message):
    try:
        return split(message)
    except ValueError:
        return "refused"


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_a_message_is_split_as_the_library_splits_it(message):
    assert split_segments is fints.parser.FinTS3Parser.explode_segments
    assert split_or_refuse(split_segments, message) == split_or_refuse(LIBRARY.explode_segments, message)


@given(st.lists(st.sampled_from(["", "HKSAL", "HKKAZ"]), max_size=8))
def test_businesses_of_an_account_are_those_that_the_bank_has_sent(names):
    last = max((place for place, name in enumerate(names, 1) if name), default=0)
    account = b"HIUPD:4:6:4+1::280:76+DE12++6+EUR+A++Konto++"
    [segment] = SegmentSequence(account + b"+".join(name.encode() for name in names) + b"'").segments
    for _ in range(2):
        assert [each.transaction or "" for each in list_values(segment.allowed_transactions)] == names[:last]
    assert len(segment.allowed_transactions) == 999, "as the library reads and writes it"


def test_threads_read_the_same_parameters_at_once():
    """Their lists end with the last value: nobody looks through hundreds of empty ones, or drops them meanwhile."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as threads:
            for number in range(20):
                message = b"HIPINS:7:1:4+1+1+0+5:20:%d:::HKSAL:J:HKKAZ:N'" % (number + 1)
                required = SegmentSequence(message).segments[0].parameter.transaction_tans_required
                assert len(required._data) == 2
                readings = [
                    threads.submit(lambda values=required: [each.transaction for each in values]) for _ in range(8)
                ]
                assert [reading.result() for reading in readings] == [["HKSAL", "HKKAZ"]] * 8
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize(
    "message",
    [b"HISALS:12:5:4+3+1'", b"HIUPD:4:6:4+1::280:76?'5+DE12++6+EUR+A?+B++Konto++HKSAL:1'", b"HISALS:1:5+@2@ab'"],
)
def test_a_parameter_is_kept_as_the_bank_sent_it(message):
    first, second = (SegmentSequence(message).segments[0] for _ in range(2))
    assert write_segment(first) == message == write_segment(second)
    assert (first is second) == message.startswith(b"HISALS"), "shared by customers, but not what is about one of them"


def test_parameters_that_differ_in_one_letter_are_kept_apart():
    first, second = SegmentSequence(b"HISALS:12:6:4+3+1+0'HISALS:12:6:4+3+2+0'").segments
    assert first._additional_data == ["3", "1", "0"]
    assert second._additional_data == ["3", "2", "0"]


@pytest.mark.parametrize("part", [b"a", b"+", b":", b"a:", b"\xe4+"])
def test_large_parameters_are_read_each_time(part):
    """Whatever makes them large: empty parts take memory, too."""
    small, large = b"HIXYZS:1:1:4+%s1'" % (part * 1000), b"HIXYZS:1:1:4+%s1'" % (part * 5000)
    for message, is_shared in ((small, True), (large, False)):
        first, second = (SegmentSequence(message).segments[0] for _ in range(2))
        assert (first is second) == is_shared


def test_a_banks_parameters_that_were_read_are_not_written_again(bank, monkeypatch):
    kept = know_bank(bank)
    assert len(kept["bank"]) > 1000

    def refuse(_):
        raise AssertionError("written again")

    monkeypatch.setattr(SegmentSequence, "render_bytes", refuse)
    parameters = BankParameters.deserialize(kept)
    assert parameters.list_methods()
    assert parameters.serialize() == kept


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (b"HNHBK:1:3+1'", 12),
        (b"HIKAZ:3:7+@5@12345'", 14),
        (b"HIKAZ:3:7+@5@12345+@3@abc'", 18),
        (b"HIRMS:3:2+a?@5?@b'", 18),
        (b"HNVSD:999:1+@12@HIRMS:3:2+a'b'", 30),
        (b"HNVSD:999:1+@99@HIKAZ:3:7+@5@12345''", 31),
        (b"HIKAZ:3:7+@99999@short", 17),
        (b"", 0),
    ],
)
def test_what_is_not_binary_is_measured_also_in_the_envelope(message, size):
    assert measure_structure(message) == size


@pytest.mark.parametrize("unit", [b"'", b"+a", b":", b"HIRMS:3:2+0010::ok'", b"+@1@x", b"@0@"])
def test_an_answer_of_very_many_parts_is_refused_before_it_is_read(script, unit):
    """Reading it would take minutes."""
    envelope = b"HNHBK:1:3+000000000342+300+0+1'HNVSK:998:3'HNVSD:999:1+@%d@"
    content = unit * (2_000_000 // len(unit))
    script.handle = send(lambda raw: envelope % len(content) + content + b"'HNHBS:5:1+1'")
    script.messages = 0
    credentials = {"userid": Secret("somebody"), "pin": Secret("s3cret-pin")}
    known = FintsBank(BANK_CODE, script.url)
    connector = FintsConnector(lambda provider: known, "PRODUCT", script.authority)
    step = connector.begin(PROVIDER, credentials, Fetch(), None, Context(TODAY))
    assert (step.kind, step.detail) == (FailureKind.UNREACHABLE, "the answer has too many parts")
    assert script.messages == 1
