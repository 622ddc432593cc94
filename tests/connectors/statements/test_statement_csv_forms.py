"""What single banks put into their CSV downloads. The shapes are theirs, people and amounts are made up."""

from datetime import date
from decimal import Decimal

import pytest

from kontor.connectors.files.accounts import join_statements
from kontor.connectors.statements import IssueKind, read_csv
from kontor.domain.products import ProductCategory
from kontor.domain.transactions import find_day

VOLKSBANK = (
    "Bezeichnung Auftragskonto;IBAN Auftragskonto;BIC Auftragskonto;Bankname Auftragskonto;Buchungstag;Valutadatum;"
    "Name Zahlungsbeteiligter;IBAN Zahlungsbeteiligter;BIC (SWIFT-Code) Zahlungsbeteiligter;Buchungstext;"
    "Verwendungszweck;Betrag;Waehrung;Saldo nach Buchung;Bemerkung;Gekennzeichneter Umsatz;Glaeubiger ID;"
    "Mandatsreferenz\n"
)


def write_volksbank(*rows: tuple[str, str, str]) -> bytes:
    lines = [
        f"Girokonto;DE02500105170137075030;GENODEF1XXX;Musterbank eG;{day};{day};Laden;;;Kauf;Zweck;{amount};EUR;"
        f"{after};;;;"
        for day, amount, after in rows
    ]
    return (VOLKSBANK + "\n".join(lines) + "\n").encode()


ROWS = [
    ("02.11.2026", "-10,00", "1.090,00"),
    ("03.11.2026", "500,00", "1.590,00"),
    ("03.11.2026", "-90,00", "1.500,00"),
]


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]], ids=["oldest first", "newest first"])
def test_the_balance_after_each_booking_gives_opening_and_closing(rows):
    (statement,) = read_csv(write_volksbank(*rows))
    assert (statement.opening.amount, statement.closing.amount) == (Decimal(1100), Decimal(1500))
    assert (statement.closing.day, statement.issues) == (date(2026, 11, 3), ())


def test_balances_of_a_filtered_download_are_doubted():
    (statement,) = read_csv(write_volksbank(ROWS[2], ROWS[0]))
    (issue,) = statement.issues
    assert issue.kind is IssueKind.BALANCE_MISMATCH
    assert (issue.found - issue.expected, statement.closing.amount) == (Decimal(500), Decimal(1500))


def test_a_single_booking_has_both_balances():
    (statement,) = read_csv(write_volksbank(ROWS[0]))
    assert (statement.opening.amount, statement.closing.amount) == (Decimal(1100), Decimal(1090))


def test_rows_without_a_balance_have_none():
    (statement,) = read_csv(write_volksbank(ROWS[0], ("03.11.2026", "1,00", "")))
    assert (statement.opening, statement.closing) == (None, None)


def test_opening_and_closing_rows_of_old_volksbank_files_are_balances_and_no_bookings():
    head = (
        "Buchungstag;Valuta;Auftraggeber/Zahlungsempfänger;Empfänger/Zahlungspflichtiger;Konto-Nr.;IBAN;BLZ;BIC;"
        "Vorgang/Verwendungszweck;Kundenreferenz;Währung;Umsatz; "
    )
    lines = [
        "Musterbank eG;;;;;;;;;;;;",
        "Kontonummer:;4711;;;;;;;;;;;",
        head,
        "02.11.2026;02.11.2026;Ich;Laden;;;;;Kauf;;EUR;10,00;S",
        ";;;;;;;;;;;;",
        "01.11.2026;;;;;;;;;Anfangssaldo;EUR;100,00;H",
        "02.11.2026;;;;;;;;;Endsaldo;EUR;90,00;H",
    ]
    (statement,) = read_csv("\n".join(lines).encode("cp1252"))
    assert [entry.amount for entry in statement.entries] == [Decimal(-10)]
    assert (statement.opening.amount, statement.closing.amount) == (Decimal(100), Decimal(90))
    assert (statement.closing.day, statement.issues, statement.rejected) == (date(2026, 11, 2), (), ())


