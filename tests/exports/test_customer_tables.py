"""No table with customer data is forgotten by the export, the erasure of a user or the deletion of an access.

Tables are read from the database's catalogue. A new one fails these tests until somebody has decided about it.
"""

from dataclasses import dataclass

import msgspec
import pytest

import given_clusters
from kontor.storage.data_key_rotation import SEALED_COLUMNS
from kontor.storage.export_sections import SECTIONS, TRANSACTIONS
from kontor.storage.keys import load_data_key
from kontor.wire.exports import Export
from whole_customers import WholeCustomer, make_whole_customer

DEMO_BANK = "the demo bank's own, which stands for a bank's database"
QUEUE = "the queue: jobs carry an id and nothing else"
OF_TENANTS = "the tenant's"
OF_OPERATORS = "the operator's"
OF_PROVIDERS = "how calls of a provider went, without whose they were"
WITHOUT_CUSTOMERS = {
    "audit_entries": "the trail names users by their pseudonym, whose meaning goes with the user",
    "audit_heads": "hashes of the trail",
    "clients": OF_TENANTS,
    "credential_leases": "keyed hashes of logins, for seconds",
    "demo_bank_accounts": DEMO_BANK,
    "demo_bank_arrivals": DEMO_BANK,
    "demo_bank_bookings": DEMO_BANK,
    "demo_bank_logins": DEMO_BANK,
    "demo_bank_pages": DEMO_BANK,
    "demo_bank_payments": DEMO_BANK,
    "demo_bank_standing_orders": DEMO_BANK,
    "dpop_proofs": "hashes of keys and of random ids, for minutes",
    "login_failures": "hashes of names and addresses, for minutes",
    "operators": OF_OPERATORS,
    "pgqueuer": QUEUE,
    "pgqueuer_log": QUEUE,
    "pgqueuer_schedules": QUEUE,
    "pgqueuer_statistics": QUEUE,
    "incidents": "the operator's, with a title and times",
    "incident_reports": OF_OPERATORS,
    "egress_days": "hosts and counts of the installation",
    "provider_findings": OF_PROVIDERS,
    "provider_outages": OF_PROVIDERS,
    "provider_outcomes": OF_PROVIDERS,
    "roles": OF_TENANTS,
    "schema_migrations": "the schema's",
    "signing_keys": OF_OPERATORS,
    "system_keys": OF_OPERATORS,
    "model_days": OF_TENANTS,
    "tenant_categories": OF_TENANTS,
    "tenant_keys": OF_TENANTS,
    "tenant_merchants": OF_TENANTS,
    "tenant_rules": OF_TENANTS,
    "tenants": OF_TENANTS,
    "way_outcomes": OF_PROVIDERS,
    "webhooks": OF_TENANTS,
    "workers": OF_OPERATORS,
    "refresh_tokens": "hashes; they go with the grant of the user",
}
# Tables with customer data that do not go with the row of their user, and why.
LEFT_BY_ERASURE = {
    "payments": "records of payments under a pseudonym, for as long as the tenant must keep them",
    "webhook_deliveries": "the event stays for its serial; user, access, products and payment are taken out",
}
# Tables of the user that do not go with the row of an access, and why.
LEFT_BY_DELETION = {
    "login_addresses": "keyed hashes of the user's last addresses, for 30 days",
    "access_tokens": "the user's logins",
    "assistant_grants": "what the user lets assistants read, of all accesses",
    "alert_states": "when alerts are looked for",
    "alerts": "those about the access are deleted by the deletion itself",
    "analysis_results": "deleted by the deletion itself",
    "api_keys": "the user's logins",
    "budgets": "the user's, for any access",
    "contract_states": "a counter",
    "contracts": "those of which no transaction is left are deleted by the deletion itself; others hold ids alone",
    "credit_files": "ids of transactions and sums; signed, and kept for as long as the operator has set",
    "credit_review_requests": "what the user asks advisers to look at again; it goes with the file",
    "data_versions": "a counter",
    "disclosures": "what the user allows advisers to read, of all accesses",
    "import_forms": "the user's description of a file, for any access",
    "legal_acceptances": "the user's",
    "own_categories": "the user's, for any access",
    "payee_limits": "what the user allows for payees, from any access",
    "payee_verifications": "about an order, and gone after a day",
    "payment_fingerprints": "keyed hashes, for a minute",
    "payments": "records of payments, for as long as the tenant must keep them",
    "permissions": "the history of what the user has allowed, for two years: ids, times, counts, names of clients",
    "push_messages": "ids of alerts on their way to a browser; what is about an alert that is gone is not sent",
    "push_subscriptions": "the user's browsers, for any access",
    "redirect_sessions": "gone after a day",
    "removed_transactions": "ids, so that readers of changes are told",
    "repeated_transactions": "ids",
    "role_users": "the user's",
    "savings_goals": "the user's; products that are gone are not shown",
    "tagging_rules": "the user's, for any access",
    "tagging_states": "IBANs and holders are taken out by the deletion itself",
    "transaction_edits": "those of which no transaction is left are deleted by the deletion itself",
    "webhook_deliveries": "the tenant's events: ids and counts",
}
# Columns of bytes in tables of users: sealed with the user's key, or told to be something else.
SEALED = {
    "accesses.credentials",
    "accesses.memory",
    "account_statements.content",
    "dialogues.sealed",
    "fetches.resume_state",
    "payments.credentials",
    "payments.sealed",
    "permissions.credentials",
    "permissions.memory",
    "push_subscriptions.sealed",
    "staged_fetches.headers",
    "staged_fetches.result",
}
NO_CASCADES = "distribution drops foreign keys to tables that are not distributed"
KEYS = {"users.data_key", "users.previous_data_key"}  # with the tenant's key
HASHES = {
    "access_tokens.hash",
    "access_tokens.key_thumbprint",
    "assistant_grants.code_hash",
    "accesses.credentials_digest",
    "accesses.lease_key",
    "account_statements.digest",
    "api_keys.hash",
    "dialogues.lease_key",
    "fetches.lease_key",
    "login_addresses.address",
    "payment_fingerprints.fingerprint",
    "payments.lease_key",
    "payments.request_digest",
    "permissions.lease_key",
    "push_subscriptions.endpoint_digest",
    "redirect_sessions.cookie_hash",
    "redirect_sessions.handle_hash",
}
PLAIN = {"analysis_results.answer"}  # as readable as the transactions it follows from
# What a customer of a regulated tenant without webhooks and keys does not have.
ABSENT = {"legal_acceptances", "redirect_sessions", "notifications", "api_keys", "assistant_grants"}


