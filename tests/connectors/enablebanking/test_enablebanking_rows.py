"""Accounts and bookings: windows, pages, limits, signs, ids and currencies."""

from datetime import date
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from scripted_service import IBAN, OTHER_UID, UID, list_answers, refuse, show_account, show_booking

from enablebanking_talk import ADDRESS, DEMO_BANK, ENABLEBANKING_PROVIDER, TODAY
from kontor.connectors.base import Continue, Failed, FailureKind, Fetch, Problem, ProblemKind
from kontor.connectors.traces.recording import Recorder
from kontor.domain.accesses import History
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import clean_transaction, find_day

LISTED = f"GET /accounts/{UID}/transactions"
PERIOD = refuse("WRONG_TRANSACTIONS_PERIOD", "Too long ago", 422)


def read(play: Any, *bookings: dict[str, Any], bank: Any = DEMO_BANK, **answers: Any) -> Any:
    """The result of a first fetch of one account with these bookings."""
    stage = play(list_answers(bookings=bookings) | answers)
    dialogue = stage.talk(bank)
    return dialogue.finish(stage.come_back(dialogue)).result


def read_row(play: Any, **facts: Any) -> Any:
    result = read(play, show_booking(**facts))
    assert result.problems == ()
    return result.transactions[IBAN][0]


# Which days are asked for


def ask(play: Any, job: Fetch, planned: Any, **context: Any) -> tuple[list[dict[str, str]], Any]:
    stage = play(list_answers() | {LISTED: planned})
    dialogue = stage.talk()
    step = dialogue.resume(stage.come_back(dialogue, job), Continue(), **context)
    return [seen.query for seen in stage.service.list_seen("/transactions")], step


NOTHING: dict[str, Any] = {"transactions": [], "continuation_key": None}
RECENT = {"date_from": "2026-08-15"}


def test_the_first_time_the_longest_period_is_asked_for_that_the_bank_allows(play):
    asked, _ = ask(play, Fetch(), NOTHING)
    assert asked == [{"strategy": "longest"}]


def test_a_bank_that_tells_less_is_asked_for_less(play):
    asked, step = ask(play, Fetch(), [PERIOD, PERIOD, NOTHING])
    assert asked == [{"strategy": "longest"}, RECENT, {}]
    assert step.result.transactions == {IBAN: ()}
    since = Fetch(since={IBAN: date(2026, 1, 1)})
    asked, _ = ask(play, since, [PERIOD, NOTHING])
    assert asked == [{"date_from": "2026-01-01"}, RECENT]


def test_a_bank_that_tells_nothing_of_any_time_is_a_problem_of_the_account(play):
    asked, step = ask(play, Fetch(), PERIOD)
    assert len(asked) == 3
    assert step.result.problems == (Problem(ProblemKind.TRANSACTIONS, IBAN, "Too long ago"),)


def test_without_the_customer_and_for_a_short_history_ninety_days_are_asked_for(play):
    for job, context in ((Fetch(history=History.RECENT), {}), (Fetch(), {"customer_ip": None})):
        asked, _ = ask(play, job, NOTHING, **context)
        assert asked == [RECENT]


def test_no_day_is_asked_for_that_may_not_have_begun_in_utc(play):
    asked, _ = ask(play, Fetch(since={IBAN: TODAY}), NOTHING)
    assert asked == [{"date_from": "2026-11-12"}]


# Pages and limits


def test_pages_are_read_to_the_end_also_after_an_empty_one(play):
    pages = [
        {"transactions": [show_booking("1.00")], "continuation_key": "a/b=1"},
        {"transactions": [], "continuation_key": "c"},
        {"transactions": [show_booking("2.00")]},
    ]
    asked, step = ask(play, Fetch(), pages)
    longest = {"strategy": "longest"}
    assert asked == [longest, longest | {"continuation_key": "a/b=1"}, longest | {"continuation_key": "c"}]
    assert [row.amount for row in step.result.transactions[IBAN]] == [Decimal("-1.00"), Decimal("-2.00")]


def test_a_list_that_goes_round_in_circles_is_a_problem(play):
    _, step = ask(play, Fetch(), {"transactions": [], "continuation_key": "again"})
    assert step.result.problems == (Problem(ProblemKind.TRANSACTIONS, IBAN, "the bank's list does not end"),)


def test_a_row_that_is_sent_on_two_pages_counts_once(play):
    row = show_booking(entry_reference="77")
    _, step = ask(play, Fetch(), [{"transactions": [row], "continuation_key": "2"}, {"transactions": [row]}])
    assert [booking.bank_id for booking in step.result.transactions[IBAN]] == ["77"]