def write_dkb_card(card: str, *rows: tuple[str, str], amount: str = "Betrag (€)") -> bytes:
    lines = [f'"02.11.26";"03.11.26";"Gebucht";"{shop}";"Im Geschäft";"{paid}";""' for shop, paid in rows]
    head = f'"Belegdatum";"Wertstellung";"Status";"Beschreibung";"Umsatztyp";"{amount}";"Fremdwährungsbetrag"'
    return "\n".join([card, '""', '"Saldo vom 03.11.2026:";"-12,00 EUR"', '""', head, *lines]).encode("utf-8-sig")


@pytest.mark.parametrize(
    ("card", "number"),
    [
        ('"Karte";"Visa Kreditkarte";"4998 •••• •••• 1234"', "4998********1234"),
        ('"Karte";"Visa Kreditkarte 4998 •••• •••• 1234"', "4998********1234"),
        ('"Karte";"Visa";"4998********1234"', "4998********1234"),
        ('"Karte";"DKB-VISA-Business-Card";"4998 XXXX XXXX 1234"', "4998********1234"),
    ],
)
def test_a_dkb_card_is_known_by_its_number(card, number):
    (statement,) = read_csv(write_dkb_card(card, ("Laden", "-12,00")))
    assert (statement.account.account_number, statement.closing.amount) == (number, Decimal(-12))


def test_two_cards_are_two_credit_cards():
    files = [
        write_dkb_card(f'"Karte";"Visa Kreditkarte";"4998 •••• •••• {end}"', ("Laden", "-12,00"), amount=amount)
        for end, amount in (("1234", "Betrag (€)"), ("5678", "Betrag"), ("1234", "Betrag"))
    ]
    accounts = join_statements([statement for data in files for statement in read_csv(data)], [])
    assert [account.product.key for account in accounts] == ["dkb/4998********1234", "dkb/4998********5678"]
    assert {account.product.category for account in accounts} == {ProductCategory.CREDIT_CARD}
    assert {account.product.name for account in accounts} == {"Kreditkarte"}
    assert [len(account.transactions) for account in accounts] == [1, 1]


COMDIRECT = (
    '"Umsätze Girokonto";"Zeitraum: 10 Tage";\n"Neuer Kontostand";"1.721,97 EUR";\n\n'
    '"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";\n'
)
OPEN = [
    '"offen";"--";"Kartenverfügung";"Kto/IBAN: 1234567890  Buchungstext: Laden Musterstadt 2026-11-01T17:43:43 ";'
    '"-23,86";',
    '"offen";"--";"Lastschrift";"Auftraggeber: Verein Buchungstext: Beitrag Ref. X/1";"-20,00";',
    '"02.11.2026";"02.11.2026";"Lastschrift";" Auftraggeber: Laden Kto/IBAN: 12345 BLZ/BIC: 10020030 Buchungstext: '
    'Kauf";"-1,00";',
]


def test_open_rows_of_comdirect_are_pending_or_reported():
    (statement,) = read_csv((COMDIRECT + "\n".join(OPEN) + '\n\n"Alter Kontostand";"3.101,97 EUR";\n').encode("cp1252"))
    pending, booked = statement.entries
    assert (pending.is_pending, find_day(pending), pending.amount) == (True, date(2026, 11, 1), Decimal("-23.86"))
    assert (booked.is_pending, booked.counterparty_name) == (False, "Laden")
    (row,) = statement.rejected
    assert (row.line, "no day" in row.reason) == (6, True)
    assert statement.closing.amount == Decimal("1721.97")


def test_old_account_numbers_stay_visible():
    (statement,) = read_csv((COMDIRECT + OPEN[2]).encode("cp1252"))
    assert (statement.entries[0].purpose, statement.entries[0].counterparty_iban) == (
        "Kauf Kto 12345 BLZ 10020030",
        None,
    )
