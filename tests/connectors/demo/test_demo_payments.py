"""What payments do to the demo bank's books, seen by fetching afterwards."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import psycopg
import pytest
from paying_desk import OUTSIDE, TODAY, Desk, find_iban, make_order

from kontor.connectors.base import Done, Failed, FailureKind, NeedPayeeDecision, NeedTan, Paid, Pay, Tan
from kontor.connectors.demo.payees import Conduct
from kontor.domain.payments import PaymentOutcome
from kontor.domain.secrets import Secret
from kontor.domain.transactions import clean_transaction, find_day

EXECUTED = Done(Paid(PaymentOutcome.EXECUTED))
ACCEPTED = Done(Paid(PaymentOutcome.ACCEPTED))


@pytest.fixture
def desk(settings):
    return Desk(settings.database_url)


def test_a_payment_moves_the_balance_and_stands_on_the_statement(desk):
    order = make_order("12.34", end_to_end_id="RE-4711", bic="COBADEFFXXX", ultimate_creditor="Muster Kinder")
    assert desk.pay(order) == EXECUTED
    assert desk.read_moved() == {desk.main.key: Decimal("-12.34")}
    (row,) = desk.list_new()
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


def test_the_statement_stays_in_order_and_ids_stay_the_same(desk):
    for amount in ("1.00", "2.00", "2.00"):
        assert desk.pay(make_order(amount)) == EXECUTED
    first, later = desk.list_new(), desk.on(TODAY + timedelta(days=40)).list_new()
    assert first == later
    assert len({one.bank_id for one in first}) == 3
    _, rows = desk.on(TODAY + timedelta(days=3)).fetch()
    statement = rows[desk.main.key]
    assert len({one.bank_id for one in statement if one.bank_id}) == len([one for one in statement if one.bank_id])
    finals = [find_day(one) for one in statement if not one.is_pending]
    assert finals == sorted(finals)
    assert [one.is_pending for one in statement] == sorted(one.is_pending for one in statement)


@pytest.mark.parametrize(
    ("facts", "iban", "text", "gv_code"),
    [
        ({}, OUTSIDE, "Online-Überweisung", "177"),
        ({"is_instant": True}, OUTSIDE, "Echtzeitüberweisung", "118"),
        ({}, "BR1500000000000010932840814P2", "Auslandsüberweisung", "201"),
    ],
)
def test_the_kind_of_payment_shows_in_its_wording(desk, facts, iban, text, gv_code):
    assert desk.pay(make_order(iban=iban), **facts) == EXECUTED
    (row,) = desk.list_new()
    assert (row.booking_text, row.gv_code) == (text, gv_code)


def test_a_later_payment_is_booked_on_its_day(desk):
    payment_id, day = uuid4(), TODAY + timedelta(days=5)
    assert desk.pay(make_order(), payment_id=payment_id, execution_date=day) == ACCEPTED
    assert desk.look_up(payment_id) == (PaymentOutcome.ACCEPTED, None)
    for today, is_booked in ((TODAY, False), (day - timedelta(days=1), False), (day, True), (date(2027, 3, 1), True)):
        there = desk.on(today)
        assert there.read_moved() == ({desk.main.key: Decimal("-10.00")} if is_booked else {})
        assert [find_day(one) for one in there.list_new()] == ([day] if is_booked else [])
        outcome = PaymentOutcome.EXECUTED if is_booked else PaymentOutcome.ACCEPTED
        assert there.look_up(payment_id) == (outcome, None)
        assert there.pay(make_order(), payment_id=payment_id) == Done(Paid(outcome))


def test_a_bulk_is_one_debit_and_a_credit_for_each_payee(desk):
    savings = desk.accounts[1].product
    orders = [make_order("1.00"), make_order("2.50", savings.iban), make_order("0.01", savings.iban)]
    assert desk.pay(*orders) == EXECUTED
    assert desk.read_moved() == {desk.main.key: Decimal("-3.51"), savings.key: Decimal("2.51")}
    (debit,) = desk.list_new()
    assert (debit.amount, debit.gv_code) == (Decimal("-3.51"), "191")
    assert "3 Auftraege" in debit.purpose
    assert [one.amount for one in desk.list_new(savings.key)] == [Decimal("2.50"), Decimal("0.01")]


def test_one_rejected_payee_rejects_the_whole_bulk(desk):
    failed = desk.pay(make_order(), make_order(iban=find_iban(Conduct.REFUSES)))
    assert failed.kind is FailureKind.REJECTED
    assert desk.read_moved() == {}


# Both sides


@pytest.mark.parametrize("has_been_fetched", [True, False])
def test_the_payee_sees_the_payment_if_the_bank_knows_it(desk, has_been_fetched):
    """Another login of the same user; before the bank has ever shown it, the money goes to nobody it knows."""
    payee = desk.as_login(f"test_partial+{uuid4().hex}")
    if has_been_fetched:
        payee.fetch()
    order = make_order("3.00", payee.main.iban, end_to_end_id="E2E", purpose_code="SALA", ultimate_debtor="Firma X")
    assert desk.pay(order) == EXECUTED
    assert payee.read_moved() == ({payee.main.key: Decimal("3.00")} if has_been_fetched else {})
    if has_been_fetched:
        (row,) = payee.list_new()
        assert (row.amount, row.gv_code, row.purpose) == (Decimal("3.00"), "153", "EREF+E2E SVWZ+Rechnung 4711")
        assert (row.counterparty_name, row.counterparty_iban) == (desk.main.holder, desk.main.iban)
        assert row.ultimate_counterparty == "Firma X"
        assert clean_transaction(row) == row


def test_somebody_elses_account_gets_the_money_once(settings, desk):
    """Others who use the same login have the same IBAN: the first that the bank has seen is the payee."""
    login = f"test_partial+{uuid4().hex}"
    payees = [Desk(settings.database_url, login) for _ in range(3)]
    for one in payees:
        one.fetch()
    assert desk.pay(make_order("3.00", payees[0].main.iban)) == EXECUTED
    assert [one.read_moved() for one in payees] == [{payees[0].main.key: Decimal("3.00")}, {}, {}]


def test_ones_own_account_comes_first(settings):
    login = f"test_partial+{uuid4().hex}"
    first, second = Desk(settings.database_url, login), Desk(settings.database_url, login)
    first.fetch()
    payer = second.as_login(f"test_slow+{uuid4().hex}")
    second.fetch()
    assert payer.pay(make_order("3.00", second.main.iban)) == EXECUTED
    assert (first.read_moved(), second.read_moved()) == ({}, {second.main.key: Decimal("3.00")})
    savings = second.accounts[1].product
    assert second.pay(make_order("1.00", savings.iban)) == EXECUTED
    assert first.read_moved() == {}
    assert second.read_moved() == {second.main.key: Decimal("2.00"), savings.key: Decimal("1.00")}


def test_users_with_the_same_login_do_not_see_each_others_payments(settings):
    one, other = Desk(settings.database_url, "demo1"), Desk(settings.database_url, "demo1")
    payment_id = uuid4()
    assert one.pay(make_order(), payment_id=payment_id) == EXECUTED
    assert (other.read_moved(), other.list_new()) == ({}, [])
    assert other.pay(make_order("5.00"), payment_id=payment_id) == EXECUTED, "an id is the payer's own"
    assert one.read_moved() == {one.main.key: Decimal("-10.00")}
    assert other.read_moved() == {one.main.key: Decimal("-5.00")}


def test_every_pocket_and_contract_follows_its_balance(settings):
    desk = Desk(settings.database_url, "demo1")
    before, _ = desk.fetch()
    pockets = next(one for one in before.values() if one.balances)
    home = next(one for one in before.values() if one.home_savings)
    assert desk.pay(make_order("30.00", home.iban), product_key=pockets.key) == EXECUTED
    after, _ = desk.fetch()
    euros = {one.currency: one.balance for one in after[pockets.key].balances}
    assert euros["EUR"] == after[pockets.key].balance == pockets.balance - 30
    assert euros["USD"] == next(one.balance for one in pockets.balances if one.currency == "USD")
    assert after[home.key].home_savings.savings_progress > home.home_savings.savings_progress


# Funds


def test_an_account_pays_to_the_last_cent_of_its_overdraft_and_no_further(desk):
    funds = desk.main.balance + desk.main.overdraft_limit
    too_much = desk.pay(make_order(funds + Decimal("0.01")))
    assert (too_much.kind, too_much.is_outcome_unknown) == (FailureKind.NO_FUNDS, False)
    assert "reicht" in too_much.detail
    assert desk.pay(make_order(funds)) == EXECUTED
    assert desk.pay(make_order("0.01")).kind is FailureKind.NO_FUNDS
    shown, _ = desk.fetch()
    assert shown[desk.main.key].balance == -desk.main.overdraft_limit


def test_rejection_is_told_before_the_tan_if_preferred_and_after_it_if_not(desk):
    order = make_order("99999.00")
    early = desk.ask_tan(order, prefers_rejection=True)
    assert isinstance(early, Failed)
    assert early.kind is FailureKind.NO_FUNDS
    assert isinstance(desk.ask_tan(order), NeedTan)
    assert isinstance(desk.ask_tan(make_order(), prefers_rejection=True), NeedTan)


def test_a_paid_id_begun_again_says_so_at_once_though_the_money_is_gone(desk):
    payment_id, order = uuid4(), make_order(desk.main.balance + desk.main.overdraft_limit)
    assert desk.pay(order, payment_id=payment_id) == EXECUTED
    assert desk.ask_tan(order, payment_id=payment_id, prefers_rejection=True) == EXECUTED


def test_money_promised_for_later_cannot_be_spent_twice_nor_before_it_comes(desk):
    funds = desk.main.balance + desk.main.overdraft_limit
    later = TODAY + timedelta(days=9)
    assert desk.pay(make_order(funds - 5), execution_date=later) == ACCEPTED
    assert desk.pay(make_order("5.01"), prefers_rejection=True).kind is FailureKind.NO_FUNDS
    assert desk.pay(make_order("5.01")).kind is FailureKind.NO_FUNDS
    payer = desk.as_login(f"test_partial+{uuid4().hex}")
    assert payer.pay(make_order("1.00", desk.main.iban), execution_date=later) == ACCEPTED
    assert desk.pay(make_order("5.01")).kind is FailureKind.NO_FUNDS
    assert desk.pay(make_order("5.00")) == EXECUTED


def test_an_empty_account_can_pay_on_what_it_got(settings, desk):
    empty = desk.as_login(f"leer+{uuid4().hex}")
    assert empty.pay(make_order("1.00")).kind is FailureKind.NO_FUNDS
    assert desk.pay(make_order("20.00", empty.main.iban)) == EXECUTED
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
def test_a_bad_order_is_refused_before_the_tan(desk, changes, facts, kind):
    failed = desk.ask_tan(replace(make_order(), **changes), **facts)
    assert isinstance(failed, Failed)
    assert failed.kind is kind
    assert failed.detail


def test_only_checking_accounts_pay(settings):
    desk = Desk(settings.database_url, "demo1")
    for account in desk.accounts:
        step = desk.ask_tan(make_order("1.00"), product_key=account.product.key)
        assert isinstance(step, NeedTan) == account.product.can_transfer
    assert isinstance(desk.ask_tan(make_order("1.00"), product_key=desk.main.iban), NeedTan), "an IBAN names it, too"


def test_several_orders_need_a_bulk(desk):
    assert desk.ask_tan(make_order(), make_order(), is_bulk=False).kind is FailureKind.REJECTED
    assert desk.begin(Pay(uuid4(), desk.main.key, ())).kind is FailureKind.REJECTED


# Confirmation


def test_the_tan_generator_shows_payee_and_amount(settings):
    challenge = Desk(settings.database_url, "test_chiptan").ask_tan(make_order("1234.50")).challenge
    assert challenge.hhd_uc == "31088813447310" + OUTSIDE[-10:] + "071234,50"
    assert "1.234,50 EUR" in challenge.instructions
    bulk = Desk(settings.database_url, "test_chiptan").ask_tan(make_order("1.00"), make_order("2.00")).challenge
    assert bulk.hhd_uc == "28088813447310" + "0000000002" + "043,00"


def test_the_bank_asks_about_a_payee_before_it_asks_for_a_tan(desk):
    order = make_order(iban=find_iban(Conduct.NAME_IS_OTHER))
    assert isinstance(desk.begin(Pay(uuid4(), desk.main.key, (order,))), NeedPayeeDecision)
    assert desk.begin(Pay(uuid4(), desk.main.key, (order,), is_payee_accepted=True)).methods[0].name == "mockTAN"
    assert desk.pay(order, is_payee_accepted=False) == EXECUTED


def test_books_out_of_reach_make_the_outcome_unknown_once_the_order_has_left(desk):
    question = desk.ask_tan(make_order())
    away = replace(desk, url=Secret("postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=2"))
    lost = away.resume(question.state, Tan(Secret("24")))
    assert lost == Failed(FailureKind.UNREACHABLE, is_outcome_unknown=True)


@pytest.mark.parametrize("table", ["demo_bank_payments", "demo_bank_bookings", "demo_bank_arrivals"])
@pytest.mark.parametrize("statement", ["update {} set payment_id = payment_id", "delete from {}"])
def test_the_books_are_append_only(desk, owner, table, statement):
    assert desk.pay(make_order()) == EXECUTED
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        owner.execute(statement.format(table))


def test_the_books_show_no_login(desk, owner):
    named = desk.as_login(f"test_partial+{uuid4().hex}")
    assert named.pay(make_order()) == EXECUTED
    for table in ("accounts", "payments", "bookings", "arrivals"):
        rows = owner.execute(f"select t::text from demo_bank_{table} t").fetchall()
        assert rows
        assert not [row for (row,) in rows if named.login in row]
