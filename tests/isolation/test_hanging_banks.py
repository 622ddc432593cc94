"""A process whose banks all hang still serves logins, lists and analyses."""

import threading
from dataclasses import replace
from uuid import uuid4

import httpx
import pytest

from banking import ACCESSES, login, new_customer, wait_for
from consenting import CALLBACK, PRESENT, at_server
from kontor.services.banks.gateway import PROVIDER_CALLS
from plain_http import plain_client
from processes import free_port, running_server

DIALOGUES = 200


@pytest.fixture
def slow_server(settings, tmp_path):
    """A server whose demo bank does not answer the login `test_slow` as long as the test runs."""
    own = replace(settings, base_url=f"http://127.0.0.1:{free_port()}", compute_processes=1, demo_slow_seconds=600)
    server = running_server(own, tmp_path / "slow.log")
    address = server.__enter__()
    try:
        with plain_client(base_url=address, timeout=60) as http:
            yield http
    finally:  # it would wait for its callers as long as it may
        server.process.kill()
        server.process.wait()


@pytest.mark.long
def test_200_hanging_dialogues_leave_the_process_working(slow_server, shared, demo1, owner):
    reader, access_id = demo1
    waiting = at_server(new_customer(shared), slow_server)
    bodies = {f"slow{number}": waiting.access(f"test_slow+{uuid4().hex[:12]}") for number in range(DIALOGUES)}

    def ask(access_id):
        """Again and again, so that there are always so many dialogues: those that find no place end after a while."""
        while True:
            try:
                httpx.post(
                    f"{slow_server.base_url}{ACCESSES}/{access_id}/consent",
                    params={"callbackUrl": CALLBACK},
                    json={access_id: bodies[access_id]},
                    headers=waiting.headers | PRESENT,
                    timeout=1000,
                    verify=False,  # plain HTTP
                )
            except httpx.HTTPError:
                return  # the server was stopped

    threads = [threading.Thread(target=ask, args=[access_id], daemon=True) for access_id in bodies]
    for thread in threads:
        thread.start()

    def count_leases():
        row = owner.execute(
            "select count(*) from credential_leases l join accesses a on a.lease_key = l.key where a.user_id = %s",
            [waiting.reference],
        ).fetchone()
        return row[0]

    wait_for(count_leases, lambda count: count > DIALOGUES // 2, seconds=200)
    customer = at_server(reader, slow_server)
    assert login(customer.tenant, reader.username, f"password of {reader.username}")
    assert customer.transactions(customer.product(access_id, "GIROKONTO"))
    assert customer.get("/customer/v2/ai/contracts").status_code == 200
    assert all(thread.is_alive() for thread in threads)
    assert count_leases() > PROVIDER_CALLS, "the bank hangs"