def test_after_a_rate_limit_the_bank_is_not_asked_about_other_accounts(play):
    other = show_account(OTHER_UID, identification_hash="hash-9", account_id={"iban": "DE02120300000000202051"})
    stage = play(
        list_answers([show_account(), other]) | {LISTED: refuse("ASPSP_RATE_LIMIT_EXCEEDED", "Tomorrow again", 429)}
    )
    dialogue = stage.talk()
    result = dialogue.finish(stage.come_back(dialogue)).result
    assert result.transactions == {}
    assert [(problem.product_key, problem.detail) for problem in result.problems] == [
        (IBAN, "Tomorrow again"),
        ("DE02120300000000202051", "Tomorrow again"),
    ]
    assert len(stage.service.list_seen("/transactions")) == 1


def test_an_account_that_fails_does_not_hide_the_others(play):
    other = show_account(OTHER_UID, identification_hash="hash-9", account_id={"iban": "DE02120300000000202051"})
    failing = {
        LISTED: refuse("ASPSP_ERROR", "The bank reports an error", detail="Fehler 9999"),
        f"GET /accounts/{UID}/balances": refuse("ASPSP_ACCOUNT_NOT_ACCESSIBLE", "Not this one", 403),
    }
    stage = play(list_answers([show_account(), other]) | failing)
    dialogue = stage.talk()
    progress = stage.come_back(dialogue)
    assert [product.balance for product in progress.partial.products] == [None, Decimal("100.00")]
    result = dialogue.finish(progress).result
    assert result.transactions == {"DE02120300000000202051": ()}
    assert set(result.problems) == {
        Problem(ProblemKind.PRODUCT, IBAN, "Not this one"),
        Problem(ProblemKind.TRANSACTIONS, IBAN, "The bank reports an error: Fehler 9999"),
    }


def test_a_session_that_ends_between_two_accounts_ends_the_fetch(play):
    _, step = ask(play, Fetch(), refuse("EXPIRED_SESSION", "It is over", 401))
    assert step == Failed(FailureKind.EXPIRED, "It is over")


def test_only_selected_accounts_are_asked_about(play):
    other = show_account(OTHER_UID, identification_hash="hash-9", account_id={"iban": "DE02120300000000202051"})
    stage = play(list_answers([show_account(), other]))
    dialogue = stage.talk()
    dialogue.finish(stage.come_back(dialogue, Fetch(selected=(IBAN,))))
    assert {seen.path.split("/")[2] for seen in stage.service.seen if seen.path.startswith("/accounts")} == {UID}


@pytest.mark.parametrize(
    ("required", "is_told"), [((), True), (("Psu-Ip-Address",), True), (("Psu-Ip-Address", "Psu-User-Agent"), False)]
)
def test_the_customers_presence_is_told_where_all_that_the_bank_asks_for_is_known(play, required, is_told):
    """Some headers without the others would be refused."""
    bank = msgspec.structs.replace(DEMO_BANK, required_psu_headers=required)
    stage = play(list_answers())
    dialogue = stage.talk(bank)
    kept = dialogue.finish(stage.come_back(dialogue)).connector_state
    for seen in stage.service.list_seen("/balances") + stage.service.list_seen("/transactions"):
        assert seen.headers.get("psu-ip-address") == (ADDRESS if is_told else None)
    stage.service.seen.clear()
    dialogue.finish(dialogue.begin(Fetch(), kept, customer_ip=None), customer_ip=None)
    assert not [seen for seen in stage.service.seen if "psu-ip-address" in seen.headers]


# Rows


def test_a_debit_names_who_was_paid(play):
    row = read_row(play, creditor_account={"iban": "DE02120300000000202051"}, creditor_agent={"bic_fi": "BYLADEM1001"})
    assert (row.amount, row.currency) == (Decimal("-12.34"), "EUR")
    assert (row.counterparty_name, row.counterparty_iban, row.counterparty_bic) == (
        "Supermarkt",
        "DE02120300000000202051",
        "BYLADEM1001",
    )
    assert (find_day(row), row.purpose, row.is_pending) == (date(2026, 11, 10), "Einkauf", False)
    assert clean_transaction(row) == row


