"""Payments over the wire: verified, confirmed, booked once, and seen by every way to the bank."""

import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from fints_talk import PAIN, REPORT, SHOP, Heard, Talk, find_account, make_order, make_tan, write_pain

from fints_banks import FintsBankUnderTest
from kontor.connectors.base import Context, Continue, Done, Fetch, Fetched, Progress
from kontor.connectors.demo import DemoConnector
from kontor.demobank.faults import LostAnswerError
from kontor.demobank.fints.customers import PROVIDER, WIRE_CUSTOMER
from kontor.demobank.fints.segments import make_segment
from kontor.demobank.xs2a.aspsp import CUSTOMER as XS2A_CUSTOMER
from kontor.domain.secrets import Secret
from kontor.domain.transactions import Transaction

CHECK = make_segment("HKVPP", 1, REPORT)


class Payer:
    """Somebody with money: `demo1` and a suffix of one's own, or a login that misbehaves."""

    def __init__(self, bank: FintsBankUnderTest, login: str, function: str = "901") -> None:
        self.bank = bank
        self.login = login
        self.talk = Talk(bank.bank, login, function=function, system="abc")
        begun = self.talk.begin(make_tan())
        if "3955" in begun.codes:
            self.talk.confirm(begun, "", process="S")
            begun = self.talk.confirm(begun, "", process="S")
        self.account = find_account(begun)
        self.iban = self.account[0]

    def order(self, *before, code: str = "HKCCS", pain: bytes | None = None, total: Decimal | None = None) -> Heard:
        pain = pain or write_pain(self.iban, ("Erika Muster", SHOP, "12.34"))
        return self.talk.send(*before, make_order(code, self.account, pain, total), make_tan(order=code))

    def read_balance(self) -> Decimal:
        group = self.talk.send(make_segment("HKSAL", 7, self.account, "N")).find("HISAL").read_group(4)
        amount = Decimal(group[1].replace(",", ".").rstrip("."))
        return -amount if group[0] == "D" else amount

    def fetch_in_process(self) -> tuple[Transaction, ...]:
        """What the same customer sees without any wire."""
        connector = DemoConnector(self.bank.memory, 0)
        context = Context(today=self.bank.today, customer=WIRE_CUSTOMER)
        memory = {"consent_until": str(self.bank.today)}
        step = connector.begin(
            PROVIDER, {"userid": Secret(self.login), "pin": Secret("demo")}, Fetch(), memory, context
        )
        assert isinstance(step, Progress)
        done = connector.resume(PROVIDER, {}, step.state, Continue(), context)
        assert isinstance(done, Done)
        assert isinstance(done.result, Fetched)
        return done.result.transactions[step.partial.products[0].key]


@pytest.mark.parametrize("code", ["HKCCS", "HKIPZ"])
def test_a_payment_is_booked_once_and_seen_by_every_way(fints_bank: FintsBankUnderTest, code: str):
    payer = Payer(fints_bank, f"test_products+pay{code}")
    before = payer.read_balance()
    challenge = payer.order(CHECK, code=code)
    assert {"0020", "0025", "0030"} <= set(challenge.codes)
    assert challenge.find("HIVPP").read(6, 4) == "RCVC"
    assert "12,34 EUR an Erika Muster" in challenge.find("HITAN").read(4)
    approval = make_segment("HKVPA", 1, challenge.find("HIVPP").read_binary(1))
    paid = payer.talk.confirm(challenge, "2", approval)
    assert paid.codes[0] == "0010"
    assert payer.read_balance() == before - Decimal("12.34")
    rows = [row for row in payer.fetch_in_process() if row.purpose == "EREF+E0 SVWZ+Test"]
    assert [row.amount for row in rows] == [Decimal("-12.34")]
    order = make_segment("HKKAZ", 7, payer.account, "N", fints_bank.today)
    statement = payer.talk.send(order, make_tan(order="HKKAZ")).find("HIKAZ").read(1)
    assert "Erika Muster" in statement.replace("\r\n", "")


def test_both_ways_on_the_wire_know_one_customer():
    assert XS2A_CUSTOMER == WIRE_CUSTOMER, "otherwise a payment of one is not on the statement of the other"


