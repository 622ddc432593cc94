"""Tenants that may not handle credentials: the API's side of the redirect frontend."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, quote, urlsplit
from uuid import UUID, uuid4

import pytest

from banking import ACCESSES, DEMO_BANK, href, new_customer, rels
from consenting import CALLBACK, PRESENT, post_consent, wait_for_fetch
from kontor.domain.principals import Principal
from kontor.domain.secrets import Secret
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.redirects.sessions import SessionGoneError

SESSIONS = "/customer/v2/regprotect/sessions"


def add(customer, body, headers=None, **query):
    return customer.http.post(ACCESSES, json=body, params=query, headers=customer.headers | (headers or {}))


def read_location(customer, answer) -> dict[str, str]:
    """The parts of a 451's Location; the answer has nothing else."""
    assert answer.status_code == 451, answer.text
    assert answer.content == b""
    assert answer.headers["content-length"] == "0"
    assert "content-type" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    split = urlsplit(answer.headers["location"])
    base = str(customer.http.base_url).rstrip("/")
    assert f"{split.scheme}://{split.netloc}{split.path}" == f"{base}/customer/v2/webform"
    query = parse_qs(split.query, strict_parsing=True)
    assert set(query) == {"session", "useCase"}
    assert len(query["session"][0]) >= 43
    return {name: values[0] for name, values in query.items()}


async def open_form(services, handle: str, appended: str | None = None):
    return await services.redirects.open_session(Secret(handle), appended, None, is_framed=False)


async def outcome_of(services, handle: str, appended: str | None = None) -> str | None:
    session = await services.redirects.find_session(await open_form(services, handle, appended))
    return None if session.outcome is None else str(session.outcome)


@pytest.fixture
async def owned(visitor, services):
    """An access of a redirect tenant's user, stored as the form would."""
    return await give_access(visitor, services)


async def give_access(visitor, services) -> str:
    """Through the tenant's own key: only the API refuses its credentials."""
    access_id = str(uuid4())
    row = None
    async with services.database.connect() as connection:
        cursor = await connection.execute(
            "select u.tenant_id, t.name, u.pseudonym from users u join tenants t on t.id = u.tenant_id where u.id = %s",
            [visitor.reference],
        )
        row = await cursor.fetchone()
    assert row is not None
    principal = Principal(row[0], row[1], False, uuid4(), "app", frozenset(), UUID(visitor.reference), row[2])
    sent = visitor.access("test_products")
    request = AccessRequest(UUID(sent["providerId"]), sent["credentials"], True)
    await services.accesses.add_accesses(principal, {access_id: request}, refresh=False, is_attended=True)
    visitor.wait_until_complete(access_id)
    return access_id


def test_a_new_access_is_451_with_a_session(visitor, owner):
    access_id = str(uuid4())
    found = read_location(visitor, add(visitor, {access_id: {}}, PRESENT, callbackUrl=CALLBACK))
    assert found["useCase"] == "CREATE_ACCOUNT"
    row = owner.execute(
        "select use_case, access_id, callback_url, customer_ip, cookie_hash, expires_at, handle_hash"
        " from redirect_sessions where user_id = %s",
        [visitor.reference],
    ).fetchone()
    assert row is not None
    assert row[:5] == ("CREATE_ACCOUNT", access_id, CALLBACK, "8.8.8.8", None)
    assert timedelta(minutes=13) < row[5] - datetime.now(UTC) <= timedelta(minutes=15)
    assert found["session"].encode() not in bytes(row[6])
    assert visitor.get(f"{ACCESSES}/{access_id}").status_code == 404


def test_sessions_are_all_different(visitor):
    handles = {read_location(visitor, add(visitor, {"same": {}}))["session"] for _ in range(3)}
    assert len(handles) == 3


@pytest.mark.parametrize(
    "access",
    [{"providerId": DEMO_BANK}, {"credentials": {}}, {"credentials": {"userid": "AAAA"}}, {"sync": False},
     {"providerId": DEMO_BANK, "credentials": {"userid": "AAAA", "pin": "AAAA"}}],
)  # fmt: skip
def test_credentials_provider_or_no_sync_are_refused(visitor, owner, access):
    for body in ({"one": access}, {"one": {}, "two": access}):
        answer = add(visitor, body, callbackUrl=CALLBACK)
        assert answer.status_code == 400
        assert "location" not in answer.headers
    assert owner.execute(
        "select count(*) from redirect_sessions where user_id = %s", [visitor.reference]
    ).fetchone() == (0,)


def test_sync_true_is_fine(visitor):
    read_location(visitor, add(visitor, {"one": {"sync": True}}))


def test_several_new_accesses_or_none_are_400(visitor):
    for body in ({"one": {}, "two": {}}, {}, {"a b": {}}, {"issues": {}}, {"x" * 65: {}}):
        assert add(visitor, body).status_code == 400, body


@pytest.mark.parametrize(
    "url", ["https://evil.example/", "https://example.com@evil.example/", "http://example.com/", "x"]
)
def test_a_callback_that_is_not_allowed_is_400_on_every_call(visitor, owned, url):
    assert add(visitor, {"new": {}}, callbackUrl=url).status_code == 400
    assert add(visitor, {owned: {}}, callbackUrl=url, refresh="true").status_code == 400
    assert post_consent(visitor, owned, callbackUrl=url).status_code == 400


def test_a_callback_twice_is_400(visitor):
    twice = f"{ACCESSES}?callbackUrl={quote(CALLBACK, safe='')}&callbackUrl={quote(CALLBACK, safe='')}"
    assert visitor.post(twice, {"new": {}}).status_code == 400


