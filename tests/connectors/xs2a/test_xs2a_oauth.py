"""Consents over OAuth: for a consent, before it, and instead of it; tokens, their renewal, and what goes wrong."""

import json
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from bad_banks import CONSENT, BadBank

from asgi_servers import serve_app
from kontor.connectors.base import (
    Cancel,
    Continue,
    Done,
    Failed,
    FailureKind,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Pay,
    Poll,
    Progress,
    Returned,
    Tan,
)
from kontor.connectors.xs2a import Xs2aConnector, read_profile
from kontor.connectors.xs2a.client import Client
from kontor.connectors.xs2a.failures import NoResponseError
from kontor.demobank.xs2a.dialects import DIALECTS, STANDARD, OAuthUse
from kontor.domain.secrets import Secret
from xs2a_dialogues import TODAY, Caller, Dialogue, new_login, running_xs2a_bank

CLIENT = "PSDDE-BAFIN-000001"
SHORT = "test_bank_message"
BEFORE = replace(STANDARD, oauth=OAuthUse.BEFORE_CONSENT)
DISCOVERY = ".well-known/oauth-authorization-server"


@pytest.fixture(scope="module", params=["commerzbank", "santander", "ing"])
def any_bank(settings, request):
    with running_xs2a_bank(settings, dialect=DIALECTS[request.param]) as bank:
        yield bank, request.param


@pytest.fixture(scope="module")
def bank(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["commerzbank"]) as running:
        yield running


def talk(bank, dialect="commerzbank"):
    return Dialogue(bank.make_connector(dialect=dialect, client_id=CLIENT), new_login(SHORT))


def fetch(bank, dialogue):
    question = dialogue.begin()
    assert isinstance(question, NeedRedirect), question
    progress = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
    assert isinstance(progress, Progress), progress
    done = dialogue.resume(progress, Continue())
    assert isinstance(done, Done), done
    return done


def test_a_consent_is_authorised_at_the_banks_server_and_the_accounts_are_read(any_bank):
    bank, dialect = any_bank
    dialogue = talk(bank, dialect)
    done = fetch(bank, dialogue)
    assert done.result.problems == ()
    assert len(done.result.transactions) == 2
    assert isinstance(dialogue.begin(connector_state=done.connector_state, customer_ip=None), Progress)


def test_the_page_is_asked_with_pkce_state_and_scope(bank):
    dialogue = talk(bank)
    question = dialogue.begin()
    query = {name: values[0] for name, values in parse_qs(urlsplit(question.url).query).items()}
    assert query["scope"] == f"AIS:{question.state['resource']['id']}"
    assert (query["response_type"], query["code_challenge_method"], query["client_id"]) == ("code", "S256", CLIENT)
    assert query["redirect_uri"] == dialogue.context.callback_url
    assert query["state"] == question.state["oauth"]["state"]
    assert question.state["oauth"]["verifier"] not in question.url
    assert dialogue.begin().state["oauth"] != question.state["oauth"]


def test_a_token_comes_before_the_consent_which_is_then_authorised_as_usual(settings):
    with running_xs2a_bank(settings, dialect=BEFORE) as bank:
        connector = bank.make_connector(client_id=CLIENT, discovery_address=DISCOVERY)
        dialogue = Dialogue(connector, new_login(SHORT))
        question = dialogue.begin()
        asked = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
        assert isinstance(asked, NeedTan)
        progress = dialogue.resume(asked, Tan(Secret("24")))
        done = dialogue.resume(progress, Continue())
        assert len(done.result.transactions) == 2
        assert isinstance(dialogue.begin(connector_state=done.connector_state), Progress)


def test_a_customer_who_declines_has_cancelled_and_the_consent_is_rejected(bank):
    dialogue = talk(bank)
    question = dialogue.begin()
    query = bank.authorise(question.url, dialogue.login, decision="cancel")
    assert dialogue.resume(question, Returned(query)).kind is FailureKind.CANCELLED
    caller = Caller(bank.url)
    consent = caller.call("GET", question.state["resource"]["self"]).json()
    caller.close()
    assert consent["consentStatus"] == "rejected"


def test_a_wrong_pin_on_the_page_leads_nowhere(bank):
    dialogue = talk(bank)
    question = dialogue.begin()
    with pytest.raises(AssertionError, match="Die Zugangsdaten sind falsch"):
        bank.authorise(question.url, dialogue.login, pin="wrong")
    assert isinstance(dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login))), Progress)


