"""One access and one job, as operators see them, and what they can do: retry, pause, resume. Over HTTP, audited."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from operating import BANK, ago

from kontor.domain.refreshes import BUDGET_CALLS

CREDENTIALS = {"credentials": b"sealed", "credentials_digest": b"digest", "lease_key": b"lease"}


@pytest.fixture
def access(operator):
    return operator.add_access(next_refresh_at=ago(hours=-1), scheduled_since=ago(days=1), **CREDENTIALS)


def path_of(access, action=""):
    return f"accesses/{access[0]}/{access[1]}{action}"


async def do(operator, access, action, status=200):
    answer = await operator.call("operator", path_of(access, f"/{action}"), "POST")
    assert answer.status_code == status, answer.text
    return answer


def read_row(operator, access, columns):
    query = f"select {columns} from accesses where user_id = %s and id = %s"
    return operator.owner.execute(query, list(access)).fetchone()


async def list_actions(operator):
    entries = await operator.read("audit", tenant="north")
    return [(entry["actor"], entry["action"]) for entry in entries if entry["action"].startswith("access.")]


def add_calls(operator, access, count):
    for number in range(count):
        operator.owner.execute(
            "insert into unattended_calls (user_id, access_id, called_at, fetch_id) values (%s, %s, %s, %s)",
            [*access, ago(hours=1 + number), uuid4()],
        )


# Reading


async def test_an_access_tells_why_it_is_in_its_state_and_what_was_tried(operator, access):
    operator.add_fetch(access, "DONE", requested_at=ago(hours=13), finished_at=ago(hours=13))
    operator.add_fetch(access, "SKIPPED", requested_at=ago(hours=7), slot_at=ago(hours=7), failure="budget")
    operator.add_fetch(access, "FAILED", requested_at=ago(hours=1), failure="UNREACHABLE", attempts=1)
    add_calls(operator, access, 2)
    shown = await operator.read(path_of(access))
    assert (shown["reason"], shown["failing"], shown["refresh"]) == ("LAST_FETCH_FAILED", True, "scheduled")
    assert [(attempt["state"], attempt.get("failure")) for attempt in shown["attempts"]] == [
        ("FAILED", "UNREACHABLE"), ("SKIPPED", "budget"), ("DONE", None),
    ]  # fmt: skip
    assert shown["budget"] == {"used": 2, "limit": BUDGET_CALLS}
    assert "nextRefreshAt" in shown
    assert [relation["rel"] for relation in shown["relations"]] == ["self", "retry", "pause"]
    assert shown["relations"][0]["href"].endswith(f"/ops/v1/{path_of(access)}")
    [listed] = await operator.read("accesses")
    assert {name: shown[name] for name in listed} == listed


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({}, "WAITING"),
        ({"refresh_pause": "SCA", "next_refresh_at": None}, "SCA_REQUIRED"),
        ({"refresh_pause": "CREDENTIALS", "next_refresh_at": None}, "LOGIN_REFUSED"),
        ({"is_synced": False, "next_refresh_at": None}, "NOT_REFRESHED"),
        ({"credentials": None, "next_refresh_at": None}, "NOT_REFRESHED"),
        ({"next_refresh_at": ago(hours=1)}, "NO_WORKER_BEGAN"),
    ],
)
async def test_the_reason_follows_from_the_access(operator, facts, reason):
    access = operator.add_access(**CREDENTIALS | {"next_refresh_at": ago(hours=-1)} | facts)
    assert (await operator.read(path_of(access)))["reason"] == reason


async def test_the_reason_follows_from_fetches_bank_user_and_budget(operator, access):
    add_calls(operator, access, BUDGET_CALLS)
    shown = await operator.read(path_of(access))
    assert (shown["reason"], shown["budget"]["used"]) == ("BUDGET_USED", BUDGET_CALLS)
    assert "freeAt" in shown["budget"]
    operator.owner.execute("insert into provider_outages values (%s, 3, now(), now())", [BANK])
    shown = await operator.read(path_of(access))
    assert shown["reason"] == "PROVIDER_DOWN"
    assert "providerDownSince" in shown
    operator.owner.execute("update users set is_active = false where id = %s", [access[0]])
    assert (await operator.read(path_of(access)))["reason"] == "USER_INACTIVE"
    operator.add_fetch(access, "RUNNING")
    assert (await operator.read(path_of(access)))["reason"] == "RUNNING"


async def test_nothing_of_the_bank_is_shown(operator, access):
    operator.owner.execute(
        """update accesses set messages = '[{"kind": "BANK_MESSAGE", "detail": "Lieber Herr Canary"}]',"""
        " memory = 'canary' where user_id = %s and id = %s",
        list(access),
    )
    answer = await operator.call("operator", path_of(access))
    assert not any(word in answer.text.lower() for word in ("canary", "sealed", "digest", "lease"))


@pytest.mark.parametrize("action", ["", "/retry", "/pause", "/resume"])
async def test_only_operators_reach_an_access_and_an_unknown_one_is_404(operator, access, action):
    method = "POST" if action else "GET"
    for token in ("north", "north user"):
        assert (await operator.call(token, path_of(access, action), method)).status_code == 403
    form = operator.add_access(form_session_id=uuid4())
    for unknown in ((uuid4(), access[1]), (access[0], "other"), ("x", access[1]), form):
        assert (await operator.call("operator", path_of(unknown, action), method)).status_code == 404
    answer = await operator.call("operator", path_of(access, action), method, tenant="north")
    assert answer.status_code == 400
    assert "tenant" in answer.text


# Pause and resume


async def test_a_pause_stops_background_refresh_at_once_and_survives_what_user_and_bank_do(operator, access):
    paused = (await do(operator, access, "pause")).json()
    assert (paused["reason"], paused["refresh"]) == ("PAUSED_BY_OPERATOR", "paused")
    assert [relation["rel"] for relation in paused["relations"]] == ["self", "retry", "resume"]
    assert "nextRefreshAt" not in paused
    refreshing, database = operator.services.refreshing, operator.services.database
    async with database.transaction(access[0]) as connection:
        await refreshing.resume(connection, *access)  # new credentials, or a consent
    await refreshing.repair_schedule()
    await refreshing.schedule_due()
    assert read_row(operator, access, "next_refresh_at") == (None,)
    assert operator.owner.execute("select count(*) from fetches where user_id = %s", [access[0]]).fetchone() == (0,)


async def test_a_pause_and_a_resume_are_recorded_once_and_the_schedule_goes_on(operator, access):
    before = len(await list_actions(operator))
    for _ in range(2):
        await do(operator, access, "pause")
    for _ in range(2):
        resumed = (await do(operator, access, "resume")).json()
    assert (resumed["reason"], resumed["refresh"]) == ("WAITING", "scheduled")
    assert "operatorPausedAt" not in resumed
    assert "nextRefreshAt" in resumed
    actions = await list_actions(operator)
    assert actions[: len(actions) - before] == [("operator olga", "access.resume"), ("operator olga", "access.pause")]


async def test_after_a_resume_the_login_that_the_bank_refused_stays_refused(operator):
    access = operator.add_access(refresh_pause="CREDENTIALS", **CREDENTIALS)
    await do(operator, access, "pause")
    assert (await do(operator, access, "resume")).json()["reason"] == "LOGIN_REFUSED"
    assert read_row(operator, access, "next_refresh_at") == (None,)


# Retry


async def test_a_retry_queues_one_fetch_however_many_ask_at_once(operator, access):
    answers = await asyncio.gather(*(do(operator, access, "retry") for _ in range(5)))
    assert all(answer.json()["attempts"][0]["state"] == "QUEUED" for answer in answers)
    [(fetch_id, is_attended, slot_at)] = operator.owner.execute(
        "select id, is_attended, slot_at from fetches where user_id = %s", [access[0]]
    ).fetchall()
    assert (is_attended, slot_at) == (False, None)
    queued = operator.owner.execute("select payload from pgqueuer where entrypoint = 'fetch'").fetchall()
    assert queued == [(fetch_id.bytes,)]
    assert (await list_actions(operator))[0] == ("operator olga", "access.retry")


async def test_a_retry_stays_within_the_budget_of_calls_without_the_customer(operator, access):
    add_calls(operator, access, BUDGET_CALLS)
    answer = await do(operator, access, "retry", status=429)
    assert 0 < int(answer.headers["retry-after"]) <= timedelta(days=1).total_seconds()
    assert operator.owner.execute("select count(*) from fetches where user_id = %s", [access[0]]).fetchone() == (0,)


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({"refresh_pause": "CREDENTIALS"}, "refused"),
        ({"refresh_pause": "SCA"}, "authenticate"),
        ({"credentials": None}, "not refreshed"),
        ({"is_synced": False}, "not refreshed"),
    ],
)
async def test_a_retry_that_only_the_user_can_make_work_is_refused(operator, facts, word):
    access = operator.add_access(**CREDENTIALS | facts)
    assert word in (await do(operator, access, "retry", status=409)).json()["message"]


# Jobs


def add_job(operator, status, dedupe_key=None):
    [job_id] = operator.owner.execute(
        "insert into pgqueuer (priority, status, entrypoint, payload, attempts, dedupe_key)"
        " values (0, %s, 'fetch', %s, 3, %s) returning id",
        [status, uuid4().bytes, dedupe_key],
    ).fetchone()
    operator.owner.execute(
        "insert into pgqueuer_log (job_id, status, priority, entrypoint, traceback) values (%s, 'failed', 0, 'fetch',"
        """ '{"exception_type": "KeyError", "exception_message": "a secret"}')""",
        [job_id],
    )
    return job_id


async def test_a_held_job_is_read_without_its_texts_and_queued_again(operator):
    job_id = add_job(operator, "failed", "fetch x")
    shown = await operator.read(f"jobs/{job_id}")
    assert (shown["status"], shown["attempts"], shown["events"][0]["error"]) == ("failed", 3, "KeyError")
    assert [relation["rel"] for relation in shown["relations"]] == ["self", "retry"]
    assert "secret" not in str(shown)
    answer = await operator.call("operator", f"jobs/{job_id}/retry", "POST")
    assert (answer.status_code, answer.json()["status"], answer.json()["attempts"]) == (200, "queued", 0)
    assert [relation["rel"] for relation in answer.json()["relations"]] == ["self"]
    [entry] = await operator.read("audit", limit=1)
    assert (entry["actor"], entry["action"], entry["object"]) == ("operator olga", "job.retry", f"job {job_id} fetch")
    again = await operator.call("operator", f"jobs/{job_id}/retry", "POST")
    assert again.status_code == 409
    assert "queued" in again.json()["message"]


async def test_a_held_job_is_not_queued_beside_an_equal_one(operator):
    add_job(operator, "queued", "fetch x")
    held = add_job(operator, "failed", "fetch x")
    answer = await operator.call("operator", f"jobs/{held}/retry", "POST")
    assert answer.status_code == 409
    assert (await operator.read(f"jobs/{held}"))["status"] == "failed"


async def test_jobs_are_for_operators_and_an_unknown_one_is_404(operator):
    job_id = add_job(operator, "failed")
    for method, action in (("GET", ""), ("POST", "/retry")):
        assert (await operator.call("north", f"jobs/{job_id}{action}", method)).status_code == 403
        for unknown in ("0", "x", "9" * 30, "-1"):
            assert (await operator.call("operator", f"jobs/{unknown}{action}", method)).status_code == 404


# Providers


async def test_a_refused_login_is_no_success_of_a_provider(operator):
    for is_success, is_refused in ((True, False), (True, True), (False, False), (True, True)):
        operator.owner.execute(
            "insert into provider_outcomes (provider_id, is_success, is_refused, seconds) values (%s, %s, %s, 1)",
            [BANK, is_success, is_refused],
        )
    [shown] = await operator.read("providers")
    assert (shown["fetches"], shown["successRate"], shown["refusedLogins"]) == (4, 0.25, 2)
