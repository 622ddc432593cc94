"""The rule of identity: facts keep bookings apart, references join them, and texts decide only without those."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kontor.domain.identity import _is_joined
from kontor.domain.merging import StoredTransaction, merge_transactions, pair_transactions
from kontor.domain.references import is_same_reference, read_references
from kontor.domain.transactions import Transaction

NOON = datetime(2026, 11, 2, 11, tzinfo=UTC)
ANNA, BEN = "DE02120300000000202051", "DE02500105170137075030"


def credit(**facts):
    common = {"purpose": "Mitgliedsbeitrag 2026", "counterparty_name": "Anna Muster", "channel": "camt.052"}
    return Transaction(Decimal("29.00"), "EUR", **({"booked_at": NOON, "value_at": NOON} | common | facts))


def is_one(stored, fetched):
    merge = merge_transactions([StoredTransaction(uuid4(), stored)], [fetched])
    assert is_paired(stored, fetched) == (merge.new == ())
    return merge.new == ()


def is_paired(left, right):
    return pair_transactions([left], [right]) == {0: 0}


# Contradicting facts


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"counterparty_iban": ANNA}, {"counterparty_iban": BEN}),
        ({"purpose": "EREF+R-1 SVWZ+Beitrag"}, {"purpose": "EREF+R-2 SVWZ+Beitrag"}),
        ({"purpose": "MREF+M-1 SVWZ+Beitrag"}, {"purpose": "MREF+M-2 SVWZ+Beitrag"}),
        ({"bank_id": "1"}, {"bank_id": "2"}),
        ({"purpose": "Beitrag End-to-End-Ref.: R-1"}, {"purpose": "EREF+R-2 SVWZ+Beitrag"}),
    ],
    ids=["IBAN", "end-to-end reference", "mandate", "bank's reference", "references written in two ways"],
)
def test_contradicting_facts_keep_two_bookings_apart_however_alike_their_texts_are(first, second):
    assert not is_one(credit(**first), credit(**second))
    assert is_one(credit(**first), credit(**first))


@pytest.mark.parametrize("absent", ["NOTPROVIDED", "NONREF", "notprovided", "NOT PROVIDED", "0000", "-", "KEINE"])
@pytest.mark.parametrize("tag", ["EREF", "MREF"])
def test_what_is_absent_or_not_provided_contradicts_nothing(tag, absent):
    assert is_one(credit(purpose=f"{tag}+{absent} SVWZ+Beitrag 2026"), credit(purpose=f"{tag}+R-1 SVWZ+Beitrag 2026"))
    assert is_one(credit(purpose="Beitrag 2026"), credit(purpose=f"{tag}+R-1 SVWZ+Beitrag 2026"))


@pytest.mark.parametrize("iban", [None, "", "4711", "DE12XXXXXXXXXXXXXX0051"])
def test_an_iban_that_is_missing_old_or_masked_contradicts_nothing(iban):
    assert is_one(credit(counterparty_iban=iban), credit(counterparty_iban=ANNA))


@pytest.mark.parametrize(
    "facts", [{"channel": "XS2A"}, {"channel": None}, {"is_pending": True}], ids=["another", "unknown", "pending"]
)
def test_the_banks_references_are_comparable_between_booked_rows_of_one_channel_only(facts):
    assert is_one(credit(bank_id="1", **facts), credit(bank_id="2"))


def test_the_public_case_of_two_credits_on_one_day_stays_two():
    """Different name, IBAN, reference and purpose; only words such as `SVWZ` and the amount are shared."""
    first = credit(counterparty_iban=ANNA, purpose="EREF+A-17 SVWZ+Kurs Yoga Anna Muster Danke")
    second = credit(
        counterparty_name="Ben Beispiel", counterparty_iban=BEN, purpose="EREF+B-3 SVWZ+Kurs Yoga Ben Beispiel Danke"
    )
    assert not is_one(first, second)


# Shared references, and texts


def test_with_a_shared_reference_the_texts_do_not_matter():
    assert is_one(
        credit(purpose="EREF+RG-2026-17 SVWZ+Rechnung vom Mai"),
        credit(purpose="EREF+RG-2026-17 SVWZ+ganz andere Worte 99", counterparty_name="M. Anna"),
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"counterparty_name": "Ben Beispiel"}, {}),
        ({"purpose": "Kaution Schluessel"}, {}),
        ({"purpose": "Mitgliedsbeitrag 2025"}, {}),
        ({"purpose": "Rechnung 4711"}, {"purpose": "Rechnung 4712"}),
    ],
    ids=["another name", "another text", "another number", "the next number"],
)
def test_without_references_one_channel_tells_two_bookings_by_name_text_and_numbers(first, second):
    assert not is_one(credit(**first), credit(**second))


CHANGES = {
    "umlauts as two letters": ("Gebühr für Müller & Söhne Straße 12", "Gebuehr fuer Mueller & Soehne Strasse 12"),
    "umlauts as question marks": ("Gebühr für Müller & Söhne Straße 12", "Geb?hr f?r M?ller & S?hne Stra?e 12"),
    "umlauts left out": ("Gebühr für Müller & Söhne Straße 12", "Gebhr fr Mller & Shne Strae 12"),
    "capitals": ("Rechnung 4711 vom Mai", "RECHNUNG 4711 VOM MAI"),
    "lines of 27 columns": ("Rechnung 4711 vom Mai fuer Kunde 88123", "Rechnung 4711 vom Mai fuer K unde 88123"),
    "a number cut by a line": ("Rechnung vom Mai fuer Nr. 88123", "Rechnung vom Mai fuer Nr. 88 123"),
    "lost blanks": ("Rechnung 4711 vom Mai 2026", "Rechnung4711vomMai2026"),
    "cut off": ("Rechnung 4711 vom Mai fuer Kunde 88123", "Rechnung 4711 vom Mai fuer Kund"),
    "cut off in a number": ("Rechnung vom Mai fuer Kunde 88123", "Rechnung vom Mai fuer Kunde 881"),
    "lines in another order": ("Rechnung 4711 vom Mai fuer Kunde 88123", "fuer Kunde 88123 Rechnung 4711 vom Mai"),
}


@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
def test_the_same_words_written_otherwise_are_one_booking(before, after):
    assert is_one(credit(purpose=before), credit(purpose=after))
    assert is_one(credit(purpose=after), credit(purpose=before))


def test_names_may_be_cut_at_27_columns():
    name = "Söhne & Töchter Gebäudereinigung GmbH"
    assert is_one(credit(counterparty_name=name), credit(counterparty_name=name[:27].upper()))


# Channels and days


def test_another_channel_may_word_the_purpose_anew_and_lack_references():
    bank = credit(purpose="EREF+R-1 SVWZ+Debitkarte 2026-11-02T10:05:11", counterparty_name="REWE SAGT DANKE")
    file = credit(purpose="Kartenzahlung", counterparty_name="Rewe sagt Danke", channel="CSV")
    assert is_one(bank, file)
    assert not is_one(bank, replace(file, channel=bank.channel))
    assert not is_one(bank, replace(file, counterparty_name="Edeka"))


def test_another_channel_may_show_the_day_of_value_alone():
    bank = credit(value_at=NOON + timedelta(1))
    file = credit(booked_at=NOON + timedelta(1), value_at=NOON + timedelta(1), channel="CSV")
    assert is_one(bank, file)
    assert not is_one(bank, replace(file, channel=bank.channel))
    assert not is_one(bank, replace(file, booked_at=NOON + timedelta(2), value_at=None))


def test_another_channel_adds_facts_and_rewrites_nothing():
    bank = credit(purpose="Beitrag", bank_id=None, channel="MT940")
    file = credit(
        purpose="EREF+R-1 SVWZ+Beitrag", counterparty_iban=ANNA, counterparty_name="MUSTER ANNA", channel="CSV"
    )
    (changed,) = merge_transactions([StoredTransaction(uuid4(), bank)], [file]).changed
    assert changed.transaction == replace(bank, purpose=file.purpose, counterparty_iban=ANNA)
    known = [StoredTransaction(changed.id, changed.transaction)]
    assert merge_transactions(known, [bank]).changed == merge_transactions(known, [file]).changed == ()


@pytest.mark.parametrize(
    ("pending", "final"),
    [
        ("Vorgemerkte Lastschrift REWE SAGT DANKE", "REWE SAGT DANKE 44313"),
        ("Vorgemerkter Umsatz REWE SAGT DANKE", "REWE SAGT DANKE 44313"),
        ("UMS. 2261985005343 TCH", "2261985005343/PP.9093.PP/. TCHIBO GMBH , Ihr Einkauf bei TCHIBO GMBH"),
    ],
    ids=["marked as pending", "marked as pending in other words", "the number of an order"],
)
def test_a_pending_booking_whose_text_the_bank_marks_or_cuts_becomes_final(pending, final):
    before = credit(is_pending=True, purpose=pending)
    assert is_one(before, credit(purpose=final, counterparty_iban=ANNA, booked_at=NOON + timedelta(1)))


def test_a_number_in_common_does_not_join_bookings_with_different_names():
    before = credit(is_pending=True, purpose="UMS. 2261985005343 TCH", counterparty_name="Berta Beispiel")
    assert not is_one(before, credit(purpose="2261985005343 Einkauf bei TCHIBO GMBH", counterparty_iban=ANNA))


def test_a_pending_booking_of_another_channel_does_not_undo_a_final_one():
    merge = merge_transactions([StoredTransaction(uuid4(), credit(channel="CSV"))], [credit(is_pending=True)])
    assert (merge.new, merge.changed, merge.vanished) == ((), (), ())


def test_as_many_bookings_as_possible_are_paired():
    """The best pair first would leave two alone: the longer text fits both, the shorter one fits only one."""
    stored = [credit(purpose="Beitrag Verein Turnen 17"), credit(purpose="Beitrag Verein")]
    fetched = [credit(purpose="Beitrag Verein Turnen 17 Kind 4"), credit(purpose="Beitrag Verein Turnen 17")]
    merge = merge_transactions([StoredTransaction(uuid4(), row) for row in stored], fetched)
    assert merge.new == ()


# References


@pytest.mark.parametrize(
    "purpose",
    [
        "EREF+R-4711 MREF+M 99 CRED+DE98ZZZ09999999999 SVWZ+Strom Mai",
        "EREF+R-4711MREF+M 99CRED+DE98ZZZ09999999999SVWZ+Strom Mai",
        "ER EF+R-4711 MR EF+M 99 SV WZ+Strom Mai",
        "Strom Mai EREF: R-4711 MREF: M-99 CRED: DE98ZZZ09999999999",
        "Strom Mai End-to-End-Ref.: R-4711 CORE / Mandatsref.: M99 Gläubiger-ID: DE98ZZZ09999999999",
        "MREF+M99 EREF+R4711 Strom Mai",
    ],
)
def test_references_are_read_in_all_spellings(purpose):
    found = read_references(purpose)
    assert (found.end_to_end, found.mandate, " ".join(found.text.split())) == ("R4711", "M99", "Strom Mai")


def test_a_purpose_without_marks_is_text():
    assert read_references("Rechnung 1+2: danke") == (None, None, "Rechnung 1+2: danke")
    assert read_references(None) == (None, None, "")


def test_a_reference_may_be_cut_but_not_to_a_stump():
    long = "2026110212345678ABCDEF"
    assert is_same_reference(long, long[:16])
    assert not is_same_reference("4711", "47112")


# Numbers split and joined


def is_joined_by_trial(number, parts):
    """The definition, in exponential time."""
    if not number:
        return True
    return any(number.startswith(part) and is_joined_by_trial(number[len(part) :], parts) for part in parts)


@given(st.text("12", max_size=7), st.lists(st.text("12", min_size=1, max_size=4), max_size=4))
@example("1", [])
@example("112", ["1", "1", "12"])
def test_a_number_is_joined_of_parts_exactly_when_trying_all_of_them_says_so(number, parts):
    assert _is_joined(number, parts) == is_joined_by_trial(number, parts)


def test_many_small_parts_of_a_long_number_are_compared_in_polynomial_time():
    """The number of ways to join the parts grows exponentially with the digits."""
    number, repeated = "1" * 2000, "x1" * 900 + "x11" * 100 + "x111" * 50
    assert not is_one(credit(purpose=f"xxxx{number}2"), credit(purpose=repeated))
    assert not _is_joined(number + "2", ["1", "11", "111"] * 300)
    assert _is_joined(number, ["1", "11", "111"] * 300)
