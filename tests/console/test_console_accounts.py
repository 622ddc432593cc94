"""The console's pages of banks and accounts: what they say is what the API says."""

import base64
import re
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import pytest

from banking import ACCESSES, DEMO_BANK, BankCustomer, new_customer, new_id, wait_for
from console_site import ConsoleSite, money, send
from kontor.console.accesses import list_accounts, list_products, read_product
from kontor.console.accounts import count_free_money, describe_product, read_positions, summarise_balances
from kontor.console.banks import OUTCOMES, TONES, add_callback, is_still_fetched, name_state, read_bank, sum_by_currency
from kontor.console.rendering import load_texts
from kontor.services.accesses.accesses import AccessRequest
from kontor.services.bundle import Services

PAGE = "/console/accounts"


@pytest.fixture(scope="module")
def investor(console_site: ConsoleSite) -> tuple[BankCustomer, str]:
    """With every kind of product; for tests that only read."""
    customer = new_customer(console_site.regulated)
    return customer, customer.add_complete("demo1+investor")


# By value


@pytest.mark.parametrize(
    ("status", "codes", "needs_authentication", "expected"),
    [
        ("VOLLSTAENDIG", [], False, "connected"),
        ("VOLLSTAENDIG", ["BA2002"], False, "connected"),
        ("VOLLSTAENDIG", ["BA1052", "BA1062"], False, "partial"),
        ("VOLLSTAENDIG", ["BA1051"], False, "unreachable"),
        ("VOLLSTAENDIG", [], True, "authenticate"),
        ("GESTARTET", [], False, "fetching"),
        ("KOPFDATEN", [], False, "fetching"),
        ("GESTARTET", ["BA3000"], True, "authenticate"),
        ("GESTARTET", ["BA1011"], False, "wrong"),
        ("GESTARTET", ["BA1011", "BA1010"], False, "locked"),
        ("GESTARTET", ["BA1012"], False, "incomplete"),
        ("GESTARTET", ["BA999"], False, "failed"),
    ],
)
def test_the_state_of_an_access_is_one_word(status, codes, needs_authentication, expected):
    assert name_state(status, codes, needs_authentication=needs_authentication) == expected


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_state_and_every_outcome_has_its_words(language):
    texts = load_texts()[language].texts
    assert [state for state in TONES if f"accounts.state.{state}" not in texts] == []
    assert [state for state in TONES if state != "connected" and f"accounts.hint.{state}" not in texts] == []
    assert [outcome for outcome in [*OUTCOMES, "OTHER"] if f"accounts.outcome.{outcome}" not in texts] == []


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, True),
        ({"status": "VOLLSTAENDIG"}, False),
        ({"messages": [{"code": "BA1011"}]}, False),
        ({"messages": [{"code": "BA1051"}]}, False),
        ({"relations": [{"rel": "start_sca", "href": "https://kontor.example/x"}]}, False),
        ({"providerId": None}, False),
    ],
)
def test_transactions_are_still_to_come_only_while_nobody_has_to_do_anything(facts, expected):
    access = {"providerId": "1", "status": "GESTARTET", "messages": [], "relations": []} | facts
    known = {name: value for name, value in access.items() if value is not None}
    assert is_still_fetched({"a": known}) is expected


def test_what_an_access_and_its_issues_both_say_is_said_once():
    said = {"level": "ERROR", "code": "BA1011", "message": "Falsch."}
    access = {"id": "a", "status": "GESTARTET", "sync": True, "messages": [said], "relations": []}
    provider = {"name": "Bank", "relations": [{"rel": "logo", "href": "https://kontor.example/providers/v2/1/logo"}]}
    bank = read_bank(access, {"messages": [said, said | {"code": "BA1051"}]}, provider)
    assert [message.code for message in bank.messages] == ["BA1011", "BA1051"]
    assert (bank.state, bank.logo, bank.renewal) == ("wrong", "/providers/v2/1/logo", None)
    assert read_bank(access, {"messages": []}, None).name == ""


def test_balances_are_summed_for_each_currency_with_the_euro_first():
    products = [
        read_product("a", {"id": str(at), "kategorie": "GIROKONTO", "waehrung": currency, "saldo": balance})
        for at, (currency, balance) in enumerate([("CHF", "5.00"), ("EUR", "-1.10"), ("EUR", "3.00"), ("USD", None)])
    ]
    assert list(sum_by_currency(products).items()) == [("EUR", Decimal("1.90")), ("CHF", Decimal("5.00"))]


