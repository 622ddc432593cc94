"""Paying in a real browser: each way of authorising, the payee's check, both languages, phone and desktop; and once."""

from datetime import datetime
from uuid import UUID, uuid5

import pytest
from playwright.sync_api import expect

from banking import new_customer
from browser.accessibility import shows
from browser.form_driver import TANS, post_twice
from browser.payment_driver import PAYMENT_TAN, PaymentForm
from browser.test_browser_accessibility import check
from consenting import new_login
from form_client import DETAILS, connect_account, product_url, read_codes
from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN

IBANS = {scenario: iban for iban, scenario in TEST_IBANS.items()}


@pytest.fixture(scope="module")
def payer(bank_server, redirecting):
    """A user who has agreed to the terms and has an account to pay from: (customer, access id)."""
    customer = new_customer(redirecting)
    return customer, connect_account(customer, new_login("demo1"))


@pytest.fixture
def new_payment(new_context, site, payer):
    """A payment of that user, in front of a browser of their own."""

    def make(*, language="de", customer=None, **options):
        context = new_context(language=language, **options)
        return PaymentForm(context.new_page(), customer or payer[0], site, language)

    return make


def own_iban(login):
    return person_for(login, datetime.now(BERLIN).date()).accounts[0].product.iban


def bill(**details):
    return {"instant": False, "transferDetails": DETAILS | details}


def count_arrivals(owner, form):
    bank_id = uuid5(UUID(form.customer.reference), f"payment {form.payment_id}")
    return owner.execute("select count(*) from demo_bank_arrivals where payment_id = %s", [bank_id]).fetchone()[0]


def pass_method_and_medium(form):
    form.choose("method", "iTAN").choose("medium", "Mein Tablet").enter(TANS["iTAN"])


def pass_decoupled(form):
    expect(form.at("confirmation").get_by_role("status")).to_have_text(form.text("confirmation.waiting"))


def pass_photo(form):
    picture = form.at("tan").get_by_role("img", name=form.text("tan.photo_alt"))
    assert picture.evaluate("one => one.complete && one.naturalWidth") > 100
    form.enter(TANS["photoTAN"])


def pass_chip(form):
    expect(form.at("tan").get_by_role("img", name=form.text("flicker.label"))).to_be_visible()
    form.enter(TANS["chipTAN optisch"])


@shows("form/demobank-payment")
def pass_redirect(form):
    form.at("redirect").get_by_role("link", name=form.text("redirect.go")).click()
    expect(form.page.locator("main[data-page=demobank-payment] h1")).to_be_visible()
    check(form.page)
    form.page.get_by_role("button", name="Freigeben").click()


WAYS = {
    "test_sca_method_media": ("de", True, pass_method_and_medium),
    "test_decoupled": ("en", False, pass_decoupled),
    "test_phototan": ("en", True, pass_photo),
    "test_chiptan": ("de", False, pass_chip),
    "test_redirect": ("de", True, pass_redirect),
}


@pytest.mark.parametrize("login", WAYS)
def test_a_payment_from_another_bank_by_each_way_of_authorising(new_payment, login):
    language, is_phone, authorise = WAYS[login]
    form = new_payment(language=language, is_phone=is_phone)
    form.order().to_source().at("source").get_by_role("radio", name=form.text("source.other")).check()
    form.press("source.submit")
    customer = new_login(login)
    form.choose_bank().log_in_to_pay(customer, own_iban(customer))
    authorise(form)
    assert form.expect_return("FINISHED") == {}
    assert read_codes(form.customer, form.payment_id) == ["BA1111"]
    assert form.site.visits_to("/back")[-1].headers.get("Referer") is None


def test_the_first_payment_of_a_user_begins_with_the_terms_and_shows_whom_it_is_for(new_payment, redirecting):
    form = new_payment(customer=new_customer(redirecting), language="en")
    form.order().at("legal")
    expect(form.heading()).to_have_text(form.text("legal.title_payment", tenant=redirecting.name))
    expect(form.page.get_by_text("€12.30")).to_be_visible()
    form.press("legal.decline")
    form.expect_return("LEGAL_NOT_ACCEPTED")


