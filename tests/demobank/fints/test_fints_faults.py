"""Injected faults over FinTS, on a real socket: what each does to a message, and a bank that pays twice."""

import base64
import ssl
from collections import Counter
from hashlib import sha256
from uuid import uuid4

import httpx
import pytest
from fints_talk import SHOP, Talk, find_account, make_order, make_tan, write_pain

from fints_banks import TODAY, running_fints_bank
from kontor.connectors.demo.people import person_for
from kontor.connectors.statements import read_camt_pages
from kontor.demobank.faults import Fault, FaultInjector, FaultPlan
from kontor.demobank.fints.segments import make_segment

CAMT = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"


class HttpBank:
    """What a program on the other side of the socket sees."""

    def __init__(self, bank):
        self._url = bank.url
        self._tls = ssl.create_default_context(cafile=bank.authority)

    def post(self, message):
        return httpx.post(self._url, content=base64.b64encode(message), verify=self._tls, timeout=30, trust_env=False)

    def answer(self, message):
        answer = self.post(message)
        assert answer.status_code == 200
        return base64.b64decode(answer.content, validate=True)


@pytest.fixture(scope="module")
def faults():
    return FaultInjector(late_seconds=0.3)


@pytest.fixture(scope="module")
def bank(settings, faults, tmp_path_factory):
    folder = tmp_path_factory.mktemp("faulty")
    with running_fints_bank(settings, folder, page_rows=1000, faults=faults) as bank:
        yield bank


@pytest.fixture
def talk(bank, request):
    """Each test has its own customer, the same in every run: the login decides which bookings are wrong."""
    login = f"test_student+{sha256(request.node.name.encode()).hexdigest()[:8]}"
    return Talk(HttpBank(bank), login, function="901", system="abc")


def plan(faults, talk, *modes):
    faults.assign(talk.login, FaultPlan(3, modes, rate=1) if modes else None)


def ask_rows(account, touchdown="", since="20261001"):
    segment = make_segment("HKCAZ", 1, account, CAMT, "N", since, None, None, touchdown)
    return segment, make_tan(order="HKCAZ")


def read_rows(heard):
    documents = [heard.find("HICAZ").elements[2][0]]
    return [entry for page in read_camt_pages(documents) for entry in page.entries]


def count_entries(heard):
    """As they were sent: who reads them drops repetitions that the balances prove."""
    return bytes(heard.find("HICAZ").elements[2][0]).count(b"<Ntry>")


def begin(talk):
    return find_account(talk.begin(make_tan()))


@pytest.mark.parametrize("status", [200, 503])
def test_a_maintenance_page_is_html_and_the_request_is_not_carried_out(bank, faults, talk, status):
    plan(faults, talk, Fault(f"maintenance-{status}"))
    talk.number = 1
    message = talk.write(make_segment("HKIDN", 2, ("280", "99999999"), talk.login, "0", 1))
    answer = HttpBank(bank).post(message)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "Wartungsarbeiten" in answer.text


def test_a_late_answer_is_the_right_one(faults, talk):
    plan(faults, talk, Fault.LATE_ANSWER)
    assert "3076" in talk.begin(make_tan()).codes


def test_a_lost_answer_ends_the_connection(faults, talk):
    account = begin(talk)
    plan(faults, talk, Fault.LOST_ANSWER)
    with pytest.raises(httpx.RemoteProtocolError):
        talk.send(*ask_rows(account))


def test_a_repeated_answer_is_the_previous_one_byte_by_byte(faults, talk):
    account = begin(talk)
    first = talk.send(*ask_rows(account))
    plan(faults, talk, Fault.REPEATED_ANSWER)
    assert talk.send(make_segment("HKSAL", 7, account, "N")).raw == first.raw


def test_a_dialogue_that_ends_early_is_unknown_from_then_on(faults, talk):
    account = begin(talk)
    plan(faults, talk, Fault.EARLY_END)
    assert {"9010", "9800"} <= set(talk.send(*ask_rows(account)).codes)
    plan(faults, talk)
    assert {"9010", "9800"} <= set(talk.send(*ask_rows(account)).codes)


def test_a_tan_is_asked_for_at_login_and_for_bookings_where_none_is_due(faults, talk):
    plan(faults, talk, Fault.UNEXPECTED_TAN)
    challenge = talk.begin(make_tan())
    assert "0030" in challenge.codes
    plan(faults, talk)
    welcome = talk.confirm(challenge, "24")
    assert "0020" in welcome.codes
    plan(faults, talk, Fault.UNEXPECTED_TAN)
    asked = talk.send(*ask_rows(find_account(welcome)))
    assert "0030" in asked.codes
    assert read_rows(talk.confirm(asked, "24"))


