"""A full disk of the database is told as such, and not as a database that cannot be reached."""

import pytest


@pytest.fixture
def full_disk(owner):
    """PostgreSQL says what it says when it cannot extend a file, for one user's row only."""
    owner.execute(
        "create function say_disk_full() returns trigger language plpgsql as $$ begin"
        " raise exception 'could not extend file' using errcode = 'disk_full'; end $$;"
        " create trigger disk_is_full before insert on users for each row when (new.username = 'disk-full')"
        " execute function say_disk_full()"
    )
    yield
    owner.execute("drop trigger disk_is_full on users; drop function say_disk_full()")


def test_a_full_disk_is_told_by_the_answer_the_log_and_the_health(shared, http, full_disk, server_log):
    assert http.get("/health/ready").json()["checks"] == {"database": True, "compute": True, "disk": True}
    body = {"username": "disk-full", "password": "a long password"}
    headers = shared.as_admin | {"Accept": "application/problem+json"}
    answer = http.post(f"{shared.url}/users", json=body, headers=headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert "disk is full" in answer.text
    log = server_log.read_text()
    assert "database.disk_full" in log
    assert "database.unavailable" not in log
    ready = http.get("/health/ready")
    assert (ready.status_code, ready.json()["checks"]) == (200, {"database": True, "compute": True, "disk": False})
    assert http.get(f"{shared.url}/users", headers=shared.as_admin).status_code == 200
