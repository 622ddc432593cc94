"""Alerts over the API: their shape, languages and status, and whose they are."""

from datetime import date, datetime, timedelta

import pytest

from banking import href, narrow, new_customer, rels
from kontor.domain.clocks import BERLIN

CUSTOMER = "/customer/v2"
ALERTS = f"{CUSTOMER}/hinweise"
TODAY = datetime.now(BERLIN).date()


def go_back(months):
    month = TODAY.year * 12 + TODAY.month - 1 - months
    return date(month // 12, month % 12 + 1, 1)


class Subscriber:
    """Somebody whose streaming has become dearer."""

    def __init__(self, customer):
        self.customer = customer
        self.access_id = customer.add_complete("leer+hinweise")
        self.url = href(customer.products(self.access_id)[0], "get_kontoumsaetze")
        rows = [self.pay(months, -12.99) for months in range(1, 10)]
        assert customer.post(self.url, [*rows, self.pay(0, -14.99)]).status_code == 201

    @staticmethod
    def pay(months, amount):
        return {
            "identifier": {"batchId": "alerts"},
            "buchungsdatum": f"{go_back(months)} 00:00:00",
            "betrag": amount,
            "gegenkontoInhaber": "Netflix International B.V.",
            "verwendungszweck": f"Netflix Abo {go_back(months):%m/%Y}",
        }

    def list(self, **query):
        return self.customer.read(ALERTS, params=query)

    def put(self, alert_id, body):
        return self.customer.http.put(f"{ALERTS}/{alert_id}", json=body, headers=self.customer.headers)


@pytest.fixture(scope="module")
def subscriber(bank_server, shared):
    return Subscriber(new_customer(shared))


@pytest.fixture
def fresh(bank_server, shared):
    return Subscriber(new_customer(shared))


def test_an_alert_has_the_shape_that_the_interface_says(subscriber):
    assert f"{CUSTOMER}/hinweise" in href(subscriber.customer.read(CUSTOMER), "get_hinweise")
    [alert] = subscriber.list()
    assert list(alert) == ["id", "art", "status", "erstelltAm", "text", "objekt", "relations", "betrag"]
    assert (alert["art"], alert["status"], alert["betrag"]) == ("PRICE_RISE", "NEU", -14.99)
    assert alert["text"] == (f"Netflix International B.V. kostet seit {go_back(0):%d.%m.%Y} 14,99 € statt 12,99 €.")
    [contract] = subscriber.customer.read(f"{CUSTOMER}/ai/contracts/")
    assert alert["objekt"]["rel"] == "contract"
    assert alert["objekt"]["href"].endswith(f"{CUSTOMER}/ai/contracts/{contract['id']}")
    assert rels(alert) == ["self"]
    assert subscriber.customer.read(href(alert, "self")) == alert
    assert datetime.fromisoformat(alert["erstelltAm"]).date() == TODAY


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        (None, "de"),
        ("*", "de"),
        ("fr", "de"),
        ("en-GB, de;q=0.8", "en"),
        ("fr, en;q=0.5, de;q=0.4", "en"),
        ("de, en", "de"),
        ("en;q=0, de", "de"),
    ],
)
def test_texts_are_in_the_accepted_language_and_nothing_else_changes(subscriber, accepted, language):
    headers = {} if accepted is None else {"Accept-Language": accepted}
    answer = subscriber.customer.get(ALERTS, headers=headers)
    assert answer.headers["content-language"] == language
    assert "Accept-Language" in answer.headers["vary"]
    [alert] = answer.json()
    assert ("kostet seit" in alert["text"]) == (language == "de")
    assert ("€14.99 instead of €12.99" in alert["text"]) == (language == "en")
    assert {**alert, "text": ""} == {**subscriber.list()[0], "text": ""}
    one = subscriber.customer.get(href(alert, "self"), headers=headers)
    assert (one.json(), one.headers["content-language"]) == (alert, language)


