"""Which operations use bank data, so that customers see in their permissions which client did, and when."""

from kontor.api.answers import Answer
from kontor.api.operations import Call, Security

ACCESS = "access-id"
# They read what was fetched over all accesses. Others name the access in their path, or read nothing that a bank said.
OVER_ALL_ACCESSES = frozenset(
    {
        "export_customer",
        "list_accesses",
        "list_alerts",
        "list_all_transaction_changes",
        "list_all_transactions",
        "list_budgets",
        "list_completeness",
        "list_contracts",
        "list_life_events",
        "list_life_stages",
        "list_sales_triggers",
        "list_savings_goals",
        "preview_tagging_rule",
        "read_affordability",
        "read_alert",
        "read_budget",
        "read_cashflow",
        "read_credit_check",
        "read_customer",
        "read_disposable_money",
        "read_savings_goal",
        "sum_transactions",
        "write_contract_cancellation",
    }
)


async def note_use(call: Call, answer: Answer) -> None:
    """After the answer was made. Errors use nothing."""
    operation = call.operation
    if operation.security is not Security.USER_TOKEN or answer.status >= 300:
        return
    if ACCESS in operation.path_names:
        await call.services.accesses.permissions.uses.note(call.principal, call.path(ACCESS))
    elif operation.id in OVER_ALL_ACCESSES:
        await call.services.accesses.permissions.uses.note(call.principal, None)
