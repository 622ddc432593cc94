"""Customer, access, products, transactions and positions: exactly the interface's names, types and presence rules."""

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

import shapes
from banking import ACCESSES, DEMO_BANK, href, new_customer, new_id, rels
from kontor.api.app import OPERATIONS
from kontor.wire.urls import Urls

BERLIN = ZoneInfo("Europe/Berlin")
SERVED = {operation.id for operation in OPERATIONS}
# What is offered only once its operation is served; the rest of this file tells which belongs where.
LATER = {
    "start_ueberweisung": "start_legacy_transfer",
    "initiate_single_transfer": "initiate_single_transfer",
    "initiate_bulk_transfer": "initiate_bulk_transfer",
    "get_kontoumsaetze_tagged": "list_tag_trees",
    "get_kontoumsaetze_insurances": "list_tag_trees",
    "get_kontoumsaetze_business_partners": "list_tag_trees",
}


@pytest.fixture(scope="module")
def access(demo1):
    customer, access_id = demo1
    return shapes.parse_raw(customer.get(f"{ACCESSES}/{access_id}").text)


@pytest.fixture(scope="module")
def products(access):
    return {product["kategorie"]: product for product in reversed(access["bankprodukte"])}


# Customer


def test_customer_has_the_fields_of_its_table(demo1):
    customer, access_id = demo1
    shown = shapes.parse_raw(customer.get("/customer/v2").text)
    assert shapes.fits(shapes.CUSTOMER)(shown)
    assert list(shown["bankzugaenge"]) == [access_id]


def test_customer_offers_its_relations(demo1):
    shown = demo1[0].read("/customer/v2")
    expected = ["self", "get_bankzugaenge", "add_bankzugaenge", "delete_bankzugaenge"]
    assert rels(shown)[:4] == expected


def test_customer_without_accesses_leaves_them_out(customer):
    shown = customer.read("/customer/v2")
    assert "bankzugaenge" not in shown
    assert "messages" not in shown
    assert customer.read(ACCESSES) == {}


def test_collection_maps_access_ids_to_accesses(demo1):
    customer, access_id = demo1
    collection = customer.read(ACCESSES)
    assert collection == {access_id: customer.read_access(access_id)}
    assert collection == customer.read("/customer/v2")["bankzugaenge"]


@pytest.mark.parametrize("path", ["/customer/v2", ACCESSES])
def test_a_trailing_slash_makes_no_difference(demo1, path):
    customer, _ = demo1
    assert customer.get(f"{path}/").text == customer.get(path).text


# Access


def test_access_has_the_fields_of_its_table(access):
    assert shapes.fits(shapes.ACCESS)(access)
    assert access["providerId"] == DEMO_BANK
    assert access["status"] == "VOLLSTAENDIG"
    assert access["sync"] is True
    assert "timeout" not in access
    assert "messages" not in access


def test_access_shows_security_methods_and_media(access):
    assert [method["name"] for method in access["sicherheitsverfahren"]] == ["mockTAN"]
    assert access["aktivesSicherheitsverfahren"] == access["sicherheitsverfahren"][0]
    assert access["tanMedien"] == [{"name": "Mein Handy", "medienklasse": "MOBIL"}]


def test_access_offers_its_relations_and_no_sca_where_none_is_needed(access):
    assert rels(access) == ["self", "delete_bankzugang", "get_issues"]


def test_issues_have_the_fields_of_the_tentative_state(demo1):
    customer, access_id = demo1
    issues = shapes.parse_raw(customer.get(f"{ACCESSES}/{access_id}/issues").text)
    assert shapes.fits(shapes.ISSUES)(issues)
    assert issues["messages"] == []
    assert issues["id"] == access_id


def test_timestamps_are_berlin_wall_time(demo1):
    customer, access_id = demo1
    shown = customer.read_access(access_id)["aktualisierungszeitpunkt"]
    at = datetime.strptime(shown, "%Y-%m-%d %H:%M:%S").replace(tzinfo=BERLIN)
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=30)


# Products


def test_every_product_kind_is_there(products):
    kinds = shapes.CATEGORY - {"SONSTIGEKARTE", "SONSTIGESPRODUKT"}
    assert kinds <= set(products)


