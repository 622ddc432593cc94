"""MT535 statements of holdings: what a depot contains, as German banks send it.

A `FIN` block is one position. `:35B:` names it (ISIN, `/DE/` and the WKN, then the name in one or two lines), `:90A:`
gives a price in per cent, `:90B:` one in money, `:93B:` the quantity in pieces (`UNIT`) or nominal value (`FAMT`).
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from kontor.connectors.statements.results import (
    LIMITS,
    AccountIdentification,
    Balance,
    Holdings,
    IssueKind,
    Limits,
    StatementError,
    StatementIssue,
    TooManyEntriesError,
)
from kontor.connectors.statements.swift_fields import fail_at, read_swift_text, split_fields
from kontor.connectors.statements.values import (
    clean_bic,
    clean_iban,
    find_midnight,
    join_lines,
    make_day,
    parse_swift_amount,
)
from kontor.domain.positions import Position, TradingUnit

NAME_WIDTH = 35
EXCHANGES = {
    "XETR": "XETRA",
    "XFRA": "Frankfurt",
    "XSTU": "Stuttgart",
    "XGAT": "Tradegate",
    "XMUN": "München",
    "XDUS": "Düsseldorf",
    "XHAM": "Hamburg",
    "XHAN": "Hannover",
    "XBER": "Berlin",
    "XNAS": "NASDAQ",
    "XNYS": "New York",
    "XLON": "London",
    "XSWX": "SIX",
    "XPAR": "Paris",
    "XAMS": "Amsterdam",
    "XWBO": "Wien",
    "LSEX": "L&S Exchange",
}
_ISIN = re.compile(r"(?:ISIN[ ]?)?([A-Z]{2}[A-Z0-9]{9}[0-9])[ ]*")
_WKN = re.compile(r"/(?:DE|XX)/[ ]*([A-Z0-9]{6})[ ]*(.*)")
_PRICE = re.compile(r":MRKT//([A-Z]{4})/(N)?([A-Z]{3})?([0-9.,]+)")
_QUANTITY = re.compile(r":AGGR//([A-Z]{4})/(N)?([0-9.,]+)")
_VALUE = re.compile(r":(HOLD|HOLP)//(N)?([A-Z]{3})(N)?([0-9.,]+)")
_RATE = re.compile(r":EXCH//([A-Z]{3})/([A-Z]{3})/([0-9.,]+)")
_PLACE = re.compile(r":PRIC//[A-Z]{4}(?:/([^\n]+))?")
_TIME = re.compile(r":(PRIC|STAT|PREP)//([0-9]{8})")
_ACCOUNT = re.compile(r":SAFE//([^\n]+)")


def read_mt535(data: bytes, limits: Limits = LIMITS) -> tuple[Holdings, ...]:
    """All depots of a file. Pages of one statement are put together."""
    return _Reader(read_swift_text(data, limits), limits).read()


class _Reader:
    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._found: list[Holdings] = []
        self._handlers: dict[str, Callable[[str], None]] = {
            "16R": self._begin_block,
            "16S": self._end_block,
            "35B": self._take_name,
            "90A": self._take_price,
            "90B": self._take_price,
            "93B": self._take_quantity,
            "19A": self._take_value,
            "92B": self._take_rate,
            "94B": self._take_place,
            "98A": self._take_time,
            "98C": self._take_time,
            "97A": self._take_account,
        }
        self._account: str | None = None
        self._day: date | None = None
        self._total: Balance | None = None
        self._positions: list[Position] = []
        self._is_begun = False
        self._forget_position()

    def _forget_position(self) -> None:
        self._is_position = False
        self._name = ""
        self._isin: str | None = None
        self._wkn: str | None = None
        self._price: Decimal | None = None
        self._currency: str | None = None
        self._quantity: Decimal | None = None
        self._unit: TradingUnit | None = None
        self._value: Balance | None = None
        self._rate: Decimal | None = None
        self._rate_currency: str | None = None
        self._exchange: str | None = None
        self._price_at: datetime | None = None

    def read(self) -> tuple[Holdings, ...]:
        parts = split_fields(self._text)
        for tag, content in zip(parts[1::2], parts[2::2], strict=True):
            handler = self._handlers.get(tag)
            if handler is None:
                continue
            if len(content) > self._limits.line_length:
                raise fail_at(self._text, 0, tag, content, "This field is too long.")
            try:
                handler(content)
            except ValueError as error:
                message = f"The field cannot be read: {error}."
                raise fail_at(self._text, 0, tag, content, message) from error
        if self._is_position:
            raise StatementError("The file ends within a position.", field="16S")
        self._finish()
        if not self._found:
            raise StatementError("This is no MT535: there are no holdings in it.")
        return tuple(self._found)

    # Blocks

    def _begin_block(self, content: str) -> None:
        block = content.strip()
        if block == "GENL":
            self._begin_message()
        elif block == "FIN":
            if self._is_position:
                raise ValueError("a position begins within another")
            self._is_position = self._is_begun = True

    def _begin_message(self) -> None:
        """A further page goes on with the same depot; `_take_account` finds out whether it does."""
        if not self._is_begun:
            self._is_begun = True

    def _end_block(self, content: str) -> None:
        if content.strip() == "FIN" and self._is_position:
            if len(self._positions) >= self._limits.entries:
                raise TooManyEntriesError(f"There are more than {self._limits.entries} positions.")
            self._positions.append(self._make_position())
            self._forget_position()

    def _finish(self) -> None:
        if self._is_begun and (self._account is not None or self._positions):
            positions = tuple(self._positions)
            self._found.append(
                Holdings(
                    _parse_account(self._account or ""),
                    positions,
                    self._day,
                    self._total,
                    _check_total(positions, self._total),
                )
            )
        self._account, self._day, self._total, self._positions, self._is_begun = None, None, None, [], False

    # Fields

    def _take_account(self, content: str) -> None:
        if self._is_position or (match := _ACCOUNT.match(content)) is None:
            return
        account = match[1].strip()
        if self._account is not None and account != self._account:
            self._finish()
            self._is_begun = True
        self._account = account

    def _take_name(self, content: str) -> None:
        """Up to four lines; the ISIN and the WKN each have one of their own, in whichever order."""
        names = []
        for line in content.split("\n"):
            if self._isin is None and (match := _ISIN.fullmatch(line)):
                self._isin = match[1]
            elif self._wkn is None and (match := _WKN.fullmatch(line)):
                self._wkn = match[1]
                names += [match[2]] if match[2].strip() else []
            elif line.strip():
                names.append(line)
        self._name = join_lines(names, NAME_WIDTH) if names else ""

    def _take_price(self, content: str) -> None:
        match = _PRICE.match(content)
        if match is None or not self._is_position:
            return
        self._price = parse_swift_amount(match[4])
        self._price = -self._price if match[2] else self._price
        self._currency = match[3]
        if match[1] == "PRCT" and self._unit is None:
            self._unit = TradingUnit.NOMINAL

    def _take_quantity(self, content: str) -> None:
        match = _QUANTITY.match(content)
        if match is None or not self._is_position:
            return
        self._unit = TradingUnit.NOMINAL if match[1] in ("FAMT", "AMOR") else TradingUnit.PIECES
        quantity = parse_swift_amount(match[3])
        self._quantity = -quantity if match[2] else quantity

    def _take_value(self, content: str) -> None:
        match = _VALUE.match(content)
        if match is None:
            return
        amount = parse_swift_amount(match[5])
        balance = Balance(-amount if match[2] or match[4] else amount, match[3], self._day)
        if match[1] == "HOLP":
            self._total = balance
        elif self._is_position:
            self._value = balance

    def _take_rate(self, content: str) -> None:
        if self._is_position and (match := _RATE.match(content)):
            self._rate, self._rate_currency = parse_swift_amount(match[3]), match[1]

    def _take_place(self, content: str) -> None:
        if self._is_position and (match := _PLACE.match(content)) and match[1]:
            place = match[1].strip()
            self._exchange = EXCHANGES.get(place, place) or None

    def _take_time(self, content: str) -> None:
        match = _TIME.match(content)
        if match is None:
            return
        text = match[2]
        day = make_day(int(text[:4]), int(text[4:6]), int(text[6:8]))
        if match[1] == "PRIC" and self._is_position:
            self._price_at = find_midnight(day)
        elif match[1] == "STAT" or (match[1] == "PREP" and self._day is None):
            self._day = day

    def _make_position(self) -> Position:
        name = self._name or self._isin or self._wkn
        if not name:
            raise ValueError("the position has no name")
        value = self._value
        return Position(
            name=name,
            quantity=self._quantity,
            unit=self._unit,
            isin=self._isin,
            wkn=self._wkn,
            price=self._price,
            price_at=self._price_at,
            currency=self._currency or self._rate_currency or (None if value is None else value.currency),
            exchange_rate=self._rate,
            exchange=self._exchange,
            total_value=None if value is None else value.amount,
        )


def _parse_account(text: str) -> AccountIdentification:
    bank, separator, number = text.partition("/")
    if not separator:
        bank, number = "", text
    iban = clean_iban(number)
    return AccountIdentification(
        iban=iban,
        account_number=None if iban else number.strip() or None,
        bank_code=bank if bank.isdigit() else None,
        bic=clean_bic(bank),
    )


def _check_total(positions: tuple[Position, ...], total: Balance | None) -> tuple[StatementIssue, ...]:
    values = [position.total_value for position in positions if position.total_value is not None]
    if total is None or len(values) != len(positions):
        return ()
    expected = sum(values, Decimal(0))
    if expected == total.amount:
        return ()
    return (StatementIssue(IssueKind.POSITION_MISMATCH, expected, total.amount),)
