"""Errors: their shape, their correlation id, and that they give nothing away; and what the log says about them."""

import asyncio
import json
from datetime import date, datetime, timedelta
from uuid import UUID, uuid4

import psycopg
import pytest
import structlog
from psycopg_pool import PoolTimeout

from kontor.api.answers import Answer, HttpError, empty_answer, json_answer
from kontor.domain.clocks import BERLIN
from kontor.wire.errors import Message

PROBLEM = "application/problem+json"


def find_errors(shared):
    """Requests for every kind of refusal that the server gives: (expected status, method, path, arguments)."""
    users, admin = f"{shared.url}/users", shared.as_admin
    as_json = admin | {"Content-Type": "application/json"}
    return [
        (400, "POST", users, {"content": b"{", "headers": as_json}),
        (401, "GET", users, {}),
        (403, "GET", users, {"headers": {"Authorization": "Bearer x"}}),
        (404, "GET", f"{users}/{uuid4()}", {"headers": admin}),
        (404, "GET", "/no/such/path", {}),
        (405, "PATCH", users, {"headers": admin}),
        (405, "DELETE", f"{users}/{shared.user_reference}", {"headers": admin}),
        (409, "POST", users, {"json": {"username": "anna", "password": "x"}, "headers": admin}),
        (413, "POST", users, {"content": b"x" * (2**20 + 1), "headers": as_json}),
        (415, "POST", users, {"content": b"{}", "headers": admin | {"Content-Type": "text/plain"}}),
    ]


def test_every_error_has_the_same_body(shared):
    for status, method, path, arguments in find_errors(shared):
        answer = shared.http.request(method, path, **arguments)
        assert answer.status_code == status, (status, answer.text)
        assert answer.headers["content-type"] == "application/json"
        body = answer.json()
        assert set(body) == {"code", "message", "messages", "correlationId"}
        assert (body["code"], body["messages"]) == (str(status), [])
        assert body["message"].isascii()
        assert body["message"]
        assert body["correlationId"] == answer.headers["x-correlation-id"]


def test_every_error_comes_as_a_problem_when_asked_for(shared):
    for status, method, path, arguments in find_errors(shared):
        headers = arguments.get("headers", {}) | {"Accept": PROBLEM}
        answer = shared.http.request(method, path, **(arguments | {"headers": headers}))
        assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)
        body = answer.json()
        assert set(body) == {"type", "title", "status", "detail", "messages", "correlationId"}
        assert (body["type"], body["status"], body["messages"]) == ("about:blank", status, [])
        assert body["title"]
        assert body["detail"]
        assert body["correlationId"] == answer.headers["x-correlation-id"]


def test_every_answer_has_the_security_headers(shared):
    answers = [shared.http.request(method, path, **more) for _, method, path, more in find_errors(shared)]
    answers.append(shared.http.get(shared.url, headers=shared.as_admin))
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


# Correlation id


@pytest.mark.parametrize("value", ["a", "x" * 128, "with blanks and ~!", "{json: 'no'}", "a/b;c=d,e", "<script>"])
def test_printable_correlation_id_is_echoed(shared, value):
    answer = shared.http.get("/no/such/path", headers={"X-Correlation-ID": value})
    assert answer.headers["x-correlation-id"] == value
    assert answer.json()["correlationId"] == value
    assert shared.http.get("/health/live", headers={"x-correlation-id": value}).headers["x-correlation-id"] == value


@pytest.mark.parametrize("value", [b"", b"x" * 129, "ümlaut".encode(), "ü".encode("latin-1"), b"tab\there", b"\xff"])
def test_unfitting_correlation_id_is_replaced_by_a_uuid(shared, value):
    answer = shared.http.get("/no/such/path", headers=[(b"X-Correlation-ID", value)])
    UUID(answer.headers["x-correlation-id"])
    assert answer.json()["correlationId"] == answer.headers["x-correlation-id"]


def test_missing_correlation_id_is_generated_anew_each_time(shared):
    made = {shared.http.get("/health/live").headers["x-correlation-id"] for _ in range(3)}
    assert len({UUID(correlation_id) for correlation_id in made}) == 3


def test_answer_has_one_correlation_id_even_when_two_were_sent(shared):
    headers = [("X-Correlation-ID", "first"), ("X-Correlation-ID", "second")]
    answer = shared.http.get("/health/live", headers=headers)
    assert answer.headers.get_list("x-correlation-id") == ["first"]


# Paths, methods, types


