"""What the console makes of findings: reasons, time lines, insurances and households, by value."""

import ast
import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from kontor.analysis import life_events
from kontor.console.finding_reasons import SENTENCES, Partners, Reasons
from kontor.console.findings import Finding, read_finding
from kontor.console.households import list_categories, list_lines, list_signs
from kontor.console.policies import cost_a_year, group_policies, list_kinds, read_policy
from kontor.console.rendering import draw, load_texts
from kontor.console.sessions import Role, Session
from kontor.console.timelines import make_timeline
from kontor.console.views import triggers

TEXTS = load_texts()
TODAY = date(2026, 11, 15)
ANALYSIS = Path(life_events.__file__).parents[1]
PLACEHOLDERS = {
    "amount": "12.50", "day": "2026-03-01", "partner": "SIEMENS", "sign": "pension", "insurance": "HEALTH_PRIVATE",
    "count": "3", "name": "Baukredit",
}  # fmt: skip


# Reasons in the reader's language


def _list_sentences():
    """What the analyses say, each value that is filled in as a star."""
    files = [*(ANALYSIS / "life_events").glob("*.py"), ANALYSIS / "life_stages.py", ANALYSIS / "sales_triggers.py"]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            at = {"Reason": 0, "_tell": 2}.get(node.func.id)
            if at is None:
                continue
            text = node.args[at]
            if isinstance(text, ast.Constant):
                yield text.value
            elif isinstance(text, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "*" for part in text.values)


def test_every_sentence_of_the_analyses_is_known():
    said = set(_list_sentences())
    assert len(said) > 50
    assert said <= {re.sub(r"\{\w+\}", "*", text) for text in SENTENCES.values()}


def test_days_in_reasons_are_written_as_on_the_rest_of_the_page():
    sentence = "Last rent to Gartenheim on 2025-10-01"
    assert "am 01.10.2025" in Reasons(TEXTS["de"]).tell(sentence)
    assert "on 1 Oct 2025" in Reasons(TEXTS["en"]).tell(sentence)


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("key", SENTENCES)
def test_every_sentence_is_told_again_with_what_it_says(key, language):
    sentence = re.sub(r"\{(\w+?)(_\w+)?\}", lambda found: PLACEHOLDERS[found[1]], SENTENCES[key])
    told = Reasons(TEXTS[language]).tell(sentence)
    texts = TEXTS[language].texts
    expected = texts.get(f"finding_reasons.{key}_few") or texts[f"finding_reasons.{key}"]  # 3 is few in Polish (CLDR)
    assert re.fullmatch(re.sub(r"\\\{\w+\\\}", ".+", re.escape(expected)), told)
    assert "2026-03-01" not in told
    assert "12.50" not in told.replace("€12.50", "")


def test_a_sentence_that_nobody_knows_stays_as_it_is():
    reasons = Reasons(TEXTS["de"])
    assert reasons.tell("Something new of <b>1</b>") == "Something new of <b>1</b>"
    assert reasons.tell("First rent to X on a rainy day") == "First rent to X on a rainy day"
    assert reasons.tell("1 agreements put money aside") == "Mit einem Vertrag wird Geld gespart."


def test_partners_get_their_full_names_from_contracts():
    contracts = [
        _contract("Feinmechanik Oberland GmbH", partner="OTHER"),
        _contract("DRV Bund", partner="DEUTSCHE_RENTENVERSICHERUNG", partner_name="Deutsche Rentenversicherung"),
    ]
    reasons = Reasons(TEXTS["de"], Partners.of_contracts(contracts))
    assert reasons.tell("FEINMECHANIKOBERLAND pays a salary") == "Feinmechanik Oberland GmbH zahlt ein Gehalt."
    assert "Deutsche Rentenversicherung" in reasons.tell("First pension from DEUTSCHE_RENTENVERSICHERUNG on 2025-03-31")
    assert reasons.tell("Last pay of GROSSBAECKEREIKORNBL on 2025-02-28").startswith("Letztes Gehalt von Grossbaeck")