def test_an_existing_access_is_refreshed_without_the_form(visitor, owned, owner):
    assert add(visitor, {owned: {}}).status_code == 201
    answer = add(visitor, {owned: {}}, refresh="true")
    assert (answer.status_code, answer.headers["location"].rpartition("/")[2]) == (201, owned)
    assert wait_for_fetch(owner, visitor, owned) == ["DONE", "DONE"]
    for access in ({"sync": False}, {"providerId": DEMO_BANK}, {"credentials": {}}):
        assert add(visitor, {owned: access}, refresh="true").status_code == 400


def test_start_sca_is_451_for_renewal(visitor, owned, owner):
    owner.execute("update accesses set consent_until = current_date + 3 where id = %s", [owned])
    access = visitor.read_access(owned)
    assert "start_sca" in rels(access)
    url = href(access, "start_sca")
    headers = visitor.headers | PRESENT
    for answer in (
        visitor.http.post(url, headers=headers),
        visitor.http.post(url, headers=headers, params={"callbackUrl": CALLBACK}),
        visitor.http.post(url, headers=headers, json={}),
        visitor.http.post(url, headers=headers, json={owned: {}}),
        visitor.http.post(url, headers=headers, json={owned: {"sync": True}}),
    ):
        assert read_location(visitor, answer)["useCase"] == "AUTHENTICATE_ACCOUNT"
    assert visitor.http.post(url, headers=visitor.headers).status_code == 400
    for body in ({owned: {"providerId": DEMO_BANK}}, {owned: {"credentials": {}}}, {owned: {"sync": False}}):
        assert visitor.http.post(url, headers=headers, json=body).status_code == 400
    assert post_consent(visitor, "nothing").status_code == 404
    assert post_consent(visitor, "nothing", {"nothing": {"providerId": DEMO_BANK}}).status_code == 404


# Sessions


async def test_a_handle_works_once(visitor, services):
    handle = read_location(visitor, add(visitor, {"new": {}}, callbackUrl=CALLBACK))["session"]
    cookie = await open_form(services, handle)
    assert cookie.reveal() != handle
    with pytest.raises(SessionGoneError):
        await open_form(services, handle)
    with pytest.raises(SessionGoneError):
        await services.redirects.find_session(Secret(handle))
    session = await services.redirects.find_session(cookie)
    assert (str(session.principal.user_id), session.access_id) == (visitor.reference, "new")


async def test_unknown_handles_open_nothing(services):
    for handle in ("", "x", "../..", "\x00", "é", "a" * 5000):
        with pytest.raises(SessionGoneError):
            await open_form(services, handle)


async def test_deleting_sessions_invalidates_opened_and_unopened_ones(visitor, services, redirecting):
    opened = await open_form(services, read_location(visitor, add(visitor, {"a": {}}, callbackUrl=CALLBACK))["session"])
    unopened = read_location(visitor, add(visitor, {"b": {}}))["session"]
    other = new_customer(redirecting)
    foreign = read_location(other, add(other, {"c": {}}, callbackUrl=CALLBACK))["session"]
    answer = visitor.delete(SESSIONS)
    assert (answer.status_code, answer.content) == (200, b"")
    with pytest.raises(SessionGoneError):
        await services.redirects.find_session(opened)
    with pytest.raises(SessionGoneError):
        await open_form(services, unopened)
    await open_form(services, foreign)
    assert visitor.delete(SESSIONS).status_code == 200


async def test_the_appended_callback_wins_and_is_checked_again(visitor, services):
    def begin(**query) -> str:
        return read_location(visitor, add(visitor, {"new": {}}, **query))["session"]

    assert await outcome_of(services, begin()) == "NO_CALLBACK_URL"
    assert await outcome_of(services, begin(), "https://evil.example/") == "INVALID_CALLBACK_URL"
    assert await outcome_of(services, begin(callbackUrl=CALLBACK), "https://evil.example/") == "INVALID_CALLBACK_URL"
    for appended in ("https://example.com@evil.example/", "", "https://example.com/#x", "javascript:alert(1)"):
        assert await outcome_of(services, begin(callbackUrl=CALLBACK), appended) == "INVALID_CALLBACK_URL"
    cookie = await open_form(services, begin(callbackUrl=CALLBACK), "https://example.com/other")
    assert (await services.redirects.find_session(cookie)).callback_url == "https://example.com/other"
    cookie = await open_form(services, begin(callbackUrl=CALLBACK))
    assert (await services.redirects.find_session(cookie)).callback_url == CALLBACK


async def test_sessions_of_a_deactivated_user_are_gone(redirecting, bank_server, services):
    visitor = new_customer(redirecting)
    handles = [
        read_location(visitor, add(visitor, {access_id: {}}, callbackUrl=CALLBACK))["session"] for access_id in "ab"
    ]
    cookie = await open_form(services, handles[0])
    url = f"{redirecting.url}/users/{visitor.reference}/deactivate"
    assert redirecting.http.put(url, headers=redirecting.as_admin).status_code == 200
    with pytest.raises(SessionGoneError):
        await services.redirects.find_session(cookie)
    with pytest.raises(SessionGoneError):
        await open_form(services, handles[1])


def test_no_session_id_in_the_database_or_the_logs(visitor, owner, server_log):
    handle = read_location(visitor, add(visitor, {"new": {}}))["session"]
    rows = owner.execute("select s::text from redirect_sessions s").fetchall()
    assert rows
    assert not [row for row in rows if handle in row[0] or handle.encode().hex() in row[0]]
    assert handle not in server_log.read_text()
