"""What customers share with advisers, what advisers then see, and that their areas of the console are apart."""

import re
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from banking import new_customer
from console_site import make_console_adviser, send, sign_in_form, text_of
from kontor.console.disclosures import read_wish
from kontor.console.views.advising import group_customers
from kontor.pages.formatting import BERLIN

DISCLOSURES, PAGE = "/customer/v2/freigaben", "/console/disclosures"
SCOPES = ("sales-triggers", "affordability", "credit-check", "contracts")


def find_day(days):
    return (datetime.now(BERLIN).date() + timedelta(days=days)).isoformat()


@pytest.fixture(scope="module")
def adviser(console_site):
    return make_console_adviser(console_site)


@pytest.fixture(scope="module")
def client_of(console_site):
    """A customer with data, who shares all with every adviser."""
    customer = new_customer(console_site.advised)
    customer.add_complete("demo1")
    body = {"umfang": list(SCOPES), "gueltigBis": find_day(30)}
    assert customer.post(DISCLOSURES, body).status_code == 201
    return customer


def read_menu(page):
    return re.findall(r'<li><a href="(/console[^"]*)"', page.partition('id="menu"')[2].partition("</nav>")[0])


def test_a_customer_reads_the_sentence_that_is_recorded_then_shares_and_withdraws(console_site, adviser):
    customer = new_customer(console_site.advised)
    fields = {"scope-contracts": "yes", "scope-sales-triggers": "yes", "until": find_day(60), "whom": "one",
              "adviser": adviser.reference}  # fmt: skip
    with console_site.visit(customer) as visitor:
        page = text_of(send(visitor, PAGE, "preview", **fields))
        shown = re.search(r'class="recorded" lang="de"><p>(.*?)</p>', page)[1]
        assert customer.read(DISCLOSURES) == []
        answer = send(visitor, PAGE, "give", shown=shown, **fields)
        assert answer.headers["location"] == f"{PAGE}?notice=disclosure_given"
        (given,) = customer.read(DISCLOSURES)
        assert (given["text"], given["berater"]) == (shown, adviser.reference)
        assert given["umfang"] == ["sales-triggers", "contracts"]
        assert "Beratungsanlässe, Verträge" in text_of(visitor.get(PAGE))
        answer = send(visitor, PAGE, "withdraw", disclosure=given["id"])
        assert answer.headers["location"] == f"{PAGE}/{given['id']}?notice=disclosure_withdrawn"
        assert "Seit Ihrem Widerruf" in text_of(visitor.get(answer.headers["location"]))
        assert customer.read(DISCLOSURES) == []
    with console_site.operate() as operator:
        trail = text_of(operator.get("/console/ops/audit", params={"tenant": console_site.advised.name}))
    entries = trail.partition('class="calls"')[0]
    assert entries.count(shown) == 2  # given, and withdrawn
    assert f"for adviser {adviser.username}: " in entries


def test_nothing_is_shared_by_another_sentence_than_the_one_that_was_shown(console_site):
    customer = new_customer(console_site.advised)
    fields = {"scope-contracts": "yes", "until": find_day(60), "whom": "all"}
    with console_site.visit(customer) as visitor:
        page = text_of(send(visitor, PAGE, "give", shown="Something else.", **fields), 422)
    assert "darf bis einschließlich" in page
    assert customer.read(DISCLOSURES) == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"scope-contracts": None}, "mindestens eine Auswertung"),
        ({"until": find_day(400)}, "Länger als zwölf Monate"),
        ({"until": find_day(-1)}, "einen Tag von heute"),
        ({"until": "soon"}, "einen Tag von heute"),
        ({"whom": "one", "adviser": "Frau Beispiel"}, "Diese Kennung"),
    ],
)
def test_a_wish_that_cannot_be_is_told_before_anything_is_shared(console_site, fields, words):
    usual = {"scope-contracts": "yes", "until": find_day(60), "whom": "all"}
    with console_site.visit(new_customer(console_site.advised)) as visitor:
        given = {name: value for name, value in (usual | fields).items() if value is not None}
        assert words in text_of(send(visitor, PAGE, "preview", **given), 422)


