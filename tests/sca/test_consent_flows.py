"""Strong customer authentication over HTTP, for every login of the demo bank that demands it, and for some others."""

import base64
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest

from banking import ACCESSES, href, new_customer, rels
from consenting import CALLBACK, WAYS, Consent, codes, decide_at_bank, new_login, post_consent, renew, start
from kontor.services.runtime.clock import Clock


def walk(consent: Consent, login: str, owner) -> None:
    for code, rel, answer in WAYS[login]:
        status = consent.read()
        assert codes(status) == [code]
        if "redirect_url" in rels(status):
            assert decide_at_bank(owner, href(status, "redirect_url")) == CALLBACK
        consent.answer(rel, answer if isinstance(answer, dict) else {"scaAuthenticationData": answer})
    assert consent.code == "BA3050"


@pytest.mark.parametrize("login", WAYS)
def test_every_way_to_a_given_consent(customer, owner, login):
    consent = start(customer, new_login(login))
    waiting = customer.read_access(consent.access_id)
    assert waiting["status"] == "GESTARTET"
    assert codes(waiting) == ["BA3000"]
    assert href(waiting, "start_sca").endswith(f"{ACCESSES}/{consent.access_id}/consent")
    walk(consent, login, owner)
    assert href(consent.read(), "get_bankzugang").endswith(f"{ACCESSES}/{consent.access_id}")
    access = customer.get(href(consent.read(), "get_bankzugang")).json()
    assert access["status"] in ("KOPFDATEN", "VOLLSTAENDIG")
    assert access["bankprodukte"]
    done = consent.wait_until_complete()
    assert codes(done) == []
    assert customer.issue_codes(consent.access_id) == []
    assert done["tanMedien"] if login != "test_redirect" else "tanMedien" not in done
    assert done["sicherheitsverfahren"]
    assert customer.transactions(customer.product(consent.access_id, "GIROKONTO"))
    late = consent.post({"scaAuthenticationData": "12"})
    assert (late.status_code, codes(late.json())) == (409, ["BA3050"])


@pytest.mark.parametrize("login", ["test_products", "leer"])
def test_a_bank_that_demands_nothing_gives_consent_at_once(customer, login):
    consent = start(customer, new_login(login))
    assert consent.code == "BA3050"
    assert consent.wait_until_complete()["aktivesSicherheitsverfahren"]["kodierung"] == "901"


@pytest.mark.parametrize(
    ("login", "pin", "code"),
    [("test_unreachable", "demo", "BA1051"), ("test_locked", "demo", "BA1010"), ("test_internal", "demo", "BA999"),
     ("test_sca_method", "wrong", "BA1011"), ("nobody", "demo", "BA1011")],
)  # fmt: skip
def test_a_bank_that_refuses_ends_the_consent_and_says_why_in_the_access(customer, login, pin, code):
    access_id = "refused"
    answer = post_consent(customer, access_id, {access_id: customer.access(new_login(login), pin)})
    consent = Consent(customer, access_id, answer.headers["location"])
    assert codes(consent.read()) == ["BA3040"]
    assert customer.issue_codes(access_id) == [code]
    is_for_the_user = code in ("BA1010", "BA1011")
    assert customer.message_codes(access_id) == ([code] if is_for_the_user else [])


@pytest.mark.parametrize("login", WAYS)
def test_adding_without_consent_leads_to_start_sca_with_stored_credentials(customer, owner, login):
    access_id = customer.add(new_login(login))
    access = customer.read_access(access_id)
    assert (access["status"], codes(access)) == ("GESTARTET", ["BA3000"])
    assert "start_sca" in rels(access)
    consent = renew(customer, access_id)
    walk(consent, login, owner)
    consent.wait_until_complete()


# What is shown