def test_product_read_alone_is_the_one_in_its_access(demo1):
    customer, access_id = demo1
    for product in customer.products(access_id):
        assert customer.read(href(product, "self")) == product


def test_product_ids_are_unique_per_user_also_across_accesses(customer):
    first, second = customer.add("leer+unique"), customer.add("leer+unique")
    ids = [product["id"] for access_id in (first, second) for product in customer.products(access_id)]
    assert len(ids) == len(set(ids)) == 2


def test_product_id_comes_back_when_the_access_is_removed_and_added_again(customer):
    access_id = customer.add("leer")
    before = customer.products(access_id)[0]["id"]
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    customer.add("leer", access_id=access_id)
    assert customer.products(access_id)[0]["id"] == before


@pytest.mark.parametrize("category", sorted(shapes.CATEGORY - {"SONSTIGEKARTE", "SONSTIGESPRODUKT"}))
def test_product_has_only_the_fields_of_its_kind(products, category):
    product = products[category]
    assert ("saldoDatenquelle" in product) == (category == "DEPOT")
    assert (set(product) >= shapes.HOME_SAVINGS_ONLY) == (category == "BAUSPARKONTO")
    if category != "BAUSPARKONTO":
        assert not shapes.HOME_SAVINGS_ONLY & set(product)
    if category == "DEPOT":
        assert not shapes.ACCOUNT_ONLY & set(product)


@pytest.mark.parametrize("category", sorted(shapes.CATEGORY - {"SONSTIGEKARTE", "SONSTIGESPRODUKT"}))
def test_product_offers_the_relations_of_its_kind(products, category):
    offered = rels(products[category])
    assert offered[0] == "self"
    assert ("get_depotpositionen" in offered) == (category == "DEPOT")
    assert ("get_kontoumsaetze" in offered) == (category != "DEPOT")
    if category != "GIROKONTO":
        assert not {"start_ueberweisung", "initiate_single_transfer", "initiate_bulk_transfer"} & set(offered)
    for rel, operation in LATER.items():
        assert rel not in offered or operation in SERVED


def test_transfer_support_is_a_checking_accounts(products):
    supporting = {category for category, product in products.items() if product["transferSupport"]}
    assert "GIROKONTO" in supporting
    assert not supporting & {"DEPOT", "KREDITKARTE", "FESTGELDKONTO", "KREDITKONTO"}


def test_card_number_is_partly_masked(products):
    assert "*" in products["KREDITKARTE"]["kontonummer"] or "X" in products["KREDITKARTE"]["kontonummer"]


def test_every_get_relation_that_is_offered_answers(demo1):
    customer, _ = demo1
    shown = customer.read("/customer/v2")
    things = [shown, *shown["bankzugaenge"].values()]
    things += [product for access in shown["bankzugaenge"].values() for product in access["bankprodukte"]]
    followed = 0
    for thing in things:
        for relation in thing["relations"]:
            if relation["rel"].startswith(("get_", "self")):
                assert customer.get(relation["href"]).status_code == 200, relation
                followed += 1
    assert followed > 20


def test_money_has_two_decimals_on_the_wire(demo1, customer):
    """The raw text: a zero balance is `0.00`, neither `0` nor `0.0` nor `"0.00"`."""
    access_id = customer.add("leer")
    text = customer.get(f"{ACCESSES}/{access_id}").text
    assert '"saldo":0.00' in text
    english = customer.get(href(customer.products(access_id)[0], "self"), params={"form": "en"}).text
    assert '"balance":0.00' in english


