"""Signing out: offered on every page, and the token is dead afterwards."""

import base64
import json

from console_site import read_token

PATHS = ["/console", "/console/accounts", "/console/transactions", "/console/contracts", "/console/data"]


def read_session(visitor):
    return json.loads(base64.urlsafe_b64decode(visitor.cookies["kontor-console"]))


def test_every_page_offers_to_sign_out_and_the_token_is_dead_afterwards(console_site):
    with console_site.visit() as visitor:
        for path in PATHS:
            page = visitor.get(path)
            assert page.status_code == 200, path
            assert 'action="/console/sign-out"' in page.text, path
        bearer = {"Authorization": f"Bearer {read_session(visitor)['token']}"}
        assert visitor.get("/customer/v2", headers=bearer).status_code == 200
        answer = visitor.post("/console/sign-out", data={"role": "user", "token": read_token(page.text)})
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/sign-in")
        assert "kontor-console" not in visitor.cookies
        assert visitor.get("/customer/v2", headers=bearer).status_code == 403
