"""Dialects of bank families: each against the demo bank that speaks it, and against answers in the recorded shape.

The shapes are those of `adorsys/xs2a-adapter` (recorded answers of test banks); all data here is invented.
"""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from bad_banks import ACCOUNT, ROW, BadBank

from asgi_servers import serve_app
from kontor.cli.demobank import serving_xs2a
from kontor.connectors.base import Continue, Done, NeedRedirect, Problem, ProblemKind, Progress, Returned, Tan
from kontor.connectors.demo.people import person_for
from kontor.connectors.profiles import load_shipped
from kontor.connectors.xs2a import Xs2aConnector, read_profile
from kontor.connectors.xs2a.banks import list_dialects
from kontor.connectors.xs2a.rows import CHANNEL
from kontor.demobank.xs2a.dialects import DIALECTS
from kontor.domain.errors import InvalidError
from kontor.domain.secrets import Secret
from kontor.domain.transactions import find_day, mark_channel
from xs2a_dialogues import TODAY, Dialogue, new_login, running_xs2a_bank

BY_TAN = [Tan(Secret("24"))]
OWN, OTHER = "DE89370400440532013000", "DE02120300000000202051"
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "demo-bank.md"


def list_accounts(login):
    return [account for account in person_for(login, TODAY).accounts if account.product.iban]


def fetch(settings, dialect, kind="demo1"):
    """Over HTTP, from the demo bank that speaks the dialect, with the profile that names it."""
    with running_xs2a_bank(settings, page_size=500, dialect=DIALECTS[dialect]) as bank:
        connector = bank.make_connector(dialect=dialect, client_id="PSDDE-BAFIN-000001")
        dialogue = Dialogue(connector, new_login(kind))
        question = dialogue.begin()
        answer = BY_TAN[0]
        if isinstance(question, NeedRedirect):
            answer = Returned(bank.authorise(question.url, dialogue.login))
        progress = dialogue.resume(question, answer)
        assert isinstance(progress, Progress), progress
        done = dialogue.resume(progress, Continue())
    assert isinstance(done, Done)
    assert done.result.problems == ()
    return dialogue.login, progress.partial.products, done.result


def test_connector_and_demo_bank_know_the_same_dialects_and_the_guide_lists_them():
    assert set(list_dialects(load_shipped())) == set(DIALECTS)
    rows = [f"| `{dialect.name}` | {dialect.text} |" for dialect in DIALECTS.values()]
    text = GUIDE.read_text(encoding="utf-8")
    start = text.index(rows[0])
    assert text[start:].splitlines()[: len(rows)] == rows


def test_a_dialect_can_be_overridden_and_an_unknown_one_is_refused():
    facts = {"base_url": "https://bank.example"}
    assert read_profile(facts | {"dialect": "fiducia"}, "1").booking_status == "booked"
    assert read_profile(facts | {"dialect": "fiducia", "booking_status": "both"}, "1").booking_status == "both"
    for wrong in ({"dialect": "klingon"}, {"list_form": "PDF"}, {"builds_addresses": "yes"}):
        with pytest.raises(ValueError, match="bank 1"):
            read_profile(facts | wrong, "1")


def test_an_unknown_dialect_of_the_demo_bank_is_refused_by_name(settings):
    with pytest.raises(InvalidError, match="klingon"), serving_xs2a(settings, "", 0, None, "klingon"):
        pass


@pytest.mark.parametrize("dialect", ["sparkasse", "bankverlag"])
def test_a_list_of_statements_has_the_bookings_of_the_books(settings, dialect):
    """Several currencies included; balances prove that nothing is missing."""
    login, products, fetched = fetch(settings, dialect)
    for account, product in zip(list_accounts(login), products, strict=True):
        rows = fetched.transactions[product.key]
        known = [entry.transaction for entry in account.entries]
        if dialect == "bankverlag":
            known = [row for row in known if not row.is_pending]
        assert Counter(map(sketch, rows)) == Counter(map(sketch, known))
        assert {row.channel for row in rows} <= {"camt.052", "MT940"}
        assert product.balance == account.product.balance
        if known:
            assert len(fetched.spans[product.key]) == max(1, len(account.product.balances))
    assert any(product.balances for product in products)


def sketch(row):
    return row.amount, row.currency, find_day(row), row.is_pending, row.counterparty_iban


