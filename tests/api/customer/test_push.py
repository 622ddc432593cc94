"""Pushing transactions, and listing them: order, spans, pages, and many of them."""

import json
import threading
from base64 import urlsafe_b64encode
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

import shapes
from banking import href, new_customer

DAY = "2026-11-13 00:00:00"


def entry(batch="batch", amount="-12.30", at=DAY, **facts):
    """A raw JSON object, so that amounts are sent exactly as written."""
    rest = json.dumps({"identifier": {"batchId": batch}, "buchungsdatum": at} | facts)
    return f'{{"betrag": {amount}, {rest[1:]}'


@pytest.fixture(scope="module")
def pusher(bank_server, shared):
    return new_customer(shared)


@pytest.fixture
def account(pusher):
    """An empty account of the test's own: (customer, its product, push)."""
    access_id = pusher.add_complete(f"leer+{uuid4().hex[:12]}")
    product = pusher.products(access_id)[0]
    url = f"/customer/v2/bankzugaenge/{access_id}/{product['id']}/kontoumsaetze"

    class Account:
        customer = pusher
        address = url

        @staticmethod
        def push(*entries, seconds=30):
            content = f"[{','.join(entries)}]".encode()
            headers = pusher.headers | {"Content-Type": "application/json"}
            return pusher.http.post(url, content=content, headers=headers, timeout=seconds)

        @staticmethod
        def list(**query):
            return pusher.read(url, params=query)

        @classmethod
        def texts(cls, **query):
            return [transaction["verwendungszweck"] for transaction in cls.list(**query)]

    return Account


# Pushing


def test_a_pushed_ultimate_counterparty_is_stored_and_named_by_the_contract(account):
    months = [f"2026-{month:02}-03 00:00:00" for month in range(1, 12)]
    facts = {
        "verwendungszweck": "Miete Wohnung 12",
        "gegenkontoInhaber": "Hausverwaltung Nord GmbH",
        "gegenkontoIban": "DE89370400440532013000",
        "gegenkontoInhaberAbweichend": "Erbengemeinschaft Brandt",
    }
    rows = [entry(f"rent {at}", "-780.00", at, **facts) for at in months]
    assert account.push(*rows).status_code == 201
    contracts = account.customer.read("/customer/v2/ai/contracts/")
    named = [contract["details"].get("counterpartyNameUltimate") for contract in contracts]
    assert "Erbengemeinschaft Brandt" in named


def test_pushed_transaction_is_listed_with_all_its_fields(account, server):
    facts = {
        "wertstellungsdatum": "2026-11-14 12:30:00", "verwendungszweck": 'Zeile "1"\nZwei \\ äöü 🏦', "gvCode": "166",
        "buchungstext": "Gutschrift", "primanotaNummer": "4711", "gegenkontoInhaber": "Anna", "waehrung": "CHF",
        "gegenkontoIban": "DE02120300000000202051", "gegenkontoBic": "BYLADEM1001", "vorgemerkt": True, "unknown": 1,
    }  # fmt: skip
    answer = account.push(entry(amount="1234567.80", **facts))
    assert (answer.status_code, answer.content) == (201, b"")
    assert answer.headers["location"] == server + account.address
    raw = account.customer.get(account.address).text
    assert '"betrag":1234567.80' in raw
    [shown] = shapes.parse_raw(raw)
    assert shapes.fits(shapes.TRANSACTION)(shown)
    assert set(shown) == set(shapes.TRANSACTION)
    assert {key: shown[key] for key in facts if key != "unknown"} == {
        key: facts[key] for key in facts if key != "unknown"
    }
    assert shown["buchungsdatum"] == DAY
    assert shown["identifier"] == {"batchId": "batch"}


def test_what_is_not_given_is_left_out_and_the_currency_is_euro(account):
    assert account.push(entry(verwendungszweck=None)).status_code == 201
    [shown] = account.list()
    assert set(shown) == {"id", "betrag", "waehrung", "buchungsdatum", "hash", "identifier"}
    assert shown["waehrung"] == "EUR"


def test_same_batch_twice_adds_nothing(account):
    entries = [entry(verwendungszweck=str(number)) for number in range(3)]
    assert account.push(*entries).status_code == 201
    before = account.list()
    assert account.push(*entries).status_code == 201
    assert account.push(entry(verwendungszweck="other content")).status_code == 201
    assert account.list() == before


