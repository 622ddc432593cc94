"""Push subscriptions over the API: their shape, whose they are, and what is refused."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from banking import href, narrow, new_customer, rels
from kontor_client import Kontor
from push_browsers import decode, new_browser

ALERTS = "/customer/v2/hinweise"
PUSH = f"{ALERTS}/push"


@pytest.fixture(scope="module")
def customer(bank_server, shared):
    return new_customer(shared)


def add(customer, browser=None, **facts):
    return customer.post(PUSH, (browser or new_browser()).subscription | facts)


def refuse(customer, **facts):
    answer = add(customer, **facts)
    assert answer.status_code == 400, answer.text
    return answer.json()["message"]


def test_the_key_is_a_point_of_p256_and_the_same_for_everybody(customer, shared):
    answer = customer.read(f"{ALERTS}/push-key")
    assert list(answer) == ["key"]
    point = decode(answer["key"])
    assert (len(point), point[0]) == (65, 4)
    assert new_customer(shared).read(f"{ALERTS}/push-key") == answer


def test_a_subscription_is_made_listed_read_and_deleted(bank_server, shared):
    customer, browser = new_customer(shared), new_browser()
    answer = add(customer, browser, arten=["PRICE_RISE", "BALANCE_LOW", "PRICE_RISE"])
    assert (answer.status_code, answer.content) == (201, b"")
    [shown] = customer.read(PUSH)
    assert answer.headers["location"] == href(shown, "self")
    assert list(shown) == ["id", "endpoint", "erstelltAm", "relations", "arten"]
    assert (shown["endpoint"], shown["arten"], rels(shown)) == (
        browser.endpoint, ["PRICE_RISE", "BALANCE_LOW"], ["self"],
    )  # fmt: skip
    assert customer.read(href(shown, "self")) == shown
    assert add(customer, browser).headers["location"] == answer.headers["location"]
    assert "arten" not in customer.read(href(shown, "self"))
    assert customer.delete(href(shown, "self")).status_code == 200
    assert customer.read(PUSH) == []
    assert customer.delete(href(shown, "self")).status_code == 404


def test_the_client_subscribes_a_browser_and_ends_it(bank_server, shared):
    with Kontor(bank_server, new_customer(shared).token) as client:
        assert decode(client.read_push_key().key)[0] == 4
        browser = new_browser()
        keys = browser.subscription["keys"]
        made = client.add_push_subscription(browser.endpoint, **keys, kinds=["CONSENT_ENDS"])
        assert (made.endpoint, made.kinds) == (browser.endpoint, ["CONSENT_ENDS"])
        assert client.list_push_subscriptions() == [client.read_push_subscription(made.id)]
        client.delete_push_subscription(made.id)
        assert client.list_push_subscriptions() == []


def test_somebody_elses_subscription_is_unknown(customer, shared):
    own = add(customer).headers["location"]
    stranger = new_customer(shared)
    assert stranger.get(own).status_code == 404
    assert stranger.delete(own).status_code == 404
    assert customer.get(own).status_code == 200


def test_reading_needs_read_and_changing_needs_modify(customer):
    own = add(customer).headers["location"]
    reader = narrow(customer, "http://service/customer/read")
    assert reader.get(PUSH).status_code == 200
    assert add(reader).status_code == 403
    assert reader.delete(own).status_code == 403
    payer = narrow(customer, "http://service/customer/ueberweisung")
    assert payer.get(PUSH).status_code == 403
    assert payer.get(f"{ALERTS}/push-key").status_code == 403


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"endpoint": "http://8.8.8.8/x"}, "endpoint: must be an https address"),
        ({"endpoint": "https://8.8.8.8:22/x"}, "endpoint: must have the port 443 or 8443"),
        ({"endpoint": "https://192.168.1.1/x"}, "endpoint: must lead to a public address on the internet"),
        ({"endpoint": "https://127.0.0.1/x"}, "endpoint: must lead to a public address on the internet"),
        ({"endpoint": 5}, "endpoint: expected str, got int"),
        ({"keys": {"p256dh": "!", "auth": "AAAAAAAAAAAAAAAAAAAAAA"}}, "keys.p256dh: must be base64url"),
        ({"keys": {"p256dh": "AAAA", "auth": "AA"}}, "keys.p256dh: must be 65 bytes in base64url"),
        (
            {"keys": {"p256dh": "BA" + "A" * 85, "auth": "AAAAAAAAAAAAAAAAAAAAAA"}},
            "keys.p256dh: is no point of the curve P-256",
        ),
        ({"arten": []}, "arten: expected array of length >= 1"),
        ({"arten": ["WEATHER"]}, "arten[0]: invalid enum value 'WEATHER'"),
    ],
)
def test_what_is_wrong_is_named(customer, facts, message):
    assert refuse(customer, **facts) == message


def test_the_length_of_the_shared_secret_is_checked(customer):
    keys = new_browser().subscription["keys"] | {"auth": "AAAA"}
    assert refuse(customer, keys=keys) == "keys.auth: must be 16 bytes in base64url"


def test_an_unknown_query_parameter_is_refused(customer):
    for path in (PUSH, f"{ALERTS}/push-key"):
        answer = customer.get(path, params={"page": 2})
        assert answer.status_code == 400
        assert "page" in answer.json()["message"]


def test_of_many_at_once_twenty_are_taken_and_the_limit_is_named(bank_server, shared):
    customer = new_customer(shared)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: add(customer), range(23)))
    assert sorted(answer.status_code for answer in answers) == [201] * 20 + [400] * 3
    message = next(answer.json()["message"] for answer in answers if answer.status_code == 400)
    assert message == "a user can have at most 20 push subscriptions"
    assert len(customer.read(PUSH)) == 20
    known = answers[[answer.status_code for answer in answers].index(201)].headers["location"]
    assert customer.delete(known).status_code == 200
    assert add(customer).status_code == 201


def test_one_browser_that_registers_twice_at_once_is_one_subscription(bank_server, shared):
    customer, browser = new_customer(shared), new_browser()
    with ThreadPoolExecutor(4) as pool:
        places = {answer.headers["location"] for answer in pool.map(lambda _: add(customer, browser), range(4))}
    assert len(places) == 1
    assert len(customer.read(PUSH)) == 1
