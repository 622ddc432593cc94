"""DPoP (RFC 9449) over HTTP: tokens that are bound to a key, and everything that is refused. Bearer is as ever."""

import time
from dataclasses import replace

import httpx
import pytest

from kontor.domain.scopes import USER_SCOPES
from kontor.domain.tenants import ClientKind
from kontor.services.security import ALGORITHMS, ProofChecks, ProofError, SentProof, proof_checks
from kontor.storage import proofs
from plain_http import plain_client
from processes import free_port, start_kontor, wait_until_ready
from signed_proofs import make_signer

TOKEN = "/auth/oauth2/token"
INVALID_PROOF = f'DPoP realm="kontor", error="invalid_dpop_proof", algs="{" ".join(ALGORITHMS)}"'
INVALID_TOKEN = f'DPoP realm="kontor", error="invalid_token", algs="{" ".join(ALGORITHMS)}"'
CLIENT = {"grant_type": "client_credentials"}


@pytest.fixture(scope="module")
def signer():
    return make_signer()


@pytest.fixture
def get_token(shared, server):
    """Ask for a client's token with a proof."""

    def ask(proof: str | list[str], login=None) -> httpx.Response:
        headers = [("DPoP", value) for value in ([proof] if isinstance(proof, str) else proof)]
        return shared.http.post(TOKEN, data=CLIENT, auth=login or shared.admin, headers=headers)

    return ask


@pytest.fixture
def bound(get_token, signer, server) -> str:
    answer = get_token(signer.prove("POST", server + TOKEN))
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


@pytest.fixture
def read_tenant(shared):
    """The tenant of the token, as far as the headers allow it."""

    def ask(token: str, proof: str | None = None, scheme: str = "DPoP", url: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"{scheme} {token}"} | ({"DPoP": proof} if proof is not None else {})
        return shared.http.get(url or shared.url, headers=headers)

    return ask


def assert_refused(answer, status=401, challenge=INVALID_PROOF):
    assert (answer.status_code, answer.headers.get("www-authenticate")) == (status, challenge), answer.text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_token_that_is_asked_for_with_a_proof_works_with_proofs_of_the_same_key(
    shared, server, get_token, read_tenant, algorithm
):
    own = make_signer(algorithm)
    answer = get_token(own.prove("POST", server + TOKEN))
    token = answer.json()
    assert (answer.status_code, token["token_type"], token["expires_in"]) == (200, "DPoP", 7200)
    for _ in range(2):
        proof = own.prove("GET", server + shared.url, token["access_token"])
        assert read_tenant(token["access_token"], proof).json()["name"] == shared.name


def test_without_a_proof_the_answer_is_the_bearer_token_as_ever(shared, get_token, signer, server):
    plain = shared.http.post(TOKEN, data=CLIENT, auth=shared.admin).json()
    proved = get_token(signer.prove("POST", server + TOKEN)).json()
    assert plain["token_type"] == "Bearer"
    assert plain.keys() == proved.keys()


async def test_a_users_token_and_that_of_an_api_key_are_bound_too(shared, server, signer, new_user, standing_services):
    person = new_user()
    form = {"grant_type": "password", "username": person.username, "password": person.password}
    proof = {"DPoP": signer.prove("POST", server + TOKEN)}
    tokens = [shared.http.post(TOKEN, data=form, auth=shared.app, headers=proof).json()]
    key = await standing_services.tokens.create_api_key(shared.name, "app", person.username, None)
    headers = {"X-API-KEY": key.reveal(), "DPoP": signer.prove("POST", f"{server}/one/bc-token")}
    tokens.append(shared.http.post("/one/bc-token", headers=headers).json())
    for token in tokens:
        assert token["token_type"] == "DPoP"
        address = "/customer/v2/bankzugaenge"
        headers = {"Authorization": f"DPoP {token['access_token']}"}
        assert_refused(shared.http.get(address, headers=headers))
        headers["DPoP"] = signer.prove("GET", server + address, token["access_token"])
        assert shared.http.get(address, headers=headers).status_code == 200


def test_a_bound_token_is_refused_as_bearer_even_with_a_proof(shared, server, bound, signer, read_tenant):
    assert_refused(read_tenant(bound, scheme="Bearer"), 403, INVALID_TOKEN)
    proof = signer.prove("GET", server + shared.url, bound)
    assert_refused(read_tenant(bound, proof, scheme="Bearer"), 403, INVALID_TOKEN)


def test_a_token_that_is_not_bound_is_refused_under_dpop(shared, server, signer, read_tenant):
    token = shared.client_token()
    assert_refused(read_tenant(token, signer.prove("GET", server + shared.url, token)), 403, INVALID_TOKEN)
    assert_refused(read_tenant("nobodys", signer.prove("GET", server + shared.url, "nobodys")), 403, INVALID_TOKEN)


