"""Messages of banks: their structure stays, what is in them is masked."""

import json
import re
from decimal import Decimal

import pytest

from kontor.connectors.base import Exchange, Failed, FailureKind
from kontor.connectors.statements import read_camt_pages, read_mt535, read_mt940
from kontor.connectors.traces import Recorder, UnmaskedError
from kontor.connectors.traces.fints_messages import join_message, list_kinds, mask_message, read_message, split_message
from kontor.connectors.traces.http_messages import FORM, mask_address, mask_body, mask_exchange
from kontor.connectors.traces.masking import Mask
from kontor.connectors.traces.payloads import mask_payload
from kontor.domain.secrets import Secret
from xs2a_dialogues import PROVIDER, TODAY

MASK = Mask(b"key")
MT940 = (
    b"\r\n:20:STARTUMS\r\n:25:37040044/532013000EUR\r\n:28C:00003/001\r\n:60F:C261101EUR1000,00\r\n"
    b":61:2611021102DR29,99NDDTNONREF//4711223344\r\n"
    b":86:105?00SEPA-Lastschrift?109310?20EREF+RG-2026-77?21SVWZ+Vielen Dank, Erika Mu?22stermann?30COBADEFFXXX\r\n"
    b"?31DE89370400440532013000?32STADTWERKE MUSTERSTADT?34992\r\n"
    b":61:2611031103CR1500,00NTRFNONREF\r\n:86:166?00Gutschrift?20Gehalt November?32ARBEITGEBER GMBH\r\n"
    b":62F:C261103EUR2470,01\r\n-"
)
MT535 = (
    b":16R:GENL\r\n:98A::STAT//20261113\r\n:97A::SAFE//37040044/532013000\r\n:16S:GENL\r\n:16R:FIN\r\n"
    b":35B:ISIN DE0007164600\r\n/DE/716460\r\nSAP SE\r\n:90B::MRKT//ACTU/EUR120,50\r\n:98A::PRIC//20261113\r\n"
    b":93B::AGGR//UNIT/10,\r\n:19A::HOLD//EUR1205,00\r\n:16S:FIN\r\n:16R:ADDINFO\r\n:19A::HOLP//EUR1205,00\r\n"
    b":16S:ADDINFO\r\n-"
)
CAMT = """<?xml version="1.0" encoding="UTF-8"?><!-- Erika Mustermann -->
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt><GrpHdr><MsgId>M4711</MsgId>
<CreDtTm>2026-11-13T10:00:00</CreDtTm></GrpHdr><Rpt><Id>R4711</Id><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id>
<Ccy>EUR</Ccy></Acct><Ntry><Amt Ccy="EUR">29.99</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>2026-11-02</Dt></BookgDt><ValDt><Dt>2026-11-02</Dt></ValDt><NtryDtls><TxDtls><RltdPties><Cdtr><Pty>
<Nm>Stadtwerke Müller &amp; Söhne</Nm></Pty></Cdtr></RltdPties>
<RmtInf><Ustrd><![CDATA[Rechnung 77 <Erika>]]></Ustrd></RmtInf>
</TxDtls></NtryDtls></Ntry></Rpt></BkToCstmrAcctRpt></Document>"""


def scale(amount: str) -> Decimal:
    return Decimal(MASK.scale(amount))


def test_a_masked_mt940_has_the_same_bookings_with_balances_that_hold():
    [statement] = read_mt940(mask_payload(MASK, MT940))
    assert [row.amount for row in statement.entries] == [scale("-29.99"), scale("1500.00")]
    assert [row.gv_code for row in statement.entries] == ["105", "166"]
    assert statement.issues == ()
    assert statement.account.bank_code == "37040044"
    assert statement.account.account_number == MASK.mask_value("532013000")
    first = statement.entries[0]
    assert (first.booking_text, first.counterparty_bic) == ("SEPA-Lastschrift", "COBADEFFXXX")
    assert first.counterparty_iban == MASK.mask_iban("DE89370400440532013000")
    assert (first.purpose or "").startswith("EREF+")
    assert " SVWZ+" in (first.purpose or "")


def test_a_masked_mt535_has_positions_whose_sum_is_the_total():
    [depot] = read_mt535(mask_payload(MASK, MT535))
    [position] = depot.positions
    assert depot.issues == ()
    assert position.quantity is not None
    assert position.price is not None
    assert position.quantity * position.price == position.total_value
    assert position.isin is not None
    assert position.isin != "DE0007164600"
    assert len(position.name) == len("SAP SE")


def test_a_masked_camt_is_read_like_the_original():
    masked = mask_payload(MASK, CAMT.encode())
    [page] = read_camt_pages((masked,))
    [row] = page.entries
    [before] = next(iter(read_camt_pages((CAMT.encode(),)))).entries
    assert row.amount == scale("-29.99")
    assert row.booked_at == before.booked_at
    assert len(row.counterparty_name or "") == len("Stadtwerke Müller & Söhne")
    assert page.account.iban == MASK.mask_iban("DE89370400440532013000")


