"""Sessions: authorised on the bank's page, used as long as they hold, renewed without losing accounts."""

import subprocess
from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from scripted_service import (
    APPLICATION_ID,
    IBAN,
    OTHER_UID,
    SESSION,
    UID,
    list_answers,
    refuse,
    show_account,
    write_key,
)

from bank_pages import visit_page
from enablebanking_talk import ADDRESS, DEMO_BANK, RETURN_URL, ServiceDialogue, running_service
from kontor.connectors.base import Cancel, Failed, FailureKind, Fetch, NeedMethod, NeedRedirect, Pay, Progress, Returned
from kontor.connectors.enablebanking import ApplicationError, EnableBankingSettings, load_application
from kontor.connectors.enablebanking.client import open_client
from kontor.connectors.enablebanking.failures import KINDS, NoResponseError

WITHOUT_CUSTOMER = {"customer_ip": None}


@pytest.fixture(scope="module")
def service(settings, tmp_path_factory):
    with running_service(settings, tmp_path_factory.mktemp("application")) as running:
        yield running


# The application's token


def test_openssl_accepts_the_signature_of_a_token(key_file, tmp_path):
    signed, _, signature = load_application(APPLICATION_ID, key_file).sign_token().reveal().rpartition(".")
    (tmp_path / "signature").write_bytes(urlsafe_b64decode(signature + "=="))
    (tmp_path / "signed").write_text(signed)
    subprocess.run(["openssl", "pkey", "-in", key_file, "-pubout", "-out", tmp_path / "public.pem"], check=True)
    command = ["openssl", "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "signed"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout == b"Verified OK\n"


def test_a_token_says_what_the_documentation_of_enable_banking_asks_for(key_file):
    token = load_application(APPLICATION_ID.upper(), key_file).sign_token().reveal()
    header, claims = (msgspec.json.decode(urlsafe_b64decode(part + "==")) for part in token.split(".")[:2])
    assert header == {"typ": "JWT", "alg": "RS256", "kid": APPLICATION_ID}
    assert (claims["iss"], claims["aud"]) == ("enablebanking.com", "api.enablebanking.com")
    now = datetime.now(UTC).timestamp()
    assert claims["iat"] <= now < claims["exp"] <= claims["iat"] + 86_400


def test_a_key_that_cannot_be_used_is_named(tmp_path):
    broken = tmp_path / "broken.pem"
    broken.write_text("no key")
    short = write_key(tmp_path, 1024)
    for application_id, file, words in (
        ("an application", short, "UUID"),
        (APPLICATION_ID, tmp_path / "gone.pem", "cannot be read"),
        (APPLICATION_ID, broken, "not a private key"),
        (APPLICATION_ID, short, "2048 bits"),
    ):
        with pytest.raises(ApplicationError, match=words):
            load_application(application_id, file)


# To the bank's page and back


def test_the_customer_is_sent_to_the_bank_with_what_the_bank_allows(play):
    stage = play(list_answers())
    for seconds, longest in ((3600, timedelta(hours=1)), (400 * 86_400, timedelta(days=180))):
        bank = msgspec.structs.replace(DEMO_BANK, maximum_consent_validity=seconds, psu_types=("business",))
        question = stage.talk(bank).begin()
        assert isinstance(question, NeedRedirect)
        asked = stage.service.seen[-1].body
        until = datetime.fromisoformat(asked["access"]["valid_until"])
        assert longest - timedelta(minutes=6) < until - datetime.now(UTC) < longest
        assert asked["aspsp"] == {"name": "Demo-Bank", "country": "DE"}
        assert (asked["redirect_url"], asked["psu_type"], asked["psu_id"]) == (RETURN_URL, "business", "customer")
        assert asked["state"] == question.state["returns_with"]


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"error": "access_denied"}, FailureKind.CANCELLED),
        ({"error": "access_denied", "error_description": "Cancelled+by+user"}, FailureKind.CANCELLED),
        ({"error": "access_denied", "error_description": "Please+contact+your+bank"}, FailureKind.REJECTED),
        ({"error": "server_error", "error_description": "Try+later"}, FailureKind.UNREACHABLE),
        ({"error": "invalid_request"}, FailureKind.REJECTED),
        ({"state": "another", "code": "c0de"}, FailureKind.REJECTED),
        ({"code": ""}, FailureKind.REJECTED),
    ],
)
def test_a_customer_who_comes_back_without_a_code_has_no_session(play, told, kind):
    stage = play(list_answers())
    step = stage.come_back(stage.talk(), **told)
    assert isinstance(step, Failed)
    assert step.kind is kind
    assert told.get("error_description", "").replace("+", " ") in (step.detail or "")
    assert [seen.path for seen in stage.service.seen] == ["/auth"], "no code, no session"


