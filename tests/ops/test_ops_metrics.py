"""The state of the whole in Prometheus' words."""

from uuid import uuid4

from operating import ago
from prometheus_client.parser import text_string_to_metric_families

from kontor.services.operations.figures import OpsFigures


async def read_metrics(operator):
    await operator.http.get("/health")  # requests are counted from the first that was answered
    answer = await operator.http.get("/metrics")
    assert answer.status_code == 200
    families = list(text_string_to_metric_families(answer.text))
    assert len({family.name for family in families}) == len(families), "each family once"
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value for family in families for sample in family.samples
    }


async def test_metrics_tell_the_state_of_refreshes_jobs_workers_and_providers(operator):
    operator.add_access(next_refresh_at=ago(minutes=20))
    operator.add_access(refresh_pause="SCA")
    operator.add_fetch(operator.add_access(), "RUNNING")
    operator.add_fetch(operator.add_access(), "FAILED")
    operator.add_fetch(operator.add_access(), "SKIPPED", slot_at=ago(hours=1))
    operator.owner.execute("insert into provider_outages values (%s, 3, now(), now())", [uuid4()])
    operator.owner.execute("insert into pgqueuer (priority, status, entrypoint) values (0, 'queued', 'fetch')")
    await operator.services.workers.beat(uuid4())
    found = await read_metrics(operator)
    assert found["kontor_database_up",] == 1
    assert {state: found["kontor_refreshes", state] for state in ("due", "late", "running", "failing", "paused")} == {
        "due": 1, "late": 1, "running": 1, "failing": 1, "paused": 1,
    }  # fmt: skip
    assert (found["kontor_refreshes_paused", "sca"], found["kontor_refreshes_paused", "credentials"]) == (1, 0)
    assert found["kontor_refresh_outcomes_24h", "failed"] == 1
    assert found["kontor_refresh_outcomes_24h", "skipped"] == 1
    assert found["kontor_refresh_outcomes_24h", "done"] == 0
    assert found["kontor_refresh_delay_seconds",] > 19 * 60
    assert found["kontor_provider_outages",] == 1
    assert found["kontor_jobs", "fetch", "queued"] == 1
    assert (found["kontor_workers", "alive"], found["kontor_workers", "dead"]) == (1, 0)
    assert (found["kontor_webhook_deliveries", "pending"], found["kontor_webhook_deliveries", "discarded"]) == (0, 0)
    assert any(name[0] == "kontor_requests_total" for name in found)


async def test_metrics_are_told_without_a_database_too(operator, monkeypatch):
    async def fail(*_):
        raise TimeoutError

    monkeypatch.setattr(OpsFigures, "count_refreshes", fail)
    found = await read_metrics(operator)
    assert found["kontor_database_up",] == 0
    assert ("kontor_refreshes", "due") not in found
    assert any(name[0] == "kontor_requests_total" for name in found)
