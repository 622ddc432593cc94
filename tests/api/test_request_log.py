"""The log and the metrics of requests: complete, and nothing of a caller's secrets in them."""

import json
from uuid import uuid4

from banking import wait_for
from kontor import __version__

# Log and metrics


def test_log_is_json_lines_and_has_no_secrets(shared, http, server_log, new_user, password_login):
    mark = f"log {uuid4()}"
    person = new_user()
    token = password_login(person.username, person.password).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}", "X-Correlation-ID": mark}
    secrets = [
        person.password,
        token,
        shared.admin[1],
        shared.app[1],
        "plain-credential",
        "guessed-password",
        "guessed-key",
    ]
    http.put(
        "/encrypt",
        content=b"cGxhaW4tY3JlZGVudGlhbA==",
        headers=headers | {"Content-Type": "application/octet-stream+base64"},
    )
    http.put("/encrypt", content=b"plain-credential", headers=headers)
    http.get(f"{shared.url}?access_token={token}", headers=headers)
    http.post(f"{shared.url}/users", content=b'{"password": "guessed-password"', headers=shared.as_admin)
    http.post(f"{shared.url}/users", json={"username": 3, "password": "guessed-password"}, headers=shared.as_admin)
    http.post(f"/auth/oauth2/token?password={person.password}", data={"password": "guessed-password"}, auth=shared.app)
    http.post("/auth/oauth2/introspect", data={"token": token}, auth=shared.app)
    http.post("/auth/oauth2/revoke", data={"token": token}, auth=("x/y", "guessed-password"))
    http.post("/one/bc-token", headers={"X-API-KEY": "guessed-key"})
    http.get(f"/no/such/path/{token}")
    password_login(person.username, "guessed-password")
    text = server_log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [secret for secret in secrets if secret in text] == []
    found = [line for line in lines if line.get("correlation_id") == mark]
    assert {"encrypt", "read_tenant"} == {line["operation"] for line in found}
    for line in found:
        assert (line["event"], line.get("tenant", shared.name)) == ("request", shared.name)
        assert {"method", "status", "seconds", "timestamp", "level"} <= line.keys()


def test_nothing_a_caller_sends_makes_a_second_log_line(shared, http, server_log):
    mark = uuid4().hex
    forged = f'x", "event": "forged {mark}'
    http.get(f"/{forged}%0A%7B%22event%22:%22{mark}%22%7D", headers={"X-Correlation-ID": forged})
    after = uuid4().hex
    http.get("/no-such-path", headers={"X-Correlation-ID": after})
    text = wait_for(server_log.read_text, lambda text: after in text)  # a line is written after its answer is sent
    lines = [json.loads(line) for line in text.splitlines() if mark in line]
    assert [line["event"] for line in lines] == ["request"]
    assert lines[0]["correlation_id"] == forged


def test_invented_methods_do_not_multiply_the_metrics(http):
    for number in range(3):
        assert http.request(f"INVENTED{number}", "/health/live").status_code == 405
    metrics = http.get("/metrics").text
    assert "INVENTED" not in metrics
    assert 'method="other"' in metrics


def test_metrics_and_health_need_no_token(http):
    assert http.get("/health/live").json() == {"status": "live", "version": __version__}
    ready = http.get("/health/ready").json()
    assert ready["checks"].keys() == {
        "database",
        "compute",
        "disk",
    }  # the disk may have been full within the last minute
    assert (ready["status"], ready["version"], ready["checks"]["database"]) == ("ready", __version__, True)
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "kontor_requests_total" in answer.text
