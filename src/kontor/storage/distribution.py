"""Which tables a Citus cluster distributes by `user_id`, and which stay on the coordinator (ADR 0062).

The rows of one user are on one node, and a statement about a customer asks one shard. `kontor distribute` makes it so;
`tests/storage/test_distributed_tables.py` compares the lists with the schema.
"""

# Parents first: a foreign key refers to a table that is distributed already.
DISTRIBUTED = (
    "data_versions",
    "products",
    "transactions",
    "transaction_tags",
    "positions",
    "push_batches",
    "standing_orders",
    "account_statements",
    "transaction_edits",
    "transaction_edit_rows",
    "removed_transactions",
    "repeated_transactions",
    "contracts",
    "contract_states",
    "analysis_results",
    "tagging_rules",
    "own_categories",
    "budgets",
    "savings_goals",
    "alerts",
)
# Those without a parent among them. Nothing deletes their rows with the user but `users.delete_user`: on a cluster
# foreign keys to `users` and `accesses` are gone.
DELETED_WITH_USER = (
    "products",
    "transaction_edits",
    "removed_transactions",
    "repeated_transactions",
    "contracts",
    "contract_states",
    "analysis_results",
    "tagging_rules",
    "own_categories",
    "data_versions",
)
# All tables are placed like this one.
FIRST = DISTRIBUTED[0]

SCHEDULED = "scheduled for everybody: rows of many users are locked with `skip locked`"
QUEUED = "belongs to what is queued and leased for everybody"
PAID = "commits together with leases, the audit trail and webhooks"
IDENTIFYING = "found before anybody knows who the user is"
# The other tables with a `user_id`.
LOCAL = {
    "access_tokens": IDENTIFYING,
    "accesses": SCHEDULED,
    "alert_states": SCHEDULED,
    "api_keys": IDENTIFYING,
    "assistant_grants": IDENTIFYING,
    "credit_files": "few rows per user, found by advisers of the tenant",
    "credit_review_requests": "few rows per user, found by advisers of the tenant",
    "dialogues": QUEUED,
    "disclosures": "few rows per user, found by advisers of the tenant",
    "fetches": SCHEDULED,
    "file_imports": "few rows, deleted after a day for everybody",
    "import_forms": "few rows per user",
    "legal_acceptances": "few rows per user",
    "login_addresses": IDENTIFYING,
    "payee_limits": PAID,
    "payee_verifications": PAID,
    "payment_fingerprints": PAID,
    "payments": PAID,
    "permissions": "few rows per user; ended when their day has come",
    "push_messages": SCHEDULED,
    "push_subscriptions": "few rows per user; a browser belongs to one user of all",
    "redirect_sessions": IDENTIFYING,
    "role_users": "joined with roles when a token is issued",
    "staged_fetches": QUEUED,
    "tagging_states": "one row per user, compared with the rules of all tenants to find users to be tagged anew",
    "unattended_calls": SCHEDULED,
    "webhook_deliveries": "the tenant's outbox: rows of many users are locked with `skip locked`",
}
