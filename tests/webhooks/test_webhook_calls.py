"""The call itself, on real sockets: signed, pinned to the address that was checked, never led elsewhere."""

import socket
import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from standardwebhooks import WebhookVerificationError

from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret
from kontor.domain.webhooks import DeliveryFailure
from kontor.services.webhooks.calls import MAX_ANSWER_BYTES, CallResult, Message, WebhookCalls
from kontor.services.webhooks.webhooks import make_secret
from receivers import Receiver, say

MESSAGE = Message("msg_1", '{"serial":1,"text":"Zuruck: ä"}'.encode())
NAME = "receiver.example"


class Names:
    """A name server that a test can change: each name leads to the next of its answers, the last one for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def __call__(self, host, port):
        self.asked.append((host, port))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def make_calls(names=None, *, loopback=True, **facts):
    return WebhookCalls(is_loopback_allowed=loopback, resolve=names, **facts)


async def test_the_signature_is_good_for_the_library_and_for_the_right_secret_only(receiver):
    secret, other = make_secret(), make_secret()
    assert await make_calls().send(receiver.url, MESSAGE, [secret]) == CallResult(204, None)
    (got,) = receiver.received
    assert got.verify(secret.reveal()) == {"serial": 1, "text": "Zuruck: ä"}
    assert (got.headers["webhook-id"], got.headers["content-type"]) == ("msg_1", "application/json")
    assert abs(int(got.headers["webhook-timestamp"]) - datetime.now(UTC).timestamp()) < 60
    assert (got.path, got.headers["host"]) == ("/hook?from=kontor", f"127.0.0.1:{receiver.port}")
    with pytest.raises(WebhookVerificationError):
        got.verify(other.reveal())


async def test_with_two_secrets_either_verifies(receiver):
    new, old = make_secret(), make_secret()
    await make_calls().send(receiver.url, MESSAGE, [new, old])
    (got,) = receiver.received
    for secret in (new, old):
        assert got.verify(secret.reveal())["serial"] == 1
    assert len(got.headers["webhook-signature"].split()) == 2


def test_secrets_are_as_long_as_the_standard_wants_and_never_printed():
    secret = make_secret()
    assert secret.reveal().startswith("whsec_")
    assert len(Secret(secret.reveal()).reveal()) == 6 + 44
    assert "whsec_" not in repr(secret)


# Answers


@pytest.mark.parametrize("status", [200, 201, 204, 299])
async def test_any_2xx_is_delivered(receiver, status):
    receiver.answer = say(status)
    assert await make_calls().send(receiver.url, MESSAGE, [make_secret()]) == CallResult(status, None)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_any_other_status_is_a_failure(receiver, status):
    receiver.answer = say(status, retry_after="7")
    result = await make_calls().send(receiver.url, MESSAGE, [make_secret()])
    assert result == CallResult(status, DeliveryFailure.STATUS, 7)


async def test_410_is_told_apart(receiver):
    receiver.answer = say(410)
    result = await make_calls().send(receiver.url, MESSAGE, [make_secret()])
    assert result == CallResult(410, DeliveryFailure.GONE)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_failure_and_nobody_follows_it(receiver, status):
    with Receiver() as elsewhere:
        receiver.answer = say(status, location=elsewhere.url)
        result = await make_calls().send(receiver.url, MESSAGE, [make_secret()])
        assert result == CallResult(status, DeliveryFailure.STATUS)
        assert elsewhere.received == []


async def test_a_receiver_that_takes_too_long_is_given_up(receiver):
    receiver.gate.clear()
    result = await make_calls(call_seconds=0.3).send(receiver.url, MESSAGE, [make_secret()])
    assert result == CallResult(None, DeliveryFailure.TIMEOUT)


async def test_of_an_endless_answer_only_the_beginning_is_read():
    """The receiver could send a gigabyte; it is cut off."""
    sent = []
    with Receiver() as receiver:

        class Pouring(receiver.server.RequestHandlerClass):
            def do_POST(self):  # noqa: N802
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-length", str(1 << 30))
                self.end_headers()
                for _ in range(1 << 14):
                    self.wfile.write(b"x" * (1 << 16))
                    sent.append(1 << 16)

        receiver.server.RequestHandlerClass = Pouring
        result = await make_calls(call_seconds=20).send(receiver.url, MESSAGE, [make_secret()])
    assert result == CallResult(200, None)
    assert sum(sent) < 1 << 29  # what fits into the buffers of two sockets, and no more
    assert MAX_ANSWER_BYTES == 4096


async def test_a_closed_port_and_a_server_of_another_kind_are_values():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        assert await make_calls().send(url, MESSAGE, [make_secret()]) == CallResult(None, DeliveryFailure.UNREACHABLE)
    with Receiver() as receiver:
        url = receiver.url.replace("http:", "https:")
        assert (await make_calls().send(url, MESSAGE, [make_secret()])).failure is DeliveryFailure.TLS


async def test_no_proxy_of_the_environment_is_used(receiver, monkeypatch):
    with Receiver() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert (await make_calls().send(receiver.url, MESSAGE, [make_secret()])).failure is None
        assert (len(receiver.received), proxy.received) == (1, [])


# Names and addresses


async def test_a_name_is_resolved_once_and_the_checked_address_is_the_one_that_is_called(receiver):
    """DNS rebinding: what the name would mean a moment later is never asked for."""
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    url = f"http://{NAME}:{receiver.port}/hook"
    assert (await make_calls(names).send(url, MESSAGE, [make_secret()])).failure is None
    assert names.asked == [(NAME, receiver.port)]
    assert receiver.received[0].headers["host"] == f"{NAME}:{receiver.port}"


async def test_a_name_that_has_changed_since_its_registration_is_refused_at_the_call(receiver):
    names = Names(["8.8.8.8"], ["127.0.0.1"])
    calls = make_calls(names, loopback=False)
    url = f"https://{NAME}:8443/hook"
    await calls.check(url)
    assert await calls.send(url, MESSAGE, [make_secret()]) == CallResult(None, DeliveryFailure.ADDRESS)
    assert receiver.received == []


@pytest.mark.parametrize("answer", [["8.8.8.8", "127.0.0.1"], ["10.0.0.1"], [], OSError("no such name"), ["fe80::1%2"]])
async def test_registration_looks_at_every_address(answer):
    with pytest.raises(InvalidError, match="url: must lead to a public address"):
        await make_calls(Names(answer), loopback=False).check(f"https://{NAME}/")


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://10.1.2.3/", "https://[::ffff:127.0.0.1]/",
     "https://169.254.169.254/latest", "https://[64:ff9b::7f00:1]/", "https://0.0.0.0/", "https://[fd00::1]:8443/"],
)  # fmt: skip
async def test_with_the_real_resolver_no_inner_address_gets_through(url):
    calls = make_calls(loopback=False)
    with pytest.raises(InvalidError):
        await calls.check(url)
    assert await calls.send(url, MESSAGE, [make_secret()]) == CallResult(None, DeliveryFailure.ADDRESS)


async def test_the_next_address_is_tried_where_the_first_cannot_be_reached(receiver):
    names = Names(["127.0.0.2", "127.0.0.1"])  # the receiver listens at the second alone
    result = await make_calls(names).send(f"http://{NAME}:{receiver.port}/", MESSAGE, [make_secret()])
    assert result.failure is None


# TLS


def make_contexts(name, folder):
    """A server's certificate for one name, and the trust of a client in it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "both.pem").write_bytes(private + pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "both.pem")
    return server, ssl.create_default_context(cadata=pem.decode())


async def test_with_tls_the_name_is_asked_for_and_its_certificate_is_checked(tmp_path):
    server, trust = make_contexts(NAME, tmp_path)
    calls = make_calls(Names(["127.0.0.1"]), trust=trust)
    with Receiver(context=server) as receiver:
        good = await calls.send(f"https://{NAME}:{receiver.port}/hook", MESSAGE, [make_secret()])
        wrong = await calls.send(f"https://other.example:{receiver.port}/hook", MESSAGE, [make_secret()])
        unknown = await make_calls(Names(["127.0.0.1"])).send(
            f"https://{NAME}:{receiver.port}/hook", MESSAGE, [make_secret()]
        )
    assert (good, wrong.failure, unknown.failure) == (CallResult(204, None), DeliveryFailure.TLS, DeliveryFailure.TLS)
    assert receiver.names[0] == NAME
    assert [call.headers["host"] for call in receiver.received] == [f"{NAME}:{receiver.port}"]