@pytest.mark.parametrize("change", [{"state": "forged"}, {"state": ""}])
def test_a_return_with_another_state_is_refused_and_its_code_is_not_used(bank, change):
    dialogue = talk(bank)
    question = dialogue.begin()
    query = bank.authorise(question.url, dialogue.login)
    forged = "&".join(part for part in query.split("&") if not part.startswith("state=")) + f"&state={change['state']}"
    refused = dialogue.resume(question, Returned(forged))
    assert refused == Failed(FailureKind.REJECTED, "the customer came back from another authorisation")
    assert isinstance(dialogue.resume(question, Returned(query)), Progress)


def test_a_callback_address_may_have_a_state_of_its_own(bank):
    dialogue = talk(bank)
    dialogue.context = replace(dialogue.context, callback_url="https://caller.example/back?state=1&code=2")
    question = dialogue.begin()
    query = bank.authorise(question.url, dialogue.login)
    assert query.startswith("state=1&code=2&code=")
    assert isinstance(dialogue.resume(question, Returned(query)), Progress)


@pytest.mark.parametrize("issuers", [[], ["https://other.example"], ["https://other.example", ""], [""]])
def test_a_return_from_another_server_is_refused_and_its_code_is_not_used(bank, issuers):
    """The demo bank announces that it names itself, so that a missing issuer counts as another one (RFC 9207)."""
    dialogue = talk(bank)
    question = dialogue.begin()
    query = bank.authorise(question.url, dialogue.login)
    rest = [part for part in query.split("&") if not part.startswith("iss=")]
    named = [f"iss={issuer or question.state['oauth']['issuer'] + '/'}" for issuer in issuers]
    refused = dialogue.resume(question, Returned("&".join(rest + named)))
    assert refused == Failed(FailureKind.REJECTED, "the customer came back from another server")
    assert isinstance(dialogue.resume(question, Returned(query)), Progress)


def test_a_callback_address_may_have_an_issuer_of_its_own(bank):
    dialogue = talk(bank)
    dialogue.context = replace(dialogue.context, callback_url="https://caller.example/back?iss=mine")
    question = dialogue.begin()
    assert isinstance(dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login))), Progress)


def test_a_return_without_code_is_refused(bank):
    dialogue = talk(bank)
    question = dialogue.begin()
    asked = question.state["oauth"]
    step = dialogue.resume(question, Returned(f"state={asked['state']}&iss={asked['issuer']}"))
    assert step == Failed(FailureKind.REJECTED, "the bank's page brought no authorisation code")
    assert dialogue.resume(question, Poll()).kind is FailureKind.REJECTED


def test_a_code_that_is_used_twice_is_refused_and_ends_the_tokens_of_the_first_use(bank):
    dialogue = talk(bank)
    question = dialogue.begin()
    query = bank.authorise(question.url, dialogue.login)
    progress = dialogue.resume(question, Returned(query))
    assert isinstance(progress, Progress)
    assert dialogue.resume(question, Returned(query)).kind is FailureKind.REJECTED
    done = dialogue.resume(progress, Continue())
    assert done.result.transactions == {}, "the tokens do not hold any more"
    step = dialogue.begin(connector_state=done.connector_state, customer_ip=None)
    assert isinstance(step, NeedMethod)


def test_a_code_that_was_not_asked_for_with_this_verifier_is_refused(bank):
    dialogue = talk(bank)
    question = dialogue.begin()
    query = bank.authorise(question.url, dialogue.login)
    stolen = replace(question, state=question.state | {"oauth": question.state["oauth"] | {"verifier": "x" * 43}})
    assert dialogue.resume(stolen, Returned(query)).kind is FailureKind.REJECTED


def test_an_access_token_that_the_bank_has_ended_is_renewed_and_kept(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["comdirect"]) as bank:
        dialogue = talk(bank, "comdirect")
        done = fetch(bank, dialogue)
        bank.clock.move(minutes=11)
        progress = dialogue.begin(connector_state=done.connector_state, customer_ip=None)
        again = dialogue.resume(progress, Continue(), customer_ip=None)
        tokens, before = again.connector_state["tokens"], done.connector_state["tokens"]
        assert tokens["access"] != before["access"]
        assert tokens["refresh"] != before["refresh"]
        bank.clock.move(minutes=11)
        assert isinstance(dialogue.begin(connector_state=again.connector_state, customer_ip=None), Progress)


