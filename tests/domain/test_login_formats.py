"""Login formats: both notations, their descriptions, their HTML patterns, and that hostile ones do no harm."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.domain.login_formats import compile_format

CLASSES = {"#": "[0-9]", "|": "[A-Za-z0-9]", "-": r"[-\x20/.]"}

tokens = st.tuples(
    st.sampled_from("#|-"), st.sampled_from(["", "exactly", "at most"]), st.integers(min_value=1, max_value=12)
)
token_lists = st.lists(tokens, min_size=1, max_size=6)
values = st.text(alphabet="0123456789abzABZäß-/. _#|~\n٣", max_size=30)


def write_format(parts):
    marks = {"": "", "exactly": "{}", "at most": "~{}"}
    return "".join(token + marks[how].format(count) for token, how, count in parts)


def write_regex(parts):
    counts = {"": "{{1}}", "exactly": "{{{0}}}", "at most": "{{0,{0}}}"}
    return "".join(CLASSES[token] + counts[how].format(count) for token, how, count in parts)


@given(token_lists, values)
def test_token_formats_agree_with_the_same_regular_expression_on_any_value(parts, value):
    expected = re.fullmatch(write_regex(parts), value, re.ASCII) is not None
    assert compile_format(write_format(parts)).matches(value) is expected


@given(token_lists, st.data())
def test_token_formats_accept_every_value_generated_from_them(parts, data):
    value = data.draw(st.from_regex(re.compile(write_regex(parts), re.ASCII), fullmatch=True))
    assert compile_format(write_format(parts)).matches(value)


@given(token_lists, values)
def test_html_patterns_of_token_formats_accept_the_same_values(parts, value):
    compiled = compile_format(write_format(parts))
    assert (re.fullmatch(compiled.html_pattern(), value) is not None) is compiled.matches(value)


@given(st.text(alphabet="|#-~0123456789", max_size=12))
def test_any_text_in_token_characters_compiles_or_raises_value_error(text):
    try:
        compile_format(text).matches("12345")
    except ValueError:
        return


@pytest.mark.parametrize(
    ("format", "good", "bad"),
    [
        ("#~11", ["", "1", "12345678901"], ["123456789012", "1a", " 1", "١٢٣"]),
        ("|5", ["abc12", "ABCDE"], ["abc1", "abc123", "abc1ä", "ab-12"]),
        ("##-##", ["12-34", "12 34", "12/34", "12.34"], ["1234", "12_34", "1-234", "12--34"]),
        ("#3-~1#7", ["1001234567", "100 1234567", "100-1234567"], ["100--1234567", "100123456"]),
        ("|~3#", ["1", "a1", "ab1", "abc1", "1234"], ["abc", "abcd1", ""]),
        ("#~3|5", ["abcde", "123abcde", "12345678"], ["1234abcde", "1234"]),
        ("^[0-9]{5,10}$", ["12345", "1234567890"], ["1234", "12345678901", "1234a", "12345\n"]),
        ("[a-z]+", ["abc"], ["ABC", "abc1", ""]),
        ("a|b#", ["a", "b#"], ["b", "a#"]),
    ],
)
def test_formats_accept_and_refuse_what_they_say(format, good, bad):
    compiled = compile_format(format)
    assert [value for value in good if not compiled.matches(value)] == []
    assert [value for value in bad if compiled.matches(value)] == []


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("#5", "genau 5 Ziffern"),
        ("#####", "genau 5 Ziffern"),
        ("#", "genau eine Ziffer"),
        ("#~11", "höchstens 11 Ziffern"),
        ("|5", "genau 5 Buchstaben oder Ziffern"),
        ("|", "genau ein Buchstabe oder eine Ziffer"),
        ("##-##", "nacheinander 2 Ziffern, ein Trennzeichen und 2 Ziffern"),
        ("#3-~1#7", "nacheinander 3 Ziffern, höchstens ein Trennzeichen und 7 Ziffern"),
        ("^[0-9]{5,10}$", "5 bis 10 Ziffern"),
        (r"^\d{8}$", "genau 8 Ziffern"),
        ("^[A-Za-z0-9]{3,}$", "mindestens 3 Buchstaben oder Ziffern"),
        ("^.{4,99}$", "4 bis 99 Zeichen"),
        (r"^\S(.{0,28}\S)?$", "1 bis 30 Zeichen"),
        ("^(abc|de)$", "2 bis 3 Buchstaben oder Ziffern"),
        (r"^(?i)\pL+$", "in der Form, die die Bank vorgibt"),
    ],
)
def test_formats_describe_themselves_in_german(format, text):
    assert compile_format(format).describe_de() == text


@pytest.mark.parametrize("format", ["", "~5", "#~", "5", "#0", "#~0", "#257", "#200|200", "12-34", "#~~3", "#-5~"])
def test_broken_token_formats_are_refused_when_compiled(format):
    with pytest.raises(ValueError, match="ogin format"):
        compile_format(format)


@pytest.mark.parametrize(
    "format", ["^(", "[a-", r"^(a)\1$", "(?=a)a", "a{2000}", "^((a{1,100}){1,100}){1,100}$", "x" * 513, "\ud800x"]
)
def test_broken_or_oversized_expressions_are_refused_when_compiled(format):
    with pytest.raises(ValueError, match="ogin format"):
        compile_format(format)


def test_values_longer_than_256_characters_never_match():
    anything = compile_format("^.*$")
    assert anything.matches("a" * 256)
    assert not anything.matches("a" * 257)


def test_lone_surrogates_do_not_match_and_do_not_raise():
    assert not compile_format("^.*$").matches("\ud800")
    assert not compile_format("|~5").matches("\ud800")


@pytest.mark.parametrize("format", ["^(a+)+$", "^(a|a)*$", "^(.*a){20}$"])
def test_expressions_run_in_an_engine_that_does_not_backtrack(format):
    compiled = compile_format(format)
    assert type(compiled.fullmatch.__self__).__module__.startswith("re2")
    assert not compiled.matches("a" * 255 + "!")


def count_lines(work):
    """How many lines of Python are run: a measure of work that no busy machine changes."""
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("format", ["|~50" * 5, "#~1|~1" * 60])
def test_token_formats_look_at_every_character_once_per_part(format):
    compiled = compile_format(format)
    for length in (16, 64, 255):
        lines = count_lines(lambda: compiled.matches("a" * length + "!"))  # noqa: B023 - called at once
        assert lines < 10 * (length + 10) * len(compiled.parts)


EXPRESSIONS = [
    "^[0-9]{5,10}$",
    r"^\S(.{0,28}\S)?$",
    r"^[\w.+-]{1,30}$",
    r"^a\.b\/c$",
    "^(ab|c)+d?$",
    r"^[^\s@]+@[^\s@]+$",
    "^[&&!!#-]+$",
    r"^[\]\[(){}|^-]+$",
    "^.$",
    "a|b",
]


@pytest.mark.parametrize("format", EXPRESSIONS)
@given(value=st.text(alphabet="abcdz019 .+-_/@&!#[](){}|^ä\t\n", max_size=12))
def test_html_patterns_of_expressions_accept_the_same_values(format, value):
    compiled = compile_format(format)
    pattern = compiled.html_pattern()
    assert pattern is not None
    assert (re.fullmatch(pattern, value) is not None) is compiled.matches(value)


@pytest.mark.parametrize("format", [r"^\pL+$", "(?i)abc", "^a*?$", r"^\x41$", "^[[:alpha:]]$", r"^\bab$", "^a$b|c$"])
def test_what_a_browser_would_read_differently_has_no_html_pattern(format):
    assert compile_format(format).html_pattern() is None


@pytest.mark.skipif(shutil.which("node") is None, reason="needs a JavaScript engine")
def test_html_patterns_are_valid_and_mean_the_same_in_javascript():
    samples = [
        "",
        "12345",
        "ab",
        "abc",
        "ababd",
        "a.b/c",
        "x@y",
        "&!#-",
        "][(){}|^-",
        "12-34",
        "ä",
        "a b",
        " a",
        "100/1234567",
    ]
    formats = [*EXPRESSIONS, "#~11", "|5", "##-##", "#3-~1#7", "|-#"]
    cases = [[compile_format(format).html_pattern(), sample] for format in formats for sample in samples]
    script = (
        "const cases = JSON.parse(require('fs').readFileSync(0));"
        "const both = p => { new RegExp(`^(?:${p})$`, 'u'); try { return new RegExp(`^(?:${p})$`, 'v') }"
        " catch (e) { if (process.versions.node.split('.')[0] >= 20) throw e; return new RegExp(`^(?:${p})$`, 'u') } };"
        "console.log(JSON.stringify(cases.map(([p, s]) => both(p).test(s))))"
    )
    answer = subprocess.run(["node", "-e", script], input=json.dumps(cases), capture_output=True, text=True, check=True)
    expected = [compile_format(format).matches(sample) for format in formats for sample in samples]
    assert json.loads(answer.stdout) == expected