def test_equal_transactions_in_one_batch_all_stay(account):
    assert account.push(entry(), entry(), entry("other")).status_code == 201
    assert len(account.list()) == 3


def test_several_batches_in_one_call_are_told_apart(account):
    account.push(entry("one", verwendungszweck="1"))
    answer = account.push(entry("one", verwendungszweck="1 again"), entry("two", verwendungszweck="2"))
    assert answer.status_code == 201
    assert sorted(account.texts()) == ["1", "2"]


def test_same_batch_id_in_another_product_is_another_batch(account, pusher):
    other = pusher.products(pusher.add_complete("leer+otherproduct"))[0]
    account.push(entry())
    body = [json.loads(entry())]
    assert pusher.post(other["relations"][1]["href"], body).status_code == 201
    assert len(pusher.transactions(other)) == 1


def test_empty_push_is_fine(account):
    assert account.push().status_code == 201
    assert account.list() == []


BAD = [
    (entry(amount="12.345"), "[1].betrag"),
    (entry(amount='"twelve"'), "[1].betrag"),
    (entry(amount="null"), "[1].betrag"),
    (entry(amount="1e30"), "[1].betrag"),
    (entry(amount="1" * 40), "[1].betrag"),
    (entry(amount="-1000000000000000000"), "[1].betrag"),
    (entry(amount="1e-30"), "[1].betrag"),
    (entry(amount="0.001"), "[1].betrag"),
    (entry(at="13.11.2026"), "[1].buchungsdatum"),
    (entry(at="2026-02-30"), "[1].buchungsdatum"),
    (entry(at="1026-02-20"), "[1].buchungsdatum"),
    (entry(at=""), "[1].buchungsdatum"),
    (entry(at=None), "[1].buchungsdatum"),
    (entry(wertstellungsdatum="soon"), "[1].wertstellungsdatum"),
    (entry(waehrung="EURO"), "[1].waehrung"),
    (entry(waehrung="eur"), "[1].waehrung"),
    (entry(waehrung="EUR\n"), "[1].waehrung"),
    (entry(batch=""), "[1].identifier.batchId"),
    (entry(batch="x" * 129), "[1].identifier.batchId"),
    (entry(batch="\u0000"), "[1].identifier.batchId"),
    (entry(batch=5), "[1].identifier.batchId"),
    (entry(identifier={}), "[1].identifier.batchId"),
    (entry(identifier=None), "[1].identifier"),
    (entry(verwendungszweck="x" * 4001), "[1].verwendungszweck"),
    (entry(verwendungszweck=5), "[1].verwendungszweck"),
    ("5", "[1]"),
    ("{}", "[1]"),
]


@pytest.mark.parametrize(("bad", "place"), BAD)
def test_half_bad_batch_adds_nothing_and_names_the_entry(account, bad, place):
    answer = account.push(entry(), bad)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(f"{place}")
    assert account.list() == []
    assert account.push(entry()).status_code == 201, "the batch was not remembered either"
    assert len(account.list()) == 1


@pytest.mark.parametrize("amount", ["0", "0.00", "-0.01", "12.3", "12.300", "1e2", "999999999999999999.99"])
def test_amounts_are_kept_to_the_cent_and_shown_with_two_decimals(account, amount):
    assert account.push(entry(amount=amount)).status_code == 201
    [shown] = shapes.parse_raw(account.customer.get(account.address).text)
    assert shapes.is_money(shown["betrag"])
    assert float(shown["betrag"]) == float(amount)


@pytest.mark.parametrize("at", ["2026-11-13 10:00:00.987654", "2026-11-13T09:00:00.5Z", "2026-11-13T10:00:00+01:00"])
def test_times_are_shown_without_fractions_of_a_second(account, at):
    assert account.push(entry(at=at, wertstellungsdatum=at)).status_code == 201
    [shown] = account.list()
    assert (shown["buchungsdatum"], shown["wertstellungsdatum"]) == ("2026-11-13 10:00:00",) * 2


def test_control_characters_in_texts_are_dropped(account):
    assert account.push(entry(verwendungszweck="a\u0000b\u0007c\td")).status_code == 201
    assert account.texts() == ["abc\td"]


