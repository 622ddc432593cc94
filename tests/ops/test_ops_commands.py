"""`kontor operator` and `kontor refresh`: what they print for people and for programs, and how they refuse."""

import json

import pytest
from operating import ago, now

SUMMARY = {"at", "due", "late", "running", "failing", "paused", "lastDay", "oldestDueAt", "providersDown", "workers"}


async def test_an_operator_is_made_used_listed_and_deleted(operator, kontor):
    code, out, err = await kontor("operator", "create", "otto", "--days", "7", "--json")
    assert code == 0
    assert "only its hash is stored" in err
    token = json.loads(out)["token"]
    assert (await operator.call(token, "tenants")).status_code == 200
    code, out, _ = await kontor("operator", "list")
    assert (code, "otto" in out, token in out) == (0, True, False)
    assert (await kontor("operator", "delete", "otto"))[0] == 0
    assert (await operator.call(token, "tenants")).status_code == 403
    code, out, err = await kontor("operator", "delete", "otto")
    assert (code, out, "no operator named otto" in err) == (1, "", True)


@pytest.mark.parametrize("arguments", [("create", "no name"), ("create", "otto", "--days", "0")])
async def test_a_bad_operator_is_refused_in_one_sentence(kontor, arguments):
    code, out, err = await kontor("operator", *arguments)
    assert (code, out, err.count("\n"), err.startswith("Refused: ")) == (1, "", 1, True)


@pytest.fixture
def busy(operator):
    operator.add_access(next_refresh_at=ago(minutes=20), id="late-one")
    operator.add_fetch(operator.add_access("south"), "RUNNING", started_at=now(), slot_at=now())
    operator.add_fetch(operator.add_access(), "FAILED", failure="UNREACHABLE")
    operator.add_access(refresh_pause="SCA")
    operator.owner.execute("insert into provider_outages values (%s, 3, now(), now())", ["0" * 32])
    return operator


async def test_the_status_is_read_at_a_glance(busy, kontor):
    code, out, _ = await kontor("refresh", "status")
    assert code == 0
    lines = {line[:16].strip(): line[16:].strip() for line in out.splitlines() if line[:16].strip()}
    assert lines["due"].startswith("1, the oldest since ")
    assert (lines["late"], lines["running"], lines["failing"], lines["paused"]) == ("1", "1", "1", "1 (SCA 1)")
    assert lines["last 24 hours"] == "0 done, 1 failed, 0 interrupted, 0 skipped, 0 waiting"
    assert " since " in lines["providers down"]
    assert lines["workers"] == "none is at work: nothing is refreshed"


async def test_the_status_is_json_for_programs_and_can_be_of_one_tenant(busy, kontor):
    code, out, _ = await kontor("refresh", "status", "--json")
    found = json.loads(out)
    assert (code, set(found)) == (0, SUMMARY)
    assert (found["late"], found["running"], len(found["providersDown"])) == (1, 1, 1)
    _, out, _ = await kontor("refresh", "status", "--json", "--tenant", "south")
    assert (json.loads(out)["late"], json.loads(out)["running"]) == (0, 1)
    assert (await kontor("refresh", "status", "--tenant", "nobody"))[0] == 1


async def test_refreshes_are_listed_by_state(busy, kontor):
    code, out, err = await kontor("refresh", "list", "--state", "late")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["tenant", "user", "access", "provider", "state", "due"]
    assert "late-one" in out
    _, out, _ = await kontor("refresh", "list", "--state", "failing")
    assert out.splitlines()[0].split()[5:] == ["due", "finished", "remark"]
    _, out, _ = await kontor("refresh", "list", "--state", "failing", "--json")
    assert [refresh["failure"] for refresh in json.loads(out)] == ["UNREACHABLE"]
    _, out, err = await kontor("refresh", "list", "--state", "running", "--tenant", "north")
    assert (out, err) == ("", "Nothing is running.\n")
    busy.add_access(refresh_pause="SCA")
    _, _, err = await kontor("refresh", "list", "--state", "paused", "--limit", "1")
    assert err == "There are more than these 1.\n"


@pytest.mark.parametrize("arguments", [(), ("--state", "fine"), ("--state", "due", "--limit", "x")])
async def test_a_wrong_use_is_explained(kontor, arguments):
    assert (await kontor("refresh", "list", *arguments))[0] == 2
