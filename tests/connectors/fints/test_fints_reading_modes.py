"""Reading where banks differ: how accounts are named, which statements they have, and what they refuse."""

from datetime import timedelta
from hashlib import sha256
from itertools import count

import pytest
from fints_payer import PROVIDER, Payer, overheard

from fints_banks import TODAY
from kontor.connectors.base import Continue, Done, Failed, FailureKind, Fetch, Progress
from kontor.connectors.demo.people import person_for
from kontor.connectors.demo.people.numbers import DEMO_BANK
from kontor.connectors.demo.scenarios import find_scenario
from kontor.connectors.fints.codes import Code, find_failure
from kontor.demobank.fints.modes import Mode
from kontor.domain.accesses import History
from kontor.domain.products import BalanceSource, ProductCategory
from kontor.domain.transactions import find_day

pytestmark = pytest.mark.filterwarnings("ignore::fints.parser.FinTSParserWarning")
ORDERS = {"HKSAL", "HKCAZ", "HKKAZ"}


@pytest.fixture
def reader_at(bank_with, request):
    """New customers, the same ones in every run: the login decides the bookings."""
    numbers, name = count(), sha256(request.node.name.encode()).hexdigest()[:8]
    return lambda *modes, login="test_student", **facts: Payer(
        bank_with(*modes), f"{login}+{name}{next(numbers)}", **facts
    )


def fetch(payer, job=None, state=None):
    progress = payer.begin(job or Fetch(), state)
    assert isinstance(progress, Progress), progress
    done = payer.resume(progress, Continue())
    assert isinstance(done, Done), done
    return progress.partial, done.result


def check_all(payer, headers, fetched):
    """Every account has the balance and the bookings of the bank's books."""
    assert not fetched.problems
    for account in person_for(payer.login, TODAY).accounts:
        key = account.product.iban or account.product.key
        product = next(product for product in headers.products if product.key == key)
        assert product.balance == account.product.balance
        if not account.product.category.is_depot:
            expected = [entry.transaction.amount for entry in account.entries if not entry.transaction.is_pending]
            booked = [row.amount for row in fetched.transactions[key] if not row.is_pending]
            assert booked, key
            assert sorted(booked) == sorted(expected[-len(booked) :])


@pytest.mark.parametrize(("mode", "is_full"), [(Mode.ACCOUNT_IN_FULL, True), (Mode.ACCOUNT_BY_IBAN, False)])
def test_an_account_is_named_as_hispas_wants_it(reader_at, mode, is_full):
    payer = reader_at(mode)
    with overheard() as sent:
        headers, fetched = fetch(payer)
    check_all(payer, headers, fetched)
    named = [segment.read_group(1) for message in sent for segment in message.segments if segment.code in ORDERS]
    assert named
    assert {len(group) > 2 for group in named} == {is_full}


@pytest.mark.parametrize("mode", [Mode.CAMT_ONLY, Mode.ONE_CAMT_VERSION, Mode.PENDING_CUT])
def test_bookings_are_read_in_the_one_form_that_the_bank_has(reader_at, mode):
    payer = reader_at(mode)
    with overheard() as sent:
        headers, fetched = fetch(payer)
    check_all(payer, headers, fetched)
    asked = [message.find("HKCAZ").read_group(2) for message in sent if "HKCAZ" in message.codes]
    assert set(asked) == {("urn:iso:std:iso:20022:tech:xsd:camt.052.001.08",)}


def test_an_answer_of_many_documents_is_read_whole(bank_with):
    payer = Payer(bank_with(Mode.CAMT_IN_PARTS), "familie+parts")
    headers, fetched = fetch(payer)
    check_all(payer, headers, fetched)
    expected = [entry.transaction for account in person_for(payer.login, TODAY).accounts for entry in account.entries]
    rows = [row for found in fetched.transactions.values() for row in found]
    assert len([row for row in rows if row.is_pending]) == len([row for row in expected if row.is_pending])
    spans = [span for key, found in fetched.spans.items() if key.startswith("DE") for span in found]
    assert not spans, "balances that say nothing prove nothing"


@pytest.mark.parametrize(
    ("history", "is_old_giro", "is_old_saving"),
    [
        (History.RECENT, False, False),
        (History.PAYMENT_ACCOUNTS, True, False),
        (History.ALL, True, True),
    ],
)
def test_old_bookings_are_fetched_of_the_accounts_for_which_they_are_wanted(
    bank_with, history, is_old_giro, is_old_saving
):
    payer = Payer(bank_with(), "test_products+zahlungskonten")
    headers, fetched = fetch(payer, Fetch(history=history))
    keys = {product.category: product.key for product in reversed(headers.products)}
    limit = TODAY - timedelta(days=92)

    def has_old(category):
        days = [find_day(row) for row in fetched.transactions[keys[category]] if not row.is_pending]
        assert days
        return min(days) < limit

    assert has_old(ProductCategory.CHECKING) is is_old_giro
    assert has_old(ProductCategory.CALL_MONEY) is is_old_saving


