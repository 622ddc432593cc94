"""Limits of questions to the own model, and servers that fail."""

import asyncio

import pytest

from hostile_banks import HEAD, after_request, answer, repeat, running_hostile_bank
from known_merchants import CATEGORY, OTHER, SHOP, be_due_again, pay
from kontor.domain.merchants import MerchantState
from kontor.egress import CONNECTION_COUNTERS, Purpose
from kontor.services.merchants import questions
from kontor.storage import queue
from model_servers import ModelServer, complete


async def test_a_run_and_a_day_have_their_limits(tenant, owner, ask_with, monkeypatch):
    monkeypatch.setattr(questions, "REQUESTS_PER_RUN", 3)
    shops = [f"ZIRBEL{chr(97 + number) * 3}" for number in range(8)]
    await tenant.add_payer(*(pay(shop) for shop in shops))
    with ModelServer() as server:
        made = ask_with(server, daily_requests=5)
        counts = [await made.run() for _ in range(3)]
        assert counts == [3, 2, 0]
        assert len(set(server.merchants)) == len(server.merchants) == 5
        owner.execute("update model_days set day = day - 1")
        be_due_again(owner)
        assert await made.run() == 3
        assert len(set(server.merchants)) == 8


async def test_no_more_is_collected_than_can_be_asked(tenant, owner, ask_with, monkeypatch):
    monkeypatch.setattr(questions, "MAX_OPEN", 2)
    await tenant.add_payer(*(pay(f"ZIRBEL{chr(97 + number) * 3}") for number in range(5)))
    with ModelServer() as server:
        made, seen = ask_with(server), []
        for _ in range(4):
            await made.run()
            seen.append(len(server.received))
            be_due_again(owner)
        assert seen == [2, 4, 5, 5]


async def test_a_failed_request_is_made_again_after_a_pause_that_grows(tenant, owner, ask_with):
    await tenant.add_payer(pay(SHOP), pay(OTHER))
    with ModelServer() as server:
        server.answer = lambda number: (503, {}, b"") if number < 2 else complete(CATEGORY)
        made = ask_with(server)
        assert await made.run() == 1
        assert made.last_failure == "status"
        made.clock.seconds = 119
        assert await made.run() == 0, "the first pause is two minutes"
        made.clock.seconds = 121
        assert await made.run() == 1
        assert len(set(server.merchants)) == 2, "the other one is tried first"
        made.clock.seconds = 121 + 479
        assert await made.run() == 0, "the second one eight minutes"
        made.clock.seconds = 121 + 481
        assert await made.run() == 0, "both wait for their own turn"
        be_due_again(owner)
        assert await made.run() == 2
    assert {entry.state for entry in (await tenant.list()).values()} == {MerchantState.SUGGESTED}


async def test_who_never_gets_an_answer_is_given_up(tenant, owner, ask_with):
    await tenant.add_payer(pay(SHOP))
    with ModelServer() as server:
        server.answer = lambda _: (500, {}, b"")
        for _ in range(12):
            be_due_again(owner)
            await ask_with(server).run()
        assert len(server.received) == 10
    assert (await tenant.list())["zirbelglueck"].state is MerchantState.UNANSWERED


HOSTILE = {
    "too-large": repeat(b"[" * 65536, HEAD + b"\r\n"),
    "timeout": repeat(b"X: a\r\n", HEAD, is_slow=True),
    "malformed": after_request(lambda visit: visit.send(b"\x00\xff\xfe nothing\r\n\r\n")),
}


@pytest.mark.parametrize("failure", HOSTILE)
async def test_a_hostile_server_gets_a_second_and_holds_up_nobody(tenant, ask_with, failure):
    await tenant.add_payer(pay(SHOP))
    with running_hostile_bank(HOSTILE[failure]) as server:
        made = ask_with(f"{server.url}/v1", seconds=1)
        turns = 0

        async def count_turns():
            nonlocal turns
            while True:
                await asyncio.sleep(0.01)
                turns += 1

        counting = asyncio.create_task(count_turns())
        assert await asyncio.wait_for(made.run(), 20) == 1
        counting.cancel()
    assert made.last_failure == failure
    assert turns >= 1
    assert (await tenant.list())["zirbelglueck"].state is MerchantState.OPEN


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        (b"{}", "malformed"),
        (b'{"choices": []}', "malformed"),
        (b'{"choices": [{"message": {"content": 7}}]}', "malformed"),
        (b"[" * 100_000, "malformed"),
        (b'{"choices": "\xff"}', "malformed"),
        (b"", "malformed"),
    ],
)
async def test_a_malformed_answer_is_a_failure(tenant, ask_with, body, failure):
    await tenant.add_payer(pay(SHOP))
    with running_hostile_bank(answer(body)) as server:
        made = ask_with(f"{server.url}/v1")
        await made.run()
    assert made.last_failure == failure


async def test_redirects_are_not_followed_and_no_other_host_is_asked(tenant, ask_with):
    await tenant.add_payer(pay(SHOP))
    with ModelServer() as target, ModelServer() as server:
        server.answer = lambda _: (307, {"location": f"{target.base_url}/chat/completions"}, b"")
        made = ask_with(server)
        await made.run()
        assert (made.last_failure, target.received) == ("status", [])


async def test_a_server_that_is_away_is_a_failure_and_connections_are_counted_by_their_purpose(tenant, ask_with):
    CONNECTION_COUNTERS.drain()
    await tenant.add_payer(pay(SHOP))
    made = ask_with("http://127.0.0.1:9/v1")
    await made.run()
    assert made.last_failure == "unreachable"
    [(key, counts)] = [
        (key, counts) for key, counts in CONNECTION_COUNTERS.drain().items() if key.purpose is Purpose.MODEL
    ]
    assert (key.host, counts.failures) == ("127.0.0.1", 1)


async def test_answers_that_a_dead_worker_stored_are_put_in_force_by_the_next_run(tenant, owner, ask_with):
    payer = await tenant.add_payer(pay(SHOP))
    with ModelServer({"zirbelglueck": CATEGORY}) as server:
        made = ask_with(server)
        await made.collect()
        assert await made._ask_once(made._calls, tenant.principal.tenant_id)
        owner.execute("delete from pgqueuer")
        assert await ask_with(server).run() == 0
    assert owner.execute("select count(*) from pgqueuer where entrypoint = %s", [queue.RETAG_TENANT]).fetchone() == (1,)
    await payer.retag()
    assert (await payer.categories())[SHOP] == (CATEGORY, 0.6)


async def test_two_workers_ask_about_each_merchant_once(tenant, ask_with):
    await tenant.add_payer(*(pay(f"ZIRBEL{chr(97 + number) * 3}") for number in range(6)))
    with ModelServer() as server:
        await asyncio.gather(*(ask_with(server).run() for _ in range(3)))
        assert len(set(server.merchants)) == len(server.merchants) == 6
