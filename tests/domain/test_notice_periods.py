"""Periods of notice: what is read, and what is refused."""

from datetime import date

import pytest

from kontor.domain.errors import InvalidError
from kontor.domain.notice_periods import NoticePeriod, read_period, subtract_period


@pytest.mark.parametrize(
    ("text", "months", "days"),
    [("P3M", 3, 0), ("P1Y", 12, 0), ("P2W", 0, 14), ("P14D", 0, 14), ("P1Y6M2W3D", 18, 17), ("P0D", 0, 0)],
)
def test_years_months_weeks_and_days_are_read(text, months, days):
    assert read_period(text, "noticePeriod") == NoticePeriod(months, days)


@pytest.mark.parametrize(
    "text",
    ["", "P", "3M", "p3m", "P3", "P3M ", "P-3M", "P1.5M", "P1,5M", "PT3H", "P3MT", "P1D2M", "P11Y", "P121M", "P\uff19M",
     "P3M\n", "P99999D", "P3661D"],
)  # fmt: skip
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(InvalidError, match=r"noticePeriod: expected an ISO 8601 period .* such as P3M"):
        read_period(text, "noticePeriod")


@pytest.mark.parametrize(
    ("end", "text", "expected"),
    [
        (date(2026, 5, 31), "P3M", date(2026, 2, 28)),
        (date(2028, 5, 31), "P3M", date(2028, 2, 29)),
        (date(2026, 12, 31), "P1Y", date(2025, 12, 31)),
        (date(2026, 1, 10), "P2W", date(2025, 12, 27)),
        (date(2026, 3, 31), "P1M1D", date(2026, 2, 27)),
    ],
)
def test_months_end_with_their_last_day(end, text, expected):
    assert subtract_period(end, read_period(text, "noticePeriod")) == expected