GIRO = {"kategorie": "GIROKONTO", "waehrung": "EUR", "iban": "DE89370400440532013000"}
MASKED = {"kategorie": "KREDITKARTE", "waehrung": "EUR", "kontonummer": "4871********1234"}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (GIRO | {"saldoDatum": "2026-11-15T00:00:00"}, GIRO | {"saldoDatum": "2026-11-16T00:00:00"}, [2]),
        (GIRO | {"saldoDatum": "2026-11-16T00:00:00"}, GIRO | {"saldoDatum": "2020-01-31T00:00:00"}, [1]),
        (GIRO, GIRO | {"iban": "de89 3704 0044 0532 0130 00", "saldo": None}, [1]),
        (GIRO, GIRO | {"waehrung": "USD"}, [1, 2]),
        (GIRO, GIRO | {"kategorie": "DEPOT"}, [1, 2]),
        (GIRO, MASKED | {"iban": GIRO["iban"]}, [1, 2]),
        (MASKED, MASKED | {"saldoDatum": "2026-11-16T00:00:00"}, [2]),
        (MASKED, MASKED | {"kontonummer": "4871********9999"}, [1, 2]),
        ({"kategorie": "GIROKONTO"}, {"kategorie": "GIROKONTO"}, [1, 2]),
    ],
)
def test_an_account_of_two_accesses_counts_once_with_its_newest_balance(first, second, expected):
    products = [{"id": "1", "saldo": 1} | first, {"id": "2", "saldo": 2} | second]
    apart = {key: {"providerId": "p", "bankprodukte": [product]} for key, product in zip("ab", products, strict=True)}
    assert [int(account.id) for account in list_accounts(list_products(apart))] == expected
    together = {"a": {"providerId": "p", "bankprodukte": products}}
    assert len(list_accounts(list_products(together))) == 2, "in one access the bank says that they are two"


def test_cards_of_two_banks_are_two_whatever_their_numbers():
    accesses = {key: {"providerId": key, "bankprodukte": [{"id": key, "saldo": 1} | MASKED]} for key in ("a", "b")}
    assert len(list_accounts(list_products(accesses))) == 2


def read_tiles(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<div class="tile[^"]*"><dt>(.*?)</dt><dd>(.*?)</dd>', page, re.DOTALL)


def test_totals_count_an_account_of_two_accesses_once(console_site: ConsoleSite):
    customer, login = new_customer(console_site.regulated), f"demo1+{new_id()[:8]}"
    customer.add_complete(login)
    with console_site.visit(customer) as visitor:
        alone = [read_tiles(visitor.get(page).text) for page in ("/console", PAGE)]
        customer.add_complete(login)
        both = [read_tiles(visitor.get(page).text) for page in ("/console", PAGE)]
    assert alone[0]
    assert both[0] == alone[0]
    assert both[1][:-1] == alone[1][:-1], "the last one is the number of banks"


def test_the_way_back_is_appended_encoded():
    url = add_callback("https://kontor.example/customer/v2/webform?session=s&useCase=U", "https://kontor.example")
    assert url.endswith("&callbackUrl=https%3A%2F%2Fkontor.example%2Fconsole%2Faccounts")


def test_free_money_is_what_a_limit_leaves():
    common = {"id": "1", "kategorie": "X"}
    card = read_product("a", common | {"saldo": -20, "verfuegungsrahmen": 100, "verfuegterBetrag": 20})
    account = read_product("a", common | {"saldo": -20, "ueberziehungslimit": 100})
    assert (count_free_money(card), count_free_money(account)) == (Decimal(80), Decimal(80))
    assert count_free_money(read_product("a", common | {"saldo": 5})) is None
    assert [fact.name for fact in describe_product(card)] == ["credit_limit", "free", "credit_drawn"]


def test_positions_are_shares_of_the_depot_the_largest_first():
    listed = [{"name": "B", "gesamtwert": Decimal(25)}, {"name": "A", "gesamtwert": Decimal(75)}, {"isin": "X"}]
    assert [(position.name, position.share) for position in read_positions(listed)] == [
        ("A", Decimal("0.75")),
        ("B", Decimal("0.25")),
        ("X", Decimal(0)),
    ]
    assert read_positions([]) == []


def test_a_run_of_balances_has_a_lowest_a_highest_and_a_change():
    run = [{"date": f"2026-01-0{day}", "balance": value} for day, value in ((1, 10), (2, -5), (3, 30), (4, 12))]
    found = summarise_balances(run)
    assert found is not None
    assert (found.change, found.lowest, found.lowest_on.day, found.highest_on.day) == (2, -5, 2, 3)
    assert summarise_balances(run[:1]) is None


# Pages


