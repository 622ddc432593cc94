"""The token endpoints' addresses, and what is true of all their answers."""

import base64
import re
import time
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

TOKEN = "/auth/oauth2/token"
REVOKE = "/auth/oauth2/revoke"
INTROSPECT = "/auth/oauth2/introspect"
CLIENT = {"grant_type": "client_credentials"}
BASIC = 'Basic realm="kontor", charset="UTF-8"'
DESCRIPTION = re.compile(r"[\x20-\x21\x23-\x5B\x5D-\x7E]+")


def assert_oauth_error(answer, status, error):
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert (set(body), body["error"]) == ({"error", "error_description"}, error)
    assert DESCRIPTION.fullmatch(body["error_description"])
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    assert answer.headers["content-type"] == "application/json"


def basic(username, secret):
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{secret}".encode()).decode()}


def is_alive(tenant, token):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream+base64"}
    answer = tenant.http.put("/encrypt", content=b"eA==", headers=headers)
    assert answer.status_code in (200, 403)
    if answer.status_code == 403:
        assert answer.headers["www-authenticate"] == 'Bearer realm="kontor", error="invalid_token"'
    return answer.status_code == 200


def check_common_fields(tenant, answer, before):
    assert answer.status_code == 200, answer.text
    assert (answer.headers["cache-control"], answer.headers["pragma"]) == ("no-store", "no-cache")
    assert answer.headers["content-type"] == "application/json"
    token = answer.json()
    assert (token["tenant"], token["token_type"], token["active"]) == (tenant.name, "Bearer", True)
    UUID(token["tenantId"])
    assert (token["expires_in"], token["expiresAt"] - token["issuedAt"]) == (7200, 7200)
    assert before - 5 <= token["issuedAt"] <= time.time() + 5  # a machine's clock may be set back a little
    berlin = datetime.fromtimestamp(token["expiresAt"], ZoneInfo("Europe/Berlin"))
    assert token["validTo"] == berlin.strftime("%Y-%m-%d %H:%M:%S")
    return token


FIELDS = {"scope", "tenant", "tenantId", "client", "additionalData", "validTo", "active", "issuedAt", "expiresAt",
          "access_token", "token_type", "expires_in"}  # fmt: skip


def fail(ask, times):
    for number in range(times):
        assert ask().status_code == 401, number
