"""Problems of real banks, which the demo bank's XS2A server has by name: Kontor copes with each of them."""

from contextlib import ExitStack
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest

from kontor.cli.demobank import serving_xs2a
from kontor.connectors.base import (
    ChooseMethod,
    Done,
    Failed,
    FailureKind,
    Fetch,
    LookUp,
    NeedMethod,
    NeedTan,
    Pay,
    Progress,
    Tan,
)
from kontor.connectors.demo.people import person_for
from kontor.connectors.xs2a.client import Client
from kontor.demobank.xs2a.modes import XS2A_MODES, Xs2aMode
from kontor.domain.errors import InvalidError
from kontor.domain.payments import Order, PaymentOutcome
from kontor.domain.secrets import Secret
from kontor.domain.transactions import find_day
from xs2a_dialogues import TODAY, Dialogue, new_login, running_xs2a_bank

GUIDE = Path(__file__).parents[3] / "docs/guides/demo-bank.md"
BY_TAN = [Tan(Secret("24"))]
RECENT = TODAY - timedelta(days=90)


@pytest.fixture
def bank_with(settings):
    with ExitStack() as stack:
        yield lambda *modes: stack.enter_context(running_xs2a_bank(settings, page_size=100, modes=modes))


def talk_to(bank, kind="test_bank_message"):
    return Dialogue(bank.make_connector(), new_login(kind))


def make_pay(dialogue):
    iban = person_for(dialogue.login, TODAY).accounts[0].product.iban
    order = Order("Erika Muster", "DE89370400440532013000", Decimal("5.00"), purpose="Rechnung 4711")
    return Pay(uuid4(), iban, (order,))


def list_books(login):
    """Amounts and days of each account, as the bank has them."""
    accounts = [account for account in person_for(login, TODAY).accounts if account.product.iban]
    rows = {account.product.iban: [entry.transaction for entry in account.entries] for account in accounts}
    return {key: sorted((row.amount, find_day(row)) for row in listed) for key, listed in rows.items()}


def list_fetched(done):
    return {key: sorted((row.amount, find_day(row)) for row in rows) for key, rows in done.result.transactions.items()}


@pytest.fixture
def sent(monkeypatch):
    """Methods, paths and bodies of what the connector sends."""
    call, found = Client.call, []

    def note(self, method, link, body=None, *others, **facts):
        found.append((method, link, body))
        return call(self, method, link, body, *others, **facts)

    monkeypatch.setattr(Client, "call", note)
    return found


def test_every_mode_is_in_the_guide_as_in_the_table():
    rows = [f"| `{mode}` | {what} |" for mode, what in XS2A_MODES.items()]
    text = GUIDE.read_text(encoding="utf-8")
    start = text.index(rows[0])
    assert text[start:].splitlines()[: len(rows)] == rows
    assert set(XS2A_MODES) == set(Xs2aMode)


def test_an_unknown_mode_is_refused_by_name(settings):
    with pytest.raises(InvalidError, match="no-such-mode"), serving_xs2a(settings, "", 0, modes=["no-such-mode"]):
        pass


# Lists


def test_where_old_bookings_are_refused_the_last_90_days_are_fetched(bank_with):
    dialogue = talk_to(bank_with(Xs2aMode.RECENT_ONLY), "student")
    done = dialogue.drive(BY_TAN)[-1]
    assert done.result.problems == ()
    books = list_books(dialogue.login)
    assert list_fetched(done) == {key: [row for row in rows if row[1] >= RECENT] for key, rows in books.items()}
    assert any(row[1] < RECENT for rows in books.values() for row in rows)


def test_rows_of_a_bank_that_ignores_the_first_day_are_each_fetched_once(bank_with):
    dialogue = talk_to(bank_with(Xs2aMode.SINCE_IGNORED))
    since = TODAY - timedelta(days=20)
    keys = list_books(dialogue.login)
    done = dialogue.drive(BY_TAN, Fetch(since=dict.fromkeys(keys, since)))[-1]
    assert done.result.problems == ()
    assert list_fetched(done) == list_books(dialogue.login)


