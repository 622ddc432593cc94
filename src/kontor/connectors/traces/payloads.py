"""Masking what banks send inside of their messages: MT940 and MT942, MT535, camt."""

import re
from collections.abc import Callable
from html import unescape
from xml.sax.saxutils import escape

from kontor.connectors.traces.masking import BANK_CODE, BIC, Mask, load_kept

_FIELD = re.compile(r"(^|\r\n|\n|\r|@@):([0-9]{2}[A-Z]?):")
_BALANCE = re.compile(r"([RE]?[CD])([0-9]{6})([A-Z]{3})([0-9.,]+)(.*)", re.DOTALL)
_ENTRY = re.compile(
    r"([0-9]{6}(?:[0-9]{4}| {4})? ?(?:R?[CD]|E[CD])[A-Z]? ?)([0-9.,]+)((?:[NFS][A-Z0-9]{3})?)(.*)", re.DOTALL
)
_ACCOUNT = re.compile(r"((?::SAFE//)?(?:[0-9]{8}/|[A-Z]{6}[A-Z0-9]{2,5}/)?)([^\r\n]*?)((?:[A-Z]{3})?)(\s*)", re.DOTALL)
_QUANTITY = re.compile(r"(:[A-Z]{4}//(?:[A-Z]{4}/)?N?(?:[A-Z]{3})?N?)([0-9.,]+)(\s*)", re.DOTALL)
_FLOOR = re.compile(r"((?:[0-9]{1,5})?[A-Z]{3}[CD]?)([0-9.,]+)(\s*)", re.DOTALL)
_PLACE = re.compile(r":PRIC//[A-Z]{4}(?:/X[A-Z]{3})?\s*")
_RATE = re.compile(r":EXCH//[A-Z]{3}/[A-Z]{3}/[0-9.,]+\s*")
_SECURITY = re.compile(r"\A(ISIN )|^(/(?:DE|XX)/)", re.MULTILINE)
_DETAILS = re.compile(r"([0-9]{3})?([ ]?)([?<>|^~#@&])(?=[0-9]{2})")
_CLOSED_CODE = re.compile(r"[A-Z0-9 :/+.,-]*\s*")
# Numbers of statements, days, kinds of blocks: nothing of a person is in these fields.
_KEPT_FIELDS = frozenset(("28", "28C", "28E", "13", "13D", "16R", "16S", "22F", "23G", "98A", "98C"))
_BALANCE_FIELDS = frozenset(("60F", "60M", "62F", "62M", "64", "65"))

_XML_PART = re.compile(r"(<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^>]*>)", re.DOTALL)
_XML_NAME = re.compile(r"</?(?:[\w.-]+:)?([\w.-]+)")
_ATTRIBUTE = re.compile(r"""([\w.:-]+)(\s*=\s*)("[^"]*"|'[^']*')""")
_KEPT_ATTRIBUTES = re.compile(r"xmlns(:\w+)?|xsi:\w+|Ccy|version|encoding|standalone")
_XML_ENCODING = re.compile(rb"""\A[^>]{0,100}encoding=["']([\w-]+)["']""")
_XML_CODE = re.compile(r"[\w:.+/ -]{0,40}", re.ASCII)
_KEPT_ELEMENTS = load_kept("camt_elements")
_AMOUNTS = frozenset(("Amt", "Sum", "TtlNetNtryAmt", "TtlNetNtry", "TaxAmt", "InstdAmt", "TxAmt"))
_WORDS = frozenset(("AddtlNtryInf",))


def mask_payload(mask: Mask, data: bytes) -> bytes:
    """By what it begins with. A form that is not known is masked as a text."""
    head = data[:200].lstrip(b"\xef\xbb\xbf \r\n\t@")
    if head.startswith(b"<"):
        return mask_xml(mask, data)
    text, encoding = _decode(data)
    masked = mask_swift(mask, text) if _FIELD.search(text) else mask.mask_text(text)
    return masked.encode(encoding)


