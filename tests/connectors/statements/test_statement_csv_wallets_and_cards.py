"""Downloads of wallets, cards and brokers. Columns and marks are those of real files, people and amounts are made up.

Where a shape comes from is said beside it: importers of other projects that read the same download.
"""

from datetime import date
from decimal import Decimal

import pytest

from kontor.connectors.files.accounts import join_statements
from kontor.connectors.statements import FileKind, Statement, detect_kind, read_csv
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import find_day


def read_single(*lines: str, encoding: str = "utf-8") -> Statement:
    data = "\n".join(lines).encode(encoding)
    assert detect_kind(data) is FileKind.CSV
    (statement,) = read_csv(data)
    return statement


def list_amounts(statement: Statement) -> list[Decimal]:
    return [entry.amount for entry in statement.entries]


# PayPal, "Aktivitäten herunterladen" (read by OCA/bank-statement-import, hledger's examples)

PAYPAL = (
    '"Datum","Uhrzeit","Zeitzone","Name","Typ","Status","Währung","Brutto","Gebühr","Netto","Absender E-Mail-Adresse",'
    '"Empfänger E-Mail-Adresse","Transaktionscode","Artikelbezeichnung","Guthaben","Betreff","Hinweis",'
    '"Auswirkung auf Guthaben"'
)


def write_paypal(day: str, name: str, kind: str, amount: str, after: str, effect: str, currency: str = "EUR") -> str:
    cells = (day, "10:11:12", "CET", name, kind, "Abgeschlossen", currency, amount, "0,00", amount, "ich@example.org",
             "er@example.org", f"T{day[:2]}{kind[:3]}", "Ein Artikel", after, "", "", effect)  # fmt: skip
    return ",".join(f'"{cell}"' for cell in cells)


def test_paypal_payments_and_their_funding_add_up_to_the_balance_and_authorisations_do_not_count():
    statement = read_single(
        PAYPAL,
        write_paypal("03.11.2026", "Laden GmbH", "PayPal Express-Zahlung", "-29,90", "0,00", "Soll"),
        write_paypal("02.11.2026", "", "Bankgutschrift auf PayPal-Konto", "29,90", "29,90", "Haben"),
        write_paypal("02.11.2026", "Laden GmbH", "Allgemeine Autorisierung", "-29,90", "0,00", "Memo"),
        encoding="utf-8-sig",
    )
    assert list_amounts(statement) == [Decimal("-29.90"), Decimal("29.90")]
    first = statement.entries[0]
    assert (first.counterparty_name, first.purpose, find_day(first)) == (
        "Laden GmbH",
        "Ein Artikel",
        date(2026, 11, 3),
    )
    assert (statement.opening.amount, statement.closing.amount, statement.issues) == (Decimal(0), Decimal(0), ())


def test_each_currency_of_a_wallet_is_an_account():
    lines = [
        PAYPAL,
        write_paypal("03.11.2026", "Shop Inc", "Zahlung", "-10,00", "5,00", "Soll", "USD"),
        write_paypal("02.11.2026", "Freund", "Zahlung", "20,00", "20,00", "Haben"),
    ]
    statements = read_csv("\n".join(lines).encode())
    accounts = join_statements(list(statements), [])
    assert {account.product.key: account.product.currency for account in accounts} == {
        "paypal-wallet-EUR": "EUR",
        "paypal-wallet-USD": "USD",
    }
    assert {account.product.institution for account in accounts} == {"PayPal"}


def test_the_english_report_of_paypal():
    statement = read_single(
        '"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","Transaction ID","Item Title",'
        '"Balance","Subject","Note","Balance Impact"',
        '"03/11/2026","10:00:00","CET","Shop","Website Payment","Completed","EUR","100.00","-3.20","96.80","A1","A",'
        '"96.80","","","Credit"',
        '"02/11/2026","10:00:00","CET","Shop","Authorization","Pending","EUR","-1.00","0.00","-1.00","A2","","0.00",'
        '"","","Memo"',
    )
    assert (list_amounts(statement), statement.closing.amount) == ([Decimal("96.80")], Decimal("96.80"))


# Trade Republic, export of transactions (columns as many public importers of 2025 and 2026 list them)

TRADE_REPUBLIC = (
    "datetime,date,account_type,category,type,asset_class,name,symbol,shares,price,amount,fee,tax,currency,"
    "original_amount,original_currency,fx_rate,description,transaction_id,counterparty_name,counterparty_iban,"
    "payment_reference,mcc_code"
)


