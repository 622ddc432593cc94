"""Each operation of the OpenAPI document has a method; its parameters and body are those of the document."""

import contextlib
import json
import re
from datetime import date
from decimal import Decimal
from urllib.parse import parse_qsl

import httpx
import jsonschema
import pytest
from comparing import find_operation

from kontor.api.app import OPERATIONS
from kontor_client import (
    Batch,
    Debit,
    Filters,
    Kontor,
    KontorClientError,
    NewPart,
    NewTransaction,
    Order,
    RuleConditions,
)

BASE = "https://kontor.example"
UUID = "0b1f9a52-3f0c-4f36-9d36-0f3f5a1c2d3e"
DAY = date(2026, 11, 2)
HERE = ("a", UUID)  # access and product
WHO = {"callback_url": "https://example.com/back", "customer_ip": "8.8.8.8"}
PIN = {"userid": "u", "pin": "p"}
ORDER = Order(recipient="E", iban="DE89370400440532013000", amount=Decimal("1.20"), purpose="p", bic="COBADEFFXXX")
PLAN = {"period": "MONTH_ONE", "first_execution_date": DAY, **WHO}
DEBIT = Debit(
    debtor="E", iban="DE89370400440532013000", amount=Decimal("3.00"), purpose="p", mandate_id="m",
    mandate_date=DAY, sequence_type="OOFF",
)  # fmt: skip
ROW = NewTransaction(batch=Batch(id="b"), amount=Decimal("-1.00"), booked_at="2026-11-02 00:00:00")
AI_ROW = {
    "betrag": Decimal("-1.00"), "buchungsdatum": "2026-11-02 00:00:00", "verwendungszweck": "p",
    "user": "u", "provider": "p", "product": "p", "tenant": "t",
}  # fmt: skip
WANTED = Filters(since=DAY, search="rewe", min_amount=Decimal(-5), is_incoming=False, products=[UUID], keyword="k")
BUDGET = ("Essen", ["LIVING_GROCERIES"], Decimal("300.50"), "2026-11", {"carries_over": True})
RULE = {"conditions": RuleConditions(text="rewe", amount_from=Decimal(1)), "label": "l"}
USER = ("t", UUID)
ROLE = ("t", "app", "customer")

