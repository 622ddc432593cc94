"""Which operations use bank data, so that customers see in their permissions which client did, and when.

A use is an answer that shows bank data, or what was computed from it, previews included. Imports and reads of advisers
name their access or customer themselves (`imports.py`, `adviser_v2.py`); fetches are noted where they are stored.
"""

from kontor.api.answers import Answer
from kontor.api.operations import Call, Operation, Security

CUSTOMER, ACCESS = "/customer/v2", "access-id"
# Reads that tell nothing which a bank said. All others that name no access in their path are uses of all accesses.
WITHOUT_BANK_DATA = frozenset(
    {
        "export_direct_debits",
        "export_payment",
        "get_bulk_transfer",
        "get_direct_debit",
        "get_single_transfer",
        "get_standing_order",
        "list_disclosure_reads",
        "list_disclosures",
        "list_import_forms",
        "list_own_categories",
        "list_own_tokens",
        "list_payees",
        "list_payments",
        "list_permissions",
        "list_push_subscriptions",
        "list_redirect_sessions",
        "list_tagging_rules",
        "poll_bulk_transfer",
        "poll_consent",
        "poll_direct_debit",
        "poll_single_transfer",
        "poll_standing_order",
        "read_consent",
        "read_disclosure",
        "read_import",
        "read_import_form",
        "read_own_category",
        "read_payee",
        "read_payment_evidence",
        "read_permission",
        "read_push_key",
        "read_push_subscription",
        "read_redirect_session",
        "read_tagging_rule",
    }
)
# What computes from all accesses and is no GET.
OTHERS_OF_ALL_ACCESSES = frozenset({"create_credit_file", "edit_transactions", "preview_tagging_rule"})


async def note_use(call: Call, answer: Answer) -> None:
    """After the answer was made. Errors use nothing."""
    operation = call.operation
    if answer.status >= 300 or operation.security is not Security.USER_TOKEN:
        return
    if ACCESS in operation.path_names:
        await call.services.accesses.permissions.uses.note(call.principal, call.path(ACCESS))
    elif reads_all_accesses(operation):
        await call.services.accesses.permissions.uses.note(call.principal, None)


def reads_all_accesses(operation: Operation) -> bool:
    is_read = operation.method == "GET" and operation.path.startswith(CUSTOMER)
    return operation.id in OTHERS_OF_ALL_ACCESSES or (is_read and operation.id not in WITHOUT_BANK_DATA)
