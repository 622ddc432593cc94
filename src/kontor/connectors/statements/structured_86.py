"""Field `:86:` of MT940 as German banks fill it: a GV code, then numbered subfields.

`?00` booking text, `?10` prima nota, `?20`-`?29` and `?60`-`?63` purpose, `?30` bank code or BIC, `?31` account or
IBAN, `?32` and `?33` name, `?35` and `?36` the name of whom it was paid for. The purpose carries SEPA tags (`EREF+`,
`SVWZ+` …), which stay in it. An old account number and bank code are put behind the purpose.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from kontor.connectors.statements.booking_texts import find_booking_text
from kontor.connectors.statements.values import (
    add_national_account,
    clean_bic,
    clean_iban,
    find_ultimate_party,
    join_lines,
)

SUBFIELD_WIDTH = 27
LINE_WIDTH = 65
NO_CODE = "000"
_CODE = re.compile(r"[0-9]{3}[ ]*")
_START = re.compile(r"([0-9]{3})?[ ]?([?<>|^~#@&])(?=[0-9]{2})")
_QUESTION = re.compile(r"\?([0-9]{2})")
# Nearly all bookings have this shape: each subfield once and in order, no question mark in a text.
_USUAL = re.compile(
    r"([0-9]{3})\?00([^?]*)(?:\?10([^?]*))?((?:\?2[0-9][^?]*)*)(?:\?30([^?]*))?(?:\?31([^?]*))?"
    r"(?:\?32([^?]*))?(?:\?33([^?]*))?(?:\?34[^?]*)?((?:\?6[0-3][^?]*)*)"
)
_TAGS = "(?:EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|PURP|RREF)"
_MARK = re.compile(r"\?[26][0-9]")
_MARK_OF_TAG = re.compile(rf"\?[26][0-9](?={_TAGS}\+)")
# Every line is full, or the next one begins with a tag: then joining is a matter of removing marks.
_REGULAR_LINES = re.compile(rf"(?:\?[26][0-9](?:[^?]{{27}}|[^?]{{0,26}}(?=\?[26][0-9]{_TAGS}\+|$)))+")
_TAGGED_IBAN = re.compile(r"IBAN\+ ?([A-Z]{2}[0-9]{2}[A-Z0-9]{11,30})\b")
_TAGGED_BIC = re.compile(r"BIC\+ ?([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)\b")
_PURPOSE = frozenset(f"{number}" for number in (*range(20, 30), *range(60, 64)))


class Details(NamedTuple):
    """What a booking is about."""

    purpose: str | None = None
    booking_text: str | None = None
    gv_code: str | None = None
    prima_nota: str | None = None
    counterparty_name: str | None = None
    counterparty_iban: str | None = None
    counterparty_bic: str | None = None
    ultimate_counterparty: str | None = None


@lru_cache(maxsize=32)
def _compile_separator(separator: str) -> re.Pattern[str]:
    return re.compile(re.escape(separator) + "([0-9]{2})")


def parse_details(content: str) -> Details:
    """Field 86 of a booking, line breaks and all."""
    text = content.replace("\n", "")
    if usual := _USUAL.fullmatch(text):
        gv_code, booking_text, prima_nota, lines, bic, iban, name, more_name, more_lines = usual.groups()
        return _make_details(
            gv_code, booking_text, prima_nota, _join_marked(lines + more_lines), name, more_name, iban, bic
        )
    start = _START.match(content)
    if start is None:
        if _CODE.fullmatch(text):  # a GV code, and nothing to add
            return _make_details(text.strip(), None, None, "", None, None, None, None)
        return parse_free_text(content)
    return _parse_any_order(text, start[1], start[2])


def _parse_any_order(text: str, gv_code: str | None, separator: str) -> Details:
    """Subfields as they come, with whatever separator the bank chose; those that come twice are put together."""
    parts = (_QUESTION if separator == "?" else _compile_separator(separator)).split(text)
    lines: list[str] = []
    fields: dict[str, str] = {}
    for number, piece in zip(parts[1::2], parts[2::2], strict=True):
        if number in _PURPOSE:
            lines.append(piece)
        else:
            fields[number] = fields.get(number, "") + piece
    take = fields.get
    purpose = join_lines(lines, SUBFIELD_WIDTH) if lines else ""
    iban = take("38") if take("38") and not clean_iban(take("31")) else take("31")
    party = join_lines((take("35", ""), take("36", "")), SUBFIELD_WIDTH)
    details = _make_details(gv_code, take("00"), take("10"), purpose, take("32"), take("33"), iban, take("30"))
    return _add_party(details, party) if party else details


def _add_party(details: Details, party: str) -> Details:
    """Where no other name is given it is the counterparty's."""
    if details.counterparty_name is None:
        return details._replace(counterparty_name=party)
    return details if details.ultimate_counterparty else details._replace(ultimate_counterparty=party)


def _join_marked(text: str) -> str:
    """Purpose lines that still have their marks (`?20`) as one text."""
    if _REGULAR_LINES.fullmatch(text):
        joined = _MARK.sub("", _MARK_OF_TAG.sub(" ", text) if "+" in text else text)
        if "  " not in joined:
            return joined.strip()
    return join_lines(_MARK.split(text)[1:], SUBFIELD_WIDTH) if text else ""


def _make_details(
    gv_code: str | None,
    booking_text: str | None,
    prima_nota: str | None,
    purpose: str,
    name: str | None,
    more_name: str | None,
    iban: str | None,
    bic: str | None,
) -> Details:
    if gv_code == NO_CODE:
        gv_code = None
    if more_name:
        name = join_lines((name or "", more_name), SUBFIELD_WIDTH)
    clear_iban, clear_bic, ultimate = clean_iban(iban), clean_bic(bic), None
    if "+" in purpose:
        ultimate = find_ultimate_party(purpose)
        if clear_iban is None and "IBAN+" in purpose:
            clear_iban = _find(_TAGGED_IBAN, purpose)
        if clear_bic is None and "BIC+" in purpose:
            clear_bic = _find(_TAGGED_BIC, purpose)
    if clear_iban is None and (iban or bic):
        purpose = add_national_account(purpose, iban, bic) or ""
    return Details(
        purpose or None,
        (booking_text.strip() if booking_text else None) or find_booking_text(gv_code),
        gv_code,
        (prima_nota.strip() if prima_nota else None) or None,
        (name.strip() if name else None) or None,
        clear_iban,
        clear_bic,
        ultimate,
    )


def parse_free_text(content: str) -> Details:
    """A field without structure: all of it is the purpose."""
    lines = [line for line in content.split("\n") if line.strip()]
    purpose = join_lines(lines, LINE_WIDTH) if lines else ""
    if not purpose:
        return Details()
    iban, bic = _find(_TAGGED_IBAN, purpose), _find(_TAGGED_BIC, purpose)
    return Details(
        purpose,
        counterparty_iban=iban,
        counterparty_bic=bic,
        ultimate_counterparty=find_ultimate_party(purpose),
    )


def _find(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match[1] if match else None
