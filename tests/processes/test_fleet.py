"""Several processes are one service: what one does, the others know at once, and none of them minds a restart."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from replicated_clusters import wait_for_synchronous_standby

from banking import ACCESSES, new_customer, new_id, wait_for

pytestmark = pytest.mark.long


def status(tenant, url, token):
    return tenant.http.get(url, headers={"Authorization": f"Bearer {token}"}).status_code


def count_ready(fleet):
    return [worker.printed.count("worker.ready") for worker in fleet.workers]


def is_more(now, before):
    return all(count > earlier for count, earlier in zip(now, before, strict=True))


def test_a_token_revoked_at_one_process_is_dead_at_the_other(fleet):
    here, there = [fleet.at(address) for address in fleet.servers]
    for revoking, using in ((here, there), (there, here)):
        token = using.user_token()
        assert [status(tenant, ACCESSES, token) for tenant in (here, there)] == [200, 200]
        answer = revoking.http.post("/auth/oauth2/revoke", data={"token": token}, auth=revoking.app)
        assert answer.status_code == 200
        assert [status(tenant, ACCESSES, token) for tenant in (using, revoking)] == [403, 403]


def test_a_user_deleted_at_one_process_leaves_nothing_readable_at_the_other(fleet):
    here, there = [fleet.at(address) for address in fleet.servers]
    customer = new_customer(here)
    access_id = customer.add_complete("demo1+fleet")
    urls = [f"{ACCESSES}/{access_id}", ACCESSES]
    urls += [relation["href"] for product in customer.products(access_id) for relation in product["relations"]
             if relation["rel"].startswith("get_")]  # fmt: skip
    paths = [link.removeprefix(fleet.settings.base_url) for link in urls]
    assert 200 in {status(there, path, customer.token) for path in paths}
    url = f"{here.url}/users/{customer.reference}"
    assert here.http.put(f"{url}/deactivate", headers=here.as_admin).status_code < 300
    assert {status(there, path, customer.token) for path in paths} == {403}
    assert here.http.delete(url, headers=here.as_admin).status_code < 300
    assert {status(there, path, customer.token) for path in paths} == {403}
    assert there.http.get(url, headers=there.as_admin).status_code == 404
    columns = fleet.query(
        "select c.table_name from information_schema.columns c join information_schema.tables t"
        " using (table_schema, table_name) where table_schema = 'public' and column_name = 'user_id'"
        " and table_type = 'BASE TABLE'"
    )
    left = [
        table for (table,) in columns
        if fleet.query(f"select 1 from {table} where user_id = %s limit 1", customer.reference)
    ]  # fmt: skip
    assert left == []


def test_a_bank_that_is_being_asked_is_asked_on_when_the_queue_loses_its_connection(fleet):
    """The worker is back at its queue before the bank has answered, and nobody asks a second time."""
    customer, access_id = new_customer(fleet.tenant), new_id()
    ready = count_ready(fleet)
    with ThreadPoolExecutor(1) as pool:
        posted = pool.submit(customer.post, ACCESSES, {access_id: customer.access("test_slow+lost")})
        find = "select state, attempts from fetches where user_id = %s"
        wait_for(lambda: fleet.query(find, customer.reference), lambda rows: rows == [("RUNNING", 1)])
        fleet.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name ~ '^kontor queue'")
        wait_for(lambda: count_ready(fleet), lambda now: is_more(now, ready))
        assert posted.result().status_code == 201
    customer.wait_until_complete(access_id)
    assert fleet.query(find, customer.reference) == [("DONE", 1)]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_a_restart_of_postgresql_is_survived_and_callers_are_told_to_come_back(fleet, how):
    ready = count_ready(fleet)
    answers, over = [], threading.Event()

    def keep_calling(address):
        tenant = fleet.at(address)
        while not over.is_set():
            answers.append(fleet.create_user(tenant, f"restart-{uuid4().hex[:12]}"))
            time.sleep(0.05)

    with ThreadPoolExecutor(2) as pool:
        calling = [pool.submit(keep_calling, address) for address in fleet.servers]
        try:
            wait_for(lambda: len(answers), lambda count: count > 4)
            fleet.primary.end(how)
            wait_for(lambda: [answer for answer in answers if answer is not None and answer.status_code == 503], len)
            fleet.primary.start()
            if fleet.standby is not None:
                wait_for_synchronous_standby(fleet.primary)
            wait_for(lambda: count_ready(fleet), lambda now: is_more(now, ready))
            before = len(answers)
            wait_for(
                lambda: answers[before:], lambda new: len([answer for answer in new if answer.status_code == 201]) > 4
            )
        finally:
            over.set()
        for future in calling:
            future.result()
    assert None not in answers
    assert {answer.status_code for answer in answers} == {201, 503}
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers if answer.status_code == 503)
    new_customer(fleet.tenant).add_complete("leer")
    fleet.assert_all_live()