def _contract(
    name, *, partner="VERTI", partner_name="Verti", kind="VEHICLE_FULLCOVER", period="MONTH_THREE", **details
):
    parent = kind.partition("_")[0]
    return {
        "id": "1",
        "details": {
            "counterpartyName": name, "amountLatest": Decimal("-215.17"), "contractNumbers": ["AK-1"],
            "dateStart": "2024-01-01", "dateLatest": "2026-10-02", "dateNext": "2027-01-04", "status": "ACTIVE",
            "costDevelopment": {"2025-11-15": Decimal(-1), "2025-11-16": Decimal(-2), "2026-10-02": Decimal(-4)},
        } | details,
        "tagTreeItemBusinessPartner": {"systemName": partner, "displayName": partner_name},
        "tagTreeItemCategory": {"systemName": "SAVINGS_LIFEBUILDING", "displayName": "Bausparen"},
        "tagTreeItemInsuranceType": {"systemName": kind, "displayName": kind.title(), "systemNameParent": parent},
        "tagTreeItemPeriod": {"systemName": period, "displayName": period.title()},
    }  # fmt: skip


# Time lines


def _finding(name, day, **facts):
    known = {"group": "", "amount": None, "reasons": []} | facts
    day = None if day is None else date.fromisoformat(day)
    return Finding(name, name, known["group"], name, "", day, known["amount"], Decimal(1), 1, known["reasons"])


def test_a_time_line_is_newest_first_and_ends_today():
    found = make_timeline([_finding("SALARY_INCREASE", "2024-12-31"), _finding("RELOCATION", "2026-02-01")], TODAY)
    assert [(year, [event.finding.name for event in events]) for year, events in found.years] == [
        (2026, ["RELOCATION"]), (2024, ["SALARY_INCREASE"]),
    ]  # fmt: skip
    assert [theme for theme, _ in found.lanes] == ["work", "home"]
    assert [year for year, _ in found.ticks] == [2025, 2026]
    assert found.last == TODAY
    places = [event.percent for event in reversed(found.events)]
    assert 0 < places[0] < found.ticks[0][1] < found.ticks[1][1] < places[1] < 100


def test_without_events_there_is_no_time_line():
    assert make_timeline([], TODAY) is None
    assert make_timeline([_finding("ODD", None)], TODAY) is None


# Insurances


@pytest.mark.parametrize(
    ("period", "yearly"),
    [
        ("WEEK_FOUR", "2797.21"), ("MONTH_ONE", "2582.04"), ("MONTH_THREE", "860.68"), ("YEAR_ONE", "215.17"),
        ("YEAR_TWO", "107.59"), ("IRREGULAR_UNKNOWN", "6"),
    ],
)  # fmt: skip
def test_what_an_insurance_costs_a_year(period, yearly):
    assert cost_a_year(_contract("X")["details"], period, TODAY) == Decimal(yearly)


def test_contracts_stand_by_division_in_the_order_of_the_tree_and_home_savings_last():
    items = [
        {"systemName": "VEHICLE", "displayName": "Fahrzeug"},
        {"systemName": "VEHICLE_FULLCOVER", "displayName": "Vollkasko", "systemNameParent": "VEHICLE"},
        {"systemName": "LIABILITY", "displayName": "Haftpflicht"},
        {"systemName": "LIABILITY_PRIVATE", "displayName": "Privat", "systemNameParent": "LIABILITY"},
        {"systemName": "HEALTH", "displayName": "Kranken"},
        {"systemName": "HEALTH_PRIVATE", "displayName": "PKV", "systemNameParent": "HEALTH"},
        {"systemName": "HEALTH_OTHER", "displayName": "Sonstige", "systemNameParent": "HEALTH"},
        {"systemName": "UNRELATED", "displayName": "Keine"},
        {"systemName": "UNRELATED_OTHER", "displayName": "Keine", "systemNameParent": "UNRELATED"},
    ]
    contracts = [
        _contract("Bausparkasse", kind="UNRELATED_OTHER", period="MONTH_ONE"),
        _contract("B", kind="LIABILITY_PRIVATE", period="YEAR_ONE"),
        _contract("A"),
        _contract("A", status="PROVISIONAL"),
    ]
    policies = [read_policy(contract, TODAY) for contract in contracts]
    divisions = group_policies(policies, items, "Bausparen")
    assert [(division.name, len(division.policies), division.is_insurance) for division in divisions] == [
        ("Fahrzeug", 2, True), ("Haftpflicht", 1, True), ("Bausparen", 1, False),
    ]  # fmt: skip
    assert divisions[0].yearly == Decimal("1721.36")
    assert divisions[2].policies[0].product == "Bausparen"
    kinds = list_kinds(items, policies, ["MISSINGINSURANCE_PRIVATEHEALTH"])
    assert [(name, [(kind.name, kind.state, kind.count) for kind in held]) for name, held in kinds] == [
        ("Fahrzeug", [("Vollkasko", "held", 2)]),
        ("Haftpflicht", [("Privat", "held", 1)]),
        ("Kranken", [("PKV", "missing", 0)]),
    ]