def test_it_is_paid_once_in_two_tabs_after_reload_back_and_double_submit(new_payment, owner):
    form = new_payment()
    form.order().to_source().pay_from_first().at("tan")
    form.page.reload()
    form.at("tan")
    form.page.go_back()
    form.at("tan")
    other = PaymentForm(form.page.context.new_page(), form.customer, form.site, payment_id=form.payment_id)
    other.page.goto(form.page.url)
    other.at("tan")
    form.page.get_by_label(form.text("tan.label"), exact=True).fill(PAYMENT_TAN)
    assert post_twice(form) == [200, 200]
    other.enter(PAYMENT_TAN).expect_return("FINISHED")
    form.page.reload()
    form.expect_return("FINISHED")
    assert count_arrivals(owner, form) == 1


def test_a_payment_without_javascript_from_the_account_that_the_tenant_chose(new_payment, payer):
    form = new_payment(java_script_enabled=False)
    form.order(product_url(*payer), bill(iban=IBANS[PayeeScenario.NAME_IS_OTHER])).review()
    expect(form.page.get_by_text(form.text("payment.from"))).to_be_visible()
    form.press("payment.pay")
    form.at("payees")
    form.press("payees.accept")
    form.enter("4711").enter(PAYMENT_TAN).expect_return("FINISHED")


def test_a_payment_by_keyboard_alone(new_payment):
    form = new_payment()
    form.order(editableDetails="true").review()
    amount = form.page.get_by_label(form.text("payment.amount_in", currency="EUR"))
    amount.focus()
    form.page.keyboard.press("Control+A")
    form.page.keyboard.type("0,5x")
    form.page.keyboard.press("Enter")
    expect(form.page.get_by_role("alert")).to_be_focused()
    form.page.keyboard.press("Tab")
    form.page.keyboard.press("Enter")
    expect(amount).to_be_focused()
    form.page.keyboard.press("Control+A")
    form.page.keyboard.type("7,77")
    form.page.keyboard.press("Enter")
    form.at("source").get_by_role("radio").first.focus()
    form.page.keyboard.press("Enter")
    form.at("tan")
    expect(form.page.get_by_text("7,77 € an Erika Müller")).to_be_visible()
    form.page.keyboard.type(PAYMENT_TAN)  # the field has the focus already
    form.page.keyboard.press("Enter")
    form.expect_return("FINISHED")


@shows("form/unknown")
def test_an_outcome_that_nobody_knows_is_shown_until_the_bank_tells(new_payment, owner):
    form = new_payment()
    form.order().to_source().pay_from_first().at("tan")
    change = "update payments set state = %s, sealed = null, next_lookup_at = null where id = %s"
    owner.execute(change, ["UNKNOWN", form.payment_id])
    form.page.reload()
    expect(form.at("unknown").get_by_role("status")).to_have_text(form.text("unknown.waiting"))
    check(form.page)
    owner.execute(change, ["EXECUTED", form.payment_id])
    form.expect_return("FINISHED")  # the page goes on by itself


@shows("form/payment", "form/source", "form/payees", "form/tan")
def test_every_page_of_a_payment_can_be_used_by_everybody(new_payment):
    form = new_payment()
    form.order(body=bill(iban=IBANS[PayeeScenario.NAME_IS_CLOSE]), editableDetails="true").review()
    check(form.page)
    form.page.locator("#payment-form").evaluate("one => one.noValidate = true")
    form.page.get_by_label(form.text("payment.recipient"), exact=True).fill("")
    form.press("payment.next")
    expect(form.page.get_by_role("alert")).to_be_focused()
    check(form.page)
    form.page.get_by_label(form.text("payment.recipient"), exact=True).fill("Erika Müller")
    form.press("payment.next")
    form.at("source")
    check(form.page)
    form.pay_from_first().at("payees")
    check(form.page)
    form.press("payees.accept")
    form.at("tan")
    check(form.page)


@shows("form/payment", "form/failed")
def test_the_pages_of_a_fixed_payment_that_fails_can_be_used_by_everybody(new_payment, payer):
    form = new_payment(language="en")
    form.order(product_url(*payer), bill(iban=IBANS[PayeeScenario.IS_CLOSED], recipient="Karl Closed")).review()
    check(form.page)
    form.press("payment.pay")
    form.enter(PAYMENT_TAN).at("failed")
    expect(form.page.get_by_text("Das Konto des Empfängers ist erloschen.")).to_be_visible()
    check(form.page)
    form.press("failed.leave", tenant=form.customer.tenant.name)
    form.expect_return("PAYMENT_FAILED")
