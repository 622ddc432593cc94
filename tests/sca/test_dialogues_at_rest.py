"""What a dialogue leaves in the database: ciphertext, bound to its place."""

from uuid import uuid4

import pytest

from banking import new_customer
from consenting import new_login, start

PIN = "demo"


def dump(owner) -> str:
    """Every row of every table, as text."""
    names = owner.execute("select table_name from information_schema.tables where table_schema = 'public'").fetchall()
    rows = []
    for (name,) in names:
        rows += [row[0] for row in owner.execute(f"select t::text from {name} t").fetchall()]
    return "\n".join(rows)


def sealed_of(owner, consent) -> bytes:
    row = owner.execute("select sealed from dialogues where id = %s", [consent.id]).fetchone()
    assert row is not None
    return bytes(row[0])


def test_no_login_pin_tan_or_challenge_is_readable(customer, owner):
    """In the open dialogue, and afterwards in the fetch that goes on from it."""
    login, tan = new_login("test_phototan"), f"{uuid4().int}"
    consent = start(customer, login)
    instructions = consent.read()["challenge"]["content"]["instructions"]
    consent.enter(tan)
    sealed = sealed_of(owner, consent)
    for text in (login, "test_phototan", "stage", instructions, "consent_until", "userid"):
        assert text.encode() not in sealed
    for text in (login, tan, instructions):
        assert text not in (everything := dump(owner))
        assert text.encode().hex() not in everything
    consent.enter("8534842")
    consent.wait_until_complete()
    row = owner.execute("select resume_state from fetches where access_id = %s", [consent.access_id]).fetchone()
    assert row is not None
    assert login.encode() not in bytes(row[0])
    assert login not in dump(owner)


def test_the_same_state_is_never_sealed_to_the_same_bytes(customer, owner):
    consent = start(customer, new_login("test_phototan"))
    first = sealed_of(owner, consent)
    consent.enter("1")
    assert sealed_of(owner, consent) != first


@pytest.mark.parametrize("where", ["dialogue", "access", "user", "bytes"])
def test_a_sealed_state_opens_only_in_its_own_place(customer, owner, bank_server, shared, where):
    consent = start(customer, new_login("test_phototan"))
    taker = customer if where != "user" else new_customer(shared)
    target = start(taker, new_login("test_phototan"))
    moved = sealed_of(owner, consent)
    if where == "bytes":
        moved = moved[:-1] + bytes([moved[-1] ^ 1])
        target = consent
    if where == "access":
        other = customer.add("leer")
        owner.execute("update dialogues set access_id = %s where id = %s", [other, target.id])
    else:
        owner.execute("update dialogues set sealed = %s where id = %s", [moved, target.id])
    for answer in (taker.get(target.url), target.post({"scaAuthenticationData": "8534842"})):
        assert answer.status_code == 500
        assert set(answer.json()) == {"code", "message", "messages", "correlationId"}
        assert answer.json()["message"] == "An internal error occurred."
    owner.execute("delete from dialogues where id = %s", [target.id])


def test_closed_dialogues_keep_nothing_sealed(customer, owner):
    cancelled, given = start(customer, new_login("test_phototan")), start(customer, new_login("test_phototan"))
    assert sealed_of(owner, given)
    cancelled.cancel()
    given.enter("8534842")
    ended = start(customer, new_login("test_phototan"), given.access_id)
    start(customer, new_login("test_phototan"), ended.access_id)
    ids = [cancelled.id, given.id, ended.id]
    rows = owner.execute("select state, sealed from dialogues where id = any(%s)", [ids]).fetchall()
    assert sorted(rows) == [("FAILED", None), ("FAILED", None), ("GIVEN", None)]
