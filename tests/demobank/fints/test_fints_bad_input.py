"""Bad input: whatever is sent, the answer is a FinTS message with a 9xxx code, or a plain HTTP error."""

import base64
import socket
import ssl
from collections.abc import Iterator

import httpx
import pytest
from fints_talk import BANK, Talk, frame, make_tan, read_answer
from hypothesis import given
from hypothesis import strategies as st

from fints_banks import FintsBankUnderTest
from kontor.demobank.fints.segments import make_segment, number_segments, write_segments
from kontor.demobank.fints.server import MAX_BODY_BYTES
from many_examples import many_examples


@pytest.fixture(scope="module")
def client(fints_bank: FintsBankUnderTest) -> Iterator[httpx.Client]:
    with httpx.Client(verify=ssl.create_default_context(cafile=fints_bank.authority), timeout=60) as client:
        yield client


def write_beginning(bank: FintsBankUnderTest) -> bytes:
    talk = Talk(bank.bank, "leer", function="901", system="abc")
    talk.number = 1
    return talk.write(
        make_segment("HKIDN", 2, BANK, "leer", "abc", 1),
        make_segment("HKVVB", 3, 0, 0, 1, "KONTORTEST", "1.0"),
        make_tan(),
    )


def test_the_beginning_itself_is_sound(fints_bank: FintsBankUnderTest):
    assert "9050" not in read_answer(fints_bank.bank.answer(write_beginning(fints_bank))).codes


def test_a_message_that_is_cut_off_anywhere_is_refused(fints_bank: FintsBankUnderTest):
    message = write_beginning(fints_bank)
    for end in range(0, len(message), 7):
        codes = read_answer(fints_bank.bank.answer(message[:end])).codes
        assert {"9050", "9800"} <= set(codes), message[:end]


@many_examples(150)
@given(st.data())
def test_changed_bytes_never_break_the_bank(fints_bank: FintsBankUnderTest, data: st.DataObject):
    message = bytearray(write_beginning(fints_bank))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(message) - 1))
        # The PIN stays: wrong ones would lock the customer, and end in the same answer.
        if b"demo" not in message[max(0, place - 4) : place + 5]:
            message[place] = data.draw(st.sampled_from(b"'+:?@\x00\xff09aZ"))
    codes = read_answer(fints_bank.bank.answer(bytes(message))).codes
    assert codes[0] in ("0010", "3060", "9050")


def plain(*segments, dialogue: str = "0", number: int = 1, last: int | None = None) -> bytes:
    body = write_segments(number_segments(segments, 2))
    return frame(dialogue, number, body, len(segments) + 2 if last is None else last)


IDENTIFICATION = make_segment("HKIDN", 2, BANK, "9999999999", 0, 0)
PREPARATION = make_segment("HKVVB", 3, 0, 0, 1, "KONTORTEST", "1.0")

BAD = {
    "nothing": b"",
    "text": b"hello",
    "only head and end": plain(),
    "no preparation": plain(IDENTIFICATION),
    "unsigned customer": plain(make_segment("HKIDN", 2, BANK, "test_products", 0, 1), PREPARATION),
    "other bank": plain(make_segment("HKIDN", 2, ("280", "12345678"), "9999999999", 0, 0), PREPARATION),
    "old identification": plain(make_segment("HKIDN", 1, BANK, "9999999999", 0, 0), PREPARATION),
    "unknown dialogue": plain(make_segment("HKEND", 1, "x"), dialogue="unknown"),
    "number of the end": plain(IDENTIFICATION, PREPARATION, last=9),
    "second message first": plain(IDENTIFICATION, PREPARATION, number=2),
    "wrong length": plain(IDENTIFICATION, PREPARATION).replace(b"+300+", b"+300+0"),
    "other version": plain(IDENTIFICATION, PREPARATION).replace(b"+300+", b"+220+"),
    "utf-16": plain(IDENTIFICATION, PREPARATION).decode().encode("utf-16"),
    "unsigned envelope": frame("0", 1, b"HNVSK:998:3+PIN:1'HNVSD:999:1+@9@HKIDN:2:2''", 3),
    "half an envelope": frame("0", 1, b"HNVSK:998:3+PIN:1'", 3),
    "keys": frame("0", 1, b"HNVSK:998:3+RDH:1'HNVSD:999:1+@9@HKIDN:2:2''", 3),
    "many segments": plain(*[IDENTIFICATION] * 250),
    "many values": plain(make_segment("HKIDN", 2, ("x",) * 6000)),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_messages_are_refused_over_https(fints_bank: FintsBankUnderTest, client: httpx.Client, name: str):
    response = client.post(fints_bank.url, content=base64.b64encode(BAD[name]))
    assert response.status_code == 200
    codes = read_answer(base64.b64decode(response.content)).codes
    assert codes[:2] == ["9050", "9800"]


def test_what_is_no_base64_is_refused_like_any_other_nonsense(fints_bank: FintsBankUnderTest, client: httpx.Client):
    response = client.post(fints_bank.url, content=b"\xff!not base64!")
    assert "9110" in read_answer(base64.b64decode(response.content)).codes


def test_base64_may_come_in_lines(fints_bank: FintsBankUnderTest, client: httpx.Client):
    body = base64.encodebytes(plain(IDENTIFICATION, PREPARATION))
    assert "3060" in read_answer(base64.b64decode(client.post(fints_bank.url, content=body).content)).codes


def test_http_is_refused_where_it_is_wrong(fints_bank: FintsBankUnderTest, client: httpx.Client):
    assert client.get(fints_bank.url).status_code == 405
    assert client.post(fints_bank.url + "/elsewhere", content=b"x").status_code == 404
    assert client.post(fints_bank.url, content=iter([b"x"])).status_code == 411
    assert client.post(fints_bank.url, content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413


def test_who_speaks_no_tls_holds_up_nobody(fints_bank: FintsBankUnderTest, client: httpx.Client):
    host, _, port = fints_bank.address.removesuffix("/fints").partition(":")
    with socket.create_connection((host, int(port))) as silent, socket.create_connection((host, int(port))) as rude:
        rude.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert client.get(fints_bank.url).status_code == 405
        assert silent.fileno() > 0


def test_strangers_do_not_trust_the_certificate(fints_bank: FintsBankUnderTest):
    with pytest.raises(httpx.ConnectError):
        httpx.get(fints_bank.url)
