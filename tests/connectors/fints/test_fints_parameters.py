"""Bank parameters that are damaged, or of a version that the library does not know."""

import base64
import re
from uuid import uuid4

import pytest
from fints_payer import Payer, know_bank

from kontor.connectors.base import (
    ChooseMethod,
    Continue,
    Done,
    Failed,
    FailureKind,
    Fetch,
    NeedMethod,
    NeedTan,
    Progress,
)
from kontor.connectors.fints.parameters import BankParameters

# The parser warns of what it does not know and goes on, as in production.
pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")


def change_parameters(state, name, change):
    """What is kept of a bank, with the segments of this name changed."""
    text = base64.b64decode(state["bank"]).decode("latin-1")
    changed, count = re.subn(rf"(?<=')({name}):[^']*'", lambda match: change(match[0]), "'" + text)
    assert count, name
    return state | {"bank": base64.b64encode(changed[1:].encode("latin-1")).decode()}


def damage(segment):
    """The greatest number of orders is no number."""
    return re.sub(r"\+\d+", "+x", segment, count=1)


def renumber(segment):
    return re.sub(r"(:\d+):\d+", r"\1:99", segment, count=1)


def list_names(state):
    text = base64.b64decode(state["bank"]).decode("latin-1")
    return sorted(set(re.findall(r"(?:^|')([A-Z]I[A-Z]{3}S):", text)))


@pytest.mark.parametrize("change", [damage, renumber])
def test_every_question_about_parameters_is_answered_whichever_of_them_is_unknown(bank, change):
    known = know_bank(bank)
    names, whole = list_names(known), BankParameters.deserialize(known)
    assert whole.needs_tan("HKCCS")
    assert {"HITANS", "HISPAS", "HIPINS", "HICAZS", "DIKKUS", "HIVPPS"} <= set(names)
    for name in names:
        parameters = BankParameters.deserialize(change_parameters(known, name, change))
        command = f"{name[0]}K{name[2:5]}"
        assert parameters.offers(command)
        assert parameters.find_parameter(command) is None
        assert parameters.needs_tan("HKCCS") is (name != "HIPINS")
        assert parameters.takes_national_accounts == whole.takes_national_accounts
        assert parameters.sepa_formats == ([] if name == "HISPAS" else whole.sepa_formats)
        assert bool(parameters.list_methods()) is (name != "HITANS")


@pytest.mark.parametrize("is_payment", [False, True], ids=["fetch", "payment"])
@pytest.mark.parametrize("name", ["HITANS", "HISPAS", "HIPINS", "HICAZS", "HIVPPS"])
def test_a_fetch_and_a_payment_go_on_without_what_is_unknown(bank, name, is_payment):
    payer = Payer(bank, f"test_bank_message+{uuid4().hex[:12]}")
    knowledge = change_parameters(know_bank(bank), name, damage)
    step = payer.begin(payer.make() if is_payment else Fetch(), {"knowledge": knowledge})
    if isinstance(step, Progress):
        step = payer.resume(step, Continue())
    if isinstance(step, NeedMethod):
        step = payer.resume(step, ChooseMethod(step.methods[0].code))
    if name == "HITANS" and is_payment:  # nothing to authenticate with
        assert isinstance(step, Failed)
        assert step.kind is FailureKind.NO_SUPPORTED_METHOD
    else:
        assert isinstance(step, NeedTan if is_payment else Done), step