@dataclass
class Catalogue:
    columns: dict[str, dict[str, str]]
    cascades: dict[str, set[str]]

    @property
    def of_users(self) -> set[str]:
        return {table for table, columns in self.columns.items() if "user_id" in columns}

    def find_cascading(self, root: str) -> set[str]:
        """Tables whose rows go with a row of this one."""
        found: set[str] = set()
        waiting = {root}
        while waiting:
            found |= waiting
            waiting = {table for parent in waiting for table in self.cascades.get(parent, ())} - found
        return found


@pytest.fixture
def catalogue(owner) -> Catalogue:
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in owner.execute(
        "select c.relname, a.attname, format_type(a.atttypid, null) from pg_class c join pg_attribute a on"
        " a.attrelid = c.oid where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')"
        " and a.attnum > 0 and not a.attisdropped"
    ):
        columns.setdefault(table, {})[column] = kind
    cascades: dict[str, set[str]] = {}
    # The key must include the user: rows of a tenant or a client go with it, not with their user.
    for table, parent in owner.execute(
        "select k.conrelid::regclass::text, k.confrelid::regclass::text from pg_constraint k join pg_attribute a"
        " on a.attrelid = k.conrelid and a.attnum = any(k.conkey) and a.attname = 'user_id'"
        " where k.contype = 'f' and k.confdeltype = 'c'"
    ):
        cascades.setdefault(parent, set()).add(table)
    return Catalogue(columns, cascades)


@pytest.fixture(scope="module")
def whole(bank_server, shared) -> WholeCustomer:
    return make_whole_customer(bank_server, shared)


@pytest.fixture
def leaver(bank_server, shared) -> WholeCustomer:
    return make_whole_customer(bank_server, shared)


def test_every_table_belongs_to_users_or_has_a_reason_not_to(catalogue):
    assert set(catalogue.columns) - catalogue.of_users - {"users"} == set(WITHOUT_CUSTOMERS)


