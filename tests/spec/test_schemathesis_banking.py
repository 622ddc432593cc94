"""Schemathesis on providers and on the reading and adding part of the customer interface, with objects that exist."""

import json

import pytest
from test_schemathesis import STRICT_CHECKS, run

from banking import DEMO_BANK, new_customer

READING = (
    "list_providers", "read_provider", "read_provider_statistics", "read_logo", "read_customer", "list_accesses",
    "read_access", "read_issues", "read_product", "list_transactions", "list_positions", "list_import_forms",
    "read_import_form", "read_import", "list_transaction_changes", "list_all_transaction_changes",
    "list_all_transactions", "sum_transactions", "read_alert", "read_push_key",
    "list_push_subscriptions", "read_push_subscription",
)  # fmt: skip
CHANGING = (
    "add_accesses", "push_transactions", "delete_access", "delete_accesses", "add_import_form", "delete_import_form",
    "add_tagging_rule", "change_tagging_rule", "preview_tagging_rule", "delete_tagging_rule", "delete_tagging_rules",
    "add_own_category", "change_own_category", "delete_own_category", "add_budget", "change_budget", "delete_budget",
    "add_savings_goal", "change_savings_goal", "delete_savings_goal", "update_alert", "add_push_subscription",
    "delete_push_subscription",
)  # fmt: skip


@pytest.fixture
def configuration(tmp_path, bank_server, shared):
    customer = new_customer(shared)
    access_id = customer.add_complete("test_positions_error")
    access_id = customer.add_complete("leer", access_id="existing")
    values = {
        "auth.openapi.userToken": {"bearer": customer.token},
        "auth.openapi.clientToken": {"bearer": shared.client_token()},
        "parameters": {
            '"path.access-id"': access_id,
            '"path.product-id"': customer.products(access_id)[0]["id"],
            '"path.provider-id"': DEMO_BANK,
        },
    }
    lines = []
    for section, entries in values.items():
        lines += [f"[{section}]", *(f"{name} = {json.dumps(value)}" for name, value in entries.items()), ""]
    file = tmp_path / "schemathesis.toml"
    file.write_text("\n".join(lines))
    return file


def only(operations):
    """One worker: compiling in several threads at once trips over a defect of CPython 3.11."""
    return "--include-operation-id-regex", "^({})$".format("|".join(operations)), "--workers", "1"


def test_reading_keeps_every_promise_of_the_document(server, configuration):
    run(configuration, server, STRICT_CHECKS, *only(READING))


def test_changing_keeps_every_promise_of_the_document(server, configuration):
    run(configuration, server, STRICT_CHECKS, *only(CHANGING))
