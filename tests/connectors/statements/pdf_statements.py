"""PDF statements in the shapes of banks, with invented people and bookings.

The shapes follow texts of statements that users of Portfolio Performance and of public converters have published.
"""

from pdf_writing import Text

ING_IBAN = "DE12500105170648489890"
DKB_IBAN = "DE02120300000000202051"
TRADE_REPUBLIC_IBAN = "DE75512108001245126199"


def make_ing(rows, *, opening="1.000,00", closing="1.138,05"):
    """`rows`: day, kind and name, amount, value date, further lines. Six fit on a page."""
    pages = []
    groups = [rows[place : place + 6] for place in range(0, len(rows), 6)] or [[]]
    for number, group in enumerate(groups, 1):
        page = [
            Text("ING-DiBa AG · 60628 Frankfurt am Main", 800),
            Text("Datum 31.10.2026", 790, 380),
            Text("Frau Auszugsnummer 10", 780, 350),
            Text(f"Alter Saldo {opening} Euro", 770, 380),
            Text("Petra Beispiel", 770, 50),
            Text(f"Neuer Saldo {closing} Euro", 760, 380),
            Text("IBAN DE12 5001 0517 0648 4898 90", 750, 380),
            Text(f"Seite {number} von {len(groups)}", 730, 380),
            Text("Girokonto Nummer 0648489890", 700),
            Text("Kontoauszug Oktober 2026", 690),
            Text("Buchung", 660, 50),
            Text("Buchung / Verwendungszweck", 660, 120),
            Text("Betrag (EUR)", 660, right=540),
            Text("Valuta", 650, 50),
        ]
        height = 630.0
        for day, title, amount, value, further in group:
            page += [Text(day, height, 50), Text(title, height, 120), Text(amount, height, right=540)]
            page += [Text(value, height - 11, 50)]
            page += [Text(line, height - 11 * (place + 1), 120) for place, line in enumerate(further)]
            height -= 11 * (len(further) + 1) + 6
        page.append(Text("34GKKA5433249489_T", 40, 30, size=6))
        pages.append(page)
    pages[-1] += [Text("Neuer Saldo", 300, 120), Text(closing, 300, right=540), Text("Kunden-Information", 280)]
    pages[-1] += [Text("20.10.2026 Werbung, die wie eine Buchung aussieht 99,00", 260)]
    return pages


def make_dkb(rows, *, opening="250,00", closing="2.195,80", raised=0):
    """`raised` is how much higher amounts stand than the rest of their line."""
    page = [
        Text("Deutsche Kreditbank AG", 800),
        Text("2. November 2026", 740, 400),
        Text("Kontoauszug 10/2026", 700),
        Text("Seite 1 von 1", 700, 450),
        Text("Girokonto 0000202051, DE02 1203 0000 0000 2020 51", 690),
        Text("Datum", 670, 50),
        Text("Erläuterung", 670, 120),
        Text("Betrag Soll EUR", 670, 340),
        Text("Betrag Haben EUR", 670, 450),
        Text("Kontostand am 05.10.2026, Auszug Nr.    9", 655, 120),
        Text(opening, 655 + raised, right=530),
    ]
    height = 640.0
    for day, kind, amount, further in rows:
        right = 410 if amount.startswith("-") else 530
        page += [Text(day, height, 50), Text(kind, height, 120), Text(amount, height + raised, right=right)]
        page += [Text(line, height - 11 * place, 120) for place, line in enumerate(further, 1)]
        height -= 11 * (len(further) + 1)
    page += [
        Text("Kontostand am 01.11.2026 um 11:00 Uhr", height - 10, 120),
        Text(closing, height - 10 + raised, right=530),
        Text("Gesamtumsatzsummen Summe Soll EUR Anzahl Summe Haben EUR Anzahl", height - 30),
        Text("Deutsche Kreditbank AG Vorsitzender des Aufsichtsrats Telefon 030 120 300 00", 60),
    ]
    return [page]


def make_dkb_card(rows, *, opening="40,72 -", closing="66,59 -"):
    page = [
        Text("Ihre Abrechnung vom 20.08.2021 bis 22.09.2021 Abrechnungsdatum: 22. September 2021", 780),
        Text("DKB-VISA-Card: 4930 XXXX XXXX 1234", 770),
        Text("Karteninhaberin: Petra Beispiel", 760),
        Text("Datum Datum Angabe des Unternehmens / Währung Betrag Kurs Betrag in", 740),
        Text("Beleg Buchung Verwendungszweck EUR", 730),
        Text("20.08.21", 715),
        Text("Saldo letzte Abrechnung", 715, 150),
        Text(opening, 715, right=540),
    ]
    height = 700.0
    for day, booked, text, amount in rows:
        page += [Text(day, height, 50), Text(booked, height, 100), Text(text, height, 150)]
        page += [Text(amount, height, right=540)]
        height -= 12
    page += [Text("Neuer Saldo", height, 150), Text(closing, height, right=540)]
    return [[*page, Text("Sehr geehrte Frau Beispiel,", height - 20)]]