def test_an_unknown_payee_check_stops_the_order(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+unknowncheck")
    before = payer.read_balance()
    challenge = payer.order(CHECK)
    refused = payer.talk.confirm(challenge, "2", make_segment("HKVPA", 1, b"no such check"))
    assert {"9210", "9800"} <= set(refused.codes)
    assert Payer(fints_bank, "test_products+unknowncheck").read_balance() == before


def test_a_payment_without_its_tan_is_not_booked(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+notan")
    before = payer.read_balance()
    challenge = payer.order()
    for _ in range(2):
        assert "9941" in payer.talk.confirm(challenge, "1").codes
    assert {"9941", "9800"} <= set(payer.talk.confirm(challenge, "3").codes)
    assert "9010" in payer.talk.confirm(challenge, "2").codes
    other = Payer(fints_bank, "test_products+notan")
    assert other.read_balance() == before
    foreign = other.talk.confirm(challenge, "2")
    assert "9951" in foreign.codes, "a challenge belongs to its dialogue"
    no_tan = other.talk.send(make_order("HKCCS", other.account, write_pain(other.iban, ("A", SHOP, "1.00"))))
    assert "9075" in no_tan.codes


def test_a_cancelled_order_is_gone(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+cancel")
    challenge = payer.order()
    reference = challenge.find("HITAN").read(3)
    cancelled = payer.talk.send(make_tan("2", reference=reference, cancel="J"))
    assert "0020" in cancelled.codes
    assert "9951" in payer.talk.confirm(challenge, "2").codes


def test_the_same_message_pays_once(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+twice")
    pain = write_pain(payer.iban, ("Erika Muster", SHOP, "5.00"), message_id=str(uuid4()))
    before = payer.read_balance()
    assert payer.talk.confirm(payer.order(pain=pain), "2").codes[0] == "0010"
    assert "9210" in payer.order(pain=pain).codes
    assert payer.read_balance() == before - 5


def test_an_app_confirms_a_payment(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_decoupled+pay", "923")
    before = payer.read_balance()
    challenge = payer.order()
    assert "3955" in challenge.codes
    assert "3956" in payer.talk.confirm(challenge, "", process="S").codes
    assert payer.read_balance() == before
    assert payer.talk.confirm(challenge, "", process="S").codes[0] == "0010"
    assert payer.read_balance() == before - Decimal("12.34")


@pytest.mark.parametrize(("login", "result"), [("test_vop_close", "RVMC"), ("test_vop_nomatch", "RVNM")])
def test_a_payee_that_does_not_fit_must_be_approved(fints_bank: FintsBankUnderTest, login: str, result: str):
    payer = Payer(fints_bank, f"{login}+vop")
    pain = write_pain(payer.iban, ("Erika Muster", SHOP, "1.00"))
    verified = payer.order(CHECK, pain=pain)
    assert {"3090", "3945"} <= set(verified.codes)
    assert not verified.find_all("HITAN")
    shown = verified.find("HIVPP")
    assert shown.read(6, 4) == result
    assert bool(shown.read(6, 2)) == (result == "RVMC"), "only what is close comes with a suggestion"
    approval = make_segment("HKVPA", 1, shown.read_binary(1))
    other = write_pain(payer.iban, ("Erika Muster", SHOP, "100.00"))
    assert "9210" in payer.order(approval, pain=other).codes, "the approval is for that order only"
    verified = payer.order(CHECK, pain=pain)
    approval = make_segment("HKVPA", 1, verified.find("HIVPP").read_binary(1))
    challenge = payer.order(approval, pain=pain)
    assert "0030" in challenge.codes
    assert payer.talk.confirm(challenge, "2").codes[0] == "0010"
    assert "9076" in payer.order(pain=write_pain(payer.iban, ("A", SHOP, "1.00"))).codes, "without any check"


def test_a_bulk_is_verified_by_polling(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+bulk")
    before = payer.read_balance()
    names = [("Erika Muster", SHOP, "1.00"), ("Anna Andere", "DE71999999990000000009", "2.50")]
    pain = write_pain(payer.iban, *names)
    first = payer.order(CHECK, code="HKCCM", pain=pain, total=Decimal("3.50"))
    assert {"3040", "3945"} <= set(first.codes)
    polling_id = first.find("HIVPP").read_binary(3)
    poll = make_segment("HKVPP", 1, REPORT, polling_id, None, first.parameter("3040"))
    assert "3040" in payer.talk.send(poll).codes
    result = payer.talk.send(poll)
    assert "3090" in result.codes
    report = result.find("HIVPP").read_binary(5).decode()
    assert re.findall("<TxSts>(.{4})</TxSts>", report) == ["RCVC", "RVNM"]
    approval = make_segment("HKVPA", 1, result.find("HIVPP").read_binary(1))
    challenge = payer.order(approval, code="HKCCM", pain=pain, total=Decimal("3.50"))
    assert payer.talk.confirm(challenge, "2").codes[0] == "0010"
    assert payer.read_balance() == before - Decimal("3.50")
    assert "9210" in payer.talk.send(poll).codes, "the result was given once"


def test_a_payment_on_a_later_day_is_accepted(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+later")
    before = payer.read_balance()
    pain = write_pain(payer.iban, ("Erika Muster", SHOP, "7.00"), day=fints_bank.today + timedelta(days=3))
    paid = payer.talk.confirm(payer.order(pain=pain), "2")
    assert paid.codes[0] == "0010"
    assert payer.read_balance() == before


@pytest.mark.parametrize(
    ("iban", "amount"), [("DE93999999990000000001", "1.00"), (SHOP, "99999999.00")], ids=["refused", "no funds"]
)
def test_a_refusal_comes_after_the_tan(fints_bank: FintsBankUnderTest, iban: str, amount: str):
    payer = Payer(fints_bank, "test_products+refused")
    challenge = payer.order(pain=write_pain(payer.iban, ("Erika Muster", iban, amount)))
    assert "0030" in challenge.codes
    assert "9210" in payer.talk.confirm(challenge, "2").codes


def test_an_answer_that_is_lost_leaves_the_booking(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+lost")
    before = payer.read_balance()
    challenge = payer.order(pain=write_pain(payer.iban, ("Erika Muster", "DE12999999990000000004", "3.00")))
    with pytest.raises(LostAnswerError):
        payer.talk.confirm(challenge, "2")
    assert Payer(fints_bank, "test_products+lost").read_balance() == before - 3


@pytest.mark.parametrize(
    "pain",
    [
        b"",
        b"<a>",
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b"<Document/>",
        b"\xff\xfe<a/>",
        b"<?xml version='1.0' encoding='nonsense'?><a/>",
    ],
)
def test_orders_that_cannot_be_read_are_refused(fints_bank: FintsBankUnderTest, pain: bytes):
    payer = Payer(fints_bank, "test_products+unreadable")
    heard = payer.talk.send(make_order("HKCCS", payer.account, pain), make_tan(order="HKCCS"))
    assert "9210" in heard.codes


@pytest.mark.parametrize(
    ("code", "orders", "total"),
    [
        ("HKCCS", [("A", SHOP, "1.00"), ("B", SHOP, "1.00")], None),
        ("HKCCS", [("A", SHOP, "0.00")], None),
        ("HKCCS", [("A", SHOP, "-1")], None),
        ("HKCCS", [("", SHOP, "1.00")], None),
        ("HKCCM", [("A", SHOP, "1.00"), ("B", SHOP, "1.00")], Decimal("3.00")),
        ("HKIPZ", [("A", "DE28999999990000000007", "1.00")], None),
    ],
)
def test_orders_that_make_no_sense_are_refused_before_any_tan(fints_bank: FintsBankUnderTest, code, orders, total):
    payer = Payer(fints_bank, "test_products+senseless")
    heard = payer.order(code=code, pain=write_pain(payer.iban, *orders), total=total)
    assert "9210" in heard.codes
    assert not heard.find_all("HITAN")


def test_nobody_pays_from_an_account_of_others(fints_bank: FintsBankUnderTest):
    payer, other = Payer(fints_bank, "test_products+mine"), Payer(fints_bank, "test_products+yours")
    stolen = write_pain(other.iban, ("Erika Muster", SHOP, "1.00"))
    assert "9210" in payer.order(pain=stolen).codes
    assert "9210" in payer.talk.send(make_order("HKCCS", other.account, stolen), make_tan(order="HKCCS")).codes


def confirm(payer: Payer, challenge: Heard) -> Heard:
    approval = make_segment("HKVPA", 1, challenge.find("HIVPP").read_binary(1))
    return payer.talk.confirm(challenge, "24", approval)


def list_dated(payer: Payer, touchdown: str | None = None) -> Heard:
    return payer.talk.send(make_segment("HKCSB", 1, payer.account, PAIN, None, None, None, touchdown))


def test_a_dated_order_is_accepted_listed_until_its_day_and_booked_then(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+dated")
    before = payer.read_balance()
    assert "3010" in list_dated(payer).codes
    for days in (40, 18):
        pain = write_pain(payer.iban, ("Erika Muster", SHOP, "12.34"), day=fints_bank.today + timedelta(days=days))
        paid = confirm(payer, payer.order(CHECK, code="HKCSE", pain=pain))
        assert "0010" in paid.codes
    assert payer.read_balance() == before
    listed = list_dated(payer).find_all("HICSB")
    days = [re.search(rb"<ReqdExctnDt><Dt>([0-9-]+)</Dt>", segment.read_binary(3)) for segment in listed]
    assert [day and day[1].decode() for day in days] == [
        str(fints_bank.today + timedelta(days=18)),
        str(fints_bank.today + timedelta(days=40)),
    ]
    assert all(segment.read(1, 0) == payer.iban and segment.read(4).startswith("TU") for segment in listed)
    assert all(b"<EndToEndId>E0</EndToEndId>" in segment.read_binary(3) for segment in listed)


@pytest.mark.parametrize("days", [None, 0, 366])
def test_a_dated_order_without_a_day_within_the_limits_is_refused(fints_bank: FintsBankUnderTest, days: int | None):
    payer = Payer(fints_bank, "test_products+undated")
    day = None if days is None else fints_bank.today + timedelta(days=days)
    pain = write_pain(payer.iban, ("Erika Muster", SHOP, "12.34"), day=day)
    assert "9210" in payer.order(CHECK, code="HKCSE", pain=pain).codes
    assert "3010" in list_dated(payer).codes


def test_a_list_of_dated_orders_in_a_form_that_the_bank_does_not_write_is_refused(fints_bank: FintsBankUnderTest):
    payer = Payer(fints_bank, "test_products+oldform")
    assert "9210" in payer.talk.send(make_segment("HKCSB", 1, payer.account, "urn:swift:xsd:$pain.001.002.03")).codes
