"""The console's pages of payments and standing orders, over the web form and for tenants that handle credentials."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import pytest

from banking import href, new_customer
from consenting import PRESENT, decide_at_bank, start
from console_site import ConsoleSite, money, read_token, send
from form_client import connect_account
from kontor.console.payments import FIELDS, KINDS, PERIODS, STEPS, TONES, find_bank_code, name_state, read_amount
from kontor.console.rendering import load_texts
from kontor.console.views.payments import NOTICES, OUTCOMES, UNCLEAR
from kontor.domain.clocks import BERLIN

PAGE = "/console/payments"
NEW = f"{PAGE}/new"
IBAN = "DE89370400440532013000"
TRANSFER = {"recipient": "Erika Muster", "iban": IBAN, "amount": "12,34", "purpose": "Rechnung 1"}
SOON = (datetime.now(BERLIN).date() + timedelta(days=20)).isoformat()
MONTHLY = TRANSFER | {"kind": "standing-order", "period": "MONTH_ONE", "day": SOON, "amount": "50"}


# By value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12,34", "12.34"),
        ("12.34", "12.34"),
        ("12", "12"),
        ("1.234,50", "1234.50"),
        ("1,234.50", "1234.50"),
        ("1.234", "1234"),
        ("1234,5", "1234.5"),
        ("12,50 €", "12.50"),
        ("0,01", "0.01"),
        ("1,234,567", "1234567"),
        ("1.234.567,8", "1234567.8"),
        ("1'234,50", "1234.50"),
        ("12,345", None),
        ("0,500", None),
        ("0.500", None),
        ("1.234.50", None),
        ("1.234,567", None),
        ("1.234'567", None),
        ("0000000000000000000001234,50", None),
        ("٣", None),
        ("", None),
        ("-5", None),
        ("1e3", None),
        ("zwölf", None),
        ("12,3,4", None),
        ("1.23.456", None),
    ],
)
def test_an_amount_is_read_as_people_write_it(text, expected):
    assert read_amount(text, "de") == (None if expected is None else Decimal(expected))


def test_the_language_decides_what_one_sign_before_three_digits_means():
    assert (read_amount("12,345", "en"), read_amount("12.345", "en")) == (12345, None)
    assert (read_amount("12,345", "de"), read_amount("12.345", "de")) == (None, 12345)


def test_the_bank_code_is_known_of_german_accounts_alone():
    assert find_bank_code(IBAN) == "37040044"
    assert find_bank_code("AT611904300234573201") is None


def test_the_state_of_a_payment_is_one_word():
    def message(level, code):
        return {"level": level, "code": code, "message": ""}

    assert name_state([]) == "open"
    assert name_state([message("ERROR", "BA1103"), message("INFO", "BA3030")]) == "open", "a wrong TAN, asked again"
    assert name_state([message("ERROR", "BA1104")]) == "failed"
    assert name_state([message("INFO", "BA1113")]) == "unknown"


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_kind_state_step_and_outcome_has_its_words(language):
    texts = load_texts()[language].texts
    wanted = [
        *(f"payments.kind.{kind}" for kind in KINDS),
        *(f"payments.state.{state}" for state in TONES),
        *(f"payments.period.{period}" for period in PERIODS),
        *(f"payments.outcome.{outcome}" for outcome in [*OUTCOMES, "OTHER"]),
        *(f"payment.step.{step}" for step in STEPS.values()),
        *(f"payment_new.problem.{field}_wrong" for field in FIELDS.values()),
        *(f"payment_new.problem.{name}" for name in ("refused", "twice", "address", "callback")),
        *(f"notices.{name}" for name in [*NOTICES.values(), UNCLEAR]),
    ]
    assert [name for name in wanted if name not in texts] == []


# Parts


def find_account(visitor) -> str:
    page = visitor.get(NEW).text
    return re.search(r'<option value="([^"]+)"', page.partition('id="account"')[2])[1]


def order(visitor, fields, **more):
    known = {"account": find_account(visitor), "payment_id": str(uuid4())}
    return send(visitor, NEW, "order", **known | fields | more)


def follow(visitor, answer) -> str:
    assert answer.status_code == 303, answer.text
    return visitor.get(answer.headers["location"]).text


def standing_rows(visitor) -> list[str]:
    page = visitor.get(PAGE).text
    return re.findall(r"<tr.*?</tr>", page.partition('id="standing-orders"')[2].partition("</section>")[0], re.DOTALL)[
        1:
    ]


# Tenants that use the web form


@pytest.fixture(scope="module")
def paying(console_site: ConsoleSite):
    customer = new_customer(console_site.redirecting)
    connect_account(customer, "familie+console-payments")
    return customer


def test_a_dated_transfer_leads_over_the_web_form_and_back_to_the_list(console_site, paying):
    with console_site.visit(paying) as visitor:
        answer = order(visitor, TRANSFER | {"day": SOON})
        query = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
        assert (query["useCase"], query["callbackUrl"]) == ("INITIATE_PAYMENT", f"{console_site.url}/payments")
        [status] = paying.read("/customer/v2/payments", params={"limit": 1})
        assert status["transfer"]["requestedExecutionDate"] == SOON
        assert status["transfer"]["transferDetails"]["bic"] == "COBADEFFXXX", "of the catalogue"
        page = visitor.get(PAGE).text
        assert "Erika Muster" in page
        assert money("12.34") in page
        assert "offen" in page


@pytest.mark.parametrize("outcome", ["FINISHED", "USER_CANCELLED", "PAYMENT_FAILED", "<script>"])
def test_who_comes_back_is_told_how_it_went(console_site, paying, outcome):
    with console_site.visit(paying) as visitor:
        page = visitor.get(PAGE, params={"baReentry": outcome}).text
    assert load_texts()["de"](f"payments.outcome.{outcome if outcome in OUTCOMES else 'OTHER'}") in page
    assert "<script>alert" not in page


# Tenants that handle credentials


def sign_up(console_site, login):
    customer = new_customer(console_site.regulated)
    customer.add_complete(login)
    return customer


def consent(console_site, login, *answers):
    """A customer whose bank wanted SCA before it told anything."""
    customer = new_customer(console_site.regulated)
    consent = start(customer, login)
    for answer in answers:
        consent.post(answer)
    consent.wait_until_complete()
    return customer


@pytest.fixture(scope="module")
def family(console_site: ConsoleSite):
    return sign_up(console_site, "familie+console-sca")


def test_a_transfer_is_authorised_with_a_tan_on_the_page(console_site):
    customer = sign_up(console_site, "test_bank_message+console-tan")
    with console_site.visit(customer) as visitor:
        answer = order(visitor, TRANSFER)
        url = answer.headers["location"]
        page = follow(visitor, answer)
        assert "TAN eingeben" in page
        empty = send(visitor, url, "answer", step="tan", answer=" ")
        assert empty.status_code == 422
        assert "Bitte füllen Sie das Feld aus." in empty.text
        wrong = follow(visitor, send(visitor, url, "answer", step="tan", answer="7"))
        assert "Die TAN ist ungültig" in wrong
        done = follow(visitor, send(visitor, url, "answer", step="tan", answer="12"))
        assert ">ausgeführt<" in done
        assert 'id="step-tan"' not in done
    [status] = customer.read("/customer/v2/payments")
    assert status["transfer"]["transferDetails"]["amount"] == 12.34


def test_method_and_medium_are_chosen_on_the_page(console_site):
    chosen = ({"chosenScaMethodId": "901"}, {"chosenScaMedia": "Mein Handy"}, {"scaAuthenticationData": "12"})
    customer = consent(console_site, "test_sca_method_media+console", *chosen)
    with console_site.visit(customer) as visitor:
        access_id, product_id = find_account(visitor).split("/")
        details = {"recipient": "Erika Muster", "iban": IBAN, "bic": "COBADEFFXXX", "purpose": "1", "currency": "EUR"}
        ordered = customer.post(
            f"/customer/v2/bankzugaenge/{access_id}/{product_id}/payment/single-transfer",
            {"instant": False, "transferDetails": details | {"amount": 1}},
            params={"callbackUrl": "https://example.com/back", "queryTanSettings": "true"},
            headers=PRESENT,
        )
        url = f"{PAGE}/single-transfer/{ordered.json()['transfer']['paymentId']}"
        page = visitor.get(url).text
        for step in ("method", "medium"):
            assert f'id="step-{step}"' in page
            choice = re.findall(r'name="answer" value="([^"]+)"', page)[-1]
            page = follow(visitor, send(visitor, url, "answer", step=step, answer=choice))
        assert 'id="step-tan"' in page


def test_a_transfer_is_confirmed_in_the_app(console_site):
    with console_site.visit(consent(console_site, "test_decoupled+console", {}, {}, {})) as visitor:
        answer = order(visitor, TRANSFER)
        url, page = answer.headers["location"], follow(visitor, answer)
        assert 'id="step-app"' in page
        for _ in range(5):
            if ">ausgeführt<" in page:
                break
            page = follow(visitor, send(visitor, url, "answer", step="app"))
        assert ">ausgeführt<" in page


def test_a_transfer_is_confirmed_on_the_banks_page_and_comes_back(console_site, owner):
    customer = new_customer(console_site.regulated)
    given = start(customer, "test_redirect+console")
    back = decide_at_bank(owner, href(given.read(), "redirect_url"))
    given.enter(urlsplit(back).query)
    given.wait_until_complete()
    with console_site.visit(customer) as visitor:
        page = follow(visitor, order(visitor, TRANSFER))
        bank = re.search(r'id="to-bank" href="([^"]+)"', page)[1]
        back = urlsplit(decide_at_bank(owner, bank))
        assert back.path.startswith(f"{PAGE}/back/")
        answer = visitor.get(f"{back.path}?{back.query}")
        assert ">ausgeführt<" in follow(visitor, answer)


def test_the_start_code_of_a_tan_generator_is_shown(console_site):
    customer = consent(console_site, "test_chiptan+console", {"scaAuthenticationData": "936086"})
    with console_site.visit(customer) as visitor:
        answer = order(visitor, TRANSFER)
        page = follow(visitor, answer)
        assert 'id="start-code">88134473<' in page
        done = follow(visitor, send(visitor, answer.headers["location"], "answer", step="tan", answer="936086"))
        assert ">ausgeführt<" in done


def test_who_is_not_sure_about_the_payee_can_cancel_or_pay(console_site):
    with console_site.visit(sign_up(console_site, "test_vop_nomatch+console")) as visitor:
        answer = order(visitor, TRANSFER)
        assert "Name des Empfängers prüfen" in follow(visitor, answer)
        assert ">nicht ausgeführt<" in follow(visitor, send(visitor, answer.headers["location"], "cancel"))
        again = order(visitor, TRANSFER | {"purpose": "Rechnung 2"})
        follow(visitor, again)
        page = follow(visitor, send(visitor, again.headers["location"], "accept_payee"))
        assert "Name des Empfängers prüfen" not in page


def test_a_standing_order_is_created_changed_and_deleted(console_site):
    with console_site.visit(sign_up(console_site, "test_bank_message+console-standing")) as visitor:
        before = len(standing_rows(visitor))

        def authorise_with_tan(answer):
            follow(visitor, answer)
            return follow(visitor, send(visitor, answer.headers["location"], "answer", step="tan", answer="12"))

        assert ">ausgeführt<" in authorise_with_tan(order(visitor, MONTHLY))
        rows = standing_rows(visitor)
        assert len(rows) == before + 1
        [row] = [row for row in rows if "Erika Muster" in row]
        assert money(50) in row
        assert "monatlich" in row
        change = re.search(r'href="([^"]+order=([^"]+))"', row)
        form = visitor.get(change[1]).text
        assert 'value="50,00"' in form
        changed = order(visitor, MONTHLY | {"order": change[2], "amount": "75", "period": "MONTH_THREE"})
        assert ">ausgeführt<" in authorise_with_tan(changed)
        [row] = [row for row in standing_rows(visitor) if "Erika Muster" in row]
        assert money(75) in row
        assert "vierteljährlich" in row
        asked = visitor.get(PAGE, params={"delete": change[2]}).text
        assert "Dauerauftrag an Erika Muster löschen?" in asked
        token = read_token(asked)
        answer = visitor.post(
            PAGE, data={"token": token, "action": "delete", "order": change[2], "payment_id": str(uuid4())}
        )
        assert ">ausgeführt<" in authorise_with_tan(answer)
        [row] = [row for row in standing_rows(visitor) if "Erika Muster" in row]
        assert "beendet" in row
        assert "Löschen" not in row


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"amount": "viel"}, "Bitte geben Sie einen Betrag ein"),
        ({"amount": "0"}, "Bitte geben Sie einen Betrag ein"),
        ({"amount": "0,500"}, "Bitte geben Sie einen Betrag ein"),
        ({"amount": "9999999999"}, "Dieser Betrag ist nicht möglich"),
        ({"recipient": "x" * 71}, "höchstens 70 Zeichen"),
        ({"purpose": "Ωμέγα"}, "höchstens 140 Zeichen"),
        ({"bic": "ü"}, "Diese BIC ist nicht gültig"),
        ({"iban": "<b>"}, "Diese IBAN ist nicht gültig"),
        ({"recipient": " "}, "Namen des Empfängers"),
        ({"purpose": ""}, "Verwendungszweck ein"),
        ({"iban": "DE00370400440532013000"}, "Diese IBAN ist nicht gültig"),
        ({"iban": "AT611904300234573201"}, "keine BIC"),
        ({"account": "nobody/nothing"}, "Bitte wählen Sie ein Konto"),
        ({"kind": "standing-order"}, "Datum der ersten Ausführung"),
        ({"day": "2020-01-01"}, "Dieses Datum ist nicht möglich"),
        ({"day": "morgen"}, "Dieses Datum ist nicht möglich"),
        ({"day": f"{SOON}T00:00:00"}, "Dieses Datum ist nicht möglich"),
        ({"day": SOON, "instant": "yes"}, "Dieses Datum ist nicht möglich"),
        (MONTHLY | {"last_on": "2020-01-01"}, "letzten Ausführung ist nicht möglich"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_ordered(console_site, family, wrong, text):
    before = family.read("/customer/v2/payments")
    with console_site.visit(family) as visitor:
        answer = order(visitor, TRANSFER | wrong)
    assert answer.status_code == 422
    assert text in answer.text
    assert "Erika Muster" in answer.text or wrong.get("recipient"), "what was entered stays"
    assert family.read("/customer/v2/payments") == before


def test_a_form_that_is_sent_twice_pays_once(console_site):
    customer = sign_up(console_site, "test_bank_message+console-twice")
    with console_site.visit(customer) as visitor:
        payment_id = str(uuid4())
        first = order(visitor, TRANSFER, payment_id=payment_id)
        second = order(visitor, TRANSFER, payment_id=payment_id)
        assert first.headers["location"] == second.headers["location"]
    assert len(customer.read("/customer/v2/payments")) == 1


def test_nobody_sees_or_answers_another_ones_payment(console_site, family):
    customer = sign_up(console_site, "test_bank_message+console-foreign")
    with console_site.visit(customer) as visitor:
        url = order(visitor, TRANSFER).headers["location"]
        token = read_token(visitor.get(url).text)
    with console_site.visit(family) as stranger:
        assert stranger.get(url).status_code == 404
        mine = read_token(stranger.get(PAGE).text)
        for action in ("answer", "cancel", "accept_payee"):
            answer = stranger.post(url, data={"token": mine, "action": action, "step": "tan", "answer": "12"})
            assert answer.status_code == 404, action
        assert stranger.post(url, data={"token": token, "action": "cancel"}).status_code == 403, "another one's token"
    [status] = customer.read("/customer/v2/payments")
    assert "authenticate" in [relation["rel"] for relation in status["relations"]]
