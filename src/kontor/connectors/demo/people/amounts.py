"""How much an agreement costs in a given month. No draw depends on the day it is asked on."""

from functools import lru_cache

from kontor.connectors.demo.people.banking_days import parse_month
from kontor.connectors.demo.people.life import Life, Term
from kontor.connectors.demo.people.streams import derive_number, draw_share

PRICES_OF = parse_month("2025-01")
PRICE_ENDING = 99


def round_cents(cents: float, step: int) -> int:
    """To a multiple of `step` cents; a step of 99 makes prices that end in 99."""
    if step == PRICE_ENDING:
        return max(99, round(cents / 100) * 100 - 1)
    return max(step, round(cents / step) * step)


@lru_cache(maxsize=2048)
def draw_rise_month(login: str, key: str) -> int:
    return derive_number("rise month", login, key) % 12


def find_rise_month(life: Life, term: Term) -> int:
    """The month of the year (0 to 11) in which the price changes: a year after the start, where that is known."""
    if term.start is not None:
        return term.start % 12
    return draw_rise_month(life.login, term.agreement.key)


def count_rises(life: Life, term: Term, month: int) -> int:
    """Changes of the price since the start of 2025; negative before."""
    return (month - PRICES_OF - find_rise_month(life, term)) // 12


@lru_cache(maxsize=2048)
def draw_shares(login: str, key: str, cycle: int) -> tuple[float, float]:
    """Where between the usual bounds this customer's amount and its yearly rise lie."""
    return draw_share("amount", login, key, cycle), draw_share("rise", login, key)


def compute_base(life: Life, term: Term) -> float:
    """What was agreed, in cents, at the prices of 2025."""
    agreement = term.agreement
    low, high = agreement.amount
    share = draw_shares(life.login, agreement.key, term.cycle)[0]
    if agreement.exact:
        return low * 100
    if low == high:
        return low * (92 + 16 * share)
    return (low + (high - low) * share) * 100


def compute_cents(life: Life, term: Term, month: int) -> int:
    """The payment due for that month, without a sign."""
    agreement = term.agreement
    cents = compute_base(life, term)
    low, high = agreement.rise
    if high:
        rise = low + (high - low) * draw_shares(life.login, agreement.key, term.cycle)[1]
        cents *= (1 + rise / 100) ** count_rises(life, term, month)
    if agreement.varies:
        cents *= 1 + agreement.varies * (2 * draw_share("varies", life.login, term.id, month) - 1)
    return round_cents(cents, agreement.step)
