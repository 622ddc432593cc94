"""`GET …/lastschriften`: until when and on what ground the customer's own debits can be returned, and the letter."""

import io
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from pdfminer.high_level import extract_text

from banking import narrow, new_customer
from kontor.domain.clocks import BERLIN
from kontor.domain.debit_returns import add_months
from kontor.domain.scopes import CUSTOMER_READ, CUSTOMER_TAGS

DEBITS = "/customer/v2/lastschriften"


@pytest.fixture(scope="module")
def debited(bank_server, shared):
    customer = new_customer(shared)
    customer.add_complete(f"familie+{uuid4().hex[:8]}")
    return customer


@pytest.fixture(scope="module")
def debits(debited):
    return debited.read(DEBITS)


def today():
    return datetime.now(BERLIN).date()


def ask(customer, debit_id, **query):
    return customer.get(f"{DEBITS}/{debit_id}/rueckgabe", params=query)


def test_every_debit_says_until_when_and_on_what_ground(debits):
    assert len(debits) > 20
    for debit in debits:
        day = datetime.fromisoformat(debit["buchungsdatum"]).date()
        assert debit["betrag"] > 0
        assert debit["verfahren"] in ("BASIS", "FIRMEN", "UNBESTIMMT")
        expected = {"OHNE_GRUND": day + timedelta(weeks=8), "NICHT_AUTORISIERT": add_months(day, 13)}
        if debit["verfahren"] == "FIRMEN":
            del expected["OHNE_GRUND"]
        if "zurueckgegebenAm" in debit:
            expected = {}
        assert {right["grund"]: right["bis"] for right in debit["rueckgabe"]} == {
            ground: end.isoformat() for ground, end in expected.items() if end >= today()
        }
    assert {"mandatsreferenz", "glaeubigerId"} <= set().union(*debits)
    assert [debit["buchungsdatum"] for debit in debits] == sorted((d["buchungsdatum"] for d in debits), reverse=True)


def test_debits_are_shown_with_their_contracts(debited, debits):
    contract_id = next(debit["vertragId"] for debit in debits if "vertragId" in debit)
    of_contract = debited.read(DEBITS, params={"vertrag": contract_id})
    assert of_contract == [debit for debit in debits if debit.get("vertragId") == contract_id]
    contract = next(c for c in debited.read("/customer/v2/ai/contracts") if c["id"] == contract_id)
    assert {debit["id"] for debit in of_contract} <= set(contract["details"]["transactionIds"])
    assert debited.read(DEBITS, params={"vertrag": str(uuid4())}) == []


def test_one_debit_is_as_in_the_list(debited, debits):
    relations = {relation["rel"]: relation["href"] for relation in debits[0]["relations"]}
    assert debited.read(relations["self"]) == debits[0]
    assert relations["get_rueckgabe"].endswith(f"/lastschriften/{debits[0]['id']}/rueckgabe")


@pytest.mark.parametrize(
    ("query", "name", "words"),
    [
        ({}, "lastschrift-rueckgabe.pdf", "§ 675x Abs. 2 BGB"),
        ({"grund": "NICHT_AUTORISIERT"}, "lastschrift-rueckgabe.pdf", "nach § 676b BGB"),
        ({"language": "en"}, "return-of-direct-debit.pdf", "675x (2) of the German Civil Code"),
        ({"language": "en", "grund": "NICHT_AUTORISIERT"}, "return-of-direct-debit.pdf", "have not authorised"),
    ],
)
def test_the_letter_names_debit_and_ground(debited, debits, query, name, words):
    debit = next(d for d in debits if len(d["rueckgabe"]) == 2 and d.get("mandatsreferenz"))
    answer = ask(debited, debit["id"], **query)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf"), answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    text = " ".join(extract_text(io.BytesIO(answer.content)).split())
    assert words in text
    assert debit["mandatsreferenz"] in text
    assert debit["empfaenger"] in text


def test_a_ground_that_is_over_is_refused(debited, debits):
    old = next(d for d in debits if [right["grund"] for right in d["rueckgabe"]] == ["NICHT_AUTORISIERT"])
    refused = ask(debited, old["id"], grund="OHNE_GRUND")
    assert (refused.status_code, refused.json()["message"].partition(":")[0]) == (400, "grund")
    assert ask(debited, old["id"]).status_code == 200


@pytest.mark.parametrize(
    ("query", "field"), [({"grund": "X"}, "grund"), ({"language": "fr"}, "language"), ({"x": 1}, "x")]
)
def test_a_wrong_query_is_refused_by_name(debited, debits, query, field):
    answer = ask(debited, debits[0]["id"], **query)
    assert answer.status_code == 400
    assert field in answer.json()["message"]


def test_foreign_and_unknown_debits_are_not_found(debits, debited, shared):
    stranger = new_customer(shared)
    assert stranger.read(DEBITS) == []
    for path in ("", "/rueckgabe"):
        assert stranger.get(f"{DEBITS}/{debits[0]['id']}{path}").status_code == 404
        assert debited.get(f"{DEBITS}/{uuid4()}{path}").status_code == 404


def test_the_scope_for_reading_is_needed_and_enough(debited, debits):
    assert narrow(debited, CUSTOMER_TAGS).get(DEBITS).status_code == 403
    assert ask(narrow(debited, CUSTOMER_READ), debits[0]["id"]).status_code in (200, 400)
