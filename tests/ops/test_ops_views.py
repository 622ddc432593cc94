"""What is shown of tenants, clients, users and accesses: everything to operators, its own to a tenant, in pages."""

from uuid import uuid4

import pytest
from operating import BANK, OTHER_BANK, ago, now

from kontor.storage import ops

QUEUE = "insert into pgqueuer (priority, status, entrypoint, payload, heartbeat, created, updated)"


async def test_tenants_tell_how_many_clients_and_users_they_have(operator):
    operator.add_user("south")
    found = {tenant["name"]: tenant for tenant in await operator.read("tenants")}
    assert (found["north"]["clients"], found["north"]["users"]) == (2, 1)
    assert (found["south"]["clients"], found["south"]["users"]) == (2, 2)
    assert [tenant["name"] for tenant in await operator.read("tenants", "south")] == ["south"]


async def test_clients_are_shown_without_their_secrets(operator):
    rows = await operator.read("clients", tenant="north")
    assert [row["username"] for row in rows] == ["north/admin", "north/app"]
    assert set(rows[0]) == {"tenant", "name", "username", "kind", "grantedScopes", "createdAt"}
    assert {client["tenant"] for client in await operator.read("clients")} == {"north", "south"}
    assert {client["tenant"] for client in await operator.read("clients", "south")} == {"south"}


async def test_users_are_shown_by_reference_and_name_alone(operator):
    user_id, _ = operator.add_access("south")
    row = next(user for user in await operator.read("users", tenant="south") if user["userReference"] == str(user_id))
    assert set(row) == {"tenant", "userReference", "username", "active", "createdAt", "accesses", "pseudonym"}
    assert row["accesses"] == 1
    assert {user["tenant"] for user in await operator.read("users")} == {"north", "south"}
    assert {user["tenant"] for user in await operator.read("users", "north")} == {"north"}


async def test_users_are_found_by_their_reference_and_as_the_audit_trail_names_them(operator):
    users = [operator.add_access("south")[0] for _ in range(3)]
    known = {user["userReference"]: user["pseudonym"] for user in await operator.read("users", tenant="south")}
    assert len(set(known.values())) == len(known)
    wanted = [known[str(user_id)] for user_id in users[:2]]
    found = await operator.read("users", pseudonym=",".join(wanted))
    assert {user["userReference"] for user in found} == {str(user_id) for user_id in users[:2]}
    [alone] = await operator.read("users", reference=str(users[2]))
    assert alone["pseudonym"] == known[str(users[2])]
    assert await operator.read("users", "north", pseudonym=",".join(wanted)) == []
    for wrong in ("olga", ",".join([wanted[0]] * 101)):
        answer = await operator.call("operator", f"users?pseudonym={wrong}")
        assert answer.status_code == 400
        assert "pseudonym" in answer.json()["message"]


@pytest.mark.parametrize("path", ["users", "accesses", "clients", "tenants", "audit"])
async def test_pages_join_to_the_whole_list(operator, path):
    for number in range(7):
        operator.add_access("north" if number % 2 else "south", id=f"a-{number}")
    await operator.services.operators.create_operator(f"auditor-{path}", 1)  # an entry more in the trail
    whole = await operator.read(path)
    assert len(whole) >= 2
    assert await operator.read_all(path, limit=1) == whole
    assert await operator.read_all(path, limit=2) == whole


@pytest.mark.parametrize("path", ["users", "accesses", "clients", "audit"])
async def test_the_last_page_of_a_tenant_leads_to_nobody_else(operator, path):
    for number in range(5):
        operator.add_access("north", id=f"a-{number}")
        operator.add_access("south", id=f"a-{number}")
    for token, query in (("north", {}), ("operator", {"tenant": "north"})):
        rows = await operator.read_all(path, token, limit=2, **query)
        assert {row.get("tenant", "north") for row in rows} == {"north"}
        assert rows == await operator.read(path, "north")


@pytest.mark.parametrize("limit", [0, -1, 501, "x"])
async def test_a_page_has_at_most_500_rows(operator, limit):
    for path in ("tenants", "clients", "users", "accesses", "audit", "jobs/held"):
        assert (await operator.call("operator", path, limit=limit)).status_code == 400


@pytest.mark.parametrize("cursor", ["x", "", "ICAg", "bnVsbA", "W10", "eyJhIjoxfQ", "IlwidTAwMDAi", "MWU5OTk"])
async def test_an_invented_cursor_is_refused(operator, cursor):
    for path in ("clients", "users", "accesses", "audit", "jobs/held"):
        assert (await operator.call("operator", path, cursor=cursor)).status_code == 400, path
    assert (await operator.call("operator", "refreshes", cursor=cursor, state="due")).status_code == 400


# Accesses


