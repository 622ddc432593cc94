"""Payments in the web form, page by page: what is shown and may be changed, and that it is paid once or not at all."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import UUID, uuid4, uuid5

import pytest

from banking import DEMO_BANK, new_customer
from consenting import decide_at_bank, new_login
from form_client import DETAILS, SINGLE, FormClient, connect_account, order_payment, product_url, read_codes
from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN
from kontor.domain.payments import (
    PayeeMatch,
)
from kontor.pages.formatting import format_iban
from kontor.webform.texts import load_texts, override_texts
from many_examples import few_cases
from tenants import create_tenant

IBANS = {scenario: iban for iban, scenario in TEST_IBANS.items()}
TEXTS = load_texts()
DE = TEXTS["de"]


@pytest.fixture(scope="module")
async def redirecting(standing_services, http):
    return await create_tenant(standing_services, http, is_regulated=False)


@pytest.fixture(scope="module")
def login():
    return new_login("test_products")


@pytest.fixture(scope="module")
def payer(bank_server, redirecting, login):
    """A user who has agreed to the terms and has an account to pay from: (customer, access id)."""
    customer = new_customer(redirecting)
    return customer, connect_account(customer, login)


def own_iban(login):
    iban = person_for(login, datetime.now(BERLIN).date()).accounts[0].product.iban
    assert iban is not None
    return iban


def start(payer, url=SINGLE, language="de", instant=False, query=None, **details):
    """(client at its first page, id of the payment)"""
    body = {"instant": instant, "transferDetails": DETAILS | details}
    payment_id, location = order_payment(payer[0], url, body, **(query or {}))
    return FormClient(str(payer[0].http.base_url), language).open(location), payment_id


def choose_account(client):
    client.at("payment").send("confirm").at("source")
    return client.send("choose", choice=client.find('name="choice" value="([^"]*)"'))


def to_tan(payer, **facts):
    client, payment_id = start(payer, **facts)
    return choose_account(client).at("tan"), payment_id


def count_arrivals(owner, customer, payment_id):
    """How often the bank got the order, in the bank's own books."""
    bank_id = uuid5(UUID(customer.reference), f"payment {payment_id}")
    row = owner.execute("select count(*) from demo_bank_arrivals where payment_id = %s", [bank_id]).fetchone()
    return row[0]


def force(owner, payment_id, state):
    """The payment as it is when the bank's answer got lost, or came later; nobody asks the bank by itself."""
    owner.execute(
        "update payments set state = %s, failure = null, sealed = null, fence = null, next_lookup_at = null"
        " where id = %s",
        [state, payment_id],
    )


# Paying


def test_a_payment_from_a_stored_account_is_shown_authorised_and_paid(payer, owner):
    client, payment_id = start(payer, instant=True)
    for shown in ("12,30 €", "Erika Müller", "DE89 3704 0044 0532 0130 00", "Rechnung 4711", DE("payment.now_instant")):
        assert shown in client.at("payment").text
    assert "recipient" not in client.html.partition("<form")[2].partition("</form>")[0].replace("payment.recipient", "")
    choose_account(client).at("tan")
    assert DE("payees.matched") in client.text
    assert "12,30 € an Erika Müller" in client.text
    assert DE("tan.wrong_title") in client.send("submit", tan="4711").at("tan").text
    assert client.send("submit", tan="12").returned() == {
        "state": "1",
        "baReentry": "FINISHED",
        "paymentId": payment_id,
    }
    assert DE("payment_end.FINISHED") in client.text
    assert read_codes(payer[0], payment_id) == ["BA1111"]
    assert count_arrivals(owner, payer[0], payment_id) == 1


def test_a_payment_for_later_is_reported_as_accepted(payer):
    day = datetime.now(BERLIN).date() + timedelta(days=9)
    body = {"instant": False, "requestedExecutionDate": str(day), "transferDetails": DETAILS}
    payment_id, location = order_payment(payer[0], body=body)
    client = FormClient(str(payer[0].http.base_url)).open(location)
    assert f"{day.day}.{day.month}.{day.year}" in client.text
    words = override_texts(DE, "dated")
    assert words("payment.title") in client.text
    assert words("payment.reminder") in choose_account(client).at("tan").text
    client.send("submit", tan="12")
    assert client.returned()["baReentry"] == "FINISHED"
    assert words("payment_end.ACCEPTED") in client.text
    assert read_codes(payer[0], payment_id) == ["BA1112"]