@pytest.mark.parametrize("data", [MT940, MT535, CAMT.encode()])
def test_no_word_and_no_number_of_a_person_is_in_a_masked_payload(data):
    masked = mask_payload(MASK, data).decode()
    for secret in (
        "532013000", "Erika", "ERIKA", "stermann", "STADTWERKE", "Stadtwerke", "ARBEITGEBER", "4711", "77", "SAP",
        "716460", "29,99", "29.99", "1500,00", "2470,01", "1205,00", "Vielen",
    ):  # fmt: skip
        assert secret not in re.sub(r"[0-9]{6,8}", "", masked), secret


def test_a_page_that_begins_within_a_field_is_masked_as_text():
    masked = mask_payload(MASK, b"an Erika Mustermann?32ERIKA\r\n:62F:C261103EUR2470,01\r\n-").decode()
    assert "rika" not in masked.lower()
    assert re.search(r":62F:C261103EUR[0-9]+,[0-9]{2}\r\n-$", masked)


# FinTS


def message(*segments: str) -> bytes:
    inner = "".join(f"{segment}'" for segment in segments)
    text = f"HNHBK:1:3+000000000000+300+4711+1'HNVSD:999:1+@{len(inner)}@{inner}'HNHBS:9:1+1'"
    return text.replace("000000000000", f"{len(text):012}").encode("latin-1")


@pytest.mark.parametrize(
    "data",
    [message("HIRMG:2:2+0010::?'Gut?' gemacht+3060::x:", "HIUPD:3:6:4+1::280:2++'"), b"HIXYZ:1:1+a::+@3@?:'+b''"],
)
def test_a_message_taken_apart_is_put_together_the_same(data):
    assert join_message(split_message(data)) == data


def test_the_size_of_a_masked_message_is_that_of_the_message():
    shown = mask_message(MASK, message("HIUPA:3:4:4+erika+1+0+Erika Mustermann"))
    data = read_message(shown)
    assert int(data[10:22]) == len(data)
    assert list_kinds(shown) == ["HNHBK3", "HNVSD1", "HIUPA4", "HNHBS1"]
    assert b"***" in data
    assert b"rika" not in data


@pytest.mark.parametrize(
    ("segment", "masked"),
    [
        ("HNSHA:6:2+3903554++12345:998877", r"HNSHA:6:2\+\d{7}\+\+\*\*\*:\*\*\*"),
        ("HKIDN:3:2+280:37040044+erika+0+1", r"HKIDN:3:2\+280:37040044\+\*\*\*\+0\+1"),
        ("HISYN:3:4:5+sys4711", r"HISYN:3:4:5\+(?!sys)[a-z]{3}\d{4}"),
        ("HISPA:3:1:3+J:DE89370400440532013000:COBADEFFXXX:532013000::280:37040044",
         r"HISPA:3:1:3\+J:DE\d\d37040044(\d{10}):COBADEFFXXX:\d{9}::280:37040044"),
        ("HISAL:5:7:3+x+Girokonto Erika+EUR+C:1809,42:EUR:20261113",
         r"HISAL:5:7:3\+[a-z]\+Girokonto [A-Z][a-z]{4}\+EUR\+C:\d+,\d\d:EUR:20261113"),
        ("HIRMS:4:2:3+3920::Erlaubt:901:902+3040::Mehr da:weiter77",
         r"HIRMS:4:2:3\+3920::\w{7}:901:902\+3040::Mehr \w\w:\w{6}\d\d"),
        ("HIUPD:4:6:4+7::280:37040044++k+1+EUR+E++Tagesgeld Plus++HKSAL:1+{\"name\"?:\"Erika\"}",
         r"HIUPD:4:6:4\+\d::280:37040044\+\+\*\*\*\+1\+EUR\+[A-Z]\+\+Tagesgeld [A-Z][a-z]{3}\+\+HKSAL:1\+"
         r"\{\"\w{4}\"\?:\"\w{5}\"\}"),
        ("HITAN:5:7:4+4++ref77+Bitte TAN f?:r Erika+@12@004711223344+20261113:101500",
         r"HITAN:5:7:4\+4\+\+\w{3}\d\d\+Bitte TAN .*\+@12@00\d{10}\+20261113:101500"),
        ("HIXYZ:5:1:3+Erika:20261113+J", r"HIXYZ:5:1:3\+\w{5}:\d{8}\+[A-Z]"),
        ("HIPINS:5:1:3+1+1+1+5:20:6:VR-NetKey:Alias:HKSAL:N", r"HIPINS:5:1:3\+1\+1\+1\+5:20:6:VR-NetKey:Alias:HKSAL:N"),
    ],
)  # fmt: skip
def test_a_segment_keeps_what_the_table_says_and_nothing_else(segment, masked):
    shown = mask_message(MASK, message(segment))
    [inner] = shown[1]["segments"]
    assert re.fullmatch(masked, inner), inner
    assert "rika" not in inner


