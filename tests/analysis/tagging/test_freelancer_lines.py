"""Lines of the income-surplus statement: all words are weighed, and the purpose counts more than the name."""

from datetime import date

import pytest
from tagging_rows import book, tag

from kontor.analysis.tagging import load_tagger, make_own_accounts
from kontor.connectors.demo.people import person_for


@pytest.mark.parametrize(
    "name", ["Finanzamt", "Finanzkasse", "Finanzamt Leipzig", "Finanzamt Köln-Mitte", "Landeskasse"]
)
@pytest.mark.parametrize("purpose", ["Umsatzsteuer 3. Quartal 2026", "UST VA 09/2026", "UMS.ST 2.VJ.26 ST-NR 214/5118"])
def test_vat_paid_to_any_office_is_vat_paid(name: str, purpose: str):
    assert tag(book(-812.4, name, purpose)).freelancer_category == "VATPAID"


@pytest.mark.parametrize("name", ["Finanzamt", "Finanzamt Leipzig", "Finanzkasse"])
@pytest.mark.parametrize("purpose", ["Umsatzsteuererstattung 2025", "UMSATZST 06/26 ERSTATTUNG", "UMS.ST 4.VJ.25"])
def test_vat_that_comes_back_is_a_vat_refund(name: str, purpose: str):
    assert tag(book(318.5, name, purpose)).freelancer_category == "VATREFUND"


@pytest.mark.parametrize("name", ["Finanzamt", "Finanzamt Leipzig"])
def test_income_tax_at_the_same_office_is_no_business_expense(name: str):
    assert tag(book(-400, name, "Einkommensteuer Vorauszahlung 3. Quartal")).freelancer_category == "UNRELATED"
    assert tag(book(400, name, "Einkommensteuer 2025 Erstattung")).freelancer_category == "UNRELATED"


@pytest.mark.parametrize("name", [None, "Sparkasse Köln", "Volksbank Köln", "Commerzbank"])
@pytest.mark.parametrize("purpose", ["Sollzinsen 3. Quartal", "Überziehungszinsen", "Zins für Dispositionskredit"])
def test_debit_interest_is_interest_whoever_is_named_as_payee(name: str | None, purpose: str):
    assert tag(book(-12.2, name, purpose)).freelancer_category == "INTEREST"


@pytest.mark.parametrize("login", ["freiberuf", "freiberuf+lines"])
def test_the_freelancer_of_the_demo_bank_pays_vat_and_gets_some_back(login: str):
    person = person_for(login, date(2026, 11, 15))
    assert person is not None
    accounts = person.accounts
    own = make_own_accounts((account.product.iban or "", person.name, account.product.category) for account in accounts)
    entries = [entry for account in accounts for entry in account.entries]
    tagged = zip(entries, load_tagger().tag([entry.transaction for entry in entries], own), strict=True)
    lines = {"VATPAID", "VATREFUND"}
    found = [(entry.truth.freelancer_category, tagging.freelancer_category) for entry, tagging in tagged]
    assert {truth for truth, line in found if truth == line} >= lines
    assert [pair for pair in found if lines & set(pair) and pair[0] != pair[1]] == []
