"""Payees, and what is kept about their verification."""

from kontor_client.models.payees import PayeeEvidence
from kontor_client.plans import Plan, fetch, path_of

PAYMENTS = "/customer/v2/payments"


def read_payment_evidence(payment_id: str) -> Plan[PayeeEvidence]:
    """Verdict, text shown and choice; 404 where no payee was verified."""
    return fetch(PayeeEvidence, PAYMENTS + path_of(payment_id, "evidence"))
