"""By which words merchants may be named to others: no persons, no numbers, nothing but the merchant."""

import re
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.analysis.tagging import NOBODY, OwnAccounts, load_tagger
from kontor.analysis.tagging.lexicons import load_rules
from kontor.domain.transactions import Transaction
from many_examples import many_examples

ROW = Transaction(Decimal("-12.34"), "EUR", None)
CARD, TRANSFER, DEBIT = "Kartenzahlung", "Überweisung", "Lastschrift"
CREDITOR = "CRED+DE98ZZZ09999999999 SVWZ+Beitrag"


def name(own=NOBODY, **fields):
    [found] = load_tagger().name_merchants([replace(ROW, **fields)], own)
    return found


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"purpose": "ZIRBELGLUECK//Celle/DE 2026-02-03T09:14:55 Folgenr.002", "booking_text": CARD}, "zirbelglueck"),
        ({"counterparty_name": "Quendelhof GmbH", "booking_text": TRANSFER}, "quendelhof gmbh"),
        ({"counterparty_name": "Zirbelglück GmbH", "purpose": CREDITOR, "booking_text": DEBIT}, "zirbelglueck gmbh"),
        ({"counterparty_name": "Nordwind Atelier", "booking_text": CARD}, "nordwind atelier"),
        ({"counterparty_name": "Kupferkanne Inh. Beck", "booking_text": CARD}, "kupferkanne"),
        ({"counterparty_name": "Zirbelstube 4711", "booking_text": CARD}, "zirbelstube"),
    ],
)
def test_a_merchant_is_named_by_its_words_alone(fields, expected):
    assert name(**fields) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"counterparty_name": "Anna Weber", "booking_text": TRANSFER},
        {"counterparty_name": "Oluwaseun Adebayo", "booking_text": TRANSFER},  # in no list of names
        {"counterparty_name": "Hufpflege Anna Bach", "booking_text": CARD},
        {"counterparty_name": "Annas Zirbelstube", "booking_text": CARD},
        {"counterparty_name": "Praxis Dr. Zirbel", "booking_text": DEBIT},
        {"counterparty_name": "Zirbelstube M. Beck", "booking_text": CARD},
        {"counterparty_name": "Peter Zirbel GmbH", "booking_text": TRANSFER},
        {"counterparty_name": "SumUp *Oluwaseun Adebayo", "booking_text": CARD},
        {"counterparty_name": "Familie Zirbel", "booking_text": CARD},
        {"counterparty_name": "Koch", "booking_text": CARD},
        {"counterparty_name": "Celle", "booking_text": CARD},
        {"counterparty_name": "GmbH", "booking_text": TRANSFER},
        {"purpose": "Zirbelstube Rechnung 12", "booking_text": TRANSFER},
        {"counterparty_name": "Quendelhof GmbH", "booking_text": TRANSFER, "amount": Decimal("12.34")},
        {"counterparty_name": "Zirbel " * 8 + "GmbH", "booking_text": TRANSFER},
        {"counterparty_name": "Zirbelglück", "purpose": CREDITOR, "booking_text": DEBIT},
        {"counterparty_name": "Zirbelstube 4711 RG-998877", "booking_text": CARD},
    ],
)
def test_persons_unnamed_payments_and_receipts_name_nobody(fields):
    assert name(**fields) == ""


@pytest.mark.parametrize("booking_text", [CARD, TRANSFER, DEBIT])
@pytest.mark.parametrize(
    "written",
    [
        "xkrasniqi@zirbelmail.de",
        "xkrasniqi @ zirbelmail GmbH",
        "xkrasniqi(at)zirbelmail GmbH",
        "Zirbelpark MUC-XY 77",
        "Parkhaus MUC XY 77",
        "Parkhaus MUCXY77",
        "Parkhaus MUCXY 77 H",
        "Zirbelclub KDNR KXATOZQ",
        "Club Kd.-Nr. KXATOZQ",
        "Verein Mitglied KXATOZQ",
        "Quendelhof GmbH Vertragsnummer KXATOZQ",
    ],
)
def test_addresses_plates_and_marks_of_numbers_name_nobody(written, booking_text):
    assert name(counterparty_name=written, booking_text=booking_text) == ""
    assert name(purpose=f"{written}//Celle/DE 2026-02-03T09:14:55 Folgenr.002", booking_text=booking_text) == ""


