"""The wire format: what is written is read again, and what is no FinTS is refused with a code."""

from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.demobank.fints.segments import (
    Segment,
    WireError,
    make_segment,
    parse_segments,
    write_segment,
    write_segments,
)

LATIN = st.text(st.characters(max_codepoint=255), max_size=20)
VALUES = LATIN | st.binary(min_size=1, max_size=40)


def trim(segment: Segment) -> list[list[str | bytes]]:
    """Without what is empty at the end, which is not sent."""
    groups = []
    for group in segment.elements:
        values = list(group)
        while values and not values[-1]:
            values.pop()
        groups.append(values)
    while groups and not groups[-1]:
        groups.pop()
    return groups


@given(st.lists(st.lists(st.lists(VALUES, max_size=4), max_size=5), min_size=1, max_size=5))
def test_whatever_is_written_is_read_again(rows):
    segments = [Segment("HKSAL", 7, tuple(map(tuple, groups)), number) for number, groups in enumerate(rows, 1)]
    read = parse_segments(write_segments(segments))
    assert [trim(segment) for segment in read] == [trim(segment) for segment in segments]
    assert [(segment.code, segment.number, segment.version) for segment in read] == [
        ("HKSAL", segment.number, 7) for segment in segments
    ]


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message_are_a_wire_error_or_segments(data):
    with suppress(WireError):
        assert all(segment.code.isupper() for segment in parse_segments(data))


def test_plain_values_are_written_as_the_specification_wants_them():
    segment = make_segment(
        "HISAL", 7, ("a'b", None, "c:d"), True, Decimal("12.50"), Decimal(-3), date(2026, 1, 2), None, b"x'y"
    )
    assert write_segment(segment) == b"HISAL:0:7+a?'b::c?:d+J+12,5+3,+20260102++@3@x'y'"


@pytest.mark.parametrize(
    "data",
    [
        b"HKSAL:3:7+x",
        b"HKSAL:3:7+x?",
        b"HKSAL:3+x'",
        b"hksal:3:7+x'",
        b"HKSAL:x:7+x'",
        b"HKSAL:3:7+@9@abc'",
        b"HKSAL:3:7+@@abc'",
        b"HKSAL:3:7+@3@abcd'",
        b"HKSAL:3:7+@999999999999@a'",
        b"'",
        b"HKSAL:3:7" + b"+" * 6000 + b"'",
        b"HKEND:3:1'" * 300,
    ],
)
def test_malformed_segments_are_refused(data):
    with pytest.raises(WireError) as caught:
        parse_segments(data)
    assert caught.value.code == "9110"


def test_a_value_that_is_not_there_is_empty():
    (segment,) = parse_segments(b"HKSAL:3:7+a:b+c'")
    assert (segment.read(1, 1), segment.read(1, 5), segment.read(9), segment.read_group(9)) == ("b", "", "", ())
    assert segment.read_day(5) is None


@pytest.mark.parametrize("text", ["2026", "20261301", "2026010x", "99999999"])
def test_a_date_that_is_none_is_refused(text):
    with pytest.raises(WireError, match="is no date"):
        make_segment("HKKAZ", 7, text).read_day(1)