def test_trade_republic_fees_and_taxes_are_part_of_a_booking_and_shares_without_money_are_none():
    statement = read_single(
        TRADE_REPUBLIC,
        "2026-11-02T09:00:00.1Z,2026-11-02,DEFAULT,CASH,TRANSFER_INBOUND,,,,,,500.00,,,EUR,,,,Eingang,t-1,Anna Muster,"
        "DE02120300000000202051,Sparen,",
        "2026-11-03T09:00:00.1Z,2026-11-03,DEFAULT,TRADING,BUY,STOCK,Muster AG,DE0007164600,2,100.0,-200.00,-1.00,,EUR,"
        ",,,Kauf,t-2,,,,",
        "2026-11-04T09:00:00.1Z,2026-11-04,DEFAULT,CASH,DIVIDEND,STOCK,Muster AG,DE0007164600,2,,10.00,,-2.64,EUR,,,,"
        "Dividende,t-3,,,,",
        "2026-11-05T09:00:00.1Z,2026-11-05,DEFAULT,DELIVERY,MIGRATION,STOCK,Muster AG,DE0007164600,2,,,,,EUR,,,,"
        "Übertrag,t-4,,,,",
    )
    assert list_amounts(statement) == [Decimal("500.00"), Decimal("-201.00"), Decimal("7.36")]
    assert statement.rejected == ()
    transfer, trade, _ = statement.entries
    assert (transfer.counterparty_name, transfer.counterparty_iban) == ("Anna Muster", "DE02120300000000202051")
    assert (trade.counterparty_name, trade.booking_text, trade.bank_id) == ("Muster AG", "BUY", "t-2")


# Revolut, account statement (read by bank2ynab and beancount importers)


def test_revolut_deducts_the_fee_and_leaves_out_what_was_taken_back():
    statement = read_single(
        "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance",
        "TOPUP,Current,2026-11-01 08:00:00,2026-11-01 08:00:01,Payment from Anna,100.00,0.00,EUR,COMPLETED,100.00",
        "ATM,Current,2026-11-02 08:00:00,2026-11-03 08:00:00,Cash at Bank,-50.00,1.00,EUR,COMPLETED,49.00",
        "CARD_PAYMENT,Current,2026-11-03 08:00:00,2026-11-03 09:00:00,Shop,-9.00,0.00,EUR,REVERTED,",
        "CARD_PAYMENT,Current,2026-11-04 08:00:00,,Shop,-9.00,0.00,EUR,PENDING,",
    )
    assert list_amounts(statement) == [Decimal(100), Decimal(-51), Decimal(-9)]
    assert [entry.is_pending for entry in statement.entries] == [False, False, True]
    assert (statement.opening.amount, statement.closing.amount, statement.issues) == (Decimal(0), Decimal(49), ())


@pytest.mark.parametrize(
    "header",
    [
        "Typ,Produkt,Startdatum,Datum des Abschlusses,Beschreibung,Betrag,Gebühr,Währung,Status,Guthaben",
        "Art,Produkt,Datum des Beginns,Datum des Abschlusses,Beschreibung,Betrag,Gebühr,Währung,State,Kontostand",
    ],
)
def test_revolut_in_german_old_and_new(header):
    statement = read_single(
        header,
        "Kartenzahlung,Aktuell,2026-11-02 08:00:00,2026-11-03 08:00:00,Laden,-50.00,0.50,EUR,ABGESCHLOSSEN,49.50",
        "Kartenzahlung,Aktuell,2026-11-02 08:00:00,2026-11-03 08:00:00,Laden,-5.00,0.00,EUR,RÜCKGÄNGIG GEMACHT,",
    )
    assert (list_amounts(statement), statement.closing.amount) == ([Decimal("-50.50")], Decimal("49.50"))
    assert statement.entries[0].value_at < statement.entries[0].booked_at


# Cards


def test_american_express_spending_is_negative_and_each_card_an_account():
    header = (
        "Datum,Beschreibung,Karteninhaber,Konto #,Betrag,Weitere Details,Erscheint auf Ihrer Abrechnung als,Adresse,"
        "Stadt,PLZ,Land,Betreff,Kategorie"
    )
    lines = [
        header,
        '03/11/2026,BUCHLADEN BERLIN,A MUSTER,-01014,"12,34",,BUCHLADEN BERLIN,,BERLIN,10115,DE,R1,Einkauf',
        '02/11/2026,ZAHLUNG ERHALTEN BESTEN DANK,A MUSTER,-01014,"-50,00",,ZAHLUNG,,,,,R2,',
        '01/11/2026,CAFE,B MUSTER,-02004,"7,00",,CAFE,,,,DE,R3,',
    ]
    first, second = read_csv("\n".join(lines).encode())
    assert (list_amounts(first), list_amounts(second)) == ([Decimal("-12.34"), Decimal(50)], [Decimal(-7)])
    accounts = join_statements([first, second], [])
    assert {account.product.category for account in accounts} == {ProductCategory.CREDIT_CARD}
    assert find_day(first.entries[0]) == date(2026, 11, 3)