def test_a_payment_with_todays_date_is_no_dated_transfer(payer):
    day = datetime.now(BERLIN).date()
    body = {"instant": False, "requestedExecutionDate": str(day), "transferDetails": DETAILS}
    _, location = order_payment(payer[0], body=body)
    assert DE("payment.title") in FormClient(str(payer[0].http.base_url)).open(location).text


def test_an_account_that_the_tenant_has_chosen_is_shown_and_not_asked_for(payer):
    customer, access_id = payer
    client, payment_id = start(payer, product_url(customer, access_id))
    assert DE("payment.from") in client.at("payment").text
    assert customer.product(access_id, "GIROKONTO")["bezeichnung"] in client.text
    assert "Schritt 1 von 2" in client.text
    client.send("confirm").at("tan").send("submit", tan="12")
    assert client.returned()["baReentry"] == "FINISHED"
    assert read_codes(customer, payment_id) == ["BA1111"]


def test_another_bank_with_credentials_and_iban_and_a_wrong_pin_on_the_way(payer, owner):
    login = new_login("test_products")
    client, payment_id = start(payer)
    client.send("confirm").at("source").send("choose", choice="other").at("provider")
    client.log_in(login, "geheim-7", **{"account-iban": "DE00 1234"})
    assert client.status == 422
    assert DE("payment.iban_malformed") in client.text
    assert "geheim-7" not in client.html
    account = {"account-iban": own_iban(login)}
    client.log_in(login, "geheim-7", **account).at("credentials")
    assert DE("credentials.attempts", count=2) in client.text
    client.log_in(login, **account).at("tan").send("submit", tan="12")
    assert client.returned()["baReentry"] == "FINISHED"
    row = owner.execute("select state, sealed, credentials from payments where id = %s", [payment_id]).fetchone()
    assert row == ("EXECUTED", None, None)


def test_new_credentials_for_the_account_that_the_tenant_has_chosen(payer, owner, login):
    """Asked for where the bank does not take the stored ones any more; the account stays the same."""
    client, payment_id = start(payer, product_url(*payer))
    owner.execute(
        "update redirect_sessions set step = 'CREDENTIALS', notice = 'WRONG_CREDENTIALS', wrong_logins = 1,"
        " provider_id = %s where payment_id = %s",
        [DEMO_BANK, payment_id],
    )
    client.reload().at("credentials")
    assert "account-iban" not in client.html
    assert "other-bank" not in client.actions
    client.log_in(login).at("tan").send("submit", tan="12")
    assert client.returned()["baReentry"] == "FINISHED"
    row = owner.execute("select product_id::text from payments where id = %s", [payment_id]).fetchone()
    assert row[0] == payer[0].product(payer[1], "GIROKONTO")["id"]


def test_a_bulk_is_shown_as_a_whole_and_paid_together(payer, owner):
    common = DETAILS | {"iban": "DE75512108001245126199", "amount": 1.5}
    details = [common | {"recipient": f"Person {number}"} for number in range(7)]
    body = {"instant": False, "transferDetails": details}
    payment_id, location = order_payment(payer[0], "/customer/v2/payment/bulk-transfer", body, editableDetails="true")
    client = FormClient(str(payer[0].http.base_url)).open(location)
    for shown in ("10,50 €", DE("payment.to_many", count=7), DE("payment.more", count=2), "Person 6"):
        assert shown in client.at("payment").text
    choose_account(client).at("tan").send("submit", tan="12")
    assert client.returned() == {"state": "1", "baReentry": "FINISHED", "paymentId": payment_id}
    assert count_arrivals(owner, payer[0], payment_id) == 1


def test_without_stored_accounts_the_bank_is_asked_for_at_once(redirecting):
    customer = new_customer(redirecting)
    payment_id, location = order_payment(customer)
    client = FormClient(str(customer.http.base_url), "en").open(location).at("legal")
    assert TEXTS["en"]("legal.title_payment", tenant=redirecting.name) in client.text
    client.send("accept").at("payment").send("confirm").at("provider")
    assert "back" not in client.actions
    again, _ = start((customer, ""))
    assert again.page == "payment"  # the terms are accepted once
    login = new_login("test_redirect")
    client.log_in(login, **{"account-iban": own_iban(login)}).at("redirect")
    assert customer.read(f"{SINGLE}/{payment_id}")["relations"][0]["rel"] == "self"


# Verification of payee


