"""Looking for transactions of a product: by words, category and amount, in either order."""

from uuid import UUID

from kontor.analysis.trees import CATEGORIES, TREES
from kontor.domain.errors import InvalidError
from kontor.domain.json_fields import JsonField, TagColumns, TagRow
from kontor.domain.principals import Principal, user_of
from kontor.domain.searches import Filters, Position, Window
from kontor.services.analyses import TransactionTagging, read_categories
from kontor.storage import searches
from kontor.storage.database import Database


class Searches:
    def __init__(self, database: Database, tagging: TransactionTagging) -> None:
        self._database = database
        self._tagging = tagging

    async def search_page(
        self,
        principal: Principal,
        product_id: UUID,
        window: Window,
        filters: Filters,
        fields: tuple[JsonField, ...],
        columns: tuple[TagColumns, ...] = (),
    ) -> tuple[list[TagRow], Position | None]:
        """The JSON objects of one page with the asked tags beside them, and where the next page begins."""
        if columns or filters.categories is not None:
            await self._tagging.ensure_tagged(principal)
        async with self._database.connect(principal.user_id) as connection:
            return await searches.search_rows(
                connection, user_of(principal), product_id, window, filters, fields, columns
            )

    async def choose_categories(self, principal: Principal, name: str, field: str) -> tuple[str, ...]:
        """The category of that system name, and those below it; or an own category by its system name or id."""
        items = TREES[CATEGORIES].items
        if name in items:
            return (name, *(below for below, item in items.items() if item.parent == name))
        async with self._database.connect(principal.user_id) as connection:
            own = await read_categories(connection, user_of(principal))
        for category in own.values():
            if name in (category.system_name, str(category.system_id)):
                return (category.system_name,)
        raise InvalidError("is no system name of a category", field)
