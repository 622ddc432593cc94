"""Advisers review credit files of customers who allow it, as long as they do; versions and retention."""

import asyncio
import json
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from test_credit_files_api import FILES, SELF, canonicalize, create, get_as, verify

from advising import create_office, make_adviser
from banking import href, narrow, new_customer
from kontor.domain.clocks import BERLIN
from kontor.domain.credit_files import ReviewResult
from kontor.domain.errors import NotFoundError
from kontor.domain.principals import Principal
from kontor.domain.scopes import ADVISER_READ, CUSTOMER_READ
from kontor.services.credit_files import ReviewWriters
from kontor.services.credit_files.credit_files import MAX_FILES, MAX_VERSIONS
from kontor.wire.credit_files import read_contents, write_document

DISCLOSURES = "/customer/v2/freigaben"
REVIEWS = "/adviser/v2/credit-files"
SOON = (datetime.now(BERLIN).date() + timedelta(days=30)).isoformat()
CONFIRM = {"kommentar": "Angaben mit der Kundin besprochen", "ergebnis": "BESTAETIGT"}
RECOMPUTE = {"kommentar": "Miete berichtigt", "ergebnis": "NEU_BERECHNET"}


@pytest.fixture(scope="module")
async def office(standing_services, shared):
    return await create_office(standing_services, shared)


@pytest.fixture(scope="module")
def adviser(shared, office):
    return make_adviser(shared, office)


def allow(customer, adviser=None, umfang=("credit-check",)):
    body = {"umfang": list(umfang), "gueltigBis": SOON} | ({"berater": adviser.reference} if adviser else {})
    answer = customer.post(DISCLOSURES, body)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def create_for(customer, adviser):
    """The disclosure, and the id of a file that was made by it."""
    disclosure = allow(customer, adviser)
    return disclosure, create(customer, freigabe=disclosure.rpartition("/")[2]).rpartition("/")[2]


def list_reviews(adviser, customer, **query):
    found, address, query = [], REVIEWS, query | {"limit": 2}
    while address:
        answer = adviser.get(address, params=query)
        assert answer.status_code == 200, answer.text
        found += answer.json()
        address, query = answer.links.get("next", {}).get("url"), None
    return [entry for entry in found if entry["userReference"] == customer.reference]


def review(adviser, name, body=CONFIRM):
    return adviser.post(f"{FILES}/{name}/reviews", body)


def test_the_adviser_reads_the_file_as_the_customer_does_in_each_form(customer, adviser):
    _, name = create_for(customer, adviser)
    own, read = customer.read(f"{FILES}/{name}"), adviser.read(f"{REVIEWS}/{name}")
    for shown in (own, read):
        del shown["relations"]
    assert own == read
    for media_type in ("text/html", "application/pdf"):
        expected = get_as(customer, f"{FILES}/{name}", media_type)
        assert get_as(adviser, f"{REVIEWS}/{name}", media_type).content == expected.content


def test_each_read_is_told_to_the_customer(customer, adviser):
    disclosure, name = create_for(customer, adviser)
    adviser.read(f"{REVIEWS}/{name}")
    assert [(read["umfang"], read["berater"]) for read in customer.read(f"{disclosure}/zugriffe")] == [
        ("credit-check", adviser.reference)
    ]


def test_a_review_is_one_read_and_not_two(customer, adviser):
    disclosure, name = create_for(customer, adviser)
    assert review(adviser, name).status_code == 201
    assert len(customer.read(f"{disclosure}/zugriffe")) == 1


async def test_the_list_of_files_is_made_without_their_documents(customer, standing_services, owner):
    create(customer)
    row = owner.execute("select tenant_id, id, pseudonym from users where id = %s", [customer.reference]).fetchone()
    principal = Principal(row[0], "t", True, uuid4(), "app", frozenset(), *row[1:])
    [entry] = await standing_services.credit_files.list_files(principal)
    assert entry.purpose.text == SELF["zweck"]
    assert not hasattr(entry, "document")


def test_a_file_is_found_by_its_id_through_an_index(owner):
    """As advisers look for it, who do not know the customer."""
    with owner.transaction():
        owner.execute("set local enable_seqscan = off")
        plan = owner.execute("explain select user_id from all_credit_files where id = %s", [uuid4()]).fetchall()
    assert any("credit_files_by_id" in line for (line,) in plan), plan


def test_a_withdrawn_disclosure_closes_the_file_to_the_adviser_at_once_and_not_to_the_customer(customer, adviser):
    disclosure, name = create_for(customer, adviser)
    assert [entry["id"] for entry in list_reviews(adviser, customer)] == [name]
    assert customer.delete(disclosure).status_code == 200
    assert list_reviews(adviser, customer) == []
    for answer in (adviser.get(f"{REVIEWS}/{name}"), review(adviser, name)):
        assert answer.status_code == 404
    assert customer.get(f"{FILES}/{name}").status_code == 200