def _decode(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


# SWIFT


def mask_swift(mask: Mask, text: str) -> str:
    """Field by field; what stands before the first is the end of a field of the page before."""
    parts = _FIELD.split(text)
    masked = [mask.mask_text(parts[0])]
    for line_end, tag, content in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        masked.append(f"{line_end}:{tag}:{_mask_field(mask, tag, content)}")
    return "".join(masked)


def _mask_field(mask: Mask, tag: str, content: str) -> str:
    if tag in _KEPT_FIELDS and _CLOSED_CODE.fullmatch(content):
        return content
    if tag in _BALANCE_FIELDS and (found := _BALANCE.fullmatch(content)):
        return f"{found[1]}{found[2]}{found[3]}{mask.scale(found[4])}{mask.mask_text(found[5])}"
    handler = _HANDLERS.get(tag)
    return mask.mask_text(content) if handler is None else handler(mask, content)


def _mask_entry(mask: Mask, content: str) -> str:
    found = _ENTRY.fullmatch(content)
    if found is None:
        return mask.mask_text(content)
    return f"{found[1]}{mask.scale(found[2])}{found[3]}{mask.mask_text(found[4], keeps_words=True)}"


def _mask_account(mask: Mask, content: str) -> str:
    """The bank code and the currency stay."""
    found = _ACCOUNT.fullmatch(content)
    if found is None:
        return mask.mask_text(content)
    return f"{found[1]}{mask.mask_text(found[2])}{found[3]}{found[4]}"


def _mask_number(mask: Mask, content: str) -> str:
    found = _QUANTITY.fullmatch(content) or _FLOOR.fullmatch(content)
    return mask.mask_text(content) if found is None else f"{found[1]}{mask.scale(found[2])}{found[3]}"


def _mask_holding(mask: Mask, content: str) -> str:
    """Quantity and price are each multiplied, so their product is multiplied twice."""
    found = _QUANTITY.fullmatch(content)
    return mask.mask_text(content) if found is None else f"{found[1]}{mask.scale(mask.scale(found[2]))}{found[3]}"


def _mask_security(mask: Mask, content: str) -> str:
    parts = _SECURITY.split(content)
    return "".join(part if place % 3 else mask.mask_text(part) for place, part in enumerate(parts) if part is not None)


def _keep_closed(pattern: re.Pattern[str]) -> Callable[[Mask, str], str]:
    return lambda mask, content: content if pattern.fullmatch(content) else mask.mask_text(content)


def _mask_details(mask: Mask, content: str) -> str:
    """Field 86. Its subfields may be cut by line ends, which belong to the marks then."""
    start = _DETAILS.match(content)
    if start is None:
        return mask.mask_text(content)
    separator = re.escape(start[3])
    head, *parts = re.split(rf"({separator}[\r\n]*[0-9][\r\n]*[0-9])", content)
    masked = [head]
    for mark, value in zip(parts[::2], parts[1::2], strict=True):
        masked.append(mark + _mask_subfield(mask, re.sub(r"\D", "", mark), value))
    return "".join(masked)


def _mask_subfield(mask: Mask, number: str, value: str) -> str:
    bare = value.strip()
    is_bank = number == "30" and bool(BIC.fullmatch(bare) or BANK_CODE.fullmatch(bare))
    if is_bank or (number == "34" and re.fullmatch(r"[0-9]{0,3}", bare)):
        return value
    return mask.mask_text(value, keeps_words=number == "00")


_HANDLERS: dict[str, Callable[[Mask, str], str]] = {
    "25": _mask_account,
    "97A": _mask_account,
    "61": _mask_entry,
    "86": _mask_details,
    "34F": _mask_number,
    "90C": _mask_number,
    "90D": _mask_number,
    "90A": _mask_number,
    "90B": _mask_number,
    "93B": _mask_number,
    "19A": _mask_holding,
    "35B": _mask_security,
    "94B": _keep_closed(_PLACE),
    "92B": _keep_closed(_RATE),
}


# XML


def mask_xml(mask: Mask, data: bytes) -> bytes:
    """Elements and attributes stay; texts stay where the element is in a list of codes and days."""
    declared = _XML_ENCODING.match(data)
    encoding = "utf-8" if declared is None else declared[1].decode()
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        text, encoding = data.decode("latin-1"), "latin-1"
    name, masked = "", []
    for place, part in enumerate(_XML_PART.split(text)):
        if place % 2 == 0:
            masked.append(_mask_element(mask, name, part))
        elif part.startswith("<![CDATA["):
            masked.append(_mask_element(mask, name, escape(part[9:-3])))
        elif not part.startswith("<!"):  # comments and document types are left out
            found = _XML_NAME.match(part)
            name = found[1] if found is not None and not part.startswith("</") else ""
            masked.append(_ATTRIBUTE.sub(lambda attribute: _mask_attribute(mask, attribute), part))
    return "".join(masked).encode(encoding)


def _mask_element(mask: Mask, name: str, text: str) -> str:
    if not text.strip() or (name in _KEPT_ELEMENTS and _XML_CODE.fullmatch(text)):
        return text
    plain = unescape(text)
    masked = mask.scale(plain) if name in _AMOUNTS else mask.mask_text(plain, keeps_words=name in _WORDS)
    return escape(masked)


def _mask_attribute(mask: Mask, attribute: re.Match[str]) -> str:
    name, equals, quoted = attribute.groups()
    if _KEPT_ATTRIBUTES.fullmatch(name):
        return attribute[0]
    quote, value = quoted[0], quoted[1:-1]
    return f"{name}{equals}{quote}{escape(mask.mask_text(unescape(value)), {quote: '&quot;'})}{quote}"
