"""The clients with a key: every token is bound to it, every request proves it."""

import subprocess
import sys
from dataclasses import replace

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from kontor.services.security.proofs import SentProof, read_proof, show_thumbprint
from kontor_client import ApiError, AsyncKontor, Kontor, KontorClientError, UnexpectedAnswerError
from kontor_client.proofs import ProofKey
from processes import free_port, running_server


def test_a_client_with_a_key_gets_and_uses_bound_tokens(server, shared):
    key = ProofKey.generate()
    with Kontor.login_client(server, *shared.admin, dpop_key=key) as kontor:
        assert kontor.read_tenant(shared.name).name == shared.name
        assert [tenant.name for tenant in kontor.list_tenants()] == [shared.name]
        facts = kontor.introspect_token(*shared.admin, kontor.session.token)
        assert (facts.token_type, facts.cnf.jkt) == ("DPoP", key.thumbprint)
        assert facts.token_type not in repr(kontor)
        for other in (None, ProofKey.generate()):
            thief = Kontor(server, kontor.session.token, dpop_key=other, retries=0)
            with thief, pytest.raises(ApiError) as refused:
                thief.read_tenant(shared.name)
            assert refused.value.status == (403 if other is None else 401)
        with Kontor(server, kontor.session.token, dpop_key=key) as same:
            assert same.read_tenant(shared.name).name == shared.name
        assert "ES256" in kontor.read_server_metadata().dpop_signing_alg_values_supported


async def test_the_client_for_asyncio_does_the_same_for_users(server, shared):
    login = (*shared.app, shared.username, shared.password)
    async with await AsyncKontor.login(server, *login, dpop_key=ProofKey.generate()) as kontor:
        # With a query, and with a path that needs quoting.
        assert (await kontor.list_providers("no such bank & more")) == []
        with pytest.raises(ApiError) as missing:
            await kontor.request("GET", "/customer/v2/bankzugaenge/a%20b")
        assert missing.value.status == 404


def test_a_nonce_is_taken_up_and_the_call_repeated(settings, shared, tmp_path):
    port = free_port()
    own = replace(settings, base_url=f"http://127.0.0.1:{port}", require_dpop_nonce=True, compute_preload=False)
    with (
        running_server(own, tmp_path / "server.log") as address,
        Kontor.login_client(address, *shared.admin, dpop_key=ProofKey.generate(), retries=0) as kontor,
    ):
        kontor.session.nonce = "outdated"
        assert kontor.read_tenant(shared.name).name == shared.name
        assert kontor.session.nonce != "outdated"


def test_a_service_that_does_not_bind_is_an_error_and_no_downgrade():
    token = {"access_token": "t", "expires_in": 7200, "token_type": "Bearer"}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=token))
    with pytest.raises(UnexpectedAnswerError, match="DPoP"):
        Kontor.login_client("https://kontor.example", "t/c", "s", dpop_key=ProofKey.generate(), transport=transport)


def test_each_attempt_has_a_proof_of_its_own_for_the_address_without_query():
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(read_proof(SentProof([request.headers["dpop"]], "GET", "https://kontor.example/a"), "token"))
        return httpx.Response(503, headers={"Retry-After": "0"})

    key = ProofKey.generate()
    kontor = Kontor("https://kontor.example", "token", dpop_key=key, transport=httpx.MockTransport(answer))
    with kontor, pytest.raises(ApiError):
        kontor.request("GET", "/a", params={"b": 1})
    assert len({proof.id for proof in seen}) == len(seen) == 4
    assert {show_thumbprint(proof.thumbprint) for proof in seen} == {key.thumbprint}


def test_a_key_is_loaded_from_pem_and_others_are_refused():
    private = ec.generate_private_key(ec.SECP256R1())
    assert ProofKey.load(show_pem(private)).thumbprint == ProofKey(private).thumbprint
    for other in (ec.generate_private_key(ec.SECP384R1()), rsa.generate_private_key(65537, 2048)):
        with pytest.raises(KontorClientError, match="P-256"):
            ProofKey.load(show_pem(other))


def show_pem(key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def test_without_a_key_the_client_needs_no_cryptography():
    program = "import sys, kontor_client; sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