def test_an_image_of_a_challenge_keeps_its_kind_and_size():
    image = b"\x00\x09image/png\x00\x04Erik"
    data = b"HNHBK:1:3+000000000058+300+0+1'HITAN:2:7:4+4++r+x+@%d@%s'" % (len(image), image)
    masked = split_message(read_message(mask_message(MASK, data)))[1][5][0]
    assert masked == b"\x00\x09image/png\x00\x04" + bytes(4)


@pytest.mark.parametrize("data", [b"<html>Erika 4711</html>", b"HNHBK:1:3+@99@", b""])
def test_what_is_not_fints_is_masked_as_text(data):
    shown = mask_message(MASK, data)
    assert isinstance(shown, str)
    assert len(read_message(shown)) == len(data)
    assert b"4711" not in read_message(shown)


# XS2A


def test_json_keeps_codes_days_and_flags():
    body = {
        "transactionStatus": "ACSC", "bookingDate": "2026-11-02", "iban": "DE89370400440532013000",
        "transactionAmount": {"amount": "-29.99", "currency": "EUR"}, "ownerName": "Erika Mustermann", "rate": 1.5,
        "access_token": "t0ken", "psuData": {"password": "12345"}, "code": "s3cret", "DE89370400440532013000": True,
        "tppMessages": [{"code": "CONSENT_EXPIRED", "category": "ERROR", "text": "Konto von Erika"}],
        "_links": {"self": {"href": "https://api.bank.de/v1/consents/Erika-77?x=Erika"}, "next": "/v1/accounts/e77"},
    }  # fmt: skip
    masked = mask_body(MASK, json.dumps(body).encode())
    assert (masked["transactionStatus"], masked["bookingDate"]) == ("ACSC", "2026-11-02")
    assert masked["transactionAmount"] == {"amount": MASK.scale("-29.99"), "currency": "EUR"}
    assert masked["tppMessages"][0]["code"] == "CONSENT_EXPIRED"
    assert masked["tppMessages"][0]["text"].startswith("Konto ")
    assert masked["access_token"] == masked["psuData"]["password"] == masked["code"] == "***"
    assert masked["_links"]["self"]["href"].startswith("https://bank.example/v1/consents/")
    text = json.dumps(masked)
    for secret in ("rika", "0532013000", "29.99", "-77", "e77", "bank.de"):
        assert secret not in text, secret


def test_an_id_is_the_same_in_a_body_and_in_an_address():
    masked = mask_body(MASK, b'{"consentId": "a1b2-c3d4"}')
    assert mask_address(MASK, "https://x.de/v1/consents/a1b2-c3d4/status").endswith(f"/{masked['consentId']}/status")


def test_headers_of_the_customer_and_the_certificate_are_left_out():
    headers = {
        "PSU-ID": "erika",
        "Authorization": "Bearer x",
        "PSU-IP-Address": "1.2.3.4",
        "Accept": "application/json",
    }
    exchange = Exchange(
        "xs2a", "GET", "https://x.de/v1/accounts", headers, b"", 200, {"ASPSP-SCA-Approach": "REDIRECT"}
    )
    shown = mask_exchange(MASK, exchange)
    assert shown == {
        "method": "GET",
        "path": "/v1/accounts",
        "headers": {"accept": "application/json"},
        "answer": {"status": 200, "headers": {"aspsp-sca-approach": "REDIRECT"}},
    }


def test_a_form_names_no_code_and_no_secret():
    content = b"grant_type=authorization_code&code=a1b2&client_id=me&code_verifier=v77&redirect_uri=https%3A%2F%2Fx.de"
    exchange = Exchange("xs2a", "POST", "https://x.de/token", {"content-type": FORM}, content, problem="ReadTimeout")
    shown = mask_exchange(MASK, exchange)
    assert re.fullmatch(r"grant_type=\w+&code=\*{3}&client_id=\*{3}&code_verifier=\*{3}&redirect_uri=.*", shown["body"])
    assert shown["problem"] == "ReadTimeout"


# Recording


def test_a_trace_that_would_name_a_secret_is_not_made():
    recorder = Recorder(PROVIDER, TODAY, [Secret("HKSAL")])
    recorder.record(Exchange("fints", "POST", "", {}, message("HIPINS:5:1:3+1+1+1+5:20:6:::HKSAL:N"), problem="gone"))
    with pytest.raises(UnmaskedError):
        recorder.make_trace(Failed(FailureKind.UNREACHABLE))


def test_an_exchange_shows_nothing_of_its_content_when_printed():
    exchange = Exchange("xs2a", "GET", "https://x.de/erika", {"psu-id": "erika"}, b"erika", answer=b"erika")
    assert "erika" not in repr(exchange)
