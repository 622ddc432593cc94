"""How a booking reads on a statement.

The demo bank has several systems, as banks do after mergers; each writes names, SEPA fields and card payments in its
own way. A persona's `style` names one of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from zlib import crc32

from kontor.connectors.demo.people.banking_days import find_midnight
from kontor.connectors.demo.people.bookings import Draft
from kontor.connectors.demo.people.life import Life
from kontor.connectors.demo.people.streams import derive_number, draw_digits
from kontor.connectors.demo.people.truth import Entry, Truth
from kontor.domain.transactions import Transaction

# Replacing them one by one is ten times as fast as str.translate().
PLAIN_LETTERS = (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue"), ("é", "e"))

# Per method: GV code, prima nota, and the booking text in each style's words (tags, labels, columns, colons, plain).
METHODS: dict[str, tuple[str | None, str, tuple[str, str, str, str, str]]] = {
    "debit": (
        "105",
        "9248",
        ("FOLGELASTSCHRIFT", "Lastschrift", "SEPA-LASTSCHRIFT", "Basislastschrift", "Lastschrift"),
    ),
    "first_debit": (
        "105",
        "9248",
        ("ERSTLASTSCHRIFT", "Lastschrift", "SEPA-ERSTLASTSCHR.", "Erstlastschrift", "Lastschrift"),
    ),
    "elv": ("107", "9249", ("SEPA-ELV-LASTSCHRIFT", "Lastschrift", "LASTSCHR. ELV", "ELV-Lastschrift", "Lastschrift")),
    "standing": (
        "117",
        "9203",
        ("DAUERAUFTRAG", "Dauerauftrag", "DAUERAUFTRAG", "Dauerauftrag", "Dauerauftrag/Terminüberweisung"),
    ),
    "standing_in": (
        "152",
        "9203",
        ("DAUERAUFTRAGSGUTSCHR", "Gutschrift", "DA-GUTSCHRIFT", "Dauerauftragsgutschr", "Gutschrift"),
    ),
    "transfer": ("116", "9310", ("ONLINE-UEBERWEISUNG", "Überweisung", "UEBERWEISUNG", "Überweisung", "Überweisung")),
    "instant": (
        "118",
        "9310",
        (
            "ECHTZEIT-UEBERWEISUNG",
            "Echtzeitüberweisung",
            "UEBERW. ECHTZEIT",
            "Echtzeit-Überweisung",
            "Echtzeitüberweisung",
        ),
    ),
    "instant_in": (
        "168",
        "9311",
        (
            "GUTSCHR. ECHTZEIT",
            "Gutschrift",
            "GUTSCHR ECHTZEIT",
            "Echtzeit-Gutschrift",
            "Gutschrift aus Echtzeitüberweisung",
        ),
    ),
    "donation": ("119", "9310", ("SPENDE", "Überweisung", "SPENDENUEBERWEISUNG", "Überweisung", "Überweisung")),
    "credit": (
        "166",
        "9311",
        ("GUTSCHR. UEBERWEISUNG", "Gutschrift", "GUTSCHRIFT", "Überweisungsgutschr.", "Gutschrift"),
    ),
    "salary": (
        "153",
        "9311",
        ("LOHN  GEHALT", "Gehalt/Rente", "LOHN/GEHALT/RENTE", "Lohn/Gehalt/Rente", "Gehalt/Rente"),
    ),
    "public": (
        "156",
        "9311",
        ("GUTSCHR. OEFF. KASSE", "Gutschrift", "OEFFENTL. KASSEN", "Öffentliche Kassen", "Gutschrift"),
    ),
    "card": ("106", "9257", ("KARTENZAHLUNG", "Kartenzahlung", "GIROCARD", "Kartenumsatz", "Lastschrift Karte")),
    "card_refund": (
        "182",
        "9257",
        ("KARTENGUTSCHRIFT", "Gutschrift Karte", "GUTSCHR. KARTE", "Kartengutschrift", "Gutschrift"),
    ),
    "atm": ("083", "9260", ("BARGELDAUSZAHLUNG", "Auszahlung GAA", "GELDAUTOMAT", "Geldautomat", "Bargeldauszahlung")),
    "atm_in": (
        "082",
        "9261",
        ("BARGELDEINZAHLUNG SB", "Einzahlung GAA", "EINZAHLUNG SB", "Einzahlung Automat", "Bargeldeinzahlung"),
    ),
    "cash_in": (
        "082",
        "9100",
        ("EINZAHLUNG KASSE", "Einzahlung", "KASSE EINZAHLUNG", "Bareinzahlung", "Bareinzahlung Schalter"),
    ),
    "cash_out": (
        "083",
        "9100",
        ("AUSZAHLUNG KASSE", "Auszahlung", "KASSE AUSZAHLUNG", "Barauszahlung", "Barauszahlung Schalter"),
    ),
    "returned": (
        "181",
        "9248",
        ("RUECKLASTSCHRIFT", "Rücklastschrift", "RUECKGABE LS", "Lastschriftrückgabe", "Retoure"),
    ),
    "charge": ("808", "9000", ("ENTGELT", "Entgelt", "ENTGELT", "Entgelt", "Entgelt")),
    "fee": ("808", "9000", ("ENTGELTABSCHLUSS", "Kontoführung", "ENTGELT", "Abschluss", "Entgelt")),
    "closing": ("805", "9000", ("ABSCHLUSS", "Kontoabschluss", "ABSCHLUSS", "Abschluss", "Zinsen/Dispo")),
    "interest": ("814", "9000", ("ZINSEN", "Zinsgutschrift", "ZINSEN", "Habenzins", "Zinsen")),
    "settlement": (
        "006",
        "9250",
        ("KREDITKARTENABRECHN.", "Kreditkarte", "KARTENABRECHNUNG", "Kreditkartenabrechng", "Abrechnung Kreditkarte"),
    ),
    "securities": (
        "303",
        "8800",
        ("WERTPAPIERE", "Wertpapierabrechnung", "EFFEKTEN", "Wertpapierkauf", "Wertpapierkauf"),
    ),
    "dividend": (
        "330",
        "8800",
        ("WERTPAPIERERTRAEGE", "Erträgnisse", "ERTRAEGNISSE", "Erträgnisgutschrift", "Dividende"),
    ),
    "exchange": ("225", "8700", ("DEVISEN", "Währungstausch", "DEVISENUMSATZ", "Währungstausch", "Währungstausch")),
    "mistake": ("899", "9000", ("STORNO", "Storno", "STORNO", "Stornobuchung", "Storno")),
    "mistake_in": ("820", "9000", ("UEBERTRAG", "Umbuchung", "UEBERTRAG", "Übertrag", "Umbuchung")),
    "seizure": ("116", "9900", ("PFAENDUNG", "Pfändung", "PFAENDUNG", "Pfändung", "Pfändung")),
}
STYLE_ORDER = ("tags", "labels", "columns", "colons", "plain")


@dataclass(frozen=True, slots=True)
class Style:
    """`width` is where names end, `column` where purpose lines break (and words with them)."""

    is_upper: bool
    has_umlauts: bool
    width: int
    column: int
    has_prima_nota: bool
    write_purpose: Callable[[Draft], str]
    write_card: Callable[[Life, Draft], tuple[str | None, str]]


def _write_tags(draft: Draft) -> str:
    parts = [f"EREF+{draft.reference}"] if draft.reference else []
    if draft.mandate:
        parts += [f"MREF+{draft.mandate}", f"CRED+{draft.creditor_id}"]
    return " ".join([*parts, f"SVWZ+{draft.purpose}"]) if parts else draft.purpose


def _write_tight_tags(draft: Draft) -> str:
    return _write_tags(draft).replace(" MREF+", "MREF+").replace(" CRED+", "CRED+").replace(" SVWZ+", "SVWZ+")


def _write_labels(draft: Draft) -> str:
    parts = [draft.purpose]
    if draft.reference and draft.reference != "NOTPROVIDED":
        parts.append(f"End-to-End-Ref.: {draft.reference}")
    if draft.mandate:
        parts.append(f"CORE / Mandatsref.: {draft.mandate} Gläubiger-ID: {draft.creditor_id}")
    return " ".join(parts)


def _write_colons(draft: Draft) -> str:
    parts = [draft.purpose]
    if draft.reference:
        parts.append(f"EREF: {draft.reference}")
    if draft.mandate:
        parts.append(f"MREF: {draft.mandate} CRED: {draft.creditor_id}")
    return " ".join(parts)


def _write_plain(draft: Draft) -> str:
    if draft.mandate:
        return f"{draft.purpose} Mandat: {draft.mandate} Einreicher-ID: {draft.creditor_id}"
    return draft.purpose


def _read_moment(draft: Draft) -> datetime:
    assert draft.bought_at is not None
    return draft.bought_at


def _write_terminal(life: Life, draft: Draft) -> tuple[str | None, str]:
    """What the till sent, with the moment and the card: no name at all."""
    place = draft.place or ""
    shop = draft.purpose if "//" in draft.purpose else f"{draft.purpose}//{place}/DE"
    return None, f"{shop} {_read_moment(draft).isoformat()} KFN 1 VJ {27 + len(life.login) % 3}12"


@lru_cache(maxsize=256)
def _number_debit_card(login: str) -> str:
    return draw_digits(4, "card", login)


def _write_visa(life: Life, draft: Draft) -> tuple[str | None, str]:
    shop, _, rest = draft.purpose.partition("//")
    place = rest.partition("/")[0] or draft.place or ""
    card, moment = _number_debit_card(life.login), _read_moment(draft)
    arn = f"74{derive_number('arn', draft.key) % 10**21:021d}"
    return f"VISA {shop}", f"NR XXXX {card} {place.upper()} KAUFUMSATZ {moment:%d.%m %H%M%S} ARN{arn}"


def _write_girocard(life: Life, draft: Draft) -> tuple[str | None, str]:
    shop, _, rest = draft.purpose.partition("//")
    place = rest.partition("/")[0] or draft.place or ""
    moment = _read_moment(draft)
    return shop, f"{shop} {place.upper()} DE {moment:%d.%m.%Y} um {moment:%H:%M:%S} Uhr girocard Debitk.0 2028-12"


def _write_folio(life: Life, draft: Draft) -> tuple[str | None, str]:
    """A line of a credit card's own statement."""
    shop, _, rest = draft.purpose.partition("//")
    place, _, country = rest.partition("/")
    return shop, f"{shop} {place or draft.place or ''} {country or 'DE'}"