def expect(dialect, row):
    match dialect:
        case "unicredit":
            return replace(row, gv_code=None, prima_nota=None, booking_text=row.booking_text or "SONSTIGES")
        case "santander":
            return replace(row, prima_nota=None)
    return row


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - {"sparkasse", "bankverlag"}))
def test_a_list_of_fields_has_the_bookings_of_the_books(settings, dialect):
    login, products, fetched = fetch(settings, dialect)
    for account, product in zip(list_accounts(login), products, strict=True):
        known = [expect(dialect, entry.transaction) for entry in account.entries]
        if dialect == "fiducia":
            known = [row for row in known if not row.is_pending]
        rows = fetched.transactions[product.key]
        assert sorted(map(repr, rows)) == sorted(map(repr, mark_channel(known, CHANNEL)))
        assert all(type(row.amount) is Decimal for row in rows)
        assert (product.balance, product.holder) == (account.product.balance, account.product.holder)
        assert product.name == (product.iban if dialect == "fiducia" else account.product.name[:35])


# Recorded shapes. How a consent is authorised is tested elsewhere.

STANDARD_CONSENT = {
    "has_consents": True,
    "accounts_path": "v1/accounts",
    "needs_client_token": False,
    "discovery_address": None,
}


def read_shape(dialect=None, account=None, **answers):
    """Products and result of a fetch from a bank that answers like this."""
    bank = BadBank(**answers)
    bank.wrong["GET /v1/accounts"] = {"accounts": [account or ACCOUNT]}
    with serve_app(bank) as url:
        facts = {"base_url": url} | ({} if dialect is None else {"dialect": dialect}) | STANDARD_CONSENT
        dialogue = Dialogue(Xs2aConnector(lambda provider: read_profile(facts, "1")), "somebody")
        progress = dialogue.begin()
        assert isinstance(progress, Progress), progress
        done = dialogue.resume(progress, Continue())
    return progress.partial.products[0], done.result, bank.asked


def read_rows(*rows, dialect=None):
    sent = {"transactions": {"booked": [ROW | row for row in rows], "_links": {}}}
    _, fetched, _ = read_shape(dialect, GET__accounts_1_transactions=sent)
    return fetched.transactions[OWN], fetched.problems


CAMT = """<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.02"><BkToCstmrAcctRpt><GrpHdr><MsgId>7</MsgId>
<CreDtTm>2026-11-13T08:00:00Z</CreDtTm></GrpHdr><Rpt><Id>7</Id><CreDtTm>2026-11-13T08:00:00Z</CreDtTm>
<Acct><Id><IBAN>{iban}</IBAN></Id><Ccy>EUR</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>PRCD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">9.50</Amt><CdtDbtInd>CRDT</CdtDbtInd>
<Dt><Dt>2026-11-01</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">7.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>
<Dt><Dt>2026-11-13</Dt></Dt></Bal>
<Ntry><Amt Ccy="EUR">2.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-02</Dt></BookgDt>
<ValDt><Dt>2026-11-02</Dt></ValDt><BkTxCd><Prtry><Cd>NDDT+105+9310</Cd><Issr>DK</Issr></Prtry></BkTxCd>
<NtryDtls><TxDtls><RltdPties><Cdtr><Nm>Wasserwerk</Nm></Cdtr></RltdPties><RmtInf><Ustrd>Abschlag</Ustrd></RmtInf>
</TxDtls></NtryDtls></Ntry></Rpt></BkToCstmrAcctRpt></Document>"""


def test_sparkasse_sends_a_camt_document():
    _, fetched, _ = read_shape("sparkasse", GET__accounts_1_transactions=CAMT.format(iban=OWN).encode())
    (row,) = fetched.transactions[OWN]
    assert (row.amount, row.counterparty_name, row.purpose) == (Decimal("-2.50"), "Wasserwerk", "Abschlag")
    assert (row.gv_code, row.channel) == ("105", "camt.052")
    assert len(fetched.spans[OWN]) == 1


def test_a_document_of_another_account_is_not_stored():
    _, fetched, _ = read_shape("sparkasse", GET__accounts_1_transactions=CAMT.format(iban=OTHER).encode())
    assert fetched.transactions == {}
    assert [problem.kind for problem in fetched.problems] == [ProblemKind.TRANSACTIONS]


