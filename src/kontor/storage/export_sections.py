"""Which tables and columns an export of a user has.

What belongs to a user and is not exported stands here, or in `export_omissions.py`, with its reason: a new table or
column must be put into one of the two (a test compares them with the database).
"""

from dataclasses import dataclass, field

SECRET = "opens or proves something: no secret leaves"  # noqa: S105
INTERNAL = "how the work is done, nothing about the user"
WHOSE = "the same in every row: whose export this is"


@dataclass(frozen=True, slots=True)
class Section:
    """A table as it is exported. `key` is unique among the user's rows, and the order of the section."""

    name: str
    table: str
    key: str
    columns: str
    omitted: dict[str, str] = field(hash=False)
    extra: tuple[str, str] | None = None  # a further column that is looked up elsewhere: name and expression
    condition: str = "true"  # which rows may be shown


UNCONFIRMED = "which form session it belongs to; rows that have one are not shown"
# Until the user has chosen accounts in the web form, nobody else may know about the access.
IS_CONFIRMED = (
    "not exists (select 1 from accesses a where a.user_id = t.user_id and a.id = t.access_id"
    " and a.form_session_id is not null)"
)
# Nor which bank it was, where the form did not come to a good end.
CHOSEN_PROVIDER = ("provider_id", "case when t.outcome in ('ACCOUNT_CREATED', 'FINISHED') then t.provider_id end")
TAG_COLUMNS = (
    "category, insurance_type, partner, freelancer_category, category_confidence, insurance_confidence,"
    " partner_confidence, freelancer_confidence, period, period_confidence, source, rule_id, own_category, learnt_from,"
    " tagger_version"
)
TAG_NAMES = {"source": "decided_by"}
TAG_PAIRS = ", ".join(f"'{TAG_NAMES.get(name, name)}', g.{name}" for name in TAG_COLUMNS.split(", "))
TAGS = (
    "tags",
    f"(select json_build_object({TAG_PAIRS}) from transaction_tags g"
    " where g.user_id = $1 and g.product_id = t.product_id and g.transaction_id = t.id)",
)
LIMIT_COLUMNS = "id, iban, name, max_amount, hold_hours, held_until, first_at, last_at, changed_at"
CLIENT = ("client", "(select c.name from clients c where c.id = t.client_id)")
# Transactions are many: they are read product by product in the order of their index.
TRANSACTIONS = Section(
    "transactions",
    "transactions",
    "t.id::text",
    "id, product_id, booked_on, ordinal, amount, currency, booked_at, value_at, purpose, booking_text, gv_code,"
    " prima_nota, counterparty_name, counterparty_iban, counterparty_bic, ultimate_counterparty, bank_id, is_pending,"
    " batch_id, channel, note, keywords, parts",
    {"user_id": WHOSE, "document": "the same columns as an object of the interface"}
    | dict.fromkeys(
        ("created_version", "changed_version", "edited_version", "document_version", "document_format"), INTERNAL
    ),
    TAGS,
)
SECTIONS = (
    Section(
        "roles",
        "role_users",
        "t.role_id::text",
        "role_id",
        {"user_id": WHOSE},
        (
            "role",
            "(select c.name || '/' || r.name from roles r join clients c on c.id = r.client_id where r.id = t.role_id)",
        ),
    ),
    Section(
        "tokens",
        "access_tokens",
        "encode(t.hash, 'hex')",
        "scopes, issued_at, expires_at",
        {
            "user_id": WHOSE,
            "tenant_id": WHOSE,
            "hash": SECRET,
            "client_id": "its name is there",
            "key_thumbprint": INTERNAL,
        },
        CLIENT,
    ),
    Section(
        "assistant_grants",
        "assistant_grants",
        "t.id::text",
        "id, scopes, redirect_address, created_at, expires_at",
        {
            "user_id": WHOSE,
            "tenant_id": WHOSE,
            "client_id": "its name is there",
            "code_hash": SECRET,
            "challenge": INTERNAL,
            "code_expires_at": INTERNAL,
            "code_used_at": INTERNAL,
        },
        CLIENT,
    ),
    Section(
        "api_keys",
        "api_keys",
        "t.id::text",
        "id, description, created_at",
        {"user_id": WHOSE, "hash": SECRET, "client_id": "its name is there"},
        CLIENT,
    ),
    Section("legal_acceptances", "legal_acceptances", "t.version", "version, accepted_at", {"user_id": WHOSE}),
    Section(
        "accesses",
        "accesses",
        "t.id",
        "id, provider_id, status, is_synced, selected_products, methods, media, active_method, active_medium, messages,"
        " issues, issues_at, consent_until, created_at, updated_at, expires_at, next_refresh_at, refresh_pause,"
        " history, wants_statements",
        {
            "user_id": WHOSE,
            "credentials": SECRET,
            "credentials_digest": SECRET,
            "lease_key": SECRET,
            "memory": SECRET,
            "scheduled_since": INTERNAL,
            "consent_warned_for": INTERNAL,
            "operator_paused_at": INTERNAL,
            "form_session_id": UNCONFIRMED,
            "known_products": INTERNAL,
        },
        ("has_credentials", "t.credentials is not null"),
        "t.form_session_id is null",
    ),
    Section(
        "products",
        "products",
        "t.id::text",
        "id, access_id, bank_key, ordinal, status, category, name, holder, currency, account_number, iban, bic,"
        " bank_code, institution, balance, balance_at, balance_source, balances, balance_gap, overdraft_limit,"
        " credit_limit, credit_drawn, home_savings, can_transfer, can_bulk_transfer, standing_order_actions,"
        " debit_forms, updated_at",
        {"user_id": WHOSE},
    ),
    Section(
        "positions",
        "positions",
        "t.product_id::text || lpad(t.ordinal::text, 10, '0')",
        "product_id, ordinal, name, quantity, unit, isin, wkn, price, price_at, currency, exchange_rate, exchange,"
        " total_value",
        {"user_id": WHOSE},
    ),
    Section(
        "pushed_batches",
        "push_batches",
        "t.product_id::text || t.batch_id",
        "product_id, batch_id, pushed_at",
        {"user_id": WHOSE},
    ),
    Section(
        "tagging_rules",
        "tagging_rules",
        "t.id::text",
        "id, category, counterparty_iban, counterparty_name, conditions, label, is_active, is_for_all,"
        " own_category, created_at",
        {"user_id": WHOSE, "iban_key": INTERNAL, "name_key": INTERNAL},
    ),
    Section(
        "own_categories",
        "own_categories",
        "t.system_id::text",
        "system_id, system_name, display_name, description, basis, created_at",
        {"user_id": WHOSE},
    ),
    Section(
        "budgets",
        "budgets",
        "t.id::text",
        "id, name, categories, amount, starts_on, carries_over, created_at",
        {"user_id": WHOSE},
    ),
    Section(
        "savings_goals",
        "savings_goals",
        "t.id::text",
        "id, name, target, target_date, products, saved, created_at",
        {"user_id": WHOSE},
    ),
    Section(
        "transaction_edits",
        "transaction_edits",
        "t.id::text",
        "id, tags, sets_note, note, sets_keywords, keywords, row_count, skipped_count, made_at",
        {"user_id": WHOSE, "version": INTERNAL, "has_rows": INTERNAL},
    ),
    Section(
        "values_before_edits",
        "transaction_edit_rows",
        "t.product_id::text || t.transaction_id::text || t.edit_id::text",
        "product_id, transaction_id, edit_id, tags, note, keywords",
        {"user_id": WHOSE, "edited_version": INTERNAL},
    ),
    Section(
        "contracts",
        "contracts",
        "t.id::text",
        "id, transaction_ids, name, is_contract, notice_period, minimum_term_end, is_found, created_at",
        {"user_id": WHOSE, "booking_numbers": "which transactions are in several accesses; it follows from the data"},
    ),
    Section(
        "alerts",
        "alerts",
        "t.id::text",
        "id, kind, object_kind, object_id, access_id, status, amount, currency, name, day, amount_before, created_at,"
        " ended_at",
        {"user_id": WHOSE, "cause": "the same is told once; it follows from the other columns"},
    ),
    Section(
        "push_subscriptions",
        "push_subscriptions",
        "t.id::text",
        "id, kinds, created_at",
        {"user_id": WHOSE, "sealed": SECRET, "endpoint_digest": "a keyed hash, by which a browser is found again"},
    ),
    Section(
        "standing_orders",
        "standing_orders",
        "t.id::text",
        "id, product_id, bank_key, details, schedule, is_listed, created_at, changed_at",
        {"user_id": WHOSE},
    ),
    Section(
        "import_forms",
        "import_forms",
        "t.name",
        "name, marks, columns, fields, day_format, decimal_sign, created_at",
        {"user_id": WHOSE},
    ),
    Section(
        "disclosures",
        "disclosures",
        "t.id::text",
        "id, scopes, valid_until, adviser_id, shown_text, created_at, withdrawn_at",
        {"user_id": WHOSE, "tenant_id": WHOSE},
    ),
    Section(
        "permissions",
        "permissions",
        "t.id::text",
        "id, access_id, provider_id, channel, purpose, usable_until, product_ids, callers, began_at, used_at, ended_at,"
        " ended_as, is_bank_told, products_erased, transactions_erased, credentials_erased",
        {"user_id": WHOSE, "credentials": SECRET, "memory": SECRET, "lease_key": SECRET, "told_at": INTERNAL},
        condition=f"(t.ended_at is not null or {IS_CONFIRMED})",
    ),
    Section(
        "credit_files",
        "credit_files",
        "t.id::text",
        "id, version, predecessor_id, purpose, disclosure_id, consent, created_at, document, signature",
        {"user_id": WHOSE, "tenant_id": WHOSE},
    ),
    Section(
        "credit_review_requests",
        "credit_review_requests",
        "t.file_id::text",
        "file_id, comment, requested_at",
        {"user_id": WHOSE},
    ),
    Section("file_imports", "file_imports", "t.id::text", "id, access_id, accounts, imported_at", {"user_id": WHOSE}),
    Section(
        "account_statements",
        "account_statements",
        "t.id::text",
        "id, product_id, number, year, format, starts_on, ends_on, created_on, size, state, fetched_at",
        {"user_id": WHOSE, "tenant_id": WHOSE, "digest": SECRET, "content": "sealed; the file is added"},
    ),
    Section(
        "payments",
        "payments",
        "t.id::text",
        "id, kind, state, failure, detail, provider_id, access_id, product_id, product_key, product, orders, given,"
        " is_instant, execution_date, prefers_rejection, is_payee_accepted, customer_ip, callback_url, idempotency_key,"
        " created_at, changed_at, sent_at, expires_at, standing, debit, evidence",
        {
            "user_id": WHOSE,
            "tenant_id": WHOSE,
            "pseudonym": "stands for the user in the audit trail; nobody is to know whom it means",
            "dialogue": INTERNAL,
            "asks_settings": INTERNAL,
            "is_editable": INTERNAL,
            "is_auto_confirmed": "nothing writes or reads it: no provider pays without the user",
            "sealed": SECRET,
            "credentials": SECRET,
            "lease_key": SECRET,
            "fence": INTERNAL,
            "request_digest": INTERNAL,
            "lookups": INTERNAL,
            "next_lookup_at": INTERNAL,
            "kept_bank_id": "set only when the user is erased",
        },
        condition="(t.state <> 'DRAFT' or t.access_id is not null or t.provider_id is null)",
    ),
    Section(
        "payee_verifications",
        "payee_verifications",
        "t.id::text",
        "id, payment_id, payees, results, created_at, expires_at, used_at, warnings, shown_text",
        {"user_id": WHOSE},
    ),
    Section("payee_limits", "payee_limits", "t.id::text", LIMIT_COLUMNS, {"user_id": WHOSE}),
    Section(
        "consents",
        "dialogues",
        "t.id::text",
        "id, access_id, state, wrong_tans, is_renewal, history, customer_ip, callback_url, methods, media,"
        " chosen_method, chosen_medium, created_at, expires_at",
        {
            "user_id": WHOSE,
            "is_last_tan_wrong": INTERNAL,
            "asks_settings": INTERNAL,
            "sealed": SECRET,
            "redirect_url": "opens the bank's page for this consent: a secret while it lives",
            "lease_key": SECRET,
        },
        condition=IS_CONFIRMED,
    ),
    Section(
        "redirect_sessions",
        "redirect_sessions",
        "t.id::text",
        "id, use_case, access_id, callback_url, appended_callback_url, customer_ip, step, outcome,"
        " payment_id, created_at, used_at, expires_at, history, selected_products, purpose, usable_until",
        {
            "user_id": WHOSE,
            "tenant_id": WHOSE,
            "handle_hash": SECRET,
            "cookie_hash": SECRET,
            "dialogue_id": INTERNAL,
            "wrong_logins": INTERNAL,
            "notice": INTERNAL,
            "is_framed": INTERNAL,
            "is_source_fixed": INTERNAL,
            "checking_at": INTERNAL,
            "is_payee_matched": INTERNAL,
            "asks_settings": INTERNAL,
            "language": INTERNAL,
            "provider_id": "there where the form came to a good end",
        },
        CHOSEN_PROVIDER,
    ),
    Section(
        "fetches",
        "fetches",
        "t.id::text",
        "id, access_id, state, is_attended, all_history, attempts, failure, requested_at, started_at, finished_at,"
        " slot_at",
        {
            "user_id": WHOSE,
            "lease_key": SECRET,
            "fence": INTERNAL,
            "correlation_id": INTERNAL,
            "resume_state": SECRET,
        },
        condition=IS_CONFIRMED,
    ),
    Section(
        "calls_without_the_user",
        "unattended_calls",
        "t.access_id || t.called_at::text || t.fetch_id::text",
        "access_id, called_at, fetch_id",
        {"user_id": WHOSE},
        condition=IS_CONFIRMED,
    ),
    Section(
        "notifications",
        "webhook_deliveries",
        "t.id::text",
        "id, type, access_id, products, payment_id, payment_kind, created_at, state, attempts, finished_at",
        {
            "user_id": WHOSE,
            "webhook_id": "the tenant's",
            "serial": "the tenant's",
            "tries": INTERNAL,
            "begun_at": INTERNAL,
            "attempted_at": INTERNAL,
            "next_attempt_at": INTERNAL,
            "claim": INTERNAL,
            "claimed_until": INTERNAL,
            "data_version": INTERNAL,
            "status": "how the tenant's receiver does",
            "failure": "how the tenant's receiver does",
        },
    ),
)
