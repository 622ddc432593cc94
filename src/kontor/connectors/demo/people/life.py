"""One customer's life: who it is, and when which part of the persona's life course holds.

A life course repeats in cycles of some years from a fixed month on (`cycle.start`). Nothing in it looks at today, so
the past never changes, not even at new year; and every window of history shows some of the events. The end of a cycle
leads back to its beginning by a believable change (another job, a move), and each cycle brings new partners. Customers
with a suffix live the same course some months earlier or later.
"""

from dataclasses import dataclass
from functools import cached_property

from kontor.connectors.demo.people.banking_days import parse_month
from kontor.connectors.demo.people.descriptions import AccountPlan, Agreement, Habit, Persona
from kontor.connectors.demo.people.numbers import DEMO_BANK_CODE, make_iban, make_own_account_number
from kontor.connectors.demo.people.streams import derive_number, draw_digits, pick_one
from kontor.connectors.demo.people.truth import Address
from kontor.connectors.demo.people.words import Place, load_names, load_places
from kontor.domain.products import ProductCategory

# Balances of accounts that only receive planned bookings are counted from here.
EPOCH = parse_month("2015-01")


@dataclass(frozen=True, slots=True)
class Term:
    """One run of an agreement: from the month `start` up to, not including, `end`. `cycle` numbers the repetitions."""

    id: str
    agreement: Agreement
    cycle: int
    start: int | None
    end: int | None

    def covers(self, month: int) -> bool:
        return (self.start is None or month >= self.start) and (self.end is None or month < self.end)


@dataclass(frozen=True)
class Life:
    login: str
    persona: Persona

    @cached_property
    def cycle_start(self) -> int:
        shift = derive_number("shift", self.login) % 7 if "+" in self.login else 0
        return self.persona.cycle_start + shift

    @cached_property
    def given_names(self) -> tuple[str, str]:
        """Of the customer and of the partner, if there is one."""
        names = load_names()
        generation = self.persona.generation
        women, men = names[f"women {generation}"], names[f"men {generation}"]
        pair = pick_one(women, "woman", self.login), pick_one(men, "man", self.login)
        is_woman = self.persona.gender == "woman" or (
            not self.persona.gender and derive_number("gender", self.login) % 2
        )
        return pair if is_woman else (pair[1], pair[0])

    @cached_property
    def surname(self) -> str:
        return pick_one(load_names()["surnames"], "surname", self.login)

    @cached_property
    def name(self) -> str:
        return f"{self.given_names[0]} {self.surname}"

    @cached_property
    def children(self) -> tuple[str, ...]:
        names = load_names()["children"]
        return tuple(pick_one(names, "child", self.login, number) for number in range(4))

    @cached_property
    def places(self) -> tuple[Place, Place]:
        """Where the customer lives, and where to after a move."""
        cities = self.persona.cities
        first = derive_number("city", self.login) % len(cities)
        places = load_places()
        return places[cities[first]], places[cities[(first + 1) % len(cities)]]

    def find_place(self, month: int) -> Place:
        moved = self.persona.second_city_from
        if moved is None:
            return self.places[0]
        offset = (month - self.cycle_start) % self.persona.cycle_months
        return self.places[1] if offset >= moved else self.places[0]

    def find_address(self, month: int) -> Address:
        place = self.find_place(month)
        street = pick_one(load_names()["streets"], "street", self.login, place.city)
        number = 1 + derive_number("house", self.login, place.city) % 120
        return Address(f"{street} {number}", place.postcode, place.city)

    @cached_property
    def plates(self) -> tuple[str, str]:
        """Of the car, and of the second one, if there is one."""
        letters, code = "ABCDEFGHKLMNPRSTVWXYZ", self.places[0].code
        numbers = derive_number("plate", self.login), derive_number("second plate", self.login)
        digits = draw_digits(3, "plate", self.login), draw_digits(3, "second plate", self.login)
        first, second = (
            f"{code}-{letters[number % 21]}{letters[number // 21 % 21]} {end}"
            for number, end in zip(numbers, digits, strict=True)
        )
        return first, second

    @cached_property
    def ibans(self) -> dict[str, str]:
        return {plan.key: make_iban(DEMO_BANK_CODE, self.number_account(plan)) for plan in self.persona.accounts}

    def number_account(self, plan: AccountPlan) -> str:
        return make_own_account_number(self.login, plan.key)

    @cached_property
    def card_account(self) -> str | None:
        cards = (plan.key for plan in self.persona.accounts if plan.kind is ProductCategory.CREDIT_CARD)
        return next(cards, None)

    def list_terms(self, agreement: Agreement, first: int, last: int) -> list[Term]:
        """The agreement's runs that touch the months from `first` to `last`."""
        if agreement.start is None and agreement.end is None and agreement.at is None:
            return [Term(agreement.key, agreement, 0, None, None)]
        length = self.persona.cycle_months
        low = agreement.at if agreement.at is not None else agreement.start or 0
        high = low + 1 if agreement.at is not None else agreement.end or length
        cycle = (first - self.cycle_start - high) // length
        if agreement.since_first:
            cycle = max(cycle, 0)
        terms = []
        while self.cycle_start + cycle * length + low <= last:
            base = self.cycle_start + cycle * length
            if base + high > first:
                terms.append(Term(f"{agreement.key}-{cycle}", agreement, cycle, base + low, base + high))
            cycle += 1
        return terms

    def find_level(self, month: int) -> float:
        """How freely money is spent in that month."""
        offset = (month - self.cycle_start) % self.persona.cycle_months
        phases = (share for low, high, share in self.persona.levels if low <= offset < high)
        return self.persona.level * next(phases, 1.0)

    def has_habit(self, habit: Habit, month: int) -> bool:
        if habit.start is None and habit.end is None:
            return True
        offset = (month - self.cycle_start) % self.persona.cycle_months
        return (habit.start or 0) <= offset < (habit.end or self.persona.cycle_months)
