"""Accesses that were begun in the web form and not finished: the console goes on with one, and destroys none."""

from urllib.parse import parse_qsl, urlsplit

import httpx

from banking import ACCESSES, BankCustomer, new_customer, new_id
from consenting import new_login
from console_site import ConsoleSite, read_token
from form_client import FormClient, connect_account
from form_navigation import begin, offered, to_accounts, walk
from kontor.console.banks import read_unfinished
from tenant_view import TenantView

PAGE = "/console/accounts"


def renew(visitor: httpx.Client, access_id: str) -> httpx.Response:
    token = read_token(visitor.get(PAGE).text)
    return visitor.post(PAGE, data={"action": "renew", "token": token, "access": access_id})


def leave_at_tan(customer: BankCustomer, owner) -> str:
    eyes = TenantView(customer, owner, new_login("test_sca_method"), new_id())
    form = FormClient(str(customer.http.base_url)).open(begin(customer, eyes.access_id))
    for _ in walk(form, eyes.login, owner, last="tan"):
        pass
    return eyes.access_id


def test_going_on_with_one_access_leaves_all_others_as_they_are(console_site: ConsoleSite, owner):
    customer = new_customer(console_site.redirecting)
    connected = connect_account(customer, new_login("leer"))
    others = [leave_at_tan(customer, owner) for _ in range(2)]
    form, eyes = to_accounts(customer, owner, new_login("demo1"))
    before = customer.read(ACCESSES)
    assert set(before) == {connected, *others, eyes.access_id}
    with console_site.visit(customer) as visitor:
        answer = renew(visitor, eyes.access_id)
        assert customer.read(ACCESSES) == before
        assert answer.status_code == 303
        query = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
        assert (query["useCase"], query["callbackUrl"]) == ("CREATE_ACCOUNT", f"{console_site.url}/accounts")
        form.html = form.http.get(answer.headers["location"]).text  # the browser's cookies are those of the form
        form.send("confirm", account=offered(form))
        assert form.returned()["baReentry"] == "ACCOUNT_CREATED"
        eyes.see_only(eyes.product_ids)
        page = visitor.get(PAGE).text
    assert page.count('data-state="unfinished"') == 2
    assert set(customer.read(ACCESSES)) == set(before)


def test_an_unfinished_access_is_shown_without_its_bank(console_site: ConsoleSite, owner):
    customer = new_customer(console_site.redirecting)
    form, eyes = to_accounts(customer, owner, new_login("demo1"))
    with console_site.visit(customer) as visitor:
        for path in (PAGE, "/console", "/console/transactions", "/console/contracts", "/console/cashflow"):
            page = visitor.get(path, follow_redirects=True)
            assert page.status_code == 200
            assert not [text for text in eyes.bank_strings if text in page.text], path
        page = visitor.get(PAGE).text
        assert "Nicht abgeschlossen" in page
        assert "Fortsetzen" in page
        question = visitor.get(PAGE, params={"delete": eyes.access_id}).text
        assert "Begonnene Verbindung wirklich löschen?" in question
    form.reload().at("accounts")


def test_going_on_with_what_is_gone_leads_back_to_the_page(console_site: ConsoleSite, owner):
    customer = new_customer(console_site.redirecting)
    _, eyes = to_accounts(customer, owner, new_login("demo1"))
    with console_site.visit(customer) as visitor:
        token = read_token(visitor.get(PAGE).text)
        customer.delete(f"{ACCESSES}/{eyes.access_id}")
        answer = visitor.post(PAGE, data={"action": "renew", "token": token, "access": eyes.access_id})
        assert (answer.status_code, answer.headers["location"]) == (303, PAGE)


def test_an_unfinished_access_offers_the_way_on():
    relation = {"rel": "start_sca", "href": "https://kontor.example/customer/v2/bankzugaenge/a/consent"}
    bank = read_unfinished({"id": "a", "sync": True, "relations": [relation]})
    assert (bank.state, bank.renewal) == ("unfinished", "/customer/v2/bankzugaenge/a/consent")
    assert (bank.name, bank.messages, bank.products) == ("", [], [])
