"""From a few past months to what one more month may bring: a middle and bounds that hold 80 % of outcomes."""

from collections.abc import Sequence

CONFIDENCE = 0.8
_LOW, _HIGH = 0.1, 0.9
# How much wider than the spread of so many months the bounds must be to hold 80 % of the months to come: with few
# months the spread is known badly (Student's t over the usual distance of the two quantiles).
_STRETCH = {1: 6.7, 2: 6.7, 3: 3.2, 4: 2.3, 5: 1.9, 6: 1.67, 7: 1.57, 8: 1.48, 9: 1.42, 10: 1.38, 11: 1.34, 12: 1.3}
# Totals of everything change for more reasons than one tag does. Measured on people whose future is known.
_STRETCH_OF_TOTALS = 1.07
# Where most months have something, bounds are found by the spread; where many have nothing, by counting.
_DENSE_SHARE = 0.9
_MIN_TO_COUNT = 6
_COUNTED_SHARE = 10 / 12


def find_middle(values: Sequence[int]) -> int:
    """The median: the estimate that is off by the least, and that one unusual month does not move."""
    ordered = sorted(values)
    count = len(ordered)
    return round((ordered[(count - 1) // 2] + ordered[count // 2]) / 2) if ordered else 0


def find_quantile(ordered: Sequence[int], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def find_shortest(ordered: Sequence[int], count: int) -> tuple[int, int]:
    """The shortest range that holds so many of the values; of equally short ones the one nearest to zero."""
    ranges = [(ordered[place], ordered[place + count - 1]) for place in range(len(ordered) - count + 1)]
    return min(ranges, key=lambda bounds: (bounds[1] - bounds[0], abs(bounds[0] + bounds[1])))


def find_bounds(values: Sequence[int], *, is_total: bool) -> tuple[int, int]:
    """Lower and upper bound of 80 % of what comes, from as many past months as there are values."""
    if not values:
        return 0, 0
    ordered = sorted(values)
    count = len(ordered)
    used = sum(1 for value in values if value)
    if not is_total and count >= _MIN_TO_COUNT and used < _DENSE_SHARE * count:
        return find_shortest(ordered, round(count * _COUNTED_SHARE))
    middle = find_middle(ordered)
    stretch = _STRETCH[min(count, max(_STRETCH))] * (_STRETCH_OF_TOTALS if is_total else 1)
    lower = middle - stretch * (middle - find_quantile(ordered, _LOW))
    upper = middle + stretch * (find_quantile(ordered, _HIGH) - middle)
    return round(lower), round(upper)