@pytest.mark.parametrize("body", [b"<Document>", b"not found", b'{"transactions": {"booked": []}}'])
def test_a_document_that_cannot_be_read_is_a_problem_of_its_account(body):
    _, fetched, _ = read_shape("sparkasse", GET__accounts_1_transactions=body)
    assert fetched.transactions == {}
    assert [problem.kind for problem in fetched.problems] == [ProblemKind.TRANSACTIONS]


MT940 = (
    "\r\n:20:STARTUMS\r\n:25:37040044/0532013000\r\n:28C:00084/001\r\n:60F:C261101EUR9,50\r\n"
    ":61:2611021102D2,50NMSC0056068542990   //D11139CEMZ706061\r\n"
    ":86:004?00LASTSCHRIFT?1020001?20ABSCHLAG\r\nNOVEMBER?32WASSERWERK\r\n:62F:C261102EUR7,00\r\n:64:C261102EUR7,00\r\n-"
)


def test_bankverlag_sends_an_mt940_text():
    _, fetched, asked = read_shape("bankverlag", GET__accounts_1_transactions=MT940.encode())
    (row,) = fetched.transactions[OWN]
    assert (row.amount, row.counterparty_name, row.booking_text) == (Decimal("-2.50"), "WASSERWERK", "LASTSCHRIFT")
    assert any("bookingStatus=booked&" in question for question in asked)


@pytest.mark.parametrize("body", [b"", b"\r\n-\r\n"])
def test_an_empty_mt940_text_is_a_list_without_bookings(body):
    _, fetched, _ = read_shape("bankverlag", GET__accounts_1_transactions=body)
    assert (fetched.transactions, fetched.problems) == ({OWN: ()}, ())


@pytest.mark.parametrize("dialect", ["fiducia", "unicredit"])
def test_an_account_without_links_is_found_by_its_id(dialect):
    account = {"resourceId": "a/7 b", "iban": OWN, "currency": "EUR", "ownerName": "Erika Muster"}
    balances = {"balances": ACCOUNT["balances"]}
    sent = {"transactions": {"booked": [ROW | {"creditorName": "Wasserwerk"}]}}
    places = {"GET /v1/accounts/a/7 b/balances": balances, "GET /v1/accounts/a/7 b/transactions": sent}
    product, fetched, asked = read_shape(
        dialect, account, **{key.replace(" /v1/", "__"): places[key] for key in places}
    )
    assert (product.balance, product.holder) == (Decimal("7.00"), "Erika Muster")
    assert len(fetched.transactions[OWN]) == 1
    status = "booked" if dialect == "fiducia" else "both"
    assert any(f"bookingStatus={status}&" in question for question in asked)


def test_without_the_dialect_a_missing_link_means_that_the_consent_does_not_cover_it():
    account = {"resourceId": "7", "iban": OWN, "currency": "EUR"}
    product, fetched, asked = read_shape(None, account)
    assert product.balance is None
    assert fetched.problems == (Problem(ProblemKind.TRANSACTIONS, OWN),)
    assert not any("accounts/7" in question for question in asked)


def test_amounts_that_are_numbers_keep_every_digit():
    """A float would make -0.07000000000000001 or 12345678901234.56 something else."""
    sent = [b"-256.67", b"-0.070", b"12345678901234.56", b"1E2", b"null", b"true", b'"-1.10"']
    rows = b",".join(
        b'{"transactionAmount":{"currency":"EUR","amount":%b},"bookingDate":"2026-11-01"}' % amount for amount in sent
    )
    body = b'{"transactions":{"booked":[%b],"_links":{}}}' % rows
    _, fetched, _ = read_shape("commerzbank", GET__accounts_1_transactions=body)
    amounts = [row.amount for row in fetched.transactions[OWN]]
    assert amounts == [Decimal("-256.67"), Decimal("-0.07"), Decimal("12345678901234.56"), Decimal("-1.10")]
    assert fetched.problems == (Problem(ProblemKind.TRANSACTIONS, OWN, count=3),)


def test_a_balance_that_is_a_number_is_read():
    balance = {"balanceType": "closingBooked", "balanceAmount": {"currency": "EUR", "amount": 150.02}}
    product, _, _ = read_shape("comdirect", ACCOUNT | {"balances": [balance]})
    assert product.balance == Decimal("150.02")


def money(amount):
    return {"transactionAmount": {"currency": "EUR", "amount": amount}}