def test_more_than_ten_thousand_are_413_and_ten_thousand_are_not(account):
    many = [entry(amount=str(number)) for number in range(10_000)]
    assert account.push(*many, entry()).status_code == 413
    assert account.list() == []
    assert account.push(*many).status_code == 201


def test_depot_takes_no_transactions(demo1):
    customer, access_id = demo1
    depot = customer.product(access_id, "DEPOT")["id"]
    url = f"/customer/v2/bankzugaenge/{access_id}/{depot}/kontoumsaetze"
    assert customer.post(url, [json.loads(entry())]).status_code == 400


def test_push_is_all_of_a_body_or_nothing(account):
    assert account.customer.post(account.address, {"no": "list"}).status_code == 400
    content = b"[" + entry().encode()
    headers = account.customer.headers | {"Content-Type": "application/json"}
    assert account.customer.http.post(account.address, content=content, headers=headers).status_code == 400
    assert account.list() == []


# Order, spans and pages


def test_newest_day_comes_first_whatever_the_order_of_pushing(account):
    days = ("2026-11-12", "2026-11-14", "2026-11-13", "2025-01-01", "2026-11-14 10:00:00")
    account.push(*[entry(at=day, verwendungszweck=day) for day in days])
    assert account.texts() == ["2026-11-14 10:00:00", "2026-11-14", "2026-11-13", "2026-11-12", "2025-01-01"]
    hashes = [transaction["hash"] for transaction in account.list()]
    assert hashes == sorted(hashes, reverse=True)


@pytest.fixture
def spread(account):
    """Bookings around both changes of the clock, at midnight and in the hour that exists twice or never."""
    times = (
        "2026-03-28 23:59:59", "2026-03-29 00:00:00", "2026-03-29 01:59:59", "2026-03-29 03:00:00",
        "2026-03-29 23:59:59", "2026-03-30 00:00:00", "2026-10-24 23:59:59", "2026-10-25 00:00:00",
        "2026-10-25 02:30:00", "2026-10-25 23:59:59", "2026-10-26 00:00:00",
    )  # fmt: skip
    account.push(*[entry(at=at, verwendungszweck=at) for at in times])
    assert account.texts() == sorted(times, reverse=True)
    assert [transaction["buchungsdatum"] for transaction in account.list()] == sorted(times, reverse=True)
    return account, times


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ({"from": "2026-03-29", "to": "2026-03-29"}, "2026-03-29 00:00:00", "2026-03-29 23:59:59"),
        ({"from": "2026-10-25", "to": "2026-10-25"}, "2026-10-25 00:00:00", "2026-10-25 23:59:59"),
        ({"from": "2026-03-29 01:59:59", "to": "2026-03-29 03:00:00"}, "2026-03-29 01:59:59", "2026-03-29 03:00:00"),
        ({"from": "2026-03-29 02:00:00", "to": "2026-03-29 03:00:00"}, "2026-03-29 03:00:00", "2026-03-29 03:00:00"),
        ({"from": "2026-10-25 02:30:00"}, "2026-10-25 02:30:00", "2026-10-26 00:00:00"),
        ({"to": "2026-03-29 00:00:00"}, "2026-03-28 23:59:59", "2026-03-29 00:00:00"),
        ({"from": "2026-03-29T00:00:00+01:00", "to": "2026-03-29T21:59:59Z"}, "2026-03-29 00", "2026-03-29 23:59:59"),
        ({"from": "2026-10-26 00:00:01"}, "9", "0"),
        ({"from": "2026-10-26", "to": "2026-10-25"}, "9", "0"),
    ],
)  # fmt: skip
def test_span_is_in_berlin_and_includes_both_ends(spread, query, first, last):
    account, times = spread
    assert account.texts(**query) == [moment for moment in sorted(times, reverse=True) if first <= moment <= last]


@pytest.mark.parametrize(
    "query",
    ["from=yesterday", "to=2026-13-01", "from=", "limit=0", "limit=-1", "limit=x", "limit=100001", "cursor=",
     "cursor=x", "cursor=%00", "cursor=MjAyNi0xMS0xMyA", "limit=1&limit=2", "from=0000-00-00"],
)  # fmt: skip
def test_bad_parameter_is_400(account, query):
    assert account.customer.get(f"{account.address}?{query}").status_code == 400