# Households


def _split(regular, irregular):
    def part(amounts):
        items = [{"amount": Decimal(amount), "tagTreeItem": {"systemName": name, "displayName": name.title()}}
                 for name, amount in amounts.items()]  # fmt: skip
        return {"amount": sum((item["amount"] for item in items), Decimal(0)), "amountsPerTagTreeItem": items}

    parts = {"regular": part(regular), "irregular": part(irregular)}
    return parts | {"amount": parts["regular"]["amount"] + parts["irregular"]["amount"]}


def _affordability(**facts):
    needed = _split({"HOUSING_RENT": "800.00"}, {"LIVING_GROCERIES": "350.25", "HOUSING_RENT": "10.05"})
    wished = _split({}, {"TRAVEL_HOTEL": "1000.10"})
    return {
        "income": _split({"INCOME_SALARY": "2000.00"}, {}),
        "expenses": {"amount": needed["amount"] + wished["amount"], "necessities": needed, "luxuries": wished},
        "savings": Decimal("50.00"), "gambling": Decimal(0), "returnDebits": True, "reminderCharges": False,
        "debtCollectionPayments": False, "seizurePayments": False,
    } | facts  # fmt: skip


def test_every_sum_of_the_household_account_is_that_of_the_lines_above():
    lines = {line.key: line.amount for line in list_lines(_affordability())}
    assert lines["income"] == Decimal("2000.00")
    assert lines["discretionary"] == Decimal("839.70")
    assert lines["left"] == Decimal("-160.40")
    assert lines["rest"] == Decimal("-210.40")
    parts = [line.amount for line in list_lines(_affordability()) if line.kind != "sum"]
    assert sum(parts) == lines["rest"]


def test_a_household_without_income_has_bars_of_its_expenses():
    lines = list_lines(_affordability(income=_split({}, {})))
    assert all(0 <= line.share <= 1.1 for line in lines)


def test_categories_join_what_is_fixed_and_what_varies():
    lines = list_categories(_affordability()["expenses"]["necessities"])
    assert [(line.system_name, line.regular, line.irregular) for line in lines] == [
        ("HOUSING_RENT", Decimal("800.00"), Decimal("10.05")), ("LIVING_GROCERIES", Decimal(0), Decimal("350.25")),
    ]  # fmt: skip
    assert lines[0].share == 1
    assert list_categories(_split({}, {})) == []


def test_warning_signs_say_whether_how_often_and_how_much():
    check = {
        "returnDebitsCount": 2,
        "overdraftDays": 0,
        "findings": [{"type": "RETURNED_DEBITS", "amount": Decimal(9)}],
    }
    signs = {sign.key: sign for sign in list_signs(_affordability(), check)}
    assert (signs["return_debits"].is_seen, signs["return_debits"].count, signs["return_debits"].amount) == (True, 2, 9)
    assert [key for key, sign in signs.items() if sign.is_seen] == ["return_debits"]
    assert [sign.key for sign in list_signs(_affordability(gambling=Decimal(1)), {}) if sign.is_seen] == [
        "return_debits", "gambling",
    ]  # fmt: skip


# Pages


def _draw(name, view, facts):
    session = Session("secret-token", Role.USER, "<i>me</i>", "demo")
    frame = {
        "view": view, "session": session, "groups": {}, "token": "t", "notice": None, "today": TODAY,
        "here": view.url, "calls": [], "wanted": TEXTS["de"], "base_url": "http://127.0.0.1",
    }  # fmt: skip
    return draw(name, TEXTS["de"], frame | facts).body.decode()


def test_what_banks_write_stays_text():
    evil = _finding("FINANCIAL_X", "2026-01-01", group="FINANCIAL", reasons=["<script>alert(1)</script>"])
    page = _draw("triggers", triggers.VIEWS[0], {"occasions": {"FINANCIAL": [evil]}, "count": 1})
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_findings_are_read_from_answers():
    answer = {
        "id": "1", "tagTreeItem": {"systemName": "A_B", "systemNameParent": "A", "displayName": "B"},
        "details": {"triggerDate": "2026-01-02", "confidenceLevel": Decimal("0.9"), "transactionIds": ["x", "y"]},
    }  # fmt: skip
    found = read_finding(answer, Reasons(TEXTS["de"]))
    assert (found.group, found.day, found.amount, found.bookings) == ("A", date(2026, 1, 2), None, 2)