def test_a_reference_of_nobody_is_told_when_it_is_shared(console_site):
    fields = {"scope-contracts": "yes", "until": find_day(60), "whom": "one", "adviser": str(uuid4())}
    with console_site.visit(new_customer(console_site.advised)) as visitor:
        page = text_of(send(visitor, PAGE, "preview", **fields))
        shown = re.search(r'class="recorded" lang="de"><p>(.*?)</p>', page)[1]
        assert "Diese Kennung" in text_of(send(visitor, PAGE, "give", shown=shown, **fields), 422)


def test_scopes_that_do_not_exist_are_not_part_of_a_wish():
    today = datetime.now(BERLIN).date()
    form = {"scope-contracts": ["yes"], "scope-everything": ["yes"], "until": [str(today)], "whom": ["all"]}
    assert read_wish(form, today).scopes == ("contracts",)


# Advisers


def test_an_adviser_opens_what_is_shared_and_the_customer_sees_who_read_what(console_site, adviser, client_of):
    with console_site.visit(adviser) as visitor:
        page = text_of(visitor.get("/console/adviser"))
        assert f"/console/adviser/{client_of.reference}" in page
        assert adviser.reference in page
        assert read_menu(page) == ["/console/adviser", "/console/credit-reviews"]
        customer = f"/console/adviser/{client_of.reference}"
        assert "wird protokolliert" in text_of(visitor.get(customer))
        number = client_of.read(DISCLOSURES)[0]["id"]
        assert client_of.read(f"{DISCLOSURES}/{number}/zugriffe") == []  # so far nothing was opened
        for scope in SCOPES:
            opened = text_of(visitor.get(f"{customer}/{scope}"))
            assert client_of.reference in opened
            assert "/console/contracts/" not in opened
        assert visitor.get(f"/console/adviser/{uuid4()}/contracts").status_code == 404
    reads = client_of.read(f"{DISCLOSURES}/{number}/zugriffe")
    assert [read["umfang"] for read in reads] == list(reversed(SCOPES))
    with console_site.visit(client_of) as visitor:
        listed = text_of(visitor.get(f"{PAGE}/{number}")).partition('id="reads"')[2]
        assert listed.count(adviser.reference) >= len(SCOPES)


def test_an_adviser_sees_the_figures_of_the_customers_own_analysis(console_site, adviser, client_of):
    contracts = client_of.read("/customer/v2/ai/contracts")
    with console_site.visit(adviser) as visitor:
        page = text_of(visitor.get(f"/console/adviser/{client_of.reference}/contracts"))
    assert page.partition('<table class="contracts">')[2].count('<tr><th scope="row">') == len(contracts) > 3


def test_customers_have_no_way_into_the_advisers_area_and_no_advisers_pages_in_their_menu(console_site):
    with console_site.visit(new_customer(console_site.advised)) as visitor:
        menu = read_menu(text_of(visitor.get("/console")))
        assert "/console/disclosures" in menu
        assert not {"/console/triggers", "/console/affordability", "/console/adviser"} & set(menu)
        assert visitor.get("/console/adviser").status_code == 403
        assert "So sieht Ihre Beratung diese Auswertung" in text_of(visitor.get("/console/triggers"))


def test_signing_in_leads_advisers_to_their_customers_and_customers_to_their_money(console_site, adviser):
    with console_site.visit(adviser) as visitor:
        assert "Meine Kunden" in text_of(visitor.get("/console"))
    for user, home in ((adviser, "/console/adviser"), (new_customer(console_site.advised), "/console")):
        with console_site.visit(user) as visitor:
            assert visitor.post("/console/sign-in", data=sign_in_form(user)).headers["location"] == home


def test_several_disclosures_of_a_customer_are_one_entry_with_the_later_end():
    entries = [
        {"userReference": "a", "umfang": ["contracts"], "gueltigBis": "2027-01-31",
         "relations": [{"rel": "get_contracts"}]},
        {"userReference": "a", "umfang": ["contracts", "credit-check"], "gueltigBis": "2027-03-31",
         "relations": [{"rel": "get_contracts"}]},
    ]  # fmt: skip
    (customer,) = group_customers(entries)
    assert [(shared.name, str(shared.until), shared.can_read) for shared in customer.shared] == [
        ("credit-check", "2027-03-31", False),
        ("contracts", "2027-03-31", True),
    ]