def test_an_empty_page_does_not_end_the_list(bank_with):
    dialogue = talk_to(bank_with(Xs2aMode.EMPTY_PAGES), "student")
    done = dialogue.drive(BY_TAN)[-1]
    assert done.result.problems == ()
    assert list_fetched(done) == list_books(dialogue.login)


def test_amounts_and_balances_with_twelve_decimals_are_those_of_the_books(bank_with):
    dialogue = talk_to(bank_with(Xs2aMode.LONG_DECIMALS))
    *_, progress, done = dialogue.drive(BY_TAN)
    assert done.result.problems == ()
    assert list_fetched(done) == list_books(dialogue.login)
    accounts = [account.product for account in person_for(dialogue.login, TODAY).accounts if account.product.iban]
    assert [product.balance for product in progress.partial.products] == [product.balance for product in accounts]


# Consents and authentication


def test_a_consent_that_ends_before_its_day_asks_for_the_customer_and_the_next_one_is_used(bank_with):
    dialogue = talk_to(bank_with(Xs2aMode.CONSENT_ENDS_EARLY))
    done = dialogue.drive(BY_TAN)[-1]
    assert done.result.consent_until > TODAY
    asked = dialogue.begin(connector_state=done.connector_state, customer_ip=None)
    assert isinstance(asked, NeedMethod), "not a failure: the customer can renew it"
    again = dialogue.drive(BY_TAN, connector_state=done.connector_state)
    assert [type(step) for step in again] == [NeedTan, Progress, Done]
    assert again[-1].connector_state["consent"] != done.connector_state["consent"]


def test_a_pin_that_is_refused_for_a_payment_is_sent_once(bank_with, sent):
    dialogue = talk_to(bank_with(Xs2aMode.PIN_REFUSED_LATER))
    done = dialogue.drive(BY_TAN)[-1]
    assert isinstance(done, Done), "the consent's own authorisation takes it"
    sent.clear()
    failed = dialogue.begin(make_pay(dialogue), done.connector_state)
    assert isinstance(failed, Failed), failed
    assert (failed.kind, failed.is_outcome_unknown) == (FailureKind.WRONG_CREDENTIALS, False)
    assert [method for method, _, body in sent if "psuData" in (body or {})] == ["POST"]


def test_a_method_that_is_gone_is_replaced_by_the_one_that_is_left(bank_with):
    usual = talk_to(bank_with(), "test_sca_method")
    chosen = usual.begin()
    assert isinstance(chosen, NeedMethod)
    first, *_, last = chosen.methods
    done = usual.drive([ChooseMethod(first.code), *BY_TAN])[-1]
    assert done.connector_state["chosen"] == first.code
    changed = Dialogue(bank_with(Xs2aMode.METHOD_REPLACED).make_connector(), usual.login)
    asked = changed.begin(Fetch(is_renewal=True), done.connector_state)
    assert isinstance(asked, NeedTan), asked
    assert asked.challenge.method_name == last.name
    assert isinstance(changed.resume(asked, Tan(Secret("12"))), Progress)


# Payments


def test_an_order_that_the_bank_holds_is_unknown_until_the_bank_has_decided(bank_with):
    dialogue = talk_to(bank_with(Xs2aMode.ORDER_HELD))
    pay = make_pay(dialogue)
    last = dialogue.drive(BY_TAN, pay)[-1]
    assert isinstance(last, Failed), last
    assert last.is_outcome_unknown
    outcomes = [dialogue.begin(LookUp(pay, last.state)).result.outcome for _ in range(3)]
    assert outcomes == [PaymentOutcome.UNKNOWN, PaymentOutcome.UNKNOWN, PaymentOutcome.EXECUTED]


def test_an_order_that_somebody_else_has_to_sign_as_well_is_never_reported_as_accepted(bank_with):
    dialogue = talk_to(bank_with(Xs2aMode.ORDER_HALF_SIGNED))
    pay = make_pay(dialogue)
    last = dialogue.drive(BY_TAN, pay)[-1]
    assert isinstance(last, Failed), last
    assert last.is_outcome_unknown
    assert dialogue.begin(LookUp(pay, last.state)).result.outcome is PaymentOutcome.UNKNOWN
