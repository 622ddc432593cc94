"""What a consent call must bring along, who may make it, and what happens to it when others interfere."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import pytest

from banking import ACCESSES, href, narrow, new_customer, rels
from consenting import (
    CALLBACK,
    CONSENTS,
    PRESENT,
    another_server,
    at_server,
    codes,
    new_login,
    post_consent,
    renew,
    start,
    stored_credentials,
)

READ, MODIFY = "http://service/customer/read", "http://service/customer/modify"


@pytest.fixture(scope="module")
def standing(bank_server, shared):
    """A customer with an open consent that no test of this module changes."""
    return start(new_customer(shared), new_login("test_sca_method_media"))


@pytest.fixture(scope="module")
def strict_http(settings, server, tmp_path_factory):
    """A server that is no demo: addresses must be public, callbacks https."""
    with another_server(settings, tmp_path_factory.mktemp("strict") / "server.log", demo=False) as client:
        yield client


# The call


@pytest.mark.parametrize(
    "address", ["", "x", "8.8.8", "8.8.8.8.8", "256.1.1.1", "8.8.8.8, 1.1.1.1", "08.8.8.8", "::g", "localhost"]
)
def test_customer_ip_address_must_be_an_address(standing, address):
    customer = standing.customer
    answer = post_consent(customer, standing.access_id, headers={"Customer-IP-Address": address})
    assert answer.status_code == 400
    assert "Customer-IP-Address" in answer.json()["message"]


def test_customer_ip_address_is_required(standing, visitor):
    for headers in ({}, {"X-Forwarded-For": "8.8.8.8"}):
        assert post_consent(standing.customer, standing.access_id, headers=headers).status_code == 400
    assert standing.code == "BA3010"


@pytest.mark.parametrize(
    ("address", "is_public"),
    [("8.8.8.8", True), ("2a00:1450:4001:80b::200e", True), ("2A00:1450::1", True), ("::ffff:8.8.8.8", True),
     ("10.0.0.1", False), ("172.16.5.4", False), ("192.168.1.1", False), ("127.0.0.1", False), ("0.0.0.0", False),
     ("169.254.1.1", False), ("100.64.0.1", False), ("224.0.0.1", False), ("239.1.1.1", False), ("240.0.0.1", False),
     ("255.255.255.255", False), ("192.0.2.1", False), ("198.18.0.1", False), ("::", False), ("::1", False),
     ("fe80::1", False), ("fe80::1%eth0", False), ("2a00:1450::1%eth0", False), ("fc00::1", False), ("fec0::1", False),
     ("ff02::1", False), ("2001:db8::1", False), ("::ffff:10.0.0.1", False), ("::ffff:127.0.0.1", False)],
)  # fmt: skip
def test_customer_ip_address_must_be_public(standing, strict_http, address, is_public):
    """The object is not there, so that a good address is told from a bad one without asking the bank."""
    customer = at_server(standing.customer, strict_http)
    answer = post_consent(customer, str(uuid4()), {}, headers={"Customer-IP-Address": address})
    assert answer.status_code == (404 if is_public else 400), answer.text


def test_loopback_callbacks_are_for_the_demo(standing, strict_http):
    customer = at_server(standing.customer, strict_http)
    for url, expected in (("http://localhost:3000/x", 400), ("http://127.0.0.1/x", 400), (CALLBACK, 404)):
        assert post_consent(customer, str(uuid4()), {}, callbackUrl=url).status_code == expected


def test_any_address_and_loopback_callbacks_in_the_demo(customer):
    access_id = str(uuid4())
    body = {access_id: customer.access(new_login("test_phototan"))}
    private = {"Customer-IP-Address": "10.0.0.1"}
    answer = post_consent(customer, access_id, body, headers=private, callbackUrl="http://localhost:3000/x")
    assert answer.status_code == 201


@pytest.mark.parametrize(
    "url",
    ["", "https://evil.example/", "https://example.com@evil.example/", "http://example.com/", "//example.com/", "back",
     "https://example.com\\@evil.example/", "https://EXAMPLE.com.evil.example/", "https://example.com:444/",
     "javascript:alert(1)", "https://example.com/#x", "https://example.com//x", "https://example.com/\n", "x" * 3000],
)  # fmt: skip
def test_callback_url_is_required_and_checked(standing, url):
    answer = post_consent(standing.customer, standing.access_id, callbackUrl=url)
    assert answer.status_code == 400
    assert "callbackUrl" in answer.json()["message"]
    assert standing.code == "BA3010", "the open consent was ended by a bad call"


def test_callback_url_twice_is_400(standing):
    customer = standing.customer
    value = quote(CALLBACK, safe="")
    url = f"{ACCESSES}/{standing.access_id}/consent?callbackUrl={value}&callbackUrl={value}"
    assert customer.http.post(url, headers=customer.headers | PRESENT).status_code == 400


def test_a_regulated_tenant_without_a_list_is_not_restricted(bank_server, unlisted):
    customer = new_customer(unlisted)
    consent = start(customer, new_login("test_phototan"), callbackUrl="https://anywhere.example/x")
    assert consent.code == "BA3030"
    for url in ("http://anywhere.example/x", "https://a@b.example/"):
        assert post_consent(customer, consent.access_id, callbackUrl=url).status_code == 400


@pytest.mark.parametrize(
    "query",
    [{"queryTanSettings": "maybe"}, {"maxTransactions": "some"}, {"maxTransactions": "NONE"}, {"maxTransactions": "1"}],
)
def test_query_values_must_be_known(standing, query):
    answer = post_consent(standing.customer, standing.access_id, **query)
    assert answer.status_code == 400
    assert standing.code == "BA3010"


@pytest.mark.parametrize("text", [b"{", b"[]", b"null", b'"x"', b"\xff", b'{"a": 1}', b"[" * 200])
def test_bodies_must_be_objects_of_accesses(standing, text):
    customer = standing.customer
    answer = customer.http.post(
        f"{ACCESSES}/{standing.access_id}/consent",
        params={"callbackUrl": CALLBACK},
        headers=customer.headers | PRESENT | {"Content-Type": "application/json"},
        content=text,
    )
    assert answer.status_code == 400
    assert standing.code == "BA3010"


def test_the_body_names_only_the_access_of_the_path(customer):
    access_id = str(uuid4())
    access = customer.access(new_login("test_phototan"))
    for body in ({"other": access}, {access_id: access, "other": access}):
        assert post_consent(customer, access_id, body).status_code == 400
    assert customer.get(f"{ACCESSES}/{access_id}").status_code == 404


@pytest.mark.parametrize(
    "change",
    [{"providerId": None}, {"providerId": str(uuid4())}, {"providerId": "x"}, {"credentials": None},
     {"credentials": {}}, {"credentials": {"userid": "AAAA", "pin": "AAAA"}}, {"credentials": {"userid": 1}},
     {"sync": "no"}, {"selectedBankProducts": ["x"]}],
)  # fmt: skip
def test_a_new_access_must_be_complete_and_readable(customer, change):
    access_id = str(uuid4())
    body = {access_id: customer.access(new_login("test_phototan")) | change}
    assert post_consent(customer, access_id, body).status_code == 400
    assert customer.get(f"{ACCESSES}/{access_id}").status_code == 404


def test_incomplete_credentials_are_refused_and_the_stored_ones_are_not_used_instead(customer):
    consent = start(customer, new_login("test_phototan"))
    half = {"credentials": {"userid": customer.credentials("test_phototan")["userid"]}}
    answer = post_consent(customer, consent.access_id, {consent.access_id: half})
    assert answer.status_code == 400
    assert "PIN" in answer.json()["message"]
    [message] = answer.json()["messages"]
    assert (message["code"], message["details"]) == ("BA1012", "Benötigte Felder: PIN")
    assert consent.code == "BA3030"


def test_there_must_be_an_access_to_renew(customer):
    for body in (None, {}, {"nothing": {}}):
        assert post_consent(customer, "nothing", body).status_code == 404
    for access_id in ("issues", "a b", "x" * 65, "consent"):
        assert post_consent(customer, quote(access_id), {}).status_code == 400


def test_all_ways_to_say_nothing_use_the_stored_credentials(customer):
    access_id = customer.add(new_login("test_phototan"))
    for body in (None, {}, {access_id: {}}):
        assert codes(renew(customer, access_id).read()) == ["BA3030"], body
        answer = post_consent(customer, access_id, body)
        assert answer.status_code == 201
    chunked = customer.http.post(
        f"{ACCESSES}/{access_id}/consent",
        params={"callbackUrl": CALLBACK},
        headers=customer.headers | PRESENT | {"Content-Type": "application/json"},
        content=iter([b"{", b"}"]),
    )
    assert chunked.status_code == 201


def test_a_wrong_pin_is_corrected_by_a_new_consent_with_credentials(customer):
    access_id = str(uuid4())
    login = new_login("test_phototan")
    first = post_consent(customer, access_id, {access_id: customer.access(login, "wrong")})
    assert first.status_code == 201
    assert customer.message_codes(access_id) == ["BA1011"]
    consent = start(customer, login, access_id)
    assert consent.code == "BA3030"
    assert customer.message_codes(access_id) == ["BA3000"]


# Who may


def every_call(consent):
    yield "GET", consent.url, None
    yield "POST", consent.url, {"chosenScaMethodId": "901"}
    yield "GET", f"{consent.url}/poll", None
    yield "POST", f"{consent.url}/cancel", None


def test_strangers_find_nothing(standing, bank_server, shared, neighbour):
    """Another user of the same tenant, and one of another tenant: exactly as if it did not exist."""
    for stranger in (new_customer(shared), new_customer(neighbour)):
        for method, url, body in every_call(standing):
            own = stranger.http.request(method, url, json=body, headers=stranger.headers)
            missing = url.replace(str(standing.id), str(uuid4()))
            nothing = stranger.http.request(method, missing, json=body, headers=stranger.headers)
            assert own.status_code == nothing.status_code == 404
            assert own.json() | {"correlationId": ""} == nothing.json() | {"correlationId": ""}
        assert post_consent(stranger, standing.access_id, {}).status_code == 404
    assert standing.code == "BA3010"


@pytest.mark.parametrize("name", ["x", "00000000-0000-0000-0000-00000000000g", "%00", "..%2f..", "1"])
def test_malformed_consent_ids_name_nothing(standing, name):
    assert standing.customer.get(f"{CONSENTS}/{name}").status_code == 404


def test_tokens_and_scopes(standing, shared):
    calls = [*every_call(standing), ("POST", f"{ACCESSES}/{standing.access_id}/consent?callbackUrl={CALLBACK}", {})]
    calls.append(("DELETE", "/customer/v2/regprotect/sessions", None))
    reader = narrow(standing.customer, READ)
    for method, url, body in calls:
        for headers, expected in (
            ({}, 401),
            ({"Authorization": "Bearer nonsense"}, 403),
            (shared.as_admin, 403),
            ({"Authorization": f"Bearer {shared.client_token(shared.app)}"}, 403),
            (reader.headers, 403),
        ):
            answer = shared.http.request(method, url, json=body, headers=headers | PRESENT)
            assert answer.status_code == expected, (method, url, answer.text)
    assert standing.code == "BA3010"
    assert narrow(standing.customer, MODIFY).get(standing.url).status_code == 200


def test_the_scope_is_checked_before_the_object_and_the_object_before_the_body(standing, shared):
    http, url = shared.http, f"{CONSENTS}/{uuid4()}"
    broken = {"Content-Type": "application/json"}
    assert http.post(url, content=b"{", headers=shared.as_admin | broken).status_code == 403
    assert http.post(url, content=b"{", headers=standing.customer.headers | broken).status_code == 404
    assert http.post(standing.url, content=b"{", headers=standing.customer.headers | broken).status_code == 400


@pytest.mark.parametrize(
    ("method", "tail"), [("PUT", ""), ("DELETE", ""), ("POST", "/poll"), ("GET", "/cancel"), ("PUT", "/cancel")]
)
def test_other_methods_are_405(standing, method, tail):
    customer = standing.customer
    assert customer.http.request(method, standing.url + tail, headers=customer.headers).status_code == 405
    assert standing.code == "BA3010"


# Interference


def test_a_new_consent_ends_the_old_one(customer):
    first = start(customer, new_login("test_sca_method"))
    second = renew(customer, first.access_id)
    assert first.code == "BA3040"
    answer = first.post({"chosenScaMethodId": "901"})
    assert (answer.status_code, codes(answer.json())) == (409, ["BA3040"])
    second.choose_method("901")
    second.enter("2")
    second.wait_until_complete()
    assert first.code == "BA3040"


def test_two_answers_at_once(customer):
    """Two right TANs: one is 200 and done, the other 409 with the status. Wrong ones never exceed three."""
    consent = start(customer, new_login("test_phototan"))
    with ThreadPoolExecutor(8) as pool:
        right = list(pool.map(lambda tan: consent.post({"scaAuthenticationData": tan}), ["8534842"] * 4))
        assert sorted(answer.status_code for answer in right) == [200, 409, 409, 409]
        assert all(codes(answer.json()) == ["BA3050"] for answer in right)
        other = start(customer, new_login("test_phototan"))
        wrong = list(pool.map(lambda tan: other.post({"scaAuthenticationData": tan}), "12345678"))
        assert sorted(answer.status_code for answer in wrong) == [200] * 3 + [409] * 5
        assert codes(other.read()) == ["BA1103", "BA3040"]
    consent.wait_until_complete()


def test_an_expired_dialogue(customer, owner):
    consent = start(customer, new_login("test_phototan"))
    owner.execute("update dialogues set expires_at = now() - interval '1 second' where id = %s", [consent.id])
    assert consent.code == "BA3040"
    answer = consent.post({"scaAuthenticationData": "8534842"})
    assert (answer.status_code, codes(answer.json())) == (409, ["BA3040"])
    access = customer.read_access(consent.access_id)
    assert "start_sca" in rels(access)
    again = renew(customer, consent.access_id)
    again.enter("8534842")
    again.wait_until_complete()


def test_deleting_the_access_deletes_its_consent(customer, owner):
    consent = start(customer, new_login("test_phototan"))
    assert customer.delete(f"{ACCESSES}/{consent.access_id}").status_code == 200
    assert customer.get(consent.url).status_code == 404
    assert consent.post({"scaAuthenticationData": "8534842"}).status_code == 404
    assert owner.execute("select count(*) from dialogues where id = %s", [consent.id]).fetchone() == (0,)


def test_a_deactivated_user_in_the_middle(bank_server, shared, owner):
    customer = new_customer(shared)
    consent = start(customer, new_login("test_phototan"))
    deactivate = f"{shared.url}/users/{customer.reference}/deactivate"
    assert shared.http.put(deactivate, headers=shared.as_admin).status_code == 200
    assert consent.post({"scaAuthenticationData": "8534842"}).status_code == 403
    assert customer.get(consent.url).status_code == 403
    row = owner.execute("select state, wrong_tans from dialogues where id = %s", [consent.id]).fetchone()
    assert row == ("TAN", 0)
    assert shared.http.delete(f"{shared.url}/users/{customer.reference}", headers=shared.as_admin).status_code == 200
    assert owner.execute("select count(*) from dialogues where id = %s", [consent.id]).fetchone() == (0,)


def test_other_credentials_for_the_access_end_the_consent(customer):
    consent = start(customer, new_login("test_phototan"))
    assert customer.post(ACCESSES, {consent.access_id: customer.access(new_login("test_chiptan"))}).status_code == 201
    assert consent.code == "BA3040"
    other = renew(customer, consent.access_id)
    assert other.read()["challenge"]["name"] == "chipTAN optisch"


# Accesses whose credentials are not kept


def test_without_sync_credentials_are_kept_only_while_waiting(customer, owner):
    consent = start(customer, new_login("test_sca_method"), facts={"sync": False})
    waiting = customer.read_access(consent.access_id)
    assert waiting["sync"] is False
    assert waiting["timeout"]
    assert stored_credentials(owner, customer, consent.access_id) is not None
    consent.choose_method(900)
    consent.enter("12")
    done = consent.wait_until_complete()
    assert done["timeout"]
    assert stored_credentials(owner, customer, consent.access_id) is None
    assert "initiate_single_transfer" not in rels(done["bankprodukte"][0])
    assert post_consent(customer, consent.access_id).status_code == 400
    again = start(customer, new_login("test_sca_method"), consent.access_id)
    assert stored_credentials(owner, customer, consent.access_id) is not None
    again.cancel()
    assert stored_credentials(owner, customer, consent.access_id) is None


def test_without_sync_adding_waits_with_the_credentials_for_an_hour(customer, owner):
    access_id = customer.add(new_login("test_phototan"), sync=False)
    assert stored_credentials(owner, customer, access_id) is not None
    assert customer.read_access(access_id)["timeout"]
    consent = renew(customer, access_id)
    for _ in range(3):
        consent.enter("1")
    assert stored_credentials(owner, customer, access_id) is None


# Nothing secret leaves


def test_no_tan_login_or_pin_in_the_logs(customer, server_log: Path, worker_log: Path):
    login, tan = new_login("test_phototan"), "71625348"
    consent = start(customer, login)
    consent.enter(tan)
    consent.enter("8534842")
    consent.wait_until_complete()
    logged = server_log.read_text() + worker_log.read_text()
    assert not [secret for secret in (login, tan, "8534842", customer.token) if secret in logged]
    assert href(consent.read(), "self") == consent.url
