"""A PIN that was sent is nowhere: no log, no table, no queue, no answer shows it, neither plain nor merely encoded."""

import base64
import json

import psycopg
import pytest

from banking import ACCESSES, new_customer, new_id, wait_for

MARKED = "geheim-3b9f1c77"
LOGIN = "leer+geheim5d20"


def dump(settings):
    """Every row of every table, as text; bytes as they are."""
    with psycopg.connect(settings.migration_database_url.reveal(), autocommit=True) as connection:
        tables = [
            row[0]
            for row in connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        ]
        assert {"accesses", "pgqueuer", "pgqueuer_log", "audit_entries", "fetches", "dialogues"} <= set(tables)
        for table in tables:
            for (text,) in connection.execute(f"select to_jsonb(t)::text from {table} t").fetchall():
                yield table, text


def forms_of(secret):
    plain = secret.encode()
    return {
        "plain": secret,
        "hex": plain.hex(),
        "Base64": base64.b64encode(plain).decode().rstrip("="),
        "escaped": json.dumps(secret)[1:-1],
    }


@pytest.fixture(scope="module")
def used(bank_server, shared):
    """A customer that did everything that can go wrong with credentials, and every answer it got."""
    customer, answers = new_customer(shared), []
    access_id = new_id()
    for number, login in enumerate((LOGIN, LOGIN, "test_internal", "test_unreachable", "test_locked")):
        body = {f"{access_id}-{number}": customer.access(login, f"{MARKED}")}
        answers.append(customer.post(ACCESSES, body))
    good = customer.credentials(LOGIN, MARKED)
    for bad in (good | {"pin": good["pin"][:-8] + "AAAAAAA="}, good | {"userid": MARKED}):
        body = {"providerId": "00000000-0000-0000-0000-000000000000", "credentials": bad}
        answers.append(customer.post(ACCESSES, {access_id: body}))
    text = json.dumps({access_id: {"providerId": 5, "credentials": {"pin": MARKED}}})
    answers.append(customer.http.post(ACCESSES, content=text, headers=customer.headers))
    answers.append(customer.post(ACCESSES, {access_id: {"providerId": 5, "credentials": {"pin": MARKED}}}))
    customer.add_complete("leer+kept")
    wait_for(lambda: customer.read(ACCESSES), lambda accesses: len(accesses) == 6)
    answers += [customer.get(path) for path in ("/customer/v2", ACCESSES)]
    answers += [customer.get(f"{ACCESSES}/{stored_id}/issues") for stored_id in customer.read(ACCESSES)]
    return customer, answers


def test_pin_is_in_no_answer(used):
    _, answers = used
    assert {answer.status_code for answer in answers} == {200, 201, 400, 415}
    for answer in answers:
        for form in forms_of(MARKED).values():
            assert form not in answer.text + str(answer.headers)


def test_pin_is_in_no_log(used, server_log, worker_log):
    for log in (server_log, worker_log):
        text = log.read_text()
        assert text
        for form in forms_of(MARKED).values():
            assert form not in text


def test_pin_is_in_no_table_and_no_job(used, settings):
    seen = 0
    for table, text in dump(settings):
        seen += 1
        for name, form in forms_of(MARKED).items():
            assert form not in text, f"{name} in {table}"
    assert seen > 50


def test_login_is_in_no_table_but_the_banks_own(used, settings):
    """The bank itself knows its customers; Kontor's own tables hold them sealed."""
    found = {
        table for table, text in dump(settings) if forms_of(LOGIN)["plain"] in text or LOGIN.encode().hex() in text
    }
    assert found <= {"demo_bank_logins"}


def test_jobs_carry_an_id_and_nothing_else(customer, settings, owner):
    owner.execute("create table if not exists seen_jobs (payload bytea, headers jsonb)")
    owner.execute(
        "create or replace function note_job() returns trigger language plpgsql as"
        " $$ begin insert into seen_jobs values (new.payload, new.headers); return new; end $$"
    )
    owner.execute("grant insert on seen_jobs to public")
    owner.execute("create trigger note_job after insert on pgqueuer for each row execute function note_job()")
    try:
        customer.add_complete("leer+job")
        rows = owner.execute("select payload, headers from seen_jobs").fetchall()
    finally:
        owner.execute("drop trigger note_job on pgqueuer")
        owner.execute("drop table seen_jobs")
        owner.execute("drop function note_job")
    assert rows
    assert all(len(payload) == 16 and not headers for payload, headers in rows)
