"""A Citus cluster that was started for the tests: rules hold on its workers, and nothing is lost when a node stops.

Runs where `KONTOR_TEST_DATABASE_URL` and its companions are set (`tests/given_clusters.py`).
"""

import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest
from psycopg import sql

import given_clusters
from banking import ACCESSES, href, new_customer, new_id
from kontor.storage.distributing import make_plan
from kontor.storage.distribution import DISTRIBUTED, LOCAL

pytestmark = pytest.mark.skipif(not given_clusters.is_given(), reason="no cluster is given")
controlled = pytest.mark.skipif(given_clusters.CONTROL not in os.environ, reason="nodes cannot be stopped")
each_node = pytest.mark.parametrize("node", ["worker1", "worker2", "coordinator"])

LOGIN = "demo1"
WAIT_TIMEOUT_SECONDS = 300
DOWN_SECONDS = 3
PRESENT = {"Customer-IP-Address": "8.8.8.8"}
CALLBACK = {"callbackUrl": "https://example.com/back"}
RECIPIENT = {"recipient": "Erika Mustermann", "iban": "DE89370400440532013000", "bic": "COBADEFFXXX"}
DETAILS = RECIPIENT | {"currency": "EUR", "amount": 0.01}


def test_every_table_is_where_it_belongs(settings):
    assert make_plan(settings.migration_database_url, None).is_done


def test_a_statement_that_asks_more_than_one_shard_fails_in_this_run(settings):
    with (
        psycopg.connect(settings.database_url.reveal(), autocommit=True) as connection,
        pytest.raises(psycopg.errors.InternalError, match="multi-task query"),
    ):
        connection.execute("select count(*) from transactions")


def test_workers_show_a_connection_the_rows_of_its_user_alone(settings, demo1):
    """Also a statement that has lost its condition and asks all shards."""
    customer, _ = demo1
    bound = sql.SQL("set local kontor.user_id = {}").format(sql.Literal(customer.reference))
    with psycopg.connect(settings.database_url.reveal(), autocommit=True) as connection:
        connection.execute("set citus.multi_task_query_log_level = 'off'")
        connection.execute("set citus.propagate_set_commands = 'local'")
        assert connection.execute("select count(*) from transactions").fetchone() == (0,)
        with connection.transaction():
            connection.execute(bound)
            found = connection.execute("select user_id::text, count(*) from transactions group by user_id").fetchall()
        assert [user for user, _ in found] == [customer.reference]
        with connection.transaction(force_rollback=True):
            connection.execute(bound)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("insert into data_versions (user_id) values (gen_random_uuid())")


# A node stops


def repeat(action, is_done):
    """Until it is done; while a node is away, callers are told to come back or lose their connection."""
    end = time.monotonic() + WAIT_TIMEOUT_SECONDS
    while True:
        try:
            answer = action()
            if is_done(answer):
                return answer
            assert answer.status_code in (200, 409, 503), answer.text
        except httpx.TransportError:
            pass
        assert time.monotonic() < end, "not done in time"
        time.sleep(0.2)


def interrupt(node):
    given_clusters.control("stop", node)
    time.sleep(DOWN_SECONDS)  # so that everybody has met the gap
    given_clusters.control("start", node)


def add_access(customer, login):
    """A fetch, asked for until it is accepted."""
    access_id = new_id()
    body = {access_id: customer.access(login)}
    repeat(lambda: customer.post(ACCESSES, body), lambda answer: answer.status_code in (201, 409))
    return access_id


def wait_until_complete(customer, access_id):
    url = f"{ACCESSES}/{access_id}"
    repeat(
        lambda: customer.http.get(url, headers=customer.headers),
        lambda answer: answer.status_code == 200 and answer.json()["status"] == "VOLLSTAENDIG",
    )


def read_all(customer, access_id):
    """How often each transaction is there, by account."""
    found = Counter()
    for product in customer.products(access_id):
        if any(relation["rel"] == "get_kontoumsaetze" for relation in product["relations"]):
            for row in customer.transactions(product):
                found[product["kategorie"], row.get("buchungsdatum"), row["betrag"], row.get("verwendungszweck")] += 1
    return found


@controlled
@each_node
def test_fetches_bring_everything_once_although_a_node_stops(bank_server, shared, node):
    customers = [new_customer(shared) for _ in range(3)]
    logins = [f"{LOGIN}+{new_id()[:8]}" for _ in customers]
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(add_access, *given) for given in zip(customers, logins, strict=True)]
        pool.submit(interrupt, node).result()
        added = [future.result() for future in running]
    for customer, login, access_id in zip(customers, logins, added, strict=True):
        wait_until_complete(customer, access_id)
        undisturbed = new_customer(shared)
        repeated = add_access(undisturbed, login)
        wait_until_complete(undisturbed, repeated)
        found = read_all(customer, access_id)
        assert sum(found.values()) > 100
        assert found == read_all(undisturbed, repeated)


