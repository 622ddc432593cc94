"""Canonical JSON as RFC 8785 has it: by its own example, and by what a JavaScript engine writes."""

import json
from decimal import Decimal

import javascript
import pytest

from kontor.wire.canonical_json import canonicalize

# Section 3.2.2 and 3.2.3 of the RFC, but for numbers with exponents, which no document of ours has.
SAMPLE = {
    "numbers": [Decimal("4.50"), Decimal("0.002"), 333333333, Decimal("12.00"), Decimal("-0.10")],
    "string": '€$\u000f\nA\'B"\\\\"/',
    "literals": [None, True, False],
}
EXPECTED = (
    '{"literals":[null,true,false],"numbers":[4.5,0.002,333333333,12,-0.1],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
)
NAMES = {"€": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
         "😀": "Emoji: Grinning Face", "\u0080": "Control", "ö": "Latin Small Letter O With Diaeresis"}  # fmt: skip
ORDER = ["Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign",
         "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh"]  # fmt: skip


def test_the_example_of_the_rfc_is_written_as_the_rfc_writes_it():
    assert canonicalize(SAMPLE).decode() == EXPECTED


def test_names_are_in_the_order_of_the_rfc():
    assert list(json.loads(canonicalize(NAMES)).values()) == ORDER


@pytest.mark.parametrize("number", ["0.01", "-0.01", "1234567.89", "99999999999.99", "1e15", "3", "-12.30", "0.0001"])
def test_a_number_is_read_as_it_was(number):
    written = canonicalize(Decimal(number)).decode()
    assert (Decimal(written), "e" in written) == (Decimal(number), False)


@pytest.mark.programs
def test_a_javascript_engine_writes_the_same():
    value = SAMPLE | {
        "amounts": [Decimal(cents) / 100 for cents in range(-500, 500, 7)],
        "text": "Größe\u2028 </script>",
    }
    text = json.dumps(value, default=float)
    assert canonicalize(value) == javascript.canonicalize(text)
