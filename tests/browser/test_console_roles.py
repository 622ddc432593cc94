"""Customers, advisers, developers and operators, each in pages of their own, with the keyboard alone."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from banking import href, new_customer
from browser.keyboard import TWO_LOOKS, Person
from console_site import make_console_adviser, password_of
from kontor.pages.formatting import BERLIN

DISCLOSURES = "/customer/v2/freigaben"
OPERATION = "list_all_transactions"


@pytest.fixture(params=TWO_LOOKS, ids=str)
def enter(request, new_console_context, console_site):
    """Somebody with a keyboard in front of a page of the console, not signed in."""

    def go_to(path):
        person = Person(new_console_context(**request.param.options).new_page(), request.param)
        person.page.goto(console_site.url + path)
        return person

    return go_to


def sign_in(person, customer):
    person.at("sign_in")
    person.choose("#tenant", customer.tenant.name)
    person.enter("#username", customer.username)
    person.enter("#password", password_of(customer))
    person.page.keyboard.press("Enter")
    expect(person.page.locator("body.signed-in")).to_be_visible()


@pytest.fixture
def operator(enter, console_site):
    person = enter("/ops")
    person.at("operator_sign_in")
    person.enter("#operator-token", console_site.operator_token)
    person.page.keyboard.press("Enter")
    person.at("ops")
    return person


def test_a_customer_shares_an_adviser_reads_and_the_customer_sees_it_and_withdraws(enter, console_site):
    customer, adviser = new_customer(console_site.advised), make_console_adviser(console_site)
    person = enter("/disclosures")
    sign_in(person, customer)
    person.press("#scope-contracts", "Space")
    person.press("#whom-all", "ArrowDown")
    person.enter("#adviser", adviser.reference)
    person.at("disclosures")
    person.press("#preview")
    shown = person.page.locator(".recorded").inner_text()
    person.check()
    person.press("#give")
    expect(person.page.get_by_role("status")).to_have_text("Ihre Freigabe gilt ab sofort.")
    (given,) = customer.read(DISCLOSURES)
    assert given["text"] == shown

    office = enter("/adviser")
    sign_in(office, adviser)
    office.at("customers")
    office.press("table.customers a")
    office.at("customer")
    office.press(office.page.get_by_role("link", name="Öffnen"))
    office.at("customer_contracts")

    person.press(person.page.get_by_role("link", name="Wer hat was gelesen?"))
    person.at("disclosure")
    assert adviser.reference in person.page.locator("#reads").inner_text()
    person.press("#withdraw")
    person.page.wait_for_url("**notice=disclosure_withdrawn")
    office.page.reload()
    expect(office.page.get_by_text("nichts freigegeben")).to_be_visible()


def test_a_customer_sees_who_may_use_the_accounts_withdraws_and_keeps_the_receipt(enter, console_site):
    customer = new_customer(console_site.regulated)
    access_id = customer.add_complete("demo1", zweck="Haushaltsbuch")
    person = enter("/permissions")
    sign_in(person, customer)
    shown = person.at("permissions").locator("#open").inner_text()
    assert all(text in shown for text in ("Demo-Bank", "aktiv", "Haushaltsbuch", "Girokonto"))
    person.press("#open a.withdraw")
    expect(person.page.locator("#withdrawing")).to_be_visible()
    assert customer.read_access(access_id), "asking withdraws nothing"
    person.check()
    person.press("#withdraw-now")
    receipt = person.at("permission").locator("#receipt")
    expect(person.page.get_by_role("status")).to_have_text("Die Berechtigung ist widerrufen. Die Daten sind gelöscht.")
    (ended,) = customer.read("/customer/v2/berechtigungen")
    assert (ended["status"], ended["geloescht"]["zugangsdaten"]) == ("WIDERRUFEN", 1)
    assert receipt.inner_text().count("gelöscht") == 1
    expect(person.page.locator("code.reference")).to_have_text(ended["pruefsumme"])
    assert customer.get(f"/customer/v2/bankzugaenge/{access_id}").status_code == 404
    person.press(person.page.get_by_role("link", name="Berechtigungen").last)
    expect(person.at("permissions").locator("#ended .badge")).to_have_text("widerrufen")
    expect(person.page.get_by_text("Zurzeit darf niemand Ihre Konten abrufen.")).to_be_visible()


@pytest.fixture
def payer(console_site):
    """A user with one contract."""
    customer = new_customer(console_site.regulated)
    product = customer.products(customer.add_complete("leer"))[0]
    month = datetime.now(BERLIN).date().replace(day=1)
    rows = []
    for number in range(6):
        rows.append({
            "identifier": {"batchId": "one", "id": str(number)}, "betrag": -19.99, "buchungsdatum": str(month),
            "gegenkontoInhaber": "Fitness Beispiel GmbH", "gegenkontoIban": "DE89370400440532013000", "gvCode": "105",
            "verwendungszweck": "Beitrag", "buchungstext": "LASTSCHRIFT",
        })  # fmt: skip
        month = (month - timedelta(days=1)).replace(day=1)
    assert customer.post(href(product, "get_kontoumsaetze"), rows).status_code == 201
    return customer


def test_a_customer_names_cancels_and_hides_a_contract_and_brings_it_back(enter, payer):
    person = enter("/contracts")
    sign_in(person, payer)
    person.press(person.page.locator("table.contracts th a").first)
    person.at("contract")
    person.enter("#name", "Mein Studio")
    person.choose("#notice-period", "3")
    expect(person.page.locator("#notice-period")).to_have_value("P3M")
    person.reach("#minimum-term-end")
    person.page.keyboard.type("12122031")  # in whichever order the browser asks for day and month
    person.press("#save")
    page = person.page
    page.wait_for_url("**notice=contract_saved")
    assert page.locator("h1").inner_text() == "Mein Studio"
    assert page.locator(".tile", has_text="Kündigen bis").locator("dd").inner_text().startswith("12.09.2031")
    assert page.get_by_role("status").is_visible()
    person.at("contract")
    with page.expect_download() as download:
        person.press("#cancellation")
    assert download.value.suggested_filename == "kuendigung.pdf"
    person.press("#hide")
    page.wait_for_url("**show=hidden**")
    person.at("contracts")
    person.press(page.get_by_role("button", name="Mein Studio wieder anzeigen"))
    page.wait_for_url("**notice=contract_restored")
    assert page.locator("table.contracts").get_by_text("Mein Studio").is_visible()


def test_a_developer_finds_first_calls_and_calls_an_operation(enter, console_site):
    person = enter("/quickstart")
    sign_in(person, console_site.rich)
    person.at("quickstart")
    person.press(person.page.locator("nav.tabs").get_by_role("link", name="Python"))
    expect(person.page.locator("#code-python")).to_contain_text("from kontor_client import Kontor")
    person.at("quickstart")
    person.press(person.page.locator("main").get_by_role("link", name="API", exact=False).first)
    expect(person.page.locator("h1")).to_have_text("Kontor API")
    person.check()
    person.press("#demo-login")
    expect(person.page.locator("#login-state")).to_have_text(f"Logged in: {console_site.rich.username}.")
    person.enter("#filter", "transactions of all accounts newest")
    expect(person.page.locator("#found")).to_have_text("1 found")
    person.press(f"a[href$='#{OPERATION}']")
    form = person.page.locator(f"#{OPERATION} .try")
    person.enter(form.locator("[data-name=limit]"), "1")
    person.page.keyboard.press("Enter")
    expect(form.locator(".answer p")).to_contain_text("200")
    person.check()


def test_an_operator_opens_an_access_and_pauses_and_resumes_it(operator, console_site):
    customer = new_customer(console_site.regulated)
    access_id = customer.add_complete("leer")
    operator.go("Bankzugänge")
    operator.at("ops_accesses")
    operator.page.goto(f"{console_site.url}/ops/accesses/{customer.reference}/{access_id}")  # however many there are
    operator.at("ops_access")
    for action, name in (("pause", "Pausieren"), ("resume", "Fortsetzen")):
        operator.press(operator.page.locator("#actions").get_by_role("link", name=name))
        expect(operator.page.locator("#confirmation")).to_be_visible()
        operator.check()
        operator.press("#confirm")
        operator.page.wait_for_url(f"**notice=access_{action}")
        is_paused = operator.page.get_by_role("heading", name="Von einem Betreiber pausiert").is_visible()
        assert is_paused == (action == "pause")
        operator.at("ops_access")


@pytest.fixture
def held_job(console_site, owner):
    [job_id] = owner.execute(
        "insert into pgqueuer (priority, status, entrypoint, payload, attempts) values (0, 'failed', 'nothing', %s, 3)"
        " returning id",
        [uuid4().bytes],
    ).fetchone()
    owner.execute(
        "insert into pgqueuer_log (job_id, status, priority, entrypoint, traceback) values (%s, 'failed', 0, 'nothing',"
        """ '{"exception_type": "KeyError", "exception_message": "a secret"}')""",
        [job_id],
    )
    yield job_id
    owner.execute("delete from pgqueuer where id = %s", [job_id])


def test_an_operator_sees_why_a_job_was_held_and_queues_it_again(operator, held_job):
    operator.go("Jobs und Worker")
    operator.at("ops_jobs")
    operator.press(f"main a[href$='/ops/jobs/{held_job}']")
    expect(operator.page.locator("#events")).to_contain_text("KeyError")
    operator.at("ops_job")
    operator.press("#actions a")
    expect(operator.page.locator("#confirmation")).to_be_visible()
    operator.check()
    operator.press("#confirm")
    expect(operator.page.get_by_role("status")).to_have_text("Der Job ist wieder in der Warteschlange.")
    operator.at("ops_job")
