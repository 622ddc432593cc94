"""The start code of a chipTAN challenge, for TAN generators that cannot read the graphic."""

import pytest

from kontor.domain.sca import find_start_code


@pytest.mark.parametrize(
    ("challenge", "code"),
    [
        ("2908881344731012345678900515,00", "88134473"),  # two digits of length, as before HHD 1.4
        ("0198801204520810512345", "20452081"),  # three digits of length, one control byte
        ("0208801204520810512345", None),  # shorter than it says
        ("00604AB12", None),
        ("", None),
        ("CHLGUC", None),
        ("0123", None),
        ("006ZZ1234", None),
    ],
)
def test_the_start_code_is_found_or_there_is_none(challenge, code):
    assert find_start_code(challenge) == code