def test_the_status_is_set_step_by_step_filters_the_list_and_does_not_go_back(fresh):
    [alert] = fresh.list(status="NEU")
    assert fresh.list(status="GELESEN") == []
    answer = fresh.put(alert["id"], {"status": "GELESEN"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert [shown["status"] for shown in fresh.list(status="GELESEN")] == ["GELESEN"]
    answer = fresh.put(alert["id"], {"status": "NEU"})
    assert (answer.status_code, answer.json()["message"]) == (
        400, "status: goes from NEU to GELESEN to ERLEDIGT, not back",
    )  # fmt: skip
    for _ in range(2):
        assert fresh.put(alert["id"], {"status": "ERLEDIGT"}).status_code == 200
    assert fresh.list(status="NEU") == []
    assert [shown["id"] for shown in fresh.list(status="ERLEDIGT")] == [alert["id"]]


def test_a_payment_at_the_old_price_ends_the_alert_and_a_deadline_makes_another(fresh):
    [alert] = fresh.list()
    contract = f"{CUSTOMER}/ai/contracts/{alert['objekt']['href'].rpartition('/')[2]}"
    body = {"noticePeriod": "P1D", "minimumTermEnd": str(TODAY + timedelta(days=10))}
    assert fresh.customer.http.put(contract, json=body, headers=fresh.customer.headers).status_code == 200
    deadline, rise = sorted(fresh.list(), key=lambda shown: shown["art"])
    assert (deadline["art"], rise["id"], rise["status"]) == ("CONTRACT_NOTICE", alert["id"], "NEU")
    assert "betrag" not in deadline
    assert "gekündigt werden" in deadline["text"]
    hidden = fresh.customer.http.put(contract, json={"isContract": False}, headers=fresh.customer.headers)
    assert hidden.status_code == 200
    assert {shown["status"] for shown in fresh.list()} == {"ERLEDIGT"}


def test_balances_that_do_not_add_up_are_told_until_they_do(bank_server, shared):
    customer = new_customer(shared)
    file = (
        ":20:STARTUMSE\n:25:10010010/1234567890\n:28C:1/1\n:60F:C261101EUR100,00\n:61:2611021102C29,00N051NONREF\n"
        ":86:166?00GUTSCHRIFT?20Kurs?32Anna Muster\n:62F:C261102EUR124,50\n"
    )
    answer = customer.http.post(f"{CUSTOMER}/imports", content=file.encode(), headers=customer.headers)
    assert answer.status_code == 201, answer.text
    [alert] = customer.read(ALERTS)
    assert (alert["art"], alert["betrag"], alert["objekt"]["rel"]) == ("BALANCE_MISMATCH", -4.5, "bankprodukt")
    [product] = customer.products("dateien")
    assert alert["objekt"]["href"] == href(product, "self")
    assert customer.delete(f"{CUSTOMER}/bankzugaenge/dateien").status_code == 200
    assert customer.read(ALERTS) == []


def test_a_budget_is_told_from_when_it_is_exceeded_until_it_is_not(fresh):
    [contract] = fresh.customer.read(f"{CUSTOMER}/ai/contracts/")
    category = next(
        tag["tagTreeItem"]["systemName"]
        for row in fresh.customer.read(fresh.url, params={"tag": "categories"})[:1]
        for tag in row["tags"]
    )
    fresh.list()
    plan = {"name": "Filme", "kategorien": [category], "betrag": 14, "beginn": f"{TODAY:%Y-%m}", "uebertrag": False}
    answer = fresh.customer.post(f"{CUSTOMER}/budgets", plan)
    assert answer.status_code == 201, answer.text
    [alert] = [shown for shown in fresh.list() if shown["art"] == "BUDGET_EXCEEDED"]
    assert (alert["betrag"], alert["text"]) == (-0.99, "Das Budget Filme ist um 0,99 € überschritten.")
    assert alert["objekt"] == {"rel": "budget", "href": answer.headers["location"]}
    url = answer.headers["location"]
    assert fresh.customer.http.put(url, json=plan | {"betrag": 15}, headers=fresh.customer.headers).status_code == 200
    assert [shown["status"] for shown in fresh.list() if shown["art"] == "BUDGET_EXCEEDED"] == ["ERLEDIGT"]
    assert contract["id"]


def test_a_bank_that_refuses_the_login_needs_the_user(bank_server, shared):
    customer = new_customer(shared)
    access_id = customer.add("leer+falsch", "wrong")
    [alert] = customer.read(ALERTS)
    assert (alert["art"], alert["objekt"]["rel"]) == ("BANK_NEEDS_USER", "bankzugang")
    assert alert["objekt"]["href"].endswith(f"/bankzugaenge/{access_id}")
    assert alert["text"] == "Ihre Bank lehnt die Zugangsdaten ab. Bitte geben Sie sie neu ein."


def test_anothers_alert_is_not_found_and_scopes_are_checked_first(subscriber, shared):
    [alert] = subscriber.list()
    stranger = new_customer(shared)
    url = f"{ALERTS}/{alert['id']}"
    assert stranger.read(ALERTS) == []
    assert stranger.get(url).status_code == 404
    assert stranger.http.put(url, json={"status": "x"}, headers=stranger.headers).status_code == 404
    assert subscriber.customer.get(f"{ALERTS}/no-id").status_code == 404
    reader = narrow(subscriber.customer, "http://service/customer/read")
    assert reader.get(ALERTS).status_code == 200
    assert reader.http.put(url, json={"status": "GELESEN"}, headers=reader.headers).status_code == 403
    payer = narrow(subscriber.customer, "http://service/customer/ueberweisung")
    assert payer.get(ALERTS).status_code == 403
    assert payer.get(url).status_code == 403
    assert subscriber.list()[0]["status"] == "NEU"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"status": "OFFEN"}, "status"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"art": "PRICE_RISE"}, "art"),
    ],
)
def test_a_wrong_query_is_refused_by_name(subscriber, query, named):
    answer = subscriber.customer.get(ALERTS, params=query)
    assert answer.status_code == 400
    assert named in answer.json()["message"]


@pytest.mark.parametrize("body", [{}, {"status": "NEW"}, {"status": None}, []])
def test_a_wrong_body_is_refused(subscriber, body):
    [alert] = subscriber.list()
    answer = subscriber.put(alert["id"], body)
    assert answer.status_code == 400
    assert subscriber.list() == [alert]


def test_alerts_are_part_of_the_export(subscriber):
    [alert] = subscriber.list()
    [exported] = subscriber.customer.read(f"{CUSTOMER}/export")["alerts"]
    assert (exported["id"], exported["kind"], exported["status"]) == (alert["id"], "PRICE_RISE", "NEW")
