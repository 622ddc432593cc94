"""What payments do to the demo bank's books, seen by fetching afterwards."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import psycopg
import pytest
from demo_payer import OUTSIDE, TODAY, Payer, find_iban, make_order

from kontor.connectors.base import Done, Failed, FailureKind, NeedPayeeDecision, NeedTan, Paid, Pay, Tan
from kontor.connectors.demo.payees import PayeeScenario
from kontor.domain.payments import PaymentOutcome
from kontor.domain.secrets import Secret
from kontor.domain.transactions import clean_transaction, find_day

EXECUTED = Done(Paid(PaymentOutcome.EXECUTED))
ACCEPTED = Done(Paid(PaymentOutcome.ACCEPTED))


@pytest.fixture
def payer(settings):
    return Payer(settings.database_url)


def test_a_payment_moves_the_balance_and_stands_on_the_statement(payer):
    order = make_order("12.34", end_to_end_id="RE-4711", bic="COBADEFFXXX", ultimate_creditor="Muster Kinder")
    assert payer.pay(order) == EXECUTED
    assert payer.read_moved() == {payer.main.key: Decimal("-12.34")}
    (row,) = payer.list_new()
    assert (row.amount, row.currency, find_day(row), row.is_pending) == (Decimal("-12.34"), "EUR", TODAY, False)
    assert (row.purpose, row.booking_text, row.gv_code) == (
        "EREF+RE-4711 SVWZ+Rechnung 4711",
        "Online-Überweisung",
        "177",
    )
    assert (row.counterparty_name, row.counterparty_iban, row.counterparty_bic, row.ultimate_counterparty) == (
        "Erika Muster",
        OUTSIDE,
        "COBADEFFXXX",
        "Muster Kinder",
    )
    assert clean_transaction(row) == row


def test_the_statement_stays_in_order_and_ids_stay_the_same(payer):
    for amount in ("1.00", "2.00", "2.00"):
        assert payer.pay(make_order(amount)) == EXECUTED
    first, later = payer.list_new(), payer.on(TODAY + timedelta(days=40)).list_new()
    assert first == later
    assert len({row.bank_id for row in first}) == 3
    _, rows = payer.on(TODAY + timedelta(days=3)).fetch()
    statement = rows[payer.main.key]
    assert len({row.bank_id for row in statement if row.bank_id}) == len([row for row in statement if row.bank_id])
    finals = [find_day(row) for row in statement if not row.is_pending]
    assert finals == sorted(finals)
    assert [row.is_pending for row in statement] == sorted(row.is_pending for row in statement)


@pytest.mark.parametrize(
    ("facts", "iban", "text", "gv_code"),
    [
        ({}, OUTSIDE, "Online-Überweisung", "177"),
        ({"is_instant": True}, OUTSIDE, "Echtzeitüberweisung", "118"),
        ({}, "BR1500000000000010932840814P2", "Auslandsüberweisung", "201"),
    ],
)
def test_the_kind_of_payment_shows_in_its_wording(payer, facts, iban, text, gv_code):
    assert payer.pay(make_order(iban=iban), **facts) == EXECUTED
    (row,) = payer.list_new()
    assert (row.booking_text, row.gv_code) == (text, gv_code)


def test_a_later_payment_is_booked_on_its_day(payer):
    payment_id, day = uuid4(), TODAY + timedelta(days=5)
    assert payer.pay(make_order(), payment_id=payment_id, execution_date=day) == ACCEPTED
    assert payer.look_up(payment_id) == (PaymentOutcome.ACCEPTED, None)
    for today, is_booked in ((TODAY, False), (day - timedelta(days=1), False), (day, True), (date(2027, 3, 1), True)):
        there = payer.on(today)
        assert there.read_moved() == ({payer.main.key: Decimal("-10.00")} if is_booked else {})
        assert [find_day(row) for row in there.list_new()] == ([day] if is_booked else [])
        outcome = PaymentOutcome.EXECUTED if is_booked else PaymentOutcome.ACCEPTED
        assert there.look_up(payment_id) == (outcome, None)
        assert there.pay(make_order(), payment_id=payment_id) == Done(Paid(outcome))


def test_a_bulk_is_one_debit_and_a_credit_for_each_payee(payer):
    savings = payer.accounts[1].product
    orders = [make_order("1.00"), make_order("2.50", savings.iban), make_order("0.01", savings.iban)]
    assert payer.pay(*orders) == EXECUTED
    assert payer.read_moved() == {payer.main.key: Decimal("-3.51"), savings.key: Decimal("2.51")}
    (debit,) = payer.list_new()
    assert (debit.amount, debit.gv_code) == (Decimal("-3.51"), "191")
    assert "3 Auftraege" in debit.purpose
    assert [row.amount for row in payer.list_new(savings.key)] == [Decimal("2.50"), Decimal("0.01")]


def test_one_rejected_payee_rejects_the_whole_bulk(payer):
    failed = payer.pay(make_order(), make_order(iban=find_iban(PayeeScenario.REFUSES)))
    assert failed.kind is FailureKind.REJECTED
    assert payer.read_moved() == {}


# Both sides


@pytest.mark.parametrize("has_been_fetched", [True, False])
def test_the_payee_sees_the_payment_if_the_bank_knows_it(payer, has_been_fetched):
    """Another login of the same user; before the bank has ever shown it, the money goes to nobody it knows."""
    payee = payer.as_login(f"test_partial+{uuid4().hex}")
    if has_been_fetched:
        payee.fetch()
    order = make_order("3.00", payee.main.iban, end_to_end_id="E2E", purpose_code="SALA", ultimate_debtor="Firma X")
    assert payer.pay(order) == EXECUTED
    assert payee.read_moved() == ({payee.main.key: Decimal("3.00")} if has_been_fetched else {})
    if has_been_fetched:
        (row,) = payee.list_new()
        assert (row.amount, row.gv_code, row.purpose) == (Decimal("3.00"), "153", "EREF+E2E SVWZ+Rechnung 4711")
        assert (row.counterparty_name, row.counterparty_iban) == (payer.main.holder, payer.main.iban)
        assert row.ultimate_counterparty == "Firma X"
        assert clean_transaction(row) == row


def test_somebody_elses_account_gets_the_money_once(settings, payer):
    """Others who use the same login have the same IBAN: the first that the bank has seen is the payee."""
    login = f"test_partial+{uuid4().hex}"
    payees = [Payer(settings.database_url, login) for _ in range(3)]
    for payee in payees:
        payee.fetch()
    assert payer.pay(make_order("3.00", payees[0].main.iban)) == EXECUTED
    assert [payee.read_moved() for payee in payees] == [{payees[0].main.key: Decimal("3.00")}, {}, {}]


def test_ones_own_account_comes_first(settings):
    login = f"test_partial+{uuid4().hex}"
    first, second = Payer(settings.database_url, login), Payer(settings.database_url, login)
    first.fetch()
    sender = second.as_login(f"test_slow+{uuid4().hex}")
    second.fetch()
    assert sender.pay(make_order("3.00", second.main.iban)) == EXECUTED
    assert (first.read_moved(), second.read_moved()) == ({}, {second.main.key: Decimal("3.00")})
    savings = second.accounts[1].product
    assert second.pay(make_order("1.00", savings.iban)) == EXECUTED
    assert first.read_moved() == {}
    assert second.read_moved() == {second.main.key: Decimal("2.00"), savings.key: Decimal("1.00")}


def test_users_with_the_same_login_do_not_see_each_others_payments(settings):
    first, second = Payer(settings.database_url, "demo1"), Payer(settings.database_url, "demo1")
    payment_id = uuid4()
    assert first.pay(make_order(), payment_id=payment_id) == EXECUTED
    assert (second.read_moved(), second.list_new()) == ({}, [])
    assert second.pay(make_order("5.00"), payment_id=payment_id) == EXECUTED, "an id is the payer's own"
    assert first.read_moved() == {first.main.key: Decimal("-10.00")}
    assert second.read_moved() == {first.main.key: Decimal("-5.00")}


def test_every_pocket_and_contract_follows_its_balance(settings):
    payer = Payer(settings.database_url, "demo1")
    before, _ = payer.fetch()
    pockets = next(product for product in before.values() if product.balances)
    home = next(product for product in before.values() if product.home_savings)
    assert payer.pay(make_order("30.00", home.iban), product_key=pockets.key) == EXECUTED
    after, _ = payer.fetch()
    euros = {balance.currency: balance.balance for balance in after[pockets.key].balances}
    assert euros["EUR"] == after[pockets.key].balance == pockets.balance - 30
    assert euros["USD"] == next(balance.balance for balance in pockets.balances if balance.currency == "USD")
    assert after[home.key].home_savings.savings_progress > home.home_savings.savings_progress


# Funds


def test_an_account_pays_to_the_last_cent_of_its_overdraft_and_no_further(payer):
    funds = payer.main.balance + payer.main.overdraft_limit
    too_much = payer.pay(make_order(funds + Decimal("0.01")))
    assert (too_much.kind, too_much.is_outcome_unknown) == (FailureKind.NO_FUNDS, False)
    assert "reicht" in too_much.detail
    assert payer.pay(make_order(funds)) == EXECUTED
    assert payer.pay(make_order("0.01")).kind is FailureKind.NO_FUNDS
    shown, _ = payer.fetch()
    assert shown[payer.main.key].balance == -payer.main.overdraft_limit


def test_rejection_is_told_before_the_tan_if_preferred_and_after_it_if_not(payer):
    order = make_order("99999.00")
    early = payer.ask_tan(order, prefers_rejection=True)
    assert isinstance(early, Failed)
    assert early.kind is FailureKind.NO_FUNDS
    assert isinstance(payer.ask_tan(order), NeedTan)
    assert isinstance(payer.ask_tan(make_order(), prefers_rejection=True), NeedTan)


def test_a_paid_id_begun_again_says_so_at_once_though_the_money_is_gone(payer):
    payment_id, order = uuid4(), make_order(payer.main.balance + payer.main.overdraft_limit)
    assert payer.pay(order, payment_id=payment_id) == EXECUTED
    assert payer.ask_tan(order, payment_id=payment_id, prefers_rejection=True) == EXECUTED


def test_money_promised_for_later_cannot_be_spent_twice_nor_before_it_comes(payer):
    funds = payer.main.balance + payer.main.overdraft_limit
    later = TODAY + timedelta(days=9)
    assert payer.pay(make_order(funds - 5), execution_date=later) == ACCEPTED
    assert payer.pay(make_order("5.01"), prefers_rejection=True).kind is FailureKind.NO_FUNDS
    assert payer.pay(make_order("5.01")).kind is FailureKind.NO_FUNDS
    sender = payer.as_login(f"test_partial+{uuid4().hex}")
    assert sender.pay(make_order("1.00", payer.main.iban), execution_date=later) == ACCEPTED
    assert payer.pay(make_order("5.01")).kind is FailureKind.NO_FUNDS
    assert payer.pay(make_order("5.00")) == EXECUTED


def test_an_empty_account_can_pay_on_what_it_got(settings, payer):
    empty = payer.as_login(f"leer+{uuid4().hex}")
    assert empty.pay(make_order("1.00")).kind is FailureKind.NO_FUNDS
    assert payer.pay(make_order("20.00", empty.main.iban)) == EXECUTED
    assert empty.pay(make_order("20.00")) == EXECUTED
    assert empty.pay(make_order("0.01")).kind is FailureKind.NO_FUNDS


# What a bank refuses at once


@pytest.mark.parametrize(
    ("changes", "facts", "kind"),
    [
        ({}, {"product_key": "nothing like it"}, FailureKind.NOT_SUPPORTED),
        ({"currency": "USD"}, {}, FailureKind.NOT_SUPPORTED),
        ({"iban": "BR1500000000000010932840814P2"}, {"is_instant": True}, FailureKind.NOT_SUPPORTED),
        ({"amount": Decimal(0)}, {}, FailureKind.REJECTED),
        ({"amount": Decimal(-1)}, {}, FailureKind.REJECTED),
        ({"amount": Decimal("1.001")}, {}, FailureKind.REJECTED),
        ({"amount": Decimal("NaN")}, {}, FailureKind.REJECTED),
        ({}, {"execution_date": TODAY - timedelta(days=1)}, FailureKind.REJECTED),
    ],
)
def test_a_bad_order_is_refused_before_the_tan(payer, changes, facts, kind):
    failed = payer.ask_tan(replace(make_order(), **changes), **facts)
    assert isinstance(failed, Failed)
    assert failed.kind is kind
    assert failed.detail


def test_only_checking_accounts_pay(settings):
    payer = Payer(settings.database_url, "demo1")
    for account in payer.accounts:
        step = payer.ask_tan(make_order("1.00"), product_key=account.product.key)
        assert isinstance(step, NeedTan) == account.product.can_transfer
    assert isinstance(payer.ask_tan(make_order("1.00"), product_key=payer.main.iban), NeedTan), "an IBAN names it, too"


def test_several_orders_need_a_bulk(payer):
    assert payer.ask_tan(make_order(), make_order(), is_bulk=False).kind is FailureKind.REJECTED
    assert payer.begin(Pay(uuid4(), payer.main.key, ())).kind is FailureKind.REJECTED


# Confirmation


def test_the_tan_generator_shows_payee_and_amount(settings):
    challenge = Payer(settings.database_url, "test_chiptan").ask_tan(make_order("1234.50")).challenge
    assert challenge.hhd_uc == "31088813447310" + OUTSIDE[-10:] + "071234,50"
    assert "1.234,50 EUR" in challenge.instructions
    bulk = Payer(settings.database_url, "test_chiptan").ask_tan(make_order("1.00"), make_order("2.00")).challenge
    assert bulk.hhd_uc == "28088813447310" + "0000000002" + "043,00"


def test_the_bank_asks_about_a_payee_before_it_asks_for_a_tan(payer):
    order = make_order(iban=find_iban(PayeeScenario.NAME_IS_OTHER))
    assert isinstance(payer.begin(Pay(uuid4(), payer.main.key, (order,))), NeedPayeeDecision)
    assert payer.begin(Pay(uuid4(), payer.main.key, (order,), is_payee_accepted=True)).methods[0].name == "mockTAN"
    assert payer.pay(order, is_payee_accepted=False) == EXECUTED


def test_books_out_of_reach_make_the_outcome_unknown_once_the_order_has_left(payer):
    question = payer.ask_tan(make_order())
    away = replace(payer, url=Secret("postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2"))
    lost = away.resume(question.state, Tan(Secret("24")))
    assert lost == Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True)


@pytest.mark.parametrize("table", ["demo_bank_payments", "demo_bank_bookings", "demo_bank_arrivals"])
@pytest.mark.parametrize("statement", ["update {} set payment_id = payment_id", "delete from {}"])
def test_the_books_are_append_only(payer, owner, table, statement):
    assert payer.pay(make_order()) == EXECUTED
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        owner.execute(statement.format(table))


def test_the_books_show_no_login(payer, owner):
    named = payer.as_login(f"test_partial+{uuid4().hex}")
    assert named.pay(make_order()) == EXECUTED
    for table in ("accounts", "payments", "bookings", "arrivals"):
        rows = owner.execute(f"select t::text from demo_bank_{table} t").fetchall()
        assert rows
        assert not [row for (row,) in rows if named.login in row]