def test_proofs_of_another_key_token_method_or_address_are_refused(shared, server, bound, signer, read_tenant):
    url = server + shared.url
    wrong = {
        "missing": None,
        "empty": "",
        "other key": make_signer().prove("GET", url, bound),
        "other token": signer.prove("GET", url, "other"),
        "no token": signer.prove("GET", url),
        "other method": signer.prove("POST", url, bound),
        "other address": signer.prove("GET", url + "/users", bound),
        "other host": signer.prove("GET", "http://other.example" + shared.url, bound),
    }
    for name, proof in wrong.items():
        answer = read_tenant(bound, proof)
        assert_refused(answer)
        assert answer.json()["code"] == "401", name
    assert read_tenant(bound, signer.prove("GET", url, bound)).status_code == 200


@pytest.mark.parametrize("seconds", [-90, 90, -100_000, 100_000])
def test_proofs_from_another_time_are_refused(shared, server, bound, signer, read_tenant, get_token, seconds):
    at = int(time.time()) + seconds
    assert_refused(read_tenant(bound, signer.prove("GET", server + shared.url, bound, iat=at)))
    assert_error(get_token(signer.prove("POST", server + TOKEN, iat=at)), "invalid_dpop_proof")


def assert_error(answer, error):
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert (answer.headers["cache-control"], "www-authenticate" in answer.headers) == ("no-store", False)


def test_a_proof_is_accepted_once_by_all_processes_together(shared, server, bound, signer, read_tenant, get_token):
    proof = signer.prove("GET", server + shared.url, bound)
    assert read_tenant(bound, proof).status_code == 200
    assert_refused(read_tenant(bound, proof))
    at_token = signer.prove("POST", server + TOKEN)
    assert get_token(at_token).status_code == 200
    assert_error(get_token(at_token), "invalid_dpop_proof")


async def test_a_proof_that_one_process_has_seen_is_refused_by_another(
    shared, server, bound, signer, read_tenant, standing_services
):
    """The services of this process stand for the other one: both have only the database in common."""
    principal = await standing_services.tokens.authenticate(bound)
    proof = signer.prove("GET", server + shared.url, bound)
    sent = SentProof([proof], "GET", server + shared.url)
    assert read_tenant(bound, proof).status_code == 200
    with pytest.raises(ProofError, match="used before"):
        await standing_services.tokens.check_proof(principal, bound, sent)


async def test_a_used_proof_is_remembered_until_it_is_too_old(standing_services, owner, signer, server):
    sent = SentProof([signer.prove("POST", server + TOKEN, iat=int(time.time()) + 50)], "POST", server + TOKEN)
    checks = standing_services.tokens._proofs
    await checks.check(sent)
    async with standing_services.database.transaction() as connection:
        await proofs.delete_old_proofs(connection, 1000)
    with pytest.raises(ProofError, match="used before"):
        await checks.check(sent)
    owner.execute("update dpop_proofs set expires_at = now() - interval '1 second'")
    async with standing_services.database.transaction() as connection:
        assert await proofs.delete_old_proofs(connection, 1000) > 0
    assert owner.execute("select count(*) from dpop_proofs").fetchone() == (0,)


def test_two_proofs_or_broken_ones_get_no_token(server, signer, get_token):
    proof = signer.prove("POST", server + TOKEN)
    for sent in ([proof, signer.prove("POST", server + TOKEN)], [""], ["x"], ["a.b.c"], [proof[:-4]], ["." * 9000]):
        assert_error(get_token(sent), "invalid_dpop_proof")


def test_a_wrong_client_is_told_before_a_wrong_proof(shared, get_token):
    answer = get_token("x", (shared.admin[0], "wrong"))
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_introspection_shows_the_key(shared, bound, signer):
    facts = shared.http.post("/auth/oauth2/introspect", data={"token": bound}, auth=shared.admin).json()
    assert (facts["active"], facts["token_type"], facts["cnf"]) == (True, "DPoP", {"jkt": signer.thumbprint})
    plain = shared.http.post("/auth/oauth2/introspect", data={"token": shared.client_token()}, auth=shared.admin).json()
    assert (plain["token_type"], "cnf" in plain) == ("Bearer", False)


def test_a_missing_scope_is_told_with_the_scheme_of_the_token(shared, server, signer):
    form = CLIENT | {"scope": "auth/tenants/read"}
    proof = {"DPoP": signer.prove("POST", server + TOKEN)}
    token = shared.http.post(TOKEN, data=form, auth=shared.admin, headers=proof).json()["access_token"]
    url = f"{shared.url}/users"
    headers = {"Authorization": f"DPoP {token}", "DPoP": signer.prove("GET", server + url, token)}
    challenge = shared.http.get(url, headers=headers).headers["www-authenticate"]
    assert challenge.startswith('DPoP realm="kontor", error="insufficient_scope"')


