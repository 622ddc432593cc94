"""Secrets with a mark, sent through every entrance, are looked for wherever bytes are kept.

Looked through are answers and pages, logs, metrics, every table, and the files of the database with its write-ahead
log, which a backup copies.
"""

import base64
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from banking import ACCESSES, login, new_customer, new_id
from consenting import new_login, start
from form_client import FormClient
from form_walks import begin
from tenants import create_tenant

MARK = "kanarie7f3e9c51d0"
CHUNK_BYTES = 8 * 1024 * 1024


def list_forms(secret: str) -> dict[str, bytes]:
    """Plain and merely encoded. Base64 looks different at each of three offsets; what hangs over is cut off."""
    raw = secret.encode()
    forms = {
        "plain": raw,
        "hex": raw.hex().encode(),
        "HEX": raw.hex().upper().encode(),
        "UTF-16": secret.encode("utf-16-le"),
    }
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        forms[f"Base64 at {offset}"] = encoded[(offset * 8 + 5) // 6 : len(encoded) // 4 * 4 - 4]
    return forms


def find_forms(file: Path, forms: dict[str, bytes]) -> Iterator[str]:
    longest = max(map(len, forms.values()))
    tail = b""
    with file.open("rb") as handle:
        while chunk := handle.read(CHUNK_BYTES):
            for name, form in forms.items():
                if form in tail + chunk[:longest] or form in chunk:
                    yield f"{file.name}: {name}"
            tail = chunk[-longest:]


@pytest.fixture(scope="module")
async def played(bank_server, shared, standing_services, http):
    """Everything that takes a secret was used, rightly and wrongly. `made` are secrets that Kontor made itself."""
    answers = []
    http.event_hooks["response"].append(lambda answer: (answer.read(), answers.append(answer)))
    customer = new_customer(shared)
    try:
        _log_in(shared)
        _connect_and_consent(customer)
        redirecting = await create_tenant(standing_services, http, is_regulated=False)
        pages = _use_the_form(new_customer(redirecting))
        key = await standing_services.tokens.create_api_key(shared.name, "app", customer.username, None)
        assert http.post("/one/bc-token", headers={"X-API-KEY": key.reveal()}).status_code == 200
        assert http.post("/one/bc-token", headers={"X-API-KEY": f"{MARK} key"}).status_code == 401
        _, operator = await standing_services.operators.create_operator(f"canary-{new_id()[:8]}", 1)
        assert http.get("/ops/v1/workers", headers={"Authorization": f"Bearer {operator.reveal()}"}).status_code == 200
    finally:
        http.event_hooks["response"].pop()
    made = [shared.app[1], shared.admin[1], customer.token, key.reveal(), operator.reveal(), *customer.secrets]
    return SimpleNamespace(answers=answers, pages=pages, made=made, username=customer.username)


def _log_in(tenant):
    """As a user and as a client, with right and wrong secrets."""
    name, password = f"canary-{new_id()[:8]}", f"{MARK} password"
    body = {"username": name, "password": password}
    assert tenant.http.post(f"{tenant.url}/users", json=body, headers=tenant.as_admin).status_code == 201
    assert login(tenant, name, password)
    form = {"grant_type": "password", "username": name, "password": f"{MARK} wrong"}
    assert tenant.http.post("/auth/oauth2/token", data=form, auth=tenant.app).status_code == 401
    client = {"grant_type": "client_credentials"}
    assert (
        tenant.http.post("/auth/oauth2/token", data=client, auth=(tenant.app[0], f"{MARK} client")).status_code == 401
    )
    bearer = {"Authorization": f"Bearer {MARK}"}
    assert tenant.http.get(ACCESSES, headers=bearer).status_code == 403
    assert tenant.http.get(ACCESSES, params={"access_token": MARK}).status_code == 400
    assert (
        tenant.http.post(f"{tenant.url}/users", json=body | {"password": [MARK]}, headers=tenant.as_admin).status_code
        == 400
    )


def _connect_and_consent(customer):
    """Credentials and TANs that the bank refuses, and bodies that Kontor refuses."""
    for login_name in ("leer+kanarie", "test_internal", "test_unreachable", "test_locked"):
        assert customer.post(ACCESSES, {new_id(): customer.access(login_name, f"{MARK} pin")}).status_code == 201
    plain = {"providerId": 5, "credentials": {"pin": f"{MARK} pin"}}
    assert customer.post(ACCESSES, {new_id(): plain}).status_code == 400
    start(customer, new_login("test_phototan")).enter(f"{MARK} tan")


def _use_the_form(customer):
    form = FormClient(str(customer.http.base_url)).open(begin(customer, new_id())).accept()
    form.log_in("leer+kanarie", f"{MARK} pin")
    pages = [form.html]
    while form.page in ("connecting", "fetching"):
        pages.append(form.reload().html)
    return pages


def test_no_answer_and_no_page_repeats_a_secret(played):
    assert len(played.answers) > 20
    assert "data-page" in played.pages[-1]
    for text in [answer.text + str(answer.headers) for answer in played.answers] + played.pages:
        for name, form in list_forms(MARK).items():
            assert form.decode("latin-1") not in text, name


def test_no_log_and_no_metric_has_a_secret(played, server_log, worker_log, http):
    texts = [server_log.read_bytes(), worker_log.read_bytes(), http.get("/metrics").content]
    assert all(texts)
    for secret in (MARK, *played.made):
        for name, form in list_forms(secret).items():
            assert not any(form in text for text in texts), name


def test_no_file_of_the_database_has_a_secret_not_even_the_write_ahead_log(played, owner):
    """That of the demo bank, which knows its customers' logins, is no exception: it is told no secret to keep."""
    owner.execute("checkpoint")
    folder = Path(owner.execute("show data_directory").fetchone()[0])
    forms = {
        f"{number} {name}": form
        for number, secret in enumerate((MARK, *played.made))
        for name, form in list_forms(secret).items()
    }
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = [hit for file in files for hit in find_forms(file, forms)]
    assert found == []
    name = {"plain": played.username.encode()}
    folders = {file.parent.name for file in files if any(find_forms(file, name))}
    assert "pg_wal" in folders  # what is no secret is found


@pytest.mark.parametrize("offset", range(4))
@pytest.mark.parametrize("encode", [bytes, bytes.hex, base64.b64encode], ids=["plain", "hex", "Base64"])
def test_the_search_finds_a_secret_wherever_it_is(tmp_path, monkeypatch, offset, encode):
    """Also where it lies across two chunks."""
    monkeypatch.setitem(globals(), "CHUNK_BYTES", 64)
    hidden = encode(b"x" * offset + MARK.encode() + b"yz")
    raw = hidden.encode() if isinstance(hidden, str) else hidden
    for start_at in range(40, 70):
        (tmp_path / "file").write_bytes(b" " * start_at + raw + b" " * 100)
        assert list(find_forms(tmp_path / "file", list_forms(MARK)))
