"""Days that people type into forms."""

from datetime import date, datetime


class UnreadableDayError(Exception):
    """What was typed is no day."""


def read_typed_day(text: str) -> date | None:
    """As a browser's date field sends it, or as people type it where there is no such field."""
    text = text.strip()
    if not text:
        return None
    for form in ("%Y-%m-%d", "%d.%m.%Y"):
        try:
            return datetime.strptime(text, form).date()  # noqa: DTZ007 (a day has no time zone)
        except ValueError:
            continue
    raise UnreadableDayError(text)
