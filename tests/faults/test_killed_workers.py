"""A worker dies while it asks a bank what became of a payment: another asks again, and the truth is told."""

import time

import pytest
from books import compare_books, read_books
from callers import DIES_AFTER_BOOKING, DIES_BEFORE_BOOKING, PAID, SINGLE, PaymentCase, is_failed
from deployments import WAIT_TIMEOUT_SECONDS, Moment
from moments import find_unnamed, list_moments

from banking import wait_for
from faults import ATTEMPTS, ROUNDS

pytestmark = pytest.mark.long

SOON = (
    "update payments set next_lookup_at = now() where user_id = %s and state = 'UNKNOWN' and next_lookup_at > now()"
    " returning id"
)
NEXT_DAY = "delete from unattended_calls where user_id = %s returning 1"
# A worker does other things too.
PARTS = ("payment.", "before commit of Payment", "after commit of Payment", "send LookUp", "receive LookUp")
BANK = ("before commit of DemoBankBooks.look_up", "after commit of DemoBankBooks.look_up")


def reconcile(deployment, case):
    """Pay at a bank that falls silent, and wait until it is known what became of it."""
    server, customer = deployment.observer, case.payer.customer

    def look():
        # Instead of waiting for the next time that it would be due, and for the next day's calls.
        deployment.query(SOON, customer.reference)
        deployment.query(NEXT_DAY, customer.reference)
        return [state for state in read_books(deployment, case).states if state in ("SENDING", "UNKNOWN", "OPEN")]

    at = server.seat(customer)
    status, _ = case.note(case.order(at))
    for _ in range(ATTEMPTS):
        if "authenticate" in [relation["rel"] for relation in status["relations"]]:
            status, _ = case.note(case.go_on(at, status))
    wait_for(look, lambda states: not states, WAIT_TIMEOUT_SECONDS)
    case.note(case.order(at))


@pytest.fixture(scope="module")
def record(deployment, payers):
    """What a worker meets, from the moment it finds the payment until it is done with it."""
    for _ in range(ATTEMPTS):
        case = PaymentCase(payers[SINGLE][0], DIES_AFTER_BOOKING)
        deployment.worker.start_record()
        reconcile(deployment, case)
        wait_for(lambda: met(deployment, "after commit of PaymentDialogues.refresh_access"), lambda is_met: is_met)
        found = [entry for entry in deployment.worker.read_record() if entry["name"].startswith((*PARTS, *BANK))]
        if any("BA1113" in codes for _, codes in case.told):
            break
    compare_books(deployment, case, "reconciled")
    # It looks for something to do all the time: what counts begins with what it finds.
    first = next(
        number for number, entry in enumerate(found) if entry["name"] == "before commit of PaymentRecovery.recover"
    )
    return [found[first - 1], *(entry for entry in found[first:] if entry["name"] != "payment.lookup")]


def await_met(deployment, token, seconds):
    """The payment may be known before the worker has done the last of its steps."""
    end = time.monotonic() + seconds
    while not deployment.worker.is_met(token) and time.monotonic() < end:
        time.sleep(0.05)
    return deployment.worker.is_met(token)


def met(deployment, name):
    return name in (deployment.worker.folder / "record").read_text()


def test_every_step_of_a_question_has_its_name(record):
    names = [entry["name"] for entry in record]
    for name in ("PaymentRecovery.recover", "PaymentRecovery._store", "DemoBankBooks.look_up"):
        assert f"after commit of {name}" in names
    assert find_unnamed(record, ("after commit of Payment", "send ", "receive ")) == []


def test_workers_killed_while_they_ask(deployment, payers, record):
    moments = [moment for moment in list_moments(record) if moment.name != "payment.lookup"]
    moments.append(Moment("before commit of PaymentRecovery.recover", 1))
    assert {"payment.lookup-claimed", "payment.reconciled", "payment.refreshed"} <= {moment.name for moment in moments}
    outcomes = set()
    for number, moment in enumerate(moments * ROUNDS):
        for iban in (DIES_AFTER_BOOKING, DIES_BEFORE_BOOKING)[:: 1 if number % 2 else -1]:
            case = PaymentCase(payers[SINGLE][number % 2], iban)
            token = deployment.worker.arm(moment, "kill")
            reconcile(deployment, case)
            is_met = await_met(deployment, token, 15 if iban == DIES_AFTER_BOOKING else 0)
            books = compare_books(deployment, case, f"worker killed at {moment}")
            assert books.is_booked == (iban == DIES_AFTER_BOOKING)
            outcomes.add(books.is_booked)
            if is_met:
                break
        deployment.worker.escape_formula()
        assert is_met, f"never met: {moment}"
    assert outcomes == {True, False}


def test_an_unknown_outcome_is_looked_up_until_the_bank_reports_it(deployment, payers):
    for iban in (DIES_AFTER_BOOKING, DIES_BEFORE_BOOKING):
        case = PaymentCase(payers[SINGLE][0], iban)
        case.run(deployment.observer)
        books = compare_books(deployment, case, iban)
        assert (200, ("BA1113",)) in case.told
        last = books.told[-1][1]
        assert (bool(PAID & set(last)), is_failed(last)) == (books.is_booked, not books.is_booked)
