"""Sessions of the web form as the tenant reads them, and the language that it hands over."""

import pytest

import shapes
from banking import ACCESSES, DEMO_BANK, narrow, new_customer, new_id
from consenting import CALLBACK, PRESENT
from form_client import FormClient, order_payment
from form_navigation import begin, offered, walk
from tenants import create_tenant

SESSIONS = "/customer/v2/regprotect/sessions"
LOGIN = "test_products+sitzungen"


@pytest.fixture(scope="module")
async def redirecting(standing_services, http):
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture
def visitor(bank_server, redirecting):
    return new_customer(redirecting)


def open_form(customer, location, **facts):
    return FormClient(str(customer.http.base_url), **facts).open(location)


def read_only(customer):
    [session] = customer.read(SESSIONS)
    assert customer.read(f"{SESSIONS}/{session['id']}") == session
    return session


def test_a_session_tells_how_far_the_user_is_but_not_at_which_bank(visitor, owner):
    access_id = new_id()
    location = begin(visitor, access_id)
    session = read_only(visitor)
    assert session["id"] not in location
    assert (session["useCase"], session["accessId"]) == ("CREATE_ACCOUNT", access_id)
    assert (session["status"], session["step"]) == ("OPEN", "LEGAL")
    assert shapes.is_timestamp(session["createdAt"])
    assert session["expiresAt"] > session["createdAt"]
    assert [relation["rel"] for relation in session["relations"]] == ["self"]
    form, steps = open_form(visitor, location), set()
    for _ in walk(form, LOGIN, owner):
        answer = visitor.get(SESSIONS)
        steps.add(answer.json()[0]["step"])
        assert not [text for text in (DEMO_BANK, "Demo-Bank", LOGIN) if text in answer.text]
    assert {"LEGAL", "PROVIDER", "ACCOUNTS"} <= steps
    assert "baReentry" not in read_only(visitor)
    form.send("confirm", account=offered(form)).at("end")
    ended = read_only(visitor)
    assert (ended["status"], ended["step"], ended["baReentry"]) == ("FINISHED", "END", "ACCOUNT_CREATED")


def test_the_last_error_and_the_end_are_told(visitor):
    form = open_form(visitor, begin(visitor, new_id())).accept()
    form.log_in(LOGIN, "wrong").at("credentials")
    session = read_only(visitor)
    assert (session["step"], session["lastError"]["level"], session["lastError"]["code"]) == (
        "CREDENTIALS",
        "ERROR",
        "BA1011",
    )
    form.send("cancel")
    ended = read_only(visitor)
    assert (ended["status"], ended["baReentry"]) == ("ABORTED", "USER_CANCELLED")


def test_the_session_of_a_payment_names_the_payment(visitor):
    payment_id, _ = order_payment(visitor)
    session = read_only(visitor)
    assert (session["useCase"], session["paymentId"]) == ("INITIATE_PAYMENT", payment_id)
    assert "accessId" not in session


def test_one_session_can_be_ended(visitor):
    first, second = begin(visitor, new_id()), begin(visitor, new_id())
    newest, oldest = visitor.read(SESSIONS)
    assert visitor.delete(f"{SESSIONS}/{newest['id']}").status_code == 200
    assert visitor.read(SESSIONS) == [oldest]
    assert visitor.delete(f"{SESSIONS}/{newest['id']}").status_code == 404
    assert open_form(visitor, first).page == "legal"
    assert open_form(visitor, second).status == 410


def test_sessions_of_others_are_not_there(visitor, redirecting):
    begin(visitor, new_id())
    [session] = visitor.read(SESSIONS)
    stranger = new_customer(redirecting)
    assert stranger.read(SESSIONS) == []
    assert stranger.get(f"{SESSIONS}/{session['id']}").status_code == 404
    assert stranger.delete(f"{SESSIONS}/{session['id']}").status_code == 404
    assert narrow(visitor, "http://service/customer/read").get(SESSIONS).status_code == 403


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_form_speaks_the_language_that_the_tenant_hands_over(visitor, language):
    other = {"en": "de", "de": "en"}[language]
    answer = visitor.post(ACCESSES, {new_id(): {}}, params={"language": language}, headers=PRESENT)
    assert answer.status_code == 451
    assert "language" not in answer.headers["location"]
    form = open_form(visitor, answer.headers["location"], language=other)
    assert f'lang="{language}"' in form.html
    form.http.get(f"/customer/v2/webform/step?lang={other}")
    assert f'lang="{other}"' in form.reload().html


def test_payments_and_renewals_hand_over_the_language_and_an_unknown_one_is_400(visitor):
    _, location = order_payment(visitor, language="en")
    assert 'lang="en"' in open_form(visitor, location).html
    for params in ({"language": "nl"}, {"language": ""}):
        assert visitor.post(ACCESSES, {new_id(): {}}, params=params, headers=PRESENT).status_code == 400
    url = f"{ACCESSES}/{new_id()}/consent"
    answer = visitor.post(url, {}, params={"language": "nl", "callbackUrl": CALLBACK}, headers=PRESENT)
    assert answer.status_code == 404  # the object comes before the query