def test_the_page_is_opened_over_tls_even_if_it_is_named_without(key_file, play):
    """Seen at Enable Banking: https://github.com/whisper-money/whisper-money/pull/886."""
    context = play(list_answers()).talk().context
    application = load_application(APPLICATION_ID, key_file)
    with open_client(application, EnableBankingSettings(), context) as client:
        assert client.check_page("http://tilisy.enablebanking.com/ais/start?sessionid=7") == (
            "https://tilisy.enablebanking.com/ais/start?sessionid=7"
        )
        for url in (
            "javascript:alert(1)",
            "https://",
            "//bank.example",
            "https://user@bank.example/",
            "ftp://bank.example",
        ):
            with pytest.raises(NoResponseError):
                client.check_page(url)


@pytest.mark.parametrize("code", KINDS)
def test_each_refusal_keeps_its_words(play, code):
    stage = play(list_answers() | {"POST /auth": refuse(code, "What it means", detail="And why")})
    step = stage.talk().begin()
    assert step == Failed(KINDS[code], "What it means: And why")


def test_refusals_without_a_known_code_follow_their_status(play):
    for status, kind in ((401, "INTERNAL"), (404, "REJECTED"), (429, "UNREACHABLE"), (503, "UNREACHABLE")):
        stage = play(list_answers() | {"POST /auth": refuse("NEVER_HEARD_OF", "Words", status)})
        assert stage.talk().begin() == Failed(FailureKind(kind), "Words")


def test_nothing_is_paid(play):
    stage = play(list_answers())
    talk = stage.talk()
    step = talk.connector.begin(None, {}, Pay(None, "key", ()), None, talk.context)  # type: ignore[arg-type]
    assert isinstance(step, Failed)
    assert step.kind is FailureKind.NOT_SUPPORTED
    assert stage.service.seen == []


def test_a_cancelled_dialogue_leaves_nothing_at_enable_banking(play):
    stage = play(list_answers())
    dialogue = stage.talk()
    question = dialogue.begin()
    assert dialogue.resume(question, Cancel()) == Failed(FailureKind.CANCELLED)
    assert [seen.path for seen in stage.service.seen] == ["/auth"]


# A session that holds, and one that does not


def test_a_session_is_used_again_without_the_customer(service):
    dialogue = ServiceDialogue(service.make_connector(), "student")
    done = dialogue.fetch()
    assert done.result.consent_until == datetime.fromisoformat(done.connector_state["until"]).date()
    again = dialogue.finish(dialogue.begin(Fetch(), done.connector_state, **WITHOUT_CUSTOMER), **WITHOUT_CUSTOMER)
    assert again.connector_state == done.connector_state
    assert set(again.result.transactions) == set(done.result.transactions)


@pytest.mark.parametrize("end", ["expired", "revoked", "closed", "forgotten"])
def test_a_session_that_is_over_needs_the_customer(service, end):
    dialogue = ServiceDialogue(service.make_connector(), "student")
    kept = dialogue.fetch().connector_state
    if end == "revoked":
        service.service.revoke(kept["session"])
    elif end == "closed":
        service.service.close(kept["session"])
    elif end == "forgotten":
        kept = kept | {"session": "3f0f9b0e-1d3c-4c57-9a53-0e6f7f0a9999"}
    if end == "expired":
        service.clock.by = timedelta(days=181)
    try:
        step = dialogue.begin(Fetch(), kept, **WITHOUT_CUSTOMER)
    finally:
        service.clock.by = timedelta()
    assert isinstance(step, NeedMethod)
    assert isinstance(dialogue.begin(Fetch(is_renewal=True), kept), NeedRedirect)