def make_old_dkb(rows, *, opening="91,01 H", closing="12,40 S"):
    """Debits and credits differ by their column alone."""
    page = [
        Text("Deutsche Kreditbank, Taubenstr. 7-9, 10117 Berlin", 800),
        Text("Kontoauszug Nummer 001 / 2023 vom 05.12.2022 bis 04.01.2023", 760),
        Text("Kontonummer 0000202051 / IBAN DE02 1203 0000 0000 2020 51", 750),
        Text("Bu.Tag", 720, 50),
        Text("Wert", 720, 90),
        Text("Wir haben für Sie gebucht", 720, 130),
        Text("Belastung in EUR", 720, right=430),
        Text("Gutschrift in EUR", 720, right=540),
    ]
    height = 705.0
    for day, value, kind, amount, is_debit, further in rows:
        page += [Text(day, height, 50), Text(value, height, 90), Text(kind, height, 130)]
        page += [Text(amount, height, right=430 if is_debit else 540)]
        page += [Text(line, height - 11 * place, 130) for place, line in enumerate(further, 1)]
        height -= 11 * (len(further) + 1)
    end = [
        Text("Kontoauszug Nummer 001 / 2023 vom 05.12.2022 bis 04.01.2023", 760),
        Text(f"ALTER KONTOSTAND {opening} EUR", 740),
        Text(f"NEUER KONTOSTAND {closing} EUR", 730),
        Text("DEUTSCHE KREDITBANK AG IBAN: DE02 1203 0000 0000 2020 51 Seite 2 von 2", 60),
    ]
    return [[*page, Text("DEUTSCHE KREDITBANK AG IBAN: DE02 1203 0000 0000 2020 51 Seite 1 von 2", 60)], end]


def make_trade_republic(
    rows, *, opening="1.000,00", totals=("512,30", "75,49"), closing="1.436,81", product="Cashkonto"
):
    """`rows`: day, year, kind, lines of text, amount, balance. Cells are centred."""
    page = [
        Text("BIC TRBKDEBBXXX", 810, 330),
        Text("Petra Beispiel", 780),
        Text("DATUM 01 Okt. 2026 - 31 Okt. 2026", 780, 330),
        Text("IBAN DE75512108001245126199", 770, 330),
        Text("KONTOÜBERSICHT", 740),
        Text("PRODUKT", 725, 50),
        Text("ANFANGSSALDO", 725, 150),
        Text("ZAHLUNGSEINGANG", 725, 250),
        Text("ZAHLUNGSAUSGANG", 725, 350),
        Text("ENDSALDO", 725, 460),
        Text(product, 710, 50),
        Text(f"{opening} €", 710, 150),
        Text(f"{totals[0]} €", 710, 250),
        Text(f"{totals[1]} €", 710, 350),
        Text(f"{closing} €", 710, 460),
        Text("UMSATZÜBERSICHT", 690),
        Text("DATUM", 675, 50, size=6),
        Text("TYP", 675, 90, size=6),
        Text("BESCHREIBUNG", 675, 165, size=6),
        Text("ZAHLUNGSEINGANG", 675, 360, size=6),
        Text("ZAHLUNGSAUSGANG", 675, 438, size=6),
        Text("SALDO", 675, 522, size=6),
    ]
    top = 665.0
    for day, year, kind, texts, amount, is_credit, balance in rows:
        count = max(2, len(texts))
        middle = top - count * 5.5
        page += [Text(day, middle + 1.5, 50, size=8), Text(year, middle - 9.5, 50, size=8)]
        page += [Text(kind, middle - 4, 90, size=8)]
        for place, line in enumerate(texts):
            page.append(Text(line, middle - 4 + (len(texts) - 1) * 5.5 - place * 11, 165, size=8))
        page += [Text(f"{amount} €", middle - 4, 360 if is_credit else 438, size=8)]
        page += [Text(f"{balance} €", middle - 4, 522, size=8)]
        top -= count * 11 + 14
    page += [Text("Trade Republic Bank GmbH", 80, size=7), Text("Erstellt am 01.11.2026, 09:12:33 Seite 1 von 2", 60)]
    notes = [Text("BARMITTELÜBERSICHT", 780), Text("Deutsche Bank 1.436,81 €", 760)]
    return [page, [*notes, Text("HINWEISE ZUM KONTOAUSZUG", 740)]]