def test_american_express_without_the_columns_of_several_cards():
    statement = read_single(
        "Datum,Beschreibung,Betrag,Weitere Details,Erscheint auf Ihrer Abrechnung als,Adresse,Stadt,PLZ,Land,Betreff",
        '03/11/2026,LADEN,"1.012,34",,LADEN,,,,DE,R1',
    )
    assert list_amounts(statement) == [Decimal("-1012.34")]


def test_comdirect_giro_and_visa_in_one_file_are_two_accounts():
    lines = [
        '"Umsätze Girokonto";"Zeitraum: 01.11.2026 - 10.11.2026";',
        '"Neuer Kontostand";"90,00 EUR";',
        "",
        '"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";',
        '"02.11.2026";"02.11.2026";"Lastschrift";"Auftraggeber: Verein Buchungstext: Beitrag";"-10,00";',
        "",
        '"Alter Kontostand";"100,00 EUR";',
        "",
        '"Umsätze Visa-Karte (Kreditkarte)";"Zeitraum: 01.11.2026 - 10.11.2026";',
        '"Neuer Kontostand";"-33,00 EUR";',
        "",
        '"Buchungstag";"Umsatztag";"Vorgang";"Referenz";"Buchungstext";"Umsatz in EUR";',
        '"04.11.2026";"03.11.2026";"Visa-Umsatz";"123456";"LADEN BERLIN DE";"-33,00";',
        "",
    ]
    giro, card = read_csv("\n".join(lines).encode("cp1252"))
    assert (list_amounts(giro), giro.closing.amount, giro.form) == ([Decimal(-10)], Decimal(90), "comdirect")
    assert (list_amounts(card), card.closing.amount, card.form) == ([Decimal(-33)], Decimal(-33), "comdirect-visa")
    keys = {account.product.key: account.product.category for account in join_statements([giro, card], [])}
    assert keys == {
        "comdirect-giro": ProductCategory.CHECKING,
        "comdirect-card": ProductCategory.CREDIT_CARD,
    }


def test_a_comdirect_file_whose_first_account_has_no_bookings():
    lines = [
        '"Umsätze Girokonto";"Zeitraum: 10 Tage";',
        '"Neuer Kontostand";"90,00 EUR";',
        '"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";',
        "",
        '"Umsätze Visa-Karte (Kreditkarte)";"Zeitraum: 10 Tage";',
        '"Neuer Kontostand";"-33,00 EUR";',
        '"Buchungstag";"Umsatztag";"Vorgang";"Referenz";"Buchungstext";"Umsatz in EUR";',
        '"04.11.2026";"03.11.2026";"Visa-Umsatz";"123456";"LADEN BERLIN DE";"-33,00";',
    ]
    giro, card = read_csv("\n".join(lines).encode("cp1252"))
    assert (giro.entries, giro.closing.amount) == ((), Decimal(90))
    assert (list_amounts(card), card.closing.amount) == ([Decimal(-33)], Decimal(-33))


def test_the_mastercard_of_a_sparkasse_is_known_by_its_number():
    statement = read_single(
        "Umsatz getätigt von;Belegdatum;Buchungsdatum;Originalbetrag;Originalwährung;Umrechnungskurs;Buchungsbetrag;"
        "Buchungswährung;Transaktionsbeschreibung;Transaktionsbeschreibung Zusatz;Buchungsreferenz;Gebührenschlüssel;"
        "Länderkennzeichen;BAR-Entgelt+Buchungsreferenz;AEE+Buchungsreferenz;Abrechnungskennzeichen",
        "5232 xxxx xxxx 1234;01.11.26;03.11.26;-12,00;USD;1,10;-10,91;EUR;SHOP NEW YORK;;030026;;;;;",
        encoding="cp1252",
    )
    assert (list_amounts(statement), statement.account.account_number) == ([Decimal("-10.91")], "5232********1234")
    assert statement.entries[0].currency == "EUR"