def test_a_credit_names_who_paid(play):
    row = read_row(
        play,
        credit_debit_indicator="CRDT",
        creditor={"name": "Erika Muster"},
        debtor={"name": "Arbeitgeber"},
        debtor_account={"other": {"identification": "4711", "scheme_name": "BBAN"}},
    )
    assert (row.amount, row.counterparty_name, row.counterparty_iban) == (Decimal("12.34"), "Arbeitgeber", "4711")


def test_a_debit_may_bear_a_sign_and_a_credit_may_not(play):
    assert read_row(play, amount="-12.34").amount == Decimal("-12.34")
    result = read(play, show_booking("-5.00", credit_debit_indicator="CRDT"), show_booking("1.00"))
    assert [row.amount for row in result.transactions[IBAN]] == [Decimal("-1.00")]
    assert result.problems == (Problem(ProblemKind.TRANSACTIONS, IBAN, count=1),)


@pytest.mark.parametrize(
    ("status", "booking_date", "is_pending"),
    [
        ("BOOK", "2026-11-10", False),
        ("PDNG", None, True),
        ("HOLD", None, True),
        ("OTHR", None, True),
        ("OTHR", "2026-11-10", False),
    ],
)
def test_the_status_tells_what_is_booked(play, status, booking_date, is_pending):
    row = read_row(play, status=status, booking_date=booking_date, entry_reference="77")
    assert row.is_pending is is_pending
    assert row.bank_id == (None if is_pending else "77"), "a reference may change when a row is booked"


def test_what_moves_no_money_is_no_booking(play):
    rows = [show_booking(status=status) for status in ("CNCL", "RJCT", "SCHD")]
    result = read(play, *rows)
    assert (result.transactions, result.problems) == ({IBAN: ()}, ())


def test_a_row_with_no_other_day_has_that_of_the_transaction(play):
    """Seen of card payments: https://github.com/securo-finance/securo/issues/753."""
    row = read_row(play, booking_date=None, value_date=None, transaction_date="2026-11-09", status="PDNG")
    assert find_day(row) == date(2026, 11, 9)


def test_rows_that_cannot_be_read_are_counted_and_hide_no_others(play):
    odd = [
        show_booking("1.00", booking_date=None, value_date=None),
        show_booking("NaN"),
        show_booking(credit_debit_indicator="BOTH"),
        show_booking(transaction_amount={"currency": "Euro", "amount": "1"}),
        {"status": "BOOK"},
        "a text",
    ]
    result = read(play, *odd, show_booking("2.00"))
    assert [row.amount for row in result.transactions[IBAN]] == [Decimal("-2.00")]
    assert result.problems == (Problem(ProblemKind.TRANSACTIONS, IBAN, count=len(odd)),)


@pytest.mark.parametrize("reference", [None, "", "0", "000", "-", "NOTPROVIDED", "nonref"])
def test_a_reference_that_stands_for_none_identifies_nothing(play, reference):
    """Seen at Enable Banking: https://github.com/securo-finance/securo/issues/753."""
    first, second = show_booking("1.00", entry_reference=reference), show_booking("2.00", entry_reference=reference)
    rows = read(play, first, second).transactions[IBAN]
    assert [row.bank_id for row in rows] == [None, None]


def test_a_reference_of_several_bookings_identifies_none_of_them(play):
    same = [show_booking(amount, entry_reference="77") for amount in ("1.00", "2.00")]
    rows = read(play, *same, show_booking("3.00", entry_reference="78")).transactions[IBAN]
    assert [row.bank_id for row in rows] == [None, None, "78"]


def test_the_purpose_is_what_the_bank_sent(play):
    lines = ["Rechnung 4711 " * 10, "und mehr", ""]
    assert len(lines[0]) == 140
    row = read_row(play, remittance_information=lines, reference_number="RF18539007547034")
    assert row.purpose == f"{lines[0]}und mehr RF18539007547034"
    assert read_row(play, remittance_information=["RF18539007547034"], reference_number="RF18539007547034").purpose == (
        "RF18539007547034"
    )
    assert read_row(play, remittance_information=None).purpose is None


def test_codes_of_german_banks_are_those_of_the_german_banking_industry(play):
    code = {"description": "Dauerauftrag", "code": "NTRF+117+9248", "sub_code": None}
    row = read_row(play, bank_transaction_code=code)
    assert (row.booking_text, row.gv_code) == ("Dauerauftrag", "117")
    abroad = msgspec.structs.replace(DEMO_BANK, country="SE")
    row = read(play, show_booking(bank_transaction_code=code | {"code": "117"}), bank=abroad).transactions[IBAN][0]
    assert (row.booking_text, row.gv_code) == ("Dauerauftrag", None)