@pytest.mark.parametrize("code", ["EXPIRED_SESSION", "CLOSED_SESSION", "REVOKED_SESSION", "ASPSP_PSU_ACTION_REQUIRED"])
def test_a_session_that_ends_while_it_is_used_needs_the_customer(play, code):
    stage = play(list_answers())
    dialogue = stage.talk()
    kept = dialogue.finish(stage.come_back(dialogue)).connector_state
    stage.service.answers[f"GET /accounts/{UID}/balances"] = refuse(code, status=401)
    assert isinstance(dialogue.begin(Fetch(), kept, **WITHOUT_CUSTOMER), NeedMethod)
    assert isinstance(dialogue.begin(Fetch(), kept), NeedRedirect)


def test_a_key_that_is_refused_does_not_send_the_customer_to_the_bank(play):
    """It is for the operator to mend."""
    stage = play(list_answers())
    dialogue = stage.talk()
    kept = dialogue.finish(stage.come_back(dialogue)).connector_state
    stage.service.answers[f"GET /sessions/{SESSION}"] = refuse("UNAUTHORIZED_ACCESS", "Wrong token", 401)
    assert dialogue.begin(Fetch(), kept) == Failed(FailureKind.INTERNAL, "Wrong token")


def test_a_renewal_replaces_the_session_and_closes_the_former_one(service):
    dialogue = ServiceDialogue(service.make_connector(), "student")
    before = dialogue.fetch()
    after = dialogue.finish(dialogue.authorise(Fetch(is_renewal=True), before.connector_state))
    assert after.connector_state["session"] != before.connector_state["session"]
    assert set(after.result.transactions) == set(before.result.transactions)
    assert service.service.list_statuses()[-2:] == ["CLOSED", "AUTHORIZED"]
    assert dialogue.kept[-1]["session"] == after.connector_state["session"], "kept before anything can go wrong"


def test_accounts_keep_their_keys_by_their_hashes_whatever_else_changes(play):
    """A new session has new ids; this bank tells no IBAN any more, and lists a new account first."""
    stage = play(list_answers())
    dialogue = stage.talk()
    kept = dialogue.finish(stage.come_back(dialogue)).connector_state
    fresh = show_account(OTHER_UID, identification_hash="hash-9", account_id={"iban": "DE02120300000000202051"})
    other_ids = [fresh, show_account("3f0f9b0e-1d3c-4c57-9a53-0e6f7f0a0007", account_id=None)]
    stage.service.answers.update(list_answers(other_ids))
    step = stage.come_back(dialogue, Fetch(is_renewal=True), kept)
    assert isinstance(step, Progress)
    assert [product.key for product in step.partial.products] == ["DE02120300000000202051", IBAN]


def test_an_account_that_a_session_gains_is_described_by_enable_banking(play):
    stage = play(list_answers())
    dialogue = stage.talk()
    kept = dialogue.finish(stage.come_back(dialogue)).connector_state
    fresh = show_account(OTHER_UID, identification_hash="hash-9", account_id={"iban": "DE02120300000000202051"})
    stage.service.answers.update(list_answers([show_account(), fresh]))
    stage.service.answers[f"GET /accounts/{OTHER_UID}/details"] = fresh | {"uid": None}
    step = dialogue.begin(Fetch(), kept)
    assert isinstance(step, Progress)
    assert [product.key for product in step.partial.products] == [IBAN, "DE02120300000000202051"]
    assert stage.service.list_seen("/details")[0].headers["psu-ip-address"] == ADDRESS


def test_ids_of_enable_banking_lead_to_no_other_place(play):
    stage = play(list_answers([show_account("../../application")]))
    stage.come_back(stage.talk())
    assert all(seen.path.startswith(("/auth", "/sessions", "/accounts/")) for seen in stage.service.seen)


def test_without_a_list_entry_enable_banking_is_not_asked(play):
    stage = play(list_answers())
    dialogue = stage.talk(None)  # type: ignore[arg-type]
    step = dialogue.begin()
    assert isinstance(step, Failed)
    assert not step.was_called
    assert stage.service.seen == []


def test_a_way_back_is_good_once(service):
    """What the bank's page brought is worth one session."""
    dialogue = ServiceDialogue(service.make_connector(), "student")
    question = dialogue.begin()
    assert isinstance(question, NeedRedirect)
    query = visit_page(question.url, "student")
    assert isinstance(dialogue.resume(question, Returned(query)), Progress)
    step = dialogue.resume(question, Returned(query))
    assert isinstance(step, Failed)
    assert (step.kind, step.detail) == (FailureKind.REJECTED, "This code was used before")
