"""Row-level security: a second line of defence behind the `user_id` of every statement (ADR 0055).

Each of these tables has a policy that compares its `user_id` with the session's setting `kontor.user_id`. It restricts
the application's role; the owner of the tables, who migrates and makes backups, sees everything.
"""

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

Connection = psycopg.Connection[TupleRow]

POLICY = "own_rows"
BINDING_VERSION = 36  # since this version the program binds its connections

PROTECTED = (
    "accesses",
    "account_statements",
    "alert_states",
    "alerts",
    "analysis_results",
    "budgets",
    "contract_states",
    "contracts",
    "credit_files",
    "credit_review_requests",
    "data_versions",
    "dialogues",
    "disclosures",
    "fetches",
    "file_imports",
    "import_forms",
    "legal_acceptances",
    "own_categories",
    "payee_limits",
    "payee_verifications",
    "payment_fingerprints",
    "payments",
    "permissions",
    "positions",
    "products",
    "push_batches",
    "push_messages",
    "push_subscriptions",
    "removed_transactions",
    "repeated_transactions",
    "savings_goals",
    "staged_fetches",
    "standing_orders",
    "tagging_rules",
    "tagging_states",
    "transaction_edit_rows",
    "transaction_edits",
    "transaction_tags",
    "transactions",
    "unattended_calls",
)
# The other tables with a `user_id`, and why they cannot be compared with it.
UNPROTECTED = {
    "access_tokens": "a token is found by its hash, and tells who the user is",
    "assistant_grants": "a grant is found by the hash of a code or token, and tells who the user is",
    "api_keys": "a key is found by its hash, and tells who the user is",
    "login_addresses": "keyed hashes, read while a password is checked, before anybody is known",
    "redirect_sessions": "a session is found by the hash of its handle or cookie, and tells who the user is",
    "role_users": "roles are assigned by the tenant's clients, and read when a token is issued",
    "webhook_deliveries": "the tenant's outbox: ids only, read by webhook",
}

# Tables of tenants, without a `user_id` and without a policy: what tells one tenant from another in them.
OF_TENANTS = {
    "audit_entries": "the chain is the tenant's; operators read and verify all of them",
    "audit_heads": "as the entries",
    "clients": "a client is found by its name, and tells who the tenant is",
    "model_days": "a key begins with the tenant; workers count for all",
    "roles": "belong to clients; read when a token is issued",
    "tenant_categories": "a key begins with the tenant",
    "tenant_keys": "sealed, and bound to the tenant; read before a user's key can be opened",
    "tenant_merchants": "a key begins with the tenant; workers claim questions of all",
    "tenant_rules": "a key begins with the tenant",
    "tenants": "found by name before anybody is known; operators list all",
    "users": "found by name while a password is checked; read by workers to learn whose turn it is",
    "webhooks": "each statement names tenant or webhook; workers deliver for all",
}

# A comparison with a stable value, and no other table: the planner takes it as any condition on the key, and so does
# a cluster that distributes rows by user.
OWN_ROWS = "user_id = nullif(current_setting('kontor.user_id', true), '')::uuid"
# What else may be written: a payment of an erased user goes on under the user's pseudonym.
ALSO_WRITTEN = {"payments": "user_id = pseudonym"}

FIND_TABLES = """
    select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relname = any(%s)
        and not exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polname = %s)
    order by c.relname
"""
FIND_DISABLED = """
    select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relname = any(%s) and not c.relrowsecurity
    order by c.relname
"""


def list_without_policy(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute(FIND_TABLES, [list(PROTECTED), POLICY]).fetchall()]


def add_policy(connection: Connection, table: str) -> None:
    """It takes effect with `enable_policy`."""
    written = f"{OWN_ROWS} or {ALSO_WRITTEN[table]}" if table in ALSO_WRITTEN else OWN_ROWS
    statement = sql.SQL("create policy {policy} on {table} using ({own}) with check ({written})").format(
        policy=sql.Identifier(POLICY), table=sql.Identifier(table), own=sql.SQL(OWN_ROWS), written=sql.SQL(written)
    )
    connection.execute(statement)


def list_disabled(connection: Connection) -> list[str]:
    return [row[0] for row in connection.execute(FIND_DISABLED, [list(PROTECTED)]).fetchall()]


def enable_policy(connection: Connection, table: str) -> None:
    """From now on the application sees the rows of the user that its connection is bound to."""
    connection.execute(sql.SQL("alter table {} enable row level security").format(sql.Identifier(table)))
