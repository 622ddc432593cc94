"""SEPA fields inside a purpose, in all spellings banks use.

`EREF+123MREF+4 CRED+DE98ZZZ09999999999SVWZ+Strom`, `Strom EREF: 123 CRED: DE98…`, `Strom End-to-End-Ref.: 123
Gläubiger-ID: DE98…` all give the same. Works by splitting at the sign and looking back, as that is several times faster
than searching for every tag.
"""

from typing import NamedTuple

REFERENCE, CREDITOR, TEXT, ULTIMATE, PURPOSE_CODE, NAME = range(6)
TAGS = {
    "EREF": REFERENCE,
    "KREF": REFERENCE,
    "MREF": REFERENCE,
    "BREF": REFERENCE,
    "RREF": REFERENCE,
    "DEBT": REFERENCE,
    "COAM": REFERENCE,
    "OAMT": REFERENCE,
    "IBAN": REFERENCE,
    "CRED": CREDITOR,
    "SVWZ": TEXT,
    "ABWA": ULTIMATE,
    "ABWE": ULTIMATE,
    "ANAM": ULTIMATE,
    "PURP": PURPOSE_CODE,
}
# As they end before a colon, without blanks and in lower case.
LABELS = {tag.lower(): field for tag, field in TAGS.items()} | {
    "end-ref.": REFERENCE,
    "end-referenz": REFERENCE,
    "end-ref": REFERENCE,
    "end-id": REFERENCE,
    "kundenreferenz": REFERENCE,
    "mandatsref.": REFERENCE,
    "mandatsref": REFERENCE,
    "mandatsreferenz": REFERENCE,
    "mandatsid": REFERENCE,
    "mandat": REFERENCE,
    "mandatref": REFERENCE,
    "mandats-id": REFERENCE,
    "mandatereference": REFERENCE,
    "submitterreferred": REFERENCE,
    "bic": REFERENCE,
    "kto/iban": REFERENCE,
    "gläubiger-id": CREDITOR,
    "glaeubiger-id": CREDITOR,
    "gläubigerid": CREDITOR,
    "glaeubigerid": CREDITOR,
    "gläub.-id": CREDITOR,
    "einreicher-id": CREDITOR,
    "creditor-id": CREDITOR,
    "creditorid": CREDITOR,
    "identifikationsnummer": CREDITOR,
    "verwendungszweck": TEXT,
    "remittanceinformation": TEXT,
    "buchungstext": TEXT,
    "abweichenderauftraggeber": ULTIMATE,
    "abw.auftraggeber": ULTIMATE,
    "ultimativerauftraggeber": ULTIMATE,
    "auftraggeber": NAME,
    "empfänger": NAME,
    "empfaenger": NAME,
    "purp": PURPOSE_CODE,
    "purposecode": PURPOSE_CODE,
}
_LAST_LETTERS = frozenset(label[-3:] for label in LABELS)
_ENDINGS = tuple(LABELS)
_LENGTHS = sorted({len(label) for label in LABELS}, reverse=True)
LOOK_BACK = max(_LENGTHS) + 3
# A creditor id is as long as its country says; the digits after the country check the rest.
CREDITOR_LENGTHS = {"DE": 18, "AT": 18, "LU": 26, "NL": 19, "FR": 13, "IE": 13, "BE": 20}


# Some banks begin a purpose with the counterparty, and the kind of booking right behind it.
GLUED_KIND, MAX_KIND_LENGTH = "SEPA-", 40


class SepaFields(NamedTuple):
    text: str
    creditor_id: str = ""
    purpose_code: str = ""
    ultimate: str = ""
    name: str = ""


def normalise_creditor_id(text: str) -> str:
    """The id without its business code (letters 5 to 7), which creditors may choose freely; empty if it is none."""
    compact = text.replace(" ", "").upper()[:35]
    compact = compact[: CREDITOR_LENGTHS.get(compact[:2], 35)]
    return compact[:4] + compact[7:] if len(compact) > 8 and compact[2:4].isdigit() and compact[:2].isalpha() else ""