@pytest.mark.parametrize(
    ("scenario", "match"),
    [
        (PayeeScenario.NAME_IS_CLOSE, PayeeMatch.CLOSE_MATCH),
        (PayeeScenario.NAME_IS_OTHER, PayeeMatch.NO_MATCH),
        (PayeeScenario.NAME_IS_UNKNOWN, PayeeMatch.NOT_POSSIBLE),
    ],
)
def test_a_payee_that_does_not_match_is_told_and_the_user_decides_once(payer, owner, scenario, match):
    client, payment_id = start(payer, iban=IBANS[scenario])
    choose_account(client).at("payees")
    client_text = client.text
    for part in ("title", "text", "advice"):
        assert DE(f"payees.{match.lower()}.{part}") in client.text
    assert ("Erika Maria Mueller" in client.text) is (match is PayeeMatch.CLOSE_MATCH)
    assert "use-name" not in client.actions  # nothing may be changed
    assert "change" not in client.actions
    assert count_arrivals(owner, payer[0], payment_id) == 0
    client.send("accept").at("tan")
    assert DE("payees.matched") not in client.text
    assert client.send("submit", tan="12").returned()["baReentry"] == "FINISHED"
    evidence = payer[0].read(f"/customer/v2/payment/{payment_id}/evidence")
    assert (evidence["verification"]["result"], evidence["choice"], evidence["language"]) == (match, "CONFIRMED", "de")
    lines = evidence["shownText"].splitlines()
    assert lines[:2] == [DE(f"payees.{match.lower()}.title"), DE(f"payees.{match.lower()}.text")]
    assert [line for line in lines if line.rpartition(": ")[2] not in client_text] == []


@pytest.mark.parametrize("language", few_cases(TEXTS, 2))
def test_a_payee_that_differs_from_earlier_orders_is_told_before_the_bank_gets_the_order(redirecting, owner, language):
    customer = new_customer(redirecting)
    payer = (customer, connect_account(customer, new_login("demo1")))
    choose_account(start(payer)[0]).at("tan").send("submit", tan="12")
    client, payment_id = start(payer, language=language, iban="DE02500105170137075030")
    choose_account(client).at("payees")
    words = TEXTS[language]
    for key in ("payees.changed.title", "payees.changed.text", "payees.changed.advice", "payees.other_iban"):
        assert words(key) in client.text
    assert format_iban(DETAILS["iban"]) in client.text
    assert words("payees.liability") not in client.text
    shown = client.text
    assert count_arrivals(owner, customer, payment_id) == 0
    client.send("accept").at("tan").send("submit", tan="12")
    evidence = customer.read(f"/customer/v2/payment/{payment_id}/evidence")
    assert (evidence["choice"], evidence["language"]) == ("CONFIRMED", language)
    lines = evidence["shownText"].splitlines()
    assert lines[0] == words("payees.changed.title")
    assert [line for line in lines if line.rpartition(": ")[2] not in shown] == []


def test_a_limit_that_was_set_meanwhile_refuses_the_order_and_says_why(payer, owner):
    iban = "DE02500105170137075030"
    paid = start(payer, iban=iban)[0]
    choose_account(paid)
    if paid.page == "payees":
        paid.send("accept")
    assert paid.at("tan").send("submit", tan="12").returned()["baReentry"] == "FINISHED"
    client, payment_id = start(payer, iban=iban, purpose="noch einmal")
    payees = payer[0].read("/customer/v2/zahlungsempfaenger")
    payee_id = next(payee["id"] for payee in payees if payee["iban"] == iban)
    url = f"/customer/v2/zahlungsempfaenger/{payee_id}"
    assert payer[0].http.put(url, json={"limit": 5}, headers=payer[0].headers).status_code == 200
    choose_account(client)
    if client.page == "payees":
        client.send("accept")
    client.at("failed")
    assert DE("failed.payee_limit.title") in client.text
    assert DE("failed.not_paid") in client.text
    assert count_arrivals(owner, payer[0], payment_id) == 0


def test_the_suggested_name_is_taken_where_details_may_be_changed(payer, owner):
    client, payment_id = start(payer, query={"editableDetails": "true"}, iban=IBANS[PayeeScenario.NAME_IS_CLOSE])
    values = dict(re.findall(r'name="(recipient|iban|amount|purpose)" type="text" value="([^"]*)"', client.html))
    client.send("confirm", **values).at("source")
    client.send("choose", choice=client.find('name="choice" value="([^"]*)"')).at("payees")
    client.send("use-name").at("payees")  # this bank finds every name nearly right
    row = owner.execute("select given from payments where id = %s", [payment_id]).fetchone()
    assert row[0][0]["recipient"] == "Erika Maria Mueller"
    assert client.send("change").page == "payment"
    client.send("cancel")
    assert client.returned()["baReentry"] == "USER_CANCELLED"


# Changing it