STYLES = {
    "tags": Style(False, False, 70, 0, True, _write_tags, _write_terminal),
    "labels": Style(False, True, 70, 0, False, _write_labels, _write_girocard),
    "columns": Style(True, False, 27, 27, True, _write_tight_tags, _write_terminal),
    "colons": Style(False, True, 35, 35, False, _write_colons, _write_girocard),
    "plain": Style(False, True, 70, 0, False, _write_plain, _write_visa),
}


def fit_letters(style: Style, text: str, column: int = 0) -> str:
    if not style.has_umlauts and not text.isascii():
        for letter, plain in PLAIN_LETTERS:
            text = text.replace(letter, plain)
    if style.is_upper:
        text = text.upper()
    if column and len(text) > column:
        # Statement lines are put together with blanks, so words and ids break in the middle.
        text = " ".join(text[start : start + column].strip() for start in range(0, len(text), column))
    return text


# Purchases at one shop share their truth: fewer objects, less to collect.
share_truth = lru_cache(maxsize=4096)(Truth)


def make_truth(draft: Draft) -> Truth:
    return share_truth(
        draft.category, draft.insurance_type, draft.partner, draft.contract, draft.is_regular, draft.freelancer
    )


@lru_cache(maxsize=8192)
def write_day(day: date) -> str:
    return f"{day:%Y%m%d}"


