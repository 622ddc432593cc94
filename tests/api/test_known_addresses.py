"""A stranger who guesses passwords does not keep the user out."""

import pytest

from kontor.domain.login_addresses import shorten_address
from kontor.storage import login_failures

TOKEN = "/auth/oauth2/token"
HOME, STRANGER, OTHER = "198.51.100.7", "203.0.113.9", "198.51.100.8"


@pytest.fixture
def log_in(shared):
    def ask(person, password, address=None):
        form = {"grant_type": "password", "username": person.username, "password": password}
        headers = {} if address is None else {"Customer-IP-Address": address}
        return shared.http.post(TOKEN, data=form, auth=shared.app, headers=headers).status_code

    return ask


def guess(log_in, person, address, times=6):
    statuses = [log_in(person, "wrong", address) for _ in range(times)]
    assert statuses == [401] * 5 + [429] * (times - 5)


def test_guesses_from_one_address_do_not_slow_down_another(log_in, new_user):
    person = new_user()
    guess(log_in, person, STRANGER)
    assert log_in(person, person.password, HOME) == 200
    assert log_in(person, person.password, STRANGER) == 429


def test_a_right_password_is_accepted_from_a_known_address_while_the_name_is_slowed_down_there(log_in, new_user):
    """As behind one proxy, or through a client that does not tell its users' addresses."""
    person, newcomer = new_user(), new_user()
    assert log_in(person, person.password, HOME) == 200
    for who in (person, newcomer):
        guess(log_in, who, HOME, 8)
    assert log_in(newcomer, newcomer.password, HOME) == 429
    assert log_in(person, person.password, HOME) == 200
    guess(log_in, person, HOME)  # the right one forgot the wrong ones before


def test_a_known_address_is_known_for_its_user_only(log_in, new_user):
    person, neighbour = new_user(), new_user()
    assert log_in(person, person.password, HOME) == 200
    guess(log_in, neighbour, HOME)
    assert log_in(neighbour, neighbour.password, HOME) == 429


def test_a_known_address_cannot_guess_for_ever(log_in, new_user, owner):
    person = new_user()
    assert log_in(person, person.password, OTHER) == 200
    owner.execute("delete from login_failures")
    guess(log_in, person, OTHER)
    owner.execute("update login_failures set failures = %s", [login_failures.KNOWN_FREE_FAILURES])
    assert log_in(person, person.password, OTHER) == 429
    owner.execute("delete from login_failures")


def test_guesses_from_many_addresses_slow_down_unknown_addresses_only(log_in, new_user, owner):
    person = new_user()
    assert log_in(person, person.password, HOME) == 200
    owner.execute("delete from login_failures")
    assert log_in(person, "wrong", STRANGER) == 401
    owner.execute("update login_failures set failures = %s", [login_failures.NAME_FREE_FAILURES])  # of name and pair
    guesses = [log_in(person, "wrong", f"203.0.113.{number}") for number in range(10, 14)]
    assert guesses == [401, 429, 429, 429]
    assert log_in(person, person.password, OTHER) == 429
    assert log_in(person, person.password, HOME) == 200
    owner.execute("delete from login_failures")


def test_an_address_is_unknown_again_after_thirty_days(log_in, new_user, owner):
    person = new_user()
    assert log_in(person, person.password, HOME) == 200
    owner.execute(
        "update login_addresses set last_at = now() - interval '31 days'"
        " where user_id = (select id from users where username = %s)",
        [person.username],
    )
    guess(log_in, person, HOME)
    assert log_in(person, person.password, HOME) == 429


async def test_addresses_are_hashes_and_go_with_age_and_with_the_user(log_in, new_user, shared, owner, services):
    person = new_user()
    for address in (HOME, OTHER):
        assert log_in(person, person.password, address) == 200
    find = "select address, a::text from login_addresses a join users u on u.id = user_id where username = %s"
    rows = owner.execute(find, [person.username]).fetchall()
    assert [len(digest) for digest, _ in rows] == [32, 32]
    assert HOME not in str(rows)
    owner.execute("update login_addresses set last_at = now() - interval '31 days' where address = %s", [rows[0][0]])
    await services.housekeeping.clean()
    assert [row[0] for row in owner.execute(find, [person.username])] == [rows[1][0]]
    [(user_id,)] = owner.execute("select id from users where username = %s", [person.username]).fetchall()
    await services.users.erase_user_by_operator(shared.name, person.username)
    assert owner.execute("select 1 from login_addresses where user_id = %s", [user_id]).fetchall() == []


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("unknown", "unknown"),
    ],
)
def test_an_ipv6_address_counts_by_its_network(text, short):
    assert shorten_address(text) == short
