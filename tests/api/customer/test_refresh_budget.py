"""Over HTTP: four fetches in 24 hours without the user, then `Retry-After`; with the user there is no limit."""

from banking import ACCESSES
from consenting import PRESENT, new_login


def count_calls(owner, customer, access_id):
    query = "select count(*) from unattended_calls where user_id = %s and access_id = %s"
    return owner.execute(query, [customer.reference, access_id]).fetchone()[0]


def count_fetches(owner, customer, access_id):
    query = "select count(*) from fetches where user_id = %s and access_id = %s"
    return owner.execute(query, [customer.reference, access_id]).fetchone()[0]


def test_fifth_fetch_without_the_user_is_answered_with_retry_after(customer, owner):
    access_id = customer.add_complete(new_login("leer"))
    for _ in range(3):
        answer = customer.refresh(access_id)
        assert answer.status_code == 201
        assert "retry-after" not in answer.headers
    assert count_calls(owner, customer, access_id) == 4
    before = count_fetches(owner, customer, access_id)
    answer = customer.refresh(access_id)
    assert answer.status_code == 201
    assert answer.headers["location"].endswith(f"{ACCESSES}/{access_id}")
    assert 86_000 < int(answer.headers["retry-after"]) <= 86_430
    assert answer.content == b""
    assert count_fetches(owner, customer, access_id) == before, "nothing is queued"
    assert customer.read_access(access_id)["status"] == "VOLLSTAENDIG"
    # Whoever is there may ask.
    for _ in range(2):
        answer = customer.post(f"{ACCESSES}?refresh=true", {access_id: {}}, headers=PRESENT)
        assert answer.status_code == 201
        assert "retry-after" not in answer.headers
    assert count_fetches(owner, customer, access_id) == before + 2
    assert count_calls(owner, customer, access_id) == 4


def test_other_credentials_are_kept_although_the_bank_is_not_called(customer, owner):
    """The longest wait of all accesses named is told."""
    login = new_login("leer")
    access_id = customer.add_complete(login)
    fresh = customer.add_complete(new_login("leer"))
    for _ in range(3):
        customer.refresh(access_id)
    body = {access_id: customer.access(login, "leer"), fresh: {}}
    answer = customer.post(f"{ACCESSES}?refresh=true", body)
    assert answer.status_code == 201
    assert int(answer.headers["retry-after"]) > 86_000
    digests = owner.execute(
        "select count(distinct credentials_digest) from accesses where user_id = %s", [customer.reference]
    ).fetchone()
    assert digests == (2,)
    assert count_calls(owner, customer, access_id) == 4
    assert count_calls(owner, customer, fresh) == 2
    row = owner.execute(
        "select next_refresh_at is not null, refresh_pause from accesses where user_id = %s and id = %s",
        [customer.reference, access_id],
    ).fetchone()
    assert row == (True, None)
