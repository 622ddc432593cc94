"""Where python-fints gives up a whole message, or a segment, for something that banks do."""

from typing import Any

from fints.formals import Balance1, Balance2
from fints.parser import FinTS3Parser, FinTSParserError


def accept_undated_balances() -> None:
    """A balance without a day is a balance (hbci4j/hbci4java#142)."""
    for form in (Balance1, Balance2):
        form._fields["date"].required = False


def accept_odd_segments() -> None:
    """A segment with an element of another kind, such as a list of documents in place of one, is handed out as it came.

    The library does so for values that are wrong, but not for those of another type.
    """
    parse = FinTS3Parser._parse_segment_as_class

    def parse_segment(parser: Any, form: Any, segment: Any) -> Any:
        try:
            return parse(parser, form, segment)
        except TypeError as error:
            raise FinTSParserError(f"{form.__name__}: an element of another type") from error

    FinTS3Parser._parse_segment_as_class = parse_segment