async def test_accesses_are_found_by_status_provider_and_pause(operator):
    plain = operator.add_access()
    started = operator.add_access(status="STARTED")
    elsewhere = operator.add_access(provider_id=OTHER_BANK)
    paused = operator.add_access("south", refresh_pause="SCA")

    async def find(**query):
        return {(access["userReference"], access["id"]) for access in await operator.read("accesses", **query)}

    def names(*accesses):
        return {(str(user_id), access_id) for user_id, access_id in accesses}

    assert await find() == names(plain, started, elsewhere, paused)
    assert await find(status="STARTED") == names(started)
    assert await find(provider=str(OTHER_BANK)) == names(elsewhere)
    assert await find(pause="SCA") == names(paused)
    assert await find(pause="SCA", tenant="north") == set()
    assert await find(pause="CREDENTIALS") == set()
    assert await find(status="COMPLETE", provider=str(BANK), tenant="north") == names(plain)
    assert (await operator.call("operator", "accesses", status="HALF")).status_code == 400


async def test_each_access_says_in_one_word_where_it_stands(operator):
    known = {
        "off": operator.add_access(),
        "scheduled": operator.add_access(next_refresh_at=ago(hours=-1)),
        "due": operator.add_access(next_refresh_at=ago(minutes=5)),
        "late": operator.add_access(next_refresh_at=ago(minutes=20)),
        "paused": operator.add_access(refresh_pause="CREDENTIALS"),
        "running": operator.add_access(next_refresh_at=ago(hours=-1)),
    }
    operator.add_fetch(known["running"], "RUNNING", started_at=now())
    queued = operator.add_access(next_refresh_at=ago(hours=-1))
    operator.add_fetch(queued, "QUEUED")
    forgotten = operator.add_access(next_refresh_at=ago(hours=-1))
    operator.add_fetch(forgotten, "QUEUED", requested_at=ago(minutes=16))
    shown = {listed["id"]: listed for listed in await operator.read("accesses")}
    assert {word: shown[access[1]]["refresh"] for word, access in known.items()} == {word: word for word in known}
    assert (shown[queued[1]]["refresh"], shown[forgotten[1]]["refresh"]) == ("due", "late")
    for word, access in known.items():
        found = {listed["id"] for listed in await operator.read("accesses", refresh=word)}
        expected = {"due": {access[1], queued[1], known["late"][1], forgotten[1]}, "late": {access[1], forgotten[1]}}
        assert found == expected.get(word, {access[1]})


async def test_an_access_fails_until_a_fetch_succeeds_and_what_was_skipped_does_not_count(operator):
    failing, recovered, old = operator.add_access(), operator.add_access(), operator.add_access()
    operator.add_fetch(failing, "DONE", finished_at=ago(hours=7))
    operator.add_fetch(failing, "FAILED", finished_at=ago(hours=1), failure="UNREACHABLE")
    operator.add_fetch(failing, "SKIPPED", slot_at=ago(minutes=2), finished_at=ago(minutes=1))
    operator.add_fetch(recovered, "INTERRUPTED", finished_at=ago(hours=2))
    operator.add_fetch(recovered, "DONE", finished_at=ago(hours=1))
    operator.add_fetch(old, "FAILED", finished_at=ago(hours=25))
    listed = {row["id"]: row for row in await operator.read("accesses", refresh="failing")}
    assert set(listed) == {failing[1], old[1]}
    row = listed[failing[1]]
    assert (row["id"], row["failing"], row["refresh"]) == (failing[1], True, "off")
    assert (row["lastOutcome"]["state"], row["lastOutcome"]["failure"]) == ("FAILED", "UNREACHABLE")
    [listed] = await operator.read("refreshes", state="failing")
    assert (listed["access"], listed["state"], listed["failure"]) == (failing[1], "FAILED", "UNREACHABLE")
    assert (await operator.read("refreshes/summary"))["failing"] == 1


async def test_a_rare_filter_looks_through_a_bounded_number_of_rows_and_goes_on(operator, monkeypatch):
    monkeypatch.setattr(ops, "SCAN_ROWS", 3)
    user_id = operator.add_user()
    for number in range(10):
        status = "STARTED" if number == 8 else "COMPLETE"
        operator.add_access(user_id=user_id, id=f"a-{number}", status=status)
    first = await operator.call("operator", "accesses", status="STARTED")
    assert (first.json(), "next" in first.links) == ([], True)
    for query in ({}, {"tenant": "north"}):
        rows = await operator.read_all("accesses", status="STARTED", limit=2, **query)
        assert [row["id"] for row in rows] == ["a-8"]


async def test_accesses_are_counted_by_state_for_all_and_for_one_tenant(operator):
    operator.add_access()
    operator.add_access(status="HEADERS", refresh_pause="SCA")
    operator.add_access("south", status="STARTED", expires_at=ago(hours=-1))
    assert await operator.read("accesses/summary") == {
        "total": 3,
        "byStatus": {"STARTED": 1, "HEADERS": 1, "COMPLETE": 1},
        "temporary": 1,
        "paused": {"SCA": 1, "CREDENTIALS": 0},
    }
    own = await operator.read("accesses/summary", "south")
    assert (own["total"], own["byStatus"]["STARTED"], own["paused"]["SCA"]) == (1, 1, 0)