def test_all_accounts_are_shown_with_the_balances_of_the_api(console_site):
    with console_site.visit() as visitor:
        page = visitor.get(PAGE).text
    products = console_site.rich.products(console_site.access_id)
    assert len(products) >= 2
    for product in products:
        assert product["bezeichnung"] in page
        assert money(product["saldo"]) in page
    assert money(sum(Decimal(str(product["saldo"])) for product in products)) in page
    assert "Verbunden" in page
    assert f'src="/providers/v2/{DEMO_BANK}/logo"' in page


def test_without_a_bank_the_page_offers_to_connect_one(console_site):
    with console_site.visit(new_customer(console_site.redirecting)) as visitor:
        page = visitor.get(PAGE).text
    assert "Noch ist keine Bank verbunden" in page
    assert 'value="connect"' in page


def test_other_tenants_are_led_to_the_web_form_and_back(console_site):
    with console_site.visit(new_customer(console_site.redirecting)) as visitor:
        first = send(visitor, PAGE, "connect")
        again = send(visitor, PAGE, "connect")
        assert visitor.get(first.headers["location"]).status_code != 200  # sessions left open were ended
        assert visitor.get(again.headers["location"], follow_redirects=True).status_code == 200
    assert first.status_code == 303
    split = urlsplit(again.headers["location"])
    assert again.headers["location"].startswith(f"{console_site.address}/customer/v2/webform?")
    query = dict(parse_qsl(split.query))
    assert query["useCase"] == "CREATE_ACCOUNT"
    assert query["callbackUrl"] == f"{console_site.url}/accounts"


def test_an_address_that_the_api_does_not_take_keeps_nobody_from_the_web_form(console_site):
    with console_site.visit(new_customer(console_site.redirecting)) as visitor:
        visitor.headers["X-Forwarded-For"] = "somewhere"
        answer = send(visitor, PAGE, "connect")
    assert "/customer/v2/webform?" in answer.headers["location"]


@pytest.mark.parametrize("outcome", [*OUTCOMES, "SOMETHING_NEW", "<b>"])
def test_who_comes_back_from_the_web_form_is_told_what_happened(console_site, outcome):
    with console_site.visit() as visitor:
        page = visitor.get(PAGE, params={"baReentry": outcome}).text
    expected = load_texts()["de"](f"accounts.outcome.{outcome if outcome in OUTCOMES else 'OTHER'}")
    assert expected in page
    assert "<b>" not in page


async def test_consent_is_renewed_in_the_web_form(console_site, services: Services):
    customer = new_customer(console_site.redirecting)
    access_id = await add_for(services, customer, "test_sca_method")
    with console_site.visit(customer) as visitor:
        page = visitor.get(PAGE).text
        assert "Wartet auf Bestätigung" in page
        assert "BA3000" not in leave_calls_out(page)
        answer = send(visitor, PAGE, "renew", access=access_id)
        assert send(visitor, PAGE, "renew", access="nobodys").headers["location"] == PAGE
    query = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
    assert query["useCase"] == "AUTHENTICATE_ACCOUNT"
    assert query["callbackUrl"] == f"{console_site.url}/accounts"


def leave_calls_out(page: str) -> str:
    """What is meant for everybody: the API's answers are shown below, for developers."""
    return re.sub(r"<pre\b.*?</pre>", "", page, flags=re.DOTALL)


def count_banks(page: str) -> int:
    name = re.escape(load_texts()["de"]("accounts.banks"))
    found = re.search(rf"<dt>{name}</dt>\s*<dd[^>]*>\s*(\d+)", page)
    assert found is not None
    return int(found[1])


async def add_for(services: Services, customer: BankCustomer, login: str) -> str:
    """What a user of such a tenant would do in the web form."""
    principal = await services.tokens.authenticate(customer.token)
    assert principal is not None
    sealed = {
        name: base64.b64encode(await services.encryption.encrypt(principal, value.encode())).decode()
        for name, value in (("userid", login), ("pin", "demo"))
    }
    access_id = new_id()
    request = AccessRequest(UUID(DEMO_BANK), sealed, True)
    await services.accesses.add_accesses(principal, {access_id: request}, refresh=False, is_attended=True)
    return access_id


def test_wrong_credentials_are_explained_and_the_access_is_deleted_after_a_confirmation(console_site):
    customer = new_customer(console_site.regulated)
    access_id = customer.add("demo1+forgetful", pin="wrong")
    with console_site.visit(customer) as visitor:
        page = visitor.get(PAGE).text
        assert "Zugangsdaten falsch" in page
        shown = leave_calls_out(page)
        assert "BA1011" not in shown
        assert load_texts()["de"]("accounts.synced") not in shown
        assert count_banks(shown) == 0, "nothing is fetched from it"
        asked = visitor.get(PAGE, params={"delete": access_id}).text
        assert "wirklich löschen?" in asked
        assert customer.get(f"{ACCESSES}/{access_id}").status_code == 200
        answer = send(visitor, PAGE, "delete", access=access_id)
        assert answer.headers["location"] == f"{PAGE}?notice=bank_deleted"
        assert "Der Bankzugang ist gelöscht" in visitor.get(answer.headers["location"]).text
    assert customer.get(f"{ACCESSES}/{access_id}").status_code == 404