def test_methods_and_media_are_shown_to_choose_from(customer):
    consent = start(customer, new_login("test_sca_method_media"))
    status = consent.read()
    assert status["scaMethods"] == [
        {"code": 901, "name": "mockTAN", "hint": "Jede gerade Zahl ist richtig."},
        {"code": 900, "name": "iTAN", "hint": "Die TAN ist immer 12."},
    ]
    status = consent.choose_method("901")
    assert status["scaMediums"] == [
        {"name": "Mein Handy", "mediaClass": "MOBIL"},
        {"name": "Mein Tablet", "mediaClass": "MOBIL"},
    ]
    access = customer.read_access(consent.access_id)
    assert access["sicherheitsverfahren"] == [
        {"kodierung": "901", "name": "mockTAN", "hinweis": "Jede gerade Zahl ist richtig."},
        {"kodierung": "900", "name": "iTAN", "hinweis": "Die TAN ist immer 12."},
    ]
    assert access["tanMedien"] == [
        {"name": "Mein Handy", "medienklasse": "MOBIL"},
        {"name": "Mein Tablet", "medienklasse": "MOBIL"},
    ]
    assert "aktivesSicherheitsverfahren" not in access
    issues = customer.read(f"{ACCESSES}/{consent.access_id}/issues")
    assert issues["tanMedien"] == access["tanMedien"]
    assert codes(issues) == ["BA3000"]


def test_challenges(customer):
    photo = start(customer, new_login("test_phototan")).read()["challenge"]
    assert base64.b64decode(photo["content"]["photo"], validate=True).startswith(b"\x89PNG\r\n\x1a\n")
    assert (photo["name"], photo["decoupled"], photo["redirect"]) == ("photoTAN", False, False)
    assert set(photo["content"]) == {"instructions", "photo"}
    chip = start(customer, new_login("test_chiptan")).read()["challenge"]
    assert chip["content"]["HHDUC"] == "2908881344731012345678900515,00"
    assert chip["content"]["HHD"] == "88134473"
    assert set(chip["content"]) == {"instructions", "HHD", "HHDUC"}
    decoupled = start(customer, new_login("test_decoupled")).read()["challenge"]
    assert (decoupled["name"], decoupled["decoupled"]) == ("Entkoppelte Authentifizierung", True)
    assert set(decoupled["content"]) == {"instructions"}


# Wrong answers


@pytest.mark.parametrize(
    ("login", "steps", "wrong", "right"),
    [("test_phototan", [], "0000000", "8534842"), ("test_chiptan", [], "1", "936086"),
     ("test_sca_method", ["901"], "13", "12"), ("test_sca_method", ["900"], "14", "12")],
)  # fmt: skip
def test_three_wrong_tans_end_the_consent(customer, owner, login, steps, wrong, right):
    consent = start(customer, new_login(login))
    for method in steps:
        consent.choose_method(method)
    for _ in range(2):
        status = consent.enter(wrong)
        assert codes(status) == ["BA1103", "BA3030"]
        assert status["challenge"]["content"]["instructions"]
    status = consent.enter(wrong)
    assert codes(status) == ["BA1103", "BA3040"]
    assert rels(status) == ["self"]
    for body in ({"scaAuthenticationData": right}, {}, {"chosenScaMethodId": "901"}, {"chosenScaMedia": "Mein Handy"}):
        answer = consent.post(body)
        assert (answer.status_code, codes(answer.json())) == (409, ["BA1103", "BA3040"])
    assert customer.http.post(f"{consent.url}/cancel", headers=customer.headers).status_code == 409
    assert customer.get(f"{consent.url}/poll").status_code == 409
    row = owner.execute("select state, wrong_tans, sealed from dialogues where id = %s", [consent.id]).fetchone()
    assert row == ("FAILED", 3, None)
    access = customer.read_access(consent.access_id)
    assert "start_sca" in rels(access)
    again = renew(customer, consent.access_id)
    for method in steps:
        again.choose_method(method)
    again.enter(right)
    again.wait_until_complete()


def test_two_wrong_tans_and_a_right_one(customer):
    consent = start(customer, new_login("test_phototan"))
    consent.enter("1")
    consent.enter("2")
    assert codes(consent.enter("8534842")) == ["BA3050"]
    consent.wait_until_complete()


