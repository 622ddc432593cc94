"""The master key under Vault's transit engine.

The server here was written after Vault's documentation of the transit API. Vault itself was not at hand.
"""

import base64
import json
import secrets
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kontor.bootstrap import find_master_key, load_master_key, open_services
from kontor.config import read_settings
from kontor.domain.secrets import Secret
from kontor.storage.keys import KeyUnusableError
from kontor.storage.master_keys import decode_master_key, generate_master_key, write_key_file
from kontor.storage.transit_keys import TransitKey
from processes import run_kontor

TOKEN = "hvs.a-token-for-tests"


class TransitServer(ThreadingHTTPServer):
    """One engine at `transit`, one key `kontor` in several versions."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), TransitHandler)
        self.versions = [AESGCM(secrets.token_bytes(32))]
        self.is_sealed = False
        self.answer: bytes | None = None
        self.seen: list[tuple[str, dict[str, str], dict[str, str]]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def rotate(self) -> None:
        self.versions.append(AESGCM(secrets.token_bytes(32)))

    def encrypt(self, plaintext: str) -> dict[str, Any]:
        nonce = secrets.token_bytes(12)
        sealed = self.versions[-1].encrypt(nonce, base64.b64decode(plaintext, validate=True), None)
        version = len(self.versions)
        return {"ciphertext": f"vault:v{version}:{base64.b64encode(nonce + sealed).decode()}", "key_version": version}

    def decrypt(self, ciphertext: str) -> dict[str, Any]:
        _, version, text = ciphertext.split(":")
        raw = base64.b64decode(text, validate=True)
        plain = self.versions[int(version[1:]) - 1].decrypt(raw[:12], raw[12:], None)
        return {"plaintext": base64.b64encode(plain).decode()}


class TransitHandler(BaseHTTPRequestHandler):
    server: TransitServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers.items()), body))
        if self.server.is_sealed:
            self._answer(503, {"errors": ["Vault is sealed"]})
        elif self.headers.get("X-Vault-Token") != TOKEN:
            self._answer(403, {"errors": ["permission denied"]})
        elif self.path == "/v1/transit/encrypt/kontor":
            self._answer(200, {"data": self.server.encrypt(body["plaintext"])})
        elif self.path == "/v1/transit/decrypt/kontor":
            try:
                self._answer(200, {"data": self.server.decrypt(body["ciphertext"])})
            except (ValueError, IndexError, InvalidTag):
                self._answer(400, {"errors": ["invalid ciphertext"]})
        else:
            self._answer(404, {"errors": []})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        raw = self.server.answer if self.server.answer is not None and status == 200 else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Nothing: the tests look at what was seen."""


@pytest.fixture
def vault() -> Iterator[TransitServer]:
    with TransitServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def token_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return file


@pytest.fixture
def transit(vault, token_file):
    return TransitKey(vault.address, "transit/kontor", token_file)


def test_a_wrapped_key_is_given_back_also_after_the_key_of_vault_was_rotated(vault, transit):
    text = generate_master_key()
    wrapped = transit.wrap(text)
    assert wrapped.startswith("vault:v1:")
    vault.rotate()
    assert transit.unwrap(wrapped).id == decode_master_key(text, "here").id
    assert transit.wrap(text).startswith("vault:v2:")


def test_token_and_namespace_are_sent_as_headers_and_never_in_the_address(vault, transit):
    replace(transit, namespace="bank/kontor").wrap(generate_master_key())
    (path, headers, body) = vault.seen[-1]
    assert path == "/v1/transit/encrypt/kontor"
    assert (headers["X-Vault-Token"], headers["X-Vault-Namespace"]) == (TOKEN, "bank/kontor")
    assert list(body) == ["plaintext"]


@pytest.mark.parametrize("wrapped", ["vault:v1:AAAA", "vault:v9:AAAA", "no key"])
def test_a_wrapped_key_that_vault_does_not_know_is_refused(transit, wrapped):
    with pytest.raises(KeyUnusableError, match="400: it does not accept the wrapped key"):
        transit.unwrap(wrapped)


