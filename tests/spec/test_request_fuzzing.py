"""Generated requests, in short; `./dev fuzz --requests` is the long form."""

from fuzzing.requests.report import write_page
from fuzzing.requests.requests import Requests, World
from fuzzing.requests.results import Results, load_results, store_results
from fuzzing.requests.sending import Batch, Finding, send_batch

COUNT = 300


def make_world(shared) -> World:
    tokens = {"userToken": [shared.user_token()], "clientToken": [shared.client_token()]}
    logins = [f"{username}:{secret}" for username, secret in (shared.app, shared.admin)]
    known = {"tenant-name": [shared.name], "client-name": ["app"], "role-name": ["customer"]}
    return World(tokens | {"operatorToken": ["none"], "apiKey": ["none"], "clientLogin": logins}, known)


async def test_no_generated_request_is_answered_with_5xx(tenant, http):
    requests = Requests(http.get("/openapi.json").json(), seed=7)
    batch = await send_batch(int(http.base_url.port), requests, 7, range(COUNT), make_world(tenant), at_once=3)
    assert batch.findings == []
    assert sum(batch.answers.values()) == COUNT
    # Neither is everything refused, nor everything accepted.
    assert min(sum(batch.answers[tag, kind] for tag, _ in batch.answers) for kind in ("2xx", "4xx")) > 0


def test_a_seed_and_a_number_draw_the_same_request(http, shared):
    document, world = http.get("/openapi.json").json(), make_world(shared)
    for number in range(50):
        drawn = {Requests(document, seed).draw(number, world).encode("h") for seed in (1, 1)}
        assert len(drawn) == 1
    assert Requests(document, 1).draw(0, world) != Requests(document, 2).draw(0, world)
    assert {operation.id for operation in Requests(document, 1).operations} >= {"issue_token", "add_accesses"}


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
    later.settle(finding)
    store_results(tmp_path / "requests.json", later)
    assert load_results(tmp_path / "requests.json") == later
    write_page(later, tmp_path / "requests.md")
    assert "**10 requests, 1 open findings.**" in (tmp_path / "requests.md").read_text()