@pytest.mark.parametrize("category", sorted(shapes.CATEGORY - {"SONSTIGEKARTE", "SONSTIGESPRODUKT"}))
def test_english_form_has_every_field_also_where_it_is_null(demo1, products, category):
    customer, _ = demo1
    german = products[category]
    english = shapes.parse_raw(customer.get(href(german, "self"), params={"form": "en"}).text)
    assert shapes.fits(shapes.ENGLISH_PRODUCT)(english)
    assert set(english) == set(shapes.ENGLISH_PRODUCT)
    same = {
        "id": "id", "name": "bezeichnung", "category": "kategorie", "holder": "inhaber", "iban": "iban", "bic": "bic",
        "bankCode": "blz", "institution": "kreditinstitut", "accountNumber": "kontonummer", "currency": "waehrung",
        "balance": "saldo", "balanceDate": "saldoDatum", "status": "status", "relations": "relations",
        "updatedAt": "aktualisierungszeitpunkt", "transferSupport": "transferSupport", "overdraftLimit":
        "ueberziehungslimit", "creditLimit": "verfuegungsrahmen", "creditDrawn": "verfuegterBetrag",
        "balanceDataSource": "saldoDatenquelle", "contractNumber": "vertragsnummer", "contractType": "vertragstyp",
        "contractStatus": "vertragsstatus", "contractAmount": "vertragssumme", "contractDate": "vertragsDatum",
        "rating": "rating", "savingsInterestRate": "sparzinssatz", "debitInterestRate": "schuldzinssatz",
        "savingsProgress": "sparfortschritt", "savingPhase": "sparzustand",
    }  # fmt: skip
    assert {name: english[name] for name in same} == {name: german.get(word) for name, word in same.items()}


def test_multicurrency_account_has_its_balances_per_currency(demo1):
    customer, access_id = demo1
    forms = [customer.read(href(product, "self"), params={"form": "en"}) for product in customer.products(access_id)]
    multi = [form for form in forms if form["balances"]]
    assert len(multi) == 1
    assert set(multi[0]["balances"]) >= {"EUR", "USD"}
    assert all(key == balance["currency"] for key, balance in multi[0]["balances"].items())


def test_unknown_form_is_400(demo1):
    customer, access_id = demo1
    assert customer.get(href(customer.products(access_id)[0], "self"), params={"form": "fr"}).status_code == 400


# Transactions and positions


def test_every_transaction_has_the_fields_of_its_table(demo1, access):
    customer, _ = demo1
    seen = set()
    for product in access["bankprodukte"]:
        if product["kategorie"] != "DEPOT":
            for transaction in shapes.parse_raw(customer.get(href(product, "get_kontoumsaetze")).text):
                assert shapes.fits(shapes.TRANSACTION)(transaction)
                seen |= set(transaction)
    # On some days nothing is pending.
    assert seen >= set(shapes.TRANSACTION) - {"identifier", "primanotaNummer", "vorgemerkt"}


def test_transactions_are_newest_first_and_the_hash_orders_them(demo1, access):
    customer, _ = demo1
    for product in access["bankprodukte"]:
        if product["kategorie"] != "DEPOT":
            rows = customer.transactions(product)
            assert [row["buchungsdatum"] for row in rows] == sorted(
                (row["buchungsdatum"] for row in rows), reverse=True
            )
            assert [row["hash"] for row in rows] == sorted((row["hash"] for row in rows), reverse=True)
            assert len({row["hash"] for row in rows}) == len({row["id"] for row in rows}) == len(rows)


def test_every_position_has_the_fields_of_its_table(demo1, products):
    customer, _ = demo1
    rows = shapes.parse_raw(customer.get(href(products["DEPOT"], "get_depotpositionen")).text)
    assert rows
    for position in rows:
        assert shapes.fits(shapes.POSITION)(position)
    assert set().union(*rows) == set(shapes.POSITION)


def test_positions_of_an_account_are_404_and_transactions_of_a_depot_are_none(demo1, products):
    customer, _ = demo1
    assert customer.get(href(products["GIROKONTO"], "self") + "/depotpositionen").status_code == 404
    assert customer.read(href(products["DEPOT"], "self") + "/kontoumsaetze") == []


# Relations follow what is served


NOTHING = UUID(int=0)


def offer(served, **facts):
    defaults = {"is_depot": False, "has_credentials": True, "can_transfer": True, "can_bulk_transfer": True}
    found = Urls("http://base", served).product_relations("access", NOTHING, NOTHING, **defaults | facts)
    assert all(relation.href.startswith("http://base/customer/v2/") for relation in found)
    return {relation.rel for relation in found}


BASIC = {"read_product", "list_transactions", "list_positions"}


def test_no_relation_is_offered_whose_operation_is_not_served():
    assert offer(BASIC) == {"self", "get_kontoumsaetze"}
    assert offer(set()) == set()


@pytest.mark.parametrize(("rel", "operation"), LATER.items())
def test_relation_appears_with_its_operation(rel, operation):
    assert rel in offer(BASIC | {operation})


