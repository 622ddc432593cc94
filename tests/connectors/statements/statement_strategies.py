"""Statements as hypothesis makes them up: everything the formats can carry, nothing they must cut."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from kontor.connectors.statements.booking_texts import find_booking_text
from kontor.connectors.statements.values import find_midnight
from kontor.domain.positions import Position, TradingUnit
from kontor.domain.products import Product, ProductCategory
from kontor.domain.transactions import Transaction

TODAY = date(2026, 11, 15)
LATIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöüÄÖÜßéñ .,:;-/&()*'=%#@!\"$_|~^<>{}[]\\`°§²"
WIDE = LATIN + "€–„“…αжあ🙂\u2028"
IBANS = st.from_regex(r"\A[A-Z]{2}[0-9]{20}\Z").filter(lambda iban: not iban.startswith("DE99"))
BICS = st.from_regex(r"\A[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?\Z")
GV_CODES = st.sampled_from(("105", "106", "116", "117", "153", "166", "177", "191", "814", "835"))
EXCHANGES = ("XETRA", "Frankfurt", "Stuttgart", "Tradegate", "NASDAQ", "Somewhere else")


def is_told_from_utf8(written: bytes) -> bool:
    """Latin-1 that happens to be UTF-8 too (`Ä§` has the bytes of `ħ`) is read as UTF-8: nobody can know better."""
    if written.isascii():
        return True
    try:
        written.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def texts(alphabet: str, most: int, least: int = 1) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most).map(str.strip).filter(bool)


@st.composite
def purposes(draw: st.DrawFn, alphabet: str) -> str:
    """Plain text, or SEPA tags in the order banks send them."""
    if draw(st.booleans()):
        return draw(texts(alphabet, 250))
    parts = []
    for tag, most in (("EREF", 35), ("KREF", 35), ("MREF", 35), ("CRED", 35), ("SVWZ", 140)):
        if draw(st.booleans()) or tag == "SVWZ":
            words = draw(texts(alphabet.replace(" ", "") if tag != "SVWZ" else alphabet, most))
            parts.append(f"{tag}+{words}")
    return " ".join(parts) if len(parts) > 1 else parts[0].removeprefix("SVWZ+")


@st.composite
def transactions(draw: st.DrawFn, alphabet: str, *, is_pending: bool = False, name_width: int = 54) -> Transaction:
    value_on = TODAY - timedelta(days=draw(st.integers(0, 3000)))
    booked_on = value_on + timedelta(days=draw(st.integers(-120, 120)))
    gv_code = draw(st.none() | GV_CODES)
    return Transaction(
        amount=Decimal(draw(st.integers(-(10**11), 10**11))) / 100,
        currency="EUR",
        booked_at=find_midnight(booked_on),
        value_at=find_midnight(value_on),
        purpose=draw(st.none() | purposes(alphabet)),
        booking_text=draw(st.none() | texts(alphabet, 27)),
        gv_code=gv_code,
        prima_nota=draw(st.none() | st.from_regex(r"\A[0-9]{4}\Z")),
        counterparty_name=draw(st.none() | texts(alphabet, name_width)),
        counterparty_iban=draw(st.none() | IBANS),
        counterparty_bic=draw(st.none() | BICS),
        is_pending=is_pending,
    )


def expect(transaction: Transaction) -> Transaction:
    """What a parser makes of it: without a booking text, the table's words for its code."""
    return replace(transaction, booking_text=transaction.booking_text or find_booking_text(transaction.gv_code))


@st.composite
def products(draw: st.DrawFn) -> Product:
    number = draw(st.from_regex(r"\A[1-9][0-9]{9}\Z"))
    return Product(
        number,
        ProductCategory.CHECKING,
        "Girokonto",
        draw(texts(WIDE, 70)),
        currency="EUR",
        account_number=number,
        iban=f"DE99{number}{number}"[:22],
        bic="KONTDEFFXXX",
        bank_code="99999999",
        institution="Kontor Demobank",
    )


@st.composite
def positions(draw: st.DrawFn) -> Position:
    is_bond = draw(st.booleans())
    is_foreign = draw(st.booleans())
    words = draw(st.lists(texts(LATIN.replace(" ", ""), 12), min_size=1, max_size=5))
    name = " ".join(words)[:60].strip()
    if name.startswith((":", "-", "/", "ISIN")):
        name = f"X{name}"
    return Position(
        name=name,
        quantity=Decimal(draw(st.integers(0, 10**9))) / 10_000,
        unit=TradingUnit.NOMINAL if is_bond else TradingUnit.PIECES,
        isin=draw(st.from_regex(r"\A[A-Z]{2}[A-Z0-9]{9}[0-9]\Z")),
        wkn=draw(st.none() | st.from_regex(r"\A[A-Z0-9]{6}\Z")),
        price=Decimal(draw(st.integers(1, 10**8))) / 1000,
        price_at=find_midnight(TODAY - timedelta(days=draw(st.integers(0, 3000)))),
        currency="USD" if is_foreign else "EUR",
        exchange_rate=Decimal(draw(st.integers(1, 10**7))) / 10**6 if is_foreign else None,
        exchange=draw(st.none() | st.sampled_from(EXCHANGES)),
        total_value=Decimal(draw(st.integers(-(10**10), 10**10))) / 100,
    )