def test_the_old_card_of_dkb_has_its_balance_with_a_point():
    statement = read_single(
        '"Kreditkarte:";"4998********1234";',
        "",
        '"Von:";"01.11.2021";',
        '"Bis:";"10.11.2021";',
        '"Saldo:";"-1012.5 EUR";',
        '"Datum:";"10.11.2021";',
        "",
        '"Umsatz abgerechnet und nicht im Saldo enthalten";"Wertstellung";"Belegdatum";"Beschreibung";"Betrag (EUR)";'
        '"Ursprünglicher Betrag";',
        '"Nein";"04.11.2021";"03.11.2021";"LADEN";"-12,50";"";',
        encoding="iso-8859-1",
    )
    assert (list_amounts(statement), statement.closing.amount) == ([Decimal("-12.50")], Decimal("-1012.5"))
    assert (statement.account.account_number, statement.closing.day) == ("4998********1234", date(2021, 11, 10))


@pytest.mark.parametrize(
    "above", [["VISA 1234 5678 9101 1121 ANNA MUSTER"], ["Karte;Kartennummer", "Card;123 4567890;1234********1121;A M"]]
)
def test_the_card_of_deutsche_bank_counts_the_amount_in_euros(above):
    statement = read_single(
        "Kreditkartentransaktionen",
        *above,
        "",
        "Abrechnungsdatum: 20.03.2026",
        "Belegdatum;Eingangstag;Verwendungszweck;Fremdwährung;Betrag;Kurs;Betrag;Währung",
        "1.3.2026;3.3.2026;SHOP ABROAD;USD;-12,00;1,20;-10,00;EUR",
        "2.3.2026;4.3.2026;LADEN;;;;-4,52;EUR",
        "Saldo:;;;;;;-14,52;EUR",
    )
    assert (list_amounts(statement), statement.closing.amount) == ([Decimal(-10), Decimal("-4.52")], Decimal("-14.52"))
    assert statement.account.account_number in ("1234567891011121", "1234********1121")


# Banks


def test_targobank_has_no_header_and_its_text_has_parts():
    statement = read_single(
        "02.11.2026;SEPA-LASTSCHRIFT   Verein e.V.   DE02120300000000202051   BYLADEM1001   Beitrag 2026;-10,00;;;;"
        "'DE02500105170137075030'",
        "03.11.2026;GEHALT/RENTE   Arbeit AG   DE02120300000000202051   BYLADEM1001   Lohn;;1.500,00;;;"
        "'DE02500105170137075030'",
        encoding="cp1252",
    )
    assert list_amounts(statement) == [Decimal(-10), Decimal(1500)]
    first = statement.entries[0]
    assert (first.booking_text, first.counterparty_name, first.purpose) == (
        "SEPA-LASTSCHRIFT",
        "Verein e.V.",
        "Beitrag 2026",
    )
    assert (first.counterparty_iban, first.counterparty_bic) == ("DE02120300000000202051", "BYLADEM1001")
    assert statement.account.iban == "DE02500105170137075030"


@pytest.mark.parametrize("line", ["02.11.2026;Text;-1,00", "02.11.2026;Text;-1,00;;;;keine IBAN", "a;b;c;d;e;f;g"])
def test_lines_that_only_look_like_targobank_are_no_statement(line):
    assert detect_kind(line.encode()) is None


def test_wise_writes_days_with_dashes():
    statement = read_single(
        '"TransferWise ID",Date,"Date Time",Amount,Currency,Description,"Payment Reference","Running Balance",'
        '"Exchange From","Exchange To","Exchange Rate","Payer Name","Payee Name","Payee Account Number",Merchant,'
        '"Card Last Four Digits","Card Holder Full Name",Attachment,Note,"Total fees","Exchange To Amount",'
        '"Transaction Type","Transaction Details Type"',
        'CARD-1,13-11-2026,"13-11-2026 18:34:58.641",-7.39,EUR,"Card transaction of 7.39 EUR",,92.61,,,,,,,Cafe,1234,'
        "A M,,,0.00,,DEBIT,CARD",
        'TRANSFER-2,12-11-2026,"12-11-2026 08:00:00.000",100.00,EUR,"Received money from Anna",Miete,100.00,,,,'
        "Anna Muster,,,,,,,,0.00,,CREDIT,DEPOSIT",
    )
    assert list_amounts(statement) == [Decimal("-7.39"), Decimal(100)]
    assert [entry.counterparty_name for entry in statement.entries] == ["Cafe", "Anna Muster"]
    assert (statement.opening.amount, statement.closing.amount) == (Decimal(0), Decimal("92.61"))