# Accounts


def show_headers(play: Any, *accounts: dict[str, Any]) -> Any:
    stage = play(list_answers(list(accounts)))
    return stage.come_back(stage.talk()).partial.products


def test_an_account_is_shown_with_what_the_bank_tells(play):
    (product,) = show_headers(play, show_account(credit_limit={"currency": "EUR", "amount": "500.00"}))
    assert (product.key, product.iban, product.name, product.holder) == (IBAN, IBAN, "Girokonto", "Erika Muster")
    assert (product.category, product.bic, product.institution) == (
        ProductCategory.CHECKING,
        "COBADEFFXXX",
        "Demo-Bank",
    )
    assert (product.account_number, product.bank_code) == ("0532013000", "37040044")
    assert (product.balance, product.overdraft_limit) == (Decimal("100.00"), Decimal("500.00"))
    assert not product.can_transfer


def test_what_can_be_spent_is_no_balance(play):
    money = {"currency": "EUR", "amount": "900.00"}
    told = {"balances": [{"name": "", "balance_amount": money, "balance_type": "ITAV"}]}
    stage = play(list_answers() | {f"GET /accounts/{UID}/balances": told})
    (product,) = stage.come_back(stage.talk()).partial.products
    assert product.balance is None


def test_a_card_is_not_the_account_whose_iban_it_bears(play):
    card = show_account(
        OTHER_UID, identification_hash="hash-card", cash_account_type="CARD", product="Visa Debit", currency="EUR"
    )
    masked = show_account(
        "3f0f9b0e-1d3c-4c57-9a53-0e6f7f0a0004",
        identification_hash="hash-credit",
        cash_account_type="CARD",
        details="Mastercard",
        account_id={"iban": None, "other": {"identification": "5236XXXXXXXX1234", "scheme_name": "CPAN"}},
        credit_limit={"currency": "EUR", "amount": "2000.00"},
    )
    giro, debit, credit = show_headers(play, show_account(), card, masked)
    assert [product.key for product in (giro, debit, credit)] == [IBAN, "hash-card", "hash-credit"]
    assert debit.category is ProductCategory.OTHER_CARD
    assert (credit.category, credit.account_number) == (ProductCategory.CREDIT_CARD, "5236XXXXXXXX1234")
    assert credit.credit_limit == Decimal("2000.00")


def test_accounts_of_one_number_in_several_currencies_are_one_product(play):
    dollars = show_account(OTHER_UID, currency="USD")
    bookings = {
        UID: [show_booking("1.00")],
        OTHER_UID: [show_booking(transaction_amount={"currency": "USD", "amount": "2"})],
    }
    stage = play(list_answers([show_account(), dollars], bookings))
    dialogue = stage.talk()
    progress = stage.come_back(dialogue)
    (product,) = progress.partial.products
    assert (product.key, product.currency) == (IBAN, "EUR")
    assert {pocket.currency: pocket.balance for pocket in product.balances} == {"EUR": 100, "USD": 100}
    rows = dialogue.finish(progress).result.transactions[IBAN]
    assert {(row.currency, row.amount) for row in rows} == {("EUR", Decimal("-1.00")), ("USD", Decimal(-2))}


def test_an_account_of_which_nothing_can_be_read_is_shown(play):
    stage = play(list_answers([show_account(None)]))
    dialogue = stage.talk()
    progress = stage.come_back(dialogue)
    assert [product.key for product in progress.partial.products] == [IBAN]
    assert dialogue.finish(progress).result.problems == (Problem(ProblemKind.TRANSACTIONS, IBAN),)


# Traces


def test_a_trace_shows_neither_tokens_nor_codes_nor_persons(play):
    stage = play(list_answers(bookings=[show_booking(remittance_information=["Miete Musterweg 7"])]))
    dialogue = stage.talk()
    dialogue.finish(stage.come_back(dialogue))
    recorder = Recorder(ENABLEBANKING_PROVIDER, TODAY, ())
    tokens = set()
    for exchange in dialogue.exchanges:
        tokens.add(exchange.headers["authorization"].split()[1])
        recorder.record(exchange)
    trace = str(recorder.make_trace(Failed(FailureKind.CANCELLED)))
    for hidden in (*tokens, "c0de", "Erika", "Musterweg", IBAN, "12.34", ADDRESS, UID):
        assert hidden not in trace
    assert "/transactions" in trace
    assert "credit_debit_indicator" in trace
    assert "2026-11-10" in trace