@pytest.mark.parametrize("folder", ["/docs", "/console/assets", "/customer/v2/webform/assets"])
def test_folders_are_not_listed_and_nothing_outside_of_them_is_served(shared, folder):
    """Dots are encoded: clients remove plain ones themselves."""
    pages = () if folder == "/docs" else ("/",)  # the page of the documentation is there with and without a slash
    for rest in (*pages, "/%2e%2e/", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fapp.py", "/%2e%2e%2f%2e%2e%2fapp.py"):
        answer = shared.http.get(folder + rest)
        assert answer.status_code == 404, rest
        assert not any(name in answer.text for name in (".js", ".css", ".py", "root:"))


@pytest.mark.parametrize(
    "path", ["/", "/auth", "/auth/mgmt/v1", "/auth/mgmt/v2/tenants", "/encrypt/x", "/ü", "/%00", "/..%2f.."]
)
def test_unknown_path_is_404(shared, path):
    answer = shared.http.get(path, headers=shared.as_admin)
    assert (answer.status_code, answer.json()["message"]) == (404, "There is no such path.")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/auth/mgmt/v1/tenants", "GET"),
        ("DELETE", "/auth/mgmt/v1/tenants/{tenant}", "GET"),
        ("PUT", "/auth/mgmt/v1/tenants/{tenant}/users", "GET, POST"),
        ("PATCH", "/auth/mgmt/v1/tenants/{tenant}/users/{user}", "DELETE, GET, PUT"),
        ("GET", "/encrypt", "PUT"),
        ("BREW", "/encrypt", "PUT"),
        ("TRACE", "/encrypt", "PUT"),
    ],
)
def test_unknown_method_is_405_with_the_known_ones(shared, method, path, allowed):
    path = path.format(tenant=shared.name, user=shared.user_reference)
    answer = shared.http.request(method, path, headers=shared.as_admin)
    assert answer.status_code == 405
    assert ", ".join(sorted(set(answer.headers["allow"].split(", ")) - {"OPTIONS"})) == allowed


def test_options_names_every_method_of_the_path(shared):
    for path, allowed in [
        ("/users", "GET, HEAD, OPTIONS, POST"),
        (f"/users/{uuid4()}", "DELETE, GET, HEAD, OPTIONS, PUT"),
    ]:
        answer = shared.http.options(shared.url + path)
        assert (answer.status_code, answer.headers["allow"], answer.content) == (204, allowed, b"")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "application/json;q=0", "image/*, text/*;q=0.5"])
