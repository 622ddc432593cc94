"""A plain client for tests: says exactly what it is told to, and shows what the bank says."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

from kontor.demobank.fints.bank import FintsBank
from kontor.demobank.fints.segments import Segment, make_segment, number_segments, parse_segments, write_segments

BANK = ("280", "99999999")
SHOP = "DE02120300000000202051"


@dataclass(frozen=True)
class Heard:
    """The bank's answer, without its envelope."""

    raw: bytes
    dialogue_id: str
    segments: tuple[Segment, ...]

    @property
    def codes(self) -> list[str]:
        return [
            group[0] for segment in self.segments if segment.code in ("HIRMG", "HIRMS") for group in segment.elements
        ]

    def find(self, code: str) -> Segment:
        return next(segment for segment in self.segments if segment.code == code)

    def find_all(self, code: str) -> list[Segment]:
        return [segment for segment in self.segments if segment.code == code]

    def parameter(self, code: str) -> str:
        groups = [group for segment in self.segments if segment.code == "HIRMS" for group in segment.elements]
        return next(group[3] for group in groups if group[0] == code)


def read_answer(raw: bytes) -> Heard:
    outer = parse_segments(raw)
    assert int(outer[0].read(1)) == len(raw)
    inner = outer[1:-1]
    if inner and inner[0].code == "HNVSK":
        inner = parse_segments(inner[1].read_binary(1))
        assert (inner[0].code, inner[-1].code) == ("HNSHK", "HNSHA")
        inner = inner[1:-1]
    return Heard(raw, outer[0].read(3), tuple(inner))


def frame(dialogue_id: str, number: int, body: bytes, last: int) -> bytes:
    head = f"HNHBK:1:3+{{:012d}}+300+{dialogue_id}+{number}'"
    end = f"HNHBS:{last}:1+{number}'".encode()
    return head.format(len(head.format(0)) + len(body) + len(end)).encode() + body + end


class Talk:
    """One dialogue of one customer."""

    def __init__(
        self,
        bank: FintsBank,
        login: str,
        pin: str = "demo",
        function: str = "999",
        system: str = "0",
        profile: int = 2,
    ):
        self.bank, self.profile = bank, profile
        self.login, self.pin, self.function, self.system = login, pin, function, system
        self.dialogue_id, self.number = "0", 0

    def write(self, *segments: Segment, tan: str = "") -> bytes:
        key = (*BANK, self.login)
        signed = [
            make_segment(
                "HNSHK",
                4,
                ("PIN", self.profile),
                self.function,
                77,
                1,
                1,
                (1, None, self.system),
                1,
                1,
                1,
                6,
                (*key, "S", 0, 0),
            ),
            *segments,
            make_segment("HNSHA", 2, 77, None, (self.pin, tan)),
        ]
        inner = write_segments(number_segments(signed, 2))
        shell = [
            replace(make_segment("HNVSK", 3, ("PIN", 2), 998, 1, (1, None, self.system)), number=998),
            replace(make_segment("HNVSD", 1, inner), number=999),
        ]
        return frame(self.dialogue_id, self.number, write_segments(shell), len(signed) + 2)

    def send(self, *segments: Segment, tan: str = "") -> Heard:
        self.number += 1
        heard = read_answer(self.bank.answer(self.write(*segments, tan=tan)))
        self.dialogue_id = heard.dialogue_id
        return heard

    def begin(self, *more: Segment) -> Heard:
        return self.send(
            make_segment("HKIDN", 2, BANK, self.login, self.system, 1),
            make_segment("HKVVB", 3, 0, 0, 1, "KONTORTEST", "1.0"),
            *more,
        )

    def confirm(self, challenge: Heard, tan: str, *before: Segment, process: str = "2") -> Heard:
        reference = challenge.find("HITAN").read(3)
        return self.send(*before, make_tan(process, reference=reference), tan=tan)


def make_tan(
    process: str = "4", order: str = "HKIDN", reference: str = "", medium: str = "", cancel: str = ""
) -> Segment:
    code = order if process == "4" else ""
    return make_segment("HKTAN", 7, process, code, None, None, reference, None, cancel, None, None, None, medium)


def synchronise(bank: FintsBank, login: str) -> str:
    """A system id of one's own."""
    talk = Talk(bank, login)
    heard = talk.begin(make_segment("HKSYN", 3, 0))
    talk.send(make_segment("HKEND", 1, talk.dialogue_id))
    return heard.find("HISYN").read(1)


def open_talk(bank: FintsBank, login: str, function: str = "901") -> Talk:
    """A dialogue in which orders are taken at once."""
    talk = Talk(bank, login, function=function, system=synchronise(bank, login))
    heard = talk.begin(make_tan())
    assert "3076" in heard.codes, heard.codes
    return talk


def find_account(heard: Heard, place: int = 0) -> tuple[Any, ...]:
    """The international form of an account of the user parameters."""
    segment = heard.find_all("HIUPD")[place]
    return (segment.read(2), "KONTDEFFXXX", *segment.read_group(1))


def write_pain(
    debtor: str,
    *orders: tuple[str, str, str],
    message_id: str | None = None,
    day: date | None = None,
) -> bytes:
    """A pain.001 with orders of name, IBAN and amount."""
    rows = "".join(
        f"<CdtTrfTxInf><PmtId><EndToEndId>E{number}</EndToEndId></PmtId>"
        f'<Amt><InstdAmt Ccy="EUR">{amount}</InstdAmt></Amt><Cdtr><Nm>{name}</Nm></Cdtr>'
        f"<CdtrAcct><Id><IBAN>{iban}</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Test</Ustrd></RmtInf></CdtTrfTxInf>"
        for number, (name, iban, amount) in enumerate(orders)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">'
        f"<CstmrCdtTrfInitn><GrpHdr><MsgId>{message_id or uuid4().hex}</MsgId></GrpHdr><PmtInf>"
        f"<ReqdExctnDt><Dt>{day or '1999-01-01'}</Dt></ReqdExctnDt>"
        f"<DbtrAcct><Id><IBAN>{debtor}</IBAN></Id></DbtrAcct>{rows}</PmtInf></CstmrCdtTrfInitn></Document>"
    ).encode()


PAIN = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"
REPORT = "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"


def make_order(code: str, account: tuple[Any, ...], pain: bytes, total: Decimal | None = None) -> Segment:
    if code in ("HKCCM", "HKIPM"):
        return make_segment(code, 1, account, (total, "EUR"), None, PAIN, pain)
    return make_segment(code, 1, account, PAIN, pain)
