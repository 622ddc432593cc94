"""Mandates as banks write them into purposes. The texts are invented."""

import pytest

from kontor.analysis.contracts.mandates import MandateNames, read_mandate

CREDITOR = "DE98ZZZ09999999999"


@pytest.mark.parametrize(
    "purpose",
    [
        f"EREF+4711 MREF+M-12/34 CRED+{CREDITOR} SVWZ+Beitrag November",
        f"EREF+4711MREF+M-12/34CRED+{CREDITOR}SVWZ+Beitrag November",
        f"Beitrag November CORE / Mandatsref.: M-12/34 Gläubiger-ID: {CREDITOR}",
        f"Beitrag MREF: M-12/34 CRED: {CREDITOR}",
        f"Beitrag Mandat: M-12/34 Einreicher-ID: {CREDITOR}",
        f"Beitrag Mandatsreferenz: M-12/34 Glaeubiger-ID: {CREDITOR.lower()}",
    ],
)
def test_reference_and_creditor_are_read_from(purpose):
    assert read_mandate(purpose) == MandateNames("M-12/34", CREDITOR)


@pytest.mark.parametrize(
    "purpose", ["", "Miete November Wohnung 12", "Mandat gekündigt", "MREF+ SVWZ+Beitrag", "CRED+kein Kennzeichen"]
)
def test_nothing_is_read_from_a_text_without(purpose):
    assert read_mandate(purpose) == MandateNames("", "")