def test_a_key_that_is_no_master_key_is_refused(transit):
    with pytest.raises(KeyUnusableError, match="32 random bytes"):
        transit.unwrap(transit.wrap(Secret(base64.b64encode(b"short").decode())))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path": "transit/other"}, "404: there is no such transit engine or key"),
        ({"path": "other/kontor"}, "404: there is no such transit engine or key"),
        ({"path": "kontor"}, "KONTOR_VAULT_KEY"),
        ({"path": "transit/../sys"}, "KONTOR_VAULT_KEY"),
        ({"path": "transit/kontor?x=1"}, "KONTOR_VAULT_KEY"),
        ({"address": "http://vault.example"}, "https://"),
        ({"address": "ftp://127.0.0.1"}, "https://"),
        ({"address": "https://"}, "https://"),
        ({"address": "https://127.0.0.1:1"}, "cannot be reached"),
    ],
)
def test_settings_that_cannot_work_are_named(transit, change, message):
    with pytest.raises(KeyUnusableError, match=message):
        replace(transit, **change).unwrap("vault:v1:AAAA")


@pytest.mark.parametrize("token", ["", "another-token", "two\nlines\n"])
def test_a_wrong_token_is_refused_and_not_repeated_in_the_message(transit, token_file, token):
    token_file.write_text(token)
    with pytest.raises(KeyUnusableError) as error:
        transit.unwrap("vault:v1:AAAA")
    assert "another-token" not in str(error.value)
    assert TOKEN not in repr(transit)


def test_a_missing_token_file_is_told(transit, tmp_path):
    with pytest.raises(KeyUnusableError, match="FileNotFoundError"):
        replace(transit, token_file=tmp_path / "none").unwrap("vault:v1:AAAA")


def test_a_sealed_vault_is_told(vault, transit):
    vault.is_sealed = True
    with pytest.raises(KeyUnusableError, match="503: it is sealed"):
        transit.unwrap("vault:v1:AAAA")


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", b"[]", b"{}", b'{"data": null}', b'{"data": {}}', b'{"data": {"plaintext": 1}}',
     b'{"data": {"plaintext": "?"}}', b'{"data": {"plaintext": null}}'],
)  # fmt: skip
def test_answers_that_are_none_are_refused_without_their_content(vault, transit, answer):
    wrapped = transit.wrap(generate_master_key())
    vault.answer = answer
    with pytest.raises(KeyUnusableError, match="answer"):
        transit.unwrap(wrapped)


def test_settings_without_address_or_token_are_refused():
    settings = read_settings({"KONTOR_MASTER_KEY_WRAPPED": "vault:v1:AAAA", "KONTOR_DATABASE_URL": "postgresql://x"})
    with pytest.raises(KeyUnusableError, match="KONTOR_VAULT_ADDRESS and KONTOR_VAULT_TOKEN_PATH"):
        find_master_key(settings)


async def test_services_start_with_a_wrapped_key_and_need_vault_no_more_afterwards(
    vault, transit, settings, token_file, shared
):
    text = (settings.data / "master.key").read_text().strip()
    wrapped = replace(
        settings,
        master_key_wrapped=transit.wrap(Secret(text)),
        vault_address=vault.address,
        vault_token_path=token_file,
        pool_size=2,
    )
    async with open_services(wrapped, "kontor tests") as services:
        calls = len(vault.seen)
        vault.is_sealed = True
        assert await services.tenants.read_certificate(shared.name)
        assert len(vault.seen) == calls
    assert load_master_key(settings).id == decode_master_key(Secret(text), "here").id


@pytest.mark.programs
def test_the_command_wraps_a_key_file_and_prints_nothing_else(vault, token_file, settings, tmp_path):
    file = tmp_path / "master.key"
    write_key_file(file, generate_master_key())
    with_vault = replace(settings, vault_address=vault.address, vault_token_path=token_file)
    printed = run_kontor(with_vault, "key", "wrap", file).stdout
    assert printed.startswith("vault:v1:")
    assert printed.count("\n") == 1
    assert TransitKey(vault.address, "transit/kontor", token_file).unwrap(printed.strip())
    refused = run_kontor(settings, "key", "wrap", file, code=1)
    assert "KONTOR_VAULT_ADDRESS" in refused.stderr
