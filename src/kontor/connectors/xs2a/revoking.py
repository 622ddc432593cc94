"""Ending a consent at the bank: the customer has withdrawn it, or its access was deleted."""

from kontor.connectors.base import Context, Done, Failed, FailureKind, State, Step
from kontor.connectors.revocations import Revoked
from kontor.connectors.xs2a.banks import Xs2aBank
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import CONSENT_CODES, RefusedError
from kontor.connectors.xs2a.oauth import OAuth

GONE = (404, 410)


def end_consent(client: Client, bank: Xs2aBank, connector_state: State, context: Context) -> Step:
    """`DELETE /v1/consents/{consentId}` at the address that the bank gave. A bank may have ended it long ago."""
    consent = connector_state.get("consent")
    if consent is None:
        return Failed(FailureKind.NOT_SUPPORTED, "there is no consent that could be ended", was_called=False)
    tokens = connector_state.get("tokens")
    if tokens is not None:
        oauth = OAuth(client, bank, context)
        oauth.use(oauth.renew(tokens) if oauth.is_ending(tokens) else tokens)
    try:
        client.call("DELETE", consent["self"])
    except RefusedError as error:
        if error.status not in GONE and not CONSENT_CODES & set(error.codes):
            raise
    return Done(Revoked())
