"""The odd forms that banks send, one by one."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from kontor.connectors.statements import (
    IssueKind,
    StatementError,
    StatementKind,
    read_camt,
    read_camt_pages,
    read_csv,
    read_mt535,
    read_mt940,
    read_statements,
)
from kontor.connectors.statements.structured_86 import parse_details
from kontor.domain.positions import TradingUnit
from kontor.domain.transactions import find_day
from statement_files import pack

HEAD = ":20:STARTUMSE\r\n:25:10020030/1234567\r\n:28C:00001/001\r\n:60F:C261101EUR100,00\r\n"


def read_entry(line: str, details: str = ":86:166?00X"):
    (statement,) = read_mt940(f"{HEAD}:61:{line}\r\n{details}\r\n:62F:C261101EUR100,00\r\n-\r\n".encode("latin-1"))
    return statement.entries[0]


@pytest.mark.parametrize(
    ("line", "amount", "day"),
    [
        ("2611021102CR12,34NTRFNONREF", "12.34", date(2026, 11, 2)),
        ("2611021102DR12,34NTRFNONREF", "-12.34", date(2026, 11, 2)),
        ("2611021102RC12,34NTRFNONREF", "-12.34", date(2026, 11, 2)),  # a credit is taken back
        ("2611021102RD12,34NTRFNONREF", "12.34", date(2026, 11, 2)),  # a debit is given back
        ("2611021102RCR12,34NTRFNONREF", "-12.34", date(2026, 11, 2)),
        ("2611021102RDR12,34N001NONREF//X", "12.34", date(2026, 11, 2)),
        ("261102D12,NMSCNONREF", "-12", date(2026, 11, 2)),  # no day of booking, no cents
        ("2611020000C,50NMSCNONREF", "0.50", date(2026, 11, 2)),
        ("2602300301D1,00NINTNONREF", "-1.00", date(2026, 3, 1)),  # interest is dated to 30 February
        ("2612310102C1,00NTRFNONREF", "1.00", date(2027, 1, 2)),
        ("9912311231C1,00NTRFNONREF", "1.00", date(1999, 12, 31)),
        ("2611021102C1234567,89FTRFKREF 1//BANK\r\n/OCMT/USD10,00/", "1234567.89", date(2026, 11, 2)),
    ],
)
def test_mt940_reads_the_line_of_a_booking(line, amount, day):
    entry = read_entry(line)
    assert (entry.amount, find_day(entry)) == (Decimal(amount), day)


@pytest.mark.parametrize(
    "line", ["", "X", "261102", "26110211C", "261302D1,00NTRF", "2611021102C1,2,3NTRF", "999999C1,NTRF"]
)
def test_mt940_says_where_a_booking_cannot_be_read(line):
    with pytest.raises(StatementError) as caught:
        read_entry(line)
    assert (caught.value.line, caught.value.field) == (5, "61")


def test_field_86_is_read_with_all_its_parts():
    details = parse_details(
        "166?00GUTSCHRIFT?109310?20EREF+2026-0815?21KREF+K1?22MREF+M1?23CRED+DE98ZZZ09999999999?24SVWZ+Rechnung"
        " 4711 vom 1.1?25.2026?26ABWA+Oma Erna?30COBADEFFXXX?31DE89370400440532013000?32Muster GmbH und Partner ges\n"
        "?33ellschaft?34000?60ABWE+Opa"
    )
    assert details.purpose == (
        "EREF+2026-0815 KREF+K1 MREF+M1 CRED+DE98ZZZ09999999999 SVWZ+Rechnung 4711 vom 1.1 .2026 ABWA+Oma Erna ABWE+Opa"
    )
    assert details.gv_code == "166"
    assert details.booking_text == "GUTSCHRIFT"
    assert details.prima_nota == "9310"
    assert (details.counterparty_iban, details.counterparty_bic) == ("DE89370400440532013000", "COBADEFFXXX")
    assert details.counterparty_name == "Muster GmbH und Partner gesellschaft".replace(" ges ", " ges")
    assert details.ultimate_counterparty == "Oma Erna"


@pytest.mark.parametrize(
    ("content", "purpose", "gv_code", "name"),
    [
        ("NUR TEXT\nIN ZWEI ZEILEN", "NUR TEXT IN ZWEI ZEILEN", None, None),
        ("105?20Frage? Ja?32Name", "Frage? Ja", "105", "Name"),
        ("105<20Zweck<32Name", "Zweck", "105", "Name"),
        ("?20ohne Code?32Name", "ohne Code", None, "Name"),
        ("999UNSTRUKTURIERT", "999UNSTRUKTURIERT", None, None),
        ("166", None, "166", None),
        ("", None, None, None),
        ("105?32A?20erst der Name?21dann der Zweck", "erst der Name dann der Zweck", "105", "A"),
        (
            "105?20IBAN+DE89370400440532013000?21BIC+COBADEFFXXX",
            "IBAN+DE89370400440532013000 BIC+COBADEFFXXX",
            "105",
            None,
        ),
    ],
)
def test_field_86_is_read_in_forms_that_are_not_usual(content, purpose, gv_code, name):
    details = parse_details(content)
    assert (details.purpose, details.gv_code, details.counterparty_name) == (purpose, gv_code, name)


@pytest.mark.parametrize(
    ("content", "purpose"),
    [
        ("051?00X?20Miete?3010020030?310001234567?32Y", "Miete Kto 0001234567 BLZ 10020030"),
        ("051?00X?3010020030?311234567?32Y", "Kto 1234567 BLZ 10020030"),
        ("051?00X?20an Kto 1234567?3010020030?311234567", "an Kto 1234567 BLZ 10020030"),
        ("051?00X?20Zinsen?3000000000?310000000000", "Zinsen"),
        ("166?00X?20Miete?30COBADEFFXXX?31DE89370400440532013000", "Miete"),
    ],
)
def test_old_account_numbers_are_no_ibans_but_stay_visible(content, purpose):
    details = parse_details(content)
    assert details.purpose == purpose
    assert details.counterparty_iban in (None, "DE89370400440532013000")
    assert details.counterparty_bic in (None, "COBADEFFXXX")


@pytest.mark.parametrize(
    ("content", "name", "ultimate"),
    [
        ("166?00X?20Miete?32Hausverwaltung?35Anna?36 Blume", "Hausverwaltung", "Anna Blume"),
        ("166?00X?20Miete?35Anna Blume", "Anna Blume", None),
        ("166?00X?20ABWA+Oma Erna?32Bank?35Anna", "Bank", "Oma Erna"),
    ],
)
def test_field_86_names_for_whom_it_was_paid(content, name, ultimate):
    details = parse_details(content)
    assert (details.counterparty_name, details.ultimate_counterparty) == (name, ultimate)


def test_mt940_takes_swift_wrappers_pages_and_several_accounts():
    wrapped = (
        "{1:F01BANKDEFFXXXX}{2:I940X}{4:\r\n" + HEAD.replace(":60F:", ":60M:") + ":61:2611021102C1,00NTRFNONREF\r\n"
        ":86:166?00A\r\n:62M:C261102EUR101,00\r\n-}{5:{CHK:1}}\r\n{1:F01BANKDEFFXXXX}{4:\r\n"
        ":20:X\r\n:25:DE89370400440532013000EUR\r\n:28C:2\r\n:60F:D261102EUR5,00\r\n:62F:D261102EUR5,00\r\n-}"
    )
    first, second = read_mt940(wrapped.encode())
    assert (first.account.bank_code, first.account.account_number, first.sequence) == (
        "10020030",
        "1234567",
        "00001/001",
    )
    assert first.entries[0].booking_text == "A"
    assert (second.account.iban, second.account.currency) == ("DE89370400440532013000", "EUR")
    assert (second.opening.amount, second.entries) == (Decimal("-5.00"), ())


def test_mt940_takes_at_signs_for_line_ends_and_any_encoding():
    text = (HEAD + ":61:2611021102D1,00NTRFNONREF\r\n:86:166?00Gebühr?20Größe\r\n:62F:C261102EUR99,00\r\n-").replace(
        "\r\n", "@@"
    )
    for encoding in ("latin-1", "cp1252", "utf-8", "utf-8-sig", "cp850", "utf-16"):
        (statement,) = read_mt940(text.encode(encoding))
        assert (statement.entries[0].booking_text, statement.entries[0].purpose) == ("Gebühr", "Größe"), encoding


def test_a_balance_that_contradicts_the_bookings_is_an_issue_and_no_error():
    (statement,) = read_mt940((HEAD + ":61:2611021102D1,00NTRFNONREF\r\n:86:X\r\n:62F:C261102EUR98,00\r\n-").encode())
    (issue,) = statement.issues
    assert (issue.kind, issue.expected, issue.found) == (IssueKind.BALANCE_MISMATCH, Decimal("99.00"), Decimal("98.00"))
    assert len(statement.entries) == 1


def test_mt942_bookings_are_pending_in_the_currency_of_the_floor_limit():
    text = ":20:X\r\n:25:1/2\r\n:28C:1\r\n:34F:CHF0,\r\n:13D:2611021200+0100\r\n"
    text += ":61:261102D1,00NMSCNONREF\r\n:86:X\r\n:90D:1CHF1,\r\n-"
    (statement,) = read_mt940(text.encode())
    assert statement.kind is StatementKind.MT942
    assert (statement.entries[0].is_pending, statement.entries[0].currency) == (True, "CHF")


# camt

CAMT = (
    '<?xml version="1.0" encoding="UTF-8"?><n:Document xmlns:n="urn:iso:std:iso:20022:tech:xsd:camt.{0}"><n:{1}><n:{2}>'
    "<n:Acct><n:Id><n:IBAN>DE89370400440532013000</n:IBAN></n:Id></n:Acct>{3}</n:{2}></n:{1}></n:Document>"
)
ROOTS = {"052.001.08": ("BkToCstmrAcctRpt", "Rpt"), "053.001.02": ("BkToCstmrStmt", "Stmt")}
ROOTS["054.001.02"] = ("BkToCstmrDbtCdtNtfctn", "Ntfctn")


def read_camt_entry(entry: str, version: str = "053.001.02"):
    body = f"<Ntry>{entry}</Ntry>".replace("<", "<n:").replace("<n:/", "</n:")
    (statement,) = read_camt(CAMT.format(version, *ROOTS[version], body).encode())
    return statement


MONEY = '<Amt Ccy="{}">{}</Amt><CdtDbtInd>{}</CdtDbtInd><Sts>{}</Sts><BookgDt><Dt>2026-11-02</Dt></BookgDt>'


@pytest.mark.parametrize("version", ROOTS)
def test_camt_reads_any_kind_version_and_prefix(version):
    statement = read_camt_entry(MONEY.format("EUR", "12.3", "DBIT", "BOOK"), version)
    assert statement.kind == f"camt.{version[:3]}"
    assert statement.entries[0].amount == Decimal("-12.30")


def test_camt_splits_a_batch_and_gives_charges_a_booking():
    parts = "".join(
        f"<TxDtls><Refs><EndToEndId>E{n}</EndToEndId></Refs><AmtDtls><TxAmt>"
        f'<Amt Ccy="EUR">{n}.00</Amt></TxAmt></AmtDtls></TxDtls>'
        for n in (1, 2)
    )
    charges = '<Chrgs><Amt Ccy="EUR">0.50</Amt></Chrgs>'
    entry = (
        MONEY.format("EUR", "3.50", "DBIT", "BOOK")
        + f"<AcctSvcrRef>R</AcctSvcrRef>{charges}<NtryDtls>{parts}</NtryDtls>"
    )
    statement = read_camt_entry(entry)
    assert [(booking.amount, booking.purpose, booking.bank_id) for booking in statement.entries] == [
        (Decimal("-1.00"), "EREF+E1", "R/1"),
        (Decimal("-2.00"), "EREF+E2", "R/2"),
        (Decimal("-0.50"), "Entgelte", None),
    ]
    wrong = read_camt_entry(entry.replace("3.50", "9.99"))
    assert [booking.amount for booking in wrong.entries] == [Decimal("-9.99")]
    assert [issue.kind for issue in wrong.issues] == [IssueKind.BATCH_MISMATCH]


def test_camt_keeps_the_texts_of_a_batch_without_amounts():
    parts = "".join(
        f"<TxDtls><Refs><EndToEndId>E{n}</EndToEndId></Refs><RltdPties><Cdtr><Nm>{name}</Nm></Cdtr></RltdPties>"
        f"<RmtInf><Ustrd>Lohn {n}</Ustrd></RmtInf></TxDtls>"
        for n, name in ((1, "Anna"), (2, "Ben"))
    )
    statement = read_camt_entry(MONEY.format("EUR", "30", "DBIT", "BOOK") + f"<NtryDtls>{parts}</NtryDtls>")
    (entry,) = statement.entries
    assert (entry.amount, entry.counterparty_name, statement.issues) == (Decimal(-30), None, ())
    assert entry.purpose == "Anna EREF+E1 SVWZ+Lohn 1 | Ben EREF+E2 SVWZ+Lohn 2"
    same = read_camt_entry(
        MONEY.format("EUR", "30", "DBIT", "BOOK") + f"<NtryDtls>{parts.replace('Ben', 'Anna')}</NtryDtls>"
    ).entries[0]
    assert (same.counterparty_name, same.purpose) == ("Anna", "EREF+E1 SVWZ+Lohn 1 | EREF+E2 SVWZ+Lohn 2")


def test_camt_says_how_many_parts_of_a_batch_have_no_room():
    parts = "".join(f"<TxDtls><RmtInf><Ustrd>{n:03d}{'x' * 90}</Ustrd></RmtInf></TxDtls>" for n in range(100))
    (entry,) = read_camt_entry(MONEY.format("EUR", "30", "DBIT", "BOOK") + f"<NtryDtls>{parts}</NtryDtls>").entries
    count = entry.purpose.count("x" * 90)
    assert entry.purpose.endswith(f" | und {100 - count} weitere")
    assert len(entry.purpose) <= 4000
    assert count > 40


def test_camt_keeps_old_account_numbers_visible():
    details = (
        "<NtryDtls><TxDtls><RltdPties><Cdtr><Nm>Laden</Nm></Cdtr><CdtrAcct><Id><Othr><Id>1234567</Id></Othr></Id></CdtrAcct>"
        "</RltdPties><RltdAgts><CdtrAgt><FinInstnId><ClrSysMmbId><MmbId>10020030</MmbId></ClrSysMmbId></FinInstnId></CdtrAgt>"
        "</RltdAgts><RmtInf><Ustrd>Kauf</Ustrd></RmtInf></TxDtls></NtryDtls>"
    )
    (entry,) = read_camt_entry(MONEY.format("EUR", "1", "DBIT", "BOOK") + details).entries
    assert (entry.purpose, entry.counterparty_iban) == ("Kauf Kto 1234567 BLZ 10020030", None)


NOTHING = {
    "no statement": "<GrpHdr><MsgId>1</MsgId></GrpHdr>",
    "no entries": "<Rpt><Id>1</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct></Rpt>",
    "nothing": "",
}


def write_document(body):
    return (
        '<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08">'
        f"<BkToCstmrAcctRpt>{body}</BkToCstmrAcctRpt></Document>"
    ).encode()


@pytest.mark.parametrize(
    "empty", [*map(write_document, NOTHING.values()), b"", b" \n"], ids=[*NOTHING, "empty", "blank"]
)
def test_an_empty_page_among_camt_pages_takes_nothing_away(empty):
    full = write_document(
        "<Rpt><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>"
        f"<Ntry>{MONEY.format('EUR', '1', 'CRDT', 'BOOK')}</Ntry></Rpt>"
    )
    statements = read_camt_pages([empty, full, empty])
    assert [entry.amount for statement in statements for entry in statement.entries] == [Decimal(1)]
    assert [entry for statement in read_camt_pages([empty]) for entry in statement.entries] == []


def test_a_file_of_nothing_is_refused_but_spoils_no_zip():
    empty = write_document(NOTHING["no statement"])
    with pytest.raises(StatementError, match="no statement"):
        read_statements(empty)
    full = write_document(f"<Rpt><Ntry>{MONEY.format('EUR', '1', 'CRDT', 'BOOK')}</Ntry></Rpt>")
    assert len(read_statements(pack(**{"1.xml": empty, "2.xml": full})).statements) == 1


def test_camt_reversal_keeps_the_booked_sign_and_names_the_other_side():
    details = (
        "<RvslInd>true</RvslInd><NtryDtls><TxDtls><RltdPties><Dbtr><Nm>Ich</Nm></Dbtr><DbtrAcct><Id>"
        "<IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct><Cdtr><Nm>Versorger</Nm></Cdtr></RltdPties>"
        "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf></TxDtls></NtryDtls>"
    )
    (entry,) = read_camt_entry(MONEY.format("EUR", "5.00", "CRDT", "BOOK") + details).entries
    assert (entry.amount, entry.counterparty_name) == (Decimal("5.00"), "Versorger")
    assert entry.purpose == "Rückgabegrund: AC04"


def test_camt_knows_pending_information_currencies_codes_and_structured_remittance():
    pending = read_camt_entry(MONEY.format("USD", "1", "CRDT", "PDNG")).entries[0]
    assert (pending.is_pending, pending.currency) == (True, "USD")
    information = read_camt_entry(MONEY.format("EUR", "1", "CRDT", "INFO"))
    assert (information.entries, information.issues[0].kind) == ((), IssueKind.INFORMATION_LEFT_OUT)
    rest = (
        "<BkTxCd><Prtry><Cd>NTRF+166+9310+000</Cd></Prtry></BkTxCd><NtryDtls><TxDtls><Purp><Cd>SALA</Cd></Purp><RltdPties>"
        "<UltmtDbtr><Nm>Konzern</Nm></UltmtDbtr></RltdPties><RmtInf><Strd><CdtrRefInf><Ref>RF18539007547034</Ref>"
        "</CdtrRefInf></Strd></RmtInf></TxDtls></NtryDtls>"
    )
    (entry,) = read_camt_entry(MONEY.format("EUR", "1", "CRDT", "BOOK") + rest).entries
    assert (entry.gv_code, entry.prima_nota, entry.purpose) == ("166", "9310", "RF18539007547034")
    assert (entry.booking_text, entry.ultimate_counterparty) == ("SEPA Gutschrift Lohn / Gehalt", "Konzern")


def test_camt_drops_a_reference_that_names_two_bookings():
    body = f"<Ntry>{MONEY.format('EUR', '1', 'CRDT', 'BOOK')}<AcctSvcrRef>SAME</AcctSvcrRef></Ntry>" * 2
    text = CAMT.format("053.001.02", "BkToCstmrStmt", "Stmt", body.replace("<", "<n:").replace("<n:/", "</n:"))
    (statement,) = read_camt(text.encode())
    assert [entry.bank_id for entry in statement.entries] == [None, None]


@pytest.mark.parametrize(
    "entry", ["", "<Amt>1</Amt>", MONEY.format("EUR", "x", "CRDT", "BOOK"), MONEY.format("EUR", "1", "X", "BOOK")]
)
def test_camt_refuses_a_booking_without_amount_currency_or_side(entry):
    with pytest.raises(StatementError):
        read_camt_entry(entry)


# MT535


def test_mt535_reads_four_lines_of_a_name_bonds_and_foreign_prices():
    text = (
        ":16R:GENL\r\n:98A::STAT//20261102\r\n:97A::SAFE//10020030/1234567\r\n:16S:GENL\r\n"
        ":16R:FIN\r\n:35B:ISIN IE00B4L5Y983\r\n/DE/A0RPWH\r\niShares Core MSCI World\r\nUCITS ETF\r\n"
        ":90B::MRKT//ACTU/USD80,5\r\n:94B::PRIC//LMAR/XETR\r\n:98C::PRIC//20261101120000\r\n:93B::AGGR//UNIT/10,\r\n"
        ":19A::HOLD//EUR740,60\r\n:92B::EXCH//USD/EUR/0,92\r\n:16S:FIN\r\n"
        ":16R:FIN\r\n:35B:ISIN DE0001102580\r\nBUNDESREP.DEUTSCHLAND\r\n:90A::MRKT//PRCT/98,5\r\n"
        ":93B::AGGR//FAMT/2000,\r\n:19A::HOLD//EUR1970,\r\n:16S:FIN\r\n:16R:ADDINFO\r\n:19A::HOLP//EUR1,00\r\n:16S:ADDINFO\r\n-"
    )
    (holdings,) = read_mt535(text.encode())
    fund, bond = holdings.positions
    assert (fund.isin, fund.wkn, fund.name) == ("IE00B4L5Y983", "A0RPWH", "iShares Core MSCI World UCITS ETF")
    assert (fund.price, fund.currency, fund.exchange, fund.exchange_rate) == (
        Decimal("80.5"),
        "USD",
        "XETRA",
        Decimal("0.92"),
    )
    assert (bond.unit, bond.quantity, bond.price, bond.currency) == (TradingUnit.NOMINAL, 2000, Decimal("98.5"), "EUR")
    assert bond.total_value == Decimal(1970)
    assert (holdings.day, holdings.issues[0].kind) == (date(2026, 11, 2), IssueKind.POSITION_MISMATCH)


# CSV

DOWNLOADS = Path(__file__).parent / "downloads"


@pytest.mark.parametrize("key", sorted(file.stem for file in DOWNLOADS.iterdir()))
def test_downloads_of_large_banks_are_read_as_they_look(key):
    (statement,) = read_csv((DOWNLOADS / f"{key}.csv").read_bytes())
    (entry,) = statement.entries
    assert (entry.amount, find_day(entry), entry.counterparty_name) == (Decimal(-1380), date(2026, 11, 2), "Laden")
    assert entry.is_pending == (key == "dkb")
    if key == "dkb":
        assert (statement.closing.amount, statement.closing.day) == (Decimal("1721.97"), date(2026, 11, 3))
        assert (statement.account.iban, entry.purpose) == ("DE89370400440532013000", "MREF+M1 CRED+DE98 SVWZ+Kauf; gut")
    if key == "ing":
        assert (statement.account.iban, statement.account.holder) == ("DE89370400440532013000", "Ich")
    if key == "comdirect":
        assert (entry.counterparty_iban, entry.purpose) == ("DE89370400440532013000", "Kauf Ref. X/1")
    if key in ("ing", "comdirect", "deutsche-bank", "postbank"):
        assert statement.closing.amount == Decimal("1721.97")


CAMT_WITHOUT_CURRENCY = """<?xml version="1.0"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>1</Id>
<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id>{currency}</Acct>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt>90.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>
<Dt><Dt>2026-11-03</Dt></Dt></Bal>
<Ntry><Amt>10.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><ValDt><Dt>2026-11-03</Dt></ValDt></Ntry>
</Stmt></BkToCstmrStmt></Document>"""


def test_an_amount_of_camt_without_currency_and_booking_day_has_those_of_the_account_and_the_value():
    (statement,) = read_camt(CAMT_WITHOUT_CURRENCY.format(currency="<Ccy>EUR</Ccy>").encode())
    (entry,) = statement.entries
    assert (entry.amount, entry.currency, statement.closing.amount) == (Decimal(-10), "EUR", Decimal(90))
    assert find_day(entry) == date(2026, 11, 3)


def test_an_amount_of_camt_whose_currency_nobody_names_is_refused():
    with pytest.raises(StatementError, match="no currency"):
        read_camt(CAMT_WITHOUT_CURRENCY.format(currency="").encode())
