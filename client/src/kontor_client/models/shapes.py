"""What all models have in common.

Attributes have English names; `rename` gives the interface's own. Fields that a newer service adds are ignored, and
words that it may add to (states, categories) are plain text: compare them with the constants beside them. Money and
other numbers are Decimal. Times are German wall time, as the service says them, without a time zone.
"""

import msgspec


class Model(msgspec.Struct, kw_only=True):
    """Something the service answered."""


class Relation(Model):
    rel: str
    href: str


class Linked(Model):
    """A thing that says what can be done with it next."""

    relations: list[Relation] = []

    def find_href(self, rel: str) -> str | None:
        return next((relation.href for relation in self.relations if relation.rel == rel), None)

    def href(self, rel: str) -> str:
        """The address of a relation; KeyError if it is not offered."""
        href = self.find_href(rel)
        if href is None:
            raise KeyError(rel)
        return href
