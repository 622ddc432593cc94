"""Whatever is sent, the answer is a refusal in our own words, never a 5xx, and the server goes on serving."""

import asyncio
import base64
import gzip
import json
import socket
import time
from contextlib import suppress
from uuid import uuid4

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from for_each import for_each
from kontor.api.answers import HttpError
from kontor.api.app import OPERATIONS
from kontor.api.bodies import convert_query, decode_json, parse_pairs, read_body
from kontor.wire.management import NewUser
from many_examples import count_examples
from plain_http import plain_client

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def post_user(shared):
    def post(content, **more):
        return shared.http.post(f"{shared.url}/users", content=content, headers=shared.as_admin | JSON, **more)

    return post


def talk(server, data, seconds=5):
    """Send bytes as they are and read until the server closes the connection or says nothing more."""
    host, _, port = server.removeprefix("http://").partition(":")
    received = b""
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        try:
            connection.sendall(data)
            while chunk := connection.recv(65536):
                received += chunk
        except (TimeoutError, ConnectionError):
            pass
    return received


def status_of(received):
    assert received.startswith(b"HTTP/1.1 "), received[:100]
    return int(received[9:12])


# JSON bodies


BROKEN_JSON = [
    b"", b" ", b"{", b'{"username": "x"', b'{"username": "x", "password": "y"}}', b"not json", b"'single'", b"\x00",
    b"[]", b"null", b"true", b"17", b'"text"', b"{}", b"\xff\xfe", b"\xef\xbb\xbf{}",
    '{"username": "x"}'.encode("utf-16"),
    b'{"username": "\xff", "password": "y"}', b'{"username": "x", "password": "\xed\xa0\x80"}',
    b'{"username": "\\ud800", "password": "y"}', b'{"username": "x", "password": "\\udfff"}',
    b'{"username": "x", "password": "y", "other": "\\ud800"}', b'{"username": "x", "password": "y", "\\ud800": 1}',
    b'{"username": "a\\u0000b", "password": "y"}', b'{"username": "x", "password": "\\u0000"}',
    b'{"username": "x\x01", "password": "y"}', b'{"username": "x", "password": "y", "other": NaN}',
    b'{"username": "x", "password": "y", "other": Infinity}', b'{"username": "x", "password": "y", "other": -Infinity}',
    b'{"username": "x", "password": "y", "other": 1e400}', b'{"username": "x", "password": "y", "other": [-1e400]}',
    b'{"username": 1e400, "password": "y"}', b'{"username": NaN, "password": "y"}',
    b'{"username": ' + b"9" * 10_000 + b', "password": "y"}',
    b'{"username": "x", "username": "x", "password": "y"}', b'{"username": "x", "password": "y", "password": "z"}',
    b'{"username": "x", "password": "y", "o": {"a": 1, "a": 2}}',
    b'{"username": "x", "password": "y", "o": [{"a": 1, "a": 1}]}',
    b'{"username": "x", "user\\u006eame": "y", "password": "z"}',
    b"[" * 50_000, b"[" * 50_000 + b"]" * 50_000, b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b'{"username": "x", "password": "y", "deep": ' + b"[" * 40 + b"]" * 40 + b"}",
    b'{"username": "x", "password": "y",}', b'{"username": "x" "password": "y"}', b'// c\n{"username": "x"}',
    b'{"username": 1', b'{"username": 1, "password"', b'{"username": 1, "password": "y",}', b'{"username": 1} {}',
    b'{"username": 1, "password": "\xff"}', b'{"username": 1, "other": nul}',
    b'{"username": "x", "password": "y", "other": 01}', b'{"username": "x", "password": "y", "other": "\\x41"}',
]  # fmt: skip


@pytest.mark.parametrize("content", BROKEN_JSON, ids=range(len(BROKEN_JSON)))
def test_broken_json_is_400(post_user, content):
    answer = post_user(content)
    assert answer.status_code == 400, answer.text
    assert answer.json()["code"] == "400"


def test_duplicate_key_is_named(post_user):
    answer = post_user(b'{"username": "x", "password": "y", "other": {"twice": 1, "twice": 2}}')
    assert answer.json()["message"] == "twice: the key occurs twice in one object"


@pytest.mark.parametrize(
    "other", [b"9" * 10_000, b"1e308", b"-0.0", b'"\\ud83d\\ude00"', b"[" * 31 + b"]" * 31, b'"[[[[{{{{"']
)
def test_unknown_field_may_hold_any_valid_json(post_user, other):
    content = b'{"username": "%s", "password": "y", "other": %s}' % (uuid4().hex.encode(), other)
    assert post_user(content).status_code == 201


EXPENSIVE = {
    "unfinished string of quotes": b'"' + b'\\"' * 500_000,
    "unfinished string that ends in a backslash": b'{"a":"' + b'\\"' * 500_000 + b"\\",
    "one repeated key among many": ("{" + ",".join(f'"{n:x}":1' for n in range(90_000)) + ',"15f8f":1}').encode(),
    "many brackets": b"[" + b"[],[{}]," * 120_000 + b"]",
    "many quotes": b'""' * 500_000,
    "long number": b'{"username": 0.' + b"1" * 1_000_000 + b"}",
    "long whole number": b'{"username": "a", "password": "b", "c": ' + b"1" * 1_000_000 + b'", "c": 1}',
}