def split_glued(purpose: str) -> tuple[str, str, str]:
    """Name, kind and rest of `Stadtwerke SEPA-BASISLASTSCHRIFT SVWZ+ Strom`, with or without a blank before the kind.
    Name and kind are empty where it is written otherwise."""
    name, _, rest = purpose.partition(GLUED_KIND)
    before, sign, _ = rest.partition("+")
    # What stands before the sign must be the first tag, which a line's end may have broken.
    if not sign or "+" in name or len(before) > MAX_KIND_LENGTH or before[-5:].replace(" ", "")[-4:] not in TAGS:
        return "", "", purpose
    kind = _cut_tail(before, 4)
    return name.strip(), GLUED_KIND + kind.strip(), rest[len(kind) :]


def split_purpose(purpose: str) -> SepaFields:
    """The fields of a purpose; without any tag all of it is text."""
    pieces = []
    if "+" in purpose:
        pieces = _split_tags(purpose)
    if len(pieces) < 2 and ":" in purpose:
        pieces = _split_labels(purpose)
    if len(pieces) < 2:
        return SepaFields(purpose, _find_bare_creditor_id(purpose))
    return _gather(pieces)


def _gather(pieces: list[tuple[int, str]]) -> SepaFields:
    texts, creditor, code, ultimate, name, rest = [], "", "", "", "", ""
    for field, value in pieces:
        if field == TEXT:
            texts.append(value)
        elif field == CREDITOR:
            creditor = normalise_creditor_id(value)
            rest = rest + " " + value.strip().partition(" ")[2]
        elif field == ULTIMATE:
            ultimate = value.strip()
        elif field == PURPOSE_CODE:
            code = value.strip()[:4].upper()
        elif field == NAME:
            name = value.strip()
        else:
            rest = rest + " " + value.strip().partition(" ")[2]
    text = " ".join(texts).strip()
    # Some banks write the text behind a reference without a tag of its own.
    return SepaFields(text or rest.strip(), creditor, code, ultimate, name)


def _split_tags(purpose: str) -> list[tuple[int, str]]:
    pieces: list[tuple[int, str]] = []
    field, value = TEXT, ""
    for part in purpose.split("+"):
        # A tag may be broken by a line's end: `SV WZ+`.
        tail = part[-5:].replace(" ", "")[-4:]
        next_field = TAGS.get(tail)
        if next_field is None:
            value = value + "+" + part if value else part
            continue
        pieces.append((field, value + "+" + _cut_tail(part, 4) if value else _cut_tail(part, 4)))
        field, value = next_field, ""
    pieces.append((field, value))
    return pieces


def _split_labels(purpose: str) -> list[tuple[int, str]]:
    pieces: list[tuple[int, str]] = []
    field, value = TEXT, ""
    parts = purpose.split(":")
    for part in parts[:-1]:
        tail = part[-LOOK_BACK:].replace(" ", "").lower()
        if tail[-3:] not in _LAST_LETTERS or not tail.endswith(_ENDINGS):
            value = f"{value}:{part}" if value else part
            continue
        length = next(length for length in _LENGTHS if tail[-length:] in LABELS)
        before = _cut_tail(part, length)
        pieces.append((field, f"{value}:{before}" if value else before))
        field, value = LABELS[tail[-length:]], ""
    last = parts[-1]
    pieces.append((field, f"{value}:{last}" if value else last))
    return pieces


def _cut_tail(part: str, letters: int) -> str:
    """The part without its last letters, blanks not counted."""
    end = len(part)
    if " " not in part[-letters:]:
        return part[: end - letters] if end > letters else ""
    while letters and end:
        end -= 1
        letters -= part[end] != " "
    return part[:end]


def _find_bare_creditor_id(purpose: str) -> str:
    start = purpose.find("ZZZ0")
    return normalise_creditor_id(purpose[start - 4 : start + 22].partition(" ")[0]) if start >= 4 else ""