def test_another_disclosure_does_not_open_the_file_of_a_withdrawn_one(customer, adviser):
    disclosure, name = create_for(customer, adviser)
    customer.delete(disclosure)
    allow(customer, adviser)
    assert adviser.get(f"{REVIEWS}/{name}").status_code == 404
    assert list_reviews(adviser, customer) == []


def test_a_file_is_closed_to_other_advisers_and_tenants_and_one_of_the_customer_alone_to_all(
    customer, adviser, office, shared
):
    _, name = create_for(customer, adviser)
    own = create(customer).rpartition("/")[2]
    colleague = make_adviser(shared, office)
    assert colleague.get(f"{REVIEWS}/{name}").status_code == 404
    assert review(colleague, name).status_code == 404
    assert list_reviews(colleague, customer) == []
    assert adviser.get(f"{REVIEWS}/{own}").status_code == 404
    assert [entry["id"] for entry in list_reviews(adviser, customer)] == [name]
    assert adviser.get(f"{REVIEWS}/{uuid4()}").status_code == 404


def test_both_scopes_are_needed(customer, adviser, shared, office):
    _, name = create_for(customer, adviser)
    assert customer.get(REVIEWS).status_code == review(customer, name).status_code == 403
    reader = make_adviser(shared, office, scope=f"{ADVISER_READ} {CUSTOMER_READ}")
    calls = [reader.get(REVIEWS), reader.get(f"{REVIEWS}/{name}"), review(reader, name)]
    assert [answer.status_code for answer in calls] == [403] * 3


def test_a_confirmation_is_a_new_signed_version_with_the_same_values(customer, adviser, demo1):
    customer, _ = demo1
    _, name = create_for(customer, adviser)
    before = customer.read(f"{FILES}/{name}")
    address = review(adviser, name).headers["location"]
    text = adviser.get(address).text
    shown = json.loads(text)
    assert (shown["version"], shown["vorgaenger"]) == (2, name)
    assert shown["pruefung"] == {
        "ergebnis": "BESTAETIGT", "kommentar": CONFIRM["kommentar"], "geprueftAm": shown["erstelltAm"],
    }  # fmt: skip
    assert shown["werte"] == before["werte"] != []
    verify(customer, text, canonicalize(text))
    assert customer.read(f"{FILES}/{name}") == before
    new = customer.read(f"{FILES}/{shown['id']}")
    assert customer.read(href(new, "get_vorgaenger")) == before
    assert CONFIRM["kommentar"] in get_as(customer, f"{FILES}/{shown['id']}", "text/html").text


def test_a_corrected_category_changes_the_recomputed_version_and_the_old_one_stays(shared, adviser):
    customer = new_customer(shared)
    customer.add_complete("berufseinstieg")
    _, name = create_for(customer, adviser)
    before = customer.read(f"{FILES}/{name}")
    [rent] = [value for value in before["werte"] if value["name"] == "MIETE"]
    assert rent["wert"] > 0
    [row] = [row for row in customer.read("/customer/v2/kontoumsaetze?limit=1000") if row["id"] == rent["umsaetze"][-1]]
    path = f"/customer/v2/bankzugaenge/{row['zugangId']}/{row['produktId']}/kontoumsaetze/{row['id']}"
    body = {"tags": [{"systemName": "HOUSING_FURNISHING"}]}
    changed = customer.http.put(path, json=body, headers=customer.headers)
    assert changed.status_code == 200, changed.text
    shown = adviser.read(review(adviser, name, RECOMPUTE).headers["location"])
    [new] = [value for value in shown["werte"] if value["name"] == "MIETE"]
    assert new["wert"] < rent["wert"]
    assert row["id"] not in new["umsaetze"]
    assert (shown["version"], shown["pruefung"]["ergebnis"]) == (2, "NEU_BERECHNET")
    assert customer.read(f"{FILES}/{name}") == before


def test_a_version_is_reviewed_once_also_by_two_at_the_same_time(customer, adviser):
    _, name = create_for(customer, adviser)

    async def ask():
        return await asyncio.gather(*(asyncio.to_thread(review, adviser, name) for _ in range(3)))

    assert sorted(answer.status_code for answer in asyncio.run(ask())) == [201, 409, 409]
    assert [file["version"] for file in customer.read(FILES)] == [2, 1]


