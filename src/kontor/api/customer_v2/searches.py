"""What the list of transactions can be narrowed to, and how its pages are then read."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from kontor.analysis.tagging import Evidence
from kontor.api.operations import Call
from kontor.domain.errors import InvalidError
from kontor.domain.json_fields import TagRow
from kontor.domain.searches import Filters, Position, Window
from kontor.wire.tag_views import TagChoice, TagView, render_page
from kontor.wire.transactions import FIELDS

AmountText = Annotated[str, Meta(pattern=r"^-?[0-9]{1,15}(\.[0-9]{1,2})?$", examples=["-100", "12.50"])]
SortOrder = Annotated[Literal["asc", "desc"], Meta(title="SortOrder")]
Order = Annotated[SortOrder, Meta(description="by day of booking; desc: newest first")]
# What lists of transactions have in common.
From = Annotated[str, Meta(description="date or timestamp: booked from then on")]
Until = Annotated[str, Meta(description="date or timestamp: booked until then, included")]
Cursor = Annotated[str, Meta(description="from the Link of the page before")]
ShownTree = Annotated[TagChoice, Meta(description="show tags of this tree; true means categories")]
Categorize = Annotated[bool, Meta(description="show classifications")]
Explain = Annotated[bool, Meta(description="show with tags what they were concluded from")]


class FilterQuery(msgspec.Struct):
    search: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=100,
                description="words that all occur in counterparty name, purpose, booking text or IBAN;"
                " case does not matter, `ae` finds `ä` and the other way round",
            ),
        ]
        | None
    ) = None
    category: (
        Annotated[
            str,
            Meta(
                description="system name of a category; a main category includes its subcategories."
                " An own category also by its `systemId`"
            ),
        ]
        | None
    ) = None
    minAmount: Annotated[AmountText, Meta(description="signed: -100 leaves out larger spendings")] | None = None  # noqa: N815
    maxAmount: Annotated[AmountText, Meta(description="signed: 0 leaves out what came in")] | None = None  # noqa: N815

    def read_words(self) -> tuple[str, ...]:
        if self.search is not None and "\x00" in self.search:
            raise InvalidError("expected printable characters", "search")
        return tuple((self.search or "").split())

    async def read_categories(self, call: Call) -> tuple[str, ...] | None:
        if self.category is None:
            return None
        return await call.services.searches.choose_categories(call.principal, self.category, "category")


class SearchQuery(FilterQuery):
    order: Order = "desc"

    @property
    def is_plain(self) -> bool:
        """Nothing is asked for but the list as it is."""
        return (
            self.search is None
            and self.category is None
            and self.minAmount is None
            and self.maxAmount is None
            and self.order == "desc"
        )

    async def read_filters(self, call: Call) -> Filters:
        return Filters(
            words=self.read_words(),
            categories=await self.read_categories(call),
            min_amount=read_amount(self.minAmount),
            max_amount=read_amount(self.maxAmount),
            is_ascending=self.order == "asc",
        )


def read_amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


async def read_found_page(
    call: Call, product_id: UUID, filters: Filters, view: TagView | None, is_explained: bool, window: Window
) -> tuple[bytes, Position | None]:
    """JSON objects separated by commas, and where the next page begins."""
    columns = () if view is None else view.columns
    rows, following = await call.services.searches.search_page(
        call.principal, product_id, window, filters, FIELDS, columns
    )
    if view is None:
        return b",".join(row[0] for row in rows), following
    evidence = None
    if is_explained and view.tree is not None:
        evidence = await explain_rows(call, product_id, rows, view)
    return render_page(rows, view, call.urls, evidence), following


async def explain_rows(
    call: Call, product_id: UUID, rows: Sequence[TagRow], view: TagView
) -> dict[UUID, list[Evidence]]:
    ids = [row[1] for row in rows]
    if view.needs_contracts:
        return await call.services.analyses.explain_periods(call.principal, ids)
    with call.admit():
        return await call.services.transaction_tagging.explain(call.principal, product_id, ids)


async def prepare_view(call: Call, view: TagView | None) -> None:
    """Before rows are read: periods follow from the contracts of all accounts."""
    if view is not None and view.needs_contracts:
        with call.admit():
            await call.services.analyses.update_contracts(call.principal)
