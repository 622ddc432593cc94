"""Generated requests, in short; `./dev fuzz --requests` is the long form."""

import pytest
from fuzzing.requests.command import parse
from fuzzing.requests.report import write_page
from fuzzing.requests.requests import Requests, World, Worlds
from fuzzing.requests.results import Results, load_results, store_results
from fuzzing.requests.sending import Batch, Finding, send_batch

COUNT = 300


def make_worlds(shared) -> Worlds:
    tokens = {"userToken": [shared.user_token()], "clientToken": [shared.client_token()]}
    logins = [f"{username}:{secret}" for username, secret in (shared.app, shared.admin)]
    known = {"tenant-name": [shared.name], "client-name": ["app"], "role-name": ["customer"]}
    world = World(tokens | {"operatorToken": ["none"], "apiKey": ["none"], "clientLogin": logins}, known)
    return Worlds([world], world)


async def test_no_generated_request_is_answered_with_5xx(tenant, http):
    requests = Requests(http.get("/openapi.json").json(), seed=7)
    batch = await send_batch(int(http.base_url.port), requests, 7, range(COUNT), make_worlds(tenant), at_once=3)
    assert batch.findings == []
    assert sum(batch.answers.values()) == COUNT
    # Neither is everything refused, nor everything accepted.
    assert min(sum(batch.answers[tag, kind] for tag, _ in batch.answers) for kind in ("2xx", "4xx")) > 0


def test_a_seed_and_a_number_draw_the_same_request(http, shared):
    document, worlds = http.get("/openapi.json").json(), make_worlds(shared)
    for number in range(50):
        drawn = {Requests(document, seed).draw(number, worlds).encode("h") for seed in (1, 1)}
        assert len(drawn) == 1
    assert Requests(document, 1).draw(0, worlds) != Requests(document, 2).draw(0, worlds)
    assert {operation.id for operation in Requests(document, 1).operations} >= {"issue_token", "add_accesses"}


def test_few_requests_are_for_a_customer_with_a_full_history(http):
    few, full = (
        World({key: [name] for key in ("userToken", "clientToken", "operatorToken", "apiKey", "clientLogin")}, {})
        for name in ("few", "full")
    )
    requests = Requests(http.get("/openapi.json").json(), 2)
    drawn = [requests.draw(number, Worlds([few, few], full)) for number in range(2000)]
    assert 1 <= sum(request.headers.get("Authorization") == "Bearer full" for request in drawn) <= 30
    assert sum(request.headers.get("Authorization") == "Bearer few" for request in drawn) > 1000


def test_the_seed_whose_numbers_drew_other_requests_is_refused():
    assert parse([]).seed == 2
    with pytest.raises(SystemExit):
        parse(["--seed", "1"])


def test_readiness_alone_may_answer_with_5xx(http):
    operations = Requests(http.get("/openapi.json").json(), 1).operations
    declared = {operation.id: sorted(operation.statuses) for operation in operations}
    assert [name for name, statuses in declared.items() if any(status.startswith("5") for status in statuses)] == [
        "ready"
    ]


def test_results_add_up_over_runs(tmp_path):
    results = Results()
    finding = Finding(1, 3, 500, "read_tenant", "GET /", "body")
    batch = Batch()
    batch.answers["Tokens", "2xx"], batch.answers["Tokens", "5xx"] = 4, 1
    batch.statuses["200"], batch.statuses["500"] = 4, 1
    batch.findings = [finding]
    results.add(1, 5, batch, 2.0)
    store_results(tmp_path / "requests.json", results)
    later = load_results(tmp_path / "requests.json")
    assert later == results
    later.add(2, 5, batch, 1.0)
    assert (later.count, later.next_numbers, later.findings) == (10, {1: 5, 2: 5}, [finding, finding])
    assert later.seconds == {1: 2.0, 2: 1.0}
    later.settle(finding)
    store_results(tmp_path / "requests.json", later)
    assert load_results(tmp_path / "requests.json") == later
    write_page(later, tmp_path / "requests.md")
    assert "**10 requests, 1 open findings.**" in (tmp_path / "requests.md").read_text()