def test_the_right_pin_is_refused_without_being_counted(faults, talk):
    plan(faults, talk, Fault.REFUSED_PIN)
    for _ in range(4):
        again = Talk(talk.bank, talk.login, function="901", system="abc")
        assert "9942" in again.begin(make_tan()).codes
    plan(faults, talk)
    assert begin(talk)


def count(rows):
    return Counter((row.booked_at, row.amount, row.purpose) for row in rows)


def test_rows_come_twice_in_any_order_or_from_earlier_days(faults, talk):
    account = begin(talk)
    right = count(read_rows(talk.send(*ask_rows(account))))
    plan(faults, talk, Fault.DUPLICATE_ROWS)
    doubled = talk.send(*ask_rows(account))
    assert count_entries(doubled) == right.total() + 3
    assert set(count(read_rows(doubled))) == set(right)
    plan(faults, talk, Fault.SHUFFLED_ROWS)
    shuffled = read_rows(talk.send(*ask_rows(account)))
    assert count(shuffled) == right
    assert [row.booked_at for row in shuffled] != sorted(row.booked_at for row in shuffled)
    plan(faults, talk, Fault.VALUE_DATE_FILTER)
    early = count(read_rows(talk.send(*ask_rows(account, since="20261105"))))
    assert any(booked_at.day < 5 for booked_at, _, _ in early)


def test_an_empty_page_comes_first_and_the_bookings_follow(faults, talk):
    account = begin(talk)
    right = count(read_rows(talk.send(*ask_rows(account))))
    plan(faults, talk, Fault.EMPTY_PAGE)
    empty = talk.send(*ask_rows(account))
    assert read_rows(empty) == []
    follow_up = ask_rows(account, empty.parameter("3040"))
    assert count(read_rows(talk.send(follow_up[0]))) == right


def test_amounts_have_the_wrong_sign_or_twelve_decimals_and_balances_stay_right(faults, talk):
    account = begin(talk)
    right = talk.send(*ask_rows(account, since="20260801"))
    plan(faults, talk, Fault.WRONG_SIGN)
    wrong = talk.send(*ask_rows(account, since="20260801"))
    assert sum(row.amount for row in read_rows(wrong)) > sum(row.amount for row in read_rows(right))
    first, second = (next(iter(read_camt_pages([heard.find("HICAZ").elements[2][0]]))) for heard in (right, wrong))
    assert (first.opening, first.closing) == (second.opening, second.closing)
    plan(faults, talk, Fault.LONG_DECIMALS)
    long = bytes(talk.send(*ask_rows(account, since="20260801")).find("HICAZ").elements[2][0])
    assert b"000000000021<" in long or b"999999999979<" in long


# Idempotency


@pytest.mark.parametrize(("pays_twice", "expected"), [(False, 1), (True, 2)])
def test_an_order_that_arrives_twice_is_booked_once_or_twice(settings, tmp_path, owner, pays_twice, expected):
    with running_fints_bank(settings, tmp_path, pays_twice=pays_twice) as bank:
        login = f"test_products+{uuid4().hex[:8]}"
        message_id = uuid4().hex
        for _ in range(2):
            talk = Talk(HttpBank(bank), login, function="901", system="abc")
            account = begin(talk)
            pain = write_pain(account[0], ("Erika Muster", SHOP, "12.34"), message_id=message_id)
            challenge = talk.send(make_order("HKCCS", account, pain), make_tan(order="HKCCS"))
            if "0030" in challenge.codes:
                assert "0020" in talk.confirm(challenge, "24").codes
            else:
                assert "9210" in challenge.codes
    assert count_debits(owner, login) == expected


@pytest.mark.parametrize(("pays_twice", "expected"), [(False, 1), (True, 2)])
def test_a_tan_that_is_sent_twice_books_once_or_twice(settings, tmp_path, owner, pays_twice, expected):
    with running_fints_bank(settings, tmp_path, pays_twice=pays_twice) as bank:
        login = f"test_products+{uuid4().hex[:8]}"
        talk = Talk(HttpBank(bank), login, function="901", system="abc")
        account = begin(talk)
        pain = write_pain(account[0], ("Erika Muster", SHOP, "12.34"))
        challenge = talk.send(make_order("HKCCS", account, pain), make_tan(order="HKCCS"))
        assert "0020" in talk.confirm(challenge, "24").codes
        assert ("0020" in talk.confirm(challenge, "24").codes) is pays_twice
    assert count_debits(owner, login) == expected


def count_debits(owner, login):
    """In the books of the bank."""
    iban = person_for(login, TODAY).accounts[0].product.iban
    row = owner.execute(
        "select count(*) from demo_bank_bookings b join demo_bank_accounts a"
        " on a.owner = b.owner and a.product_key = b.product_key where a.iban = %s and b.place = 0",
        [iban],
    ).fetchone()
    return row[0]