def test_a_token_that_ends_soon_is_renewed_before_it_is_used(bank, monkeypatch):
    dialogue = talk(bank)
    done = fetch(bank, dialogue)
    tokens = done.connector_state["tokens"] | {"until": 0}
    asked = []
    call = Client._exchange

    def record(client, method, url, *rest, **options):
        asked.append(url)
        return call(client, method, url, *rest, **options)

    monkeypatch.setattr(Client, "_exchange", record)
    progress = dialogue.begin(connector_state=done.connector_state | {"tokens": tokens})
    assert isinstance(progress, Progress)
    assert asked[0].endswith("/v1/token")
    assert progress.state["tokens"]["access"] != tokens["access"]


@pytest.mark.parametrize("ends_soon", [True, False])
def test_a_renewed_refresh_token_is_kept_though_the_fetch_fails_afterwards(settings, monkeypatch, ends_soon):
    """The bank accepts each refresh token once: without the new one the customer would have to come again."""
    with running_xs2a_bank(settings, dialect=DIALECTS["comdirect"]) as bank:
        dialogue = talk(bank, "comdirect")
        state = fetch(bank, dialogue).connector_state
        bank.clock.move(minutes=11)
        if ends_soon:
            state = state | {"tokens": state["tokens"] | {"until": 0}}
        kept = []
        with monkeypatch.context() as patch:
            read = Client.get

            def fail_after_renewal(client, link, *rest):
                if kept:
                    raise NoResponseError("the bank does not answer")
                return read(client, link, *rest)

            patch.setattr(Client, "get", fail_after_renewal)
            failed = dialogue.begin(connector_state=state, customer_ip=None, keep=kept.append)
        assert failed.kind is FailureKind.UNREACHABLE
        assert isinstance(dialogue.begin(connector_state=state, customer_ip=None), NeedMethod), "the old one is dead"
        assert len(kept) == 1
        assert isinstance(dialogue.begin(connector_state=kept[0], customer_ip=None), Progress)


def test_tokens_that_hold_are_not_kept_again(bank):
    dialogue = talk(bank)
    kept = []
    assert isinstance(dialogue.begin(connector_state=fetch(bank, dialogue).connector_state, keep=kept.append), Progress)
    assert kept == []


def test_an_expired_refresh_token_needs_the_customer_again(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["commerzbank"]) as bank:
        dialogue = talk(bank)
        done = fetch(bank, dialogue)
        bank.clock.move(days=181)
        later = TODAY + timedelta(days=181)
        kept = done.connector_state
        assert isinstance(dialogue.begin(connector_state=kept, customer_ip=None, today=later), NeedMethod)
        assert isinstance(dialogue.begin(connector_state=kept, today=later), NeedRedirect)


def test_tokens_of_another_consent_are_refused(bank):
    dialogue = talk(bank)
    first, second = fetch(bank, dialogue), fetch(bank, dialogue)
    mixed = first.connector_state | {"tokens": second.connector_state["tokens"]}
    assert isinstance(dialogue.begin(connector_state=mixed, customer_ip=None), NeedMethod)


def test_without_a_refresh_token_an_ended_token_needs_the_customer_again(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["santander"]) as bank:
        dialogue = talk(bank, "santander")
        done = fetch(bank, dialogue)
        assert done.connector_state["tokens"]["refresh"] is None
        bank.clock.move(minutes=11)
        assert isinstance(dialogue.begin(connector_state=done.connector_state, customer_ip=None), NeedMethod)


def test_a_dialogue_that_is_cancelled_ends_the_consent(bank):
    dialogue = talk(bank)
    question = dialogue.begin()
    assert dialogue.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    with pytest.raises(AssertionError, match="invalid_request"):
        bank.authorise(question.url, dialogue.login)


def test_without_a_callback_address_nobody_is_sent_to_the_page(bank):
    step = talk(bank).begin(callback_url=None)
    assert step == Failed(FailureKind.REJECTED, "a redirect needs a callback URL")


