"""Tables of a user that an export has no section for, and why."""

ELSEWHERE = {
    "transaction_tags": "within each transaction",
    "payment_fingerprints": "digests that find an order given twice within a minute",
    "tagging_states": "which version of the tagger read the transactions, and a copy of the user's IBANs",
    "login_addresses": "keyed hashes of addresses of the last logins; nobody can read them",
    "data_versions": "a counter",
    "alert_states": "when alerts are looked for next",
    "push_messages": "which alerts are on their way to a browser",
    "contract_states": "for which data contracts were last found",
    "removed_transactions": "ids of transactions that are gone, for readers of changes",
    "repeated_transactions": "which transactions are in several accesses; it follows from the data",
    "staged_fetches": "what a bank told before the user has chosen accounts; sealed, and nobody's to see",
    "analysis_results": "answers that follow from the data and can be asked for at any time",
}
