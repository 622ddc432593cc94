"""DPoP proofs by themselves: the examples of RFC 9449, every algorithm, and what is refused."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from kontor.services.security.proofs import ALGORITHMS, ProofError, SentProof, read_proof, show_thumbprint
from signed_proofs import Signer, encode, encode_number, make_signer

# RFC 9449: figure 2 (token request), figure 12 (resource request), 6.1 (thumbprint), 7.1 (token).
KEY = (
    "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJo"
    "RjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19"
)
AT_TOKEN_ENDPOINT = (
    f"{KEY}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIi"
    "wiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
)
AT_RESOURCE = (
    f"{KEY}.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZW"
    "N0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9."
    "2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
)
THUMBPRINT = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
TOKEN = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
URL = "https://kontor.example/auth/oauth2/token"


@pytest.fixture(scope="module")
def signer() -> Signer:
    return make_signer()


def read(proof, method="POST", url=URL, token=None):
    return read_proof(SentProof([proof], method, url), token)


def test_the_token_request_of_rfc_9449_is_read_with_its_thumbprint():
    proof = read(AT_TOKEN_ENDPOINT, url="https://server.example.com/token")
    assert (proof.id, proof.issued_at, proof.nonce) == ("-BwC3ESc6acc2lTc", 1562262616, None)
    assert show_thumbprint(proof.thumbprint) == THUMBPRINT


def test_the_resource_request_of_rfc_9449_is_read_with_its_token():
    proof = read(AT_RESOURCE, "GET", "https://resource.example.org/protectedresource", TOKEN)
    assert (proof.id, show_thumbprint(proof.thumbprint)) == ("e1j3V_bKic8-LAEB", THUMBPRINT)


@pytest.mark.parametrize("position", range(0, len(AT_TOKEN_ENDPOINT), 23))
def test_rfc_9449s_proof_with_one_letter_changed_is_refused(position):
    letter = "A" if AT_TOKEN_ENDPOINT[position] != "A" else "B"
    changed = AT_TOKEN_ENDPOINT[:position] + letter + AT_TOKEN_ENDPOINT[position + 1 :]
    with pytest.raises(ProofError):
        read(changed, url="https://server.example.com/token")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_is_accepted_with_a_key_of_its_kind_alone(algorithm):
    maker = make_signer(algorithm)
    assert show_thumbprint(read(maker.prove("POST", URL)).thumbprint) == maker.thumbprint
    claims = {"jti": "1", "htm": "POST", "htu": URL, "iat": 1}
    for other in ALGORITHMS:
        if other != algorithm:
            with pytest.raises(ProofError):
                read(maker.sign(maker.header | {"alg": other}, claims))


def test_a_proof_must_be_sent_exactly_once(signer):
    proof = signer.prove("POST", URL)
    for headers in ([], [proof, proof], [f"{proof}, {proof}"], [""]):
        with pytest.raises(ProofError):
            read_proof(SentProof(headers, "POST", URL))


@pytest.mark.parametrize(
    "changes",
    [
        {"typ": "JWT"}, {"typ": None}, {"alg": "none"}, {"alg": "HS256"}, {"alg": "RS256"}, {"alg": ["ES256"]},
        {"jwk": None}, {"jwk": "key"}, {"jwk": {}}, {"jwk": {"kty": "oct", "k": "AAAA"}}, {"crit": ["b64"]},
    ],
)  # fmt: skip
def test_headers_that_do_not_fit_are_refused(signer, changes):
    with pytest.raises(ProofError):
        read(signer.sign(signer.header | changes, {"jti": "1", "htm": "POST", "htu": URL, "iat": 1}))


@pytest.mark.parametrize(
    "changes",
    [
        {"htm": "GET"}, {"htm": "post"}, {"htm": None}, {"htu": None}, {"htu": 1}, {"htu": "https://[kontor"},
        {"htu": "/auth/oauth2/token"}, {"jti": None}, {"jti": ""}, {"jti": 7}, {"jti": "x" * 256}, {"iat": None},
        {"iat": "1"}, {"iat": True}, {"iat": -1}, {"iat": 2**63}, {"iat": float("inf")}, {"nonce": 5},
    ],
)  # fmt: skip
def test_claims_that_do_not_fit_are_refused(signer, changes):
    with pytest.raises(ProofError):
        read(signer.prove("POST", URL, **changes))


@pytest.mark.parametrize("members", [{"d": "AA"}, {"x": "AA"}, {"y": None}, {"crv": "P-384"}, {"kty": "RSA"}])
def test_keys_that_are_private_or_broken_are_refused(signer, members):
    header = signer.header | {"jwk": signer.jwk | members}
    with pytest.raises(ProofError):
        read(signer.sign(header, {"jti": "1", "htm": "POST", "htu": URL, "iat": 1}))


def test_rsa_keys_of_less_than_2048_bits_are_refused():
    key = rsa.generate_private_key(65537, 1024)
    public = key.public_key().public_numbers()
    weak = Signer("PS256", key, {"kty": "RSA", "n": encode_number(public.n), "e": encode_number(public.e)})
    with pytest.raises(ProofError):
        read(weak.prove("POST", URL))


def test_a_key_has_one_spelling_and_so_one_thumbprint(signer):
    """Base64 with other unused bits, with padding or with leading zeros is the same key for a lenient reader."""
    last = signer.jwk["x"][-1]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for x in (
        signer.jwk["x"][:-1] + letters[letters.index(last) ^ 1],
        signer.jwk["x"] + "=",
        encode(b"\x00" + base64.urlsafe_b64decode(signer.jwk["x"] + "=")),
    ):
        header = signer.header | {"jwk": signer.jwk | {"x": x}}
        with pytest.raises(ProofError):
            read(signer.sign(header, {"jti": "1", "htm": "POST", "htu": URL, "iat": 1}))


def test_repeated_names_are_refused(signer):
    claims = json.dumps({"jti": "1", "htm": "POST", "htu": URL, "iat": 1})
    with pytest.raises(ProofError):
        read(signer.sign(signer.header, claims[:-1] + ', "htm": "POST"}'))


@pytest.mark.parametrize(
    "part", ["[" * 3000, "7", "[]", "null", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
)
def test_what_is_no_object_is_refused(signer, part):
    with pytest.raises(ProofError):
        read(signer.sign(part, {"jti": "1"}))
    with pytest.raises(ProofError):
        read(signer.sign(signer.header, part))


def test_lone_surrogates_in_claims_are_refused_or_kept_without_a_crash(signer):
    for name in ("htu", "htm", "ath", "nonce", "jti"):
        try:
            read(signer.prove("POST", URL, **{name: "\ud800"}), token="x")
        except ProofError:
            continue


@pytest.mark.parametrize(
    "sent",
    [
        "https://kontor.example:443/auth/oauth2/token", "HTTPS://KONTOR.example/auth/oauth2/token",
        "https://kontor.example/auth/oauth2/%74oken", "https://kontor.example/auth/oauth2/token?a=b",
        "https://kontor.example/auth/oauth2/token#part",
    ],
)  # fmt: skip
def test_other_spellings_of_the_same_address_are_accepted(signer, sent):
    assert read(signer.prove("POST", sent)).id


@pytest.mark.parametrize(
    "sent",
    [
        "http://kontor.example/auth/oauth2/token", "https://kontor.example:8443/auth/oauth2/token",
        "https://kontor.example/auth/oauth2/token/", "https://kontor.example/auth/oauth2%2Ftoken",
        "https://kontor.example/auth/oauth2/Token", "https://user@kontor.example/auth/oauth2/token",
        "https://other.example/auth/oauth2/token", "https://kontor.example.other.example/auth/oauth2/token",
    ],
)  # fmt: skip
def test_other_addresses_are_refused(signer, sent):
    with pytest.raises(ProofError):
        read(signer.prove("POST", sent))


def test_a_proof_for_another_token_or_for_none_is_refused(signer):
    for proof in (signer.prove("POST", URL), signer.prove("POST", URL, "other"), signer.prove("POST", URL, ath="")):
        with pytest.raises(ProofError):
            read(proof, token="mine")
    assert read(signer.prove("POST", URL, "mine"), token="mine").id
