"""What is shown of tenants, clients, users and accesses: everything to operators, its own to a tenant, in pages."""

from uuid import uuid4

import pytest
from operating import BANK, OTHER_BANK, ago, now

from kontor.storage import ops

QUEUE = "insert into pgqueuer (priority, status, entrypoint, payload, heartbeat, created, updated)"


async def test_tenants_tell_how_many_clients_and_users_they_have(desk):
    desk.add_user("south")
    found = {one["name"]: one for one in await desk.read("tenants")}
    assert (found["north"]["clients"], found["north"]["users"]) == (2, 1)
    assert (found["south"]["clients"], found["south"]["users"]) == (2, 2)
    assert [one["name"] for one in await desk.read("tenants", "south")] == ["south"]


async def test_clients_are_shown_without_their_secrets(desk):
    rows = await desk.read("clients", tenant="north")
    assert [one["username"] for one in rows] == ["north/admin", "north/app"]
    assert set(rows[0]) == {"tenant", "name", "username", "kind", "grantedScopes", "createdAt"}
    assert {one["tenant"] for one in await desk.read("clients")} == {"north", "south"}
    assert {one["tenant"] for one in await desk.read("clients", "south")} == {"south"}


async def test_users_are_shown_by_reference_and_name_alone(desk):
    user_id, _ = desk.add_access("south")
    row = next(one for one in await desk.read("users", tenant="south") if one["userReference"] == str(user_id))
    assert set(row) == {"tenant", "userReference", "username", "active", "createdAt", "accesses"}
    assert row["accesses"] == 1
    assert {one["tenant"] for one in await desk.read("users")} == {"north", "south"}
    assert {one["tenant"] for one in await desk.read("users", "north")} == {"north"}


@pytest.mark.parametrize("path", ["users", "accesses", "clients", "tenants", "audit"])
async def test_pages_join_to_the_whole_list(desk, path):
    for number in range(7):
        desk.add_access("north" if number % 2 else "south", id=f"a-{number}")
    await desk.services.operators.create_operator(f"auditor-{path}", 1)  # an entry more in the trail
    whole = await desk.read(path)
    assert len(whole) >= 2
    assert await desk.read_all(path, limit=1) == whole
    assert await desk.read_all(path, limit=2) == whole


@pytest.mark.parametrize("path", ["users", "accesses", "clients", "audit"])
async def test_the_last_page_of_a_tenant_leads_to_nobody_else(desk, path):
    for number in range(5):
        desk.add_access("north", id=f"a-{number}")
        desk.add_access("south", id=f"a-{number}")
    for token, query in (("north", {}), ("operator", {"tenant": "north"})):
        rows = await desk.read_all(path, token, limit=2, **query)
        assert {one.get("tenant", "north") for one in rows} == {"north"}
        assert rows == await desk.read(path, "north")


@pytest.mark.parametrize("limit", [0, -1, 501, "x"])
async def test_a_page_has_at_most_500_rows(desk, limit):
    for path in ("tenants", "clients", "users", "accesses", "audit", "jobs/held"):
        assert (await desk.call("operator", path, limit=limit)).status_code == 400


@pytest.mark.parametrize("cursor", ["x", "", "ICAg", "bnVsbA", "W10", "eyJhIjoxfQ", "IlwidTAwMDAi", "MWU5OTk"])
async def test_an_invented_cursor_is_refused(desk, cursor):
    for path in ("clients", "users", "accesses", "audit", "jobs/held"):
        assert (await desk.call("operator", path, cursor=cursor)).status_code == 400, path
    assert (await desk.call("operator", "refreshes", cursor=cursor, state="due")).status_code == 400


# Accesses


async def test_accesses_are_found_by_status_provider_and_pause(desk):
    plain = desk.add_access()
    started = desk.add_access(status="STARTED")
    elsewhere = desk.add_access(provider_id=OTHER_BANK)
    paused = desk.add_access("south", refresh_pause="SCA")

    async def find(**query):
        return {(one["userReference"], one["id"]) for one in await desk.read("accesses", **query)}

    def names(*accesses):
        return {(str(user_id), access_id) for user_id, access_id in accesses}

    assert await find() == names(plain, started, elsewhere, paused)
    assert await find(status="STARTED") == names(started)
    assert await find(provider=str(OTHER_BANK)) == names(elsewhere)
    assert await find(pause="SCA") == names(paused)
    assert await find(pause="SCA", tenant="north") == set()
    assert await find(pause="CREDENTIALS") == set()
    assert await find(status="COMPLETE", provider=str(BANK), tenant="north") == names(plain)
    assert (await desk.call("operator", "accesses", status="HALF")).status_code == 400