def test_the_list_tells_what_is_asked_for_and_what_is_done(customer, adviser):
    _, name = create_for(customer, adviser)
    assert [entry["status"] for entry in list_reviews(adviser, customer)] == ["UNGEPRUEFT"]
    answer = customer.post(f"{FILES}/{name}/review-requests", {"kommentar": "Die Miete fehlt"})
    assert (answer.status_code, answer.headers["location"].rpartition("/")[2]) == (201, name)
    [entry] = list_reviews(adviser, customer, status="ANGEFORDERT")
    assert (entry["id"], entry["version"]) == (name, 1)
    asked = adviser.read(href(entry, "get_review_request"))
    assert asked == {"kommentar": "Die Miete fehlt", "angefordertAm": entry["angefordertAm"]}
    done = adviser.post(href(entry, "add_review"), CONFIRM)
    assert done.status_code == 201, done.text
    assert list_reviews(adviser, customer, status="ANGEFORDERT") == []
    assert len(list_reviews(adviser, customer, status="GEPRUEFT")) == 2


def test_a_review_asked_for_of_a_reviewed_version_is_in_the_list_until_it_is_done(customer, adviser):
    _, name = create_for(customer, adviser)
    second = review(adviser, name).headers["location"].rpartition("/")[2]
    assert list_reviews(adviser, customer, status="ANGEFORDERT") == []
    assert customer.post(f"{FILES}/{second}/review-requests", {"kommentar": "Noch nicht richtig"}).status_code == 201
    assert [entry["id"] for entry in list_reviews(adviser, customer, status="ANGEFORDERT")] == [second]
    assert [entry["id"] for entry in list_reviews(adviser, customer, status="GEPRUEFT")] == [name]
    assert review(adviser, second).status_code == 201
    assert {entry["status"] for entry in list_reviews(adviser, customer)} == {"GEPRUEFT"}


def test_no_review_is_asked_for_once_the_disclosure_has_ended_or_was_withdrawn(customer, adviser, owner):
    (withdrawn, closed), (ended, over) = (create_for(customer, adviser) for _ in range(2))
    customer.delete(withdrawn)
    owner.execute(
        "update disclosures set valid_until = current_date - 2 where id = %s and user_id = %s",
        [ended.rpartition("/")[2], customer.reference],
    )
    for name in (closed, over):
        answer = customer.post(f"{FILES}/{name}/review-requests", {"kommentar": "Bitte prüfen"})
        assert (answer.status_code, "freigabe" in answer.json()["message"]) == (409, True)


async def test_a_disclosure_that_is_withdrawn_during_a_review_closes_the_file(
    customer, adviser, owner, standing_services
):
    disclosure, name = create_for(customer, adviser)
    row = owner.execute("select tenant_id, id, pseudonym from users where id = %s", [adviser.reference]).fetchone()
    tenant_id, user_id, pseudonym = row
    principal = Principal(tenant_id, "t", True, uuid4(), "office", frozenset(), user_id, pseudonym)

    def withdraw(head, text):
        assert customer.delete(disclosure).status_code == 200
        return text.encode()

    files = standing_services.credit_files
    opened = await files.open_as_adviser(principal, UUID(name))
    with pytest.raises(NotFoundError):
        await files.review_file(
            principal, opened, ReviewResult.CONFIRMED, "Geprüft", ReviewWriters(write_document, withdraw, read_contents)
        )
    assert len(customer.read(FILES)) == 1


def insert_copies(owner, name, version, predecessor, count=1):
    """Of a file, as the owner of the tables."""
    owner.execute(
        "insert into credit_files (user_id, id, tenant_id, version, predecessor_id, purpose, disclosure_id, consent,"
        " created_at, document, signature) select user_id, gen_random_uuid(), tenant_id, %s, %s, purpose,"
        " disclosure_id, consent, created_at, document, signature from credit_files, generate_series(1, %s)"
        " where id = %s",
        [version, predecessor, count, name],
    )


def test_reviews_take_no_file_from_the_customer(customer, adviser, owner):
    _, name = create_for(customer, adviser)
    insert_copies(owner, name, 1, None, MAX_FILES - 2)
    second = review(adviser, name).headers["location"].rpartition("/")[2]
    create(customer)
    assert review(adviser, second).status_code == 201
    assert customer.post(FILES, SELF).status_code == 400


def test_a_file_has_no_more_versions_than_the_limit(customer, adviser, owner):
    _, name = create_for(customer, adviser)
    insert_copies(owner, name, MAX_VERSIONS - 1, name)
    [before] = [entry["id"] for entry in list_reviews(adviser, customer) if entry["version"] == MAX_VERSIONS - 1]
    last = review(adviser, before)
    assert last.status_code == 201, last.text
    answer = review(adviser, last.headers["location"].rpartition("/")[2])
    assert (answer.status_code, str(MAX_VERSIONS) in answer.json()["message"]) == (409, True)


