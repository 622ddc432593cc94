"""A server dies, stands still or loses its database at any moment of a payment: paid once or never, and truly told.

`KONTOR_TEST_FAULT_ROUNDS` repeats every moment that often.
"""

import re
from datetime import datetime
from pathlib import Path

import pytest
from books import compare_all, compare_books, find_broken_chains
from callers import DECOUPLED, DOUBTFUL, SINGLE, DecoupledPaymentCase, LegacyPaymentCase, Payer, PaymentCase
from moments import find_unnamed, list_moments

import kontor
from faults import ROUNDS, cut, freeze, kill, try_moments
from kontor.connectors.demo.people import person_for
from kontor.domain.clocks import BERLIN
from kontor.services.runtime.fault_points import POINTS

pytestmark = pytest.mark.long

FORMS = ("single", "legacy", "decoupled", "payee")
OURS = ("after commit of Payment", "send ", "receive ")
# The caller's request in which a form differs: its TAN, its last look into the app, its word about the payee.
OWN_REQUESTS = {"legacy": 2, "decoupled": 3, "payee": 2}


@pytest.fixture(scope="session")
def forms(payers, customers):
    """How a payment of each form is begun at a server."""
    decoupled = [Payer(customer, f"{DECOUPLED}+server{number}") for number, customer in enumerate(customers)]
    for payer in decoupled:
        payer.product_id = find_iban(payer.login)
    return {
        "single": lambda server_index: PaymentCase(payers[SINGLE][server_index]),
        "legacy": lambda server_index: LegacyPaymentCase(payers[SINGLE][server_index]),
        "decoupled": lambda server_index: DecoupledPaymentCase(decoupled[server_index]),
        "payee": lambda server_index: PaymentCase(payers[DOUBTFUL][server_index]),
    }


def find_iban(login):
    person = person_for(login, datetime.now(BERLIN).date())
    return next(account.product.iban for account in person.accounts if account.product.can_transfer)


@pytest.fixture(scope="session")
def records(deployment, forms):
    """What one undisturbed payment of each form meets, from its order to its last answer."""
    found = {}
    server = deployment.faulty_servers[0]
    for form, make in forms.items():
        for _ in range(5):
            case = make(0)
            server.start_record()
            case.run(server)
            found[form] = server.read_record()
            if compare_books(deployment, case, form).is_booked:
                break
        assert case.told[-1] == (200, ("BA1111",)), case.told
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_commit_and_every_message_of_the_bank_has_its_name(records, form):
    record = records[form]
    names = [entry["name"] for entry in record]
    for name in (
        "PaymentOrdering._begin", "Payments._answer", "PaymentDialogues._pass_send_guard", "DemoBankBooks.settle",
    ):  # fmt: skip
        assert f"after commit of {name}" in names
    assert find_unnamed(record, OURS) == []
    guard = names.index("after commit of PaymentDialogues._pass_send_guard")
    assert guard < names.index("before commit of DemoBankBooks.settle"), (
        "the bank books nothing before we have written down that the order leaves"
    )


def test_the_list_of_points_is_complete():
    source = Path(kontor.__file__).parent
    used = {name for file in source.rglob("*.py") for name in re.findall(r'reach\("([^"]+)"\)', file.read_text())}
    assert used == set(POINTS)


@pytest.mark.parametrize("form", FORMS)
def test_killed_at_any_moment(deployment, forms, records, form):
    """Where a form goes the way of the single transfer, many rounds are for it; one round is for what is its own."""
    moments = list_moments(records[form])
    if form != "single" and ROUNDS == 1:
        moments = list_moments(records[form], is_coarse=True, request=OWN_REQUESTS[form])
    books = try_moments(deployment, forms[form], moments, kill)
    assert {book.is_booked for book in books} == {True, False}
    if form != "payee":
        assert any("payment.unknown" in book.audit for book in books)


def test_frozen_at_any_moment_and_thawed_when_all_is_decided(deployment, forms, records):
    books = try_moments(deployment, forms["single"], list_moments(records["single"], is_coarse=True), freeze)
    assert {book.is_booked for book in books} == {True, False}
    assert any("REFUSED" in book.arrivals for book in books), "one order arrived too late, and the bank had buried it"


def test_connections_lost_at_any_moment(deployment, forms, records):
    books = try_moments(deployment, forms["single"], list_moments(records["single"], is_coarse=True), cut)
    assert {book.is_booked for book in books} == {True, False}


def test_nothing_comes_afterwards_and_the_audit_trail_is_whole(deployment, records):
    assert deployment.cases
    compare_all(deployment)
    assert find_broken_chains(deployment) == {}
