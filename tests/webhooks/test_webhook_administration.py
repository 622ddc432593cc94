"""Administration over the API: registering, changing, rotating, deleting; who may, and what is refused."""

import asyncio
import json
from uuid import uuid4

import pytest

from kontor.domain.scopes import MANAGEMENT_SCOPES, WEBHOOKS_MANAGE
from kontor.domain.webhooks import EventType
from receivers import Receiver

ALL = [str(event_type) for event_type in EventType]
PUBLIC = "https://93.184.215.14/hook"


async def test_a_webhook_is_registered_and_shows_its_secret_once(office, receiver):
    answer = await office.call("POST", body={"url": receiver.url, "description": "die Zentrale"})
    made = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"].endswith(f"{office.url}/{made['id']}")
    assert answer.headers["cache-control"] == "no-store"
    assert made["secret"].startswith("whsec_")
    shown = await office.read(f"/{made['id']}")
    assert shown == {key: value for key, value in made.items() if key != "secret"}
    assert shown == {
        "id": made["id"],
        "url": receiver.url,
        "events": ALL,
        "active": True,
        "lastSerial": 0,
        "createdAt": made["createdAt"],
        "description": "die Zentrale",
    }
    assert await office.read("") == [shown]
    assert office.audited()[-1] == "webhook.create"


async def test_the_secret_lies_sealed_in_the_database_and_moves_nowhere(office, receiver):
    first, second = await office.register(receiver), await office.register(receiver)
    raw = office.owner.execute("select webhooks::text, encode(secrets, 'escape') from webhooks").fetchall()
    assert first["secret"].removeprefix("whsec_")[:20] not in str(raw)
    office.owner.execute(
        "update webhooks set secrets = (select secrets from webhooks where id = %s) where id = %s",
        [first["id"], second["id"]],
    )
    answer = await office.call("PUT", f"/{second['id']}", {"rotateSecret": True})
    assert answer.status_code == 500
    assert "whsec_" not in answer.text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": 1}, "url"),
        ({"url": ""}, "url"),
        ({"url": "x" * 2001}, "url"),
        ({"url": "http://93.184.215.14/"}, "url"),
        ({"url": "https://93.184.215.14:22/"}, "url"),
        ({"url": "https://10.0.0.1/"}, "url"),
        ({"url": "https://user:pw@93.184.215.14/"}, "url"),
        ({"url": "https://no-such-name.invalid/"}, "url"),
        ({"url": PUBLIC, "events": []}, "events"),
        ({"url": PUBLIC, "events": ["transactions.old"]}, "events[0]"),
        ({"url": PUBLIC, "events": ["transactions.new", 3]}, "events[1]"),
        ({"url": PUBLIC, "description": "x" * 256}, "description"),
        ({"url": PUBLIC, "description": "a\nb"}, "description"),
        ({"url": PUBLIC, "description": 5}, "description"),
    ],
)
async def test_what_is_wrong_is_400_with_the_path_of_the_field(office, body, field):
    answer = await office.call("POST", body=body)
    assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, field)
    assert await office.read("") == []


async def test_the_same_holds_for_changes_and_nothing_is_half_done(office, receiver):
    made = await office.register(receiver)
    before = await office.read(f"/{made['id']}")
    for body in ({"url": "http://10.0.0.1/"}, {"events": []}, {"description": "x" * 256}, {"active": "yes"}):
        answer = await office.call("PUT", f"/{made['id']}", {"rotateSecret": True, "description": "new"} | body)
        assert (answer.status_code, answer.json()["message"].partition(":")[0]) == (400, next(iter(body)))
    assert await office.read(f"/{made['id']}") == before


async def test_a_change_leaves_alone_what_is_not_named(office, receiver):
    made = await office.register(receiver, description="alt", events=["payment.status"])
    url = f"/{made['id']}"
    with Receiver() as other:
        changes = [
            ({"description": "neu"}, {"description": "neu"}),
            ({"url": other.url}, {"url": other.url}),
            ({"events": ["access.error", "transactions.new", "access.error"]},
             {"events": ["transactions.new", "access.error"]}),
            ({"active": False}, {"active": False}),
            ({}, {}),
            ({"active": True}, {"active": True}),
        ]  # fmt: skip
        expected = await office.read(url)
        for body, difference in changes:
            answer = await office.call("PUT", url, body)
            assert answer.status_code == 200, answer.text
            expected |= difference
            assert answer.json() == expected == await office.read(url)
    assert "description" not in (await office.call("PUT", url, {"description": ""})).json()
    assert set(office.audited()[-3:]) == {"webhook.change"}