@pytest.mark.parametrize("text", [" ", "\x00", "\n\t\x07"])
def test_a_comment_without_a_printable_character_is_refused_and_the_field_named(customer, adviser, text):
    _, name = create_for(customer, adviser)
    for answer in (
        review(adviser, name, CONFIRM | {"kommentar": text}),
        customer.post(f"{FILES}/{name}/review-requests", {"kommentar": text}),
    ):
        assert (answer.status_code, "kommentar" in answer.json()["message"]) == (400, True)


def test_comments_are_kept_without_characters_that_no_text_has(customer, adviser):
    _, name = create_for(customer, adviser)
    wish = customer.post(f"{FILES}/{name}/review-requests", {"kommentar": " Die Miete\x00 fehlt "})
    assert wish.status_code == 201, wish.text
    assert adviser.read(f"{REVIEWS}/{name}/review-request")["kommentar"] == "Die Miete fehlt"
    new = adviser.read(review(adviser, name, CONFIRM | {"kommentar": "Geprüft\x00"}).headers["location"])
    assert new["pruefung"]["kommentar"] == "Geprüft"


def test_a_review_is_asked_for_once_and_not_of_ones_own_files(customer, adviser):
    _, name = create_for(customer, adviser)
    wish = {"kommentar": "Bitte prüfen"}
    own = create(customer).rpartition("/")[2]
    assert customer.post(f"{FILES}/{own}/review-requests", wish).status_code == 409
    assert customer.post(f"{FILES}/{uuid4()}/review-requests", wish).status_code == 404
    assert customer.post(f"{FILES}/{name}/review-requests", {"kommentar": ""}).status_code == 400
    calls = [customer.post(f"{FILES}/{name}/review-requests", wish).status_code for _ in range(2)]
    assert calls == [201, 409]


@pytest.mark.parametrize(
    ("change", "word"),
    [({"kommentar": ""}, "kommentar"), ({"ergebnis": "GUT"}, "ergebnis"), ({"kommentar": None}, "kommentar")],
)
def test_a_wrong_review_is_refused_and_the_field_named(customer, adviser, change, word):
    _, name = create_for(customer, adviser)
    answer = review(adviser, name, CONFIRM | change)
    assert (answer.status_code, word in answer.json()["message"]) == (400, True)


def test_the_adviser_who_reviewed_is_in_the_audit_trail_of_the_customer(customer, adviser):
    _, name = create_for(customer, adviser)
    new = review(adviser, name).headers["location"].rpartition("/")[2]
    entries = customer.read("/customer/v2/export")["audit_entries"]
    [entry] = [entry for entry in entries if entry["action"] == "credit-file.review"]
    assert f"credit-file {new} version 2" in entry["object"]
    assert "self" in entry["object"]
    assert "self" not in entry["actor"]


def test_a_customer_deletes_files_made_for_himself_alone(customer, adviser, shared):
    own, (_, name) = create(customer), create_for(customer, adviser)
    assert new_customer(shared).delete(own).status_code == 404
    assert customer.delete(own).status_code == 200
    assert customer.get(own).status_code == 404
    assert customer.delete(f"{FILES}/{name}").status_code == 409
    assert narrow(customer, CUSTOMER_READ).delete(f"{FILES}/{name}").status_code == 403


async def test_housekeeping_deletes_files_when_they_have_been_kept_long_enough(
    customer, adviser, owner, standing_services
):
    """From the end of their purpose: its making, the last day of the disclosure, or its withdrawal."""
    own = create(customer).rpartition("/")[2]
    (_, holding), (withdrawn, closed), (ended, over) = (create_for(customer, adviser) for _ in range(3))
    customer.post(f"{FILES}/{closed}/review-requests", {"kommentar": "Bitte prüfen"})
    await standing_services.housekeeping.clean()
    assert {file["id"] for file in customer.read(FILES)} == {own, holding, closed, over}
    customer.delete(withdrawn)
    age = "make_interval(days => 1096)"
    find = "id = %s and user_id = %s"
    with owner.transaction():
        owner.execute("set local session_replication_role = replica")
        owner.execute(
            f"update credit_files set created_at = created_at - {age} where user_id = %s", [customer.reference]
        )
        owner.execute(
            f"update disclosures set withdrawn_at = now() - {age} where {find}",
            [withdrawn.rpartition("/")[2], customer.reference],
        )
        owner.execute(
            f"update disclosures set valid_until = current_date - 1097 where {find}",
            [ended.rpartition("/")[2], customer.reference],
        )
    await standing_services.housekeeping.clean()
    assert [file["id"] for file in customer.read(FILES)] == [holding]
    count = owner.execute("select count(*) from credit_review_requests where user_id = %s", [customer.reference])
    assert count.fetchone() == (0,)