@pytest.mark.parametrize("content", EXPENSIVE.values(), ids=EXPENSIVE)
def test_no_body_within_the_limit_takes_long_to_refuse(content):
    assert len(content) <= 2**20
    started = time.process_time()
    with pytest.raises(HttpError) as refused:
        decode_json(content, NewUser)
    assert refused.value.status == 400
    assert time.process_time() - started < 3  # what is quadratic takes minutes


# Property: any username either works for good, or is refused


@settings(
    max_examples=count_examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
)
@given(
    name=st.text(max_size=300) | st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zs")), max_size=20),
    password=st.text(max_size=30) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
)
def test_any_username_is_refused_or_readable_and_able_to_log_in(post_user, shared, name, password):
    body = json.dumps({"username": name, "password": password}).encode()
    answer = post_user(body)
    if answer.status_code in (400, 409):
        assert answer.json()["code"] == str(answer.status_code)
        return
    assert answer.status_code == 201
    assert shared.http.get(answer.headers["location"], headers=shared.as_admin).json()["username"] == name
    form = {"grant_type": "password", "username": name, "password": password}
    token = shared.http.post("/auth/oauth2/token", data=form, auth=shared.app)
    assert token.status_code == 200
    assert token.json()["additionalData"]["username"] == name


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)
user_like = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("username", "password", "firstname", "lastname", "other"), json_values)
)


