"""Talk with a scripted bank whose answers are changed on their way."""

import json

from fints_payer import PROVIDER, know_bank
from scripted_bank_server import rewrite

from fints_banks import BANK_CODE, TODAY
from kontor.connectors.base import (
    Context,
    Continue,
    Fetch,
    Progress,
)
from kontor.connectors.fints import FintsBank, FintsConnector
from kontor.connectors.fints.transport import TransportLimits
from kontor.domain.secrets import Secret

LIMITS = TransportLimits(connect_seconds=5, read_seconds=1, answer_seconds=0.5, largest_bytes=20_000_000)
SMALL = "test_bank_message"
PATIENT = TransportLimits(read_seconds=60)


def connect(script, *, authority=None, limits=LIMITS, product="9FA6681DEC0CF3046BFC2F8A6"):
    known = FintsBank(BANK_CODE, script.url)
    return FintsConnector(lambda provider: known, product, authority or script.authority, limits)


# Later answers: the dialogue is open, and one kind of message goes wrong.


def fetch(script, login=SMALL, limits=PATIENT):
    """All steps of a fetch."""
    connector_state = {"knowledge": know_bank(script)}
    connector, credentials = connect(script, limits=limits), {"userid": Secret(login), "pin": Secret("demo")}
    steps = [connector.begin(PROVIDER, credentials, Fetch(), connector_state, Context(TODAY))]
    if isinstance(steps[-1], Progress):
        state = json.loads(json.dumps(steps[-1].state))
        steps.append(connector.resume(PROVIDER, credentials, state, Continue(), Context(TODAY)))
    return steps


def put(code, change):
    """Segments of this code changed."""
    return lambda raw: rewrite(
        raw, lambda inner: [change(segment) if segment.code == code else segment for segment in inner]
    )
