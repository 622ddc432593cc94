"""Ending consents at the bank, by what Kontor has kept of them."""

from kontor.connectors.base import Continue, Done, Failed, FailureKind, NeedMethod, Returned
from kontor.connectors.revocations import Revoke, Revoked
from kontor.demobank.xs2a.dialects import DIALECTS
from xs2a_dialogues import Caller, Dialogue, new_login, running_xs2a_bank
from xs2a_flows import ANSWERS


def fetch(bank, **profile):
    dialogue = Dialogue(bank.make_connector(**profile), new_login("demo1"))
    return dialogue, dialogue.drive(ANSWERS["demo1"])[-1].connector_state


def test_the_bank_says_that_the_consent_has_ended_and_answers_nothing_more(xs2a_bank):
    dialogue, kept = fetch(xs2a_bank)
    assert dialogue.begin(Revoke(), kept, customer_ip=None) == Done(Revoked())
    caller = Caller(xs2a_bank.url, dialogue.login)
    status = caller.call("GET", f"/v1/consents/{kept['consent']['id']}/status").json()
    assert status == {"consentStatus": "terminatedByTpp"}
    caller.close()
    assert isinstance(dialogue.begin(connector_state=kept, customer_ip=None), NeedMethod)


def test_a_consent_that_the_bank_does_not_know_has_ended(xs2a_bank):
    dialogue, kept = fetch(xs2a_bank)
    gone = kept | {"consent": {"id": "gone", "self": "/v1/consents/gone"}}
    assert dialogue.begin(Revoke(), gone) == Done(Revoked())


def test_a_consent_over_oauth_is_ended_with_its_token(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["commerzbank"]) as bank:
        dialogue = Dialogue(
            bank.make_connector(dialect="commerzbank", client_id="PSDDE-BAFIN-000001"), new_login("leer")
        )
        question = dialogue.begin()
        progress = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
        kept = dialogue.resume(progress, Continue()).connector_state
        sent = []
        assert dialogue.begin(Revoke(), kept, record=sent.append) == Done(Revoked())
        assert (sent[-1].method, sent[-1].headers["authorization"]) == ("DELETE", f"Bearer {kept['tokens']['access']}")
        assert isinstance(dialogue.begin(connector_state=kept, customer_ip=None), NeedMethod)


def test_without_a_consent_and_without_an_answer_nothing_is_confirmed(xs2a_bank):
    dialogue, kept = fetch(xs2a_bank)
    for state in (None, kept | {"consent": None}):
        step = dialogue.begin(Revoke(), state)
        assert isinstance(step, Failed)
        assert (step.kind, step.was_called) == (FailureKind.NOT_SUPPORTED, False)
    silent = Dialogue(xs2a_bank.make_connector("http://127.0.0.1:9"), dialogue.login)
    step = silent.begin(Revoke(), kept | {"consent": {"id": "x", "self": "/v1/consents/x"}})
    assert isinstance(step, Failed)
    assert step.kind is FailureKind.UNREACHABLE
