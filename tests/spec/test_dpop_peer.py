"""Our DPoP proofs and those of joserfc, which nobody here wrote: each side accepts the other's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kontor.services.security import ALGORITHMS
from kontor_client.proofs import ProofKey

PEERS = Path(sys.executable).parents[1] / "peers"
TOKEN = "/auth/oauth2/token"
MAKE = """
import hashlib, base64, json, sys, time, uuid
from joserfc import jwk, jwt
from joserfc.jws import JWSRegistry
algorithm, method, url, token, kept = json.load(sys.stdin)
kinds = {"ES256": ("EC", "P-256"), "ES384": ("EC", "P-384"), "ES512": ("EC", "P-521"), "EdDSA": ("OKP", "Ed25519"),
         "PS256": ("RSA", 2048)}
key = jwk.import_key(kept) if kept else jwk.generate_key(*kinds[algorithm])
header = {"typ": "dpop+jwt", "alg": algorithm, "jwk": key.as_dict(private=False)}
header["jwk"] = {name: value for name, value in header["jwk"].items() if name in ("kty", "crv", "x", "y", "n", "e")}
claims = {"jti": str(uuid.uuid4()), "htm": method, "htu": url, "iat": int(time.time())}
if token:
    digest = hashlib.sha256(token.encode()).digest()
    claims["ath"] = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
proof = jwt.encode(header, claims, key, algorithms=[algorithm])
print(json.dumps([proof, key.as_dict(private=True), key.thumbprint()]))
"""
VERIFY = """
import json, sys
from joserfc import jwk, jws, jwt
proof = json.load(sys.stdin)
unverified = jws.extract_compact(proof.encode()).headers()
key = jwk.import_key(unverified["jwk"])
token = jwt.decode(proof, key, algorithms=["ES256"])
print(json.dumps([token.header, token.claims, key.thumbprint()]))
"""

pytestmark = pytest.mark.peers


def ask_peer(program: str, question: object) -> list:
    done = subprocess.run(
        [PEERS / "python" / "bin" / "python", "-W", "ignore", "-c", program],
        input=json.dumps(question), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_proofs_of_joserfc_are_accepted(shared, server, algorithm):
    proof, key, thumbprint = ask_peer(MAKE, [algorithm, "POST", server + TOKEN, None, None])
    form = {"grant_type": "client_credentials"}
    answer = shared.http.post(TOKEN, data=form, auth=shared.admin, headers={"DPoP": proof})
    assert (answer.status_code, answer.json()["token_type"]) == (200, "DPoP"), answer.text
    token = answer.json()["access_token"]
    facts = shared.http.post("/auth/oauth2/introspect", data={"token": token}, auth=shared.admin).json()
    assert facts["cnf"] == {"jkt": thumbprint}
    proof, _, _ = ask_peer(MAKE, [algorithm, "GET", server + shared.url, token, key])
    answer = shared.http.get(shared.url, headers={"Authorization": f"DPoP {token}", "DPoP": proof})
    assert answer.status_code == 200, answer.text


def test_proofs_of_our_client_are_accepted_by_joserfc():
    key = ProofKey.generate()
    proof = key.make_proof("GET", "https://kontor.example/a", "token", "nonce")
    header, claims, thumbprint = ask_peer(VERIFY, proof)
    assert (header["typ"], thumbprint) == ("dpop+jwt", key.thumbprint)
    assert (claims["htm"], claims["htu"], claims["nonce"]) == ("GET", "https://kontor.example/a", "nonce")
    # SHA-256 of "token", Base64url.
    assert claims["ath"] == "PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A"