# Providers, jobs, workers


async def test_providers_show_how_they_did_and_those_in_trouble_come_first(operator):
    for is_success in (True, True, True, False):
        operator.owner.execute("insert into provider_outcomes values (%s, now(), %s, 2)", [BANK, is_success])
    operator.owner.execute(
        "insert into provider_outcomes values (%s, now() - interval '2 days', true, 2)", [OTHER_BANK]
    )
    operator.owner.execute("insert into provider_outages values (%s, 4, now(), now())", [OTHER_BANK])
    down, fine = await operator.read("providers")
    assert (down["id"], down["fetches"], down["outage"]["failures"]) == (str(OTHER_BANK), 0, 4)
    assert "downSince" in down["outage"]
    assert (fine["id"], fine["fetches"], fine["successRate"], fine["meanDurationSeconds"]) == (str(BANK), 4, 0.75, 2.0)
    assert "outage" not in fine
    assert "name" in fine
    assert await operator.read("providers", "north") == [down, fine]


async def test_jobs_are_counted_by_kind_and_status_and_held_ones_listed_without_their_texts(operator):
    subject = uuid4()
    for status, kind in (("queued", "fetch"), ("queued", "fetch"), ("picked", "retag"), ("failed", "fetch")):
        operator.owner.execute(f"{QUEUE} values (0, %s, %s, %s, now(), now(), now())", [status, kind, subject.bytes])
    operator.owner.execute(
        "insert into pgqueuer_log (job_id, status, priority, entrypoint, traceback) select id, 'failed', 0, 'fetch',"
        """ '{"exception_type": "KeyError", "exception_message": "a secret"}' from pgqueuer where status = 'failed'"""
    )
    counted = {(job["entrypoint"], job["status"]): job["count"] for job in await operator.read("jobs")}
    assert counted == {("fetch", "queued"): 2, ("retag", "picked"): 1, ("fetch", "failed"): 1}
    [held] = await operator.read("jobs/held")
    assert (held["entrypoint"], held["subject"], held["error"]) == ("fetch", str(subject), "KeyError")
    assert "secret" not in str(held)


async def test_workers_are_alive_while_they_tell_so(operator):
    alive, dead = uuid4(), uuid4()
    await operator.services.workers.beat(alive)
    await operator.services.workers.beat(dead)
    operator.owner.execute("update workers set seen_at = now() - interval '21 seconds' where id = %s", [dead])
    assert [(worker["id"], worker["alive"]) for worker in await operator.read("workers")] == [
        (str(alive), True),
        (str(dead), False),
    ]
    await operator.services.workers.beat(dead)
    assert [worker["alive"] for worker in await operator.read("workers")] == [True, True]
    await operator.services.workers.leave(dead)
    assert [worker["id"] for worker in await operator.read("workers")] == [str(alive)]


# Audit trail


async def test_the_audit_trail_is_read_newest_first_and_each_tenant_sees_its_own(operator):
    entries = await operator.read("audit", "north")
    serials = [entry["serial"] for entry in entries]
    assert serials == sorted(serials, reverse=True)
    assert entries[-1]["action"] == "tenant.create"
    assert entries == await operator.read("audit", tenant="north")
    system = await operator.read("audit")
    assert {entry["action"] for entry in system} >= {"operator.create"}
    assert all(entry["action"] != "tenant.create" for entry in system)


async def test_a_broken_chain_is_found_and_named(operator):
    whole = await operator.read("audit/verification")
    assert whole["whole"] is True
    assert {chain.get("tenant") for chain in whole["chains"]} == {None, "north", "south"}
    operator.owner.execute("alter table audit_entries disable trigger all")
    statement = "update audit_entries set actor = %s where chain = %s and serial = 2"
    [(before,)] = operator.owner.execute(
        "select actor from audit_entries where chain = %s and serial = 2", [operator.tenants["south"]]
    ).fetchall()
    operator.owner.execute(statement, ["somebody else", operator.tenants["south"]])
    try:
        found = await operator.read("audit/verification")
        assert found["whole"] is False
        [broken] = [chain for chain in found["chains"] if not chain["whole"]]
        assert broken["tenant"] == "south"
        assert "entry 2 does not follow" in broken["problem"]
        own = await operator.read("audit/verification", "south")
        assert (own["whole"], len(own["chains"])) == (False, 1)
        assert (await operator.read("audit/verification", "north"))["whole"] is True
    finally:
        operator.owner.execute(statement, [before, operator.tenants["south"]])
        operator.owner.execute("alter table audit_entries enable trigger all")
    assert (await operator.read("audit/verification"))["whole"] is True


async def test_a_long_chain_is_checked_piece_by_piece(operator, monkeypatch):
    from kontor.services.security import auditing

    monkeypatch.setattr(auditing, "PIECE_ENTRIES", 2)
    found = await operator.read("audit/verification", tenant="north")
    assert found["whole"] is True
    assert found["chains"][0]["entries"] > 4
