"""The ledger of connections to other hosts, as operators see it."""

from datetime import UTC, datetime, timedelta

from prometheus_client.parser import text_string_to_metric_families

from kontor.domain.egress import KEPT_DAYS

TODAY = datetime.now(UTC).date()


def add_day(operator, host, purpose="bank", days_ago=0, counts=(3, 1, 0, 100, 2000)):
    day = TODAY - timedelta(days=days_ago)
    operator.owner.execute(
        "insert into egress_days values (%s, %s, %s, %s, %s, %s, %s, %s)", [day, host, purpose, *counts]
    )


async def read_hosts(operator, **query):
    return [row["host"] for row in await operator.read_all("egress", **query)]


async def test_days_are_added_up_by_host_and_purpose(operator):
    operator.owner.execute("delete from egress_days")
    add_day(operator, "b.example")
    add_day(operator, "b.example", days_ago=5)
    add_day(operator, "b.example", days_ago=40)
    add_day(operator, "a.example", "webhook", counts=(0, 0, 2, 0, 0))
    day = TODAY.isoformat()
    assert await operator.read("egress") == [
        {
            "host": "a.example", "purpose": "webhook", "connections": 0, "failures": 0, "refused": 2,
            "bytesSent": 0, "bytesReceived": 0, "firstDay": day, "lastDay": day,
        },
        {
            "host": "b.example", "purpose": "bank", "connections": 6, "failures": 2, "refused": 0, "bytesSent": 200,
            "bytesReceived": 4000, "firstDay": (TODAY - timedelta(days=5)).isoformat(), "lastDay": day,
        },
    ]  # fmt: skip
    assert await read_hosts(operator, limit=1) == ["a.example", "b.example"]
    (old,) = await operator.read(
        "egress", since=(TODAY - timedelta(days=50)).isoformat(), until=(TODAY - timedelta(days=10)).isoformat()
    )
    assert (old["host"], old["connections"]) == ("b.example", 3)


async def test_only_operators_see_hosts_and_a_wrong_span_is_refused(operator):
    assert (await operator.call("north", "egress")).status_code in (401, 403)
    assert (await operator.call("operator", "egress", since="2026-02-01", until="2026-01-01")).status_code == 400
    assert (await operator.call("operator", "egress", since="yesterday")).status_code == 400


async def test_metrics_have_the_purposes_and_no_hosts(operator):
    operator.owner.execute("delete from egress_days")
    add_day(operator, "secret-host.example")
    add_day(operator, "other.example")
    add_day(operator, "old.example", days_ago=1)
    answer = await operator.http.get("/metrics")
    assert "secret-host" not in answer.text
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.text) for sample in family.samples
    }  # fmt: skip
    assert samples["kontor_egress_hosts", "bank"] == 2
    assert samples["kontor_egress_connections", "bank", "open"] == 6
    assert samples["kontor_egress_connections", "bank", "failed"] == 2
    assert samples["kontor_egress_bytes", "bank", "received"] == 4000
    assert samples["kontor_egress_connections", "other", "refused"] == 0


async def test_days_are_kept_for_two_years(operator):
    operator.owner.execute("delete from egress_days")
    add_day(operator, "kept.example", days_ago=KEPT_DAYS)
    add_day(operator, "gone.example", days_ago=KEPT_DAYS + 1)
    await operator.services.housekeeping.clean()
    assert operator.owner.execute("select host from egress_days").fetchall() == [("kept.example",)]
