"""Values of the API that the console shows in words: each has a text, so no value can break a page."""

import pytest

from for_each import for_each
from kontor.api.app import OPERATIONS
from kontor.api.openapi import make_document
from kontor.egress import Purpose
from kontor.pages.texts import read_texts

SCHEMAS = make_document(OPERATIONS, "https://kontor.example")["components"]["schemas"]
TEXTS = read_texts("kontor.console")
# Templates append the value to the key: as it is, or in lower case with "_" for "-".
SHOWN_AS_IT_IS = {
    "AccessReason": "ops_access.reason_",
    "DeliveryState": "ops_webhook.state_",
    "OpsAccessRefresh": "ops_accesses.refresh_",
    "OpsAccessStatus": "ops.status_",
    "OpsAuditEntryResult": "ops_audit.result_",
    "OpsClientKind": "ops_tenants.kind_",
    "OpsOutcomeState": "ops_refreshes.state_",
    "OpsPause": "ops.paused_",
    "OpsRefreshChoice": "ops_accesses.refresh_",
    "OpsRefreshSelection": "ops_refreshes.empty_",
    "OpsRefreshState": "ops_refreshes.state_",
    "KontoauszugFormat": "statements.formats.",
    "PayeeMatch": "payees.verified.",
    "ProductCategory": "accounts.kinds.",
    "StandingOrderPeriod": "payments.period.",
    "BudgetStatus": "budgets.status.",
    "SavingsGoalStatus": "goals.status.",
    "ContractStatus": "contracts.status_",
}
SHOWN_IN_LOWER_CASE = {
    "OpsEgressPurpose": "ops_egress.",
    "DisclosureScope": "disclosures.scope_",
    "PruefungErgebnis": "credit_files.result_",
    "Weg": "permissions.channel_",
    "WertName": "credit_files.figure_",
}
KEYS = [(name, prefix + value) for name, prefix in SHOWN_AS_IT_IS.items() for value in SCHEMAS[name]["enum"]] + [
    (name, prefix + value.lower().replace("-", "_"))
    for name, prefix in SHOWN_IN_LOWER_CASE.items()
    for value in SCHEMAS[name]["enum"]
]


@pytest.mark.parametrize("language", ["de", "en"])
@for_each("named", KEYS, lambda named: f"{named[0]}-{named[1]}")
def test_each_value_that_a_page_shows_has_a_text(named, language):
    assert TEXTS[language].get(named[1])


def test_the_interface_declares_each_purpose_that_is_counted():
    assert set(SCHEMAS["OpsEgressPurpose"]["enum"]) == set(Purpose)
