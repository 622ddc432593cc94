"""Nobody's data is found by an id alone: every statement about customer data names the user (threat T1).

Read from the syntax trees of `storage`: each SQL text that touches one of these tables must have `user_id` among its
conditions or values, or stand below with the reason why it may do without.
"""

import ast
import re
from pathlib import Path

import pytest

STORAGE = Path(__file__).parents[2] / "src" / "kontor" / "storage"
TABLES = (
    "accesses",
    "products",
    "transactions",
    "positions",
    "standing_orders",
    "push_batches",
    "fetches",
    "staged_fetches",
    "unattended_calls",
    "dialogues",
    "payments",
    "payment_fingerprints",
    "payee_verifications",
    "permissions",
    "transaction_tags",
    "tagging_rules",
    "own_categories",
    "budgets",
    "savings_goals",
    "analysis_results",
    "import_forms",
    "file_imports",
    "removed_transactions",
    "repeated_transactions",
    "transaction_edits",
    "transaction_edit_rows",
    "contracts",
    "contract_states",
    "alerts",
    "alert_states",
    "push_subscriptions",
    "push_messages",
)
TOUCHES = re.compile(rf"\b(from|into|update|join|copy)\s+(only\s+)?({'|'.join(TABLES)})\b", re.IGNORECASE)
NAMES_THE_USER = (
    re.compile(r"\buser_id\s*=\s*(%|\$\d|[a-z]+\.user_id)", re.IGNORECASE),  # a condition, or a join on it
    re.compile(r"\b(insert\s+into|copy)\s+\w+(\s+as\s+\w+)?\s*\([^)]*(\buser_id\b|\{\})", re.IGNORECASE),  # a value
)
BOUND = "by the worker that holds the lease, on a connection that is bound to the user"
ALLOWED = {
    "backups.LEAVE_BEHIND": "the owner prepares a restored database before any process uses it",
    "fetches.FIND": BOUND,
    "fetches.IS_OURS": BOUND,
    "fetches.FINISH_ANSWERED": BOUND,
    "fetches.START": BOUND,
    "fetches.finish_fetch": BOUND,
    "fetches.skip_fetch": BOUND,
    "fetches.take_back": BOUND,
}
# Who may look at everybody's ids, states and times (ADR 0055). Background work acts for nobody in particular: it gets
# ids from rows of our own, never from a caller.
SEES_ALL = re.compile(r"(\b(from|into|update|join)\s+|^)all_\w+|\bselect\s+delete_all_\w+", re.IGNORECASE)
OPERATORS = "operators look at everybody's, and a tenant's client at those of its tenant; no content, only states"
SCHEDULER = "workers look at everybody's, and take the user from the row"
REAPER = "the reaper looks at everybody's, and changes rows that it has locked"
HOUSEKEEPING = "housekeeping deletes what is old, or binds itself to the user whom it finds"
ADVISERS = "advisers look for what customers of their tenant allow them to read, and at nothing else"
EQUAL_CREDENTIALS = "credentials that a bank refused are refused for everybody who has them"
EVERYBODYS = {
    "accesses.lock_expired": HOUSEKEEPING,
    "accesses.lock_orphan": HOUSEKEEPING,
    "alert_states.CLAIM": SCHEDULER,
    "alerts.delete_old_alerts": HOUSEKEEPING,
    "analyses.delete_old_answers": HOUSEKEEPING,
    "dialogues.delete_old_dialogues": HOUSEKEEPING,
    "credit_files.DELETE_OLD": HOUSEKEEPING,
    "credit_files.LIST_REVIEWS": ADVISERS,
    "disclosures.FIND_OF_FILE": ADVISERS,
    "disclosures.FIND_VALID": ADVISERS,
    "disclosures.LIST_CUSTOMERS": ADVISERS,
    "fetches.TAKE": "a worker has only the job's id, and takes the user from the row",
    "erased_payments.anonymise_orphaned": HOUSEKEEPING,
    "fetches.delete_old_fetches": HOUSEKEEPING,
    "fetches.interrupt_fetches": REAPER,
    "fetches.list_abandoned": REAPER,
    "fetches.put_back": REAPER,
    "imports.delete_old_results": HOUSEKEEPING,
    "incidents.FAILURES": OPERATORS,
    "incidents.FETCHES": OPERATORS,
    "incidents.PAYMENTS": OPERATORS,
    "incidents.USERS": OPERATORS,
    "ops.CHOSEN": OPERATORS,
    "ops.EVERYBODYS": OPERATORS,
    "ops.FIND_ACCESS": OPERATORS,
    "ops.OF_TENANT": OPERATORS,
    "ops.PAUSED": OPERATORS,
    "ops.count_accesses": OPERATORS,
    "ops.list_users": OPERATORS,
    "ops_details.FIND_OWNER": OPERATORS,
    "ops_details.LIST_ATTEMPTS": OPERATORS,
    "ops_providers.count_accesses": OPERATORS,
    "ops_refreshes.COUNT_FAILING": OPERATORS,
    "ops_refreshes.COUNT_OPEN": OPERATORS,
    "ops_refreshes.COUNT_OUTCOMES": OPERATORS,
    "ops_refreshes.COUNT_PAUSED": OPERATORS,
    "ops_refreshes.COUNT_SCHEDULE": OPERATORS,
    "ops_refreshes.COUNT_TENANTS_OUTCOMES": OPERATORS,
    "ops_refreshes.IS_NEWEST": OPERATORS,
    "ops_refreshes.LIST_FAILED": OPERATORS,
    "ops_refreshes.LIST_OPEN": OPERATORS,
    "ops_refreshes.LIST_PAUSED": OPERATORS,
    "ops_refreshes.LIST_SCHEDULE": OPERATORS,
    "ops_refreshes.WHOSE": OPERATORS,
    "payments.claim_lookups": SCHEDULER,
    "payments.delete_old_fingerprints": HOUSEKEEPING,
    "payments.delete_old_payments": HOUSEKEEPING,
    "payments.forget_old_keys": HOUSEKEEPING,
    "permissions.DELETE_OLD": HOUSEKEEPING,
    "permissions.LIST_UNTOLD": SCHEDULER,
    "permissions.lock_expired_permission": HOUSEKEEPING,
    "push_messages.CLAIM": SCHEDULER,
    "push_subscriptions.TAKE_OVER": "a browser belongs to one user, and goes to whoever has registered it last",
    "payments.list_orphaned": REAPER,
    "refreshes.CLAIM_ENDING": SCHEDULER,
    "refreshes.EQUAL": EQUAL_CREDENTIALS,
    "refreshes.FORGET_FAR": SCHEDULER,
    "refreshes.LOCK_DUE": SCHEDULER,
    "refreshes.LOCK_EQUAL": EQUAL_CREDENTIALS,
    "refreshes.PAUSE_EQUAL": EQUAL_CREDENTIALS,
    "refreshes.READ_DUE": SCHEDULER,
    "refreshes.UNSCHEDULED": SCHEDULER,
    "refreshes.delete_old_calls": HOUSEKEEPING,
    "refreshes.insert_slots": SCHEDULER,
    "refreshes.resume_equal_credentials": EQUAL_CREDENTIALS,
    "refreshes.set_next_refreshes": SCHEDULER,
    "removals.forget_old_removals": HOUSEKEEPING,
    "system_keys.forget_all_secrets": "the operator, when the master key is lost; it binds itself to each user",
    "tags.STATES": "who is to be tagged anew, and how many are",
    "transaction_edits.forget_old_rows": HOUSEKEEPING,
    "verifications.delete_old_verifications": HOUSEKEEPING,
}


