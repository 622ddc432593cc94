"""Whether a payee's name fits the IBAN, and which IBANs misbehave."""

import re
from pathlib import Path
from uuid import uuid4

import pytest
from demo_payer import Payer, find_iban, make_order

from kontor.connectors.demo.payees import TEST_IBANS, PayeeScenario, compare_names
from kontor.domain.payments import PayeeMatch, PayeeResult

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "demo-bank.md"
MATCH, CLOSE, NO = PayeeMatch.MATCH, PayeeMatch.CLOSE_MATCH, PayeeMatch.NO_MATCH


@pytest.mark.parametrize(
    ("given", "holder", "expected"),
    [
        ("Jürgen Müller", "Jürgen Müller", MATCH),
        ("JUERGEN MUELLER", "Jürgen Müller", MATCH),
        ("Müller, Jürgen", "Jürgen Müller", MATCH),
        ("Herr Dr. Jürgen Müller", "Jürgen Müller", MATCH),
        ("Jürgen  Müller ", "Jürgen Müller", MATCH),
        ("Zoe Groß", "Zoé Gross", MATCH),
        ("Anna Vogel", "Anna und Max Vogel", MATCH),
        ("Jürgen Miller", "Jürgen Müller", CLOSE),
        ("J. Müller", "Jürgen Müller", CLOSE),
        ("Jürgen Karl Müller", "Jürgen Müller", CLOSE),
        ("Max Vogel-Sommer", "Max Vogel", CLOSE),
        ("Anna", "Anna und Max Vogel", NO),
        ("Stadtwerke Köln", "Jürgen Müller", NO),
        ("Sabine Müller", "Jürgen Müller", NO),
        ("", "Jürgen Müller", NO),
        ("💥", "Jürgen Müller", NO),
    ],
)
def test_names_are_compared_as_people_write_them(given, holder, expected):
    assert compare_names(given, holder) == PayeeResult(expected, holder if expected is CLOSE else None)


def test_payees_of_the_bank_itself_are_compared_with_their_holders(settings):
    payer = Payer(settings.database_url)
    payee = Payer(settings.database_url, f"student+{uuid4().hex}")
    order = make_order(iban=payee.main.iban, recipient="Ganz Anders")
    assert payer.verify(order) == (PayeeResult(MATCH),), "an account that the bank has never shown"
    payee.fetch()
    own = make_order(iban=payer.accounts[1].product.iban, recipient=payer.main.holder.upper())
    right = make_order(iban=payee.main.iban, recipient=payee.main.holder)
    assert payer.verify(order, right, own, make_order()) == (PayeeResult(NO), *[PayeeResult(MATCH)] * 3)
    near = payer.verify(make_order(iban=payee.main.iban, recipient=payee.main.holder[:-1]))
    assert near == (PayeeResult(CLOSE, payee.main.holder),)


def test_logins_and_ibans_can_ask_for_any_result(settings):
    orders = [
        make_order(iban=find_iban(scenario))
        for scenario in (
            PayeeScenario.NAME_IS_CLOSE,
            PayeeScenario.NAME_IS_OTHER,
            PayeeScenario.NAME_IS_UNKNOWN,
            PayeeScenario.REFUSES,
        )
    ]
    orders.append(make_order(iban="BR1500000000000010932840814P2"))
    close = PayeeResult(CLOSE, "Erika Maria Muster")
    unknown = PayeeResult(PayeeMatch.NOT_POSSIBLE)
    payer = Payer(settings.database_url)
    assert payer.verify(*orders) == (close, PayeeResult(NO), unknown, PayeeResult(MATCH), unknown)
    one_word = make_order(recipient="Stadtwerke")
    assert payer.as_login("test_vop_close").verify(make_order(), one_word) == (
        close,
        PayeeResult(CLOSE, "Stadtwerke GmbH"),
    )
    assert payer.as_login("test_vop_nomatch+x").verify(make_order()) == (PayeeResult(NO),)


def test_test_ibans_have_valid_check_digits_and_stand_in_the_guide():
    text = GUIDE.read_text(encoding="utf-8").replace(" ", "")
    listed = re.findall(r"^\|`(DE\d{20})`\|", text, re.MULTILINE)
    assert listed == list(TEST_IBANS)
    for iban in TEST_IBANS:
        assert int(iban[4:] + "1314" + iban[2:4]) % 97 == 1