def test_dkb_of_early_2023_without_currency_and_without_iban():
    statement = read_single(
        '"Konto";"Girokonto DE02120300000000202051"',
        '""',
        '"Kontostand vom 10.02.2023:";"90,00 EUR"',
        '""',
        '"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";'
        '"Umsatztyp";"Betrag";"Gläubiger-ID";"Mandatsreferenz";"Kundenreferenz"',
        '"03.02.23";"03.02.23";"Gebucht";"Ich";"Laden";"Kauf";"Ausgang";"-10,00";"";"";""',
    )
    assert (list_amounts(statement), statement.entries[0].counterparty_name) == ([Decimal(-10)], "Laden")
    assert statement.closing.amount == Decimal(90)


def test_deutsche_bank_with_another_name_for_the_iban():
    statement = read_single(
        "Umsätze Girokonto;;;Kundennummer: 123 4567890",
        "Buchungstag;Wert;Umsatzart;Begünstigter / Auftraggeber;Verwendungszweck;IBAN / Kontonummer;BIC;Kundenreferenz;"
        "Mandatsreferenz;Gläubiger ID;Fremde Gebühren;Betrag;Abweichender Empfänger;Anzahl der Aufträge;"
        "Anzahl der Schecks;Soll;Haben;Währung",
        "3.11.2026;3.11.2026;SEPA-Überweisung;Laden;Kauf;DE02120300000000202051;BYLADEM1001;;;;;;;;;-10,00;;EUR",
    )
    assert (list_amounts(statement), statement.entries[0].counterparty_iban) == (
        [Decimal(-10)],
        "DE02120300000000202051",
    )


def test_the_oldest_layout_of_deutsche_bank():
    statement = read_single(
        "Buchungstag;Wert;Verwendungszweck;Soll;Haben;Währung",
        '06.01.09;06.01.09;" Versicherung Beitrag";-123,52;;EUR',
        '07.01.09;07.01.09;" Gehalt";;1.000,00;EUR',
        "Kontostand (31.03.2009):;;;;3322,51;EUR",
    )
    assert list_amounts(statement) == [Decimal("-123.52"), Decimal(1000)]
    assert (statement.closing.amount, statement.closing.day) == (Decimal("3322.51"), date(2009, 3, 31))


def test_sparda_before_it_joined_the_volksbanken():
    statement = read_single(
        "Umsätze",
        "Buchungstag;Wertstellungstag;Verwendungszweck;Umsatz;Währung;",
        "03.11.2016;03.11.2016;LADEN BERLIN KAUF;-10,00;EUR;",
        encoding="cp1252",
    )
    assert (list_amounts(statement), statement.entries[0].purpose) == ([Decimal(-10)], "LADEN BERLIN KAUF")


def test_finom_and_qonto_leave_out_what_was_declined():
    finom = read_single(
        "Buchungsdatum,Time completed,Status,Transaktionsart,Auftraggeber/Empfänger,Counterparty IBAN,Counterparty BIC,"
        "Verwendungszweck,Zahlungsbetrag,Zahlungswährung,Wallet-IBAN",
        "2026-11-03,10:00,Completed,Transfer,Laden,DE02120300000000202051,BYLADEM1001,Kauf,-10.00,EUR,"
        "DE02500105170137075030",
        "2026-11-04,10:00,Declined,Card,Laden,,,Kauf,-10.00,EUR,DE02500105170137075030",
    )
    assert (list_amounts(finom), finom.account.iban) == ([Decimal(-10)], "DE02500105170137075030")
    qonto = read_single(
        "Status;Settlement date (UTC);Counterparty name;Total amount (incl. VAT);Currency;Reference;Payment method",
        "settled;2026-11-03 10:00:00;Laden;-10.00;EUR;Kauf;card",
        "declined;2026-11-03 10:00:00;Laden;-10.00;EUR;Kauf;card",
    )
    assert (list_amounts(qonto), qonto.entries[0].booking_text) == ([Decimal(-10)], "card")


def test_hibiscus_exports_accounts_of_any_bank():
    statement = read_single(
        "Kontonummer;BLZ;Konto;Gegenkonto;Gegenkonto BLZ;Gegenkonto Inhaber;Betrag;Valuta;Datum;Verwendungszweck;"
        "Verwendungszweck 2;Zwischensumme;Primanota;Kundenreferenz;Kategorie;Kommentar;Weitere Verwendungszwecke;Art",
        "DE02500105170137075030;50010517;Girokonto;DE02120300000000202051;BYLADEM1001;Laden;-10,00;03.11.2026;03.11.2026;"
        "Kauf;und mehr;90,00;;;;;am Montag;Lastschrift",
    )
    entry = statement.entries[0]
    assert (entry.purpose, entry.counterparty_iban) == ("Kauf und mehr am Montag", "DE02120300000000202051")
    assert (statement.account.iban, statement.closing.amount) == ("DE02500105170137075030", Decimal(90))
