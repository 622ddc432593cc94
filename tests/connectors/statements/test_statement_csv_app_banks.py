"""Downloads of banks that are apps, and of Barclays. Columns are those of real files, people and amounts are made up.

The shapes follow headers that importers of other projects read: bank2ynab for bunq, converters of German downloads for
the others.
"""

from datetime import date
from decimal import Decimal

import pytest

from kontor.connectors.statements import FileKind, Statement, StatementError, detect_kind, read_csv
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import find_day


def read_single(*lines: str) -> Statement:
    data = "\n".join(lines).encode()
    assert detect_kind(data) is FileKind.CSV
    (statement,) = read_csv(data)
    return statement


def list_amounts(statement: Statement) -> list[Decimal]:
    return [entry.amount for entry in statement.entries]


BARCLAYS = (
    "Barclays Kreditkarte",
    "",
    "Kartennummer;4567 XXXX XXXX 1234",
    "Karteninhaber;Petra Beispiel",
    "",
    "Referenznummer;Buchungsdatum;Buchungsdatum;Betrag;Beschreibung;Typ;Status;Kartennummer;Originalbetrag;"
    "Mögliche Zahlpläne;Land;Name des Karteninhabers;Kartennetzwerk;Kontaktlose Bezahlung;Händlerdetails",
    "07400000001;02.11.2026;04.11.2026;-1.012,50 €;Moebelhaus Muster;Belastung;Abgerechnet;4567 XXXX XXXX 1234;"
    "-1.012,50 €;;DE;Petra Beispiel;Visa;Nein;",
    "07400000002;05.11.2026;05.11.2026;200,00 €;Gutschrift Lastschrift;Gutschrift;Abgerechnet;;;;;;;;",
)


def test_barclays_books_on_the_second_day_and_has_a_cards_number():
    statement = read_single(*BARCLAYS)
    assert list_amounts(statement) == [Decimal("-1012.50"), Decimal("200.00")]
    assert [find_day(entry) for entry in statement.entries] == [date(2026, 11, 4), date(2026, 11, 5)]
    assert statement.account.origin.category is ProductCategory.CREDIT_CARD
    assert statement.account.account_number.endswith("1234")
    assert statement.entries[0].bank_id == "07400000001"


def test_barclays_pending_rows_have_no_day_and_are_told():
    pending = "07400000003;06.11.2026;;-5,00 €;Cafe;Belastung;Vorgemerkt;4567 XXXX XXXX 1234;-5,00 €;;DE;P;Visa;Ja;"
    statement = read_single(*BARCLAYS, pending)
    assert len(statement.entries) == 2
    assert [row.line for row in statement.rejected] == [9]


def test_vivid():
    statement = read_single(
        "Completed date,Counterparty name,Reference,Payment amount,Payment currency",
        '02.11.2026,Beispiel Werke GmbH,"Lohn, Oktober",2000.00,EUR',
        "03.11.2026,Cafe Muster,,-4.50,EUR",
    )
    assert list_amounts(statement) == [Decimal("2000.00"), Decimal("-4.50")]
    assert statement.entries[0].purpose == "Lohn, Oktober"


def test_tomorrow_keeps_pockets_apart():
    data = "\n".join(
        (
            "account_type,booking_date,valuta_date,sender_or_recipient,iban,booking_type,description,category,amount,currency",
            '"Personal Account","2026-11-02","2026-11-03","Anna Beispiel","DE89370400440532013000","Standing Order",'
            '"Miete","Housing","-700,00","EUR"',
            '"Pocket Urlaub","2026-11-04","2026-11-04","Petra Beispiel","","Incoming","","Other","50,00","EUR"',
        )
    ).encode()
    first, second = read_csv(data)
    assert (list_amounts(first), list_amounts(second)) == ([Decimal("-700.00")], [Decimal("50.00")])
    assert first.account.origin.key != second.account.origin.key
    assert first.entries[0].counterparty_iban == "DE89370400440532013000"
    assert first.entries[0].value_at.date() == date(2026, 11, 2)  # midnight in Berlin


def test_bunq_with_either_decimal_sign():
    rows = (
        '"Date","Amount","Account","Counterparty","Name","Description"',
        '"2026-11-02","{}","DE12500105170648489890","DE89370400440532013000","Anna Beispiel","Miete"',
        '"2026-11-03","{}","DE12500105170648489890","","Cafe Muster","Cafe Muster Berlin, DE"',
    )
    german = read_single(rows[0], rows[1].format("-1.700,25"), rows[2].format("-4,50"))
    english = read_single(rows[0], rows[1].format("-1,700.25"), rows[2].format("-4.50"))
    assert list_amounts(german) == list_amounts(english) == [Decimal("-1700.25"), Decimal("-4.50")]
    assert german.account.iban == "DE12500105170648489890"


def test_a_bunq_header_with_a_column_less_is_no_statement():
    assert detect_kind(b"Date,Amount,Account,Counterparty,Description\n2026-11-02,-1.00,x,y,z\n") is None


def test_a_vivid_file_without_amounts_is_refused():
    with pytest.raises(StatementError, match="no amount"):
        read_single("Completed date,Counterparty name,Reference,Payment amount,Payment currency", "02.11.2026,A,B,,EUR")
