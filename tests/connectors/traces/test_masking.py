"""Masks keep the shape of a value, map equal values to equal values, and let no letter or digit through."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kontor.connectors.traces.masking import Mask, is_iban

KEYS = st.binary(min_size=16, max_size=32)
WORDS = st.from_regex(r"[A-Za-z0-9äöüß]{1,30}", fullmatch=True)
ACCOUNTS = st.from_regex(r"[0-9]{10}", fullmatch=True)
BANK_CODES = st.from_regex(r"[1-8][0-9]{7}", fullmatch=True)
CENTS = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20)


def make_iban(bank_code: str, account: str) -> str:
    return f"DE{98 - int(f'{bank_code}{account}131400') % 97:02}{bank_code}{account}"


def describe_shape(text: str) -> str:
    kinds = [(str.isupper, "A"), (str.islower, "a"), (str.isdigit, "0")]
    return "".join(next((kind for is_kind, kind in kinds if is_kind(character)), character) for character in text)


@given(KEYS, WORDS)
def test_a_masked_word_has_the_shape_of_the_word(key, word):
    assert describe_shape(Mask(key).mask_value(word)) == describe_shape(word)


@given(KEYS, WORDS)
def test_no_letter_and_no_digit_but_leading_zeros_stays(key, word):
    kept = len(word) - len(word.lstrip("0")) if word.isdecimal() else 0
    masked = Mask(key).mask_value(word)
    assert all(before != after for before, after in zip(word[kept:], masked[kept:], strict=True))


@given(KEYS, WORDS, st.text(max_size=20), st.text(max_size=20))
def test_a_word_is_masked_the_same_wherever_it_stands(key, word, before, after):
    mask = Mask(key)
    text = f"{re.sub('[a-zA-Z+:]', ' ', before)} {word} {re.sub('[a-zA-Z+:]', ' ', after)}"
    assert mask.mask_value(word) in mask.mask_text(text).split()


@given(KEYS, BANK_CODES, ACCOUNTS)
def test_a_masked_iban_is_an_iban_of_the_same_bank_with_the_masked_number(key, bank_code, account):
    mask, iban = Mask(key), make_iban(bank_code, account)
    masked = mask.mask_iban(iban)
    assert is_iban(masked)
    assert masked[:2] + masked[4:12] == f"DE{bank_code}"
    assert masked[12:] == mask.mask_value(account.lstrip("0")).rjust(10, "0")
    assert mask.mask_text(f"an {iban}, danke") == mask.mask_text("an ") + masked + mask.mask_text(", danke")


@given(KEYS, CENTS)
def test_masked_amounts_have_the_masked_sum(key, cents):
    mask, amounts = Mask(key), [Decimal(number).scaleb(-2) for number in cents]
    masked = [Decimal(mask.scale(f"{amount:.2f}")) for amount in amounts]
    assert sum(masked) == Decimal(mask.scale(f"{sum(amounts):.2f}"))
    assert all(amount == 0 or abs(scaled) > abs(amount) for amount, scaled in zip(amounts, masked, strict=True))


@pytest.mark.parametrize("amount", ["12,", "0,5", "-7", "1.234,56", "+3.10", ",50"])
def test_a_masked_amount_keeps_its_form(amount):
    scaled = Mask(b"key").scale(amount)
    assert re.sub("[0-9]", "", scaled) == re.sub("[0-9]", "", amount.replace("1.234", "1234"))
    assert len(scaled.rpartition(",")[2]) == len(amount.rpartition(",")[2]) or "," not in amount


def test_an_iban_in_groups_stays_in_groups():
    masked = Mask(b"key").mask_text("IBAN DE89 3704 0044 0532 0130 00 MAX")
    found = re.search(r"DE[0-9]{2} 3704 0044 [0-9]{4} [0-9]{4} [0-9]{2} ", masked)
    assert found is not None
    assert is_iban(found[0].replace(" ", ""))
    assert "0532" not in masked


def test_tags_of_a_purpose_stay_and_words_of_the_list_only_where_they_may():
    mask = Mask(b"key")
    assert re.fullmatch(r"EREF\+\w{5} SVWZ\+\w{11}", mask.mask_text("EREF+A1234 SVWZ+Überweisung"))
    assert mask.mask_text("Überweisung", keeps_words=True) == "Überweisung"
    assert mask.mask_text("Mustermann", keeps_words=True) != "Mustermann"


def test_another_key_masks_otherwise():
    assert Mask().mask_value("Mustermann") != Mask().mask_value("Mustermann")