@pytest.mark.parametrize(
    "text", ["2026-11-13 -1", "2026-11-13 99999999999999999999", "x 1", "2026-11-13", "2026-11-13 1e3"]
)
def test_forged_cursor_is_400(account, text):
    cursor = urlsafe_b64encode(text.encode()).decode().rstrip("=")
    assert account.customer.get(account.address, params={"cursor": cursor}).status_code == 400


def follow_pages(account, **query):
    url, pages, links = account.address, [], []
    answer = account.customer.get(url, params=query)
    while True:
        assert answer.status_code == 200
        pages.append([transaction["verwendungszweck"] for transaction in answer.json()])
        link = answer.links.get("next")
        if link is None:
            return pages, links
        links.append(link["url"])
        answer = account.customer.get(link["url"])


def test_pages_follow_each_other_without_gap_or_repetition(account, server):
    account.push(*[entry(at=f"2026-11-{1 + number // 3:02}", verwendungszweck=str(number)) for number in range(10)])
    whole = account.texts()
    for limit in (1, 3, 9, 10, 11):
        pages, links = follow_pages(account, limit=limit)
        assert [text for page in pages for text in page] == whole
        assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
        assert all(pages)
        for link in links:
            assert link.startswith(server)
            assert parse_qs(urlsplit(link).query)["limit"] == [str(limit)]


def test_pages_keep_the_span(account):
    account.push(*[entry(at=f"2026-11-{1 + number:02}", verwendungszweck=str(number)) for number in range(10)])
    pages, _ = follow_pages(account, limit=2, **{"from": "2026-11-03", "to": "2026-11-07"})
    assert pages == [["6", "5"], ["4", "3"], ["2"]]


def test_what_arrives_between_two_pages_moves_nothing(account):
    account.push(*[entry(at=f"2026-11-{1 + number:02}", verwendungszweck=str(number)) for number in range(4)])
    first = account.customer.get(account.address, params={"limit": 2})
    account.push(entry("later", at="2026-11-09", verwendungszweck="newest"))
    second = account.customer.get(first.links["next"]["url"])
    assert [transaction["verwendungszweck"] for transaction in second.json()] == ["1", "0"]
    assert "next" not in second.links


def test_without_parameters_there_is_no_link(account):
    account.push(entry(), entry())
    assert "link" not in account.customer.get(account.address).headers


@pytest.mark.long
def test_fifty_thousand_are_listed_completely_and_in_order(account, owner):
    """More than one piece: the answer is sent bit by bit and is still one valid array."""
    product = account.address.split("/")[-2]
    account.push(entry())
    owner.execute(
        "insert into transactions (user_id, product_id, id, booked_on, ordinal, amount, currency, booked_at, purpose)"
        " select user_id, product_id, gen_random_uuid(), booked_on - mod(n, 700), ordinal + n, n, currency, booked_at,"
        " 'Nr ' || n from transactions, generate_series(1, 49999) n where product_id = %s",
        [product],
    )
    answer = account.customer.get(account.address, timeout=60)
    rows = answer.json()
    assert len(rows) == len({row["id"] for row in rows}) == 50_000
    hashes = [row["hash"] for row in rows]
    assert hashes == sorted(hashes, reverse=True)
    assert {int(row["betrag"]) for row in rows} == {-12, *range(1, 50_000)}
    assert answer.headers["transfer-encoding"] == "chunked"


@pytest.mark.long
def test_ten_thousand_long_rows_are_stored_or_refused_as_a_whole_and_hold_up_nobody(account, demo1):
    """As long as a body may be: 16 MiB. Somebody else reads meanwhile, again and again."""
    neighbour, access_id = demo1
    product = neighbour.product(access_id, "GIROKONTO")
    statuses, is_over = [], threading.Event()

    def read() -> None:
        while not is_over.is_set():
            statuses.append(neighbour.get(href(product, "get_kontoumsaetze"), params={"limit": 10}).status_code)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        too_long = [entry(amount=str(number), verwendungszweck="Ü" * 1000) for number in range(10_000)]
        assert account.push(*too_long, seconds=170).status_code == 413
        assert account.list() == []
        long_rows = [entry(amount=str(number), verwendungszweck=f"{number} " + "x" * 1400) for number in range(10_000)]
        assert account.push(*long_rows, seconds=170).status_code == 201
    finally:
        is_over.set()
        reader.join()
    assert set(statuses) == {200}
    assert len(account.list(limit=1000)) == 1000
