"""Adding, refreshing and deleting accesses, over HTTP with a worker at work."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from uuid import uuid4

import psycopg
import pytest
from cryptography.hazmat.primitives import hashes

import shapes
from banking import ACCESSES, DEMO_BANK, encrypt, href, new_id, wait_for
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN

TABLES = ("accesses", "products", "transactions", "positions", "push_batches", "fetches")


def count_rows(owner, reference):
    """How many rows each table has of a user."""
    return {
        table: owner.execute(f"select count(*) from {table} where user_id = %s", [reference]).fetchone()[0]
        for table in TABLES
    }


def stored(owner, customer, access_id, columns):
    return owner.execute(
        f"select {columns} from accesses where user_id = %s and id = %s", [customer.reference, access_id]
    ).fetchone()


# Adding


def test_added_access_has_products_and_its_location_is_its_address(customer, server):
    access_id = new_id()
    answer = customer.post(ACCESSES, {access_id: customer.access("student")})
    assert (answer.status_code, answer.content) == (201, b"")
    assert answer.headers["location"] == f"{server}{ACCESSES}/{access_id}"
    access = customer.read(answer.headers["location"])
    assert access["status"] in ("KOPFDATEN", "VOLLSTAENDIG")
    assert access["bankprodukte"]


def test_several_accesses_in_one_call_and_their_location_is_the_collection(customer, server):
    body = {
        "one": customer.access("leer+one"),
        "two": customer.access("leer+two"),
        "bad": customer.access("leer", "no"),
    }
    answer = customer.post(ACCESSES, body)
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{server}{ACCESSES}"
    assert set(customer.read(ACCESSES)) == {"one", "two", "bad"}
    assert [len(customer.products(access_id)) for access_id in ("one", "two", "bad")] == [1, 1, 0]
    assert customer.message_codes("bad") == ["BA1011"]


def test_several_accesses_are_stored_all_or_none(customer):
    body = {"good": customer.access("leer"), "bad": customer.access("leer") | {"providerId": str(uuid4())}}
    assert customer.post(ACCESSES, body).status_code == 400
    assert customer.read(ACCESSES) == {}


def test_credentials_under_sha1_are_understood_too(customer):
    body = {key: encrypt(customer.tenant, text, hashes.SHA1) for key, text in (("userid", "leer"), ("pin", "demo"))}
    answer = customer.post(ACCESSES, {"sha1": {"providerId": DEMO_BANK, "credentials": body}})
    assert answer.status_code == 201
    assert len(customer.products("sha1")) == 1


def test_pin_may_be_the_logins_own_name_without_its_suffix(customer):
    assert customer.products(customer.add("leer+somebody", "leer"))


@contextmanager
def frozen(settings, table):
    """Nobody writes to the table for the time of the block; everybody may read it."""
    with psycopg.connect(settings.migration_database_url.reveal()) as connection:
        connection.execute(f"lock table {table} in share mode")
        yield


def test_status_goes_from_started_over_headers_to_complete_while_the_fetch_runs(customer, settings):
    access_id = new_id()

    def fits(shown):
        return shapes.fits(shapes.ACCESS)(shapes.parse_raw(customer.get(f"{ACCESSES}/{access_id}").text)) and shown

    with ThreadPoolExecutor(1) as pool, frozen(settings, "transactions"):
        with frozen(settings, "credential_leases"):
            adding = pool.submit(customer.post, ACCESSES, {access_id: customer.access("student+states")})
            wait_for(lambda: customer.read(ACCESSES), lambda accesses: access_id in accesses)
            started = customer.read_access(access_id)
            assert fits(started)["status"] == "GESTARTET"
            assert "bankprodukte" not in started
        assert adding.result().status_code == 201
        known = customer.read_access(access_id)
        assert fits(known)["status"] == "KOPFDATEN"
        assert {product["status"] for product in known["bankprodukte"]} == {"KOPFDATEN"}
        assert customer.transactions(known["bankprodukte"][0]) == []
    complete = customer.wait_until_complete(access_id)
    assert {product["status"] for product in complete["bankprodukte"]} == {"VOLLSTAENDIG"}
    assert customer.transactions(complete["bankprodukte"][0])


def test_access_of_an_unreachable_bank_stays_started(customer):
    access_id = customer.add("test_unreachable")
    access = customer.read_access(access_id)
    assert access["status"] == "GESTARTET"
    assert "bankprodukte" not in access


# Bad requests: nothing is stored


@pytest.mark.parametrize(
    "access_id",
    [
        "",
        "a b",
        "ä",
        "a/b",
        "x" * 65,
        "issues",
        "consent",
        "payment",
        "Issues",
        ".",
        "..",
        "a\n",
        "a\u0000",
        "%20",
        "poll",
    ],
)
def test_access_id_that_is_no_sane_token_is_400(customer, access_id):
    assert customer.post(ACCESSES, {access_id: customer.access("leer")}).status_code == 400
    assert customer.read(ACCESSES) == {}


@pytest.mark.parametrize("access_id", ["a", "x" * 64, "A-Z.a_z~09", "...", "6f1f9a3e-5f0c-4b62-9d0e-2f4b7c1a8d55"])
def test_access_id_may_be_any_sane_token(customer, access_id):
    customer.add("test_unreachable", access_id=access_id)
    assert customer.read_access(access_id)["id"] == access_id


def post_text(customer, text):
    return customer.http.post(
        ACCESSES, content=text.encode(), headers=customer.headers | {"Content-Type": "application/json"}
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{}", "body"),
        ("[]", "body"),
        ("null", "body"),
        ("", "JSON"),
        ('{"a": {}}', "a.providerId"),
        ('{"a": null}', "a: "),
        ('{"a": {"providerId": 5}}', "a.providerId"),
        ('{"a": {"providerId": "x"}}', "providerId"),
        (f'{{"a": {{"providerId": "{DEMO_BANK}"}}}}', "a.credentials"),
        (f'{{"a": {{"providerId": "{DEMO_BANK}", "credentials": []}}}}', "credentials"),
        (f'{{"a": {{"providerId": "{DEMO_BANK}", "credentials": {{"pin": 5}}}}}}', "credentials"),
        (f'{{"a": {{"providerId": "{DEMO_BANK}", "credentials": {{}}, "sync": "yes"}}}}', "sync"),
        ('{"a": {"selectedBankProducts": ["x"]}}', "a.selectedBankProducts"),
        ('{"a": {"providerId": "11111111-1111-1111-1111-111111111111", "credentials": {}}}', "a.providerId"),
    ],
)  # fmt: skip
def test_bad_body_is_400_and_names_the_field(customer, text, hint):
    answer = post_text(customer, text)
    assert answer.status_code == 400
    assert hint in answer.json()["message"]
    assert customer.read(ACCESSES) == {}


def test_the_same_id_twice_in_one_body_is_400(customer):
    access = '{"providerId": "00000000-0000-0000-0000-000000000000", "credentials": {}}'
    answer = post_text(customer, f'{{"twice": {access}, "twice": {access}}}')
    assert answer.status_code == 400
    assert "twice" in answer.json()["message"]


def test_more_than_twenty_accesses_in_one_call_are_400(customer):
    entry = {"providerId": DEMO_BANK, "credentials": {}}
    assert customer.post(ACCESSES, {f"a{number}": entry for number in range(21)}).status_code == 400


def test_undecryptable_credentials_are_400_without_a_hint_which_part(customer, neighbour):
    good = customer.credentials("leer")
    bad = {
        "not Base64": "%%%",
        "not encrypted": "aGVsbG8=",
        "another tenant's": encrypt(neighbour, "demo"),
        "tampered": good["pin"][:-8] + "AAAAAAA=",
        "empty": "",
        "not UTF-8": good["pin"][:-4] + "////",
    }
    answers = set()
    for field in ("userid", "pin"):
        for value in bad.values():
            answer = customer.post(ACCESSES, {"a": {"providerId": DEMO_BANK, "credentials": good | {field: value}}})
            assert answer.status_code == 400
            answers.add(answer.json()["message"])
    assert len(answers) == 1
    assert not re.search(r"pin|userid|padding|base64", answers.pop(), re.IGNORECASE)
    assert customer.read(ACCESSES) == {}


def test_customers_address_must_be_an_address(customer):
    answer = customer.post(ACCESSES, {"a": customer.access("leer")}, headers={"Customer-IP-Address": "here"})
    assert answer.status_code == 400


# Incomplete credentials


def test_incomplete_credentials_are_ba1012_with_the_list_of_fields(customer):
    access_id = new_id()
    body = {"providerId": DEMO_BANK, "credentials": {"userid": customer.credentials("leer")["userid"]}}
    assert customer.post(ACCESSES, {access_id: body}).status_code == 201
    messages = customer.read_access(access_id)["messages"]
    assert [message["code"] for message in messages] == ["BA1012"]
    labels = {
        field["fieldkey"]: field["label"]
        for field in customer.read(f"/providers/v2/{DEMO_BANK}")["authenticationInfo"]["fields"]
    }
    assert labels["pin"] in messages[0]["details"]
    assert customer.issue_codes(access_id) == ["BA1012"]


@pytest.mark.parametrize("login", ["x" * 100, ""])
def test_credentials_of_the_wrong_format_are_incomplete_and_the_bank_is_not_called(customer, owner, login):
    access_id = customer.add(login)
    assert customer.message_codes(access_id) == ["BA1012"]
    assert count_rows(owner, customer.reference)["fetches"] == 0
    assert stored(owner, customer, access_id, "credentials") == (None,)


def test_incomplete_credentials_are_mended_by_complete_ones(customer):
    access_id = customer.add("")
    customer.add("leer", access_id=access_id)
    assert customer.message_codes(access_id) == []
    assert customer.issue_codes(access_id) == []
    assert len(customer.products(access_id)) == 1


# What a bank can say


@pytest.mark.parametrize(
    ("login", "pin", "messages", "issues"),
    [
        ("leer", "wrong", ["BA1011"], ["BA1011"]),
        ("nobody", "demo", ["BA1011"], ["BA1011"]),
        ("test_locked", "demo", ["BA1010"], ["BA1010"]),
        ("test_unreachable", "demo", [], ["BA1051"]),
        ("test_internal", "demo", [], ["BA999"]),
    ],
)
def test_refusal_of_the_bank_is_201_and_a_message(customer, login, pin, messages, issues):
    access_id = customer.add(login, pin)
    assert customer.message_codes(access_id) == messages
    assert customer.issue_codes(access_id) == issues
    assert "bankprodukte" not in customer.read_access(access_id)


@pytest.mark.parametrize(
    ("login", "messages", "issues"),
    [
        ("test_partial", [], ["BA1052", "BA1062"]),
        ("test_transactions_error", [], ["BA1052", "BA1062"]),
        ("test_product_error", [], ["BA1052", "BA1060"]),
        ("test_positions_error", [], ["BA1052", "BA1063"]),
        ("test_bank_message", ["BA2002"], ["BA2002"]),
    ],
)
def test_part_that_fails_is_an_issue_and_the_rest_is_stored(customer, login, messages, issues):
    access_id = customer.add_complete(login)
    assert customer.message_codes(access_id) == messages
    assert customer.issue_codes(access_id) == issues
    complete = [product for product in customer.products(access_id) if product["status"] == "VOLLSTAENDIG"]
    assert complete
    assert sum(len(customer.transactions(product)) for product in complete if product["kategorie"] != "DEPOT") > 0


@pytest.mark.parametrize(
    ("login", "category", "code"),
    [("test_partial", "SPARKONTO", "BA1062"), ("test_positions_error", "DEPOT", "BA1063")],
)
def test_what_could_not_be_read_of_a_product_is_a_message_of_the_product(customer, login, category, code):
    access_id = customer.add_complete(login)
    failing, *others = sorted(customer.products(access_id), key=lambda product: product["kategorie"] != category)
    [message] = failing["messages"]
    assert (message["level"], message["code"]) == ("ERROR", code)
    assert "details" not in message  # the product is the one that shows it
    assert all("messages" not in product for product in others)
    assert customer.read(href(failing, "self"))["messages"] == [message]
    english = customer.read(href(failing, "self"), params={"form": "en"})
    assert english["messages"] == [message]
    issues = customer.read(f"{ACCESSES}/{access_id}/issues")["messages"]
    assert [issue["details"] for issue in issues if issue["code"] == code] == [failing["bezeichnung"]]


def test_messages_have_a_german_text_and_the_level_of_their_code(customer):
    levels = {"BA2002": "INFO", "BA1062": "ERROR", "BA1052": "ERROR", "BA1011": "ERROR"}
    for login, pin in (("test_bank_message", "demo"), ("test_partial", "demo"), ("leer", "wrong")):
        access_id = customer.add(login, pin)
        wait_for(lambda access_id=access_id: customer.issue_codes(access_id), bool)
        issues = shapes.parse_raw(customer.get(f"{ACCESSES}/{access_id}/issues").text)
        assert shapes.fits(shapes.ISSUES)(issues)
        for message in issues["messages"]:
            assert message["level"] == levels[message["code"]]
            assert re.search(r"\b(Ihr|Die|Der|Ein|Ihre)\b", message["message"])


def test_broken_rows_are_an_issue_and_all_others_are_stored(customer):
    broken = customer.add_complete("test_broken_rows")
    assert set(customer.issue_codes(broken)) == {"BA1052", "BA1062"}
    details = [message.get("details", "") for message in customer.read(f"{ACCESSES}/{broken}/issues")["messages"]]
    assert any("2" in detail for detail in details)
    person = person_for("test_broken_rows", datetime.now(BERLIN).date())
    entries = {account.product.iban: len(account.entries) for account in person.accounts}
    for product in customer.products(broken):
        rows = customer.transactions(product)
        assert len(rows) == entries[product["iban"]] - 2
        assert any("kaputt" in row.get("verwendungszweck", "") for row in rows)


def test_third_wrong_pin_locks_and_then_the_right_one_is_refused_too(customer):
    access_id = new_id()
    for number, expected in enumerate(("BA1011", "BA1011", "BA1010")):
        customer.add("leer", f"wrong{number}", access_id=access_id)
        assert customer.message_codes(access_id) == [expected]
    customer.add("leer", "demo", access_id=access_id)
    assert customer.message_codes(access_id) == ["BA1010"]


def test_wrong_pins_count_per_credentials_across_accesses(customer):
    codes = [customer.message_codes(customer.add("leer+shared", f"wrong{number}")) for number in range(3)]
    assert codes == [["BA1011"], ["BA1011"], ["BA1010"]]


def test_right_pin_starts_the_count_anew(customer):
    access_id = customer.add("leer", "wrong1")
    customer.add("leer", "wrong2", access_id=access_id)
    customer.add_complete("leer", "demo", access_id=access_id)
    assert customer.message_codes(access_id) == []
    customer.add("leer", "wrong3", access_id=access_id)
    assert customer.message_codes(access_id) == ["BA1011"]
    assert customer.read_access(access_id)["status"] == "VOLLSTAENDIG"


# The same id again


def count_fetches(owner, customer, access_id):
    return owner.execute(
        "select count(*) from fetches where user_id = %s and access_id = %s", [customer.reference, access_id]
    ).fetchone()[0]


def test_same_id_with_the_same_credentials_changes_nothing(customer, owner):
    access_id = customer.add_complete("leer")
    before = customer.get(f"{ACCESSES}/{access_id}").text
    assert customer.post(ACCESSES, {access_id: customer.access("leer")}).status_code == 201
    assert customer.get(f"{ACCESSES}/{access_id}").text == before
    assert count_fetches(owner, customer, access_id) == 1


def test_same_id_with_other_credentials_tries_them_at_once(customer, owner):
    access_id = customer.add_complete("leer")
    customer.add("leer", "wrong", access_id=access_id)
    assert customer.message_codes(access_id) == ["BA1011"]
    customer.add("leer", "leer", access_id=access_id)
    assert customer.message_codes(access_id) == []
    assert count_fetches(owner, customer, access_id) == 3


def test_other_credentials_are_answered_for_while_only_header_data_is_there(customer, owner):
    access_id = customer.add_complete("leer")
    owner.execute(
        "update accesses set status = 'HEADERS' where user_id = %s and id = %s", [customer.reference, access_id]
    )
    customer.add("leer", "wrong", access_id=access_id)
    assert customer.message_codes(access_id) == ["BA1011"]


def test_same_id_at_another_provider_is_400(customer):
    access_id = customer.add_complete("leer")
    other = customer.read("/providers/v2?blz=37050198")[0]["id"]
    answer = customer.post(ACCESSES, {access_id: customer.access("leer") | {"providerId": other}})
    assert answer.status_code == 400
    assert "providerId" in answer.json()["message"]
    assert customer.read_access(access_id)["providerId"] == DEMO_BANK


def test_refresh_with_an_empty_object_uses_the_stored_credentials(customer, owner):
    access_id = customer.add_complete("student+refresh")
    before = {product["id"]: customer.transactions(product) for product in customer.products(access_id)}
    assert customer.refresh(access_id).status_code == 201
    assert count_fetches(owner, customer, access_id) == 2
    after = {product["id"]: customer.transactions(product) for product in customer.products(access_id)}
    assert after == before
    assert customer.issue_codes(access_id) == []


def test_empty_object_without_refresh_changes_nothing(customer, owner):
    access_id = customer.add_complete("leer")
    assert customer.post(ACCESSES, {access_id: {}}).status_code == 201
    assert count_fetches(owner, customer, access_id) == 1


def test_refresh_of_an_access_that_does_not_exist_is_400(customer):
    assert customer.refresh("unknown").status_code == 400


@pytest.mark.parametrize("value", ["yes", "2", ""])
def test_refresh_must_be_a_boolean(customer, value):
    assert customer.post(f"{ACCESSES}?refresh={value}", {"a": {}}).status_code == 400


# Not stored permanently


def test_without_sync_credentials_are_gone_after_the_fetch_and_the_data_has_a_timeout(customer, owner):
    access_id = customer.add_complete("leer", sync=False)
    access = customer.read_access(access_id)
    assert access["sync"] is False
    assert shapes.is_timestamp(access["timeout"])
    assert stored(owner, customer, access_id, "credentials, credentials_digest, memory") == (None, None, None)


@pytest.mark.parametrize(("login", "pin"), [("leer", "wrong"), ("test_unreachable", "demo"), ("", "demo")])
def test_without_sync_nothing_stays_after_a_failure_either(customer, owner, login, pin):
    access_id = customer.add(login, pin, sync=False)
    assert "timeout" in customer.read_access(access_id)
    assert stored(owner, customer, access_id, "credentials, credentials_digest, memory") == (None, None, None)


def test_with_sync_credentials_stay_sealed(customer, owner):
    access_id = customer.add_complete("leer+sealed")
    sealed, memory = stored(owner, customer, access_id, "credentials, memory")
    assert sealed is not None
    assert b"leer+sealed" not in sealed
    assert b"consent" not in memory


def test_switching_sync_off_forgets_the_credentials_and_on_keeps_new_ones(customer, owner):
    access_id = customer.add_complete("leer")
    assert customer.post(ACCESSES, {access_id: {"sync": False}}).status_code == 201
    access = customer.read_access(access_id)
    assert access["sync"] is False
    assert "timeout" in access
    assert stored(owner, customer, access_id, "credentials") == (None,)
    customer.add("leer", access_id=access_id, sync=True)
    access = customer.read_access(access_id)
    assert access["sync"] is True
    assert "timeout" not in access


def test_data_is_not_shown_after_its_timeout_and_soon_deleted(customer, owner):
    access_id = customer.add_complete("leer", sync=False)
    product = customer.products(access_id)[0]
    owner.execute("update accesses set expires_at = now() - interval '1 millisecond' where id = %s", [access_id])
    assert customer.read(ACCESSES) == {}
    assert "bankzugaenge" not in customer.read("/customer/v2")
    for url in (f"{ACCESSES}/{access_id}", f"{ACCESSES}/{access_id}/issues", href(product, "self")):
        assert customer.get(url).status_code == 404
    assert customer.get(href(product, "get_kontoumsaetze")).status_code == 404
    wait_for(lambda: count_rows(owner, customer.reference)["accesses"], lambda count: count == 0, seconds=60)


def test_an_access_can_be_added_again_after_its_timeout(customer, owner):
    access_id = customer.add_complete("leer", sync=False)
    owner.execute("update accesses set expires_at = now() - interval '1 millisecond' where id = %s", [access_id])
    assert customer.post(ACCESSES, {access_id: {}}).status_code == 400  # nothing is known of it any more
    assert customer.add("leer", access_id=access_id, sync=False) == access_id
    assert "timeout" in customer.wait_until_complete(access_id)


async def test_housekeeping_removes_data_whose_time_is_over(customer, owner, services):
    gone = customer.add_complete("leer", sync=False)
    kept, synced = customer.add_complete("leer+kept", sync=False), customer.add_complete("leer+synced")
    owner.execute("update accesses set expires_at = now() - interval '1 second' where id = %s", [gone])
    await services.housekeeping.clean()
    assert set(customer.read(ACCESSES)) == {kept, synced}
    assert count_rows(owner, customer.reference)["products"] == 2


async def test_housekeeping_leaves_an_access_that_is_just_being_kept(customer, settings, services):
    """Its user sets `sync` while it is over: who decides last is the user, not a list that was read before."""
    access_id = customer.add_complete("leer", sync=False)
    with psycopg.connect(settings.migration_database_url.reveal()) as connection:
        # It is locked before its time has come: the worker's own housekeeping finds it at no moment.
        connection.execute("update accesses set expires_at = now() + interval '2 seconds' where id = %s", [access_id])
        connection.commit()
        connection.execute("update accesses set expires_at = null, is_synced = true where id = %s", [access_id])
        connection.execute("select pg_sleep(2.1)")
        await asyncio.wait_for(services.housekeeping.clean(), 50)  # it waits for nobody
        connection.commit()
    assert access_id in customer.read(ACCESSES)


# Selected products


def test_selected_products_alone_are_kept(customer):
    access_id = customer.add_complete("test_bank_message")
    everything = {product["id"] for product in customer.products(access_id)}
    chosen = min(everything)
    assert len(everything) > 1
    customer.post(f"{ACCESSES}?refresh=true", {access_id: {"selectedBankProducts": [chosen]}})
    assert [product["id"] for product in customer.products(access_id)] == [chosen]
    again = customer.post(f"{ACCESSES}?refresh=true", {access_id: {"selectedBankProducts": sorted(everything)}})
    assert again.status_code == 201
    assert {product["id"] for product in customer.products(access_id)} == everything
    assert {product["status"] for product in customer.products(access_id)} == {"VOLLSTAENDIG"}


def test_selected_products_hold_from_the_first_fetch_on(customer):
    access_id = customer.add_complete("test_bank_message")
    chosen = customer.products(access_id)[0]["id"]
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 200
    customer.add_complete("test_bank_message", access_id=access_id, selectedBankProducts=[chosen])
    assert [product["id"] for product in customer.products(access_id)] == [chosen]


# Deleting


def test_deleted_access_leaves_no_row_in_any_table(customer, owner):
    access_id, other = customer.add_complete("demo1+deleted"), customer.add_complete("leer")
    assert all(count_rows(owner, customer.reference)[table] for table in ("transactions", "positions", "fetches"))
    answer = customer.delete(f"{ACCESSES}/{access_id}")
    assert (answer.status_code, answer.content) == (200, b"")
    assert customer.get(f"{ACCESSES}/{access_id}").status_code == 404
    assert set(customer.read(ACCESSES)) == {other}
    rows = count_rows(owner, customer.reference)
    assert rows == {"accesses": 1, "products": 1, "transactions": 0, "positions": 0, "push_batches": 0, "fetches": 1}
    assert customer.delete(f"{ACCESSES}/{access_id}").status_code == 404


def test_deleting_all_leaves_nothing(customer, owner):
    customer.add_complete("leer+1")
    customer.add_complete("leer+2", sync=False)
    customer.add("leer", "wrong")
    assert customer.delete(ACCESSES).status_code == 200
    assert set(count_rows(owner, customer.reference).values()) == {0}
    assert customer.read(ACCESSES) == {}
    assert customer.delete(ACCESSES).status_code == 200


def test_erasing_a_user_leaves_no_row_either(customer, owner):
    customer.add_complete("leer")
    user = f"{customer.tenant.url}/users/{customer.reference}"
    assert customer.http.put(f"{user}/deactivate", headers=customer.tenant.as_admin).status_code == 200
    assert customer.get("/customer/v2").status_code == 403
    assert customer.http.delete(user, headers=customer.tenant.as_admin).status_code == 200
    assert set(count_rows(owner, customer.reference).values()) == {0}