def test_an_access_is_refreshed_at_once(console_site):
    customer = new_customer(console_site.regulated)
    access_id = customer.add_complete("leer+refreshed")
    before = customer.read_access(access_id)["aktualisierungszeitpunkt"]
    with console_site.visit(customer) as visitor:
        answer = send(visitor, PAGE, "refresh", access=access_id)
        assert answer.headers["location"] == f"{PAGE}?notice=bank_refreshed"

        def refresh_again() -> str:
            """The API tells whole seconds, and the first one may fall into the same."""
            send(visitor, PAGE, "refresh", access=access_id)
            return customer.read_access(access_id)["aktualisierungszeitpunkt"]

        wait_for(refresh_again, lambda moment: moment > before)


def test_deeds_without_a_name_or_from_elsewhere_are_refused(console_site):
    with console_site.visit() as visitor:
        assert send(visitor, PAGE, "delete").status_code == 400
        assert send(visitor, PAGE, "unknown").status_code == 400
        assert visitor.post(PAGE, data={"action": "delete", "access": console_site.access_id}).status_code == 403
        assert send(visitor, PAGE, "delete", access="nobodys").status_code == 404


@pytest.mark.parametrize(("span", "interval"), [("quarter", "day"), ("year", "week"), ("all", "month")])
def test_an_account_shows_its_balances_over_time(console_site, span, interval):
    product = console_site.rich.product(console_site.access_id, "GIROKONTO")
    path = f"{console_site.access_id}/{product['id']}"
    with console_site.visit() as visitor:
        page = visitor.get(f"{PAGE}/{path}", params={"range": span}).text
    query = re.search(rf"/{product['id']}/balances\?((?:from=[0-9-]+&amp;)?interval={interval})", page)
    assert query is not None
    balances = console_site.rich.read(f"{ACCESSES}/{path}/balances?{query[1].replace('&amp;', '&')}")
    table = page.partition('<table id="table-balances">')[2].partition("</table>")[0]
    assert table.count("<tr>") == len(balances) + 1
    assert money(balances[0]["balance"]) in table
    assert money(balances[-1]["balance"]) in table


def test_the_last_transactions_of_an_account_stand_on_its_page(console_site):
    product = console_site.rich.product(console_site.access_id, "GIROKONTO")
    with console_site.visit() as visitor:
        page = visitor.get(f"{PAGE}/{console_site.access_id}/{product['id']}").text
    for transaction in console_site.rich.transactions(product, limit=8):
        assert money(transaction["betrag"]) in page


def test_a_depot_shows_its_positions_with_shares_and_their_sum(console_site, investor):
    customer, access_id = investor
    depot = customer.product(access_id, "DEPOT")
    positions = customer.read(f"{ACCESSES}/{access_id}/{depot['id']}/depotpositionen")
    with console_site.visit(customer) as visitor:
        page = visitor.get(f"{PAGE}/{access_id}/{depot['id']}").text
    assert len(positions) > 3
    for position in positions:
        assert position["isin"] in page
        assert money(position["gesamtwert"]) in page
    assert money(sum(Decimal(str(position["gesamtwert"])) for position in positions)) in page
    assert "<canvas" not in page


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("BAUSPARKONTO", ["Sparfortschritt", "Bausparsumme", "Guthabenzins"]),
        ("KREDITKARTE", ["Verfügungsrahmen", "Noch verfügbar"]),
    ],
)
def test_special_products_show_what_is_special_about_them(console_site, investor, kind, said):
    customer, access_id = investor
    with console_site.visit(customer) as visitor:
        page = visitor.get(f"{PAGE}/{access_id}/{customer.product(access_id, kind)['id']}").text
    assert [text for text in said if text not in page] == []


def test_somebody_elses_account_is_not_there_and_an_unknown_range_is_refused(console_site, investor):
    _, access_id = investor
    own = console_site.rich.product(console_site.access_id, "GIROKONTO")["id"]
    with console_site.visit() as visitor:
        assert visitor.get(f"{PAGE}/{access_id}/{own}").status_code == 404
        assert visitor.get(f"{PAGE}/{console_site.access_id}/{new_id()}").status_code == 404
        answer = visitor.get(f"{PAGE}/{console_site.access_id}/{own}", params={"range": "decade"})
        assert answer.status_code == 400
