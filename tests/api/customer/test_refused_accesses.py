"""Accesses that are not added, or not as asked: bad requests, incomplete credentials, refusals of the bank."""

import re
from datetime import datetime

import pytest
from access_rows import count_rows, stored

import shapes
from banking import ACCESSES, DEMO_BANK, encrypt, href, new_id, wait_for
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN

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