def test_details_are_changed_where_the_tenant_says_so_and_wrong_ones_are_named(payer):
    client, payment_id = start(payer, query={"editableDetails": "true"})
    wrong = {"recipient": "", "iban": "DE00", "amount": "1,234", "purpose": "für 100 ¥", "date": "gestern"}
    client.send("confirm", **wrong)
    assert client.status == 422
    for key in ("recipient_missing", "iban_malformed", "amount_malformed", "date_malformed"):
        assert DE(f"payment.{key}") in client.text
    assert DE("payment.text_character", character="¥") in client.text
    right = {"recipient": "Jörg & Söhne", "iban": "GB33 BUKB 2020 1555 5555 55", "amount": "1.234,5", "purpose": "neu"}
    client.send("confirm", **right, date="2020-01-01")
    assert DE("payment.date_past") in client.text
    client.send("confirm", **right, instant="yes").at("source")
    assert "1.234,50 €" in client.text
    transfer = payer[0].read(f"{SINGLE}/{payment_id}")["transfer"]
    assert (transfer["instant"], transfer["transferDetails"]["amount"]) == (True, 1234.50)
    assert transfer["transferDetails"]["iban"] == "GB33BUKB20201555555555"
    assert "bic" not in transfer["transferDetails"]
    assert client.send("back").page == "payment"


def test_details_that_are_fixed_cannot_be_changed_by_sending_them(payer):
    client, payment_id = start(payer)
    client.send("confirm", recipient="Mallory", iban="DE02120300000000202051", amount="9999").at("source")
    assert payer[0].read(f"{SINGLE}/{payment_id}")["transfer"]["transferDetails"] == DETAILS


# What goes wrong


def test_three_wrong_pins_end_it(payer):
    login = new_login("test_products")
    client, payment_id = start(payer)
    client.send("confirm").at("source").send("choose", choice="other").at("provider")
    for attempt in range(3):
        client.log_in(login, f"falsch{attempt}", **{"account-iban": own_iban(login)})
        client.at("credentials" if attempt < 2 else "failed")
    assert DE("failed.not_paid") in client.text
    assert client.send("cancel").returned()["baReentry"] == "INVALID_CREDENTIALS"
    assert read_codes(payer[0], payment_id) == ["BA3040"]


def test_three_wrong_tans_end_it(payer):
    client, payment_id = to_tan(payer)
    for _ in range(2):
        client.send("submit", tan="11").at("tan")
    client.send("submit", tan="11").at("failed")
    assert client.actions == {"cancel"}  # it was ordered once, and is not ordered again
    assert client.send("cancel").returned()["baReentry"] == "INVALID_TAN"
    assert read_codes(payer[0], payment_id) == ["BA1103"]


def test_a_payment_that_the_bank_rejects_has_failed_and_the_bank_says_why(payer):
    client, payment_id = to_tan(payer, iban=IBANS[PayeeScenario.REFUSES], recipient="Rita Refuser")
    client.send("submit", tan="12").at("failed")
    assert "Die Bank des Empfängers nimmt die Zahlung nicht an." in client.text
    assert DE("failed.not_paid") in client.text
    assert client.send("cancel").returned()["baReentry"] == "PAYMENT_FAILED"
    assert read_codes(payer[0], payment_id) == ["BA1104"]


@pytest.mark.parametrize(("later", "outcome"), [(None, "BACKEND_ERROR"), ("EXECUTED", "FINISHED")])
def test_an_outcome_that_nobody_knows_is_shown_as_that_and_never_as_failed(payer, owner, later, outcome):
    client, payment_id = to_tan(payer)
    force(owner, payment_id, "UNKNOWN")
    client.reload().at("unknown")
    for part in ("title", "lead", "advice"):
        assert DE(f"unknown.{part}") in client.text
    assert DE("failed.not_paid") not in client.text
    if later is not None:
        force(owner, payment_id, later)
        client.reload()
    else:
        client.send("cancel")
    assert client.returned() == {"state": "1", "baReentry": outcome, "paymentId": payment_id}
    assert DE(f"payment_end.{outcome}") in client.text


def test_a_lost_answer_is_followed_until_the_bank_has_told(payer):
    client, payment_id = to_tan(payer, iban=IBANS[PayeeScenario.DIES_AFTER_BOOKING], recipient="Doris Later")
    client.send("submit", tan="12")
    while client.page in ("working", "unknown"):
        client.reload()
    assert client.returned()["baReentry"] == "FINISHED"
    assert read_codes(payer[0], payment_id) == ["BA1111"]


