"""Bookings that the user has split: what counts by category counts their parts."""

from collections.abc import Iterable, Iterator

from msgspec import structs

from kontor.analysis.records import Record
from kontor.domain.tags import derive_insurance_type


def split_records(records: Iterable[Record]) -> Iterator[Record]:
    """The same bookings; in place of one that is split, its parts, numbered from 1, with the id of the booking."""
    for record in records:
        if record.part_categories:
            yield from _list_parts(record)
        else:
            yield record


def _list_parts(record: Record) -> Iterator[Record]:
    own_categories = record.part_own_categories or ("",) * len(record.part_amounts)
    parts = zip(record.part_amounts, record.part_categories, own_categories, strict=True)
    for number, (amount, category, own_category) in enumerate(parts, 1):
        yield structs.replace(
            record,
            amount=amount,
            category=category,
            insurance_type=derive_insurance_type(category, record.insurance_type),
            part_amounts=(),
            own_category=own_category,
            part_categories=(),
            part_own_categories=(),
            part=number,
        )
