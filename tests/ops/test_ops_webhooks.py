"""Webhooks and their deliveries as operators see them, and an event that an operator has delivered again."""

from uuid import uuid4

import pytest
from operating import ago

from kontor.domain.scopes import WEBHOOKS_MANAGE


@pytest.fixture
def add_webhook(operator):
    """A webhook with some deliveries, the last of them discarded."""

    def add(tenant, deliveries=3):
        webhook_id = uuid4()
        operator.owner.execute(
            "insert into webhooks (id, tenant_id, url, events, wrapping_key_id, secrets, last_serial)"
            " select %s, tenant_id, 'https://example.com/', '{transactions.new}', id, 'sealed', %s from tenant_keys"
            " where tenant_id = %s and kind = 'wrapping'",
            [webhook_id, deliveries, operator.tenants[tenant]],
        )
        for serial in range(1, deliveries + 1):
            state = "DISCARDED" if serial == deliveries else "DELIVERED"
            operator.owner.execute(
                "insert into webhook_deliveries (webhook_id, serial, id, type, user_id, state, next_attempt_at,"
                " finished_at) values (%s, %s, %s, 'transactions.new', %s, %s, null, %s)",
                [webhook_id, serial, uuid4(), operator.users[tenant], state, ago(minutes=1)],
            )
        return webhook_id

    return add


async def test_webhooks_are_listed_with_their_tenants_and_without_secrets(operator, add_webhook):
    north, south = add_webhook("north"), add_webhook("south")
    rows = await operator.read("webhooks")
    assert [(row["tenant"], row["id"]) for row in rows] == [("north", str(north)), ("south", str(south))]
    assert await operator.read_all("webhooks", limit=1) == rows
    assert [webhook["id"] for webhook in await operator.read("webhooks", "south")] == [str(south)]
    assert [webhook["id"] for webhook in await operator.read("webhooks", tenant="south")] == [str(south)]
    assert "secret" not in rows[0]


async def test_deliveries_are_listed_newest_first_in_pages(operator, add_webhook):
    path = f"webhooks/{add_webhook('north', 5)}/deliveries"
    rows = await operator.read(path)
    assert [row["serial"] for row in rows] == [5, 4, 3, 2, 1]
    assert await operator.read_all(path, limit=2) == rows
    assert await operator.read_all(path, "north", limit=2) == rows
    assert [delivery["serial"] for delivery in await operator.read(path, state="DISCARDED")] == [5]


async def test_somebody_elses_webhook_does_not_exist_for_a_client(operator, add_webhook):
    strange = add_webhook("south")
    for webhook_id in (strange, uuid4(), "nonsense"):
        assert (await operator.call("north", f"webhooks/{webhook_id}/deliveries")).status_code == 404
        replay = f"webhooks/{webhook_id}/deliveries/1/replay"
        assert (await operator.call("north", replay, "POST")).status_code == 404
    for token in ("north user", "north auth/tenants/read"):
        assert (await operator.call(token, f"webhooks/{strange}/deliveries/1/replay", "POST")).status_code == 403


@pytest.mark.parametrize(
    ("token", "actor"),
    [
        ("operator", "operator olga"),
        ("north", "client north/admin"),
        (f"north {WEBHOOKS_MANAGE}", "client north/admin"),
    ],
)
async def test_a_discarded_event_is_delivered_again_and_the_trail_says_for_whom(operator, add_webhook, token, actor):
    webhook_id = add_webhook("north")
    answer = await operator.call(token, f"webhooks/{webhook_id}/deliveries/3/replay", "POST")
    assert (answer.status_code, answer.json()["state"]) == (200, "PENDING"), answer.text
    [job] = await operator.read("jobs")
    assert (job["entrypoint"], job["status"], job["count"]) == ("deliver", "queued", 1)
    [entry] = await operator.read("audit", tenant="north", limit=1)
    assert (entry["action"], entry["actor"]) == ("webhook.replay", actor)
    assert entry["object"] == f"webhook {webhook_id} serial 3"


async def test_what_is_not_there_cannot_be_delivered_again(operator, add_webhook):
    webhook_id = add_webhook("north")
    for serial in ("0", "4", "x", "-1", "9" * 30):
        answer = await operator.call("operator", f"webhooks/{webhook_id}/deliveries/{serial}/replay", "POST")
        assert answer.status_code == 404, serial
    operator.owner.execute("update webhooks set is_active = false where id = %s", [webhook_id])
    replay = f"webhooks/{webhook_id}/deliveries/3/replay"
    assert (await operator.call("operator", replay, "POST")).status_code == 409


async def test_discarded_events_of_a_day_are_no_good_health(operator, add_webhook):
    webhook_id = add_webhook("south")
    await operator.services.workers.beat(uuid4())

    async def find_check(token):
        checks = (await operator.read("health", token))["checks"]
        return next(check["well"] for check in checks if check["name"] == "deliveries")

    assert (await find_check("operator"), await find_check("south"), await find_check("north")) == (False, False, True)
    operator.owner.execute(
        "update webhook_deliveries set finished_at = %s where webhook_id = %s", [ago(hours=25), webhook_id]
    )
    assert await find_check("operator") is True