# The name of the method, unless it is that of the operation, and its arguments.
CALLS = {
    "tag_transactions": ([AI_ROW],),
    "analyse_transactions": (["contracts"], [AI_ROW], {"today": DAY, "explain": True}),
    "live": "read_liveness",
    "ready": "read_health",
    "metrics": "read_metrics",
    "list_tenants": (),
    "read_tenant": ("t",),
    "list_clients": ("t",),
    "read_client": ("t", "app"),
    "list_roles": ("t", "app"),
    "read_role": ROLE,
    "list_role_users": ROLE,
    "assign_role": (*ROLE, UUID),
    "read_role_user": (*ROLE, UUID),
    "list_users": ("t",),
    "read_user": USER,
    "create_user": ("t", "anna", "a password"),
    "rename_user": (*USER, "anna", {"first_name": "Anna"}),
    "erase_user": USER,
    "deactivate_user": USER,
    "reactivate_user": (*USER, "anna", "a password"),
    "read_certificate": ("t",),
    "revoke_token": ("t/app", "secret", "token"),
    "read_server_metadata": (),
    "read_resource_metadata": (),
    "introspect_token": ("t/app", "secret", "token"),
    "encrypt": ("text",),
    "list_operated_tenants": ({"limit": 5},),
    "list_operated_clients": ({"tenant": "t"},),
    "list_operated_users": ({"tenant": "t", "reference": UUID, "pseudonym": UUID},),
    "list_operated_accesses": ({"tenant": "t", "status": "COMPLETE", "provider": UUID},),
    "summarise_accesses": ({"tenant": "t"},),
    "read_operated_access": (UUID, "a"),
    "retry_operated_access": (UUID, "a"),
    "pause_operated_access": (UUID, "a"),
    "resume_operated_access": (UUID, "a"),
    "read_job": (7,),
    "retry_job": (7,),
    "list_refreshes": ("due", {"tenant": "t"}),
    "summarise_refreshes": ({"tenant": "t"},),
    "list_operated_providers": (),
    "list_operated_webhooks": ({"tenant": "t"},),
    "list_operated_deliveries": (UUID, {"state": "PENDING"}),
    "replay_operated_delivery": (UUID, 7),
    "list_jobs": (),
    "list_held_jobs": ({"limit": 5},),
    "list_workers": (),
    "list_egress": ({"since": date(2026, 1, 1), "limit": 5},),
    "list_audit_entries": ({"tenant": "t", "limit": 5},),
    "verify_audit_trail": ({"tenant": "t"},),
    "check_health": (),
    "list_providers": ("sparkasse", {"capability": "KONTEN"}),
    "read_provider": (UUID,),
    "list_provider_statistics": (),
    "read_provider_statistics": (UUID,),
    "read_logo": (UUID,),
    "list_tag_trees": (),
    "read_tag_tree": (1,),
    "list_tag_tree_items": (1,),
    "read_tag_tree_item": (1, "TAXES"),
    "read_customer": (),
    "list_accesses": (),
    "read_access": ("a",),
    "read_issues": ("a",),
    "add_accesses": ("add_access", UUID, PIN, {"products": [UUID]}),
    "delete_accesses": (),
    "delete_access": ("a",),
    "list_permissions": (),
    "read_permission": (UUID,),
    "withdraw_permission": (UUID,),
    "list_disclosures": (),
    "read_disclosure": (UUID,),
    "add_disclosure": (["contracts"], DAY, UUID),
    "withdraw_disclosure": (UUID,),
    "list_disclosure_reads": (UUID,),
    "list_disclosing_customers": ({"limit": 5},),
    "list_customer_sales_triggers": (UUID, {"explain": True}),
    "list_customer_contracts": (UUID, {"insurance_only": True}),
    "read_customer_affordability": (UUID, {"explain": True}),
    "read_customer_credit_check": (UUID,),
    "list_alerts": ({"status": "NEU", "limit": 5, "language": "en"},),
    "read_alert": (UUID,),
    "update_alert": (UUID, "GELESEN"),
    "read_push_key": (),
    "list_push_subscriptions": (),
    "read_push_subscription": (UUID,),
    "add_push_subscription": ("https://8.8.8.8/x", {"p256dh": "BA", "auth": "AA", "kinds": ["PRICE_RISE"]}),
    "delete_push_subscription": (UUID,),
    "list_own_categories": (),
    "add_own_category": ("Hund", "RECREATION_PETS", "d"),
    "read_own_category": (7,),
    "change_own_category": (7, "Hund", "RECREATION_PETS"),
    "delete_own_category": (7,),
    "list_budgets": ({"month": "2026-11"},),
    "add_budget": BUDGET,
    "read_budget": (UUID, "2026-11"),
    "change_budget": (UUID, *BUDGET),
    "delete_budget": (UUID,),
    "list_savings_goals": (),
    "add_savings_goal": ("Rad", Decimal(900), {"target_date": DAY, "products": [UUID]}),
    "read_savings_goal": (UUID,),
    "change_savings_goal": (UUID, "Rad", Decimal(900), {"saved": Decimal("12.50")}),
    "delete_savings_goal": (UUID,),
    "read_product": HERE,
    "list_transactions": (*HERE, {"since": DAY, "tag": "categories", "explain": True}),
    "push_transactions": (*HERE, [ROW]),
    "list_positions": HERE,
    "update_category": (
        "annotate_transaction", *HERE, UUID,
        {"note": "n", "keywords": ["k"], "parts": [NewPart(amount=Decimal("-1.00"), category="TAXES")] * 2},
    ),
    "list_tagging_rules": (),
    "add_tagging_rule": ("TAXES", RULE),
    "delete_tagging_rules": (),
    "preview_tagging_rule": ("TAXES", {"iban": "DE1", "rule_id": UUID}),
    "read_tagging_rule": (UUID,),
    "change_tagging_rule": (UUID, "TAXES", RULE),
    "delete_tagging_rule": (UUID,),
    "list_tenant_merchants": ("t", {"status": "OPEN", "limit": 5}),
    "read_tenant_merchant": USER,
    "change_tenant_merchant": (*USER, "APPROVED", "LIVING_OTHER"),
    "delete_tenant_merchant": USER,
    "list_tenant_rules": ("t",),
    "add_tenant_rule": ("t", "TAXES", RULE),
    "read_tenant_rule": USER,
    "change_tenant_rule": (*USER, "TAXES", RULE),
    "delete_tenant_rule": USER,
    "list_tenant_categories": ("t",),
    "add_tenant_category": ("t", "Verein", "RECREATION"),
    "read_tenant_category": ("t", 7),
    "change_tenant_category": ("t", 7, "Verein", "RECREATION", "d"),
    "delete_tenant_category": ("t", 7),
    "list_webhooks": ("t",),
    "create_webhook": ("t", "https://example.com/hook"),
    "read_webhook": USER,
    "change_webhook": (*USER, {"is_active": False}),
    "delete_webhook": USER,
    "list_deliveries": (*USER, {"state": "PENDING"}),
    "replay_delivery": (*USER, 7),
    "list_events": (*USER, {"after_serial": 3}),
    "list_contracts": ({"excluded": True},),
    "read_affordability": (),
    "read_credit_check": (),
    "list_balances": (*HERE, {"since": DAY, "interval": "week"}),
    "list_completeness": (),
    "list_credit_files": (),
    "read_credit_file": (UUID,),
    "create_credit_file": ("Ratenkredit",),
    "delete_credit_file": (UUID,),
    "request_credit_file_review": (UUID, "Miete fehlt"),
    "list_credit_file_reviews": ("UNGEPRUEFT", {"limit": 5}),
    "read_customer_credit_file": (UUID,),
    "read_review_request": (UUID,),
    "list_credit_file_transactions": (UUID,),
    "review_credit_file": (UUID, "NEU_BERECHNET", "geprüft", {"corrections": {UUID: "HOUSING_RENT"}}),
    "list_signing_keys": (),
    "update_contract": (UUID, {"name": "n", "minimum_term_end": DAY}),
    "list_returnable_debits": ({"contract_id": UUID},),
    "read_returnable_debit": (UUID,),
    "write_debit_return_letter": ("write_debit_return", UUID, {"ground": "OHNE_GRUND"}),
    "write_contract_cancellation": ("write_cancellation", UUID, {"day": DAY}),
    "read_cashflow": ({"focus": "tag"},),
    "read_disposable_money": (),
    "start_consent": ("a", WHO),
    "read_consent": (UUID,),
    "answer_consent": (UUID, {"method": 900}),
    "poll_consent": (UUID,),
    "cancel_consent": (UUID,),
    "list_transaction_changes": (*HERE, {"since": "c", "tag": "categories"}),
    "list_all_transaction_changes": ({"since": "c", "limit": 10},),
    "list_all_transactions": (WANTED, {"limit": 10, "is_ascending": True}),
    "sum_transactions": (WANTED,),
    "initiate_single_transfer": ("order_transfer", *HERE, ORDER, WHO),
    "initiate_bulk_transfer": ("order_transfer", *HERE, [ORDER, ORDER], WHO),
    "initiate_single_transfer_with_credentials": ("order_transfer_with_credentials", UUID, PIN, "DE1", ORDER, WHO),
    "initiate_bulk_transfer_with_credentials": ("order_transfer_with_credentials", UUID, PIN, "DE1", [ORDER], WHO),
    "verify_payees": ("verify_payee", *HERE, ORDER),
    "verify_payees_with_credentials": ("verify_payee_with_credentials", UUID, PIN, "DE1", ORDER),
    "list_payments": ({"limit": 10},),
    "get_single_transfer": ("read_transfer", UUID),
    "get_bulk_transfer": ("read_transfer", UUID, {"is_bulk": True}),
    "read_payment_evidence": (UUID,),
    "list_payees": (),
    "read_payee": (UUID,),
    "update_payee": (UUID, {"limit": Decimal("500.00"), "hold_hours": 24}),
    "export_payment": ("export_transfer", UUID),
    "export_direct_debits": ("export_direct_debit", UUID),
    "get_single_transfer_of_product": ("read_transfer_of_product", *HERE, UUID),
    "get_bulk_transfer_of_product": ("read_transfer_of_product", *HERE, UUID, {"is_bulk": True}),
    "answer_single_transfer": ("answer_transfer", UUID, {"data": "12"}),
    "answer_bulk_transfer": ("answer_transfer", UUID, {"is_bulk": True, "medium": "m"}),
    "poll_single_transfer": ("poll_transfer", UUID),
    "poll_bulk_transfer": ("poll_transfer", UUID, {"is_bulk": True}),
    "cancel_single_transfer": ("cancel_transfer", UUID),
    "cancel_bulk_transfer": ("cancel_transfer", UUID, {"is_bulk": True}),
    "confirm_payee_of_single_transfer": ("confirm_payee", UUID),
    "confirm_payees_of_bulk_transfer": ("confirm_payee", UUID, {"is_bulk": True}),
    "initiate_direct_debit": (
        "collect_direct_debits", *HERE, DEBIT, {"creditor_id": "DE98ZZZ09999999999", "collection_date": DAY, **WHO},
    ),
    "get_direct_debit": ("read_direct_debit", UUID),
    "answer_direct_debit": (UUID, {"data": "12"}),
    "poll_direct_debit": (UUID,),
    "cancel_direct_debit": (UUID,),
    "export_customer": ("export", "csv"),
    "erase_customer": ("anna",),
    "change_password": ("old", "new"),
    "list_own_tokens": (),
    "revoke_own_tokens": ("old", [UUID]),
    "list_redirect_sessions": "list_web_forms",
    "read_redirect_session": ("read_web_form", UUID),
    "delete_redirect_sessions": "end_web_forms",
    "delete_redirect_session": ("end_web_form", UUID),
    "add_import": ("import_file", b"x", {"form": "f"}),
    "read_import": (UUID,),
    "list_import_forms": (),
    "add_import_form": ("f", {"Wert": "betrag"}, {"day_format": "dd.mm.yyyy", "decimal_sign": ","}),
    "read_import_form": ("f",),
    "delete_import_form": ("f",),
    "start_legacy_transfer": (UUID, UUID, ORDER, PIN, {"method": "900", "medium": "m", "customer_ip": "8.8.8.8"}),
    "submit_text_tan": (UUID, UUID, UUID, "12"),
    "list_life_events": (),
    "list_life_stages": (),
    "list_sales_triggers": ({"explain": True},),
    "order_payment_file": ("order_file", *HERE, b"<x/>", WHO),
    "list_account_statements": HERE,
    "read_account_statement": (*HERE, UUID),
    "list_standing_orders": HERE,
    "read_standing_order": (*HERE, UUID),
    "initiate_standing_order": ("create_standing_order", *HERE, ORDER, PLAN),
    "change_standing_order": (*HERE, UUID, ORDER, PLAN),
    "delete_standing_order": (*HERE, UUID, WHO),
    "get_standing_order": ("read_standing_order_status", UUID),
    "answer_standing_order": (UUID, {"data": "12"}),
    "poll_standing_order": (UUID,),
    "cancel_standing_order": (UUID,),
    "confirm_payee_of_standing_order": (UUID,),
    "edit_transactions": (WANTED, {"category": "TAXES", "keywords": ["k"], "note": None}),
    "list_transaction_edits": (),
    "read_transaction_edit": (UUID,),
    "undo_transaction_edit": (UUID,),
}  # fmt: skip
# Class methods, which return a client.
LOGINS = {
    "issue_token": lambda options: Kontor.login(BASE, "t/app", "secret", "anna", "a password", **options),
    "issue_classic_token": lambda options: Kontor.login_with_key(BASE, "key", **options),
}


