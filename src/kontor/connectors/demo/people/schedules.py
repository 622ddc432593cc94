"""When payments are due."""

from collections.abc import Iterator
from datetime import date, timedelta

from kontor.connectors.demo.people.banking_days import (
    find_day,
    find_first_day,
    find_last_day,
    move_to_banking_day,
    number_month,
)
from kontor.connectors.demo.people.life import Life, Term
from kontor.connectors.demo.people.streams import derive_number, draw_share

MONTHS = {"MONTH_ONE": 1, "MONTH_TWO": 2, "MONTH_THREE": 3, "MONTH_SIX": 6, "YEAR_ONE": 12, "YEAR_TWO": 24}
WEEKS = {"WEEK_ONE": 1, "WEEK_TWO": 2, "WEEK_FOUR": 4}
FIRST_MONDAY = date(2015, 1, 5)


def _list_weekly(weeks: int, phase: int, first: int, last: int) -> Iterator[date]:
    step = timedelta(weeks=weeks)
    day = FIRST_MONDAY + timedelta(days=phase % (7 * weeks))
    day += (find_first_day(first) - day) // step * step
    end = find_last_day(last)
    while day <= end:
        if number_month(day) >= first:
            yield day
        day += step


def list_due_days(
    period: str, day: int | str, month: int, shift: str, first: int, last: int, phase: int = 0
) -> Iterator[tuple[int, date]]:
    """Month it is due for and booking day, for all payments due in the months from `first` to `last`.

    `day` is a day of the month, or `last` for its last banking day. `month` (1 to 12) is one month of the year in which
    it is due. Banks book on banking days only: `shift` says whether the next or the previous one. Weekly payments fall
    on a weekday that `phase` decides.
    """
    step = -1 if shift == "previous" or day == "last" else 1
    if period in WEEKS:
        for due in _list_weekly(WEEKS[period], phase, first, last):
            yield number_month(due), move_to_banking_day(due, step)
        return
    length = MONTHS[period]
    for number in range(first + (month - 1 - first) % length, last + 1, length):
        due = find_last_day(number) if isinstance(day, str) else find_day(number, day)
        yield number, move_to_banking_day(due, step)


def slips(life: Life, term: Term, month: int, interval: int) -> bool:
    """Whether this is the month, one in so many, in which something goes wrong with the agreement's payment."""
    if not interval:
        return False
    return (month - life.cycle_start + derive_number("slip", life.login, term.agreement.key)) % interval == 0


def list_payments(life: Life, term: Term, first: int, last: int) -> Iterator[tuple[int, date]]:
    """The term's payments that are due in the months from `first` to `last`: month and booking day."""
    agreement = term.agreement
    low = first if term.start is None else max(first, term.start)
    high = last if term.end is None else min(last, term.end - 1)
    # What is paid once is due in the only month of its term, whatever the offer's period.
    period, month = (agreement.period, agreement.month) if agreement.at is None else ("MONTH_ONE", 1)
    phase = derive_number("phase", life.login, agreement.key) if period in WEEKS else 0
    for number, day in list_due_days(period, agreement.day, month, agreement.shift, low, high, phase):
        if slips(life, term, number, agreement.missed_every):
            continue
        if not agreement.skip or draw_share("skip", life.login, term.id, number, day) >= agreement.skip:
            yield number, day
