"""Pages about credit files: the customer's own, and the adviser's queue, figures with bookings, and reviews."""

import re
from datetime import datetime, timedelta

import pytest

from banking import new_customer
from console_site import make_console_adviser, send, text_of
from kontor.pages.formatting import BERLIN

FILES, DISCLOSURES = "/customer/v2/ai/credit-files", "/customer/v2/freigaben"
PAGE, QUEUE = "/console/credit-files", "/console/credit-reviews"
SOON = (datetime.now(BERLIN).date() + timedelta(days=30)).isoformat()
BOTH = ["credit-check", "credit-bookings"]


@pytest.fixture(scope="module")
def adviser(console_site):
    return make_console_adviser(console_site)


@pytest.fixture(scope="module")
def debtor(console_site):
    """A customer with rent, and no more than a year of data."""
    customer = new_customer(console_site.advised)
    customer.add_complete("berufseinstieg")
    return customer


def make_file(customer, adviser, umfang=BOTH):
    body = {"umfang": umfang, "gueltigBis": SOON, "berater": adviser.reference}
    disclosure = customer.post(DISCLOSURES, body).headers["location"].rpartition("/")[2]
    made = customer.post(FILES, {"zweck": "Ratenkredit", "freigabe": disclosure})
    return made.headers["location"].rpartition("/")[2], disclosure


def find_rent(customer, name):
    [rent] = [value for value in customer.read(f"{FILES}/{name}")["werte"] if value["name"] == "MIETE"]
    return rent


def test_a_customer_makes_a_file_sees_the_bookings_of_a_figure_prints_and_deletes_it(console_site, debtor):
    with console_site.visit(debtor) as visitor:
        answer = send(visitor, PAGE, "make", purpose="Autokredit", disclosure="SELBST")
        assert answer.status_code == 303
        name = re.fullmatch(rf"{PAGE}/([0-9a-f-]+)\?notice=credit_file_made", answer.headers["location"])[1]
        page = text_of(visitor.get(answer.headers["location"]))
        assert "Autokredit" in page
        listed = text_of(visitor.get(PAGE))
        assert re.search(r'name="disclosure" value="SELBST" id="for-self" checked', listed)
        assert "Nur für mich" in listed.partition('id="files"')[2].partition("</ul>")[0]
        rent = find_rent(debtor, name)
        shown = text_of(visitor.get(f"{PAGE}/{name}?figure=MIETE")).partition('id="bookings"')[2]
        assert set(re.findall(r"/console/transactions/[^/]+/[^/]+/([0-9a-f-]+)\"", shown)) == set(rent["umsaetze"])
        printed = visitor.get(f"{PAGE}/{name}/pdf")
        assert (printed.headers["content-type"], printed.content[:5]) == ("application/pdf", b"%PDF-")
        answer = send(visitor, f"{PAGE}/{name}", "delete")
        assert answer.headers["location"] == f"{PAGE}?notice=credit_file_deleted"
        assert visitor.get(f"{PAGE}/{name}").status_code == 404


def test_what_cannot_be_made_is_told_and_what_was_typed_stays(console_site, debtor, adviser):
    _, disclosure = make_file(debtor, adviser)
    with console_site.visit(debtor) as visitor:
        assert disclosure in text_of(visitor.get(PAGE))
        assert "wofür die Akte" in text_of(send(visitor, PAGE, "make", purpose=" ", disclosure="SELBST"), 422)
        debtor.delete(f"{DISCLOSURES}/{disclosure}")
        page = text_of(send(visitor, PAGE, "make", purpose="Autokredit", disclosure=disclosure), 422)
        assert "Diese Freigabe gilt nicht mehr" in page
        assert 'value="Autokredit"' in page


def test_an_adviser_finds_what_was_asked_for_corrects_a_category_and_the_customer_sees_it(
    console_site, debtor, adviser
):
    name, _ = make_file(debtor, adviser)
    rent = find_rent(debtor, name)
    with console_site.visit(debtor) as visitor:
        answer = send(visitor, f"{PAGE}/{name}", "ask", comment="Eine Kaution zählt als Miete")
        assert answer.headers["location"] == f"{PAGE}/{name}?notice=credit_review_asked"
        assert "schon angefordert" in text_of(send(visitor, f"{PAGE}/{name}", "ask", comment="Noch einmal"), 422)
    with console_site.visit(adviser) as visitor:
        assert name in text_of(visitor.get(f"{QUEUE}?status=asked"))
        assert name not in text_of(visitor.get(f"{QUEUE}?status=done"))
        page = text_of(visitor.get(f"{QUEUE}/{name}?figure=MIETE"))
        assert "Eine Kaution zählt als Miete" in page
        assert debtor.reference in page
        assert set(re.findall(r'name="booking" value="([0-9a-f-]+)"', page)) == set(rent["umsaetze"])
        here = f"{QUEUE}/{name}?figure=MIETE"
        row, remark = rent["umsaetze"][-1], "Das war die Kaution"
        missing = send(visitor, here, "correct", comment=remark, category="HOUSING_OTHER")
        assert "mindestens einen Umsatz" in text_of(missing, 422)
        wrong = text_of(send(visitor, here, "correct", comment=remark, category="HEALTH_SERVICES", booking=row), 422)
        assert "nicht möglich" in wrong
        assert remark in wrong
        assert re.search(rf'value="{row}" id="booking-{row}" checked', wrong)
        answer = send(visitor, here, "correct", comment=remark, category="HOUSING_OTHER", booking=row)
        new = re.fullmatch(rf"{QUEUE}/([0-9a-f-]+)\?notice=credit_file_reviewed", answer.headers["location"])[1]
        assert remark in text_of(visitor.get(answer.headers["location"]))
        again = send(visitor, here, "confirm", comment=remark)
        assert "schon eine neuere Fassung" in text_of(again, 422)
        assert visitor.get(f"{QUEUE}/{new}/pdf").content.startswith(b"%PDF-")
    assert find_rent(debtor, new)["umsaetze"] == rent["umsaetze"][:-1]
    with console_site.visit(debtor) as visitor:
        assert f"{PAGE}/{new}" in text_of(visitor.get(f"{PAGE}/{name}"))
        corrections = text_of(visitor.get(f"{PAGE}/{new}")).partition('id="corrections"')[2]
        assert adviser.reference in corrections


def test_bookings_that_the_customer_does_not_share_are_told_as_such_and_a_review_is_possible(
    console_site, debtor, adviser
):
    name, disclosure = make_file(debtor, adviser, ["credit-check"])
    with console_site.visit(adviser) as visitor:
        page = text_of(visitor.get(f"{QUEUE}/{name}?figure=MIETE"))
        assert "nicht freigegeben" in page
        assert 'name="booking"' not in page
        assert "Bemerkung von höchstens" in text_of(send(visitor, f"{QUEUE}/{name}", "recompute", comment=" "), 422)
        answer = send(visitor, f"{QUEUE}/{name}", "confirm", comment="Geprüft")
        assert answer.headers["location"].endswith("notice=credit_file_reviewed")
        debtor.delete(f"{DISCLOSURES}/{disclosure}")
        assert visitor.get(f"{QUEUE}/{name}").status_code == 404
        assert name not in text_of(visitor.get(QUEUE))


def test_customers_have_no_way_to_reviews(console_site, debtor):
    with console_site.visit(debtor) as visitor:
        assert visitor.get(QUEUE).status_code == 403
