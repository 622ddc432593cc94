"""The mandate of a direct debit, as far as banks write it into the text of a payment."""

import re
from dataclasses import dataclass

_TAGS = "EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC"
_MANDATE = re.compile(
    rf"(?:\bMREF[+:]|\bMandats?-?(?:ref(?:erenz)?|nummer|nr)?\.?:|(?<=\w)MREF\+)\s*+"
    rf"(?!(?:{_TAGS})\+)([A-Z0-9/?().,'+:-]{{1,35}}?)(?=\s|$|(?:{_TAGS})\+)",
    re.IGNORECASE,
)
_CREDITOR = re.compile(
    rf"(?:CRED[+:]|(?:Gläubiger|Glaeubiger|Einreicher|Creditor)-?ID\.?:)\s*"
    rf"([A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{4,31}}?)(?=\s|$|(?:{_TAGS})\+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MandateNames:
    """The reference of the mandate and the creditor's identifier; empty where the text does not tell."""

    reference: str
    creditor_id: str


def read_mandate(purpose: str) -> MandateNames:
    mandate, creditor = _MANDATE.search(purpose), _CREDITOR.search(purpose)
    return MandateNames(mandate[1] if mandate else "", creditor[1].upper() if creditor else "")
