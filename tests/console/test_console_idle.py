"""Without activity a session of the console ends, and its token with it. Activity is a page that somebody asks for."""

import base64
import json
import time

import pytest

from plain_http import plain_client

USER, OPERATOR = "kontor-console", "kontor-operator"
LIMIT_SECONDS = 1800


def read_session(cookie):
    return json.loads(base64.urlsafe_b64decode(cookie))


def age(visitor, seconds, name=USER):
    """As if the last page had been asked for so long ago."""
    session = read_session(visitor.cookies[name])
    aged = json.dumps(session | {"seen": int(time.time()) - seconds}).encode()
    domain = next(cookie.domain for cookie in visitor.cookies.jar if cookie.name == name)
    visitor.cookies.set(name, base64.urlsafe_b64encode(aged).decode(), domain=domain)
    return session["token"]


def is_alive(visitor, token):
    return visitor.get("/customer/v2", headers={"Authorization": f"Bearer {token}"}).status_code == 200


@pytest.mark.parametrize("path", ["/accounts", "/json?path=/customer/v2", "/data/export"])
def test_an_idle_session_is_asked_to_sign_in_again_and_its_token_is_dead(console_site, path):
    with console_site.visit() as visitor:
        token = age(visitor, LIMIT_SECONDS + 60)
        answer = visitor.get(f"/console{path}")
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/console/sign-in")
        assert not is_alive(visitor, token)


def test_the_page_for_signing_in_says_why_and_goes_back_afterwards(console_site):
    with console_site.visit() as visitor:
        age(visitor, LIMIT_SECONDS + 60)
        answer = visitor.get("/console/accounts")
        assert answer.headers["location"] == "/console/sign-in?next=%2Fconsole%2Faccounts&notice=expired"
        assert "Max-Age=0" in answer.headers["set-cookie"]


def test_a_form_of_an_idle_session_changes_nothing(console_site):
    with console_site.visit() as visitor:
        token = age(visitor, LIMIT_SECONDS + 60)
        answer = visitor.post("/console/data", data={"action": "erase", "token": "0" * 64})
        assert answer.headers["location"].startswith("/console/sign-in")
        assert not is_alive(visitor, token)


def test_each_page_counts_as_activity_and_what_a_page_loads_does_not(console_site):
    with console_site.visit() as visitor:
        token = age(visitor, LIMIT_SECONDS - 600)
        assert "set-cookie" not in visitor.get("/console/manifest.webmanifest").headers
        assert visitor.get("/console/accounts").status_code == 200
        renewed = read_session(visitor.cookies[USER])
        assert renewed["token"] == token
        assert time.time() - renewed["seen"] < 600
        # Seconds later nothing is noted again.
        assert "set-cookie" not in visitor.get("/console/accounts").headers


def test_operators_are_asked_to_sign_in_again_too(console_site):
    with plain_client(base_url=console_site.address) as visitor:
        answer = visitor.post("/console/ops/sign-in", data={"operator_token": console_site.operator_token})
        assert answer.status_code == 303
        assert visitor.get("/console/ops").status_code == 200
        age(visitor, LIMIT_SECONDS + 60, OPERATOR)
        answer = visitor.get("/console/ops")
        assert answer.headers["location"] == "/console/ops/sign-in?next=%2Fconsole%2Fops&notice=expired"
