"""Would Prism have seen it? A client and a bank that both break the contract are found out."""

import json

import httpx
import pytest
from prism import running_prism

from asgi_servers import serve_app
from plain_http import plain_client
from xs2a_dialogues import Caller

pytestmark = pytest.mark.official


async def lie(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    body = json.dumps({"consentStatus": "perhaps", "consentId": 7}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def test_violations_of_both_sides_are_found(tmp_path):
    with serve_app(lie) as bank, running_prism(bank, tmp_path) as watched:
        httpx.post(f"{watched.url}/v1/consents", json={"recurringIndicator": "often"}, timeout=60, trust_env=False)
        found = watched.list_violations()
        assert any("request" in violation for violation in found)
        with plain_client(base_url=watched.url, trust_env=False, timeout=60) as http:
            caller = Caller(watched.url)
            headers = {"X-Request-ID": "99391c7e-ad88-49ec-a2ad-99ddcb1f7721", "PSU-IP-Address": "93.184.216.34"}
            http.post("/v1/consents", headers=headers, json=caller.make_consent())
        assert any("response" in violation for violation in watched.list_violations()[len(found) :])