@pytest.mark.parametrize("tan", ["", " ", "\t"])
def test_an_empty_tan_costs_no_attempt(customer, owner, tan):
    consent = start(customer, new_login("test_phototan"))
    assert consent.post({"scaAuthenticationData": tan}).status_code == 400
    row = owner.execute("select state, wrong_tans from dialogues where id = %s", [consent.id]).fetchone()
    assert row == ("TAN", 0)


ANSWERS = {
    "method": {"chosenScaMethodId": "901"},
    "medium": {"chosenScaMedia": "Mein Handy"},
    "data": {"scaAuthenticationData": "12"},
    "confirmed": {},
}


@pytest.mark.parametrize(
    ("login", "fitting"),
    [("test_sca_method_media", {"method"}), ("test_phototan", {"data"}), ("test_decoupled", {"confirmed"}),
     ("test_redirect", {"data"})],
)  # fmt: skip
def test_an_answer_that_does_not_fit_is_409_with_the_status_and_changes_nothing(customer, login, fitting):
    consent = start(customer, new_login(login))
    before = consent.read()
    for name, body in ANSWERS.items():
        if name not in fitting:
            answer = consent.post(body)
            assert (answer.status_code, answer.json()) == (409, before)
    if "poll" not in rels(before):
        answer = customer.get(f"{consent.url}/poll")
        assert (answer.status_code, answer.json()) == (409, before)
    assert consent.read() == before


def test_unknown_methods_and_media_are_400_and_change_nothing(customer):
    consent = start(customer, new_login("test_sca_method_media"))
    before = consent.read()
    for code in ("902", 902, "", "mockTAN", 0, -901, "0901", "901 ", 2**63):
        assert consent.post({"chosenScaMethodId": code}).status_code == 400, code
    assert consent.read() == before
    consent.choose_method(900)
    for name in ("", "Mein handy", "Mein Handy ", "x" * 300, "\u0000"):
        assert consent.post({"chosenScaMedia": name}).status_code == 400, name
    assert consent.code == "BA3020"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"1", b'"12"', b"{'a': 1}", b'{"scaAuthenticationData": 12}', b"\xff\xfe",
     b'{"scaAuthenticationData": "12", "chosenScaMethodId": "901"}', b'{"chosenScaMethodId": 1, "chosenScaMedia": "a"}',
     b'{"scaAuthenticationData": "1", "scaAuthenticationData": "8534842"}', b'{"chosenScaMethodId": true}',
     b'{"chosenScaMethodId": 9.5}', b'{"chosenScaMethodId": {}}', b'{"chosenScaMedia": []}', b'{"x": NaN}',
     b'{"scaAuthenticationData": "\\ud800"}', b'{"scaAuthenticationData": "' + b"1" * 5000 + b'"}',
     b'{"chosenScaMethodId": 1e400}', b"[" * 100],
)  # fmt: skip
def test_bodies_that_are_no_answer_are_400(photo_consent, body):
    customer = photo_consent.customer
    headers = customer.headers | {"Content-Type": "application/json"}
    answer = customer.http.post(photo_consent.url, content=body, headers=headers)
    assert answer.status_code == 400, answer.text
    assert photo_consent.code == "BA3030"


def test_another_content_type_is_415(photo_consent):
    customer = photo_consent.customer
    answer = customer.http.post(photo_consent.url, data={"scaAuthenticationData": "1"}, headers=customer.headers)
    assert answer.status_code == 415


def test_unknown_members_are_ignored(customer):
    consent = start(customer, new_login("test_phototan"))
    assert codes(consent.answer("authenticate", {"scaAuthenticationData": "8534842", "tan": "1", "x": {}})) == [
        "BA3050"
    ]


@pytest.fixture(scope="module")
def photo_consent(bank_server, shared):
    """Open during all tests that must not change it."""
    return start(new_customer(shared), new_login("test_phototan"))


