"""The web form from the notes on data protection to a renewed consent, with the keyboard alone."""

import pytest
from playwright.sync_api import expect

from banking import rels
from browser.form_driver import TANS
from browser.keyboard import TWO_LOOKS, Person
from browser.test_browser_accessibility import OPTIONS
from consenting import new_login


@pytest.fixture(params=TWO_LOOKS, ids=str)
def person_and_form(request, new_form):
    form = new_form(**request.param.options)
    return Person(form.page, request.param, OPTIONS), form


def see(person, form, page):
    form.at(page)
    person.check()


def test_a_bank_is_connected_and_its_consent_is_renewed(person_and_form, owner):
    person, form = person_and_form
    form.open()
    see(person, form, "legal")
    person.press(form.button("legal.accept"))
    see(person, form, "provider")
    person.page.keyboard.type("demo-bank")
    expect(person.page.get_by_role("option")).to_have_count(1)
    person.page.keyboard.press("ArrowDown")
    person.page.keyboard.press("Enter")
    see(person, form, "credentials")
    person.enter("#field-userid", new_login("test_sca_method"))
    person.enter("#field-pin", "demo")
    person.page.keyboard.press("Enter")
    see(person, form, "method")
    person.press(person.page.get_by_role("radio", name="mockTAN"), "Space")
    person.page.keyboard.press("Enter")
    see(person, form, "tan")
    person.page.keyboard.type(TANS["mockTAN"])
    person.page.keyboard.press("Enter")
    see(person, form, "accounts")
    person.press(form.button("accounts.submit"))
    form.expect_return("ACCOUNT_CREATED")
    form.customer.wait_until_complete(form.access_id)
    renew(person, form, owner)


def renew(person, form, owner):
    """Shortly before its end; the bank knows the method by now, and asks for a TAN alone."""
    owner.execute(
        "update accesses set consent_until = now() + interval '3 days' where user_id = %s and id = %s",
        [form.customer.reference, form.access_id],
    )
    assert "start_sca" in rels(form.customer.read_access(form.access_id))
    form.start_renewal(form.callback("/renewed"))
    person.page.goto(form.location)
    see(person, form, "tan")
    person.page.keyboard.type(TANS["mockTAN"])
    person.page.keyboard.press("Enter")
    assert form.expect_return("FINISHED", "/renewed") == {}
    assert "start_sca" not in rels(form.customer.read_access(form.access_id))
