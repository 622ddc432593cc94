"""The three digits of a GV code, also where a source has it between others, decide as they do alone."""

from datetime import date
from decimal import Decimal

import pytest
from msgspec import structs

from kontor.analysis.contracts.payments import Method, find_method
from kontor.analysis.debit_returns import find_scheme, list_debits
from kontor.analysis.distress_signals import find_distress_signals
from kontor.analysis.earned_income import is_returned
from kontor.analysis.records import Record
from kontor.domain.debit_returns import BookedScheme

TODAY = date(2026, 11, 15)
DEBIT = Record(
    "debit", "giro", date(2026, 11, 2), Decimal("-45.00"), "BILLS_OTHER", purpose="MREF+M-4711 SVWZ+Beitrag",
    counterparty_name="Verein",
)  # fmt: skip
# `NTRF+109+9310` is how camt and XS2A name it in Germany: SWIFT key, GV code, prima nota.
WRITTEN = ["{}", " {} ", "NTRF+{}", "NTRF+{}+9310", "NTRF+{}+931", "+{}+", "{}+00931"]


def write(code, **facts):
    return [structs.replace(DEBIT, gv_code=form.format(code), **facts) for form in WRITTEN]


@pytest.mark.parametrize("code", ["059", "159", "181", "184"])
def test_a_returned_debit_is_known_by_its_code_however_the_code_is_written(code):
    for record in write(code):
        assert is_returned(record), record.gv_code
        assert find_method(record) is Method.RETURNED
    for record in write("105"):
        assert not is_returned(record)


def test_a_code_that_occurs_in_a_longer_number_is_none():
    for text in ("1810", "NTRF+1059+1", "9184", "NTRF", ""):
        record = structs.replace(DEBIT, gv_code=text)
        assert (record.business_code, is_returned(record)) == ("", False)


def test_the_scheme_of_a_debit_and_its_return_are_known_by_codes_in_every_form():
    for record in write("104"):
        assert find_scheme(record) is BookedScheme.B2B, record.gv_code
    for code in ("116", "109"):
        for record in write(code):
            assert find_scheme(record) is None, record.gv_code
    debit = structs.replace(DEBIT, gv_code="105")
    for record in write("184", id="return", amount=Decimal("45.00"), purpose="Retoure", day=date(2026, 11, 5)):
        [shown] = list_debits([debit, record], TODAY)
        assert shown.returned_on == record.day, record.gv_code


def test_returned_debits_are_signals_of_distress_in_every_form():
    for record in write("181", amount=Decimal("45.00"), purpose="Retoure", category="OTHER_INCOME"):
        assert find_distress_signals([record], TODAY).returned_debits == [record]
