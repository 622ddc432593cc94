"""What banks refuse in words alone: neither FinTS nor XS2A has a code for it."""

import re

from kontor.connectors.base import Failed, FailureKind

# "Überweisungen nur auf das Referenzkonto", "Empfänger ist nicht das Verrechnungskonto", "reference account only"
_REFERENCE_ACCOUNT = re.compile(r"(referenz|verrechnungs|auszahlungs)-?konto|reference account", re.IGNORECASE)
_VAGUE = (FailureKind.REJECTED, FailureKind.NOT_SUPPORTED)


def is_reference_refused(step: Failed) -> bool:
    """Does the account pay to its reference account only?"""
    return step.kind in _VAGUE and step.detail is not None and bool(_REFERENCE_ACCOUNT.search(step.detail))