@pytest.fixture(scope="module")
def document(http):
    return http.get("/openapi.json").json()


def record(call):
    """The requests that a call makes. What it makes of the answers is for other tests."""
    requests = []

    def answer(request):
        requests.append(request)
        if request.url.path == "/encrypt":
            return httpx.Response(200, content=b"sealed")
        return httpx.Response(200, json={}, headers={"Location": f"{BASE}/customer/v2"})

    with contextlib.suppress(KontorClientError, IndexError, KeyError):
        call({"transport": httpx.MockTransport(answer), "retries": 0})
    return requests


def call_method(operation_id, options):
    given = CALLS[operation_id]
    given = (given,) if isinstance(given, str) else given
    is_named = (
        bool(given) and isinstance(given[0], str) and hasattr(Kontor, given[0]) and not hasattr(Kontor, operation_id)
    )
    name, arguments = (given[0], given[1:]) if is_named else (operation_id, given)
    if operation_id == "update_category":
        assert name == "annotate_transaction"
    named = arguments[-1] if arguments and isinstance(arguments[-1], dict) and arguments[-1] is not PIN else {}
    if named:
        arguments = arguments[:-1]
    with Kontor(BASE, "token", **options) as client:
        getattr(client, name)(*arguments, **named)


def test_every_operation_of_the_document_has_a_method(document):
    declared = {
        operation["operationId"]
        for item in document["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert declared == set(CALLS) | set(LOGINS)
    assert set(CALLS) & set(LOGINS) == set()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_the_method_calls_its_operation_as_the_document_says(document, operation):
    login = LOGINS.get(operation.id)
    requests = record(login or (lambda options: call_method(operation.id, options)))
    pattern = re.compile(re.sub(r"\{[^}]+\}", "[^/]+", operation.path.rstrip("/")) + "/?")
    fitting = [
        request for request in requests if request.method == operation.method and pattern.fullmatch(request.url.path)
    ]
    assert fitting, [(request.method, request.url.path) for request in requests]
    found = find_operation(document, operation.path, operation.method)
    request = fitting[0]
    queries = {parameter["name"] for parameter in found["parameters"] if parameter["in"] == "query"}
    assert {name for name, _ in parse_qsl(request.url.query.decode())} <= queries
    needed = {
        parameter["name"].lower()
        for parameter in found["parameters"]
        if parameter["in"] == "header" and parameter.get("required")
    }
    assert needed <= set(request.headers)
    body = found.get("requestBody", {"content": {}})["content"]
    if "application/json" in body and request.headers.get("content-type") == "application/json":
        schema = body["application/json"]["schema"] | {"components": document["components"]}
        jsonschema.validate(json.loads(request.content), schema)
    elif found.get("requestBody", {}).get("required"):
        assert request.headers["content-type"] in body
