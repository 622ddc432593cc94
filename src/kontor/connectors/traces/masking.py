"""Masking values in their shape: letters become letters, digits become digits, and equal values stay equal.

A mask has a random key that lives as long as one trace. Without it nobody can tell which value became which. Amounts
are multiplied by one secret number, so that sums hold: they are disguised, not secret.
"""

import hashlib
import hmac
import re
import secrets
import tomllib
from functools import cache, cached_property
from importlib.resources import files

HIDDEN = "***"  # instead of a PIN, a TAN or a login
FACTORS = (13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
SEPA_TAGS = "EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|PURP|RREF"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
BANK_CODE = re.compile(r"[0-9]{8}")
BIC = re.compile(r"[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")
_IBAN = r"[A-Z]{2}[0-9]{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)"
_TOKEN = re.compile(rf"(?P<tag>(?:{SEPA_TAGS})(?=[+:]))|(?P<iban>\b{_IBAN}\b)|[^\W_]+")
_DIGITS = re.compile(r"[0-9]+")
_AMOUNT = re.compile(r"([+-]?)([0-9]*(?:[.,][0-9]*)*)")


@cache
def load_kept(name: str) -> frozenset[str]:
    """A list of `kept.toml`."""
    text = (files(__package__) / "kept.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)[name].split())


FIXED_WORDS = load_kept("words")


class Mask:
    """`key` is random unless a test names it."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)
        self._masked: dict[str, str] = {}  # by value: the same words come again and again

    @cached_property
    def _factor(self) -> int:
        return FACTORS[self._derive("the factor", 1)[0] % len(FACTORS)]

    def mask_value(self, value: str) -> str:
        """One name or number. No letter and no digit of it stays as it was, except for leading zeros."""
        if value not in self._masked:
            self._masked[value] = self._mask_value(value)
        return self._masked[value]

    def _mask_value(self, value: str) -> str:
        zeros = value[: len(value) - len(value.lstrip("0"))] if _DIGITS.fullmatch(value) else ""
        rest = value[len(zeros) :]
        noise = self._derive(rest.lower(), len(rest))
        # Digits that begin with a zero have another length as a number.
        is_number = _DIGITS.fullmatch(rest) is not None
        masked = [
            _replace(character, byte, is_first=is_number and place == 0)
            for place, (character, byte) in enumerate(zip(rest, noise, strict=True))
        ]
        return zeros + "".join(masked)

    def mask_text(self, text: str, *, keeps_words: bool = False) -> str:
        """Word by word. Tags of a purpose (`EREF+`) stay, with `keeps_words` also `FIXED_WORDS`. IBANs become IBANs."""

        def mask(match: re.Match[str]) -> str:
            word = match[0]
            if match["tag"] is not None or (keeps_words and word.lower() in FIXED_WORDS):
                return word
            if match["iban"] is not None and is_iban(word.replace(" ", "")):
                return _space_like(word, self.mask_iban(word.replace(" ", "")))
            return re.sub(r"[^\W_]+", lambda part: self.mask_value(part[0]), word)

        return _TOKEN.sub(mask, text)

    def mask_iban(self, iban: str) -> str:
        """Another IBAN of the same country and, in Germany, the same bank, with valid check digits."""
        country, account = iban[:2], iban[4:]
        kept = account[:8] if country == "DE" else ""
        masked = kept + self.mask_value(account[len(kept) :]).upper()
        return f"{country}{98 - _remainder(f'{masked}{country}00'):02}{masked}"

    def scale(self, amount: str) -> str:
        """The amount times the secret number, with as many decimal places and the same mark before them."""
        match = _AMOUNT.fullmatch(amount.strip())
        if match is None or not re.search(r"[0-9]", match[2]):
            return self.mask_text(amount)
        sign, number = match.groups()
        mark = max(number.rfind("."), number.rfind(","))
        places = len(number) - mark - 1 if mark >= 0 else 0
        digits = re.sub(r"[.,]", "", number)
        scaled = str(int(digits) * self._factor).zfill(places + 1)
        if mark < 0:
            return sign + scaled
        return f"{sign}{scaled[: len(scaled) - places]}{number[mark]}{scaled[len(scaled) - places :]}"

    def _derive(self, value: str, size: int) -> bytes:
        name = hmac.digest(self._key, value.encode(), "sha256")
        return hashlib.shake_256(name).digest(size)


def is_iban(text: str) -> bool:
    return 15 <= len(text) <= 34 and text.isascii() and text.isalnum() and _remainder(text[4:] + text[:4]) == 1


def _remainder(text: str) -> int:
    return int("".join(str(int(character, 36)) for character in text)) % 97


def _replace(character: str, byte: int, *, is_first: bool) -> str:
    """Another character of the same kind."""
    if character.isascii() and character.isdigit():
        if is_first:
            return str((int(character) - 1 + 1 + byte % 8) % 9 + 1)
        return str((int(character) + 1 + byte % 9) % 10)
    if character.isascii() and character.isalpha():
        other = LETTERS[(LETTERS.index(character.lower()) + 1 + byte % 25) % 26]
        return other.upper() if character.isupper() else other
    if not character.isalnum():
        return character
    umlauts = "ÄÖÜ" if character.isupper() else "äöü"
    return umlauts[(umlauts.find(character) + 1 + byte % 2) % 3]


def _space_like(before: str, iban: str) -> str:
    characters = iter(iban)
    return "".join(" " if character == " " else next(characters) for character in before)
