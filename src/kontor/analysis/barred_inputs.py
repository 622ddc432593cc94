"""What a credit check must not know: bookings about health, religion, party, union, sexual life or ethnic origin.

They are removed before anything is computed (ADR 0080). What they are known by is in `data/barred_inputs.toml`: the
category, the type of insurance, and words of the texts.
"""

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Any

from msgspec import structs

from kontor.analysis.records import Record
from kontor.domain.tags import derive_insurance_type

_FOLDS = (("Ä", "AE"), ("Ö", "OE"), ("Ü", "UE"), ("ẞ", "SS"))
_SIGNS = re.compile(r"[^A-Z0-9]+")
# Characters without a shape of their own, such as soft hyphens and zero-width spaces: Default_Ignorable_Code_Point of
# Unicode. Some stand where a word may be broken, some between words.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_MIN_UNBROKEN = 9  # letters: shorter words may begin in one word and end in the next by chance


@dataclass(frozen=True, slots=True)
class Text:
    """Plain words, and all of them without blanks, since banks break words at the end of a line."""

    words: list[str]
    spaced: str
    squeezed: str


@dataclass(frozen=True, slots=True)
class Words:
    """What texts are searched for: whole words, beginnings and endings of words, phrases, and letters in a row."""

    whole: frozenset[str]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]
    phrases: tuple[str, ...]
    letters: tuple[str, ...]

    def are_in(self, text: Text) -> bool:
        return (
            any(
                word in self.whole or word.startswith(self.beginnings) or word.endswith(self.endings)
                for word in text.words
            )
            or any(phrase in text.spaced for phrase in self.phrases)
            or any(letters in text.squeezed for letters in self.letters)
        )


@dataclass(frozen=True, slots=True)
class BarredInputs:
    """`digest` names the contents of the file."""

    categories: tuple[str, ...]
    insurance_types: tuple[str, ...]
    received_insurance_types: tuple[str, ...]
    exempt: tuple[str, ...]
    harmless: tuple[str, ...]
    always: Words
    words: Words
    digest: str

    def remove(self, records: Iterable[Record]) -> list[Record]:
        """The others, unchanged; of a booking that is split, the parts that are not barred."""
        kept = (self._keep(record) for record in records)
        return [record for record in kept if record is not None]

    def _keep(self, record: Record) -> Record | None:
        if self._is_barred(record, record.category, record.insurance_type):
            return None
        return self._keep_parts(record) if record.part_categories else record

    def _keep_parts(self, record: Record) -> Record | None:
        places = [
            place
            for place, category in enumerate(record.part_categories)
            if not self._is_barred(record, category, derive_insurance_type(category, record.insurance_type))
        ]
        if not places:
            return None
        amounts = tuple(record.part_amounts[place] for place in places)
        own = tuple(record.part_own_categories[place] for place in places) if record.part_own_categories else ()
        return structs.replace(
            record,
            amount=sum(amounts, Decimal(0)),
            part_amounts=amounts,
            part_categories=tuple(record.part_categories[place] for place in places),
            part_own_categories=own,
        )

    def _is_barred(self, record: Record, category: str, insurance_type: str) -> bool:
        if category.startswith(self.categories) or insurance_type.startswith(self.insurance_types):
            return True
        if record.amount > 0 and insurance_type.startswith(self.received_insurance_types):
            return True
        is_exempt = category.startswith(self.exempt)
        return any(
            self.always.are_in(text) or (not is_exempt and self.words.are_in(text)) for text in self._list_texts(record)
        )

    def _list_texts(self, record: Record) -> Iterable[Text]:
        """One; two where there are invisible characters: without them, and with blanks in their place."""
        text = f"{record.purpose} {record.counterparty_name} {record.ultimate_counterparty} {record.booking_text}"
        text = f"{text} {record.own_category}"
        visible = _INVISIBLE.sub("", text)
        yield self._read(visible)
        if visible != text:
            yield self._read(_INVISIBLE.sub(" ", text))

    def _read(self, text: str) -> Text:
        text = unicodedata.normalize("NFKC", text).upper()
        for letter, plain in _FOLDS:
            text = text.replace(letter, plain)
        words = _SIGNS.sub(" ", text).split()
        squeezed = "".join(words)
        for harmless in self.harmless:
            squeezed = squeezed.replace(harmless, "")
        return Text(words, f" {' '.join(words)} ", squeezed)


@lru_cache(maxsize=1)
def load_barred_inputs() -> BarredInputs:
    content = files("kontor.analysis.data").joinpath("barred_inputs.toml").read_bytes()
    read = tomllib.loads(content.decode())
    kinds = [value for value in read.values() if isinstance(value, dict)]
    return BarredInputs(
        categories=_join(kinds, "categories"),
        insurance_types=_join(kinds, "insurance_types"),
        received_insurance_types=_join(kinds, "received_insurance_types"),
        exempt=tuple(read["exempt"]),
        harmless=tuple(read["harmless"]),
        always=_sort(_join(kinds, "always")),
        words=_sort(_join(kinds, "words")),
        digest=hashlib.sha256(content).hexdigest()[:12],
    )


def _join(kinds: Sequence[dict[str, Any]], name: str) -> tuple[str, ...]:
    return tuple(value for kind in kinds for value in kind.get(name, ()))


def _sort(phrases: Sequence[str]) -> Words:
    single = [phrase for phrase in phrases if " " not in phrase]
    letters = [phrase.strip("*") for phrase in single]
    return Words(
        whole=frozenset(phrase for phrase in single if "*" not in phrase),
        beginnings=tuple(phrase[:-1] for phrase in single if phrase.endswith("*")),
        endings=tuple(phrase[1:] for phrase in single if phrase.startswith("*")),
        phrases=tuple(f" {phrase} ".replace("* ", "") for phrase in phrases if " " in phrase),
        letters=tuple(word for word in letters if len(word) >= _MIN_UNBROKEN),
    )