# What banks refuse


def test_where_old_bookings_are_refused_the_recent_ones_are_fetched(reader_at):
    payer = reader_at(Mode.RECENT_ONLY)
    keys = [account.product.iban for account in person_for(payer.login, TODAY).accounts]
    since = dict.fromkeys(keys, TODAY - timedelta(days=200))
    with overheard() as sent:
        headers, fetched = fetch(payer, Fetch(history=History.ALL, since=since))
    check_all(payer, headers, fetched)
    refused = [message for message in sent if "9210" in message.answer]
    assert len(refused) == 1, "the other accounts are not asked for what the first one did not get"
    oldest = min(find_day(row) for row in fetched.transactions[keys[0]])
    assert TODAY - timedelta(days=90) <= oldest < TODAY - timedelta(days=70)


@pytest.mark.parametrize(
    "mode", [Mode.ACCOUNTS_UNAVAILABLE, Mode.BALANCE_WITHOUT_DAY, Mode.BALANCE_VERSION_8, Mode.ONE_STEP_ONLY]
)
def test_a_bank_that_leaves_something_out_is_read_all_the_same(reader_at, mode):
    payer = reader_at(mode)
    headers, fetched = fetch(payer)
    check_all(payer, headers, fetched)
    assert all(product.iban for product in headers.products)
    assert all(product.balance_at is not None for product in headers.products)


def test_a_bank_with_one_step_is_asked_without_a_tan(reader_at):
    payer = reader_at(Mode.ONE_STEP_ONLY)
    with overheard() as sent:
        fetch(payer)
    assert {message.find("HNSHK").read(2) for message in sent} == {"999"}
    assert not [message for message in sent if "HKTAN" in message.codes]


def test_an_unknown_registration_is_no_wrong_pin(bank_with):
    payer = Payer(bank_with(Mode.REGISTRATION_REFUSED), "test_student")
    failed = payer.connect().begin(PROVIDER, payer.credentials, Fetch(), None, payer.context)
    assert isinstance(failed, Failed), failed
    assert (failed.kind, "9952" in failed.detail) == (FailureKind.INTERNAL, True)


@pytest.mark.parametrize("code", ["9078", "9400", "9952"])
def test_every_code_for_an_unknown_registration_is_told_to_the_operator(code):
    codes = [Code("9050", "Die Nachricht enthält Fehler."), Code(code, "Kundenprodukt"), Code("9800", "Abgebrochen")]
    kind, detail = find_failure(codes, is_login=True)
    assert (kind, code in detail) == (FailureKind.INTERNAL, True)


def test_a_lock_counts_more_than_an_unknown_registration():
    kind, _ = find_failure([Code("9078", "Kundenprodukt"), Code("9931", "Gesperrt")], is_login=True)
    assert kind is FailureKind.LOCKED


# Depots and devices


@pytest.mark.parametrize("modes", [(), (Mode.DEPOT_BY_WKN,)], ids=["isin", "wkn"])
def test_a_depot_is_worth_what_its_positions_are(reader_at, modes):
    payer = reader_at(*modes, login="vermoegend")
    with overheard() as sent:
        headers, fetched = fetch(payer)
    depot = next(account for account in person_for(payer.login, TODAY).accounts if account.positions)
    product = next(product for product in headers.products if product.key == depot.product.key)
    assert product.balance == depot.product.balance
    assert product.balance_at is not None
    assert product.balance_source is BalanceSource.STATEMENT
    positions = fetched.positions[product.key]
    assert [position.wkn for position in positions] == [position.wkn for position in depot.positions]
    assert all((position.isin is None) == bool(modes) for position in positions)
    assert len([message for message in sent if "HKWPD" in message.codes]) == 1


def test_devices_and_the_banks_name_are_told_with_every_fetch(reader_at):
    headers, _ = fetch(reader_at(login="test_products"))
    assert {product.institution for product in headers.products} == {DEMO_BANK}
    payer = reader_at(login="test_bank_message")
    headers, _ = fetch(payer)
    assert [medium.name for medium in headers.media] == [medium.name for medium in find_scenario(payer.login).media]
    assert headers.media
