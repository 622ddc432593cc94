"""The flicker code, held against a second implementation.

The expected codes were made with python-fints 5.0.1:

    pip install fints==5.0.1
    python -c "import sys; from fints.hhd.flicker import parse; print(parse(sys.argv[1]).render())" CHALLENGE

With the same package, 2,762 random challenges of HHD 1.3 and 1.4 gave the same codes and the same frames.
"""

import pytest

from kontor.webform.flicker import make_flicker_code, make_frames

CODES = {
    "2908881344731012345678900515,00": "1204881344730512345678901531352C30303B",
    "0248A0120452019980812345678": "0D85012045201998041234567855",
    "0390A01204520199808123456780410000515,00": "1988A012045201998081234502804F493030303531352C303061",
    "0150504123450612345604ABCD": "100304123F016118353630344142434435",
    "1100412340512,50": "0D1019323334303531322C35102D",
    "029871128752410DE123456780512,34": "1CD87131323837353234313044453132333435363738303531322C4076",
    "0188771234567104123405100,0": "1084712345671F021234453130302C305C",
    "0248A01204520199808123456781": "0E8501204520199804123456784052",
    "0100412340398,": "080212341339382C43",
    "CHLGUC 00262408871513130638972604 1,00CHLGTEXT Bitte": "0F04871513130338972614312C30303B",
    "29088713447310123456789005100,0": "120487134473051234567890153130302C3061",
    "03088716300010123456789005100,0": "120487163000051234567890153130302C3013",
    "0218401234506123456": "0A08401234506123456F59",
}


@pytest.mark.parametrize(("challenge", "code"), CODES.items())
def test_a_challenge_becomes_the_code_that_python_fints_makes(challenge, code):
    assert make_flicker_code(challenge) == code


def test_blanks_and_the_prefix_of_fints_do_not_matter():
    assert make_flicker_code("@31@2908881344731012345678900515,00") == CODES["2908881344731012345678900515,00"]
    assert make_flicker_code("29 0888 1344731012345678900515,00") == CODES["2908881344731012345678900515,00"]


@pytest.mark.parametrize("challenge", ["", "@", "abc", "99912", "2908", "0", "99", "０29871128752410", "@1@"])
def test_what_cannot_be_read_is_none_and_no_error(challenge):
    assert make_flicker_code(challenge) is None


def test_frames_begin_with_the_synchronisation_and_show_each_half_byte_twice():
    frames = make_frames("1204")
    assert frames[:7] == ["10000", "00000", "11111", "01111", "11111", "01111", "11111"]
    # Half-bytes are swapped: 2 1 4 0, each with the clock on and off, the lowest bit first.
    assert frames[7:] == ["10100", "00100", "11000", "01000", "10010", "00010", "10000", "00000"]


def test_the_demo_banks_code_has_as_many_frames_as_with_python_fints():
    assert len(make_frames(CODES["2908881344731012345678900515,00"])) == 83
