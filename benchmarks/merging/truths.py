"""What truly happened on an account: the oracle's ledger, of which banks and files only tell.

Amounts, people and texts come from small lists, so that bookings that are alike are the rule and not the exception.
"""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from random import Random

START = date(2026, 3, 2)
DAYS = 45
AMOUNTS = tuple(map(Decimal, ("29.00", "12.30", "3.20", "50.00", "9.99")))
PEOPLE = (
    ("Jürgen Müller", "DE02120300000000202051"),
    ("Anna Schäfer-Groß", "DE02500105170137075030"),
    ("Ben Özdemir", "DE02100500000054540402"),
    ("Müller, Jürgen und Marlene", "DE02300209000106531065"),
    ("Söhne & Töchter Gebäudereinigung GmbH", "DE02200505501015871393"),
    ("Clara Weiß", "DE02701500000000594937"),
)
SHOPS = ("REWE SAGT DANKE", "Bäckerei Schäfer", "EDEKA Löwenstraße", "Stadtwerke Köln Bäder", "Späti am Tor")
TEXTS = (
    "Mitgliedsbeitrag 2026",
    "Miete",
    "Kaution Schlüssel",
    "Rechnung 4711",
    "Rechnung 4712 Kunde 88",
    "Danke für alles",
)


@dataclass(frozen=True, slots=True)
class Booking:
    """One true booking. `seen_from` is the first day on which the bank shows it as pending, if it does.

    `is_cancelled`: a reservation that came to nothing. The bank shows it until the day of booking, and never books it.
    """

    number: int
    kind: str
    amount: Decimal
    booked: date
    value: date
    name: str | None
    iban: str | None
    text: str
    end_to_end: str | None = None
    mandate: str | None = None
    time: str = ""
    seen_from: date | None = None
    is_cancelled: bool = False

    @property
    def likeness(self) -> tuple[object, ...]:
        """Bookings that share this are twins: nobody can tell them apart but by the bank's own references."""
        return self.amount, self.name, self.text, self.booked

    @property
    def words(self) -> tuple[object, ...]:
        return self.amount, self.name, self.text


class Ledger:
    """Draws bookings until there are enough."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.bookings: list[Booking] = []
        wanted = random.randint(8, 18)
        makers = (self._add_transfers, self._add_debits, self._add_cards, self._add_twins, self._add_standing_order)
        while len(self.bookings) < wanted:
            random.choices((*makers, self._add_return, self._add_fee), (3, 2, 3, 2, 1, 1, 1))[0]()
        # A file may show the day of value alone. Equal words on neighbouring days would then be a riddle.
        counts = Counter(booking.words for booking in self.bookings)
        self.bookings = [
            booking if counts[booking.words] == 1 else replace(booking, value=booking.booked)
            for booking in self.bookings
        ]
        self.bookings.sort(key=lambda booking: booking.booked)

    def _add(self, kind: str, amount: Decimal, booked: date, text: str, **facts: object) -> None:
        value = booked + timedelta(self._random.choice((0, 0, 0, 1, -1)))
        values: dict[str, object] = {"name": None, "iban": None} | facts
        self.bookings.append(Booking(len(self.bookings), kind, amount, booked, value, text=text, **values))  # type: ignore[arg-type]

    def _day(self) -> date:
        return START + timedelta(self._random.randrange(DAYS))

    def _reference(self) -> str:
        return f"E{self._random.randrange(10**6):06d}-{len(self.bookings)}"

    def _add_transfers(self) -> None:
        """One to three people send the same amount on one day, with or without references of their own."""
        amount, day = self._random.choice(AMOUNTS), self._day()
        text, has_own_texts = self._random.choice(TEXTS), self._random.random() < 0.4
        for name, iban in self._random.sample(PEOPLE, self._random.choice((1, 2, 3))):
            reference = self._reference() if self._random.random() < 0.4 else None
            words = self._random.choice(TEXTS) if has_own_texts else text
            seen = day - timedelta(1) if self._random.random() < 0.3 else None
            self._add("transfer", amount, day, words, name=name, iban=iban, end_to_end=reference, seen_from=seen)

    def _add_debits(self) -> None:
        """One creditor collects the same amount once or twice a day, by one mandate, as payment services do."""
        amount, day = self._random.choice(AMOUNTS), self._day()
        for _ in range(self._random.choice((1, 1, 2, 3))):
            text = f"Einkauf {self._random.randrange(10**5):05d} bei {self._random.choice(SHOPS)}"
            facts = {"name": "Zahldienst Europe S.a.r.l.", "iban": "DE02600501010002034304", "mandate": "ZD-778-A"}
            self._add("debit", -amount, day, text, end_to_end=self._reference(), **facts)

    def _add_cards(self) -> None:
        """Purchases at one shop, told apart by the time of day alone."""
        amount, day, shop = self._random.choice(AMOUNTS), self._day(), self._random.choice(SHOPS)
        for _ in range(self._random.choice((1, 1, 2))):
            time = (
                f"{self._random.randrange(8, 20):02d}:{self._random.randrange(60):02d}:{self._random.randrange(60):02d}"
            )
            seen = day - timedelta(self._random.choice((1, 2, 4))) if self._random.random() < 0.7 else None
            is_cancelled = seen is not None and self._random.random() < 0.15
            facts = {"time": time, "seen_from": seen, "is_cancelled": is_cancelled}
            self._add("card", -amount, day, "Debitkarte", name=shop, **facts)

    def _add_twins(self) -> None:
        """Equal in everything: two tickets from one machine."""
        amount, day, shop = self._random.choice(AMOUNTS), self._day(), self._random.choice(SHOPS)
        for _ in range(self._random.choice((2, 2, 3))):
            self._add("twins", -amount, day, "Fahrkarte", name=shop)

    def _add_standing_order(self) -> None:
        amount, (name, iban) = self._random.choice(AMOUNTS), self._random.choice(PEOPLE)
        step = self._random.choice((1, 7, 30))
        first = self._random.randrange(10)
        for number in range(3):
            day = START + timedelta(first + number * step)
            if day < START + timedelta(DAYS):
                self._add("standing order", -amount, day, "Dauerauftrag Taschengeld", name=name, iban=iban)

    def _add_return(self) -> None:
        """A debit comes back, with the words and the references of the debit."""
        debits = [booking for booking in self.bookings if booking.kind == "debit"]
        if debits:
            debit = self._random.choice(debits)
            day = min(debit.booked + timedelta(self._random.choice((0, 2))), START + timedelta(DAYS - 1))
            facts = {"name": debit.name, "iban": debit.iban, "mandate": debit.mandate, "end_to_end": debit.end_to_end}
            self._add("return", -debit.amount, day, debit.text, **facts)

    def _add_fee(self) -> None:
        self._add("fee", -self._random.choice(AMOUNTS), self._day(), "Entgeltabschluss siehe Anlage")
