"""What the texts of a booking say, read without blanks: banks break lines, words and numbers anywhere."""

import re
from functools import lru_cache

_FOLDS = (("Ä", "AE"), ("Ö", "OE"), ("Ü", "UE"), ("É", "E"), ("È", "E"))
_MANDATE = re.compile(
    r"(?:MREF[+:]|MANDATSREF(?:ERENZ)?[.:+]*|MANDAT:)(.{1,35}?)(?=CRED[+:]|GLAEUBIGER|EINREICHER|SVWZ\+|EREF[+:]|$)"
)
_CREDITOR = re.compile(r"DE\d\d[A-Z0-9]{3}\d{11}|(?:CRED[+:]|-ID:?)([A-Z]{2}\d\d[A-Z0-9]{3}\d{8,28})")
# Where the fields around the purpose begin.
_FIELDS = re.compile(
    r"EREF[+:]|END-TO-END-REF|MREF[+:]|CORE/|MANDATSREF|MANDAT:|CRED[+:]|GLAEUBIGER-?ID|EINREICHER-?ID|KREF[+:]"
    r"|ABW[AE]\+|DEBT\+|COAM\+|OAMT\+|PURP\+"
)
_CHANGING = re.compile(
    r"JANUAR|FEBRUAR|MAERZ|MARZ|APRIL|JUNI|JULI|AUGUST|SEPTEMBER|OKTOBER|NOVEMBER|DEZEMBER|MAI"
    r"|(?<![A-Z])(?:JAN|FEB|MRZ|JUN|JUL|AUG|SEPT?|OKT|NOV|DEZ)(?![A-Z])|[^A-Z]+"
)
_MERCHANT = re.compile(r"(?:IHR)?EINKAUFBEI([A-Z0-9.&+*-]{2,24})")
_LEGAL_FORMS = re.compile(
    r"\b(?:GMBH|AG|SE|KG|OHG|EV|MBH|CO|UG|INC|LTD|BV|SARL|SA|VVAG|AOER|DEUTSCHLAND|DTL|SEPA|EINZUG|E|V|A|G|B|S|R|L)\b"
)
_NO_WORDS = re.compile(r"[^A-Z0-9]+")
INTERMEDIARIES = ("PAYPAL", "KLARNA", "SUMUP", "ADYEN", "STRIPE", "MOLLIE", "UNZER")


def squeeze_text(text: str) -> str:
    """Upper case, plain letters, no blanks."""
    text = "".join(text.split()).upper()
    if not text.isascii():
        for letter, plain in _FOLDS:
            text = text.replace(letter, plain)
    return text


def read_mandate(squeezed: str) -> str:
    match = _MANDATE.search(squeezed)
    return match[1] if match else ""


def read_creditor(squeezed: str) -> str:
    match = _CREDITOR.search(squeezed)
    return (match[1] or match[0]) if match else ""


def read_purpose(squeezed: str) -> str:
    """The words of the payer or payee, without the fields around them."""
    begin = squeezed.find("SVWZ+")
    text = squeezed if begin < 0 else squeezed[begin + 5 :]
    match = _FIELDS.search(text)
    if match is None:
        return text
    # Nothing before the first field: the bank sent fields alone.
    return text[: match.start()]


def read_signature(purpose: str) -> str:
    """The letters that stay when months and numbers change."""
    return _CHANGING.sub("", purpose)[:48]


@lru_cache(maxsize=8192)
def _is_wallet_name(name: str) -> bool:
    return simplify_name(name).startswith(INTERMEDIARIES)


def is_by_wallet(name: str, squeezed: str) -> bool:
    """Whether a payment service stands between payer and shop: its mandate says nothing about the shop."""
    return _is_wallet_name(name) or ".PP/." in squeezed


def read_merchant(squeezed: str) -> str:
    """The shop behind an intermediary, where the text names it."""
    match = _MERCHANT.search(squeezed)
    return match[1].rstrip(".") if match else ""


@lru_cache(maxsize=8192)
def simplify_name(name: str) -> str:
    """A name without legal form and punctuation, so that its spellings meet."""
    text = name.upper()
    if not text.isascii():
        for letter, plain in _FOLDS:
            text = text.replace(letter, plain)
    words = _NO_WORDS.sub(" ", text)
    return "".join(_LEGAL_FORMS.sub("", words).split())[:20]