def test_accept_that_excludes_json_is_406(shared, accept):
    answer = shared.http.get(shared.url, headers=shared.as_admin | {"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (406, "application/json")
    token = shared.http.post("/auth/oauth2/token", data={}, auth=shared.admin, headers={"Accept": accept})
    assert token.status_code == 406


@pytest.mark.parametrize(
    "accept",
    ["*/*", "application/*", "application/json", "application/JSON; charset=utf-8", "text/html, */*;q=0.1", PROBLEM, "",
     "application/json;q=0.5"],
)  # fmt: skip
def test_accept_that_includes_json_gets_json(shared, accept):
    answer = shared.http.get(shared.url, headers=shared.as_admin | {"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/xml", "application/jsonx", "multipart/form-data", "*/*", None]
)
def test_wrong_content_type_is_415(shared, media_type):
    headers = shared.as_admin | ({"Content-Type": media_type} if media_type else {})
    answer = shared.http.post(f"{shared.url}/users", content=b"{}", headers=headers)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["message"]


def test_content_type_may_have_parameters_and_any_case(shared):
    headers = shared.as_admin | {"Content-Type": "Application/JSON ; charset=utf-8"}
    body = json.dumps({"username": uuid4().hex, "password": "x"})
    assert shared.http.post(f"{shared.url}/users", content=body, headers=headers).status_code == 201


def test_body_of_exactly_the_limit_is_read(shared):
    body = b'{"username": "'
    content = body + b"x" * (2**20 - len(body))
    headers = shared.as_admin | {"Content-Type": "application/json"}
    assert shared.http.post(f"{shared.url}/users", content=content, headers=headers).status_code == 400
    answer = shared.http.post(f"{shared.url}/users", content=content + b"x", headers=headers)
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")


# Retirement, time limit, faults: with small applications


async def answer_nothing(call):
    return empty_answer()


TODAY = datetime.now(BERLIN).date()


@pytest.mark.parametrize("day", [TODAY, TODAY - timedelta(days=1), date(2020, 1, 1)])
async def test_retired_operation_is_410_for_everybody(start_app, small_operation, day):
    async with start_app(small_operation(answer_nothing, retired_on=day)) as http:
        answer = await http.get("/small")
        assert (answer.status_code, answer.json()["code"]) == (410, "410")
        assert str(day) in answer.json()["message"]
        document = (await http.get("/openapi.json")).json()["paths"]["/small"]["get"]
        assert document["deprecated"] is True
        assert "410" in document["responses"]


async def test_operation_to_be_retired_announces_its_day(start_app, small_operation):
    async with start_app(small_operation(answer_nothing, retired_on=date(2099, 12, 31))) as http:
        answer = await http.get("/small")
        assert (answer.status_code, answer.headers["sunset"]) == (200, "Thu, 31 Dec 2099 00:00:00 GMT")


async def test_request_over_the_time_limit_is_504(start_app, small_operation):
    async def dawdle(call):
        await asyncio.sleep(30)
        return empty_answer()

    async with start_app(small_operation(dawdle), request_seconds=1) as http:
        answer = await http.get("/small")
        assert (answer.status_code, answer.json()["code"]) == (504, "504")
        assert answer.json()["correlationId"] == answer.headers["x-correlation-id"]
        problem = await http.get("/small", headers={"Accept": PROBLEM})
        assert (problem.status_code, problem.headers["content-type"]) == (504, PROBLEM)


async def test_a_long_download_ends_whole_while_its_pieces_come_in_time(start_app, small_operation):
    async def write():
        for _ in range(6):
            await asyncio.sleep(0.6)
            yield b"piece "

    async def answer(call):
        return Answer(200, media_type="text/plain", pieces=write())

    # All pieces together take longer than the limit. Each has time to spare, also on a busy machine.
    async with start_app(small_operation(answer), request_seconds=3) as http:
        assert (await http.get("/small")).text == "piece " * 6


async def test_a_download_that_stands_still_is_cut_off(start_app, small_operation):
    async def write():
        yield b"piece "
        await asyncio.sleep(30)
        yield b"and the rest"

    async def answer(call):
        return Answer(200, media_type="text/plain", pieces=write())

    async with start_app(small_operation(answer), request_seconds=1) as http:
        async with asyncio.timeout(20):
            assert "rest" not in (await http.get("/small")).text


class SecretiveError(Exception):
    pass


@pytest.mark.parametrize(
    "error", [SecretiveError("the secret detail"), KeyError("the secret detail"), TimeoutError("the secret detail")]
)
async def test_defect_is_500_and_shows_no_internals(start_app, small_operation, error):
    async def fail(call):
        raise error

    async with start_app(small_operation(fail)) as http:
        for accept in ("application/json", PROBLEM):
            answer = await http.get("/small", headers={"Accept": accept})
            assert (answer.status_code, answer.headers["content-type"]) == (500, accept)
            for word in ("secret", "Secretive", "KeyError", "Timeout", "Traceback", "kontor."):
                assert word not in answer.text


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("host=secret"),
        PoolTimeout("host=secret"),
        psycopg.errors.IdleInTransactionSessionTimeout("host=secret"),
        psycopg.errors.InternalError("failure on connection marked as essential: secret:5432"),
        psycopg.errors.InternalError("server closed the connection unexpectedly\nCONTEXT: secret:5432"),
    ],
)
async def test_lost_database_is_503_with_a_time_to_wait(start_app, small_operation, error):
    async def fail(call):
        raise error

    async with start_app(small_operation(fail)) as http:
        answer = await http.get("/small")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("error", "event"),
    [(SecretiveError("a defect"), "defect"), (PoolTimeout("no connection"), "database.unavailable")],
    ids=["defect", "database"],
)
async def test_defects_and_a_lost_database_are_logged(start_app, small_operation, error, event):
    async def fail(call):
        raise error

    async with start_app(small_operation(fail)) as http:
        with structlog.testing.capture_logs() as logged:
            await http.get("/small")
    assert event in [line["event"] for line in logged]


async def test_messages_for_the_end_customer_are_carried_without_nulls(start_app, small_operation):
    async def refuse(call):
        raise HttpError(400, "Wrong PIN.", messages=[Message("ERROR", "BA1011", "Die Zugangsdaten sind falsch.")])

    shown = [{"level": "ERROR", "code": "BA1011", "message": "Die Zugangsdaten sind falsch."}]
    async with start_app(small_operation(refuse)) as http:
        assert (await http.get("/small")).json()["messages"] == shown
        assert (await http.get("/small", headers={"Accept": PROBLEM})).json()["messages"] == shown


async def test_operation_below_a_retired_one_still_answers(start_app, small_operation):
    async def hello(call):
        return json_answer({"hello": "world"})

    retired = small_operation(answer_nothing, retired_on=date(2020, 1, 1))
    async with start_app(retired, small_operation(hello, "/small/next", id="next")) as http:
        assert (await http.get("/small")).status_code == 410
        assert (await http.get("/small/next")).json() == {"hello": "world"}
