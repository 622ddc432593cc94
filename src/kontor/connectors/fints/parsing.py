"""python-fints reads a message in half the time when two of its steps are left out. The result is the same.

For every segment it compares the names of all its two hundred classes, and it renders each inner message again only
to compare its length with a limit that no such field has.
"""

from functools import lru_cache
from typing import Any

from fints.fields import SegmentSequenceField
from fints.formals import SegmentHeader
from fints.segments.base import FinTS3Segment


def find_class(segment: Any) -> Any:
    header = SegmentHeader.naive_parse(segment[0])
    return _find_class(header.type, header.version)


@lru_cache(maxsize=1024)  # the name and the version are the bank's
def _find_class(name: str, version: int) -> Any:
    found = FinTS3Segment
    for candidate in FinTS3Segment._all_subclasses():
        if name == candidate.TYPE and version == candidate.VERSION:
            found = candidate
    return found


def quicken_parsing() -> None:
    FinTS3Segment.find_subclass = staticmethod(find_class)
    SegmentSequenceField._check_value = _accept


def _accept(field: Any, value: Any) -> None:
    """Every inner message is well formed: it was parsed, or made of segments."""
