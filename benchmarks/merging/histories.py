"""Histories: what a customer's bank and files deliver about one account, in time, behaving as banks do."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from benchmarks.merging.truths import DAYS, START, Booking, Ledger
from benchmarks.merging.wordings import Wording, change_wording, draw_wording, word
from kontor.connectors.files.accounts import join_statements
from kontor.connectors.statements import AccountIdentification, Balance, Statement
from kontor.connectors.statements.results import StatementKind
from kontor.domain.balances import BalanceSpan
from kontor.domain.transactions import Transaction

OVERLAP = timedelta(10)
ACCOUNT = AccountIdentification(iban="DE02120300000000202051", currency="EUR")
OPENING = Decimal("1000.00")
BEHAVIOURS = (
    "pages of one statement",
    "deltas of camt.052",
    "overlapping exports",
    "pending becomes booked",
    "reordered",
    "re-encoded",
    "filters by value date",
    "ignores the start date",
    "file and bank",
    "the bank changes its format",
    "stored before channels were known",
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """Rows, and the true booking behind each. `since` is the day from which the bank was asked; None is a file."""

    rows: list[Transaction]
    truths: list[int]
    since: date | None = None
    spans: tuple[BalanceSpan, ...] = ()
    is_file: bool = False


@dataclass(slots=True)
class History:
    bookings: list[Booking]
    behaviours: set[str]
    deliveries: list[Delivery] = field(default_factory=list)
    upgrade_before: int | None = None  # what was stored before this delivery has no channel


def make_history(seed: int) -> History:
    """The same seed makes the same history."""
    return _Maker(Random(seed)).make()


class _Maker:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._bookings = Ledger(random).bookings
        self._behaviours: set[str] = set()
        self._channel = random.choice(("MT940", "camt.052", "XS2A"))
        self._wording = draw_wording(random, self._channel)
        self._file_channel = random.choice(("CSV", "CSV", "MT940", "camt.053"))
        self._file_wording = draw_wording(random, self._file_channel)
        self._is_delta = self._channel == "camt.052" and random.random() < 0.4
        self._filter = random.choice(("booked", "booked", "value", "none"))
        self._is_changing = random.random() < 0.4
        self._is_reordered = random.random() < 0.4
        self._has_pending = random.random() < 0.6
        self._is_redated = random.random() < 0.3
        self._told: set[int] = set()  # for deltas
        if self._is_delta and random.random() < 0.4:
            self._wording = replace(self._wording, has_bank_id=False)

    def make(self) -> History:
        history = History(self._bookings, self._behaviours)
        has_files = self._random.random() < 0.5
        days = sorted(self._random.sample(range(5, DAYS), self._random.choice((2, 3, 4))))
        for day in days:
            today = START + timedelta(day)
            if has_files and self._random.random() < 0.5:
                history.deliveries.append(self._export(today))
            if self._random.random() < 0.08 and not self._is_delta:
                self._change_channel()
            history.deliveries.append(self._fetch(today, self._random.random() < 0.5, history.deliveries))
        last = START + timedelta(DAYS + 1)
        if has_files:
            history.deliveries.append(self._export(last))
        history.deliveries.append(self._fetch(last, False, history.deliveries))
        if has_files:
            self._behaviours.add("file and bank")
        # Of a row whose channel is unknown nobody knows which day it shows, nor whose reference it has: a delta that
        # goes on in the middle of a day could not be told from a repetition.
        is_clear = self._file_wording.day != "value" and not self._is_delta
        if self._random.random() < 0.2 and is_clear:
            history.upgrade_before = self._random.randrange(1, len(history.deliveries))
            self._behaviours.add("stored before channels were known")
        return history

    def _change_channel(self) -> None:
        """The bank switches one format off and another one on."""
        self._channel = self._random.choice(("MT940", "camt.052", "XS2A"))
        self._wording = draw_wording(self._random, self._channel)
        self._behaviours.add("the bank changes its format")

    # The bank

    def _fetch(self, today: date, is_noon: bool, before: Sequence[Delivery]) -> Delivery:
        """All that is booked by now; at noon the last day is told in part."""
        booked = self._list_booked(today, is_noon)
        since = self._find_since(before)
        told = self._select(booked, since)
        wording = self._find_wording()
        rows = [self._word(booking, wording, self._channel) for booking in told]
        truths = [booking.number for booking in told]
        if self._has_pending:
            self._add_pending(rows, truths, today, {booking.number for booking in booked})
        self._shuffle(rows, truths)
        return Delivery(rows, truths, since)

    def _add_pending(self, rows: list[Transaction], truths: list[int], today: date, booked: set[int]) -> None:
        for booking in self._bookings:
            is_over = booking.number in booked or (booking.is_cancelled and booking.booked < today)
            if booking.seen_from is not None and booking.seen_from <= today and not is_over:
                day = today if self._is_redated else booking.seen_from
                rows.append(word(booking, self._wording, self._channel, pending_on=min(day, booking.booked)))
                truths.append(booking.number)
                self._behaviours.add("pending becomes booked")

    def _list_booked(self, today: date, is_noon: bool) -> list[Booking]:
        booked = [booking for booking in self._bookings if booking.booked <= today and not booking.is_cancelled]
        newest = [booking for booking in booked if booking.booked == today]
        if not is_noon or not newest:
            return booked
        later = self._random.sample(newest, self._random.randint(0, len(newest)))
        held_back = {booking.number for booking in later}
        if self._is_delta and not self._wording.has_bank_id:
            # Twins that come one by one, without a reference, cannot be told from one that comes twice.
            alike = {booking.likeness for booking in later}
            held_back = {booking.number for booking in newest if booking.likeness in alike and not booking.time}
            held_back |= {booking.number for booking in later}
        return [booking for booking in booked if booking.number not in held_back]

    def _find_since(self, before: Sequence[Delivery]) -> date:
        """As a refresh does it: some days before the newest final booking that is stored."""
        days = [
            row.booked_at.date()
            for delivery in before
            for row in delivery.rows
            if row.booked_at and not row.is_pending and not delivery.is_file
        ]
        return max(days) - OVERLAP if days else START - OVERLAP

    def _select(self, booked: list[Booking], since: date) -> list[Booking]:
        if self._is_delta:
            self._behaviours.add("deltas of camt.052")
            told = [booking for booking in booked if booking.number not in self._told]
            self._told |= {booking.number for booking in told}
            return told
        if self._filter == "value":
            self._behaviours.add("filters by value date")
            return [booking for booking in booked if booking.value >= since]
        if self._filter == "none":
            self._behaviours.add("ignores the start date")
            return booked
        return [booking for booking in booked if booking.booked >= since]

    # Files

    def _export(self, today: date) -> Delivery:
        """A file of whole days, from some day on until yesterday; it overlaps what is known already."""
        self._behaviours.add("overlapping exports")
        first, last = START + timedelta(self._random.choice((0, 0, 10, 20))), today - timedelta(1)
        shown = (
            (lambda booking: booking.value) if self._file_wording.day == "value" else (lambda booking: booking.booked)
        )
        told = [
            booking
            for booking in self._bookings
            if first <= shown(booking) <= last and booking.booked <= last and not booking.is_cancelled
        ]
        wording = self._file_wording
        rows = [self._word(booking, wording, self._file_channel) for booking in told]
        if self._file_channel in ("MT940", "camt.053") and rows:
            return self._page(told, rows)
        truths = [booking.number for booking in told]
        self._shuffle(rows, truths)
        return Delivery(rows, truths, is_file=True)

    def _page(self, told: list[Booking], rows: list[Transaction]) -> Delivery:
        """A statement of several pages, cut anywhere: each begins with the balance with which the one before ended."""
        kind = StatementKind(self._file_channel)
        cuts = sorted(self._random.sample(range(1, len(rows)), min(2, len(rows) - 1))) if len(rows) > 1 else []
        statements, balance, is_numbered = [], OPENING, self._random.random() < 0.5
        for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True), 1):
            entries = rows[start:end]
            closing = sum((row.amount for row in entries), balance)
            first, last = Balance(balance, "EUR", told[start].booked), Balance(closing, "EUR", told[end - 1].booked)
            sequence = f"00012/{number:03d}" if is_numbered else None
            statements.append(Statement(kind, ACCOUNT, tuple(entries), first, last, sequence))
            balance = closing
        if len(statements) > 1:
            self._behaviours.add("pages of one statement")
        (account,) = join_statements(statements, ())
        # Joining makes rows of its own; bookings are in order, and each page keeps that order.
        return Delivery(
            list(account.transactions), [booking.number for booking in told], spans=account.spans, is_file=True
        )

    # Words

    def _find_wording(self) -> Wording:
        if not self._is_changing:
            return self._wording
        self._behaviours.add("re-encoded")
        return change_wording(self._random, self._wording)

    def _word(self, booking: Booking, wording: Wording, channel: str) -> Transaction:
        return word(booking, wording, channel, random=self._random if self._is_reordered else None)

    def _shuffle(self, rows: list[Transaction], truths: list[int]) -> None:
        if self._is_reordered and rows:
            self._behaviours.add("reordered")
            order = list(range(len(rows)))
            self._random.shuffle(order)
            rows[:], truths[:] = [rows[index] for index in order], [truths[index] for index in order]