async def test_each_access_says_in_one_word_where_it_stands(desk):
    known = {
        "off": desk.add_access(),
        "scheduled": desk.add_access(next_refresh_at=ago(hours=-1)),
        "due": desk.add_access(next_refresh_at=ago(minutes=5)),
        "late": desk.add_access(next_refresh_at=ago(minutes=20)),
        "paused": desk.add_access(refresh_pause="CREDENTIALS"),
        "running": desk.add_access(next_refresh_at=ago(hours=-1)),
    }
    desk.add_fetch(known["running"], "RUNNING", started_at=now())
    queued = desk.add_access(next_refresh_at=ago(hours=-1))
    desk.add_fetch(queued, "QUEUED")
    forgotten = desk.add_access(next_refresh_at=ago(hours=-1))
    desk.add_fetch(forgotten, "QUEUED", requested_at=ago(minutes=16))
    shown = {one["id"]: one for one in await desk.read("accesses")}
    assert {word: shown[access[1]]["refresh"] for word, access in known.items()} == {word: word for word in known}
    assert (shown[queued[1]]["refresh"], shown[forgotten[1]]["refresh"]) == ("due", "late")
    for word, access in known.items():
        found = {one["id"] for one in await desk.read("accesses", refresh=word)}
        expected = {"due": {access[1], queued[1], known["late"][1], forgotten[1]}, "late": {access[1], forgotten[1]}}
        assert found == expected.get(word, {access[1]})


async def test_an_access_fails_until_a_fetch_succeeds_and_what_was_skipped_does_not_count(desk):
    failing, recovered, old = desk.add_access(), desk.add_access(), desk.add_access()
    desk.add_fetch(failing, "DONE", finished_at=ago(hours=7))
    desk.add_fetch(failing, "FAILED", finished_at=ago(hours=1), failure="UNREACHABLE")
    desk.add_fetch(failing, "SKIPPED", slot_at=ago(minutes=2), finished_at=ago(minutes=1))
    desk.add_fetch(recovered, "INTERRUPTED", finished_at=ago(hours=2))
    desk.add_fetch(recovered, "DONE", finished_at=ago(hours=1))
    desk.add_fetch(old, "FAILED", finished_at=ago(hours=25))
    [row] = await desk.read("accesses", refresh="failing")
    assert (row["id"], row["failing"], row["refresh"]) == (failing[1], True, "off")
    assert (row["lastOutcome"]["state"], row["lastOutcome"]["failure"]) == ("FAILED", "UNREACHABLE")
    [listed] = await desk.read("refreshes", state="failing")
    assert (listed["access"], listed["state"], listed["failure"]) == (failing[1], "FAILED", "UNREACHABLE")
    assert (await desk.read("refreshes/summary"))["failing"] == 1


async def test_a_rare_filter_looks_through_a_bounded_number_of_rows_and_goes_on(desk, monkeypatch):
    monkeypatch.setattr(ops, "SCAN_ROWS", 3)
    user_id = desk.add_user()
    for number in range(10):
        status = "STARTED" if number == 8 else "COMPLETE"
        desk.add_access(user_id=user_id, id=f"a-{number}", status=status)
    first = await desk.call("operator", "accesses", status="STARTED")
    assert (first.json(), "next" in first.links) == ([], True)
    for query in ({}, {"tenant": "north"}):
        rows = await desk.read_all("accesses", status="STARTED", limit=2, **query)
        assert [one["id"] for one in rows] == ["a-8"]


async def test_accesses_are_counted_by_state_for_all_and_for_one_tenant(desk):
    desk.add_access()
    desk.add_access(status="HEADERS", refresh_pause="SCA")
    desk.add_access("south", status="STARTED", expires_at=ago(hours=-1))
    assert await desk.read("accesses/summary") == {
        "total": 3,
        "byStatus": {"STARTED": 1, "HEADERS": 1, "COMPLETE": 1},
        "temporary": 1,
        "paused": {"SCA": 1, "CREDENTIALS": 0},
    }
    own = await desk.read("accesses/summary", "south")
    assert (own["total"], own["byStatus"]["STARTED"], own["paused"]["SCA"]) == (1, 1, 0)


# Providers, jobs, workers