def text_of(node):
    """The literal text of a string, with `{}` for what is put in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def find_statements(source, touches=TOUCHES):
    """(where, text) of every SQL text that touches customer data; where is the function or constant."""
    tree = ast.parse(source)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for top in tree.body:
        documentation = {id(node.value) for node in ast.walk(top) if isinstance(node, ast.Expr)}
        name = getattr(top, "name", None) or next(
            (target.id for target in getattr(top, "targets", ()) if isinstance(target, ast.Name)), "module"
        )
        for node in ast.walk(top):
            text = text_of(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ""
            if id(node) not in inside | documentation and touches.search(text):
                yield name, text


def find_nameless(source):
    return sorted(
        {name for name, text in find_statements(source) if not any(pattern.search(text) for pattern in NAMES_THE_USER)}
    )


def test_every_statement_about_customer_data_names_the_user():
    nameless = {
        f"{file.stem}.{name}" for file in sorted(STORAGE.glob("*.py")) for name in find_nameless(file.read_text())
    }
    # The listing puts its conditions together; the first of them, always there, is the user.
    listing = (STORAGE / "transactions.py").read_text()
    assert re.search(r'conditions = \["user_id = (\$1|%\(user\)s) and ', listing)
    nameless.discard("transactions.page_query")
    assert nameless - set(ALLOWED) == set()
    assert set(ALLOWED) - nameless == set(), "no longer needed in the list"


def test_everybodys_rows_are_seen_by_no_other_statements():
    found = {
        f"{file.stem}.{name}"
        for file in sorted(STORAGE.glob("*.py"))
        for name, _ in find_statements(file.read_text(), SEES_ALL)
    }
    assert found == set(EVERYBODYS)


def test_the_rule_sees_statements_at_all():
    count = sum(len(list(find_statements(file.read_text()))) for file in STORAGE.glob("*.py"))
    assert count > 40


@pytest.mark.parametrize(
    ("statement", "is_named"),
    [
        ("select id from accesses where user_id = %s and id = %s", True),
        ("select id from accesses where id = %s", False),
        ("select user_id from accesses where id = %s", False),
        ("select 1 from products where user_id = %(user)s and id = %(id)s", True),
        ("delete from transactions where product_id = %s", False),
        ("update products set name = %s where id = %s", False),
        ("update products set name = %s where user_id = %s", True),
        ("insert into positions (user_id, product_id) values (%s, %s)", True),
        ("insert into positions (product_id) values (%s)", False),
        ("select f.id from fetches f join accesses a on a.user_id = f.user_id where f.id = %s", True),
        ("copy transactions (user_id, product_id) from stdin", True),
    ],
)
def test_the_rule_finds_what_it_should(statement, is_named):
    source = f"async def look(connection):\n    await connection.execute({statement!r})\n"
    assert (find_nameless(source) == []) is is_named