def test_every_table_of_users_goes_with_the_user_or_has_a_reason_not_to(catalogue):
    given_clusters.skip_where_given(NO_CASCADES)
    assert catalogue.of_users - catalogue.find_cascading("users") == set(LEFT_BY_ERASURE)


def test_every_table_of_users_goes_with_the_access_or_has_a_reason_not_to(catalogue):
    given_clusters.skip_where_given(NO_CASCADES)
    assert catalogue.of_users - catalogue.find_cascading("accesses") == set(LEFT_BY_DELETION)


def test_every_column_of_bytes_is_sealed_or_has_a_reason_not_to_be(catalogue):
    tables = catalogue.of_users | {"users"}
    found = {
        f"{table}.{column}" for table in tables for column, kind in catalogue.columns[table].items() if kind == "bytea"
    }
    assert found == SEALED | KEYS | HASHES | PLAIN


def test_a_new_data_key_reaches_every_sealed_column():
    assert {f"{column.table}.{column.name}" for column in SEALED_COLUMNS} == SEALED


async def test_what_is_sealed_opens_with_the_users_key_alone(catalogue, owner, whole, standing_services, settings):
    from kontor.bootstrap import load_master_key

    async with standing_services.database.connect() as connection:
        key = await load_data_key(connection, load_master_key(settings), whole.customer.reference)
    seen = 0
    for place in SEALED:
        table, column = place.split(".")
        query = f"select {column} from {table} where user_id = %s and {column} is not null"
        for (sealed,) in owner.execute(query, [whole.customer.reference]):
            assert bytes(sealed[:9]) == b"\x01" + key.id, place
            seen += 1
    assert seen >= 3


def test_the_schema_declares_what_an_export_contains(whole, http):
    dump = whole.customer.read("/customer/v2/export")
    declared = http.get("/openapi.json").json()["components"]["schemas"]["Export"]
    assert list(dump) == list(declared["properties"]) == [field.name for field in msgspec.structs.fields(Export)]
    assert set(declared["required"]) == set(dump)
    empty = {name for name, value in dump.items() if value == []}
    assert empty == ABSENT
    for section in (*SECTIONS, TRANSACTIONS):
        for row in dump[section.name]:
            assert set(section.columns.split(", ")) <= set(row)


def read_texts(owner, catalogue, user_id, kept):
    """All rows of a user as text, by table."""
    return {
        table: [row[0] for row in owner.execute(f"select t::text from {table} t where user_id = %s", [user_id])]
        for table in sorted(catalogue.of_users - set(kept))
    }


def test_a_deleted_access_leaves_no_trace_of_account_or_bookings(leaver, owner, catalogue):
    customer = leaver.customer
    before = read_texts(owner, catalogue, customer.reference, ())
    filled = {table for table, rows in before.items() if rows}
    for trace in leaver.traces:
        assert any(trace in row for rows in before.values() for row in rows), trace
    for table in catalogue.find_cascading("accesses") & {"products", "transactions", "standing_orders", "dialogues"}:
        assert table in filled
    assert customer.delete(f"/customer/v2/bankzugaenge/{leaver.access_id}").status_code == 200
    after = read_texts(owner, catalogue, customer.reference, {"payments", "payee_verifications"})
    found = {(table, trace) for table, rows in after.items() for row in rows for trace in leaver.traces if trace in row}
    assert found == set()
    assert [row for row in after["accesses"] if leaver.access_id in row] == []


def test_an_erased_user_leaves_rows_in_no_table(leaver, owner, catalogue):
    customer = leaver.customer
    before = read_texts(owner, catalogue, customer.reference, ())
    empty = {table for table, rows in before.items() if not rows}
    assert empty <= {
        "legal_acceptances", "redirect_sessions", "webhook_deliveries", "unattended_calls", "staged_fetches",
        "removed_transactions", "repeated_transactions", "api_keys", "assistant_grants", "payment_fingerprints",
    }  # fmt: skip
    answer = customer.http.delete("/customer/v2", headers=customer.headers, params={"confirm": customer.username})
    assert answer.status_code == 200
    after = read_texts(owner, catalogue, customer.reference, ())
    assert {table for table, rows in after.items() if rows} == set()  # payments go on under a pseudonym
    assert owner.execute("select 1 from users where id = %s", [customer.reference]).fetchone() is None
