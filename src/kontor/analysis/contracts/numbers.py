"""Contract, policy, customer and membership numbers in the texts of payments."""

import re
from dataclasses import dataclass
from functools import lru_cache

# Longer words first: the first that fits wins.
_INVOICE = (
    r"(?:RECHNUNGS?(?:NUMMER|NR)?|(?<![A-Z])RNR|(?<![A-Z])RG|(?<![A-Z])RE(?:-?NR)?|INVOICE|BELEG(?:NR)?|ORDER|AUFTRAG(?:SNR)?|SCHADEN-?NR"
    r"|KLARNA-NR|BESTELL(?:UNG|NR)|ISIN[A-Z]{2}|PP\.\d+\.PP|ABRECHNUNGNR|TARIF(?!VS)[A-Z]{0,2}|UR-NR)[.:#]*[A-Z]?\d[\d/-]*"
)
_CUSTOMER = (
    r"KUNDEN-?(?:NUMMER|NR)|KD\.?-?(?:NR)?|KDNR|VERTRAGSKONTO|VERTRAGSGEGENST|VK|MITGLIEDS?-?(?:NUMMER|NR)?"
    r"|MITGL\.?-?(?:NR)?|BEITRAGS-?(?:NR|NUMMER)|PERS\.?-?NR|PERSONAL(?:NUMMER|NR)|PNR|KASSENZ(?:EICHEN)?|ABO-NR"
    r"|(?<![A-Z])ABO|MATR\.?-?NR|DEPOT|STEUERNUMMER|ST\.?-?NR|KVNR|VSNR|PRNR|FOERDERER-?NR|FOERDERUNGSNUMMER|MIETER-?NR"
    r"|KG(?:-NR)?|TEILNEHMER|PATIENT|MANDANT|BETRIEBS-?NR|SCHUELER-?NR|VERSICHERTENNR|VERSNR|KZ|KIZ|BG-NR|BAHNCARD\d\dNR"
)
_CONTRACT = (
    r"VERTRAGS?-?(?:NUMMER|NR)?|VERS\.?-?(?:NUMMER|NR)|VERSICHERUNGS-?(?:NUMMER|NR)|VS-?(?:NR)?|POLICEN?-?(?:NR)?"
    r"|DARLEHENS?(?:NR|NUMMER)?|DARL\.?-?LEISTUNG|KREDIT(?:NR|KONTO)?|VGV|WG-NR|AZ|AKTENZEICHEN|MIETEWE|(?<![A-Z])WE|GARAGE"
    r"|VERSICHERUNG|VERS|NR|AUTOKREDIT|ZIMMER"
)
_NUMBER = (
    r"([A-Z]{1,2}-\d[\d./]{2,}(?:[-][A-Z\d]{1,4}(?![A-Z]))?"
    r"|[A-Z]{0,2}\d(?:[\d./]|-(?=\d))*(?:[A-Z]{1,2}\d{2,}(?:[\d./]|-(?=\d))*)?(?:-[A-Z](?![A-Z]))?(?:N01)?)"
)
_LABELLED = re.compile(rf"(?:(?P<customer>{_CUSTOMER})|(?P<contract>{_CONTRACT}))[.:#]*(?P<number>{_NUMBER})")
# Flats and rooms have short numbers.
_SHORT = ("WE", "ZIMMER", "GARAGE")
_LONG = re.compile(r"(?<!\d)\d{6,14}(?!\d)")
_MIN_DIGITS, _MIN_DIGITS_OF_CONTRACT = 4, 2
_LONG_DIGITS = 9
_YEAR_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a text calls a contract's or a customer's number, and long numbers without a name."""

    contract: tuple[str, ...] = ()
    customer: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()


_NONE = Numbers()


def _trim(number: str, year: int) -> str:
    """Without the punctuation of the sentence, and without the year that follows once blanks are gone."""
    number = number.strip("./-")
    if len(number) >= _LONG_DIGITS and number[-_YEAR_DIGITS:] in (str(year - 1), str(year), str(year + 1)):
        number = number[:-_YEAR_DIGITS].rstrip("./-")
    return number


@lru_cache(maxsize=64)
def _compile_noise(year: int) -> re.Pattern[str]:
    """Dates, months, quarters, numbers of invoices. Two digits are a year only if it is about that of the payment."""
    years = "|".join(f"{number % 100:02d}" for number in (year - 1, year, year + 1))
    return re.compile(
        rf"\d\d\.\d\d\.(?:20\d\d|(?:{years})(?!\d))|(?:0[1-9]|1[0-2])[./](?:20\d\d|(?:{years})(?!\d))"
        r"|[1-4]\.(?:Q\.|VJ|QUARTAL)(?:20\d\d)?|" + _INVOICE
    )


def read_numbers(purpose: str, year: int) -> Numbers:
    """The numbers in a purpose that was read by `read_purpose`, paid in that year."""
    text = _compile_noise(year).sub(" ", purpose)
    contract: list[str] = []
    customer: list[str] = []
    for match in _LABELLED.finditer(text):
        number = _trim(match["number"], year)
        least = _MIN_DIGITS_OF_CONTRACT if (match["contract"] or "").endswith(_SHORT) else _MIN_DIGITS
        if sum(map(str.isdigit, number)) >= least:
            (customer if match["customer"] else contract).append(number)
    if contract or customer:
        return Numbers(tuple(contract), tuple(customer))
    unnamed = tuple(_trim(number, year) for number in _LONG.findall(text))
    return Numbers(unnamed=unnamed) if unnamed else _NONE