# Decoupled, redirect, cancel


def test_a_decoupled_confirmation_is_asked_for_by_poll(customer):
    consent = start(customer, new_login("test_decoupled"))
    assert codes(consent.poll()) == ["BA3030"]
    assert codes(consent.read()) == ["BA3030"]
    assert codes(consent.poll()) == ["BA3050"]
    assert customer.get(f"{consent.url}/poll").status_code == 409
    consent.wait_until_complete()


def test_reading_a_consent_does_not_ask_the_bank(customer):
    consent = start(customer, new_login("test_decoupled"))
    for _ in range(5):
        assert codes(consent.read()) == ["BA3030"]


def test_what_the_browser_brings_back_proves_nothing(customer, owner):
    """The bank knows that nothing was confirmed, or that it was declined."""
    unconfirmed = start(customer, new_login("test_redirect"))
    assert codes(unconfirmed.enter("code=confirmed&ok=true")) == ["BA3040"]
    declined = start(customer, new_login("test_redirect"))
    decide_at_bank(owner, href(declined.read(), "redirect_url"), is_confirmed=False)
    assert codes(declined.enter("")) == ["BA3040"]
    assert rels(declined.read()) == ["self"]


@pytest.mark.parametrize(("decision", "expected", "result"), [
    ("confirm", "BA3050", "ok"), ("cancel", "BA3040", "cancelled"),
])  # fmt: skip
def test_to_the_banks_own_page_and_back(customer, decision, expected, result):
    consent = start(customer, new_login("test_redirect"))
    page = href(consent.read(), "redirect_url")
    with httpx.Client(timeout=30) as browser:
        shown = browser.get(page)
        assert (shown.status_code, shown.headers["content-type"].partition(";")[0]) == (200, "text/html")
        decided = browser.post(page, data={"decision": decision})
        assert decided.status_code == 303
        back = decided.headers["location"]
        assert back == f"{CALLBACK}&result={result}"
        # The first decision stands.
        assert browser.post(page, data={"decision": "confirm"}).status_code == 410
    assert codes(consent.read()) == ["BA3005"], "only the caller's answer leads on"
    assert codes(consent.enter(urlsplit(back).query)) == [expected]


@pytest.mark.parametrize("login", [*WAYS, "medium"])
def test_cancel_in_every_state(customer, owner, login):
    consent = start(customer, new_login("test_sca_method_media" if login == "medium" else login))
    if login == "medium":
        consent.choose_method("900")
    assert codes(consent.cancel()) == ["BA3040"]
    assert customer.http.post(f"{consent.url}/cancel", headers=customer.headers).status_code == 409
    for body in ANSWERS.values():
        answer = consent.post(body)
        assert (answer.status_code, codes(answer.json())) == (409, ["BA3040"])
    row = owner.execute("select sealed from dialogues where id = %s", [consent.id]).fetchone()
    assert row == (None,)
    access = customer.read_access(consent.access_id)
    assert (access["status"], codes(access)) == ("GESTARTET", ["BA3000"])
    assert "start_sca" in rels(access)


# Settings


@pytest.mark.parametrize("login", ["test_phototan", "test_decoupled"])
def test_query_tan_settings_asks_although_there_is_one_of_each(customer, login):
    consent = start(customer, new_login(login), queryTanSettings="true")
    status = consent.read()
    assert codes(status) == ["BA3010"]
    assert len(status["scaMethods"]) == 1
    status = consent.choose_method(status["scaMethods"][0]["code"])
    assert codes(status) == ["BA3020"]
    assert len(status["scaMediums"]) == 1
    status = consent.choose_medium(status["scaMediums"][0]["name"])
    assert codes(status) == ["BA3030"]