async def test_a_tenant_has_at_most_twenty_also_when_they_are_registered_at_once(office, receiver):
    answers = await asyncio.gather(*[office.call("POST", body={"url": receiver.url}) for _ in range(23)])
    assert sorted(answer.status_code for answer in answers) == [201] * 20 + [409] * 3
    assert len(await office.read("")) == 20


async def test_deleting_takes_deliveries_and_jobs_along(office, receiver, user):
    made, kept = await office.register(receiver), await office.register(receiver)
    for _ in range(3):
        await office.tell(user)
    assert len(office.jobs()) == 6
    answer = await office.call("DELETE", f"/{made['id']}")
    assert (answer.status_code, answer.content) == (200, b"")
    rows = office.owner.execute("select webhook_id::text from webhook_deliveries").fetchall()
    assert {row[0] for row in rows} == {kept["id"]}
    assert sorted(office.jobs()) == sorted(office.open_ids())
    assert (await office.call("GET", f"/{made['id']}")).status_code == 404
    assert office.audited()[-1] == "webhook.delete"


# Who may


PATHS = [
    ("GET", ""),
    ("POST", ""),
    ("GET", "/{id}"),
    ("PUT", "/{id}"),
    ("DELETE", "/{id}"),
    ("GET", "/{id}/deliveries"),
    ("GET", "/{id}/events"),
    ("POST", "/{id}/deliveries/1/replay"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_only_the_tenants_own_admin_with_the_scope_gets_in(office, neighbouring_office, receiver, method, path):
    made = await office.register(receiver)
    url = f"{office.url}{path.format(id=made['id'])}"
    others = " ".join(scope for scope in MANAGEMENT_SCOPES if scope != WEBHOOKS_MANAGE)

    async def status(token=None):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        body = {"json": {}} if method in ("POST", "PUT") else {}
        return (await office.http.request(method, url, headers=headers, **body)).status_code

    assert await status() == 401
    assert await status("kontor_at_nonsense") == 403
    assert await status(await office.log_in(others)) == 403
    assert await status(await neighbouring_office.log_in()) == 404
    assert await office.read(f"/{made['id']}") == {key: value for key, value in made.items() if key != "secret"}


@pytest.mark.parametrize(("method", "path"), [route for route in PATHS if "{id}" in route[1]])
async def test_a_neighbours_webhook_is_unknown_also_under_ones_own_path(
    office, neighbouring_office, receiver, user, method, path
):
    """Foreign and unknown are told apart nowhere: same status, same words."""
    made = await office.register(receiver)
    await office.tell(user)
    body = {} if method in ("POST", "PUT") else None
    answers = [
        await neighbouring_office.call(method, path.format(id=webhook_id), body)
        for webhook_id in (made["id"], uuid4(), "no-id")
    ]
    texts = [json.loads(answer.content) | {"correlationId": ""} for answer in answers]
    assert [answer.status_code for answer in answers] == [404] * 3
    assert texts[0] == texts[1] == texts[2]


async def test_admin_clients_of_the_command_line_and_the_demo_get_the_scope(office):
    assert WEBHOOKS_MANAGE in MANAGEMENT_SCOPES
    assert await office.log_in(WEBHOOKS_MANAGE)


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "state=LOST", "beforeSerial=0", "beforeSerial=x"])
async def test_queries_of_deliveries_are_checked(office, receiver, query):
    made = await office.register(receiver)
    assert (await office.call("GET", f"/{made['id']}/deliveries?{query}")).status_code == 400


@pytest.mark.parametrize("query", ["afterSerial=-1", "afterSerial=9223372036854775808", "limit=0", "afterSerial=x"])
async def test_queries_of_events_are_checked(office, receiver, query):
    made = await office.register(receiver)
    assert (await office.call("GET", f"/{made['id']}/events?{query}")).status_code == 400


@pytest.mark.parametrize("serial", ["0", "2", "-1", "x", "9" * 19, "9" * 400, "1.0"])
async def test_a_serial_that_is_none_cannot_be_replayed(office, receiver, user, serial):
    made = await office.register(receiver)
    await office.tell(user)
    assert (await office.call("POST", f"/{made['id']}/deliveries/{serial}/replay")).status_code == 404