def test_metadata_name_the_algorithms_and_endpoints(shared, server):
    metadata = shared.http.get("/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == server
    assert metadata["token_endpoint"] == server + TOKEN
    assert metadata["dpop_signing_alg_values_supported"] == list(ALGORITHMS)


# A client that must use it


async def test_a_client_that_requires_it_gets_no_token_without_and_loses_those_it_had(
    shared, server, signer, new_client, standing_services, get_token, read_tenant
):
    login = await new_client(ClientKind.ADMIN, ("auth/tenants/read",))
    before = shared.client_token(login)
    kept = get_token(signer.prove("POST", server + TOKEN), login).json()["access_token"]
    administration, name = standing_services.tenant_administration, login[0].partition("/")[2]
    await administration.require_dpop(shared.name, name, True)
    assert read_tenant(before, scheme="Bearer").status_code == 403
    assert read_tenant(kept, signer.prove("GET", server + shared.url, kept)).status_code == 200
    refused = shared.http.post(TOKEN, data=CLIENT, auth=login)
    assert_error(refused, "invalid_dpop_proof")
    assert get_token(signer.prove("POST", server + TOKEN), login).json()["token_type"] == "DPoP"
    await administration.require_dpop(shared.name, name, False)
    assert shared.http.post(TOKEN, data=CLIENT, auth=login).json()["token_type"] == "Bearer"


async def test_an_api_key_of_such_a_client_gets_no_token_without(shared, server, signer, standing_services, new_user):
    person = new_user()
    made, _ = await standing_services.tenant_administration.create_client(
        shared.name, "strict-" + person.reference[:8], ClientKind.USER, USER_SCOPES, requires_dpop=True
    )
    assert made.requires_dpop
    key = await standing_services.tokens.create_api_key(shared.name, made.name, person.username, None)
    headers = {"X-API-KEY": key.reveal()}
    assert_error(shared.http.post("/one/bc-token", headers=headers), "invalid_dpop_proof")
    headers["DPoP"] = signer.prove("POST", f"{server}/one/bc-token")
    assert shared.http.post("/one/bc-token", headers=headers).json()["token_type"] == "DPoP"


# Nonces of the server, and proxies


@pytest.fixture(scope="module")
def strict(settings, shared, tmp_path_factory):
    """A server that wants nonces, and is known to callers under another address than it listens at."""
    port = free_port()
    own = replace(settings, base_url="https://kontor.example/bank", require_dpop_nonce=True, compute_preload=False)
    log = tmp_path_factory.mktemp("strict") / "server.log"
    process = start_kontor(own, ["serve", "--port", str(port), "--workers", "1"], log)
    wait_until_ready(f"http://127.0.0.1:{port}", process, log)
    with plain_client(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
        yield http
    process.terminate()
    assert process.wait(40) == 0


def test_a_server_that_wants_nonces_gives_them_and_refuses_others(shared, strict, signer):
    url = "https://kontor.example/bank" + TOKEN
    answer = strict.post(TOKEN, data=CLIENT, auth=shared.admin, headers={"DPoP": signer.prove("POST", url)})
    assert_error(answer, "use_dpop_nonce")
    nonce = answer.headers["dpop-nonce"]
    other = {"DPoP": signer.prove("POST", url, nonce="other")}
    assert_error(strict.post(TOKEN, data=CLIENT, auth=shared.admin, headers=other), "use_dpop_nonce")
    right = {"DPoP": signer.prove("POST", url, nonce=nonce)}
    token = strict.post(TOKEN, data=CLIENT, auth=shared.admin, headers=right).json()["access_token"]
    url = "https://kontor.example/bank" + shared.url
    headers = {"Authorization": f"DPoP {token}", "DPoP": signer.prove("GET", url, token)}
    answer = strict.get(shared.url, headers=headers)
    assert_refused(answer, 401, INVALID_PROOF.replace("invalid_dpop_proof", "use_dpop_nonce"))
    headers["DPoP"] = signer.prove("GET", url, token, nonce=answer.headers["dpop-nonce"])
    assert strict.get(shared.url, headers=headers).json()["name"] == shared.name


def test_behind_a_proxy_the_public_address_counts_whatever_the_host_header_says(shared, strict, signer):
    inside = str(strict.base_url).rstrip("/") + TOKEN
    answer = strict.post(TOKEN, data=CLIENT, auth=shared.admin, headers={"DPoP": signer.prove("POST", inside)})
    assert_error(answer, "invalid_dpop_proof")
    headers = {"DPoP": signer.prove("POST", "https://evil.example" + TOKEN), "Host": "evil.example"}
    assert_error(strict.post(TOKEN, data=CLIENT, auth=shared.admin, headers=headers), "invalid_dpop_proof")


@pytest.mark.parametrize(("back", "is_accepted"), [(0, True), (1, True), (2, False), (-2, False), (50, False)])
async def test_a_nonce_is_accepted_in_its_period_and_the_next(standing_services, signer, server, back, is_accepted):
    checks = ProofChecks(standing_services.database, standing_services.tokens._digests, needs_nonce=True)
    # Of the database's clock: nothing else is asked for the time.
    async with standing_services.database.connect() as connection:
        period = await proofs.find_period(connection, proof_checks.NONCE_SECONDS)
    proof = signer.prove("POST", server + TOKEN, nonce=checks.make_nonce(period - back))
    if is_accepted:
        assert await checks.check(SentProof([proof], "POST", server + TOKEN))
    else:
        with pytest.raises(ProofError, match="nonce"):
            await checks.check(SentProof([proof], "POST", server + TOKEN))
