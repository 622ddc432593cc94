"""TLS, client certificates and message signatures, each checked by another library than the one that made it."""

import json
import subprocess
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from bad_banks import RIGHT
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from asgi_servers import serve_app
from kontor.connectors.base import FailureKind, Progress
from kontor.connectors.xs2a import Xs2aBank, Xs2aConnector, Xs2aSettings
from xs2a_dialogues import Dialogue


def make_certificate(folder: Path, name: str, issuer: tuple | None = None, is_authority: bool = False) -> tuple:
    """Certificate and key as files; (certificate, key, certificate file, key file)."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer[0].subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if not is_authority:
        names = [x509.DNSName("localhost")]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    certificate = builder.sign(key if issuer is None else issuer[1], hashes.SHA256())
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return certificate, key, *files


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    authority = make_certificate(folder, "authority", is_authority=True)
    stranger = make_certificate(folder, "stranger", is_authority=True)
    return {
        "authority": authority,
        "stranger": stranger,
        "bank": make_certificate(folder, "bank", authority),
        "client": make_certificate(folder, "client", authority),
        "foreign": make_certificate(folder, "foreign", stranger),
    }


class Recorder:
    """A bank that does everything right, and remembers what it was sent."""

    def __init__(self):
        self.requests = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            return
        body = (await receive()).get("body", b"")
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.requests.append((scope["method"], scope["path"], headers, body))
        answer = json.dumps(RIGHT[f"{scope['method']} {scope['path']}"]).encode()
        listed = [(b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": listed})
        await send({"type": "http.response.body", "body": answer})


def talk(url, **settings):
    bank = Xs2aBank(url.replace("127.0.0.1", "localhost"))
    return Dialogue(Xs2aConnector(lambda provider: bank, Xs2aSettings(**settings)), "somebody").begin()


def test_only_a_bank_with_a_trusted_certificate_is_talked_to(certificates):
    bank = Recorder()
    with serve_app(bank, ssl_cert=certificates["bank"][2], ssl_key=certificates["bank"][3]) as url:
        assert talk(url).kind is FailureKind.UNREACHABLE
        assert talk(url, ca_file=certificates["stranger"][2]).kind is FailureKind.UNREACHABLE
        assert bank.requests == []
        assert isinstance(talk(url, ca_file=certificates["authority"][2]), Progress)


def test_the_client_certificate_is_shown_to_a_bank_that_asks_for_it(certificates):
    files = certificates["bank"][2:]
    tls = {"ssl_cert": files[0], "ssl_key": files[1], "ssl_ca": certificates["authority"][2], "ssl_client_verify": True}
    trusted = {"ca_file": certificates["authority"][2]}
    with serve_app(Recorder(), **tls) as url:
        assert talk(url, **trusted).kind is FailureKind.UNREACHABLE
        foreign, client = certificates["foreign"], certificates["client"]
        assert talk(url, **trusted, certificate_file=foreign[2], key_file=foreign[3]).kind is FailureKind.UNREACHABLE
        step = talk(url, **trusted, certificate_file=client[2], key_file=client[3])
        assert isinstance(step, Progress)


def test_every_message_is_signed_and_openssl_agrees(certificates, tmp_path):
    bank = Recorder()
    client = certificates["client"]
    with serve_app(bank) as url:
        step = talk(url, seal_certificate_file=client[2], seal_key_file=client[3])
    assert isinstance(step, Progress)
    public = tmp_path / "public.pem"
    public.write_bytes(
        client[1].public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    assert len(bank.requests) == 4
    for _, _, headers, body in bank.requests:
        assert headers["digest"].startswith("SHA-256=")
        assert b64decode(headers["digest"].removeprefix("SHA-256=")) == sha256(body).digest()
        parts = dict(part.split("=", 1) for part in headers["signature"].replace('",', '"\n').splitlines())
        names = parts["headers"].strip('"').split()
        assert {"digest", "x-request-id", "date"} <= set(names)
        assert ("psu-id" in names) == ("psu-id" in headers)
        assert parts["algorithm"] == '"rsa-sha256"'
        assert f"SN={client[0].serial_number:X}," in parts["keyId"]
        text, signature = tmp_path / "text", tmp_path / "signature"
        text.write_text("\n".join(f"{name}: {headers[name]}" for name in names))
        signature.write_bytes(b64decode(parts["signature"].strip('"')))
        command = ["openssl", "dgst", "-sha256", "-verify", public, "-signature", signature, text]
        assert b"Verified OK" in subprocess.run(command, capture_output=True, check=True).stdout
        sent = x509.load_der_x509_certificate(b64decode(headers["tpp-signature-certificate"]))
        assert sent == client[0]
    assert len({headers["x-request-id"] for _, _, headers, _ in bank.requests}) == 4


def test_nothing_is_signed_without_a_certificate():
    bank = Recorder()
    with serve_app(bank) as url:
        talk(url)
    assert bank.requests
    assert not any("signature" in headers or "digest" in headers for _, _, headers, _ in bank.requests)