def test_transfer_relations_need_a_product_that_can_transfer():
    everything = BASIC | set(LATER.values())
    without = offer(everything, can_transfer=False, can_bulk_transfer=False)
    assert not {"start_ueberweisung", "initiate_single_transfer", "initiate_bulk_transfer"} & without
    assert offer(everything, can_bulk_transfer=False) >= {"start_ueberweisung", "initiate_single_transfer"}
    assert offer(everything, is_depot=True) == {"self", "get_depotpositionen"}


def test_sca_relation_needs_a_reason_and_its_operation():
    def names(served, needs_sca):
        return {relation.rel for relation in Urls("http://base", served).access_relations("a", needs_sca=needs_sca)}

    assert names({"read_access", "start_consent"}, True) == {"self", "start_sca"}
    assert names({"read_access", "start_consent"}, False) == {"self"}
    assert names({"read_access"}, True) == {"self"}


def test_hrefs_start_with_the_base_address_whatever_the_host_header_says(demo1, server):
    customer, access_id = demo1
    text = customer.get(
        f"{ACCESSES}/{access_id}", headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    ).text
    assert "evil.example" not in text
    assert f'"href":"{server}/' in text


# Who may see what


def test_client_token_on_the_customer_interface_is_403(shared):
    token = {"Authorization": f"Bearer {shared.client_token(shared.app)}"}
    for path in ("/customer/v2", ACCESSES, f"{ACCESSES}/x", f"{ACCESSES}/x/issues", f"{ACCESSES}/x/y/kontoumsaetze"):
        assert shared.http.get(path, headers=token).status_code == 403
    assert shared.http.post(ACCESSES, json={}, headers=token).status_code == 403
    assert shared.http.delete(ACCESSES, headers=token).status_code == 403


@pytest.fixture(scope="module")
def strangers(demo1, shared, neighbour):
    """Another user of the tenant, and a user of another tenant."""
    return [new_customer(shared), new_customer(neighbour)]


def paths_of(demo1):
    customer, access_id = demo1
    giro, depot = customer.product(access_id, "GIROKONTO")["id"], customer.product(access_id, "DEPOT")["id"]
    return [
        "", "/issues", f"/{giro}", f"/{giro}?form=en", f"/{giro}/kontoumsaetze", f"/{depot}/depotpositionen",
    ]  # fmt: skip


def error_of(answer):
    return answer.status_code, {key: value for key, value in answer.json().items() if key != "correlationId"}


def test_somebody_elses_objects_are_404_just_as_missing_ones(demo1, strangers):
    _, access_id = demo1
    for stranger in strangers:
        for path in paths_of(demo1):
            foreign = error_of(stranger.get(f"{ACCESSES}/{access_id}{path}"))
            missing = error_of(stranger.get(f"{ACCESSES}/{new_id()}{path}"))
            assert foreign == missing
            assert foreign[0] == 404


def test_strangers_cannot_delete_or_push(demo1, strangers):
    customer, access_id = demo1
    giro = customer.product(access_id, "GIROKONTO")
    for stranger in strangers:
        assert stranger.delete(f"{ACCESSES}/{access_id}").status_code == 404
        assert stranger.post(href(giro, "get_kontoumsaetze"), []).status_code == 404
        assert stranger.delete(ACCESSES).status_code == 200
    assert customer.read_access(access_id)["status"] == "VOLLSTAENDIG"


def test_the_same_access_id_is_another_access_for_another_user(demo1, shared):
    _, access_id = demo1
    other = new_customer(shared)
    other.add("leer", access_id=access_id)
    assert [product["kategorie"] for product in other.products(access_id)] == ["GIROKONTO"]
    assert len(demo1[0].products(access_id)) > 1


def test_product_under_the_wrong_access_is_404(demo1):
    customer, access_id = demo1
    giro = customer.product(access_id, "GIROKONTO")["id"]
    assert customer.get(f"{ACCESSES}/{new_id()}/{giro}").status_code == 404
    for malformed in ("x", "..", "%00", "🏦", giro + "0"):
        assert customer.get(f"{ACCESSES}/{access_id}/{malformed}/kontoumsaetze").status_code == 404