@pytest.mark.parametrize("booking_text", [CARD, TRANSFER, DEBIT])
@pytest.mark.parametrize(
    "written",
    [
        "Zirbelverein XHEVAHIRE KRASNIQI",
        "Verein XHEVAHIRE KRASNIQI",
        "SumUp *ATELIER XHEVAHIRE KRASNIQI",
        "SumUp *ATELIER KRASNIQI",
        "Oleksandra Kovalchuk",
        "Oleksandra Celle",
        "Fitness GmbH Krasniqi",
        "Atelier Becker",
    ],
)
def test_names_that_no_list_has_are_not_sent(written, booking_text):
    assert not load_rules().given_names & {"xhevahire", "krasniqi", "oleksandra", "kovalchuk"}
    assert name(counterparty_name=written, purpose=CREDITOR, booking_text=booking_text) == ""


@pytest.mark.parametrize("booking_text", [TRANSFER, DEBIT])
@pytest.mark.parametrize("written", ["Krasniqi", "Atelier Krasniqi", "Turnverein Krasniqi", "krasniqi.de"])
def test_beyond_tills_an_unknown_word_needs_a_legal_form(written, booking_text):
    assert name(counterparty_name=written, booking_text=booking_text) == ""


def test_whoever_has_the_holders_name_is_not_named():
    fields = {"counterparty_name": "Quendelhof GmbH", "booking_text": TRANSFER}
    assert name(**fields) == "quendelhof gmbh"
    assert name(OwnAccounts(holders=("Mia Quendelhof",)), **fields) == ""


PERSONS = ("Anna Weber", "WEBER ANNA MARIA", "Dr. Peter Zirbel", "Frau Quendel", "M. Zirbel", "Herrn Thomas Beck")
UNLISTED = ("Xhevahire Krasniqi", "OLEKSANDRA KOVALCHUK", "Oluwaseun Adebayo")
LETTERED = ("xkrasniqi@xcanarymail.de", "MUC-XY 77", "B-QZ 1234E", "KDNR KXATOZQ", "Mitglied KXATOZQ")
HOLDER = "Mia Canarius"
SECRETS = (
    "DE89370400440532013000",
    "DE89 3704 0044 0532 0130 00",
    "4111111111111111",
    "4111 1111 1111 1111",
    "RF18539007547034",
    "KD-NR 70815221",
    "1.234,56 EUR",
    "12.34",
    "EREF+CANARY77QX31",
    "+49 171 5550123",
    "31.12.2026",
)
SHOPS = ("Zirbelstube", "Quendelhof GmbH", "Nordwind Atelier", "Kupferkanne", "Blumenhaus Zirbelglück")
pieces = st.sampled_from((*SHOPS, *PERSONS, *UNLISTED, *LETTERED, *SECRETS, HOLDER))
texts = st.lists(pieces, min_size=1, max_size=3).map(" ".join)
rows = st.fixed_dictionaries(
    {},
    optional={
        "counterparty_name": texts,
        "purpose": st.one_of(texts, texts.map(lambda text: f"{text}//Celle/DE 2026-02-03T09:14:55 Folgenr.002")),
        "ultimate_counterparty": texts,
        "booking_text": st.sampled_from((CARD, TRANSFER, DEBIT, "Gutschrift", "")),
        "counterparty_iban": st.just("DE89370400440532013000"),
        "gv_code": st.sampled_from(("105", "106", "116", "166")),
    },
)
FREE = {word for shop in SHOPS for word in re.findall("[a-z]+", shop.lower().replace("ü", "ue"))}
HIDDEN = (*PERSONS, *UNLISTED, *LETTERED, HOLDER)
PERSONAL = {word for text in HIDDEN for word in re.findall("[a-z]+", text.lower()) if word not in FREE}


@many_examples(1000)
@given(fields=rows, amount=st.decimals(Decimal("-9999.99"), Decimal("-0.01"), places=2))
def test_no_canary_of_a_row_is_in_the_name(fields, amount):
    found = name(OwnAccounts(holders=(HOLDER,)), amount=amount, **fields)
    words = set(found.split())
    assert not re.search(r"\d", found)
    assert words.isdisjoint(PERSONAL)
    assert words.isdisjoint(load_rules().given_names)
    assert "canary" not in found
    assert len(found) <= 60
    written = " ".join(fields.get(key, "") for key in ("counterparty_name", "purpose")).lower().replace("ü", "ue")
    assert all(word in written for word in words)


@many_examples(400)
@given(
    given_name=st.sampled_from(sorted(load_rules().given_names)),
    others=st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=9), max_size=3),
    place=st.integers(0, 3),
    text=st.sampled_from((CARD, TRANSFER, DEBIT)),
)
def test_nothing_with_a_known_given_name_is_named(given_name, others, place, text):
    words = [*others[:place], given_name, *others[place:]]
    assert name(counterparty_name=" ".join(words), booking_text=text) == ""