def party(side, iban=None, name=None):
    account = {} if iban is None else {f"{side}Account": {"iban": iban}}
    return account | ({} if name is None else {f"{side}Name": name})


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (party("creditor", OTHER, "Shop") | party("debtor", OWN, "Erika"), ("-180.12", "Shop")),
        (party("creditor", OWN, "Erika") | party("debtor", OTHER, "Boss"), ("180.12", "Boss")),
        (party("creditor", name="Shop"), ("-180.12", "Shop")),
        (party("debtor", name="Boss"), ("180.12", "Boss")),
        ({"creditDebitIndicator": "DBIT"}, ("-180.12", None)),
        ({"creditDebitIndicator": "CRDT"} | party("creditor", name="Erika"), ("180.12", None)),
    ],
)
def test_an_unsigned_amount_gets_its_sign_from_the_parties(told, expected):
    (row,), problems = read_rows(money("180.12") | told, dialect="unicredit")
    assert (row.amount, row.counterparty_name) == (Decimal(expected[0]), expected[1])
    assert problems == ()


@pytest.mark.parametrize(
    "told",
    [
        {},
        party("creditor", OWN) | party("debtor", OWN),
        party("creditor", OTHER, "A") | party("debtor", OTHER, "B"),
        {"creditDebitIndicator": "PERHAPS"},
    ],
)
def test_an_unsigned_amount_without_a_sign_is_reported_and_never_stored_as_income(told):
    rows, problems = read_rows(money("180.12") | told, dialect="unicredit")
    assert rows == ()
    assert problems == (Problem(ProblemKind.TRANSACTIONS, OWN, count=1),)


def test_a_booking_code_that_is_a_text_is_the_booking_text():
    told = {"proprietaryBankTransactionCode": "ÜBERWEISUNG", "additionalInformation": "ÜBERWEISUNG Miete"}
    (row,), _ = read_rows(told | party("creditor", name="Vermieter"), dialect="unicredit")
    assert (row.booking_text, row.gv_code) == ("ÜBERWEISUNG", None)


@pytest.mark.parametrize(
    ("code", "expected"),
    [("NTRF+116", ("116", None)), ("NDDT+105+9310", ("105", "9310")), ("NTRF++9310", (None, "9310"))],
)
def test_a_code_without_prima_nota_keeps_its_gv_code(code, expected):
    (row,), _ = read_rows({"proprietaryBankTransactionCode": code}, dialect="santander")
    assert (row.gv_code, row.prima_nota) == expected


@pytest.mark.parametrize("sent", ["Bestellung 4711", {"reference": "Bestellung 4711", "referenceType": "SCOR"}])
def test_a_structured_purpose_is_read(sent):
    told = {"remittanceInformationStructured": sent, "endToEndId": "E2E-1"}
    (row,), _ = read_rows(told, dialect="ing")
    assert row.purpose == "EREF+E2E-1 SVWZ+Bestellung 4711"


def test_both_purposes_are_kept_and_none_twice():
    told = {"remittanceInformationStructured": "RF18", "remittanceInformationUnstructured": "Danke"}
    (row,), _ = read_rows(told)
    assert row.purpose == "Danke RF18"
    (row,), _ = read_rows(told | {"remittanceInformationUnstructured": "Danke, RF18"})
    assert row.purpose == "Danke, RF18"


def test_at_ing_an_account_is_named_after_its_holder():
    product, _, _ = read_shape("ing", ACCOUNT | {"name": "Hans Muster", "product": "Girokonto"})
    assert (product.holder, product.name) == ("Hans Muster", "Girokonto")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.bank.example/xs2a",
        "http://localhost.bank.example",
        "http://localhost@bank.example",
        "http://127.0.0.1@bank.example:80/",
        "https://user@bank.example",
        "https://",
        "https:///xs2a",
        "https://bank.example/xs2a/../admin",
        "https://bank.example/xs2a?tenant=1",
        "https://bank.example/xs2a#part",
        "https://bank.example:99999",
        "https://bank.example\\@other.example",
        "http://bank.example",
        "",
    ],
)
def test_a_base_url_is_judged_by_its_parts_and_not_by_how_it_begins(url):
    with pytest.raises(ValueError, match="base_url"):
        read_profile({"base_url": url}, "99999999")


@pytest.mark.parametrize(
    "url", ["https://bank.example", "https://bank.example:8443/xs2a", "http://127.0.0.1:9/x", "http://localhost:80"]
)
def test_a_base_url_is_https_or_leads_to_this_machine(url):
    assert read_profile({"base_url": url}, "99999999").base_url == url
