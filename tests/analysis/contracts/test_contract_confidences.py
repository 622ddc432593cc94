"""The confidence of a contract: it depends on the evidence, and is honest about people that it was not fitted on."""

from datetime import date
from decimal import Decimal

import msgspec
import pytest

from kontor.analysis.affordability import measure_affordability
from kontor.analysis.cashflow import Options, find_cashflow
from kontor.analysis.contracts import Contract, estimate_confidence, find_contracts
from kontor.analysis.contracts.confidences import score_certainty
from kontor.analysis.credit_checks import check_credit
from kontor.analysis.records import Account, Record
from kontor.analysis.scoring.calibration import find_calibration_error
from kontor.cli.contract_confidences import judge_contracts
from kontor.cli.demo_truths import Tags
from kontor.connectors.demo.people import PERSONAS
from kontor.services.analyses.analyses import Facts
from kontor.wire.affordability import show_affordability
from kontor.wire.cashflow import show_cashflow
from kontor.wire.contracts import show_contracts
from kontor.wire.credit_checks import show_credit_check
from kontor.wire.urls import Urls

TODAY = date(2026, 11, 15)
URLS = Urls("http://kontor.test")
ACCOUNTS = [Account("giro", data_until=TODAY)]


def list_payments(months: int, purpose: str) -> list[Record]:
    return [
        Record(
            f"r{month}",
            "giro",
            date(2026, month, 2),
            Decimal("-50.00"),
            "INSURANCE_HOME",
            purpose=purpose,
            counterparty_name="Versicherer AG",
            gv_code="105",
        )
        for month in range(12 - months, 12)
    ]


def find_one(records: list[Record]) -> Contract:
    (contract,) = find_contracts(records, ACCOUNTS, TODAY)
    return contract


def test_a_contract_that_one_text_tells_of_is_less_sure_than_one_paid_eleven_times():
    single = find_one(list_payments(1, "Jahresbeitrag Hausrat"))
    often = find_one(list_payments(11, "Hausrat"))
    assert estimate_confidence(single) < estimate_confidence(often) < 1


def test_the_wire_shows_the_fitted_confidence():
    records = list_payments(11, "Hausrat")
    (shown,) = show_contracts([find_one(records)], Facts("user", records, ACCOUNTS, TODAY), URLS, explain=False)
    assert shown.details.confidenceLevel == estimate_confidence(find_one(records))


@pytest.mark.long
def test_confidence_is_honest_about_people_that_it_was_not_fitted_on():
    judged = [pair for login in PERSONAS for pair in judge_contracts(f"{login}+probe", date(2026, 7, 9), Tags.TRUTH)]
    pairs = [(score_certainty(cell), is_right) for cell, is_right in judged]
    assert len({confidence for confidence, _ in pairs}) > 3, "it is no constant"
    assert find_calibration_error(pairs) < 0.03


def test_sums_carry_no_confidence_that_nobody_has_fitted():
    records = list_payments(11, "Hausrat")
    contracts = find_contracts(records, ACCOUNTS, TODAY)
    facts = Facts("user", records, ACCOUNTS, TODAY)
    known = (records, contracts, ACCOUNTS, TODAY)
    flows = show_cashflow(find_cashflow(*known), facts, URLS, Options())
    shown = [
        show_affordability(measure_affordability(*known), facts, URLS, explain=False),
        show_credit_check(check_credit(*known), facts, URLS, explain=False),
        *flows,
    ]
    encoder = msgspec.json.Encoder(decimal_format="number")
    for instance in msgspec.json.decode(encoder.encode(shown)):
        assert "confidenceLevel" not in instance["details"]
