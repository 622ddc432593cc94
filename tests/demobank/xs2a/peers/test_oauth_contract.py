"""Consents and orders that link to the bank's OAuth server, against the official contract.

Prism cannot stand between: the bank's links lead to its OAuth server, which the contract does not describe.
"""

from dataclasses import replace
from uuid import uuid4

import pytest
from contract import load_contract
from jsonschema import Draft202012Validator

from kontor.config import Settings
from kontor.demobank.xs2a.dialects import STANDARD, OAuthUse
from xs2a_dialogues import Caller, new_login, running_xs2a_bank

pytestmark = pytest.mark.official
ORDER = {
    "debtorAccount": {"iban": "DE02120300000000202051"},
    "instructedAmount": {"currency": "EUR", "amount": "1.00"},
    "creditorAccount": {"iban": "DE89370400440532013000"},
    "creditorName": "Erika Muster",
}
SCHEMAS = {
    "/v1/consents": "consentsResponse-201",
    "/v1/payments/sepa-credit-transfers": "paymentInitationRequestResponse-201",
}


@pytest.mark.parametrize("path", SCHEMAS)
def test_a_resource_that_links_to_the_oauth_server_keeps_to_the_contract(settings: Settings, path: str):
    contract = load_contract()
    schema = {"$ref": f"#/components/schemas/{SCHEMAS[path]}", "components": contract["components"]}
    with running_xs2a_bank(settings, dialect=replace(STANDARD, oauth=OAuthUse.FOR_CONSENT)) as bank:
        caller = Caller(bank.url, new_login("test_bank_message"))
        body = Caller.make_consent() if path == "/v1/consents" else ORDER
        answer = caller.call("POST", path, body, X_Request_ID=str(uuid4()))
        caller.close()
    assert answer.status_code == 201, answer.text
    assert "scaOAuth" in answer.json()["_links"]
    assert list(Draft202012Validator(schema).iter_errors(answer.json())) == []
    wrong = answer.json() | {"_links": "nowhere"}
    assert list(Draft202012Validator(schema).iter_errors(wrong)) != []