def test_without_a_client_id_a_bank_with_oauth_is_not_supported(bank):
    dialogue = Dialogue(bank.make_connector(dialect="commerzbank"), new_login(SHORT))
    assert dialogue.begin() == Failed(FailureKind.NO_SUPPORTED_METHOD, "the bank's profile has no client_id")


def test_a_bank_without_consents_offers_no_payments(settings):
    with running_xs2a_bank(settings, dialect=DIALECTS["ing"]) as bank:
        dialogue = talk(bank, "ing")
        question = dialogue.begin()
        progress = dialogue.resume(question, Returned(bank.authorise(question.url, dialogue.login)))
        assert not any(product.can_transfer for product in progress.partial.products)
        assert dialogue.begin(Pay(uuid4(), progress.partial.products[0].key, ())).kind is FailureKind.NOT_SUPPORTED


def test_states_hold_tokens_and_never_the_pin(bank):
    """States are sealed by the caller; the PIN is entered on the bank's page and never known here."""
    dialogue = talk(bank)
    dialogue.pin = "kept-nowhere"
    done = fetch(bank, dialogue)
    assert "kept-nowhere" not in json.dumps(done.connector_state)
    assert set(done.connector_state["tokens"]) == {"access", "refresh", "until", "address"}


# Servers that misbehave


def begin_at(metadata, profile=None, **answers):
    """The first step at a bank whose OAuth server has these metadata."""
    links = CONSENT["_links"] | {"scaOAuth": {"href": "/.well-known/oauth-authorization-server"}}
    bank = BadBank(POST__consents=CONSENT | {"_links": links})
    bank.wrong |= {"GET /.well-known/oauth-authorization-server": metadata} | answers
    with serve_app(bank) as url:
        facts = {"base_url": url, "client_id": CLIENT} | (profile or {})
        dialogue = Dialogue(Xs2aConnector(lambda provider: read_profile(facts, "1")), "somebody")
        question = dialogue.begin()
        if not isinstance(question, NeedRedirect):
            return question
        return dialogue.resume(question, Returned(f"code=1&state={question.state['oauth']['state']}"))


PAGE = {"authorization_endpoint": "https://bank.example/page", "token_endpoint": "/token"}


@pytest.mark.parametrize(
    "metadata",
    [b"<html>", {}, PAGE | {"authorization_endpoint": "javascript:alert(1)"}, PAGE | {"authorization_endpoint": ""}],
)
def test_metadata_that_lead_nowhere_are_no_answer(metadata):
    assert begin_at(metadata).kind is FailureKind.UNREACHABLE


def test_a_token_is_not_fetched_from_a_host_that_the_profile_does_not_name():
    step = begin_at(PAGE | {"token_endpoint": "https://elsewhere.example/token"})
    assert step == Failed(FailureKind.UNREACHABLE, "the bank's link leads to another host")


@pytest.mark.parametrize("token", [{}, {"access_token": "a", "token_type": "mac"}, {"access_token": ""}, b"{"])
def test_a_token_that_is_none_is_no_answer(token):
    assert begin_at(PAGE, **{"POST /token": token}).kind is FailureKind.UNREACHABLE


TOKEN = {"access_token": "a", "token_type": "Bearer"}


@pytest.mark.parametrize(
    ("metadata", "is_refused"),
    [
        ({}, False),
        ({"issuer": "https://bank.example"}, False),
        ({"issuer": "https://bank.example", "authorization_response_iss_parameter_supported": True}, True),
    ],
)
def test_only_a_server_that_announces_its_name_must_give_it(metadata, is_refused):
    step = begin_at(PAGE | metadata, **{"POST /token": TOKEN})
    assert (step == Failed(FailureKind.REJECTED, "the customer came back from another server")) is is_refused


@pytest.mark.parametrize(
    ("issuer", "is_refused"),
    [("https://bank.example", False), ("https://bank.example/", True), ("https://evil.example", True), (None, True)],
)
def test_metadata_of_another_issuer_than_the_profiles_are_refused(issuer, is_refused):
    metadata = PAGE | ({} if issuer is None else {"issuer": issuer})
    step = begin_at(metadata, {"issuer": "https://bank.example"}, **{"POST /token": TOKEN})
    assert (step == Failed(FailureKind.UNREACHABLE, "the metadata are those of another server")) is is_refused