@controlled
@each_node
def test_erased_users_leave_nothing_although_a_node_stops(bank_server, shared, owner_address, node):
    customers = [new_customer(shared) for _ in range(3)]
    for customer in customers:
        wait_until_complete(customer, add_access(customer, f"{LOGIN}+{new_id()[:8]}"))

    def erase(customer):
        repeat(
            lambda: customer.http.delete(
                "/customer/v2", headers=customer.headers, params={"confirm": customer.username}
            ),
            lambda answer: answer.status_code in (200, 401, 403),
        )
        # Whoever was told that the token is dead may have been erased in part: the tenant repeats the deletion.
        repeat(
            lambda: customer.tenant.http.delete(
                f"{customer.tenant.url}/users/{customer.reference}", headers=customer.tenant.as_admin
            ),
            lambda answer: answer.status_code in (200, 204, 404),
        )

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(erase, customer) for customer in customers]
        pool.submit(interrupt, node).result()
        for future in running:
            future.result()
    with psycopg.connect(owner_address, autocommit=True) as connection:
        for table in {*DISTRIBUTED, *LOCAL} - {"payments"}:
            query = sql.SQL("select count(*) from {} where user_id = any(%s)").format(sql.Identifier(table))
            users = [customer.reference for customer in customers]
            assert connection.execute(query, [users]).fetchone() == (0,), table


@controlled
@each_node
def test_payments_are_made_once_although_a_node_stops(bank_server, shared, owner_address, node):
    payers = [new_customer(shared) for _ in range(3)]
    accesses = [add_access(payer, f"familie+{new_id()[:8]}") for payer in payers]
    for payer, access_id in zip(payers, accesses, strict=True):
        wait_until_complete(payer, access_id)
    urls = [
        href(payer.product(access_id, "GIROKONTO"), "initiate_single_transfer")
        for payer, access_id in zip(payers, accesses, strict=True)
    ]
    purposes = [f"Auftrag {new_id()[:16]}" for _ in payers]

    def pay(payer, url, purpose):
        body = {"instant": False, "transferDetails": DETAILS | {"purpose": purpose}}
        query = CALLBACK | {"paymentId": new_id()}

        def go_on():
            answer = payer.post(url, body, params=query, headers=PRESENT)
            steps = [r["href"] for r in answer.json().get("relations", ()) if r["rel"] == "authenticate"]
            return payer.post(steps[0], {"scaAuthenticationData": "12"}) if steps else answer

        def is_paid(answer):
            codes = {message["code"] for message in answer.json().get("messages", ())}
            return bool(codes & {"BA1111", "BA1112"})

        repeat(go_on, is_paid)

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(pay, *given) for given in zip(payers, urls, purposes, strict=True)]
        pool.submit(interrupt, node).result()
        for future in running:
            future.result()
    with psycopg.connect(owner_address, autocommit=True) as connection:
        for purpose in purposes:
            query = "select count(*) from demo_bank_bookings where position(%s in purpose) > 0 and place = 0"
            assert connection.execute(query, [purpose]).fetchone() == (1,)


# Shards move


PLACE = """
    select s.shardid, n.nodeid, n.nodename, n.nodeport
    from citus_shards s join pg_dist_node n using (nodename, nodeport)
    where s.shardid = get_shard_id_for_distribution_column('transactions', %s::uuid)
"""
OTHER_PLACE = """
    select nodename, nodeport from pg_dist_node where isactive and shouldhaveshards and nodeid <> %s order by nodeid
"""
MOVE = "select citus_move_shard_placement(%s, %s, %s, %s, %s, shard_transfer_mode := 'force_logical')"


def find_place(connection, customer):
    row = connection.execute(PLACE, [customer.reference]).fetchone()
    assert row is not None
    return row


def move_shard(address, customer):
    """The shard of a user, with those of the other tables that lie beside it, to another node."""
    with psycopg.connect(address, autocommit=True) as connection:
        shard, node, *source = find_place(connection, customer)
        target = connection.execute(OTHER_PLACE, [node]).fetchone()
        assert target is not None
        connection.execute(MOVE, [shard, *source, *target])


def test_users_are_served_and_lose_nothing_while_their_shards_move(bank_server, shared, owner_address):
    customer = new_customer(shared)
    first = add_access(customer, f"{LOGIN}+{new_id()[:8]}")
    wait_until_complete(customer, first)
    known = read_all(customer, first)
    with psycopg.connect(owner_address, autocommit=True) as connection:
        before = find_place(connection, customer)
    added = []
    with ThreadPoolExecutor(1) as pool:
        moving = pool.submit(move_shard, owner_address, customer)
        while not moving.done():
            login = f"{LOGIN}+{new_id()[:8]}"
            added.append((login, add_access(customer, login)))
            wait_until_complete(customer, added[-1][1])
            repeat(lambda: customer.get(ACCESSES), lambda answer: answer.status_code == 200)
        moving.result()
    with psycopg.connect(owner_address, autocommit=True) as connection:
        after = find_place(connection, customer)
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert read_all(customer, first) == known
    for login, access_id in added[:2]:
        undisturbed = new_customer(shared)
        repeated = add_access(undisturbed, login)
        wait_until_complete(undisturbed, repeated)
        assert read_all(customer, access_id) == read_all(undisturbed, repeated)


@pytest.fixture
def owner_address(settings):
    """Connected to after the node is back: a connection of before would be dead."""
    return settings.migration_database_url.reveal()