async def test_providers_show_how_they_did_and_those_in_trouble_come_first(desk):
    for is_success in (True, True, True, False):
        desk.owner.execute("insert into provider_outcomes values (%s, now(), %s, 2)", [BANK, is_success])
    desk.owner.execute("insert into provider_outcomes values (%s, now() - interval '2 days', true, 2)", [OTHER_BANK])
    desk.owner.execute("insert into provider_outages values (%s, 4, now(), now())", [OTHER_BANK])
    down, fine = await desk.read("providers")
    assert (down["id"], down["fetches"], down["outage"]["failures"]) == (str(OTHER_BANK), 0, 4)
    assert "downSince" in down["outage"]
    assert (fine["id"], fine["fetches"], fine["successRate"], fine["meanDurationSeconds"]) == (str(BANK), 4, 0.75, 2.0)
    assert "outage" not in fine
    assert "name" in fine
    assert await desk.read("providers", "north") == [down, fine]


async def test_jobs_are_counted_by_kind_and_status_and_held_ones_listed_without_their_texts(desk):
    subject = uuid4()
    for status, kind in (("queued", "fetch"), ("queued", "fetch"), ("picked", "retag"), ("failed", "fetch")):
        desk.owner.execute(f"{QUEUE} values (0, %s, %s, %s, now(), now(), now())", [status, kind, subject.bytes])
    desk.owner.execute(
        "insert into pgqueuer_log (job_id, status, priority, entrypoint, traceback) select id, 'failed', 0, 'fetch',"
        """ '{"exception_type": "KeyError", "exception_message": "a secret"}' from pgqueuer where status = 'failed'"""
    )
    counted = {(one["entrypoint"], one["status"]): one["count"] for one in await desk.read("jobs")}
    assert counted == {("fetch", "queued"): 2, ("retag", "picked"): 1, ("fetch", "failed"): 1}
    [held] = await desk.read("jobs/held")
    assert (held["entrypoint"], held["subject"], held["error"]) == ("fetch", str(subject), "KeyError")
    assert "secret" not in str(held)


async def test_workers_are_alive_while_they_tell_so(desk):
    alive, dead = uuid4(), uuid4()
    await desk.services.workers.beat(alive)
    await desk.services.workers.beat(dead)
    desk.owner.execute("update workers set seen_at = now() - interval '21 seconds' where id = %s", [dead])
    assert [(one["id"], one["alive"]) for one in await desk.read("workers")] == [(str(alive), True), (str(dead), False)]
    await desk.services.workers.beat(dead)
    assert [one["alive"] for one in await desk.read("workers")] == [True, True]
    await desk.services.workers.leave(dead)
    assert [one["id"] for one in await desk.read("workers")] == [str(alive)]


# Audit trail


async def test_the_audit_trail_is_read_newest_first_and_each_tenant_sees_its_own(desk):
    entries = await desk.read("audit", "north")
    serials = [one["serial"] for one in entries]
    assert serials == sorted(serials, reverse=True)
    assert entries[-1]["action"] == "tenant.create"
    assert entries == await desk.read("audit", tenant="north")
    system = await desk.read("audit")
    assert {one["action"] for one in system} >= {"operator.create"}
    assert all(one["action"] != "tenant.create" for one in system)


async def test_a_broken_chain_is_found_and_named(desk):
    whole = await desk.read("audit/verification")
    assert whole["whole"] is True
    assert {one.get("tenant") for one in whole["chains"]} == {None, "north", "south"}
    desk.owner.execute("alter table audit_entries disable trigger all")
    statement = "update audit_entries set actor = %s where chain = %s and serial = 2"
    [(before,)] = desk.owner.execute(
        "select actor from audit_entries where chain = %s and serial = 2", [desk.tenants["south"]]
    ).fetchall()
    desk.owner.execute(statement, ["somebody else", desk.tenants["south"]])
    try:
        found = await desk.read("audit/verification")
        assert found["whole"] is False
        [broken] = [one for one in found["chains"] if not one["whole"]]
        assert broken["tenant"] == "south"
        assert "entry 2 does not follow" in broken["problem"]
        own = await desk.read("audit/verification", "south")
        assert (own["whole"], len(own["chains"])) == (False, 1)
        assert (await desk.read("audit/verification", "north"))["whole"] is True
    finally:
        desk.owner.execute(statement, [before, desk.tenants["south"]])
        desk.owner.execute("alter table audit_entries enable trigger all")
    assert (await desk.read("audit/verification"))["whole"] is True


async def test_a_long_chain_is_checked_piece_by_piece(desk, monkeypatch):
    from kontor.services.security import auditing

    monkeypatch.setattr(auditing, "PIECE_ENTRIES", 2)
    found = await desk.read("audit/verification", tenant="north")
    assert found["whole"] is True
    assert found["chains"][0]["entries"] > 4