@settings(max_examples=count_examples(60), deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(body=user_like | json_values)
def test_any_json_is_created_or_refused(post_user, body):
    assert post_user(json.dumps(body).encode()).status_code in (201, 400, 409)


@settings(max_examples=count_examples(60), deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(body=st.binary(max_size=200))
def test_any_bytes_are_refused(post_user, body):
    assert post_user(body).status_code == 400


@settings(max_examples=count_examples(40), deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(content=st.binary(max_size=100), login=st.binary(min_size=1, max_size=60))
def test_any_form_and_login_are_refused(http, content, login):
    headers = FORM | {"Authorization": "Basic " + base64.b64encode(login).decode()}
    assert http.post("/auth/oauth2/token", content=content, headers=headers).status_code in (400, 401)


# Paths and queries


ODD_SEGMENTS = ["%00", "a%00b", "%FF", "%ED%A0%80", "%0A", "%2e%2e", "..%2f..", "a%2Fb", "%25", "ü", "%F0%9F%98%80",
                "a:b", "x" * 5000, "';--", "%5C", "null", "-1", "%20"]  # fmt: skip


@pytest.mark.parametrize("segment", ODD_SEGMENTS)
def test_odd_names_in_paths_are_404(shared, segment):
    base = "/auth/mgmt/v1/tenants"
    for path in [
        f"{base}/{segment}",
        f"{base}/{segment}/users",
        f"{base}/{segment}/certificate",
        f"{shared.url}/clients/{segment}",
        f"{shared.url}/clients/{segment}/roles",
        f"{shared.url}/clients/app/roles/{segment}",
        f"{shared.url}/clients/app/roles/{segment}/users",
        f"{shared.url}/clients/app/roles/customer/users/{segment}",
        f"{shared.url}/users/{segment}",
    ]:
        answer = shared.http.get(path, headers=shared.as_admin)
        assert answer.status_code == 404, (path, answer.text)
    for method, action in [("PUT", "/deactivate"), ("POST", "/reactivate"), ("PUT", ""), ("DELETE", "")]:
        answer = shared.http.request(method, f"{shared.url}/users/{segment}{action}", headers=shared.as_admin)
        assert answer.status_code in (404, 405)


@pytest.mark.parametrize(
    "query", ["a=1&a=2", "a&a", "a=1&%61=2", "x=%FF", "x=%ED%A0%80", "&".join(f"p{n}=1" for n in range(101))]
)
def test_repeated_or_undecodable_query_parameters_are_400_everywhere(shared, query):
    for path in ("/auth/mgmt/v1/tenants", f"{shared.url}/users", f"{shared.url}/clients/app"):
        assert shared.http.get(f"{path}?{query}", headers=shared.as_admin).status_code == 400
    certificate = shared.http.get(f"{shared.url}/certificate?{query}")
    assert certificate.status_code == 400


@pytest.mark.parametrize("form", ["a=1&a=2", "a&a", "x=%FF", "x=%C3%28"])
def test_repeated_or_undecodable_parameters_are_refused_by_the_reader_itself(form):
    with pytest.raises(HttpError) as refused:
        parse_pairs(form, "form")
    assert refused.value.status == 400


@pytest.mark.parametrize("value", ["null", "NULL", "ten"])
def test_a_number_in_a_query_is_a_number(shared, value):
    user = {"Authorization": f"Bearer {shared.user_token()}"}
    answer = shared.http.get(f"/customer/v2/payments?limit={value}", headers=user)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("limit: ")
    assert "| null" not in answer.json()["message"]


@for_each("operation", OPERATIONS, lambda operation: operation.id)
def test_no_query_parameter_is_left_out_by_sending_null(operation):
    for field in () if operation.query is None else msgspec.structs.fields(operation.query):
        with suppress(HttpError):
            assert getattr(convert_query({field.encode_name: "null"}, operation.query), field.name) == "null"


# Size and speed


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize("path", ["users", "encrypt"])
def test_two_mebibytes_are_413_with_and_without_a_declared_length(shared, is_chunked, path):
    content = (b"x" * 65536 for _ in range(32)) if is_chunked else b"x" * 2**21
    with plain_client(base_url=shared.http.base_url) as http:
        if path == "users":
            answer = http.post(f"{shared.url}/users", content=content, headers=shared.as_admin | JSON)
        else:
            headers = shared.as_admin | {"Content-Type": "application/octet-stream+base64"}
            answer = http.put("/encrypt", content=content, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "413")
        assert http.get("/health/live").status_code == 200


async def feed(*events):
    waiting = list(events)

    async def receive():
        if not waiting:
            await asyncio.sleep(60)
        return waiting.pop(0)

    return receive


def part(body, *, more):
    return {"type": "http.request", "body": body, "more_body": more}


async def read(events, length=None, limit=10):
    return await read_body(await feed(*events), length, limit)


async def test_body_is_read_in_parts():
    assert await read([part(b"12345", more=True), part(b"67890", more=False)]) == b"1234567890"
    assert await read([{"type": "http.request"}]) == b""


@pytest.mark.parametrize("length", ["11", "0011", "9" * 5000])
async def test_declared_length_beyond_the_limit_is_refused_before_reading(length):
    with pytest.raises(HttpError) as refused:
        await read([], length)
    assert refused.value.status == 413


@pytest.mark.parametrize("length", ["10", "", "x", "-1", "²", "٣" * 20, "1.5", None])
async def test_odd_declared_length_does_not_matter_since_the_bytes_are_counted(length):
    assert await read([part(b"x" * 10, more=False)], length) == b"x" * 10
    with pytest.raises(HttpError) as refused:
        await read([part(b"x" * 10, more=True), part(b"x", more=False)], length)
    assert refused.value.status == 413


async def test_caller_that_goes_away_is_told_apart():
    with pytest.raises(HttpError) as refused:
        await read([part(b"x", more=True), {"type": "http.disconnect"}])
    assert refused.value.status == 400


# HTTP itself


def test_header_of_a_megabyte_is_431(server):
    received = talk(server, b"GET /health/live HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 1_000_000 + b"\r\n\r\n")
    assert status_of(received) == 431


def test_ten_thousand_headers_are_431(server):
    received = talk(server, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Many: 1\r\n" * 10_000 + b"\r\n")
    assert status_of(received) == 431


GARBAGE = [
    b"\x00\x01\x02\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /health/live HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n",
    b"GET /health/live HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
    b"GET /health/live?\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /auth/oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /auth/oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /auth/oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"POST /auth/oauth2/token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: nonsense\r\n\r\n",
]


@pytest.mark.parametrize("data", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_refused_and_the_server_lives_on(server, http, data):
    received = talk(server, data, seconds=0.5)
    assert received == b"" or 400 <= status_of(received) < 500
    assert http.get("/health/live").status_code == 200


def test_garbage_after_a_good_request_is_answered_after_it(server):
    received = talk(server, b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\x00\r\n\r\n")
    assert status_of(received) == 200
    assert received.count(b"HTTP/1.1 ") == 2
    assert b"HTTP/1.1 400" in received


def test_pipelined_requests_are_answered_in_order(server):
    request = b"GET /health/live HTTP/1.1\r\nHost: x\r\nX-Correlation-ID: %d\r\n\r\n"
    last = request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    received = talk(server, request % 1 + request % 2 + last % 3)
    positions = [received.index(b"x-correlation-id: %d" % number) for number in (1, 2, 3)]
    assert positions == sorted(positions)


def test_length_and_chunks_together_smuggle_nothing(server):
    smuggled = b"GET /health/live HTTP/1.1\r\nHost: x\r\nX-Correlation-ID: smuggled\r\n\r\n"
    received = talk(
        server,
        b"POST /auth/oauth2/token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\n" + smuggled,
        seconds=1,
    )
    assert b"HTTP/1.1 5" not in received
    assert received.count(b"HTTP/1.1 200") <= 1


def test_compressed_body_is_not_unpacked(post_user, shared):
    content = gzip.compress(b'{"username": "zipped", "password": "x"}')
    headers = shared.as_admin | JSON | {"Content-Encoding": "gzip"}
    assert shared.http.post(f"{shared.url}/users", content=content, headers=headers).status_code == 400
