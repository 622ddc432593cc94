"""References inside a purpose: end-to-end reference and mandate, in the spellings that German banks use.

`EREF+4711 MREF+M-1 SVWZ+Strom`, `EREF+4711MREF+M-1SVWZ+Strom`, `Strom EREF: 4711 MREF: M-1` and `Strom End-to-End-Ref.:
4711 CORE / Mandatsref.: M-1` say the same.
"""

import re
from typing import NamedTuple

MAX_CHARACTERS = 35
MIN_CUT_LENGTH = 16  # some channels cut references, but none to less than this
_TAGS = {"EREF": "end_to_end", "MREF": "mandate", "SVWZ": "text"}
_SPACED = "|".join(
    " ?".join(tag)
    for tag in (
        *("EREF", "MREF", "KREF", "CRED", "DEBT", "SVWZ", "ABWA", "ABWE", "ANAM"),
        *("COAM", "OAMT", "PURP", "RREF", "BREF", "IBAN", "BIC"),
    )
)
_LABELS = (
    r"(?P<label_end_to_end>End-to-End-(?:Ref(?:erenz)?|ID))"
    r"|(?P<label_mandate>(?:(?:CORE|COR1|B2B) ?/ ?)?Mandat(?:s?-?(?:ref(?:erenz)?|ID))?)"
    r"|(?P<label_text>Verwendungszweck)"
    r"|Gl(?:ä|ae|a|\?)ubiger-?ID|Einreicher-?ID|Kundenref(?:erenz)?|Kto/IBAN"
)
_TAG = re.compile(rf"(?P<tag>{_SPACED}) ?[+:]")
_LABEL = re.compile(rf"(?:{_LABELS})\.?\s?:", re.IGNORECASE)
_NO_REFERENCE = frozenset(
    (
        *("NOTPROVIDED", "NONREF", "NOREF", "NOTAVAILABLE", "NONE", "NULL", "NA", "UNKNOWN", "EMPTY"),
        *("KEINE", "KEINEREFERENZ", "OHNE", "OHNEREFERENZ", "NICHTANGEGEBEN", "UNBEKANNT"),
    )
)
_NOT_PROVIDED = "NOTPROVIDED"


class References(NamedTuple):
    """References in comparable form (letters and digits alone), and what is left of the purpose as free text."""

    end_to_end: str | None
    mandate: str | None
    text: str


def read_references(purpose: str | None) -> References:
    """The references of a purpose. Without any mark all of it is free text."""
    if not purpose:
        return References(None, None, "")
    has_labels = ":" in purpose
    marks = list(_TAG.finditer(purpose)) if has_labels or "+" in purpose else []
    if has_labels:
        marks = sorted([*marks, *_LABEL.finditer(purpose)], key=lambda mark: mark.start())
    if not marks:
        return References(None, None, purpose)
    by_field: dict[str, str] = {}
    texts = [purpose[: marks[0].start()]]
    for number, mark in enumerate(marks):
        is_last = number + 1 == len(marks)
        value = purpose[mark.end() : None if is_last else marks[number + 1].start()].strip()
        field = _name_field(mark)
        if field == "text":
            texts.append(value)
        elif is_last:
            # Some banks write the text behind the last reference without a mark of its own.
            value, _, rest = value.partition(" ")
            texts.append(rest)
        if field is not None and field not in by_field:
            by_field[field] = value
    return References(
        normalise_reference(by_field.get("end_to_end")),
        normalise_reference(by_field.get("mandate")),
        " ".join(text for text in texts if text),
    )


def _name_field(mark: re.Match[str]) -> str | None:
    if mark.re is _TAG:
        return _TAGS.get(mark["tag"].replace(" ", "").upper())
    return next((name for name in ("end_to_end", "mandate", "text") if mark[f"label_{name}"] is not None), None)


def normalise_reference(value: str | None) -> str | None:
    """Letters and digits in upper case. None where the value says that there is no reference."""
    if not value:
        return None
    compact = "".join(filter(str.isalnum, value.upper()))[:MAX_CHARACTERS]
    is_placeholder = compact in _NO_REFERENCE or not compact.strip("0") or compact.startswith(_NOT_PROVIDED)
    return None if is_placeholder or (len(compact) >= 6 and _NOT_PROVIDED.startswith(compact)) else compact


def is_same_reference(left: str, right: str) -> bool:
    """Equal, or one is the other cut short."""
    if left == right:
        return True
    shorter, longer = sorted((left, right), key=len)
    return len(shorter) >= MIN_CUT_LENGTH and longer.startswith(shorter)