class StatementWriter:
    """Writes the statement of one account. What all of its bookings have in common is looked up once."""

    def __init__(self, life: Life, account: str) -> None:
        place = STYLE_ORDER.index(life.persona.style)
        style = STYLES[life.persona.style]
        self._life, self._style = life, style
        self._is_card = account == life.card_account
        self._write_card = _write_folio if self._is_card else style.write_card
        self._words = {
            method: (
                texts[place],
                None if self._is_card else gv_code,
                prima_nota if style.has_prima_nota and not self._is_card else None,
            )
            for method, (gv_code, prima_nota, texts) in METHODS.items()
        }
        self._seed = crc32(life.login.encode())

    def write_final(self, draft: Draft) -> Entry:
        style = self._style
        text, gv_code, prima_nota = self._words[draft.method]
        booked = valued = find_midnight(draft.day)
        if draft.bought_at is not None:
            name, purpose = self._write_card(self._life, draft)
            purpose = fit_letters(style, purpose)
            name = fit_letters(style, name)[: style.width] if name else None
            if self._is_card:
                valued = find_midnight(draft.bought_at.date())
        else:
            name = fit_letters(style, draft.name)[: style.width].rstrip() if draft.name else None
            purpose = fit_letters(style, style.write_purpose(draft), style.column)
        transaction = Transaction(
            Decimal(draft.cents).scaleb(-2),
            draft.currency,
            booked,
            valued,
            purpose,
            text,
            gv_code,
            prima_nota,
            name,
            draft.iban,
            draft.bic,
            draft.ultimate,
            f"{write_day(draft.day)}{crc32(draft.key.encode(), self._seed):012d}",
        )
        return Entry(transaction, make_truth(draft))

    def write_pending(self, draft: Draft, shown_from: date) -> Entry:
        """What is known ahead of a booking: worded shorter, without what the booking will bring."""
        style, moment = self._style, draft.bought_at
        if moment is not None:
            shop = fit_letters(style, draft.purpose.partition("//")[0])[:22].rstrip()
            purpose = f"{shop} {moment:%d.%m.}" if style.is_upper else f"{shop} {moment:%d.%m. %H:%M}"
            name, valued = None, shown_from + timedelta(days=1)
        else:
            purpose = fit_letters(style, f"Vorgemerkte Lastschrift {draft.purpose}")[:60].rstrip()
            name, valued = fit_letters(style, draft.name or "")[: style.width].rstrip() or None, draft.day
        transaction = Transaction(
            amount=Decimal(draft.cents).scaleb(-2),
            currency=draft.currency,
            booked_at=find_midnight(shown_from),
            value_at=find_midnight(valued),
            purpose=purpose,
            booking_text="VORGEMERKT" if style.is_upper else "Vorgemerkter Umsatz",
            counterparty_name=name,
            is_pending=True,
        )
        return Entry(transaction, make_truth(draft))
