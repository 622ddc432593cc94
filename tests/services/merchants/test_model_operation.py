"""The own model in the worker, in metrics and in `kontor check`."""

import asyncio
from dataclasses import replace

from known_merchants import CATEGORY, OTHER, SHOP, pay
from kontor.api.metrics import render_metrics
from kontor.cli.checks.findings import State
from kontor.cli.checks.networks import check_networks
from kontor.config import read_settings
from kontor.jobs.tasks import reap
from model_servers import ModelServer
from timeouts import WAIT_TIMEOUT_SECONDS


async def test_the_worker_asks_by_itself(services, tenant, ask_with):
    await tenant.add_payer(pay(SHOP))
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        working = asyncio.create_task(reap(replace(services, merchant_questions=ask_with(server))))
        async with asyncio.timeout(WAIT_TIMEOUT_SECONDS):
            while not server.received:  # noqa: ASYNC110 (the server's thread decides)
                await asyncio.sleep(0.05)
        working.cancel()
        assert server.merchants == ["zirbelglueck"]


async def test_metrics_count_merchants_by_state(services, tenant, owner, ask_with):
    owner.execute("delete from tenant_merchants")
    await tenant.add_payer(pay(SHOP), pay(OTHER))
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        await ask_with(server).run()
    shown = (await render_metrics(services.ops.figures)).decode()
    assert 'kontor_model_merchants{state="suggested"} 1.0' in shown
    assert 'kontor_model_merchants{state="unanswered"} 1.0' in shown
    assert 'kontor_model_merchants{state="approved"} 0.0' in shown


def test_kontor_check_says_whether_the_model_is_reached():
    name = {"KONTOR_MODEL_NAME": "m"}
    with ModelServer() as server:
        url = server.base_url
        [found] = check_networks(read_settings({"KONTOR_MODEL_URL": url} | name), all_banks=False)
        assert (found.subject, found.state) == ("KONTOR_MODEL_URL", State.OK)
    [found] = check_networks(read_settings({"KONTOR_MODEL_URL": url} | name), all_banks=False)
    assert (found.subject, found.state) == ("KONTOR_MODEL_URL", State.WARNING)