def test_an_unreachable_bank_has_paid_nothing(payer):
    client, _ = start(payer)
    client.send("confirm").at("source").send("choose", choice="other").at("provider")
    client.log_in(new_login("test_unreachable"), **{"account-iban": DETAILS["iban"]}).at("payees")
    client.send("accept").at("failed")
    assert DE("failed.unreachable.title") in client.text
    assert client.send("cancel").returned()["baReentry"] == "PAYMENT_FAILED"


def test_a_payment_that_is_refused_on_the_banks_own_page(payer, owner):
    login = new_login("test_redirect")
    for is_confirmed, outcome in ((False, "USER_CANCELLED"), (True, "FINISHED")):
        client, _ = start(payer)
        client.send("confirm").at("source").send("choose", choice="other").at("provider")
        client.log_in(login, **{"account-iban": own_iban(login)}).at("redirect")
        address = client.find('<a href="([^"]*)" id="bank-link"')
        client._show(client.http.get(decide_at_bank(owner, address, is_confirmed=is_confirmed)))
        if not is_confirmed:
            client.at("failed").send("cancel")
        assert client.returned()["baReentry"] == outcome


# Once


def test_a_page_that_is_sent_many_times_at_once_pays_once(payer, owner):
    client, payment_id = to_tan(payer)
    fields = client.hidden() | {"action": "submit", "tan": "12"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post(fields), range(4)))
    assert {answer.status_code for answer in answers} == {200}
    client.reload()
    assert client.returned()["baReentry"] == "FINISHED"
    assert count_arrivals(owner, payer[0], payment_id) == 1


def test_an_old_page_does_nothing(payer, owner):
    client, payment_id = start(payer)
    review = client.hidden() | {"action": "confirm"}
    client.send("confirm").at("source")
    choice = client.hidden() | {"action": "choose", "choice": client.find('name="choice" value="([^"]*)"')}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: client.post(choice), range(2)))
    client.reload().at("tan")
    for old in (review, choice, choice):
        assert 'data-page="tan"' in client.post(old).text
    assert client.send("submit", tan="12").returned()["baReentry"] == "FINISHED"
    for old in (review, choice):
        assert 'data-page="end"' in client.post(old).text
    assert count_arrivals(owner, payer[0], payment_id) == 1


def test_two_sessions_of_one_order_pay_once(payer, owner):
    customer = payer[0]
    headers = {"Customer-IP-Address": "8.8.8.8", "Idempotency-Key": uuid4().hex}
    body = {"instant": False, "transferDetails": DETAILS}
    answers = [customer.post(SINGLE, body, headers=headers) for _ in range(2)]
    payment_id = answers[0].json()["transfer"]["paymentId"]
    first, second = (FormClient(str(customer.http.base_url)).open(answer.headers["location"]) for answer in answers)
    choose_account(first).at("tan")
    assert second.at("payment").send("confirm").at("tan")  # where the payment stands, not where the page was
    first.send("submit", tan="12").returned()
    assert second.send("submit", tan="12").returned()["baReentry"] == "FINISHED"
    assert count_arrivals(owner, customer, payment_id) == 1


# Leaving


@pytest.mark.parametrize("page", ["payment", "source", "provider", "tan"])
def test_who_cancels_has_paid_nothing_and_the_order_is_over(payer, page):
    client, payment_id = start(payer)
    if page == "tan":
        choose_account(client)
    elif page != "payment":
        client.send("confirm")
    if page == "provider":
        client.send("choose", choice="other")
        assert "back" in client.actions
    client.at(page).send("cancel")
    assert client.returned()["baReentry"] == "USER_CANCELLED"
    assert read_codes(payer[0], payment_id) == ["BA3040"]


def test_who_does_not_agree_has_paid_nothing(redirecting):
    customer = new_customer(redirecting)
    payment_id, location = order_payment(customer)
    client = FormClient(str(customer.http.base_url)).open(location).at("legal")
    assert client.send("decline").returned()["baReentry"] == "LEGAL_NOT_ACCEPTED"
    assert read_codes(customer, payment_id) == ["BA3040"]


@pytest.mark.parametrize(("state", "outcome"), [("DRAFT", "SESSION_EXPIRED"), ("EXECUTED", "FINISHED")])
def test_a_session_that_ran_out_says_what_became_of_the_payment(payer, owner, state, outcome):
    client, payment_id = start(payer) if state == "DRAFT" else to_tan(payer)
    if state != "DRAFT":
        force(owner, payment_id, state)
    owner.execute("update redirect_sessions set expires_at = now() where payment_id = %s", [payment_id])
    assert client.reload().returned()["baReentry"] == outcome
    assert read_codes(payer[0], payment_id) == (["BA3040"] if state == "DRAFT" else ["BA1111"])