def test_the_last_method_and_medium_are_kept_shown_and_reused(customer, owner):
    consent = start(customer, new_login("test_sca_method_media"))
    consent.choose_method(900)
    consent.choose_medium("Mein Tablet")
    consent.enter("12")
    access = consent.wait_until_complete()
    assert access["aktivesSicherheitsverfahren"] == {
        "kodierung": "900",
        "name": "iTAN",
        "hinweis": "Die TAN ist immer 12.",
    }
    row = owner.execute("select active_medium from accesses where id = %s", [consent.access_id]).fetchone()
    assert row == ("Mein Tablet",)
    # Without a question: the challenge is the one of the last method.
    again = renew(customer, consent.access_id)
    assert codes(again.read()) == ["BA3030"]
    assert again.read()["challenge"]["name"] == "iTAN"
    again.enter("12")
    again.wait_until_complete()
    # Asked for on purpose: the new choice is the one that is kept.
    other = renew(customer, consent.access_id, queryTanSettings="true")
    assert codes(other.read()) == ["BA3010"]
    other.choose_method("901")
    other.choose_medium("Mein Handy")
    assert customer.read_access(consent.access_id)["aktivesSicherheitsverfahren"]["kodierung"] == "900"
    other.enter("2")
    access = other.wait_until_complete()
    assert access["aktivesSicherheitsverfahren"]["kodierung"] == "901"
    last = renew(customer, consent.access_id)
    assert last.read()["challenge"]["name"] == "mockTAN"
    # A choice that came to nothing is not kept.
    last.cancel()
    failed = renew(customer, consent.access_id, queryTanSettings="true")
    failed.choose_method("900")
    failed.cancel()
    assert customer.read_access(consent.access_id)["aktivesSicherheitsverfahren"]["kodierung"] == "901"


def test_what_was_chosen_without_asking_is_kept_too(customer, owner):
    consent = start(customer, new_login("test_sca_method"))
    consent.choose_method("900")
    consent.enter("12")
    consent.wait_until_complete()
    row = owner.execute("select active_medium from accesses where id = %s", [consent.access_id]).fetchone()
    assert row == ("Mein Handy",)


def test_a_cancelled_renewal_of_a_valid_consent_leaves_no_demand_behind(customer):
    consent = start(customer, new_login("test_phototan"))
    consent.enter("8534842")
    consent.wait_until_complete()
    again = renew(customer, consent.access_id)
    assert codes(customer.read_access(consent.access_id)) == ["BA3000"]
    again.cancel()
    access = customer.read_access(consent.access_id)
    assert codes(access) == []
    assert "start_sca" not in rels(access)
    assert customer.refresh(consent.access_id).status_code == 201
    assert customer.read_access(consent.access_id)["status"] == "VOLLSTAENDIG"


@pytest.mark.parametrize(("wanted", "is_old_giro", "is_old_card"), [
    ("none", False, False), ("paymentAccounts", True, False), ("all", True, True),
])  # fmt: skip
def test_max_transactions(customer, wanted, is_old_giro, is_old_card):
    """Of the checking account and of another one: is there anything older than 90 days?"""
    consent = start(customer, new_login("test_products"), maxTransactions=wanted)
    consent.wait_until_complete()
    limit = str(Clock().today() - timedelta(days=92))

    def has_old(category: str) -> bool:
        rows = customer.transactions(customer.product(consent.access_id, category))
        assert rows
        return any(row["buchungsdatum"] < limit for row in rows)

    assert has_old("GIROKONTO") is is_old_giro
    assert has_old("KREDITKARTE") is is_old_card
    assert customer.refresh(consent.access_id).status_code == 201
    assert (has_old("GIROKONTO"), has_old("KREDITKARTE")) == (is_old_giro, is_old_card)


def test_max_transactions_after_sca(customer):
    old = {}
    for wanted in ("none", "all"):
        consent = start(customer, new_login("test_phototan"), maxTransactions=wanted)
        consent.enter("8534842")
        consent.wait_until_complete()
        old[wanted] = len(customer.transactions(customer.product(consent.access_id, "GIROKONTO")))
    assert 0 < old["none"] < old["all"]
